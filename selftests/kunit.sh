#!/bin/sh
# SPDX-License-Identifier: GPL-2.0
# shellcheck shell=dash
# debug: cx6dx
#
# The module's KUnit tests, which ran when it was loaded: their results become ours.

. ./lib.sh

RESULTS=/sys/kernel/debug/kunit

[ -d $RESULTS ] || skip_all "the kernel has no KUnit"

# Usage: suite_passes NAME
suite_passes() {
	cat "$RESULTS/$1/results" >"$WORK/results" || return 1
	sed 's/^/# /' "$WORK/results"
	check "$1: no test failed" sh -c "! grep -E '^ *not ok' '$WORK/results'"
	check "$1: some passed" grep -q -E '^ +ok [0-9]+' "$WORK/results"
}

test_what_only_a_kernel_can_run() { suite_passes mlx5_prm_rs_kernel_ext; }
test_what_a_function_tells() { suite_passes mlx5_prm_rs_state; }

run_cases test_what_only_a_kernel_can_run test_what_a_function_tells
