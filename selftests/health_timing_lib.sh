# SPDX-License-Identifier: GPL-2.0
# shellcheck shell=dash
#
# For tests of how soon a failure is noticed, and how soon those who wait for commands are let go,
# while the device has as many commands as an ordinary user can send. To be sourced after
# health_lib.sh.
#
# The model stamps the time when a fault is set in, and the time when the guest tells it that the
# first of the waiting processes has come back. Both are by the model's clock, and the time between
# them includes what comes after the driver's verdict: the wake-up, the end of the system call, and
# the way to the control line. So it is an upper bound of the time until the driver noticed.

RUNS=${RUNS:-20}
WAITING=31
# Four intervals of 100 ms.
NOTICED_US=400000
# From the verdict to the end of the last command, by the driver's own records.
RETURNED_US=100000

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
	sed 's/.*: //' "$WORK"/error.* | sort | uniq -c | while read -r count text; do
		echo "$count $(errno_name "$text")"
	done
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
	sed -n 1p "$WORK/stamps" >>"$WORK/noticed"
	value health/state longest_delay_us >>"$WORK/late"
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
	rm -f "$WORK/noticed" "$WORK/late" "$WORK/returned"
	run=0
	while [ $((run += 1)) -le "$RUNS" ] && [ "$CASE_FAILED" = 0 ]; do
		one_run "$@"
	done
	noticed=$(middle "$WORK/noticed") returned=$(middle "$WORK/returned")
	echo "# $what: noticed after $noticed us by the model's clock, median of $RUNS runs" \
		"(at most $(largest "$WORK/noticed") us)"
	echo "# $what: all $WAITING commands returned $returned us later, median" \
		"(at most $(largest "$WORK/returned") us)"
	echo "# $what: the latest reading of the registers was $(largest "$WORK/late") us late"
	is_within "$what: noticed after us" "$noticed" 1 $NOTICED_US
	is_within "$what: last command after us" "$returned" 1 $RETURNED_US
}
