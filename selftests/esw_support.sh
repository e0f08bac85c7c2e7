#!/bin/sh
# SPDX-License-Identifier: GPL-2.0
# models: cx6dx cx7vf
#
# Where the e-switch functions cannot be asked for, it is said why, and the command is never sent
# "to see"; where a capability says that they can, they are.

. ./lib.sh
. ./lifecycle.sh

EVENT=ESW_FUNCTIONS_CHANGED

# The function has no such command, for this reason. Usage: not_supported REASON
not_supported() {
	is "supported" "$(value esw/support supported)" "0 ($1)"
	is "summary" "$(value summary esw)" "not supported: $1"
	for file in functions layout; do
		has "$file" "$(show esw/$file)" "$1"
	done
	is "refresh" "$(errno_of esw/refresh 1)" EOPNOTSUPP
	is "history" "$(show esw/history | grep -v '^#')" ""
	is "commands that were sent" "$(sent_commands QUERY_ESW_FUNCTIONS)" ""
	check_not "the event is asked for" model event $EVENT
	works "without it"
}

# Load with capabilities "NAME VALUE" changed. Usage: with_caps CAPABILITY...
with_caps() {
	check "unload" unload
	for cap; do
		hca "cap set $cap"
	done
	hca 'log clear'
	check "load" load
}

test_a_plain_function_does_not_have_it() {
	hca 'log clear'
	check "load" reload
	reason='esw_functions_changed=0 and embedded_cpu=0'
	[ "$VARIANT" != cx7vf ] || reason="$reason, and eswitch_manager=0"
	not_supported "$reason"
}

test_all_reasons_are_named() {
	with_caps 'cmd_hca_cap.eswitch_manager 0'
	not_supported 'esw_functions_changed=0 and embedded_cpu=0, and eswitch_manager=0'
	has "place" "$(value esw/support esw_functions_changed)" 'no e-switch capabilities'
	with_caps "cmd_hca_cap.eswitch_manager $MANAGER"
}

test_the_capability_alone_is_enough() {
	if [ "$MANAGER" = 0 ]; then
		skip_case "a virtual function manages no switch"
		return
	fi
	with_caps 'e_switch_cap.esw_functions_changed 1'
	is "supported" "$(value esw/support supported)" 1
	is "last_query" "$(value esw/functions last_query)" ok
	is "queries" "$(sent_commands QUERY_ESW_FUNCTIONS)" 'QUERY_ESW_FUNCTIONS 0x0'
	check "the event is asked for" model event $EVENT
	check "it leads to a query" until_true 5 value_is esw/functions queries 2
	with_caps 'e_switch_cap.esw_functions_changed 0'
	not_supported 'esw_functions_changed=0 and embedded_cpu=0'
}

need_model
VARIANT=$(hca variant)
MANAGER=$(hca 'cap get cmd_hca_cap.eswitch_manager' | cut -d' ' -f1)
run_cases test_a_plain_function_does_not_have_it \
	test_all_reasons_are_named \
	test_the_capability_alone_is_enough
