// SPDX-License-Identifier: GPL-2.0

//! What a completion entry says about a frame that arrived.

use super::checksum;
use super::cq::{
    at,
    Cqe, //
};
use super::frame::{
    self,
    protocol,
    Headers, //
};
use super::rss::Hash;

/// A frame on its way to a queue.
pub struct Arrival<'a> {
    pub frame: &'a [u8],
    pub headers: &'a Headers,
    pub hash: Hash,
    pub tag: u32,
}

pub fn put16(e: &mut Cqe, at: usize, value: u16) {
    e[at..at + 2].copy_from_slice(&value.to_be_bytes());
}

pub fn put32(e: &mut Cqe, at: usize, value: u32) {
    e[at..at + 4].copy_from_slice(&value.to_be_bytes());
}

/// `l4_l3_hdr_type` bits 6:4. Source: `CQE_L4_HDR_TYPE_*` of the kernel's `device.h`.
fn transport_type(h: &Headers) -> u8 {
    const ACK: u16 = 0x10;
    match &h.transport {
        Some(t) if t.protocol == protocol::UDP => 2,
        Some(t) if t.flags & ACK == 0 => 1,
        Some(t) => match &h.network {
            Some(n) if n.end > t.payload => 4,
            _ => 3,
        },
        None => 0,
    }
}

/// Fills in what the device found in the headers of a frame.
pub fn describe(e: &mut Cqe, arrival: &Arrival<'_>) {
    let (h, whole) = (arrival.headers, arrival.frame);
    put32(e, at::RSS_HASH, arrival.hash.value);
    e[at::RSS_HASH_TYPE] = arrival.hash.kind;
    put32(e, at::OPCODE_QPN, arrival.tag & 0x00ff_ffff);
    // L2, L3 and L4 are right.
    let mut ok = 1;
    let mut types = transport_type(h) << 4;
    if let Some(n) = &h.network {
        types |= if n.version == 4 { 2 << 2 } else { 1 << 2 };
        if frame::network_ok(whole, n) {
            ok |= 2;
            if h.transport
                .as_ref()
                .is_some_and(|t| frame::transport_ok(whole, n, t))
            {
                ok |= 4;
            }
        }
        // From the IP header to the end of its packet, padding left out.
        let packet = whole.get(n.start..n.end).unwrap_or(&[]);
        put16(e, at::CHECKSUM, checksum::sum(packet));
    }
    e[at::HEADERS_OK] = ok;
    e[at::HEADER_TYPES] = types;
}
