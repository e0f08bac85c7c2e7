#!/bin/sh
# SPDX-License-Identifier: GPL-2.0
# models: cx6dx
# cpus: 2
#
# How soon a device is noticed that does not answer reads any more.

. ./lib.sh
. ./lifecycle.sh
. ./health_lib.sh
. ./health_timing_lib.sh

test_a_dead_bus_is_noticed_in_time() { all_runs 'dead bus' 'pci dead' ENODEV 'pci alive' reset; }

need_model
run_cases test_a_dead_bus_is_noticed_in_time
