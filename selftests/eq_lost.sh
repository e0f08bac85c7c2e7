#!/bin/sh
# SPDX-License-Identifier: GPL-2.0
# shellcheck shell=dash
# models: cx6dx
# cpus: 2
# debug: cx6dx
#
# Event queues when something is lost: interrupts, or events because the ring was full.

# shellcheck source=selftests/lib.sh
. ./lib.sh

# Usage: eq KIND NAME, a value of eq/KIND/state
eq() { value "eq/$1/state" "$2"; }
eq_is() { [ "$(eq "$1" "$2")" = "$3" ]; }

port_changes() {
	count=$(sed -n 's/^PORT_CHANGE (0x09): //p' "$DEBUGFS/eq/events")
	echo "${count:-0}"
}
port_changes_are() { [ "$(port_changes)" = "$1" ]; }

interrupts() {
	awk -v name="mlx5_prm_rs$1@$BDF" '
		$NF == name { for (i = 2; $i ~ /^[0-9]+$/; i++) n += $i }
		END { print n + 0 }' /proc/interrupts
}
interrupts_are() { [ "$(interrupts "$1")" -ge "$2" ]; }

test_a_lost_interrupt_of_a_command_costs_no_command() {
	lost=$(eq command lost_interrupts)
	log_mark
	model irq drop 1
	started=$(now_ms)
	is "errno" "$(errno_of cmd/nop 1)" 0
	is_within "time that it took" $(($(now_ms) - started)) 0 2000
	check "lost_interrupts" until_true 5 eq_is command lost_interrupts $((lost + 1))
	check "log line" logged \
		'event queue command: events without an interrupt, taken by the watchdog'
	before=$(eq command interrupts)
	is "the next" "$(errno_of cmd/nop 10)" 0
	is_within "comes with an interrupt" $(($(eq command interrupts) - before)) 1 10
	is "mode" "$(value cmd/state mode)" events
	is "overruns" "$(eq command overruns)" 0
}

test_a_lost_interrupt_of_events_delays_them_only() {
	lost=$(eq async lost_interrupts)
	before=$(port_changes)
	model irq drop 1
	model eqe burst 10 >/dev/null
	check "all are counted" until_true 5 port_changes_are $((before + 10))
	is "lost_interrupts" "$(eq async lost_interrupts)" $((lost + 1))
	model eqe burst 10 >/dev/null
	check "the next as well" until_true 5 port_changes_are $((before + 20))
	is "lost_interrupts" "$(eq async lost_interrupts)" $((lost + 1))
}

test_a_lost_interrupt_of_a_page_request_delays_it_only() {
	before=$(number pages held)
	lost=$(eq pages lost_interrupts)
	model irq drop 1
	model pages request 3
	check "the pages are given" until_true 5 value_is pages held $((before + 3))
	is "lost_interrupts" "$(eq pages lost_interrupts)" $((lost + 1))
	model pages request -3
	check "and taken back" until_true 5 value_is pages held "$before"
}

test_interrupts_without_events_are_harmless() {
	spurious=$(value cmd/state spurious_completions)
	empty=$(value eq/events spurious_interrupts)
	for n in 0 1 2; do
		before=$(interrupts $n)
		i=0
		while [ $((i += 1)) -le 5 ]; do
			model irq spurious $n
			check "interrupt $i of vector $n" until_true 5 interrupts_are $n \
				$((before + i))
		done
	done
	# Interrupts that come close together are one to the thread that takes them.
	check "they are counted" until_true 5 test \
		"$(value eq/events spurious_interrupts)" -gt "$empty"
	is "commands work" "$(errno_of cmd/nop 10)" 0
	is "spurious_completions" "$(value cmd/state spurious_completions)" "$spurious"
	check "the kernel has not switched the interrupt off" log_has_no_nobody_cared
}

log_has_no_nobody_cared() { ! logged 'nobody cared'; }

test_a_full_ring_is_emptied() {
	entries=$(eq async entries)
	before=$(port_changes)
	model irq drop 1
	is "written" "$(model eqe burst "$entries")" "written: $entries"
	check "all are counted" until_true 5 port_changes_are $((before + entries))
	is "longest_batch" "$(eq async longest_batch)" "$entries"
	# The device has been asked, and says that nothing was lost.
	check "QUERY_EQ" until_true 5 query_eq_was_sent
	is "overruns" "$(eq async overruns)" 0
	model eqe burst 5 >/dev/null
	check "more arrive" until_true 5 port_changes_are $((before + entries + 5))
}

query_eq_was_sent() { [ "$(cat "$DEBUGFS/cmd/QUERY_EQ/n")" -gt 0 ]; }

test_an_overrun_of_the_asynchronous_queue_is_told() {
	# The device drops what does not fit, as it must: that is no fault of this driver.
	if ! model conformance expect eq-overrun >/dev/null 2>&1; then
		skip_case "this model has no 'conformance expect'"
		return
	fi
	entries=$(eq async entries)
	before=$(port_changes)
	log_mark
	model irq drop 1
	is "written" "$(model eqe burst $((entries + 100)))" "written: $entries"
	check "what was written is counted" until_true 5 port_changes_are $((before + entries))
	check "overruns" until_true 10 eq_is async overruns 1
	check "log line" logged "event queue async \\(eqn $(eq async eqn)\\) was overrun"
	is "commands go on by events" "$(value cmd/state mode)" events
	is "and work" "$(errno_of cmd/nop 10)" 0
	model conformance expect
	model health clear
	check "reload" reload
	before=$(port_changes)
	model eqe burst 5 >/dev/null
	check "events arrive again" until_true 5 port_changes_are $((before + 5))
}

test_an_overrun_of_the_command_queue_ends_in_polling() {
	log_mark
	is "mode" "$(value cmd/state mode)" events
	model eqe overrun "$(eq command eqn)"
	is "the next command" "$(errno_of cmd/nop 1)" 0
	check "commands are polled" until_true 10 value_is cmd/state mode polling
	is "overruns" "$(eq command overruns)" 1
	check "log line" logged "event queue command \\(eqn $(eq command eqn)\\) was overrun"
	started=$(now_ms)
	is "commands work" "$(errno_of cmd/nop 50)" 0
	is_within "time of 50" $(($(now_ms) - started)) 0 5000
	before=$(number pages held)
	model pages request 10
	check "page requests too" until_true 5 value_is pages held $((before + 10))
	model pages request -10
	check "and back" until_true 5 value_is pages held "$before"
	model health clear
	check "reload" reload
	is "mode" "$(value cmd/state mode)" events
	is "overruns" "$(eq command overruns)" 0
}

test_the_driver_can_be_removed_while_its_queues_are_overrun() {
	for kind in command async pages; do
		model eqe overrun "$(eq $kind eqn)"
	done
	check "unload" unload
	is "pages that the device still has" "$(hca pages | sed -n 's/^total: //p')" 0
	is "queues left" "$(hca eqs)" ""
	model health clear
	check "load" load
	is "commands work" "$(errno_of cmd/nop 10)" 0
}

need_model
run_cases \
	test_a_lost_interrupt_of_a_command_costs_no_command \
	test_a_lost_interrupt_of_events_delays_them_only \
	test_a_lost_interrupt_of_a_page_request_delays_it_only \
	test_interrupts_without_events_are_harmless \
	test_a_full_ring_is_emptied \
	test_an_overrun_of_the_asynchronous_queue_is_told \
	test_an_overrun_of_the_command_queue_ends_in_polling \
	test_the_driver_can_be_removed_while_its_queues_are_overrun
