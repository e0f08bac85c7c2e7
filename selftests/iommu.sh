#!/bin/sh
# SPDX-License-Identifier: GPL-2.0
# shellcheck shell=dash
# iommu: cx6dx
#
# DMA in a machine whose IOMMU lets the card reach only what the driver mapped for it. The model
# sees each mapping, and notes an access to anything else, and memory that is unmapped too early.

. ./lib.sh

# The largest mapping that a driver makes at once; a machine without an IOMMU maps all its memory.
MOST=$((4 << 20))

# Ranges that the card can reach. Usage: mappings
mappings() { model memory | wc -l; }

test_the_card_reaches_only_what_is_mapped() {
	is "kind of DMA" "$(cat "/sys/bus/pci/devices/$BDF/iommu_group/type")" DMA
	model memory >"$WORK/memory"
	check "there are mappings" test -s "$WORK/memory"
	while read -r address size _; do
		is_within "bytes mapped at $address" $((size)) 4096 $MOST
	done <"$WORK/memory"
	has "the card reads where nothing is mapped" "$(model memory read 0 8 2>&1)" 'not mapped'
}

test_what_the_driver_mapped_goes_with_it() {
	pages=$(number pages held)
	is_within "mappings for $pages pages and the queues" "$(mappings)" "$pages" $((pages + 400))
	first=$(model memory | sed -n '1s/ .*//p')
	check "the card reads what is mapped" model memory read "$first" 8

	unbind
	is "mappings without a driver" "$(model memory)" ""
	has "the card reads what was mapped" "$(model memory read "$first" 8 2>&1)" 'not mapped'
	is "errno of the next bind" "$(bind_errno)" 0
}

# Its mailboxes stay mapped until the card has given the slot back.
test_a_late_command_finds_its_memory() {
	echo 300 >"$DEBUGFS/cmd/timeout_ms"
	model fault add NOP hold
	is "errno" "$(errno_of cmd/nop 1)" ETIMEDOUT
	before=$(mappings)
	model release 64
	check "the slot comes back" until_true 5 outstanding_is quarantined 0
	is "mappings once it came" "$(mappings)" "$before"
}

need_model
run_cases test_the_card_reaches_only_what_is_mapped test_what_the_driver_mapped_goes_with_it \
	test_a_late_command_finds_its_memory
