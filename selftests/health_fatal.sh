#!/bin/sh
# SPDX-License-Identifier: GPL-2.0
# models: cx6dx
#
# Firmware that cannot go on: noticed whatever commands do, waiting commands end at once with an
# error of its own, and the driver can be removed and bound again.

. ./lib.sh
. ./lifecycle.sh
. ./health_lib.sh

# The longest that any of it may take here, in milliseconds: three readings at 100 ms, on a machine
# that may be slow and busy. What it took is printed.
SOON=3000

# Wait for a state, and print how long that took. Usage: becomes WORD NUMBER
becomes() {
	timed until_true 10 health_is "$1" "$2"
	echo "# $1 after $TOOK ms"
	health_is "$1" "$2" || show health/state | sed 's/^/#   /'
	is_within "milliseconds to $1" "$TOOK" 0 $SOON
}

# Commands that wait are ended, new ones fail at once. Usage: commands_end ERRNO WAITING
commands_end() {
	timed until_true 20 outstanding_is in_flight 0
	is_within "milliseconds until no command waits" "$TOOK" 0 $SOON
	wait
	[ "$2" = 0 ] || is "commands that waited" "$(nop_results)" "$2 $1"
	before=$(model_counter commands)
	is "a new command" "$(errno_of cmd/nop 1)" "$1"
	is "commands that were sent" "$(model_counter commands)" "$before"
}

# The driver goes, and comes back when the card is well again; the model's REQUESTs make it so.
# Usage: comes_back REQUEST...
comes_back() {
	timed unbind
	is_within "milliseconds to unbind" "$TOOK" 0 $SOON
	nothing_is_left "unbound"
	hca 'fault clear'
	for request; do
		hca "$request"
	done
	# Firmware that is well again has ended what it had before.
	hca release >/dev/null
	is "bind" "$(bind_errno)" 0
	works "bound again"
}

test_a_stall_is_noticed_and_the_buffer_not_read() {
	check "load" reload
	is "buffer before" "$(show health/buffer | grep -c '^reading: none')" 1
	hca 'health freeze'
	becomes stalled 4
	is "device" "$(value health/state device)" 'fatal: the health counter stands still'
	is "stalls" "$(value health/state stalls)" 1
	is_within "misses" "$(value health/state misses)" 3 1000
	line="$BDF: health: stalled: the health counter stands at 0x[0-9a-f]+ for [0-9]+ ms"
	check "the log says so" logged "$line \([0-9]+ readings\), and synd is 0: firmware cannot \
answer reads, the health buffer is not read"
	has "the buffer" "$(show health/buffer)" '^reading: none'
	has "the buffer" "$(show health/buffer)" 'the health buffer is not read'
	has "the summary" "$(value summary health)" '^stalled \(4\), '
	has "history" "$(show health/history | tail -n 1)" \
		'(healthy|suspect)\([12]\) -> stalled\(4\)'
	commands_end EIO 0
	comes_back 'health run'
}

test_a_stall_with_a_syndrome_shows_the_buffer() {
	hca 'health set synd=7 ext_synd=0x40d0 irisc_index=2'
	becomes syndrome 3
	hca 'health freeze'
	becomes stalled 4
	check "the log says so" logged "health: stalled: .*synd=0x07, ext_synd=0x40d0"
	is "ext_synd" "$(value health/buffer ext_synd)" 0x40d0
	has "synd" "$(value health/buffer synd)" '^0x07 \(embedded processor'
	hca 'health clear'
	comes_back 'health run'
}

test_a_counter_that_runs_again_is_shown_and_changes_nothing() {
	hca 'health freeze'
	becomes stalled 4
	hca 'health run'
	check "state" until_true 10 grep -q -E '^state: (measuring|healthy)' "$DEBUGFS/health/state"
	has "device" "$(value health/state device)" '^fatal: '
	commands_end EIO 0
	comes_back 'health run'
}

test_a_request_for_reset_ends_waiting_commands() {
	hca 'fault add NOP hold times 5'
	start_nops 5
	check "five commands wait" until_true 10 outstanding_is in_flight 5
	hca 'health set synd=8 ext_synd=0x11 severity=0 valid=1 rfr=1'
	becomes failed 5
	is "device" "$(value health/state device)" \
		'fatal: firmware reports a syndrome and asks for a reset'
	commands_end EIO 5
	is "rfr" "$(value health/buffer rfr)" 1
	check "the log says so" logged "health: failed: .*synd=0x08, ext_synd=0x0011.*rfr=1"
	comes_back 'health clear'
}

test_31_hung_commands_do_not_delay_it() {
	hca 'fault add NOP drop times 31'
	start_nops 31
	check "31 commands wait" until_true 30 outstanding_is in_flight 31
	is "errno" "$(errno_of health/refresh 1)" 0
	hca 'health freeze'
	becomes stalled 4
	is_within "last_tick_age_ms" "$(value health/state last_tick_age_ms)" 0 1000
	commands_end EIO 31
	comes_back 'health run'
}

test_a_function_that_was_disabled() {
	hca 'iseg set nic_interface 1'
	becomes disabled 6
	has "device" "$(value health/state device)" '^fatal: the function is disabled'
	commands_end EIO 0
	comes_back 'iseg set nic_interface 0'
}

test_a_function_that_is_being_reset() {
	hca 'iseg set nic_interface 7'
	becomes reset 7
	has "device" "$(value health/state device)" '^fatal: the function is being reset'
	commands_end EIO 0
	comes_back 'iseg set nic_interface 0'
}

test_a_card_that_left_the_bus() {
	hca 'fault add NOP hold times 3'
	start_nops 3
	check "three commands wait" until_true 10 outstanding_is in_flight 3
	hca 'pci dead'
	becomes gone 8
	is "device" "$(value health/state device)" 'gone: all reads are ones'
	commands_end ENODEV 3
	is "refresh" "$(errno_of health/refresh 1)" ENODEV
	has "the buffer" "$(show health/buffer)" 'did not answer'
	# A card that comes back to the bus was reset by that.
	comes_back 'pci alive' reset
}

test_the_module_can_be_removed_when_the_card_is_gone() {
	hca 'pci dead'
	becomes gone 8
	timed unload
	is_within "milliseconds" "$TOOK" 0 $SOON
	nothing_is_left "unloaded"
	hca 'pci alive'
	hca reset
	check "load" load
	works "loaded again"
}

test_user_space_is_told() {
	listen
	hca 'health set synd=1 ext_synd=0x77'
	becomes syndrome 3
	hca 'health freeze'
	becomes stalled 4
	check "the event" until_true 5 heard PRM_EVENT=health PRM_HEALTH=stalled \
		PRM_HEALTH_STATE=4 PRM_HEALTH_FROM=syndrome PRM_HEALTH_FATAL=1 \
		PRM_HEALTH_SYND=0x01 PRM_HEALTH_EXT_SYND=0x0077 PRM_HEALTH_RFR=0
	stop_listening
	is "events" "$(grep -c 'PRM_EVENT=health ' "$WORK/uevents")" 2
	hca 'health clear'
	comes_back 'health run'
}

need_model
run_cases test_a_stall_is_noticed_and_the_buffer_not_read \
	test_a_stall_with_a_syndrome_shows_the_buffer \
	test_a_counter_that_runs_again_is_shown_and_changes_nothing \
	test_a_request_for_reset_ends_waiting_commands \
	test_31_hung_commands_do_not_delay_it \
	test_a_function_that_was_disabled \
	test_a_function_that_is_being_reset \
	test_a_card_that_left_the_bus \
	test_the_module_can_be_removed_when_the_card_is_gone \
	test_user_space_is_told
