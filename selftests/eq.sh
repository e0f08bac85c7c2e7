#!/bin/sh
# SPDX-License-Identifier: GPL-2.0
# shellcheck shell=dash
# models: cx6dx bf2
# cpus: 2
# iommu: cx6dx
# debug: cx6dx
#
# Event queues: that every event arrives, once, and is shown.

# shellcheck source=selftests/lib.sh
. ./lib.sh

# Usage: eq KIND NAME, a value of eq/KIND/state
eq() { value "eq/$1/state" "$2"; }

# The model's line about a queue of the driver. Usage: model_eq KIND
model_eq() { hca eqs | grep "^eq $(($(eq "$1" eqn))) "; }

# A value in that line. Usage: model_eq_value KIND NAME
model_eq_value() { model_eq "$1" | sed "s/.* $2 \([^ ]*\).*/\1/"; }

# Count of an event type in eq/events; TYPE is a number. Usage: events TYPE
events() {
	count=$(sed -n "s/.*($(printf '0x%02x' "$1")): //p" "$DEBUGFS/eq/events")
	echo "${count:-0}"
}
events_are() { [ "$(events "$1")" = "$2" ]; }

# Interrupts of vector N, on all processors. Usage: interrupts N
interrupts() {
	awk -v name="mlx5_prm_rs$1@$BDF" '
		$NF == name { for (i = 2; $i ~ /^[0-9]+$/; i++) n += $i }
		END { print n + 0 }' /proc/interrupts
}

# The device knows that all was taken, and armed the queue again.
is_drained() { [ "$(model_eq_value "$1" ci)" = "$(model_eq_value "$1" pi)" ]; }

# The newest event in eq/last.
last_event() {
	awk '
		/^at_us/ { text = "" }
		{ text = text $0 "\n" }
		END { printf "%s", text }' "$DEBUGFS/eq/last"
}

PORT_CHANGE=0x09
CMD=0x0a
UNKNOWN=0x77

test_there_are_three_queues_with_a_vector_each() {
	for kind in command async pages; do
		is "kind" "$(eq $kind kind)" $kind
		is "overruns" "$(eq $kind overruns)" 0
		# 0x9: armed.
		is "st of $kind" "$(model_eq_value $kind st)" 0x9
		is "entries of $kind" "$(model_eq_value $kind entries)" "$(eq $kind entries)"
		is "vector of $kind" "$(model_eq_value $kind vector)" "$(eq $kind intr)"
	done
	is "vectors" "$(eq command intr) $(eq async intr) $(eq pages intr)" "0 1 2"
	for n in 0 1 2; do
		check "/proc/interrupts names vector $n" \
			grep -q "MSIX.*mlx5_prm_rs$n@$BDF\$" /proc/interrupts
	done
	# Bit n is event type n.
	is "events of the command queue" "$(model_eq_value command mask)" 0x400
	is "events of the pages queue" "$(model_eq_value pages mask)" 0x800
	mask=$(model_eq_value async mask)
	is "PORT_CHANGE in the asynchronous queue" $((mask >> 9 & 1)) 1
	is "CMD and PAGE_REQUEST there" $((mask >> 10 & 3)) 0
	# A queue of 32 slots has at most 32 completions and as many that are late.
	is_within "entries of the command queue" "$(eq command entries)" 64 4096
}

test_each_completion_is_one_event() {
	before=$(events $CMD)
	taken=$(eq command consumer_counter)
	interrupts=$(interrupts 0)
	is "errno" "$(errno_of cmd/nop 100)" 0
	is "CMD events" $(($(events $CMD) - before)) 100
	is "entries taken" $(($(eq command consumer_counter) - taken)) 100
	is_within "interrupts" $(($(interrupts 0) - interrupts)) 1 100
	check "the device knows" until_true 5 is_drained command
	is "st" "$(model_eq_value command st)" 0x9
}

test_a_known_event_is_counted_and_shown() {
	before=$(events $PORT_CHANGE)
	unexpected=$(value eq/events unexpected)
	# Port 1 is active: sub-type 4, port number in bits 31:28 of the word at 08h.
	model event PORT_CHANGE 4 000000000000000010000000
	check "counted" until_true 5 events_are $PORT_CHANGE $((before + 1))
	is "unexpected" "$(value eq/events unexpected)" "$unexpected"
	last=$(last_event)
	has "time" "$last" '^at_us: [0-9]+$'
	has "type by name" "$last" 'event_type: 0x9 \(PORT_CHANGE\)$'
	has "sub-type" "$last" 'event_sub_type: 0x4'
	has "data" "$last" '00 00 00 00 00 00 00 00 10 00 00 00'
}

