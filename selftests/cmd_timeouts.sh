#!/bin/sh
# SPDX-License-Identifier: GPL-2.0
# shellcheck shell=dash
# models: cx6dx
# cpus: 2
# iommu: cx6dx
# debug: cx6dx
#
# Commands that do not complete, complete late, twice, without an event, or that nobody sent.

# shellcheck source=selftests/lib.sh
. ./lib.sh

# Commands time out after this time in milliseconds.
SHORT=200

set_timeout() { echo "$1" >"$DEBUGFS/cmd/timeout_ms"; }
state() { value cmd/state "$1"; }

test_a_command_that_is_not_completed_times_out() {
	set_timeout $SHORT
	log_mark
	timed_out=$(state timed_out)
	model fault add NOP hold
	started=$(now_ms)
	is "errno" "$(errno_of cmd/nop 1)" ETIMEDOUT
	is_within "time that it took" $(($(now_ms) - started)) $((SHORT - 10)) $((SHORT + 1500))
	is "timed_out" "$(state timed_out)" $((timed_out + 1))
	check "log line" logged 'NOP\(0x80d\) op_mod\(0x0\) failed, no completion after 200 ms'
	is "slots_quarantined" "$(state slots_quarantined)" 1
	is "shown as such" "$(outstanding quarantined)" 1
	has "with its command" "$(show cmd/outstanding)" '^0 [0-9]+ quarantined NOP\(0x80d\)$'
	has "in the summary" "$(value summary commands)" '1 slots quarantined'
	# mlx5_core's errno for it: ETIMEDOUT.
	is "last_failed_errno" "$(cat "$DEBUGFS/cmd/NOP/last_failed_errno")" 110

	model log clear
	is "others go on" "$(errno_of cmd/nop 5)" 0
	is "in another slot" "$(hca log | sed 's/.* slot \([0-9]*\) .*/\1/' | sort -u)" 1

	late=$(state late_completions)
	model release >/dev/null
	check "the late completion frees the slot" until_true 5 value_is cmd/state \
		slots_quarantined 0
	is "late_completions" "$(state late_completions)" $((late + 1))
	check "and is logged" logged 'NOP\(0x80d\) completed [0-9]+ ms after it was sent, too late'
	model log clear
	is "the slot is used again" "$(errno_of cmd/nop 1)" 0
	is "slot" "$(hca log | sed 's/.* slot \([0-9]*\) .*/\1/')" 0
	set_timeout 60000
}

test_all_slots_lost_and_found_again() {
	set_timeout $SHORT
	late=$(state late_completions)
	model fault add NOP hold times 31
	start_nops 31
	wait
	is "errnos" "$(nop_results)" "31 ETIMEDOUT"
	is "quarantined" "$(outstanding quarantined)" 31
	started=$(now_ms)
	is "no slot for the next" "$(errno_of cmd/nop 1)" EBUSY
	is_within "time that it took" $(($(now_ms) - started)) $((SHORT - 10)) $((SHORT + 1500))
	before=$(number pages held)
	model pages request 5
	check "pages are given all the same" until_true 5 value_is pages held $((before + 5))
	model pages request -5
	check "and taken back" until_true 5 value_is pages held "$before"
	model release reverse >/dev/null
	check "late completions free all" until_true 5 value_is cmd/state slots_quarantined 0
	is "late_completions" "$(state late_completions)" $((late + 31))
	is "commands work" "$(errno_of cmd/nop 100)" 0
	set_timeout 60000
}

test_a_late_completion_without_an_event_is_found() {
	set_timeout $SHORT
	late=$(state late_completions)
	model fault add NOP hold
	model fault add NOP noevent
	is "errno" "$(errno_of cmd/nop 1)" ETIMEDOUT
	is "quarantined" "$(outstanding quarantined)" 1
	model release >/dev/null
	check "the slot is free" until_true 5 value_is cmd/state slots_quarantined 0
	is "late_completions" "$(state late_completions)" $((late + 1))
	set_timeout 60000
}

test_a_dropped_command_does_not_hinder_unloading() {
	set_timeout $SHORT
	model fault add NOP drop
	is "errno" "$(errno_of cmd/nop 1)" ETIMEDOUT
	is "quarantined" "$(outstanding quarantined)" 1
	check "reload" reload
	is "quarantined" "$(outstanding quarantined)" 0
	is "commands work" "$(errno_of cmd/nop 40)" 0
}

