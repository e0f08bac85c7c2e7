#!/bin/sh
# SPDX-License-Identifier: GPL-2.0
# shellcheck shell=dash
# models: cx6dx
#
# Outputs that are not what they must be: tokens, block numbers, signatures, and nonsense.

# shellcheck source=selftests/lib.sh
. ./lib.sh

# How a failed NOP begins in the log.
FAILED='NOP\(0x80d\) op_mod\(0x0\) failed'

# The module is loaded, and the function was not taken.
is_unbound() { is_loaded && ! is_bound; }

# Load the module for a start that must fail, and look for the reason; then without the fault.
# Usage: start_fails PATTERN
start_fails() {
	log_mark
	check "insmod" load
	check "the function is not taken" is_unbound
	check "the log says why" logged "mlx5_prm_rs $BDF: $1"
	check "unload" unload
	is "pages that the device still has" "$(hca pages | sed -n 's/^total: //p')" 0
	model fault clear
	check "load" load
	check "the function is taken" is_bound
}

test_a_wrong_token_is_noticed() {
	log_mark
	model fault add NOP wrong-token
	is "errno" "$(errno_of cmd/nop 1)" EBADMSG
	check "log line" logged "$FAILED, bad output: the entry came back with another token"
	# mlx5_core's errno for it, if it looked: EBADMSG.
	is "last_failed_errno" "$(cat "$DEBUGFS/cmd/NOP/last_failed_errno")" 74
	is "the next works" "$(errno_of cmd/nop 1)" 0
}

test_a_wrong_block_number_is_noticed() {
	check "unload" unload
	model fault add QUERY_HCA_CAP wrong-block
	start_fails \
		'QUERY_HCA_CAP\(0x100\) op_mod\(0x[01]\) failed, bad output: an output mailbox has'
}

test_signatures_are_not_looked_at_while_they_are_off() {
	is "output_signatures" "$(value cmd/state output_signatures)" off
	is "cmdif_checksum" "$(hca 'cap get cmd_hca_cap.cmdif_checksum' | cut -d' ' -f1)" 0
	model fault add NOP bad-signature
	is "errno" "$(errno_of cmd/nop 1)" 0
}

test_signatures_hold_both_ways() {
	check "unload" unload
	check "load" load checksum=1
	is "output_signatures" "$(value cmd/state output_signatures)" on
	# 3 is "both directions"; from here on the model verifies every block, see model_is_content.
	is "cmdif_checksum" "$(hca 'cap get cmd_hca_cap.cmdif_checksum' | cut -d' ' -f1)" 3
	is "short commands" "$(errno_of cmd/nop 300)" 0
	before=$(number pages held)
	model pages request 768
	check "blocks of input" until_true 5 value_is pages held $((before + 768))
	model pages request -768
	check "blocks of output" until_true 5 value_is pages held "$before"
	is "failures" "$(value cmd/state failures)" 0
}

test_a_wrong_signature_is_noticed() {
	is "output_signatures" "$(value cmd/state output_signatures)" on
	log_mark
	model fault add NOP bad-signature
	is "errno" "$(errno_of cmd/nop 1)" EBADMSG
	check "log line" logged "$FAILED, bad output: the signature of the entry does not fit"
	is "the next works" "$(errno_of cmd/nop 1)" 0
	check "reload" reload
	is "output_signatures" "$(value cmd/state output_signatures)" off
}

test_a_device_that_cannot_sign_is_told_of() {
	cap=cmd_hca_cap.cmdif_checksum
	check "unload" unload
	max=$(hca "cap get $cap" | sed 's/.* max //')
	model cap set $cap 0 0
	log_mark
	check "load" load checksum=1
	check "log line" logged 'parameter checksum is set, but the device cannot sign mailboxes'
	check "and why" logged 'cmdif_checksum is at most 0, expected 3'
	is "output_signatures" "$(value cmd/state output_signatures)" off
	is "commands work" "$(errno_of cmd/nop 10)" 0
	check "unload" unload
	model cap set $cap 0 "$max"
	check "load" load
}

test_an_output_of_ones_is_an_unknown_status() {
	log_mark
	model fault add NOP out 0=ffffffffffffffffffffffffffffffff
	is "errno" "$(errno_of cmd/nop 1)" EIO
	check "log line" logged 'status unknown status\(0xff\), syndrome \(0xffffffff'
}

test_output_beside_status_and_syndrome_is_not_looked_at() {
	model fault add NOP out 8=ffffffffffffffff
	is "errno" "$(errno_of cmd/nop 1)" 0
}

# For outputs that the device must not have acted upon: the command is not run, and its output is
# zero but for what is given. Usage: answer COMMAND OP_MOD OFFSET=HEX
answer() {
	model fault add "$1" op_mod="$2" status=0 syndrome=0
	model fault add "$1" op_mod="$2" out "$3"
}

test_a_UAR_beyond_the_BAR_is_refused() {
	check "unload" unload
	answer ALLOC_UAR 0 8=00ffffff
	model fault add DEALLOC_UAR status=0 syndrome=0
	start_fails 'the device gives UAR 0xffffff, which lies beyond the end of BAR 0'
}

test_all_interface_versions_at_once() {
	check "unload" unload
	model fault add QUERY_ISSI out 0x6c=ffffffff
	check "load" load
	is "the newest that the driver knows" "$(value summary issi)" 1
}

need_model
run_cases \
	test_a_wrong_token_is_noticed \
	test_a_wrong_block_number_is_noticed \
	test_signatures_are_not_looked_at_while_they_are_off \
	test_signatures_hold_both_ways \
	test_a_wrong_signature_is_noticed \
	test_a_device_that_cannot_sign_is_told_of \
	test_an_output_of_ones_is_an_unknown_status \
	test_output_beside_status_and_syndrome_is_not_looked_at \
	test_a_UAR_beyond_the_BAR_is_refused \
	test_all_interface_versions_at_once
