#!/bin/sh
# SPDX-License-Identifier: GPL-2.0
# By hand: make guest CMD="sh health_timing.sh". It takes minutes, and a host that is not busy.
#
# How soon a failure is noticed, and how soon those who wait for commands are let go, while the
# device has as many commands as an ordinary user can send.
#
# The model stamps the time when a fault is set in, and the time when the guest tells it that the
# first of the waiting processes has come back. Both are by the model's clock, and the time between
# them includes what comes after the driver's verdict: the wake-up, the end of the system call, and
# the way to the control line. So it is an upper bound of the time until the driver noticed.
#
# A run in which a reading came late by more than a quarter of the interval is repeated, a few times
# at most: the host has not let the guest run then.

. ./lib.sh
. ./lifecycle.sh
. ./health_lib.sh

RUNS=${RUNS:-20}
WAITING=31
# Four intervals of 100 ms.
NOTICED_US=400000
# From the verdict to the end of the last command, by the driver's own records.
RETURNED_US=100000

# A run counts if no reading was later than this.
LATE_US=25000

# The serial line to the model that is tested; see hca.c in tools/in-guest.
LINE=/dev/ttyS1

# One who waits for a command, and says so when it ends. Usage: waiter NUMBER
waiter() {
	echo 1 >"$DEBUGFS/cmd/nop"
	echo "stamp returned" >$LINE
} 2>"$WORK/error.$1"

# Take the model's answers to the stamps from the line. Usage: take_answers COUNT
take_answers() {
	i=0
	while [ $((i += 1)) -le "$1" ]; do
		read -r -t 10 answer <&3 || return 1
		[ "$answer" = ok ] || return 1
	done
}

# Usage: start_waiters
start_waiters() {
	hca "fault add NOP drop times $WAITING"
	i=0
	while [ $((i += 1)) -le $WAITING ]; do
		waiter $i &
	done
	until_true 30 outstanding_is in_flight $WAITING
}

# The errors that the commands ended with, as "COUNT ERRNO" lines.
errors() {
	for file in "$WORK"/error.*; do
		text=$(cat "$file")
		errno_name "${text##*: }"
	done | sort | uniq -c | sed 's/^ *//'
	rm -f "$WORK"/error.*
}

# Microseconds from the change of the condition to the end of the last command that waited.
last_return() {
	turned=$(show health/changes | awk '$4 == "fatal" || $4 == "gone" { print $2; exit }')
	show cmd/history | awk -v turned="$turned" '
		/NOP\(0x80d\)/ { end = $2 + $3 - turned; if (end > last) last = end }
		END { print last + 0 }'
}

# The middle of the numbers in a file, and the largest. Usage: middle FILE; largest FILE
middle() { sort -n "$1" | sed -n "$((RUNS / 2 + 1))p"; }
largest() { sort -n "$1" | tail -n 1; }

# Usage: one_run REQUEST ERRNO AFTERWARDS...
one_run() {
	fault=$1 errno=$2
	shift 2
	check "healthy" until_true 20 health_is healthy 1
	check "$WAITING commands wait" start_waiters
	exec 3<$LINE
	# The answer to this one is read here, too: from now on there is no other reader.
	echo "$fault" >$LINE
	wait
	check "answers of the model" take_answers $((WAITING + 1))
	exec 3<&-
	hca stamp | sed -n 's/^returned: //p' >"$WORK/stamps"
	is "stamps" "$(wc -l <"$WORK/stamps")" $WAITING
	if [ "$(value health/state longest_delay_us)" -gt $LATE_US ]; then
		repeated=$((repeated + 1))
	else
		sed -n 1p "$WORK/stamps" >>"$WORK/noticed"
		run=$((run + 1))
	fi
	last_return >>"$WORK/returned"
	is "their errors" "$(errors)" "$WAITING $errno"
	unbind
	hca 'fault clear'
	for request; do
		hca "$request"
	done
	is "bind" "$(bind_errno)" 0
}

# Usage: all_runs WHAT REQUEST ERRNO AFTERWARDS...
all_runs() {
	what=$1
	shift
	rm -f "$WORK/noticed" "$WORK/returned"
	run=0 repeated=0
	while [ "$run" -lt "$RUNS" ] && [ "$CASE_FAILED" = 0 ]; do
		one_run "$@"
		is_within "runs that were repeated" $repeated 0 "$RUNS"
	done
	median=$(middle "$WORK/noticed")
	echo "# $what, noticed by the model's clock: median of $RUNS runs $((median / 1000)) ms," \
		"largest $(($(largest "$WORK/noticed") / 1000)) ms; $repeated runs repeated"
	echo "# all $WAITING commands returned at most $(largest "$WORK/returned") us after that"
	is_within "$what: median in us" "$median" 1 $NOTICED_US
	is_within "$what: last command in us" "$(largest "$WORK/returned")" 1 $RETURNED_US
}

test_a_stall_is_noticed_in_time() { all_runs stall 'health freeze' EIO 'health run'; }

test_a_fatal_syndrome_is_noticed_in_time() {
	all_runs syndrome 'health set synd=8 rfr=1' EIO 'health clear'
}

test_a_dead_bus_is_noticed_in_time() { all_runs 'dead bus' 'pci dead' ENODEV 'pci alive' reset; }

need_model
run_cases test_a_stall_is_noticed_in_time test_a_fatal_syndrome_is_noticed_in_time \
	test_a_dead_bus_is_noticed_in_time
