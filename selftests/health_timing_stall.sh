#!/bin/sh
# SPDX-License-Identifier: GPL-2.0
# models: cx6dx
# cpus: 2
#
# How soon it is noticed that the health counter stands still.

. ./lib.sh
. ./lifecycle.sh
. ./health_lib.sh
. ./health_timing_lib.sh

test_a_stall_is_noticed_in_time() { all_runs stall 'health freeze' EIO 'health run'; }

need_model
run_cases test_a_stall_is_noticed_in_time
