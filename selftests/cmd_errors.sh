#!/bin/sh
# SPDX-License-Identifier: GPL-2.0
# shellcheck shell=dash
# models: cx6dx
#
# Commands that the device refuses, or could not read: what the caller gets, and what is shown.

# shellcheck source=selftests/lib.sh
. ./lib.sh

# Status, what it is called, and the errno that stands for it: chapter "command status" of the
# manual, and mlx5_core's cmd_status_to_err(). 0xee is in no table.
STATUSES='0x1 EIO internal error
0x2 EINVAL bad operation
0x3 EINVAL bad parameter
0x4 EIO bad system state
0x5 EINVAL bad resource
0x6 EBUSY resource busy
0x7 EAGAIN not ready
0x8 ENOMEM limits exceeded
0x9 EINVAL bad resource state
0xa EINVAL bad index
0xf EAGAIN no resources
0x10 EINVAL bad QP state
0x30 EINVAL bad
0x40 EINVAL
0x50 EIO bad input length
0x51 EIO bad output length
0xee EIO unknown status'

# Delivery status and errno: mlx5_core's deliv_status_to_err(). 0x33 is in no table.
DELIVERIES='0x1 EBADR signature error
0x2 EBADR token error
0x3 EFAULT bad block number
0x4 EFAULT output pointer not aligned
0x5 EFAULT input pointer not aligned
0x6 EIO firmware internal error
0x7 ENOMSG input length error
0x8 ENOMSG output length error
0x9 ENOMSG reserved field not zero
0x10 ENOMSG bad command
0x33 EINVAL unknown delivery status'

# How a failed NOP begins in the log.
FAILED='NOP\(0x80d\) op_mod\(0x0\) failed'

counter() { cat "$DEBUGFS/cmd/NOP/$1"; }

test_each_status_has_its_errno_and_log_line() {
	# A new driver has not used up what it may log in a while.
	check "reload" reload
	log_mark
	echo "$STATUSES" >"$WORK/statuses"
	while read -r status errno name; do
		model fault add NOP status="$status" syndrome=0x4bb8"${status#0x}"
		is "errno of status $status" "$(errno_of cmd/nop 1)" "$errno"
		check "log line of status $status" logged \
			"$BDF: $FAILED, status ${name}.*\\($status\\), syndrome \\(0x4bb8${status#0x}[:)]"
		is "last_failed_mbox_status" $(($(counter last_failed_mbox_status))) $((status))
	done <"$WORK/statuses"
	is "errno after that" "$(errno_of cmd/nop 1)" 0
}

test_a_failure_is_logged_with_both_parts_of_the_syndrome() {
	check "reload" reload
	log_mark
	model fault add NOP status=3 syndrome=0x12345678
	is "errno" "$(errno_of cmd/nop 1)" EINVAL
	check "raw syndrome" logged \
		"$FAILED, status bad parameter\\(0x3\\), syndrome \\(0x12345678"
	check "its high 24 and low 8 bits" logged 'high 24 bits 0x123456, low 8 bits 0x78'
	is "lines" "$(logged_count 'NOP.*failed')" 1
}

test_a_failure_in_a_mailbox_command_is_told_the_same_way() {
	before=$(number pages held)
	log_mark
	model fault add MANAGE_PAGES op_mod=1 status=8 syndrome=0xabcdef01
	model log clear
	model pages request 700
	check "the device is told that there are no pages" model wait opcode MANAGE_PAGES
	check "log line" until_true 5 logged \
		'MANAGE_PAGES\(0x108\) op_mod\(0x1\) .* limits exceeded\(0x8\), .* \(0xabcdef01'
	is "pages held" "$(number pages held)" "$before"
	is "last_failed_syndrome" "$(cat "$DEBUGFS/cmd/MANAGE_PAGES/last_failed_syndrome")" \
		0xabcdef01
	check "input of the failure: opcode, op_mod, 700 pages" \
		grep -q 'INPUT' "$DEBUGFS/cmd/failures"
	has "first line of it" "$(tail -n +1 "$DEBUGFS/cmd/failures")" \
		': 000: 01080000 00000001 00000000 000002bc$'
}

test_each_delivery_status_has_its_errno_and_log_line() {
	check "reload" reload
	log_mark
	echo "$DELIVERIES" >"$WORK/deliveries"
	while read -r delivery errno name; do
		model fault add NOP delivery="$delivery"
		is "errno of delivery status $delivery" "$(errno_of cmd/nop 1)" "$errno"
		check "log line of delivery status $delivery" logged \
			"$FAILED, delivery status ${name}.*\\($delivery\\)"
	done <"$WORK/deliveries"
	is "errno after that" "$(errno_of cmd/nop 1)" 0
}

