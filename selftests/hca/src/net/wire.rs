// SPDX-License-Identifier: GPL-2.0

//! What hangs on the other end of the cable: a host that answers ARP, neighbour solicitations,
//! ping, UDP datagrams to its echo port, and TCP to its discard port.
//!
//! It believes nothing: a frame with a wrong checksum is counted and dropped, so that an answer
//! proves that the sender and the device got all of them right.

use std::collections::VecDeque;

use super::checksum;
use super::frame::{
    self,
    ethertype,
    protocol,
    Headers,
    Network,
    ETHERNET, //
};
use super::tcp::Tcp;

/// Addresses of the host: of the ranges for documentation (RFC 5737, RFC 3849).
pub const MAC: [u8; 6] = [0x02, 0x00, 0x5e, 0x00, 0x00, 0x02];
pub const IPV4: [u8; 4] = [192, 0, 2, 2];
pub const IPV6: [u8; 16] = [0x20, 1, 0x0d, 0xb8, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 2];

/// Port on which UDP datagrams come back (RFC 862).
const ECHO_PORT: u16 = 7;

/// Frames kept for the control socket.
const KEPT: usize = 64;

/// The host, and what it has seen.
#[derive(Debug, Clone, Default)]
pub struct Wire {
    /// Frames that the card sent.
    pub received: u64,
    /// Frames that the host sent.
    pub sent: u64,
    /// Frames with a wrong checksum or length.
    pub bad: u64,
    /// The last frames that the card sent.
    pub last: VecDeque<Vec<u8>>,
    pub tcp: Tcp,
}

impl Wire {
    /// Takes a frame from the card. Returns the answer, if there is one.
    pub fn take(&mut self, frame: &[u8]) -> Option<Vec<u8>> {
        self.received += 1;
        if self.last.len() >= KEPT {
            self.last.pop_front();
        }
        self.last.push_back(frame.to_vec());
        let headers = Headers::parse(frame)?;
        if !headers.to_group() && headers.destination != MAC {
            return None;
        }
        let answer = match headers.ethertype {
            ethertype::ARP => arp(frame, &headers),
            ethertype::IPV4 | ethertype::IPV6 => self.internet(frame, &headers),
            _ => None,
        };
        self.sent += u64::from(answer.is_some());
        answer
    }

    fn internet(&mut self, frame: &[u8], h: &Headers) -> Option<Vec<u8>> {
        let Some(n) = &h.network else {
            self.bad += 1;
            return None;
        };
        if !frame::network_ok(frame, n) {
            self.bad += 1;
            return None;
        }
        if n.fragment {
            return None;
        }
        let body = frame.get(n.payload..n.end)?;
        if let Some(t) = &h.transport {
            if !frame::transport_ok(frame, n, t) {
                self.bad += 1;
                return None;
            }
            if n.destination != IPV4 && n.destination != IPV6 {
                return None;
            }
            if t.protocol == protocol::TCP {
                let answer = self.tcp.take(frame, n, t)?;
                return Some(packet(h, n, n.protocol, &n.destination, answer, 16));
            }
            if t.destination != ECHO_PORT {
                return unreachable(frame, h, n);
            }
            let mut answer = body.to_vec();
            answer[..4].rotate_left(2);
            answer[6..8].fill(0);
            return Some(packet(h, n, n.protocol, &n.destination, answer, 6));
        }
        match (n.version, n.protocol) {
            (4, protocol::ICMP) => self.icmp(h, n, body),
            (6, protocol::ICMPV6) => self.icmpv6(h, n, body),
            _ => None,
        }
    }

    fn icmp(&mut self, h: &Headers, n: &Network, body: &[u8]) -> Option<Vec<u8>> {
        if body.len() < 8 || checksum::sum(body) != 0xffff {
            self.bad += 1;
            return None;
        }
        if body[0] != 8 || n.destination != IPV4 {
            return None;
        }
        let mut answer = body.to_vec();
        answer[0] = 0;
        answer[2..4].fill(0);
        Some(packet(h, n, n.protocol, &IPV4, answer, 2))
    }

