#!/bin/sh
# SPDX-License-Identifier: GPL-2.0
# models: cx5 cx7 cx7vf bf2
#
# The unmodified C driver on the other kinds of card: each has a netdev that works, and goes.

. ./lib.sh

test_the_driver_takes_the_card() {
	is "driver" "$(basename "$(readlink "$AT/driver")")" $C_DRIVER
	is "stage" "$(hca stage)" initialized
	check "netdev" test -n "$(netdev)"
}

test_the_netdev_passes_frames() {
	bring_up
	is "operstate" "$(net operstate)" up
	check "ping over IPv4" ping_all 5 1000 $PEER
	check "ping over IPv6" ping_all 5 1000 $PEER6
	is "frames with a wrong checksum" "$(said wire bad)" 0
}

test_unloading_leaves_nothing() {
	check "unload" rmmod $C_DRIVER
	is "stage" "$(hca stage)" disabled
	is "objects" "$(hca objects)" ""
	is "pages" "$(hca pages | sed -n 's/^total: //p')" 0
}

run_cases test_the_driver_takes_the_card test_the_netdev_passes_frames \
	test_unloading_leaves_nothing
