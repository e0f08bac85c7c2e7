#!/bin/sh
# SPDX-License-Identifier: GPL-2.0
# models: cx6dx
#
# Each command of the stop fails in turn: the module can be removed all the same, in bounded time,
# what it had is freed, and it can be loaded again.

. ./lib.sh
. ./lifecycle.sh

TIMEOUT_MS=700

# What the model must find when a step of the stop is missing; nothing else.
# Usage: expect_after NAME
expect_after() {
	case $1 in
	DESTROY_EQ | DEALLOC_UAR) hca 'conformance expect objects-left object-busy' ;;
	TEARDOWN_HCA | DISABLE_HCA) hca 'conformance expect order pages-held pages-take' ;;
	MANAGE_PAGES) hca 'conformance expect pages-held' ;;
	esac
}

# One command fails while the module is removed. Usage: stop_fails EFFECT PATTERN NAME OP_MOD NTH
stop_fails() {
	effect=$1 pattern=$2 name=$3 op_mod=$4 nth=$5
	what="$name op_mod $op_mod, number $nth"

	log_mark
	expect_after "$name"
	hca "fault add $name op_mod=$op_mod skip=$nth $effect"
	timed unload
	is_within "$what: milliseconds" "$TOOK" 0 6000
	is "$what: faults left" "$(hca fault)" ""
	line="$BDF: $name\\(0x[0-9a-f]+\\) op_mod\\($op_mod\\) failed, $pattern"
	check "$what: the log has '$line'" logged "$line"
	check_not "$what: debugfs" [ -e $DEBUGFS_ROOT ]
	nothing_is_left "$what"
	check "$what: load" load cmd_timeout_ms=$TIMEOUT_MS
	works "$what, loaded again"
	hca 'conformance expect'
	hca 'fault clear'
}

# Usage: each_stop_fails EFFECT PATTERN
each_stop_fails() {
	while read -r name op_mod nth; do
		stop_fails "$@" "$name" "$op_mod" "$nth"
	done <"$WORK/stop"
	check "unload when all is well" unload
	model_has_nothing "unloaded when all is well"
	check "load" load cmd_timeout_ms=$TIMEOUT_MS
}

test_each_command_refused() {
	each_stop_fails 'status=0x6 syndrome=0xabcdef' \
		'status resource busy\(0x6\), syndrome \(0xabcdef'
}

test_each_command_not_delivered() {
	each_stop_fails 'delivery=0x2' 'delivery status token error\(0x2\)'
}

test_each_command_not_answered() {
	each_stop_fails drop "no completion after $TIMEOUT_MS ms"
}

test_no_command_answered() {
	hca 'conformance expect order pages-held objects-left'
	hca 'fault add any drop times forever'
	# One time-out, not one for each of the commands.
	timed unload
	is_within "milliseconds" "$TOOK" 0 $((3 * TIMEOUT_MS + 1000))
	nothing_is_left "unloaded"
	hca 'fault clear'
	check "load" load cmd_timeout_ms=$TIMEOUT_MS
	works "loaded again"
	hca 'conformance expect'
}

test_pages_that_are_not_given_back() {
	# MANAGE_PAGES says that it returns none, as often as it is asked; the model has none any
	# more.
	hca 'conformance expect pages-held pages-take'
	hca 'fault add MANAGE_PAGES op_mod=2 out 8=00000000 times forever'
	timed unload
	is_within "milliseconds" "$TOOK" 0 30000
	check "the log says so" logged "$BDF: firmware keeps 1800 pages of function 0"
	nothing_is_left "unloaded"
	hca 'fault clear'
	check "load" load cmd_timeout_ms=$TIMEOUT_MS
	works "loaded again"
	hca 'conformance expect'
}

need_model
hca 'log clear'
reload cmd_timeout_ms=$TIMEOUT_MS || skip_all "the driver cannot be loaded anew"
# Everything from the first DESTROY_EQ of that stop on; MANAGE_PAGES once.
sent_commands | awk '
	$1 == "ENABLE_HCA" { exit }
	$1 == "DESTROY_EQ" { on = 1 }
	on && !($1 == "MANAGE_PAGES" && seen[$0]) { print $0, seen[$0]++ + 0 }' >"$WORK/stop"
ktap_print_msg "commands of a stop: $(wc -l <"$WORK/stop")"
[ -s "$WORK/stop" ] || skip_all "the model's log has no stop"
run_cases test_each_command_refused \
	test_each_command_not_delivered \
	test_each_command_not_answered \
	test_no_command_answered \
	test_pages_that_are_not_given_back
