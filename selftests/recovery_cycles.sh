#!/bin/sh
# SPDX-License-Identifier: GPL-2.0
# models: cx6dx
#
# 100 recoveries in a row, in one binding, from all kinds of faults: each works, and nothing is
# lost by them.

. ./lib.sh
. ./lifecycle.sh
. ./recovery_lib.sh

CYCLES=100
WARM_UP=7
BOUND_KIB=400

# Faults that are told from the registers: no command has to time out.
QUICK='syndrome disabled in_reset garbage stall silence syndrome disabled in_reset garbage'

# Usage: recover_times N
recover_times() {
	i=0
	while :; do
		for fault in $QUICK; do
			[ $((i += 1)) -le "$1" ] || return 0
			"fault_$fault" || { fail "number $i: no $fault" && return 1; }
			is "number $i, $fault" "$(errno_of recovery/trigger 1)" 0 || return 1
			is "number $i, $fault: state" "$(value summary state)" alive || return 1
		done
	done
}

entries() { find "$DEBUGFS" | wc -l; }

memory() {
	sync
	for _ in 1 2 3; do
		echo 3 >/proc/sys/vm/drop_caches
		usleep 100000
	done
	awk '$1 ~ /^(SUnreclaim|KernelStack|Percpu|VmallocUsed):$/ {
		print substr($1, 1, length($1) - 1), $2 }' /proc/meminfo
}

# Usage: grown KIND
grown() {
	awk -v kind="$1" '$1 == kind { value[NR == FNR] = $2 } END { print value[0] - value[1] }' \
		"$WORK/before" "$WORK/after"
}

test_100_recoveries() {
	hca 'conformance expect order pages-held objects-left'
	check "warm-up" recover_times $WARM_UP
	memory >"$WORK/before"
	files=$(entries)
	held=$(value pages held)
	started=$(now_ms)
	check "recoveries" recover_times $CYCLES
	echo "# $CYCLES recoveries took $((($(now_ms) - started) / 1000)) s"
	wait
	rm -f "$WORK"/nop.*
	memory >"$WORK/after"
	hca 'conformance expect'
	is "succeeded" "$(value recovery/state succeeded)" $((WARM_UP + CYCLES))
	is "failed" "$(value recovery/state failed)" 0
	is "debugfs entries" "$(entries)" "$files"
	is "pages" "$(value pages held)" "$held"
	is "pages in the device" "$(hca pages | sed -n 's/^total: //p')" "$held"
	is "interrupts" "$(grep -c -F "@$BDF" /proc/interrupts)" 3
	works "after $CYCLES recoveries"
}

test_memory_does_not_shrink() {
	for kind in SUnreclaim KernelStack Percpu VmallocUsed; do
		echo "# $kind: $(grown $kind) KiB more after $CYCLES recoveries"
		is_within "$kind, KiB more" "$(grown $kind)" -100000 $BOUND_KIB
	done
}

need_model
reload cmd_timeout_ms=500 || skip_all "the driver cannot be loaded anew"
run_cases test_100_recoveries \
	test_memory_does_not_shrink
