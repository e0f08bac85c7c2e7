#!/bin/sh
# SPDX-License-Identifier: GPL-2.0
# models: cx6dx
# cpus: 2
#
# 200 times insmod and rmmod: no pages, memory, objects, interrupts or debugfs entries are left
# behind, and the kernel has nothing to say about it.
#
# Memory is compared after a warm-up, with caches dropped. What a cycle leaves must be less than
# a page, whatever it is: 190 cycles that each lose one page would show as 760 KiB, twice the bound.

. ./lib.sh
. ./lifecycle.sh

WARM_UP=10
CYCLES=190
BOUND_KIB=380

# Usage: cycles N
cycles() {
	i=0
	while [ $((i += 1)) -le "$1" ]; do
		rmmod $DRIVER_NAME && insmod "$MODULE" || return 1
		[ -e "$PCI_DRIVER/$BDF" ] || return 1
	done
}

# Memory in KiB by kind, while the driver is not loaded. Free pages that the kernel keeps for each
# processor are not in its MemFree: after a burst of frees these are thousands.
memory() {
	rmmod $DRIVER_NAME
	sync
	for _ in 1 2 3; do
		echo 3 >/proc/sys/vm/drop_caches
		usleep 100000
	done
	awk '
		FILENAME ~ /zoneinfo/ && $1 == "count:" { kept += $2 * 4 }
		$1 == "MemFree:" { $2 += kept }
		$1 ~ /^(MemFree|Slab|SUnreclaim|KernelStack|PageTables|Percpu|VmallocUsed):$/ {
			print substr($1, 1, length($1) - 1), $2 }' /proc/zoneinfo /proc/meminfo
	insmod "$MODULE"
}

# Usage: grown KIND
grown() {
	awk -v kind="$1" '$1 == kind { value[NR == FNR] = $2 } END { print value[0] - value[1] }' \
		"$WORK/before" "$WORK/after"
}

# Objects of each slab cache that has as many more as there were cycles.
slabs() { awk 'NR > 2 { print $1, $2 }' /proc/slabinfo; }

test_200_cycles() {
	# shellcheck disable=SC2034 # lib.sh looks at it.
	DIRTY=1
	tainted=$(cat /proc/sys/kernel/tainted)
	started=$(now_ms)
	check "warm-up" cycles $WARM_UP
	memory >"$WORK/before"
	slabs >"$WORK/slabs"
	check "cycles" cycles $CYCLES
	memory >"$WORK/after"
	slabs | awk -v most=$CYCLES '
		NR == FNR { before[$1] = $2; next }
		$2 - before[$1] >= most { print $1, before[$1], "->", $2 }' \
			"$WORK/slabs" - >"$WORK/grown"
	echo "# $((WARM_UP + CYCLES)) cycles took $((($(now_ms) - started) / 1000)) s"
	is "taint" "$(cat /proc/sys/kernel/tainted)" "$tainted"
	bad='fail|error|expected|not returned'
	is "lines with errors" "$(logged_count "$DRIVER_NAME.*($bad)")" 0
	works "after 200 cycles"
}

test_memory_does_not_shrink() {
	for kind in MemFree Slab SUnreclaim KernelStack PageTables Percpu VmallocUsed; do
		echo "# $kind: $(grown $kind) KiB more after $CYCLES cycles"
	done
	is_within "MemFree, KiB less" $((-$(grown MemFree))) -100000 $BOUND_KIB
	for kind in SUnreclaim KernelStack Percpu VmallocUsed; do
		is_within "$kind, KiB more" "$(grown $kind)" -100000 $BOUND_KIB
	done
}

test_no_slab_cache_has_an_object_more_for_each_cycle() {
	is "caches" "$(cat "$WORK/grown")" ""
}

test_nothing_is_left_when_it_is_unloaded() {
	check "unload" unload
	nothing_is_left "unloaded"
	model_has_nothing "unloaded"
	check_not "debugfs" [ -e $DEBUGFS_ROOT ]
	check "load" load
	works "loaded again"
}

need_model
run_cases test_200_cycles \
	test_memory_does_not_shrink \
	test_no_slab_cache_has_an_object_more_for_each_cycle \
	test_nothing_is_left_when_it_is_unloaded
