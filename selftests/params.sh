#!/bin/sh
# SPDX-License-Identifier: GPL-2.0
# models: cx6dx
#
# The module's parameters: their ranges, and what a value outside of them leads to.

. ./lib.sh
. ./lifecycle.sh

# A value that is refused: by the driver with a message, or by the kernel if it is no such number.
# Usage: refused PARAMETER VALUE ERRNO PATTERN
refused() {
	log_mark
	is "$1=$2" "$(load_errno "$1=$2")" "$3"
	check "$1=$2: the log has '$4'" logged "$4"
	check_not "$1=$2: loaded" is_loaded
	check_not "$1=$2: debugfs" [ -e $DEBUGFS_ROOT ]
}

# Usage: accepted PARAMETER VALUE
accepted() {
	check "$1=$2" reload "$1=$2"
	works "$1=$2"
}

# Usage: check_range PARAMETER LEAST MOST
check_range() {
	check "unload" unload
	if [ "$2" != 0 ]; then
		refused "$1" $(($2 - 1)) EINVAL "parameter $1 is $(($2 - 1)), expected $2 to $3"
	fi
	refused "$1" $(($3 + 1)) EINVAL "parameter $1 is $(($3 + 1)), expected $2 to $3"
	refused "$1" many EINVAL "many.* invalid for parameter .$1"
	refused "$1" -1 EINVAL "-1.* invalid for parameter .$1"
	refused "$1" 99999999999999999999999 EINVAL "9999.* invalid for parameter .$1"
	check "load without parameters" load
	works "without parameters"
}

test_cmd_timeout_ms_range() {
	check_range cmd_timeout_ms 10 600000
	accepted cmd_timeout_ms 600000
}

test_init_timeout_ms_range() {
	check_range init_timeout_ms 100 7200000
	accepted init_timeout_ms 100
	accepted init_timeout_ms 7200000
}

test_max_pages_range() {
	check_range max_pages 1024 4194304
	accepted max_pages 4194304
}

test_checksum_range() {
	check_range checksum 0 1
	accepted checksum 0
	accepted checksum 1
}

test_cmd_timeout_ms_is_used() {
	check "load" reload cmd_timeout_ms=4321
	is "timeout_ms" "$(value cmd/state timeout_ms)" 4321
	is "timeout_ms, the file" "$(show cmd/timeout_ms)" 4321
}

test_max_pages_is_a_limit() {
	check "load with all that firmware wants" reload max_pages=1800
	is "limit" "$(value pages limit)" 1800
	works "1800 pages"
	log_mark
	check "load with one less" reload max_pages=1799
	check_not "bound" is_bound
	check "message" logged "$BDF: firmware asks for 1500 pages .* has 300 already: \
the limit is 1799 \(parameter max_pages\)"
	nothing_is_left "not bound"
	model_has_nothing "not bound"
	is "errno" "$(bind_errno)" ENOSPC
	check "load without parameters" reload
	works "without parameters"
}

need_model
run_cases test_cmd_timeout_ms_range \
	test_init_timeout_ms_range \
	test_max_pages_range \
	test_checksum_range \
	test_cmd_timeout_ms_is_used \
	test_max_pages_is_a_limit
