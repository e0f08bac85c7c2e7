#!/bin/sh
# SPDX-License-Identifier: GPL-2.0
# models: cx6dx
#
# Cards that cannot be driven: whose firmware does not start, whose init segment makes no sense, or
# that are not there. Each ends in a message and an errno, leaves nothing, and is driven once it is
# well.

. ./lib.sh
. ./lifecycle.sh

# Binding fails, says why, and leaves nothing. Usage: refuses ERRNO PATTERN
refuses() {
	log_mark
	is "errno" "$(bind_errno)" "$1"
	check_not "bound" is_bound
	check "the log has '$2'" logged "$DRIVER_NAME $BDF: $2"
	nothing_is_left "refused"
}

# The card is well again, and the next attempt works. Usage: recovers
recovers() {
	is "errno when it is well" "$(bind_errno)" 0
	works "when it is well"
	check "unbind" unbind
	model_has_nothing "unbound"
}

test_firmware_that_never_starts() {
	hca 'iseg initializing on'
	line='firmware is still initializing after 400 ms \(register 0x1fc is 0x8[0-9a-f]{7}, '
	line="${line}expected bit 31 to be 0\\)"
	timed refuses ETIMEDOUT "$line"
	is_within "milliseconds" "$TOOK" 400 3000
	is "commands" "$(model_counter commands)" 0
	hca 'iseg initializing off'
	recovers
}

test_firmware_that_starts_late() {
	hca 'iseg initializing 200'
	recovers
}

test_waiting_ends_by_a_signal() {
	check "load with a long wait" load_unbound init_timeout_ms=60000
	hca 'iseg initializing on'
	# The shell itself writes: the signal must hit who waits in the kernel.
	sh -c "echo $BDF >$PCI_DRIVER/bind" >"$WORK/killed" 2>&1 &
	writer=$!
	check "the attempt began" until_true 5 grep -q . "/proc/$writer/comm"
	check "it waits" until_true 5 grep -q -E '^[1-9]' "/sys/bus/pci/devices/$BDF/enable"
	kill -TERM $writer
	timed until_true 10 grep -q '^0' "/sys/bus/pci/devices/$BDF/enable"
	wait $writer
	is_within "milliseconds to the end" "$TOOK" 0 2000
	check "the log says so" logged \
		"$BDF: stopped while waiting for firmware to start"
	check_not "bound" is_bound
	nothing_is_left "stopped"
	hca 'iseg initializing off'
	recovers
	check "load as before" load_unbound init_timeout_ms=400
}

test_another_command_interface_revision() {
	for revision in 4 6 0 65535; do
		hca "iseg set cmd_interface_rev $revision"
		refuses EOPNOTSUPP "command interface revision is $revision, expected 5"
	done
	hca 'iseg set cmd_interface_rev 5'
	recovers
}

test_absurd_queue_sizes() {
	for size in 0 6 15; do
		hca "iseg set log_cmdq_size $size"
		refuses EINVAL \
			"command queue of 2\^$size entries, 2\^6 bytes apart: expected 2 to 32 entries"
	done
	hca 'iseg set log_cmdq_size 5'
	for stride in 0 5 8 15; do
		hca "iseg set log_cmdq_stride $stride"
		refuses EINVAL \
			"command queue of 2\^5 entries, 2\^$stride bytes apart: expected 2 to 32 entries"
	done
	hca 'iseg set log_cmdq_stride 6'
	recovers
}

test_smaller_and_wider_queues_are_used() {
	hca 'iseg set log_cmdq_size 2'
	hca 'iseg set log_cmdq_stride 8'
	is "errno" "$(bind_errno)" 0
	is "slots" "$(value cmd/state slots)" 4
	works "four slots"
	check "unbind" unbind
	hca 'iseg set log_cmdq_size 5'
	hca 'iseg set log_cmdq_stride 6'
	recovers
}

test_a_card_that_does_not_answer() {
	hca 'pci dead'
	refuses ENODEV 'the device does not answer: all reads of BAR 0 are ones'
	hca 'pci alive'
	recovers
}

# Replace the bitmap of supported versions in the answer to QUERY_ISSI. Usage: issi_is HEX
issi_is() { hca "fault add QUERY_ISSI out 0x6c=$1"; }

test_no_interface_version_in_common() {
	issi_is 00000004
	refuses EOPNOTSUPP 'firmware supports interface versions 0x4 .*, expected 0 or 1'
	model_has_nothing "refused"
	recovers
}

test_old_firmware_speaks_version_0() {
	for answer in 00000001 00000000; do
		hca 'log clear'
		issi_is $answer
		is "errno" "$(bind_errno)" 0
		is "issi with $answer" "$(value summary issi)" 0
		is "SET_ISSI sent" "$(sent_commands SET_ISSI)" ""
		works "ISSI 0"
		check "unbind" unbind
	done
}

test_older_firmware_does_not_know_the_question() {
	hca 'log clear'
	hca 'fault add QUERY_ISSI status=0x2 syndrome=0x123'
	is "errno" "$(bind_errno)" 0
	is "issi" "$(value summary issi)" 0
	is "SET_ISSI sent" "$(sent_commands SET_ISSI)" ""
	is "lines about QUERY_ISSI" "$(logged_count QUERY_ISSI)" 0
	works "ISSI 0"
	check "unbind" unbind
}

test_absurd_numbers_of_pages() {
	# QUERY_PAGES, boot: num_pages of 2^31 - 1, and of -1.
	hca 'fault add QUERY_PAGES op_mod=1 out 0x0c=7fffffff'
	refuses ENOSPC "firmware asks for 2147483647 pages for function 0 and has 0 already: \
the limit is 262144"
	hca 'fault add QUERY_PAGES op_mod=1 out 0x0c=ffffffff'
	refuses EPROTO 'firmware asks for -1 .*pages for function 0: expected a number from 0'
	model_has_nothing "refused"
	recovers
}

need_model
load_unbound init_timeout_ms=400 || skip_all "the driver cannot be loaded anew"
hca 'counters clear'
run_cases test_firmware_that_never_starts \
	test_firmware_that_starts_late \
	test_waiting_ends_by_a_signal \
	test_another_command_interface_revision \
	test_absurd_queue_sizes \
	test_smaller_and_wider_queues_are_used \
	test_a_card_that_does_not_answer \
	test_no_interface_version_in_common \
	test_old_firmware_speaks_version_0 \
	test_older_firmware_does_not_know_the_question \
	test_absurd_numbers_of_pages
