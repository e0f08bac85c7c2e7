#!/bin/sh
# SPDX-License-Identifier: GPL-2.0
#
# Runs of the fault campaign, in a guest. The other side is tools/campaign.
#
# Usage: sh campaign/run.sh NAME:SEED... (in /selftests)
#
# Before a run, "run NAME SEED" goes to stdout, and after it "result NAME SEED WORD MS DETAIL", with
# "# ..." lines that say what was done and seen. WORD is
#	ok		all was as it has to be
#	skip		it cannot be tried here
#	wrong		another outcome than expected, or something was left in the machine
#	violation	the model noted what the fault does not explain
#	report		the kernel log has a warning
#	leak		the device still has pages after an orderly end, or kmemleak found something
#	hang		probe, work or removal did not end in time
#	not-removable	the module could not be removed
#	no-return	the driver does not work when the card is well and it is loaded again
# After a report, a hang or the like nothing that this kernel says can be trusted: the runs that are
# left are for another boot. Exit status: 0 when all were done, 77 if some are left.

cd /selftests/campaign || exit 1
. ../kernel-reports.sh

WORK=/tmp/campaign
mkdir -p $WORK
BDF=$(for at in /sys/bus/pci/devices/*; do
	[ "$(cat "$at/vendor")" != 0x15b3 ] || echo "${at##*/}"
done | head -n 1)
# The longest that a step may take, and the time that a command may take. A debug kernel is slow.
KEEP_MODULE=
BOUND_S=15
COMMAND_MS=800
if [ -e /sys/kernel/debug/kmemleak ]; then
	BOUND_S=30
	COMMAND_MS=2000
	KEEP_MODULE=1
fi
. ./drivers.sh

# Sets NOW to the milliseconds since the machine's start. A process costs much on an emulated
# processor: what can be done without one is.
look_at_clock() {
	read -r NOW _ </proc/uptime
	NOW=${NOW%.*}${NOW#*.}0
}

# Try a command until it succeeds, at most so long. A host that has other things to do stops the
# clock, so to say: so many tries have to be made as well. Usage: until_true SECONDS COMMAND...
until_true() {
	look_at_clock
	limit=$((NOW + $1 * 1000)) tries=$(($1 * 40))
	shift
	until "$@" >/dev/null 2>&1; do
		look_at_clock
		tries=$((tries - 1))
		[ "$NOW" -lt "$limit" ] || [ $tries -gt 0 ] || return 1
		usleep 10000
	done
}

# Run a command that may hang in the kernel: its status, or 124 if it has not ended in time.
# Usage: bounded COMMAND...
bounded() {
	rm -f $WORK/status
	{
		"$@" >$WORK/output 2>&1
		echo $? >$WORK/status.new
		mv $WORK/status.new $WORK/status
	} &
	until_true $BOUND_S test -s $WORK/status || return 124
	read -r status <$WORK/status
	return "$status"
}

# The first word that is not "ok" is the run's. Usage: verdict WORD DETAIL
verdict() {
	[ "$WORD" = ok ] || return 0
	WORD=$1
	shift
	DETAIL=$*
}

# --- The card

# Times that suit a campaign. A reset forgets them.
set_up_card() {
	hca 'iseg set cmd_q_init_to 2000'
	hca "iseg set cmd_exec_to $COMMAND_MS"
}

# Whatever a fault did to it, the card is as new; outstanding commands are gone.
make_well() {
	hca 'fault clear'
	hca 'irq drop 0'
	hca 'pci alive'
	hca reset
	set_up_card
} >/dev/null

# --- Steps

# Usage: limited WHAT COMMAND...
limited() {
	what=$1
	shift
	bounded "$@"
	[ $? != 124 ] || verdict hang "$what takes longer than $BOUND_S s"
}

# Work goes on in the background, so that something can happen meanwhile.
start_work() {
	rm -f $WORK/work-done
	{
		work >/dev/null 2>&1
		: >$WORK/work-done
	} &
}

# The driver is started with one allocation failing, and then with the next one, and so on.
# Usage: fail_allocations FROM COUNT
fail_allocations() {
	i=0
	while [ $((i += 1)) -le "$2" ] && [ "$WORD" = ok ]; do
		limited "probe with allocation $(($1 + i)) failing" bind_failing $(($1 + i))
		limited "removal after allocation $(($1 + i)) failed" unbind
		pages_held_is 0 ||
			verdict leak "allocation $(($1 + i)): the device has $(pages_held) pages"
		left=$(${kind}_leftovers)
		[ -z "$left" ] || verdict wrong "allocation $(($1 + i)): left in the machine: $left"
	done
}

# The fault may still hit some commands; then they come back.
works_again() {
	i=0
	while [ $((i += 1)) -le 12 ]; do
		! works || return 0
	done
	return 1
}

step() {
	case $1 in
	@work) limited work work ;;
	@start-work) start_work ;;
	@end-work) until_true $BOUND_S test -e $WORK/work-done || verdict hang "work" ;;
	@unplug) limited "surprise removal" sh -c "echo 1 >$AT/remove" ;;
	@sleep) usleep $(($2 * 1000)) ;;
	@signed)
		# shellcheck disable=SC2034 # For drivers.sh.
		PARAMETERS=checksum=1
		! is_loaded || rmmod "$DRIVER"
		;;
	@fail-allocation)
		attach
		unbind
		fail_allocations "$2" "$3"
		;;
	@fail-work) limited "work with allocation $2 failing" command_failing "$2" ;;
	@*) verdict wrong "the step '$*' is not known" ;;
	*) hca "$*" >$WORK/answer 2>&1 || refused "$@" ;;
	esac
}