    fn icmpv6(&mut self, h: &Headers, n: &Network, body: &[u8]) -> Option<Vec<u8>> {
        let pseudo =
            checksum::pseudo_header(&n.source, &n.destination, protocol::ICMPV6, body.len());
        if body.len() < 8 || checksum::fold(checksum::add(pseudo, body)) != 0xffff {
            self.bad += 1;
            return None;
        }
        match body[0] {
            // Echo request.
            128 if n.destination == IPV6 => {
                let mut answer = body.to_vec();
                answer[0] = 129;
                answer[2..4].fill(0);
                Some(packet(h, n, n.protocol, &IPV6, answer, 2))
            }
            // Neighbour solicitation; that of an address being tested has no source.
            135 if body.get(8..24) == Some(&IPV6[..]) && n.source != [0; 16] => {
                // Advertisement: solicited, overriding; our address and our MAC.
                let mut answer = vec![136, 0, 0, 0, 0x60, 0, 0, 0];
                answer.extend(IPV6);
                answer.extend([2, 1]);
                answer.extend(MAC);
                Some(packet(h, n, n.protocol, &IPV6, answer, 2))
            }
            _ => None,
        }
    }
}

/// Ethernet header and tags of an answer.
fn ethernet(h: &Headers) -> Vec<u8> {
    let mut f = Vec::new();
    f.extend(h.source);
    f.extend(MAC);
    for (tpid, tci) in &h.tags {
        f.extend(tpid.to_be_bytes());
        f.extend(tci.to_be_bytes());
    }
    f.extend(h.ethertype.to_be_bytes());
    f
}

fn arp(frame: &[u8], h: &Headers) -> Option<Vec<u8>> {
    let start = ETHERNET + 4 * h.tags.len();
    let a = frame.get(start..start + 28)?;
    // Ethernet and IPv4, a request, for our address.
    if a[..8] != [0, 1, 8, 0, 6, 4, 0, 1] || a[24..28] != IPV4 {
        return None;
    }
    let mut f = ethernet(h);
    f.extend([0, 1, 8, 0, 6, 4, 0, 2]);
    f.extend(MAC);
    f.extend(IPV4);
    f.extend(&a[8..18]);
    super::offload::pad(&mut f);
    Some(f)
}

/// "Port unreachable", with the start of the packet that it is about.
fn unreachable(frame: &[u8], h: &Headers, n: &Network) -> Option<Vec<u8>> {
    let (protocol, kind, code) = match n.version {
        4 => (protocol::ICMP, 3, 3),
        _ => (protocol::ICMPV6, 1, 4),
    };
    let mut answer = vec![kind, code, 0, 0, 0, 0, 0, 0];
    answer.extend(frame.get(n.start..n.end.min(n.payload + 8))?);
    Some(packet(h, n, protocol, &n.destination, answer, 2))
}

/// The answer with its headers; the checksum goes to byte `at` of the body.
fn packet(
    h: &Headers,
    n: &Network,
    protocol: u8,
    from: &[u8],
    mut body: Vec<u8>,
    at: usize,
) -> Vec<u8> {
    let to = &n.source;
    let pseudo = match protocol {
        protocol::ICMP => 0,
        p => checksum::pseudo_header(from, to, p, body.len()),
    };
    let sum = match checksum::finish(checksum::add(pseudo, &body)) {
        0 if protocol == protocol::UDP => 0xffff,
        sum => sum,
    };
    if let Some(place) = body.get_mut(at..at + 2) {
        place.copy_from_slice(&sum.to_be_bytes());
    }
    let mut f = ethernet(h);
    if n.version == 4 {
        let total = (20 + body.len()).min(0xffff) as u16;
        let mut ip = vec![0x45, 0];
        ip.extend(total.to_be_bytes());
        // Nothing is fragmented, so that the identification can be the same always.
        ip.extend([0, 0, 0x40, 0, 64, protocol, 0, 0]);
        ip.extend(from);
        ip.extend(to);
        let sum = checksum::finish(checksum::add(0, &ip));
        ip[10..12].copy_from_slice(&sum.to_be_bytes());
        f.extend(ip);
    } else {
        f.extend([0x60, 0, 0, 0]);
        f.extend((body.len().min(0xffff) as u16).to_be_bytes());
        // A neighbour's message counts only with the full hop limit.
        f.extend([protocol, 255]);
        f.extend(from);
        f.extend(to);
    }
    f.extend(body);
    super::offload::pad(&mut f);
    f
}

#[cfg(test)]
mod tests {
    use super::super::frame::tests::{
        ipv4_frame,
        udp, //
    };
    use super::*;

    fn to_host(mut f: Vec<u8>) -> Vec<u8> {
        f[..6].copy_from_slice(&MAC);
        f
    }

