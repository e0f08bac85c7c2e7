#!/bin/sh
# SPDX-License-Identifier: GPL-2.0
# models: bf2
#
# Each command of the start in turn is not answered.

. ./lib.sh
. ./lifecycle.sh
. ./starts.sh

test_each_command_not_answered() {
	each_start_fails drop ETIMEDOUT "no completion after $TIMEOUT_MS ms"
}

prepare_starts
run_cases test_each_command_not_answered
