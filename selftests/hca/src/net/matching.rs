// SPDX-License-Identifier: GPL-2.0

//! The match parameters of a packet, as a flow table sees them.
//!
//! A packet becomes an image in the layout `fte_match_param`: then an entry matches when image and
//! value agree wherever the group's criteria have a bit. Which fields the model fills in is what
//! the capabilities announce; criteria may not ask for others.

use super::frame::{
    ethertype,
    protocol,
    Headers, //
};
use crate::bits;
use crate::ifc::fields::{
    fte_match_param,
    fte_match_set_lyr_2_4 as set,
    fte_match_set_misc as misc,
    fte_match_set_misc2 as misc2,
    ipv4_layout, //
};
use crate::ifc::Field;

/// Size of match parameters and of a criteria mask.
pub const BYTES: usize = fte_match_param::BYTES;

/// Bits of `match_criteria_enable`: the part of the parameters that each stands for.
/// Source: `MLX5_CREATE_FLOW_GROUP_IN_MATCH_CRITERIA_ENABLE_*` of the kernel's header.
const PARTS: [Field; 8] = [
    fte_match_param::OUTER_HEADERS,
    fte_match_param::MISC_PARAMETERS,
    fte_match_param::INNER_HEADERS,
    fte_match_param::MISC_PARAMETERS_2,
    fte_match_param::MISC_PARAMETERS_3,
    fte_match_param::MISC_PARAMETERS_4,
    fte_match_param::MISC_PARAMETERS_5,
    fte_match_param::MISC_PARAMETERS_6,
];

/// Where a packet comes from, besides its bytes.
#[derive(Debug, Clone, Copy, Default)]
pub struct Origin {
    /// Send queue; 0 on the receive side.
    pub sq: u32,
    /// Metadata of the send request.
    pub metadata: u32,
}

const O: Field = fte_match_param::OUTER_HEADERS;
const M: Field = fte_match_param::MISC_PARAMETERS;
const M2: Field = fte_match_param::MISC_PARAMETERS_2;

/// `l4_type`: 1 TCP, 2 UDP.
fn l4_type(p: u8) -> u64 {
    match p {
        protocol::TCP => 1,
        protocol::UDP => 2,
        _ => 0,
    }
}

/// The match parameters of a packet.
pub fn image(h: &Headers, origin: Origin) -> Vec<u8> {
    let mut p = vec![0; BYTES];
    bits::set_bytes(&mut p, O / set::DMAC_47_16, &h.destination);
    bits::set_bytes(&mut p, O / set::SMAC_47_16, &h.source);
    bits::set(&mut p, O / set::ETHERTYPE, h.ethertype.into());
    if let Some((tpid, tci)) = h.tags.first() {
        let service = *tpid == ethertype::SERVICE_VLAN;
        bits::set(&mut p, O / set::CVLAN_TAG, u64::from(!service));
        bits::set(&mut p, O / set::SVLAN_TAG, service.into());
        bits::set(&mut p, O / set::FIRST_PRIO, (tci >> 13).into());
        bits::set(&mut p, O / set::FIRST_CFI, ((tci >> 12) & 1).into());
        bits::set(&mut p, O / set::FIRST_VID, (tci & 0xfff).into());
    }
    if let Some((tpid, tci)) = h.tags.get(1) {
        let service = *tpid == ethertype::SERVICE_VLAN;
        bits::set(
            &mut p,
            M / misc::OUTER_SECOND_CVLAN_TAG,
            u64::from(!service),
        );
        bits::set(&mut p, M / misc::OUTER_SECOND_SVLAN_TAG, service.into());
        bits::set(&mut p, M / misc::OUTER_SECOND_PRIO, (tci >> 13).into());
        bits::set(&mut p, M / misc::OUTER_SECOND_CFI, ((tci >> 12) & 1).into());
        bits::set(&mut p, M / misc::OUTER_SECOND_VID, (tci & 0xfff).into());
    }
    if let Some(n) = &h.network {
        bits::set(&mut p, O / set::IP_VERSION, n.version.into());
        bits::set(&mut p, O / set::IP_PROTOCOL, n.protocol.into());
        bits::set(&mut p, O / set::IP_DSCP, (n.class >> 2).into());
        bits::set(&mut p, O / set::IP_ECN, (n.class & 3).into());
        bits::set(&mut p, O / set::FRAG, n.fragment.into());
        bits::set(&mut p, O / set::TTL_HOPLIMIT, n.ttl.into());
        bits::set(&mut p, O / set::IPV4_IHL, n.header_words.into());
        for (place, address) in [
            (O / set::SRC_IPV4_SRC_IPV6, &n.source),
            (O / set::DST_IPV4_DST_IPV6, &n.destination),
        ] {
            let place = if n.version == 4 {
                place / ipv4_layout::IPV4
            } else {
                place
            };
            bits::set_bytes(&mut p, place, address);
        }
    }
    if let Some(t) = &h.transport {
        bits::set(&mut p, O / set::L4_TYPE, l4_type(t.protocol));
        let (source, destination) = if t.protocol == protocol::TCP {
            bits::set(&mut p, O / set::TCP_FLAGS, t.flags.into());
            (set::TCP_SPORT, set::TCP_DPORT)
        } else {
            (set::UDP_SPORT, set::UDP_DPORT)
        };
        bits::set(&mut p, O / source, t.source.into());
        bits::set(&mut p, O / destination, t.destination.into());
    }
    bits::set(&mut p, M / misc::SOURCE_SQN, origin.sq.into());
    bits::set(&mut p, M2 / misc2::METADATA_REG_A, origin.metadata.into());
    p
}