test_a_lost_event_costs_no_command() {
	lost=$(state lost_events)
	model fault add NOP noevent
	started=$(now_ms)
	is "errno" "$(errno_of cmd/nop 1)" 0
	# The entry is looked at twice a second.
	is_within "time that it took" $(($(now_ms) - started)) 0 2000
	is "lost_events" "$(state lost_events)" $((lost + 1))
	is "mode" "$(state mode)" events
}

test_a_doubled_event_ends_one_command() {
	spurious=$(state spurious_completions)
	taken=$(value eq/command/state consumer_counter)
	model fault add NOP duplicate-event
	is "errno" "$(errno_of cmd/nop 1)" 0
	check "both events are taken" \
		until_true 5 value_is eq/command/state consumer_counter $((taken + 2))
	# The second is counted if the first has ended the command by then.
	is_within "spurious_completions" "$(state spurious_completions)" "$spurious" $((spurious \
		+ 1))
	is "slots_in_flight" "$(state slots_in_flight)" 0
	timed_out=$(state timed_out)
	late=$(state late_completions)
	model fault add NOP duplicate-event times 200
	is "errno of 200" "$(errno_of cmd/nop 200)" 0
	is "timed_out" "$(state timed_out)" "$timed_out"
	is "late_completions" "$(state late_completions)" "$late"
	is "commands work" "$(errno_of cmd/nop 10)" 0
}

test_events_for_slots_that_nobody_uses_are_counted() {
	spurious=$(state spurious_completions)
	events=$(value eq/command/state consumer_counter)
	model eqe completion 0xffffffff
	check "the event is taken" \
		until_true 5 value_is eq/command/state consumer_counter $((events + 1))
	is "completions without a command" "$(state spurious_completions)" $((spurious + 32))
	is "free slots stay free" "$(state slots_in_flight)" 0
	is "commands work" "$(errno_of cmd/nop 10)" 0
}

test_an_event_before_the_command_is_done_ends_nothing() {
	spurious=$(state spurious_completions)
	model fault add NOP hold
	start_nop early
	check "held" model wait held 1
	model eqe completion 0x1
	check "counted" until_true 5 value_is cmd/state spurious_completions $((spurious + 1))
	is "still in flight" "$(outstanding in_flight)" 1
	model release >/dev/null
	wait
	is "errno" "$(nop_results)" "1 0"
}

test_slots_beyond_the_queue() {
	unload
	model iseg set log_cmdq_size 3
	check "load" load
	is "slots" "$(state slots)" 8
	spurious=$(state spurious_completions)
	model eqe completion 0xffffff00
	check "counted" until_true 5 value_is cmd/state spurious_completions $((spurious + 24))
	model fault add NOP hold times 7
	start_nops 7
	check "seven ordinary slots" model wait held 7
	model release >/dev/null
	wait
	is "errnos" "$(nop_results)" "7 0"
	unload
	model iseg set log_cmdq_size 5
	check "load" load
	is "slots" "$(state slots)" 32
}

test_the_oldest_command_is_shown_with_its_age() {
	is "none" "$(state oldest_us)" 0
	model fault add NOP hold
	start_nop old
	check "held" model wait held 1
	check "its age" until_true 5 older_than 300000
	has "the line" "$(show cmd/outstanding)" '^0 [0-9]{6,} in_flight NOP\(0x80d\)$'
	model release >/dev/null
	wait
	is "errno" "$(nop_results)" "1 0"
}

older_than() { [ "$(state oldest_us)" -gt "$1" ]; }

need_model
run_cases \
	test_a_command_that_is_not_completed_times_out \
	test_all_slots_lost_and_found_again \
	test_a_late_completion_without_an_event_is_found \
	test_a_dropped_command_does_not_hinder_unloading \
	test_a_lost_event_costs_no_command \
	test_a_doubled_event_ends_one_command \
	test_events_for_slots_that_nobody_uses_are_counted \
	test_an_event_before_the_command_is_done_ends_nothing \
	test_slots_beyond_the_queue \
	test_the_oldest_command_is_shown_with_its_age
