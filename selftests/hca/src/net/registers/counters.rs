// SPDX-License-Identifier: GPL-2.0

//! Counter groups of the port (PPCNT). Groups and counters that stay zero are those of which the
//! wire has no cause: errors, pauses, discards.

use crate::bits;
use crate::ifc::fields::*;
use crate::ifc::Field;
use crate::net::vport::Port;

/// Groups. Source: `MLX5_*_COUNTERS_GROUP` of the kernel's `device.h`.
mod group {
    pub const IEEE_802_3: u64 = 0x0;
    pub const RFC_2863: u64 = 0x1;
    pub const RFC_2819: u64 = 0x2;
    pub const PER_PRIORITY: u64 = 0x10;
    pub const PHYSICAL: u64 = 0x12;
}

/// Sets a counter of two words, of which `high` is the first.
fn put(out: &mut [u8], high: Field, value: u64) {
    bits::set(out, Field { width: 64, ..high }, value);
}

/// Fills in a group of counters; `out` is the counter set.
pub fn fill(port: &Port, which: u64, prio: u64, out: &mut [u8]) {
    let (rx, tx) = (&port.received, &port.transmitted);
    let (rx_all, tx_all) = (rx.total(), tx.total());
    match which {
        group::IEEE_802_3 => {
            use eth_802_3_cntrs_grp_data_layout as c;
            put(out, c::A_FRAMES_TRANSMITTED_OK_HIGH, tx_all.packets);
            put(out, c::A_FRAMES_RECEIVED_OK_HIGH, rx_all.packets);
            put(out, c::A_OCTETS_TRANSMITTED_OK_HIGH, tx_all.bytes);
            put(out, c::A_OCTETS_RECEIVED_OK_HIGH, rx_all.bytes);
            put(
                out,
                c::A_MULTICAST_FRAMES_XMITTED_OK_HIGH,
                tx.multicast.packets,
            );
            put(
                out,
                c::A_BROADCAST_FRAMES_XMITTED_OK_HIGH,
                tx.broadcast.packets,
            );
            put(
                out,
                c::A_MULTICAST_FRAMES_RECEIVED_OK_HIGH,
                rx.multicast.packets,
            );
            put(
                out,
                c::A_BROADCAST_FRAMES_RECEIVED_OK_HIGH,
                rx.broadcast.packets,
            );
        }
        group::RFC_2863 => {
            use eth_2863_cntrs_grp_data_layout as c;
            put(out, c::IF_IN_OCTETS_HIGH, rx_all.bytes);
            put(out, c::IF_IN_UCAST_PKTS_HIGH, rx.unicast.packets);
            put(out, c::IF_IN_MULTICAST_PKTS_HIGH, rx.multicast.packets);
            put(out, c::IF_IN_BROADCAST_PKTS_HIGH, rx.broadcast.packets);
            put(out, c::IF_OUT_OCTETS_HIGH, tx_all.bytes);
            put(out, c::IF_OUT_UCAST_PKTS_HIGH, tx.unicast.packets);
            put(out, c::IF_OUT_MULTICAST_PKTS_HIGH, tx.multicast.packets);
            put(out, c::IF_OUT_BROADCAST_PKTS_HIGH, tx.broadcast.packets);
            put(out, c::IF_OUT_ERRORS_HIGH, port.out_errors);
        }
        group::RFC_2819 => {
            use eth_2819_cntrs_grp_data_layout as c;
            put(out, c::ETHER_STATS_OCTETS_HIGH, rx_all.bytes);
            put(out, c::ETHER_STATS_PKTS_HIGH, rx_all.packets);
            put(out, c::ETHER_STATS_OVERSIZE_PKTS_HIGH, port.in_too_long);
            put(
                out,
                c::ETHER_STATS_BROADCAST_PKTS_HIGH,
                rx.broadcast.packets,
            );
            put(
                out,
                c::ETHER_STATS_MULTICAST_PKTS_HIGH,
                rx.multicast.packets,
            );
            for (i, n) in (0u32..).zip(port.sizes) {
                let mut place = c::ETHER_STATS_PKTS64OCTETS_HIGH;
                place.bit += 64 * i;
                put(out, place, n);
            }
        }
        group::PER_PRIORITY => {
            use eth_per_prio_grp_data_layout as c;
            let of = usize::try_from(prio)
                .ok()
                .and_then(|p| port.priorities.get(p));
            if let Some((rx, tx)) = of {
                put(out, c::RX_OCTETS_HIGH, rx.bytes);
                put(out, c::RX_FRAMES_HIGH, rx.packets);
                put(out, c::TX_OCTETS_HIGH, tx.bytes);
                put(out, c::TX_FRAMES_HIGH, tx.packets);
            }
        }
        group::PHYSICAL => {
            use phys_layer_cntrs as c;
            bits::set(out, c::LINK_DOWN_EVENTS, port.downs.into());
        }
        _ => {}
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::net::frame::Headers;
    use crate::net::vport::Direction;

    #[test]
    fn groups() {
        let mut port = Port::default();
        let to = |mac: [u8; 6]| {
            let mut f = mac.to_vec();
            f.resize(14, 0);
            Headers::parse(&f).unwrap()
        };
        port.count(Direction::In, &to([0xff; 6]), 60);
        port.count(Direction::In, &to([2; 6]), 1000);
        port.count(Direction::Out, &to([1; 6]), 70);
        let mut out = [0; 248];
        fill(&port, group::IEEE_802_3, 0, &mut out);
        use eth_802_3_cntrs_grp_data_layout as a;
        assert_eq!(bits::get(&out, a::A_FRAMES_RECEIVED_OK_LOW), 2);
        assert_eq!(bits::get(&out, a::A_OCTETS_TRANSMITTED_OK_LOW), 70);
        assert_eq!(bits::get(&out, a::A_MULTICAST_FRAMES_XMITTED_OK_LOW), 1);
        let mut out = [0; 248];
        fill(&port, group::RFC_2819, 0, &mut out);
        use eth_2819_cntrs_grp_data_layout as b;
        assert_eq!(bits::get(&out, b::ETHER_STATS_PKTS64OCTETS_LOW), 1);
        assert_eq!(bits::get(&out, b::ETHER_STATS_PKTS512TO1023OCTETS_LOW), 1);
        let mut out = [0; 248];
        fill(&port, group::RFC_2863, 0, &mut out);
        use eth_2863_cntrs_grp_data_layout as c;
        assert_eq!(bits::get(&out, c::IF_IN_UCAST_PKTS_LOW), 1);
        use eth_per_prio_grp_data_layout as d;
        for (prio, frames) in [(0, 2), (3, 0), (99, 0)] {
            let mut out = [0; 248];
            fill(&port, group::PER_PRIORITY, prio, &mut out);
            assert_eq!(bits::get(&out, d::RX_FRAMES_LOW), frames, "{prio}");
        }
    }
}