/// Bits that an image can have.
fn known() -> Vec<u8> {
    let mut p = vec![0; BYTES];
    for f in [
        O / set::DMAC_47_16,
        O / set::DMAC_15_0,
        O / set::SMAC_47_16,
        O / set::SMAC_15_0,
        O / set::ETHERTYPE,
        O / set::CVLAN_TAG,
        O / set::SVLAN_TAG,
        O / set::FIRST_PRIO,
        O / set::FIRST_CFI,
        O / set::FIRST_VID,
        O / set::IP_VERSION,
        O / set::IP_PROTOCOL,
        O / set::IP_DSCP,
        O / set::IP_ECN,
        O / set::FRAG,
        O / set::TTL_HOPLIMIT,
        O / set::IPV4_IHL,
        O / set::L4_TYPE,
        O / set::TCP_FLAGS,
        O / set::TCP_SPORT,
        O / set::TCP_DPORT,
        O / set::UDP_SPORT,
        O / set::UDP_DPORT,
        M / misc::SOURCE_SQN,
        M / misc::OUTER_SECOND_CVLAN_TAG,
        M / misc::OUTER_SECOND_SVLAN_TAG,
        M / misc::OUTER_SECOND_PRIO,
        M / misc::OUTER_SECOND_CFI,
        M / misc::OUTER_SECOND_VID,
        M2 / misc2::METADATA_REG_A,
    ] {
        bits::set(&mut p, f, u64::MAX);
    }
    for f in [O / set::SRC_IPV4_SRC_IPV6, O / set::DST_IPV4_DST_IPV6] {
        bits::set_bytes(&mut p, f, &[0xff; 16]);
    }
    p
}

/// Checks a criteria mask.
///
/// # Errors
///
/// The byte offset of a bit that the model cannot match, or that no enable bit covers.
pub fn check(criteria: &[u8], enable: u8) -> Result<(), String> {
    let known = known();
    let mut covered = vec![0u8; BYTES];
    for (i, part) in PARTS.iter().enumerate() {
        if (enable >> i) & 1 != 0 {
            let length = (part.width / 8) as usize;
            bits::set_bytes(&mut covered, *part, &vec![0xff; length]);
        }
    }
    for (i, byte) in criteria.iter().enumerate().take(BYTES) {
        if byte & !covered.get(i).unwrap_or(&0) != 0 {
            return Err(format!(
                "criteria at {i:03x}h, but match_criteria_enable is 0x{enable:x}"
            ));
        }
        if byte & !known.get(i).unwrap_or(&0) != 0 {
            return Err(format!(
                "criteria at {i:03x}h: {byte:02x}h has fields not announced"
            ));
        }
    }
    Ok(())
}

/// True if a packet agrees with a value wherever the criteria have a bit.
pub fn agrees(image: &[u8], criteria: &[u8], value: &[u8]) -> bool {
    image
        .iter()
        .zip(criteria)
        .zip(value)
        .all(|((i, c), v)| (i ^ v) & c == 0)
}

#[cfg(test)]
mod tests {
    use super::super::frame::tests::{
        ipv4_frame,
        udp, //
    };
    use super::*;

    fn packet() -> Vec<u8> {
        let h = Headers::parse(&ipv4_frame(17, &udp(1000, 53, b"x"))).unwrap();
        image(&h, Origin::default())
    }

    #[test]
    fn fields_land_where_the_layout_has_them() {
        let p = packet();
        assert_eq!(bits::get(&p, O / set::ETHERTYPE), 0x0800);
        assert_eq!(bits::get(&p, O / set::IP_PROTOCOL), 17);
        assert_eq!(bits::get(&p, O / set::UDP_DPORT), 53);
        assert_eq!(bits::get(&p, O / set::TCP_DPORT), 0);
        let ip = O / set::DST_IPV4_DST_IPV6 / ipv4_layout::IPV4;
        assert_eq!(bits::get(&p, ip), 0xc000_0202);
        assert_eq!(bits::get(&p, O / set::DMAC_47_16), 0x0200_0000);
    }

    #[test]
    fn matching() {
        let p = packet();
        let (mut mask, mut value) = (vec![0; BYTES], vec![0; BYTES]);
        assert!(agrees(&p, &mask, &value));
        bits::set(&mut mask, O / set::UDP_DPORT, 0xffff);
        assert!(!agrees(&p, &mask, &value));
        bits::set(&mut value, O / set::UDP_DPORT, 53);
        bits::set(&mut value, O / set::UDP_SPORT, 7);
        assert!(agrees(&p, &mask, &value));
    }

    #[test]
    fn criteria() {
        let mut mask = vec![0; BYTES];
        assert!(check(&mask, 0).is_ok());
        bits::set(&mut mask, O / set::ETHERTYPE, 0xffff);
        assert!(check(&mask, 0).is_err());
        assert!(check(&mask, 1).is_ok());
        bits::set(
            &mut mask,
            fte_match_param::INNER_HEADERS / set::ETHERTYPE,
            0xffff,
        );
        assert!(check(&mask, 5).is_err());
    }
}
