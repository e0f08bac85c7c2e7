#!/bin/sh
# SPDX-License-Identifier: GPL-2.0
# models: cx6dx
#
# The unmodified C driver on the device model: its netdev comes up, sends and receives, and goes.

. ./lib.sh

test_the_driver_takes_the_card() {
	is "driver" "$(basename "$(readlink "$AT/driver")")" $C_DRIVER
	is "stage" "$(hca stage)" initialized
	is "driver version" "$(hca driver | cut -d , -f 1-2)" "Linux,$C_DRIVER"
	check "devices of the auxiliary bus" test -d "$AT/$C_DRIVER.eth.0"
}

test_a_netdev_is_registered() {
	check "netdev" test -n "$(netdev)"
	is "address" "$(net address)" 00:02:c9:00:00:01
	is "type" "$(net type)" 1
	is "driver of the netdev" \
		"$(basename "$(readlink "/sys/class/net/$(netdev)/device")")" "$BDF"
	at_least "queues" "$(find "/sys/class/net/$(netdev)/queues/" -name 'rx-*' | wc -l)" 1
}

test_the_link_comes_up() {
	bring_up
	is "operstate" "$(net operstate)" up
	is "speed" "$(net speed)" 100000
	is "duplex" "$(net duplex)" full
	at_least "receive queues" "$(hca queues | grep -c '^RQ .* state 1')" 2
}

test_ping_over_ipv4() {
	check "small packets" ping_all 10 56 $PEER
	check "packets of a whole frame" ping_all 5 1472 $PEER
	is "frames with a wrong checksum" "$(said wire bad)" 0
}

test_ping_over_ipv6() {
	check "small packets" ping_all 5 56 $PEER6
	check "packets of a whole frame" ping_all 3 1452 $PEER6
	is "frames with a wrong checksum" "$(said wire bad)" 0
}

test_the_counters_agree() {
	sent=$(net statistics/tx_packets)
	check "more pings" ping_all 7 100 $PEER
	at_least "frames sent" "$(net statistics/tx_packets)" $((sent + 7))
	is "errors of reception" "$(net statistics/rx_errors)" 0
	is "errors of transmission" "$(net statistics/tx_errors)" 0
	is "frames without a buffer" "$(said vport out_of_buffer)" 0
}

# The host answers a datagram to a closed port, but only if the checksum that the device wrote is
# right.
test_udp_checksums_are_right() {
	traceroute -n -q 3 -m 1 -w 3 $PEER >"$WORK/trace" 2>&1
	check "three answers" grep -q -E "^ 1  $PEER(  [0-9.]+ ms){3}" "$WORK/trace"
	is "frames with a wrong checksum" "$(said wire bad)" 0
}

# A stream goes out in large sends that the device cuts into segments.
test_a_tcp_stream_arrives_whole() {
	head -c 300000 /dev/urandom >"$WORK/data"
	check "send" nc -w 5 $PEER 9 <"$WORK/data"
	is "bytes" "$(said wire tcp_bytes)" 300000
	is "CRC" "$(hca wire | sed -n 's/^tcp_crc32: //p')" "$(crc32 <"$WORK/data")"
	is "segments out of order" "$(said wire tcp_out_of_order)" 0
	is "frames with a wrong checksum" "$(said wire bad)" 0
}

# A tag goes out as the driver put it, and comes back in the completion entry.
test_a_vlan_works() {
	dev=$(netdev)
	check "module" modprobe 8021q
	vconfig add "$dev" 5 >/dev/null 2>&1
	check "VLAN device" test -d "/sys/class/net/$dev.5"
	ip link set "$dev.5" up
	ip route add $PEER/32 dev "$dev.5" src $OWN
	check "ping" ping_all 5 56 $PEER
	# The tag stands behind the two addresses.
	is "tag" "$(hca 'wire last' | cut -c 25-32)" 81000005
	check "frames came in through it" test \
		"$(cat "/sys/class/net/$dev.5/statistics/rx_packets")" -ge 5
	vconfig rem "$dev.5" >/dev/null
	check "ping without a tag" ping_all 2 56 $PEER
}

test_large_frames() {
	ip link set "$(netdev)" mtu 9000
	check "carrier" until_true 10 net_is carrier 1
	check "ping" ping_all 3 8900 $PEER
	ip link set "$(netdev)" mtu 1500
	check "carrier" until_true 10 net_is carrier 1
	check "ping" ping_all 3 1400 $PEER
}

test_address_filters_follow() {
	dev=$(netdev)
	is "multicast list" "$(hca vport | grep -c '^multicast: .*33:33:ff')" 1
	ip link set "$dev" promisc on
	check "promiscuous" until_true 5 vport_has 'promisc_all: 1'
	ip link set "$dev" promisc off
	check "no more" until_true 5 vport_has 'promisc_all: 0'
	ifconfig "$dev" allmulti
	check "all multicast" until_true 5 vport_has 'promisc_mc: 1'
	ifconfig "$dev" -allmulti
	check "no more" until_true 5 vport_has 'promisc_mc: 0'
	check "ping" ping_all 2 56 $PEER
}

vport_has() { hca vport | grep -q "^$1\$"; }

test_a_pulled_cable_takes_the_carrier() {
	hca 'cable out' >/dev/null
	check "no carrier" until_true 10 net_is carrier 0
	hca 'cable in' >/dev/null
	check "carrier" until_true 10 net_is carrier 1
	check "ping" ping_all 2 56 $PEER
}

test_down_and_up_leave_no_objects() {
	before=$(hca objects | wc -l)
	for _ in 1 2 3; do
		ip link set "$(netdev)" down
		is "state" "$(net operstate)" down
		is "queues that are ready" "$(hca queues | grep -c '^SQ .* state 1')" 0
		bring_up
		check "ping" ping_all 2 56 $PEER
	done
	is "objects" "$(hca objects | wc -l)" "$before"
}

test_unloading_leaves_nothing() {
	check "unload" rmmod $C_DRIVER
	is "stage" "$(hca stage)" disabled
	is "objects" "$(hca objects)" ""
	is "queues" "$(hca queues)" ""
	is "event queues" "$(hca eqs)" ""
	is "pages" "$(hca pages | sed -n 's/^total: //p')" 0
}

# Without a small number of strides the driver takes the other kind of receive queue.
test_the_other_kind_of_receive_queue() {
	hca 'cap set cmd_hca_cap.ext_stride_num_range 0' >/dev/null
	check "load" modprobe $C_DRIVER
	check "netdev" until_true 10 test -n "$(netdev)"
	bring_up
	is "queues of a plain ring" "$(hca queues | grep -c '^RQ .* type 2')" 0
	check "ping" ping_all 5 56 $PEER
	check "ping" ping_all 3 1400 $PEER6
	check "unload" rmmod $C_DRIVER
	hca 'cap set cmd_hca_cap.ext_stride_num_range 1' >/dev/null
}

test_loading_again_works() {
	check "load" modprobe $C_DRIVER
	check "netdev" until_true 10 test -n "$(netdev)"
	bring_up
	check "ping" ping_all 3 56 $PEER
}

run_cases test_the_driver_takes_the_card test_a_netdev_is_registered test_the_link_comes_up \
	test_ping_over_ipv4 test_ping_over_ipv6 test_the_counters_agree \
	test_udp_checksums_are_right test_a_tcp_stream_arrives_whole test_a_vlan_works \
	test_large_frames \
	test_address_filters_follow test_a_pulled_cable_takes_the_carrier \
	test_down_and_up_leave_no_objects test_unloading_leaves_nothing \
	test_the_other_kind_of_receive_queue test_loading_again_works
