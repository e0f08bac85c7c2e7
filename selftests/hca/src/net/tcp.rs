// SPDX-License-Identifier: GPL-2.0

//! The host's TCP: a discard service (RFC 863) that takes what arrives in order, acknowledges it,
//! and sums it up, so that a test can compare it with what was sent.

use std::collections::BTreeMap;

use super::checksum::crc32;
use super::frame::{
    Network,
    Transport, //
};

/// Port of the service.
const DISCARD_PORT: u16 = 9;

/// Flags of a TCP header.
mod flag {
    pub const FIN: u16 = 0x01;
    pub const SYN: u16 = 0x02;
    pub const RST: u16 = 0x04;
    pub const ACK: u16 = 0x10;
}

/// Sequence number from which the host sends.
const FIRST_SEQUENCE: u32 = 0x1000_0000;

/// Window that the host offers; its SYN scales it by 2^7.
const WINDOW: u16 = 0x2000;

/// Options of the host's SYN: largest segment 1460, window scale 7, padding.
const OPTIONS: [u8; 8] = [2, 4, 0x05, 0xb4, 3, 3, 7, 0];

/// Connections at a time.
const MAX_CONNECTIONS: usize = 16;

/// A peer's address and port.
type Peer = (Vec<u8>, u16);

/// A connection.
#[derive(Debug, Clone, Copy)]
struct Connection {
    /// Next byte to receive.
    next: u32,
    /// Next byte to send.
    send: u32,
}

/// The host's TCP.
#[derive(Debug, Clone)]
pub struct Tcp {
    connections: BTreeMap<Peer, Connection>,
    /// Bytes taken on all connections since the last SYN.
    pub bytes: u64,
    /// Segments that were not the next of their connection.
    pub out_of_order: u64,
    crc: u32,
}

impl Default for Tcp {
    fn default() -> Self {
        Tcp {
            connections: BTreeMap::new(),
            bytes: 0,
            out_of_order: 0,
            crc: u32::MAX,
        }
    }
}

impl Tcp {
    /// CRC-32 of the bytes taken.
    pub fn crc32(&self) -> u32 {
        !self.crc
    }

    /// Takes a segment. Returns the header and options of the answer, checksum zero.
    pub fn take(&mut self, frame: &[u8], n: &Network, t: &Transport) -> Option<Vec<u8>> {
        let header = frame.get(t.start..t.payload)?;
        let data = frame.get(t.payload..n.end)?;
        let sequence = u32::from_be_bytes(header.get(4..8)?.try_into().ok()?);
        let peer = (n.source.clone(), t.source);
        if t.destination != DISCARD_PORT || t.flags & flag::RST != 0 {
            self.connections.remove(&peer);
            let refuse = t.flags & flag::RST == 0;
            let next = sequence.wrapping_add(1);
            return refuse.then(|| answer(t, 0, next, flag::RST | flag::ACK, &[]));
        }
        if t.flags & flag::SYN != 0 {
            if self.connections.len() >= MAX_CONNECTIONS {
                self.connections.pop_first();
            }
            let c = Connection {
                next: sequence.wrapping_add(1),
                send: FIRST_SEQUENCE.wrapping_add(1),
            };
            self.connections.insert(peer, c);
            (self.bytes, self.crc) = (0, u32::MAX);
            let flags = flag::SYN | flag::ACK;
            return Some(answer(t, FIRST_SEQUENCE, c.next, flags, &OPTIONS));
        }
        let c = self.connections.get_mut(&peer)?;
        let ends = t.flags & flag::FIN != 0;
        if data.is_empty() && !ends {
            return None;
        }
        let mut flags = flag::ACK;
        if sequence == c.next {
            self.bytes = self.bytes.wrapping_add(data.len() as u64);
            self.crc = data.iter().fold(self.crc, |crc, b| crc32(crc, *b));
            c.next = c.next.wrapping_add(data.len() as u32);
            if ends {
                c.next = c.next.wrapping_add(1);
                flags |= flag::FIN;
            }
        } else {
            self.out_of_order = self.out_of_order.wrapping_add(1);
        }
        let (send, next) = (c.send, c.next);
        if flags & flag::FIN != 0 {
            self.connections.remove(&peer);
        }
        Some(answer(t, send, next, flags, &[]))
    }
}

/// A header back to the sender of `t`.
fn answer(t: &Transport, sequence: u32, next: u32, flags: u16, options: &[u8]) -> Vec<u8> {
    let mut h = Vec::new();
    h.extend(t.destination.to_be_bytes());
    h.extend(t.source.to_be_bytes());
    h.extend(sequence.to_be_bytes());
    h.extend(next.to_be_bytes());
    let words = (20 + options.len()) / 4;
    h.extend((((words as u16) << 12) | flags).to_be_bytes());
    h.extend(WINDOW.to_be_bytes());
    h.extend([0, 0, 0, 0]);
    h.extend(options);
    h
}

#[cfg(test)]
mod tests {
    use super::super::frame::{
        tests::ipv4_frame,
        Headers, //
    };
    use super::*;

    fn send(tcp: &mut Tcp, port: u16, sequence: u32, flags: u8, data: &[u8]) -> Option<Vec<u8>> {
        let mut s = vec![0x12, 0x34];
        s.extend(port.to_be_bytes());
        s.extend(sequence.to_be_bytes());
        s.extend([0, 0, 0, 0, 0x50, flags, 1, 0, 0, 0, 0, 0]);
        s.extend(data);
        let f = ipv4_frame(6, &s);
        let h = Headers::parse(&f).unwrap();
        tcp.take(&f, &h.network.unwrap(), &h.transport.unwrap())
    }

    /// Sequence, acknowledged, flags.
    fn parts(h: &[u8]) -> (u32, u32, u8) {
        let word = |at: usize| u32::from_be_bytes(h[at..at + 4].try_into().unwrap());
        (word(4), word(8), h[13])
    }

    #[test]
    fn a_connection() {
        let mut tcp = Tcp::default();
        let a = send(&mut tcp, 9, u32::MAX, 0x02, &[]).unwrap();
        assert_eq!(parts(&a), (FIRST_SEQUENCE, 0, 0x12));
        assert_eq!((a.len(), a[12] >> 4), (28, 7));
        assert!(send(&mut tcp, 9, 0, 0x10, &[]).is_none());
        let a = send(&mut tcp, 9, 0, 0x18, b"123").unwrap();
        assert_eq!(parts(&a), (FIRST_SEQUENCE + 1, 3, 0x10));
        // Again, and a gap: neither counts.
        assert_eq!(parts(&send(&mut tcp, 9, 0, 0x18, b"123").unwrap()).1, 3);
        assert_eq!(parts(&send(&mut tcp, 9, 99, 0x18, b"x").unwrap()).1, 3);
        assert_eq!((tcp.bytes, tcp.out_of_order), (3, 2));
        let a = send(&mut tcp, 9, 3, 0x11, b"456789").unwrap();
        assert_eq!(parts(&a), (FIRST_SEQUENCE + 1, 10, 0x11));
        assert_eq!((tcp.bytes, tcp.crc32()), (9, 0xcbf4_3926));
    }

    #[test]
    fn other_ports_are_closed() {
        let mut tcp = Tcp::default();
        let a = send(&mut tcp, 80, 5, 0x02, &[]).unwrap();
        assert_eq!(parts(&a), (0, 6, 0x14));
        assert!(send(&mut tcp, 80, 5, 0x04, &[]).is_none());
        assert!(send(&mut tcp, 9, 5, 0x10, b"no connection").is_none());
    }
}
