#!/bin/sh
# SPDX-License-Identifier: GPL-2.0
# shellcheck shell=dash
# models: cx6dx
# cpus: 2
# debug: cx6dx
#
# Several commands at once: one in each slot, and the last slot for pages only.

# shellcheck source=selftests/lib.sh
. ./lib.sh

# Ordinary slots of a queue of 32: all but the last.
ORDINARY=31

# Fill all ordinary slots with NOPs that the device holds back. Usage: fill [MORE HELD]
fill() {
	model fault add NOP hold times $((ORDINARY + ${1:-0})) >/dev/null
	start_nops $ORDINARY
	check "the device holds $ORDINARY commands" model wait held $ORDINARY
}

test_31_commands_are_in_flight_at_once() {
	is "slots" "$(value cmd/state slots)" 32
	model log clear
	fill
	is "in flight" "$(outstanding in_flight)" $ORDINARY
	is "slots_in_flight" "$(value cmd/state slots_in_flight)" $ORDINARY
	is "their slots" \
		"$(awk '$3 == "in_flight" { print $1 }' "$DEBUGFS/cmd/outstanding" | sort -n |
		tr '\n' ' ')" "$(seq 0 30 | tr '\n' ' ')"
	is "their command" \
		"$(awk '$3 == "in_flight" { print $4 }' "$DEBUGFS/cmd/outstanding" | sort -u)" \
		"NOP(0x80d)"
	# The newest first: whoever waits must get his own completion, not the next one.
	is "released" "$(model release 31 reverse)" "released: 31"
	wait
	is "errnos" "$(nop_results)" "31 0"
	is "in flight at the end" "$(outstanding in_flight)" 0
	is "completions without a command" "$(value cmd/state spurious_completions)" 0
}

# A process that waits in the driver. Usage: waits_in_driver PID...
waits_in_driver() { grep -q mlx5_prm_rs "/proc/$1/stack"; }

test_the_32nd_command_waits_for_a_slot() {
	fill 1
	sent=$(model_counter commands)
	{ echo 1 >"$DEBUGFS/cmd/nop"; } 2>"$WORK/last" &
	last=$!
	check "the 32nd writer waits in the driver" until_true 5 waits_in_driver $last
	is "commands sent meanwhile" $(($(model_counter commands) - sent)) 0
	is "in flight" "$(outstanding in_flight)" $ORDINARY
	model release 1 >/dev/null
	check "it is sent when a slot is free" model_wait commands "$sent" 1
	check "and is held as well" model wait held $ORDINARY
	model release >/dev/null
	check "the 32nd succeeds" wait $last
	wait
	is "errnos" "$(nop_results)" "31 0"
}

test_pages_are_given_while_all_slots_are_taken() {
	before=$(number pages held)
	fill
	model log clear
	model pages request 10
	check "the pages are given" until_true 5 value_is pages held $((before + 10))
	is "slot of the page command" \
		"$(hca log | sed -n 's/.* slot \([0-9]*\) .*/\1/p' | sort -u)" 31
	is "commands still held" "$(outstanding in_flight)" $ORDINARY
	model pages request -10
	check "and taken back" until_true 5 value_is pages held "$before"
	model release >/dev/null
	wait
	is "errnos" "$(nop_results)" "31 0"
}

test_no_slot_in_time_is_EBUSY() {
	fill
	# The time-out holds for commands from now on.
	echo 300 >"$DEBUGFS/cmd/timeout_ms"
	log_mark
	is "errno of the 32nd" "$(errno_of cmd/nop 1)" EBUSY
	check "the log says why" logged \
		'NOP\(0x80d\) op_mod\(0x0\) failed, no slot of the command queue'
	echo 60000 >"$DEBUGFS/cmd/timeout_ms"
	is "quarantined" "$(outstanding quarantined)" 0
	model release >/dev/null
	wait
	is "errnos of the others" "$(nop_results)" "31 0"
}

test_many_writers_at_once() {
	before=$(cat "$DEBUGFS/cmd/NOP/n")
	failed=$(cat "$DEBUGFS/cmd/NOP/failed")
	i=0
	while [ $((i += 1)) -le 40 ]; do
		(errno_of cmd/nop 25 >"$WORK/nop.$i") &
	done
	wait
	is "errnos" "$(nop_results)" "40 0"
	is "NOPs counted" $(($(cat "$DEBUGFS/cmd/NOP/n") - before)) 1000
	is "failures counted" $(($(cat "$DEBUGFS/cmd/NOP/failed") - failed)) 0
	is "in flight at the end" "$(value cmd/state slots_in_flight)" 0
}

need_model
run_cases \
	test_31_commands_are_in_flight_at_once \
	test_the_32nd_command_waits_for_a_slot \
	test_pages_are_given_while_all_slots_are_taken \
	test_no_slot_in_time_is_EBUSY \
	test_many_writers_at_once