# The model may have nothing any more that an event could go to; all else is a mistake in the table.
refused() {
	grep -q -E 'no EQ|no such EQ|no command queue|cannot reach memory|in time' $WORK/answer ||
		verdict wrong "the model refused '$*': $(cat $WORK/answer)"
}

steps() {
	while read -r line; do
		# shellcheck disable=SC2086 # A step is several words.
		step $line
	done <$WORK/steps
}

# The function is taken away in an orderly way, and nothing of the driver is left.
take_away() {
	is_loaded || return
	bounded detach
	case $? in
	0) ;;
	124)
		verdict not-removable "removal takes longer than $BOUND_S s"
		return
		;;
	*)
		verdict not-removable "$(tail -n 1 $WORK/output)"
		return
		;;
	esac
	left=$(leftovers)
	[ -z "$left" ] || verdict wrong "left in the machine: $(echo "$left" | head -n 1)"
	case " $EXPLAINED " in
	*" pages-held "* | *" teardown "*) ;;
	*) pages_held_is 0 || verdict leak "the device still has $(pages_held) pages" ;;
	esac
}

look_at_kernel_log() {
	dmesg -c >$WORK/log
	grep -q -E "$KERNEL_REPORTS" $WORK/log || return 0
	report=$(grep -E "$KERNEL_REPORTS" $WORK/log | grep -v 'Call Trace:' | head -n 1)
	report=${report:-Call Trace}
	verdict report "$(echo "${report#*\] }" | cut -c 1-160)"
}

look_at_model() {
	hca conformance >$WORK/conformance
	[ -s $WORK/conformance ] || return 0
	verdict violation "$(cut -d' ' -f2- $WORK/conformance | head -n 1)"
	hca 'conformance clear'
}

# What the shorthands of the table stand for.
rules() {
	for rule in $EXPLAINED; do
		case $rule in
		teardown) echo order pages-held objects-left object-busy pages-take pages-missing ;;
		*) echo "$rule" ;;
		esac
	done
}

