#!/bin/sh
# SPDX-License-Identifier: GPL-2.0
# models: cx6dx
#
# Each command of the start fails in turn: refused, or not delivered.

. ./lib.sh
. ./lifecycle.sh
. ./starts.sh

test_each_command_refused() {
	each_start_fails 'status=0x6 syndrome=0xabcdef' EBUSY \
		'status resource busy\(0x6\), syndrome \(0xabcdef'
}

test_each_command_not_delivered() {
	each_start_fails 'delivery=0x2' EBADR 'delivery status token error\(0x2\)'
}

prepare_starts
run_cases test_each_command_refused test_each_command_not_delivered
