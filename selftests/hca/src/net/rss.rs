// SPDX-License-Identifier: GPL-2.0

//! Receive-side scaling: the hash over a packet's addresses and the choice of a queue.

use super::frame::{
    protocol,
    Headers, //
};
use crate::bits;
use crate::ifc::fields::{
    rx_hash_field_select,
    tirc, //
};

/// `tirc.rx_hash_fn`. Source: `MLX5_RX_HASH_FN_*` of the kernel's header.
mod function {
    pub const XOR8: u64 = 1;
    pub const TOEPLITZ: u64 = 2;
}

/// Bits of `selected_fields`. Source: `MLX5_RX_HASH_FIELD_SELECT_SELECTED_FIELDS_*`.
mod field {
    pub const SOURCE_IP: u64 = 1 << 0;
    pub const DESTINATION_IP: u64 = 1 << 1;
    pub const SOURCE_PORT: u64 = 1 << 2;
    pub const DESTINATION_PORT: u64 = 1 << 3;
}

/// Result of a hash as the completion entry shows it.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Hash {
    pub value: u32,
    /// Bits 3:2 the IP version (1 and 2), bits 7:6 the transport (1 TCP, 2 UDP).
    pub kind: u8,
}

/// Hash of a packet as a TIR asks for it; zero if the packet has none of the fields.
pub fn hash(tir: &[u8], headers: &Headers) -> Hash {
    let select = tirc::RX_HASH_FIELD_SELECTOR_OUTER;
    let fields = bits::get(tir, select / rx_hash_field_select::SELECTED_FIELDS);
    let ipv6 = bits::flag(tir, select / rx_hash_field_select::L3_PROT_TYPE);
    let udp = bits::flag(tir, select / rx_hash_field_select::L4_PROT_TYPE);
    let Some(n) = &headers.network else {
        return Hash::default();
    };
    if (n.version == 6) != ipv6 {
        return Hash::default();
    }
    let mut input = Vec::new();
    let mut kind = if ipv6 { 2 << 2 } else { 1 << 2 };
    if fields & field::SOURCE_IP != 0 {
        input.extend_from_slice(&n.source);
    }
    if fields & field::DESTINATION_IP != 0 {
        input.extend_from_slice(&n.destination);
    }
    let wanted = if udp { protocol::UDP } else { protocol::TCP };
    if fields & (field::SOURCE_PORT | field::DESTINATION_PORT) != 0 {
        if let Some(t) = headers.transport.as_ref().filter(|t| t.protocol == wanted) {
            kind |= if udp { 2 << 6 } else { 1 << 6 };
            if fields & field::SOURCE_PORT != 0 {
                input.extend_from_slice(&t.source.to_be_bytes());
            }
            if fields & field::DESTINATION_PORT != 0 {
                input.extend_from_slice(&t.destination.to_be_bytes());
            }
        }
    }
    let value = match bits::get(tir, tirc::RX_HASH_FN) {
        _ if input.is_empty() => return Hash::default(),
        function::XOR8 => !input.iter().fold(0, |x, b| x ^ u32::from(*b)) & 0xff,
        function::TOEPLITZ => {
            if bits::flag(tir, tirc::RX_HASH_SYMMETRIC) {
                symmetric(&mut input, n.source.len(), fields);
            }
            let key: Vec<u8> = (0..10)
                .flat_map(|i| bits::get32(tir, tirc::RX_HASH_TOEPLITZ_KEY.index(i)).to_be_bytes())
                .collect();
            toeplitz(&key, &input)
        }
        _ => return Hash::default(),
    };
    Hash { value, kind }
}

/// Both directions of a flow get the same hash: each pair of fields becomes its exclusive or.
fn symmetric(input: &mut [u8], address: usize, fields: u64) {
    let addresses = field::SOURCE_IP | field::DESTINATION_IP;
    if fields & addresses == addresses && input.len() >= 2 * address {
        let (pair, ports) = input.split_at_mut(2 * address);
        fold_pair(pair);
        if ports.len() == 4 {
            fold_pair(ports);
        }
    }
}

fn fold_pair(pair: &mut [u8]) {
    let half = pair.len() / 2;
    let (first, second) = pair.split_at_mut(half);
    for (a, b) in first.iter_mut().zip(second) {
        let x = *a ^ *b;
        (*a, *b) = (x, x);
    }
}