run_fault() {
	WORD=ok DETAIL=''
	if ! awk -v name="$1" -v seed="$2" -f expand.awk faults >$WORK/fault; then
		verdict wrong "the table has no fault '$1'"
		return
	fi
	{
		read -r _
		read -r WHEN
		read -r EXPECTED
		read -r EXPLAINED
		cat >$WORK/steps
	} <$WORK/fault
	while read -r line; do
		echo "# $1 $2: $line"
	done <$WORK/steps
	if [ "${1#no-memory}" != "$1" ]; then
		allocations_can_fail || {
			verdict skip "this kernel has no fault injection"
			return
		}
		let_allocations_fail
	fi
	echo "campaign: run $1 $2" >/dev/kmsg
	# shellcheck disable=SC2046 # One line of several words.
	hca "conformance expect $(echo $(rules))"
	case $WHEN in
	probe)
		detach
		steps
		bounded attach
		status=$?
		if [ $status = 124 ]; then
			verdict hang "probe takes longer than $BOUND_S s"
			return
		fi
		is_bound && outcome=start || outcome=refuse
		echo "# outcome: $outcome"
		[ "$EXPECTED" = either ] || [ "$EXPECTED" = $outcome ] ||
			verdict wrong "expected to $EXPECTED, but $outcome"
		;;
	run)
		steps
		if [ "$WORD" = ok ] && [ "$EXPECTED" = works ]; then
			bounded works_again ||
				verdict wrong "no command comes back: $(tail -n 1 $WORK/output)"
		fi
		;;
	remove) steps ;;
	esac
	take_away
	case $WORD in hang | not-removable) return ;; esac
	# shellcheck disable=SC2034 # For drivers.sh.
	PARAMETERS=
	make_well
	[ -d "$AT" ] || echo 1 >/sys/bus/pci/rescan
	look_at_model
	hca 'conformance expect'
	bounded attach
	[ $? != 124 ] || verdict hang "probe of a card that is well again"
	bounded works || verdict no-return "$(tail -n 1 $WORK/output)"
}

# Usage: one NAME SEED; fails if nothing more can be done with this kernel.
one() {
	echo "run $1 $2"
	look_at_clock
	started=$NOW
	run_fault "$1" "$2"
	look_at_kernel_log
	look_at_model
	if [ "$WORD" != ok ] && [ "$WORD" != skip ]; then
		tail -n 40 $WORK/log | sed 's/^/# log: /'
		hca 'log 60' | sed 's/^/# command: /; s/ opcode 0x[0-9a-f]*//'
	fi
	look_at_clock
	echo "result $1 $2 $WORD $((NOW - started)) $DETAIL"
	case $WORD in ok | skip | violation | wrong | leak) ;; *) return 1 ;; esac
}

# What kmemleak finds is put down to the group of runs.
look_for_leaks() {
	[ -w /sys/kernel/debug/kmemleak ] || return 0
	for _ in 1 2; do
		echo scan >/sys/kernel/debug/kmemleak
	done
	cat /sys/kernel/debug/kmemleak >$WORK/leaks
	[ -s $WORK/leaks ] || return 0
	head -n 60 $WORK/leaks | sed 's/^/# leak: /'
	echo "leak $(grep -c '^unreferenced object' $WORK/leaks) objects"
	echo clear >/sys/kernel/debug/kmemleak
}

[ ! -w /sys/kernel/debug/kmemleak ] || {
	echo scan=off
	echo clear
} >/sys/kernel/debug/kmemleak
hca 'pages boot 40'
hca 'pages init 120'
set_up_card
hca 'conformance clear'
# It was loaded with other parameters.
[ $kind = core ] || ! is_loaded || rmmod "$DRIVER"
unbind
bounded attach
bounded works || echo "# the driver does not work before the first fault: $(cat $WORK/output)"
dmesg -c >/dev/null
for each; do
	one "${each%:*}" "${each##*:}" || exit 77
done
# Whatever has happened, the module can be removed.
unbind
bounded rmmod "$DRIVER" || echo "left $DRIVER cannot be removed: $(tail -n 1 $WORK/output)"
look_for_leaks
