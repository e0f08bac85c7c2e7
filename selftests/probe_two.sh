#!/bin/sh
# SPDX-License-Identifier: GPL-2.0
# models: cx6dx,bf2
# cpus: 2
#
# Two cards at once: each has its own directory, commands and health, and goes by itself.

. ./lib.sh
. ./lifecycle.sh

# The second card of the vendor. Usage: second_function
second_function() {
	for at in /sys/bus/pci/devices/*; do
		[ "$(cat "$at/vendor")" != 0x15b3 ] || [ "${at##*/}" = "$BDF" ] || echo "${at##*/}"
	done
}

# Do something for the other card. Usage: other COMMAND...
other() {
	(
		BDF=$OTHER DEBUGFS=$DEBUGFS_ROOT/$OTHER
		"$@"
	)
}

test_both_are_driven() {
	is "directories" "$(ls $DEBUGFS_ROOT)" "$(printf '%s\n%s' "$BDF" "$OTHER" | sort)"
	is "firmware of the first" "$(value summary firmware)" 22.36.1010
	is "firmware of the second" "$(other value summary firmware)" 24.41.1000
	is "device id of the second" "$(cat /sys/bus/pci/devices/"$OTHER"/device)" 0xa2d6
}

test_commands_go_to_the_right_card() {
	before=$(hca -c 0 counters | sed -n 's/^commands: //p')
	before_other=$(hca -c 1 counters | sed -n 's/^commands: //p')
	is "NOPs" "$(errno_of cmd/nop 3)" 0
	is "NOPs of the other" "$(other errno_of cmd/nop 5)" 0
	is "commands" "$(hca -c 0 counters | sed -n 's/^commands: //p')" $((before + 3))
	is "commands of the other" \
		"$(hca -c 1 counters | sed -n 's/^commands: //p')" $((before_other + 5))
}

test_one_that_stalls_leaves_the_other_alone() {
	hca -c 1 'health freeze'
	check "stall" until_true 10 other value_is health/state state 'stalled (4)'
	is "NOP of the one that stalls" "$(other errno_of cmd/nop 1)" EIO
	works "the first"
	hca -c 1 'health run'
	check "unbind" other unbind
	is "bind" "$(other bind_errno)" 0
	is "state" "$(other value summary state)" alive
}

test_one_goes_and_the_other_stays() {
	check "unbind" unbind
	nothing_is_left "the first"
	is "directories" "$(ls $DEBUGFS_ROOT)" "$OTHER"
	is "NOP of the other" "$(other errno_of cmd/nop 1)" 0
	is "bind" "$(bind_errno)" 0
	works "the first"
}

test_both_go_with_the_module() {
	check "unload" unload
	nothing_is_left "the first"
	is "left of the other" "$(other leftovers)" ""
	model_has_nothing "the first"
	is "stage of the other" "$(hca -c 1 stage)" disabled
	check_not "debugfs" [ -e $DEBUGFS_ROOT ]
	check "load" load
	works "the first"
	is "state of the other" "$(other value summary state)" alive
	is "violations of the other" "$(hca -c 1 conformance)" ""
}

need_model
OTHER=$(second_function)
[ "$OTHER" ] || skip_all "needs two cards (MODEL=cx6dx,bf2)"
run_cases test_both_are_driven \
	test_commands_go_to_the_right_card \
	test_one_that_stalls_leaves_the_other_alone \
	test_one_goes_and_the_other_stays \
	test_both_go_with_the_module