    #[test]
    fn ping() {
        let mut echo = vec![8, 0, 0, 0, 0x12, 0x34, 0, 1];
        echo.extend(b"data");
        let sum = checksum::finish(checksum::add(0, &echo));
        echo[2..4].copy_from_slice(&sum.to_be_bytes());
        let mut wire = Wire::default();
        let a = wire.take(&to_host(ipv4_frame(1, &echo))).unwrap();
        let h = Headers::parse(&a).unwrap();
        let n = h.network.unwrap();
        assert!(frame::network_ok(&a, &n));
        assert_eq!((h.destination, h.source), ([2, 0, 0, 0, 0, 1], MAC));
        assert_eq!(
            (n.source, n.destination),
            (IPV4.to_vec(), vec![192, 0, 2, 1])
        );
        let body = &a[n.payload..n.end];
        assert_eq!((body[0], &body[4..]), (0, &echo[4..]));
        assert_eq!(checksum::sum(body), 0xffff);
        echo[8] ^= 1;
        assert!(wire.take(&to_host(ipv4_frame(1, &echo))).is_none());
        assert_eq!((wire.received, wire.sent, wire.bad), (2, 1, 1));
    }

    #[test]
    fn udp_echo() {
        let mut wire = Wire::default();
        let a = wire
            .take(&to_host(ipv4_frame(17, &udp(999, 7, b"x"))))
            .unwrap();
        let h = Headers::parse(&a).unwrap();
        let (n, t) = (h.network.unwrap(), h.transport.unwrap());
        assert!(frame::transport_ok(&a, &n, &t));
        assert_eq!((t.source, t.destination, a[42]), (7, 999, b'x'));
        // Another port is closed: an error with the datagram's header in it.
        let datagram = udp(999, 8, b"x");
        let a = wire.take(&to_host(ipv4_frame(17, &datagram))).unwrap();
        let n = Headers::parse(&a).unwrap().network.unwrap();
        let body = &a[n.payload..n.end];
        assert_eq!((n.protocol, body[0], body[1], body.len()), (1, 3, 3, 36));
        assert_eq!(body[28..], datagram[..8]);
        assert_eq!(checksum::sum(body), 0xffff);
        assert!(
            wire.take(&ipv4_frame(17, &udp(999, 7, b"x"))).is_none(),
            "another MAC"
        );
    }

    #[test]
    fn arp_request_with_a_tag() {
        let mut f = vec![0xff; 6];
        f.extend([2, 0, 0, 0, 0, 1, 0x81, 0, 0, 5, 8, 6]);
        f.extend([0, 1, 8, 0, 6, 4, 0, 1, 2, 0, 0, 0, 0, 1, 192, 0, 2, 1]);
        f.extend([0, 0, 0, 0, 0, 0, 192, 0, 2, 2]);
        let a = Wire::default().take(&f).unwrap();
        assert_eq!(a[12..18], [0x81, 0, 0, 5, 8, 6]);
        assert_eq!(a[18..26], [0, 1, 8, 0, 6, 4, 0, 2]);
        assert_eq!(
            (&a[26..32], &a[36..42]),
            (&MAC[..], &[2, 0, 0, 0, 0, 1][..])
        );
        f[45] = 9;
        assert!(Wire::default().take(&f).is_none());
    }

    #[test]
    fn neighbour_solicitation() {
        let source = [0xfe, 0x80, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 1];
        let mut group = [0; 16];
        group[..2].copy_from_slice(&[0xff, 2]);
        group[11..].copy_from_slice(&[1, 0xff, 0, 0, 2]);
        let mut body = vec![135, 0, 0, 0, 0, 0, 0, 0];
        body.extend(IPV6);
        let pseudo = checksum::pseudo_header(&source, &group, 58, body.len());
        let sum = checksum::finish(checksum::add(pseudo, &body));
        body[2..4].copy_from_slice(&sum.to_be_bytes());
        let mut f = vec![0x33, 0x33, 0xff, 0, 0, 2, 2, 0, 0, 0, 0, 1, 0x86, 0xdd];
        f.extend([0x60, 0, 0, 0, 0, 24, 58, 255]);
        f.extend(source);
        f.extend(group);
        f.extend(&body);
        let a = Wire::default().take(&f).unwrap();
        let n = Headers::parse(&a).unwrap().network.unwrap();
        assert_eq!((n.ttl, &n.destination[..]), (255, &source[..]));
        let body = &a[n.payload..n.end];
        assert_eq!((body[0], body[4], &body[26..32]), (136, 0x60, &MAC[..]));
        let pseudo = checksum::pseudo_header(&n.source, &n.destination, 58, body.len());
        assert_eq!(checksum::fold(checksum::add(pseudo, body)), 0xffff);
    }
}