/// The Toeplitz hash as the receive-side scaling specification has it.
pub fn toeplitz(key: &[u8], input: &[u8]) -> u32 {
    let bit = |at: usize| {
        key.get(at / 8)
            .is_some_and(|b| (b >> (7 - at % 8)) & 1 != 0)
    };
    let mut window = key
        .get(..4)
        .and_then(|k| k.try_into().ok())
        .map_or(0, u32::from_be_bytes);
    let mut value = 0;
    for (i, byte) in input.iter().enumerate() {
        for n in 0..8 {
            if (byte >> (7 - n)) & 1 != 0 {
                value ^= window;
            }
            window = (window << 1) | u32::from(bit(32 + i * 8 + n));
        }
    }
    value
}

#[cfg(test)]
mod tests {
    use super::super::frame::tests::{
        ipv4_frame,
        udp, //
    };
    use super::*;

    /// Key and results of the specification's verification suite.
    const KEY: [u8; 40] = [
        0x6d, 0x5a, 0x56, 0xda, 0x25, 0x5b, 0x0e, 0xc2, 0x41, 0x67, 0x25, 0x3d, 0x43, 0xa3, 0x8f,
        0xb0, 0xd0, 0xca, 0x2b, 0xcb, 0xae, 0x7b, 0x30, 0xb4, 0x77, 0xcb, 0x2d, 0xa3, 0x80, 0x30,
        0xf2, 0x0c, 0x6a, 0x42, 0xb7, 0x3b, 0xbe, 0xac, 0x01, 0xfa,
    ];

    #[test]
    fn verification_suite() {
        let mut input = vec![66, 9, 149, 187, 161, 142, 100, 80];
        assert_eq!(toeplitz(&KEY, &input), 0x323e_8fc2);
        input.extend([0x0a, 0xea, 0x06, 0xe6]);
        assert_eq!(toeplitz(&KEY, &input), 0x51cc_c178);
        let input = [199, 92, 111, 2, 65, 69, 140, 83];
        assert_eq!(toeplitz(&KEY, &input), 0xd718_262a);
    }

    fn tir(fields: u64, udp: u64, set_symmetric: u64) -> Vec<u8> {
        let mut t = vec![0; tirc::BYTES];
        let select = tirc::RX_HASH_FIELD_SELECTOR_OUTER;
        bits::set(
            &mut t,
            select / rx_hash_field_select::SELECTED_FIELDS,
            fields,
        );
        bits::set(&mut t, select / rx_hash_field_select::L4_PROT_TYPE, udp);
        bits::set(&mut t, tirc::RX_HASH_FN, function::TOEPLITZ);
        bits::set(&mut t, tirc::RX_HASH_SYMMETRIC, set_symmetric);
        bits::set_bytes(&mut t, tirc::RX_HASH_TOEPLITZ_KEY, &KEY);
        t
    }

    #[test]
    fn fields_of_a_packet() {
        let f = Headers::parse(&ipv4_frame(17, &udp(5, 6, &[]))).unwrap();
        let both = hash(&tir(0xf, 1, 0), &f);
        assert_eq!(both.kind, (1 << 2) | (2 << 6));
        let input = [192, 0, 2, 1, 192, 0, 2, 2, 0, 5, 0, 6];
        assert_eq!(both.value, toeplitz(&KEY, &input));
        // Ports count only for the protocol that the TIR names.
        let addresses = hash(&tir(0xf, 0, 0), &f);
        assert_eq!(
            (addresses.kind, addresses.value),
            (4, toeplitz(&KEY, &input[..8]))
        );
        assert_eq!(hash(&tir(0, 1, 0), &f), Hash::default());
    }

    #[test]
    fn both_directions_alike() {
        let there = Headers::parse(&ipv4_frame(17, &udp(5, 6, &[]))).unwrap();
        let mut back = there.clone();
        let n = back.network.as_mut().unwrap();
        std::mem::swap(&mut n.source, &mut n.destination);
        let t = back.transport.as_mut().unwrap();
        std::mem::swap(&mut t.source, &mut t.destination);
        assert_eq!(hash(&tir(0xf, 1, 1), &there), hash(&tir(0xf, 1, 1), &back));
        assert_ne!(hash(&tir(0xf, 1, 0), &there), hash(&tir(0xf, 1, 0), &back));
    }
}
