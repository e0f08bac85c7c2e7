#!/bin/sh
# SPDX-License-Identifier: GPL-2.0
# models: cx6dx
# cpus: 2
#
# How soon a syndrome is noticed that only a reset can mend.

. ./lib.sh
. ./lifecycle.sh
. ./health_lib.sh
. ./health_timing_lib.sh

test_a_fatal_syndrome_is_noticed_in_time() {
	all_runs syndrome 'health set synd=8 rfr=1' EIO 'health clear'
}

need_model
run_cases test_a_fatal_syndrome_is_noticed_in_time