test_an_unknown_event_is_counted_and_shown_raw() {
	before=$(events $UNKNOWN)
	unexpected=$(value eq/events unexpected)
	model eqe type $UNKNOWN 5 c0ffee0102030405
	check "counted" until_true 5 events_are $UNKNOWN $((before + 1))
	is "unexpected" "$(value eq/events unexpected)" $((unexpected + 1))
	has "its name" "$(show eq/events)" '^unknown \(0x77\): '
	last=$(last_event)
	has "type" "$last" 'event_type: 0x77$'
	has "sub-type" "$last" 'event_sub_type: 0x5$'
	has "data" "$last" 'c0 ff ee 01 02 03 04 05'
	is "commands work" "$(errno_of cmd/nop 10)" 0
}

test_events_that_nobody_asked_for_are_unexpected() {
	unexpected=$(value eq/events unexpected)
	before=$(events 0x04)
	# CQ_ERROR: the driver has no CQ.
	model eqe type CQ_ERROR 0 00000042
	check "counted" until_true 5 events_are 0x04 $((before + 1))
	is "unexpected" "$(value eq/events unexpected)" $((unexpected + 1))
	has "its name" "$(show eq/events)" '^CQ_ERROR \(0x04\): '
}

test_all_types_of_events_are_survived() {
	taken=$(eq async consumer_counter)
	hca eqs >"$WORK/eqs"
	type=-1
	while [ $((type += 1)) -le 255 ]; do
		before=$(events $type)
		model eqe type $type 0xff \
			ffffffffffffffffffffffffffffffffffffffffffffffffffffffff ||
			fail "type $type was not sent"
		[ $((type % 32)) != 31 ] ||
			check "up to $type" until_true 5 events_are $type $((before + 1))
	done
	check "the device knows" until_true 5 is_drained async
	is "commands work" "$(errno_of cmd/nop 10)" 0
	check "the state is shown" show summary
}

test_64_events_are_kept() {
	before=$(events $UNKNOWN)
	model eqe burst 1 PORT_CHANGE >/dev/null
	i=0
	while [ $((i += 1)) -le 70 ]; do
		model eqe type $UNKNOWN 0 "$(printf '%02x' $i)"
	done
	check "counted" until_true 5 events_are $UNKNOWN $((before + 70))
	is "kept" "$(grep -c '^at_us: ' "$DEBUGFS/eq/last")" 64
	is "oldest" \
		"$(grep '\[28 bytes\]' "$DEBUGFS/eq/last" | head -n 1 |
			sed 's/.*: \(..\) .*/\1/')" 07
	is "newest" \
		"$(grep '\[28 bytes\]' "$DEBUGFS/eq/last" | tail -n 1 |
			sed 's/.*: \(..\) .*/\1/')" 46
}

test_a_burst_of_more_than_half_a_ring_arrives() {
	before=$(events $PORT_CHANGE)
	entries=$(eq async entries)
	many=$((entries / 2 + entries / 4))
	is "written" "$(model eqe burst $many)" "written: $many"
	check "all are counted" until_true 5 events_are $PORT_CHANGE $((before + many))
	check "the device knows" until_true 5 is_drained async
	is "lost" "$(model_eq_value async lost)" 0
	is "overruns" "$(eq async overruns)" 0
}

test_the_ring_wraps_without_loss() {
	before=$(events $PORT_CHANGE)
	taken=$(eq async consumer_counter)
	entries=$(eq async entries)
	sent=0
	# Steps that do not divide the ring, around it more than four times: both owner bits twice.
	while [ $sent -lt $((entries * 9 / 2)) ]; do
		model eqe burst 601 >/dev/null
		sent=$((sent + 601))
		check "counted" until_true 5 events_are $PORT_CHANGE $((before + sent)) || return
		check "the device knows" until_true 5 is_drained async
	done
	is "entries taken" $(($(eq async consumer_counter) - taken)) $sent
	is "lost" "$(model_eq_value async lost)" 0
	is "lost_interrupts" "$(eq async lost_interrupts)" 0
}

test_the_command_ring_wraps_without_loss() {
	taken=$(eq command consumer_counter)
	lost=$(value cmd/state lost_events)
	spurious=$(value cmd/state spurious_completions)
	is "errno" "$(errno_of cmd/nop 1200)" 0
	is "entries taken" $(($(eq command consumer_counter) - taken)) 1200
	is "lost_events" "$(value cmd/state lost_events)" "$lost"
	is "spurious_completions" "$(value cmd/state spurious_completions)" "$spurious"
	check "the device knows" until_true 5 is_drained command
}

need_model
run_cases \
	test_there_are_three_queues_with_a_vector_each \
	test_each_completion_is_one_event \
	test_a_known_event_is_counted_and_shown \
	test_an_unknown_event_is_counted_and_shown_raw \
	test_events_that_nobody_asked_for_are_unexpected \
	test_all_types_of_events_are_survived \
	test_64_events_are_kept \
	test_a_burst_of_more_than_half_a_ring_arrives \
	test_the_ring_wraps_without_loss \
	test_the_command_ring_wraps_without_loss
