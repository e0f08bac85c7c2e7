#!/bin/sh
# SPDX-License-Identifier: GPL-2.0
# models: bf2
# cpus: 2
# debug: bf2
#
# The driver goes in each step of a recovery, with files open and readers and writers waiting:
# bounded in time, leaving nothing, and it comes back.

. ./lib.sh
. ./lifecycle.sh
. ./recovery_lib.sh

TIMEOUT_MS=1000
MOST_MS=4000

# Each makes the next attempt stay in a step.
hold_stopping() {
	# A command that hangs in a function that is alive.
	hca 'fault add NOP hold'
	start_nop held
	check "it waits" until_true 10 outstanding_is in_flight 1
}
hold_resetting() { hca 'reset takes 1500'; }
hold_initializing() { hca 'reset cures off' && hca 'iseg initializing on'; }
hold_starting() { hca 'reset cures off' && hca 'fault add QUERY_HCA_CAP hold'; }

well_again() {
	# First, so that a card that was gone does not look at memory that is free now.
	hca 'fault clear'
	hca release >/dev/null
	hca 'reset cures on'
	hca 'reset takes 20'
	hca 'iseg initializing off'
	hca 'pci alive'
	hca 'health run'
}

# Usage: goes_in STEP WAY
goes_in() {
	step=$1 way=$2
	[ "$step" = stopping ] || [ "$step" = starting ] ||
		check "$step: stall" fault_stall
	"hold_$step"
	start_trigger
	check "$step: reached" until_true 20 recovery_is "$step"
	# A reader that keeps its file open.
	exec 7<"$DEBUGFS/recovery/state"
	timed "$way"
	echo "# $step: $way took $TOOK ms"
	is_within "$step: milliseconds of $way" "$TOOK" 0 $MOST_MS
	exec 7<&-
	wait
	is "$step: the writer" "$(cat "$WORK/trigger")" ECANCELED
	rm -f "$WORK"/nop.*
	nothing_is_left "$step: $way"
	well_again
	case $way in
	unbind) is "$step: bind" "$(bind_errno)" 0 ;;
	*) echo 1 >/sys/bus/pci/rescan ;;
	esac
	works "$step: after $way"
}

remove_device() { echo 1 >"/sys/bus/pci/devices/$BDF/remove"; }

test_unbinding_in_each_step() {
	hca 'conformance expect order pages-held objects-left'
	for step in stopping resetting initializing starting; do
		goes_in $step unbind
	done
	hca 'conformance expect'
}

test_a_module_that_is_in_use_does_not_go() {
	hca 'reset takes 1500'
	start_trigger
	check "reached" until_true 20 recovery_is resetting
	check_not "unload" unload
	wait
	is "the writer" "$(cat "$WORK/trigger")" 0
	well_again
	works "recovered"
}

# By itself nobody has a file open, so the module can go in the middle.
test_unloading_in_the_middle() {
	for step in initializing resetting; do
		check "load" reload cmd_timeout_ms=$TIMEOUT_MS
		echo 10 >"$DEBUGFS/recovery/backoff_ms"
		"hold_$step"
		check "stall" fault_stall
		echo 1 >"$DEBUGFS/recovery/auto"
		check "$step: reached" until_true 20 recovery_is $step
		timed unload
		echo "# $step: unload took $TOOK ms"
		is_within "$step: milliseconds" "$TOOK" 0 $MOST_MS
		well_again
		check "load" load cmd_timeout_ms=$TIMEOUT_MS
		works "$step: loaded again"
	done
}

test_unloading_while_it_waits_to_try_again() {
	echo 600000 >"$DEBUGFS/recovery/backoff_ms"
	echo 1 >"$DEBUGFS/recovery/auto"
	check "stall" fault_stall
	check "it waits" until_true 10 recovery_is waiting
	timed unload
	is_within "milliseconds" "$TOOK" 0 $MOST_MS
	nothing_is_left "unloaded"
	well_again
	check "load" load cmd_timeout_ms=$TIMEOUT_MS
	works "loaded again"
}

# But for resetting: for a card that does not come back from a reset, the PCI core waits a minute.
test_surprise_removal_in_each_step() {
	hca 'conformance expect order pages-held objects-left'
	for step in stopping initializing starting; do
		[ $step = stopping ] || [ $step = starting ] || check "$step: stall" fault_stall
		"hold_$step"
		start_trigger
		check "$step: reached" until_true 20 recovery_is $step
		hca 'pci dead'
		timed remove_device
		echo "# $step: removal took $TOOK ms"
		is_within "$step: milliseconds" "$TOOK" 0 $MOST_MS
		wait
		rm -f "$WORK"/nop.*
		well_again
		echo 1 >/sys/bus/pci/rescan
		works "$step: found again"
	done
	hca 'conformance expect'
}

need_model
reload cmd_timeout_ms=$TIMEOUT_MS || skip_all "the driver cannot be loaded anew"
run_cases test_unbinding_in_each_step \
	test_a_module_that_is_in_use_does_not_go \
	test_unloading_in_the_middle \
	test_unloading_while_it_waits_to_try_again \
	test_surprise_removal_in_each_step