test_counters_count() {
	echo 1 >"$DEBUGFS/cmd/NOP/reset"
	for name in n failed failed_mbox_status last_failed_errno average longest; do
		is "$name after a reset" "$(counter $name)" 0
	done
	is "last_failed_mbox_status after a reset" $(($(counter last_failed_mbox_status))) 0
	is "last_failed_syndrome after a reset" "$(counter last_failed_syndrome)" 0x0

	model fault add NOP skip=2 status=6 syndrome=0x77
	is "the third of five fails and ends them" "$(errno_of cmd/nop 5)" EBUSY
	is "n" "$(counter n)" 3
	is "failed" "$(counter failed)" 1
	is "failed_mbox_status" "$(counter failed_mbox_status)" 1
	# mlx5_core shows errnos without a sign.
	is "last_failed_errno: EBUSY" "$(counter last_failed_errno)" 16
	is "last_failed_mbox_status" $(($(counter last_failed_mbox_status))) 6
	is "last_failed_syndrome" "$(counter last_failed_syndrome)" 0x77

	model fault add NOP delivery=6
	is "not delivered" "$(errno_of cmd/nop 1)" EIO
	is "n" "$(counter n)" 4
	is "failed" "$(counter failed)" 2
	is "failed_mbox_status: it had none" "$(counter failed_mbox_status)" 1
	is "last_failed_errno: EIO" "$(counter last_failed_errno)" 5
	is "last_failed_syndrome: the last there was" "$(counter last_failed_syndrome)" 0x77

	model fault add NOP delay=200
	is "slow" "$(errno_of cmd/nop 1)" 0
	is_within "longest, in us" "$(counter longest)" 200000 2000000
	is_within "average, in us" "$(counter average)" 40000 500000
	has "the table of all commands" "$(show cmd/counters)" \
		"^NOP\\(0x80d\\) 5 2 $(counter average) "
}

test_the_summary_counts_failures() {
	sent=$(value summary commands)
	failures=$(value cmd/state failures)
	model fault add NOP status=1
	is "errno" "$(errno_of cmd/nop 1)" EIO
	is "failures" "$(value cmd/state failures)" $((failures + 1))
	check "the summary changes" [ "$sent" != "$(value summary commands)" ]
	has "summary" "$(value summary commands)" \
		'^[0-9]+ sent, [0-9]+ failed, 0 slots quarantined$'
}

test_failures_keep_both_buffers() {
	model fault add NOP status=5 syndrome=0xdeadbe01
	is "errno" "$(errno_of cmd/nop 1)" EINVAL
	last=$(tail -n 5 "$DEBUGFS/cmd/failures")
	has "what failed" "$last" \
		"$FAILED, status bad resource\\(0x5\\), syndrome \\(0xdeadbe01"
	has "title of the input" "$last" '^cmd\[[0-9]+\]: INPUT$'
	has "input: opcode" "$last" '^cmd\[[0-9]+\]: 000: 080d0000 00000000 00000000 00000000$'
	has "title of the output" "$last" '^cmd\[[0-9]+\]: OUTPUT$'
	has "output: status and syndrome" "$last" '^cmd\[[0-9]+\]: 000: 05000000 deadbe01 '
}

test_32_failures_are_kept() {
	model fault add NOP status=9 syndrome=0x1 times 40
	i=0
	while [ $((i += 1)) -le 40 ]; do
		errno_of cmd/nop 1 >/dev/null
	done
	heads=$(grep -v '^cmd\[' "$DEBUGFS/cmd/failures")
	is "kept" "$(echo "$heads" | wc -l)" 32
	numbers=$(echo "$heads" | cut -d' ' -f1)
	is "oldest first, none left out" "$numbers" \
		"$(seq $(($(value cmd/state failures) - 32)) $(($(value cmd/state failures) - 1)))"
}

test_a_storm_of_failures_is_not_a_storm_in_the_log() {
	check "reload" reload
	log_mark
	model fault add NOP status=2 times forever
	started=$(now_ms)
	i=0
	while [ $((i += 1)) -le 100 ]; do
		errno_of cmd/nop 1 >/dev/null
	done
	# 20 lines in 5 s.
	is_within "lines" "$(logged_count 'NOP.*failed')" 20 \
		$((20 + 20 * (($(now_ms) - started) / 5000)))
	is "counted all the same" "$(cat "$DEBUGFS/cmd/NOP/failed")" 100
	check "the log tells later how many are missing" until_true 10 suppression_is_told
	model fault clear
}

suppression_is_told() {
	errno_of cmd/nop 1
	logged '[0-9]+ more failures were not printed, see cmd/failures'
}

need_model
run_cases \
	test_each_status_has_its_errno_and_log_line \
	test_a_failure_is_logged_with_both_parts_of_the_syndrome \
	test_a_failure_in_a_mailbox_command_is_told_the_same_way \
	test_each_delivery_status_has_its_errno_and_log_line \
	test_counters_count \
	test_the_summary_counts_failures \
	test_failures_keep_both_buffers \
	test_32_failures_are_kept \
	test_a_storm_of_failures_is_not_a_storm_in_the_log
