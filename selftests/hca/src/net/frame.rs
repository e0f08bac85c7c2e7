// SPDX-License-Identifier: GPL-2.0

//! What a frame's headers say: Ethernet, VLAN tags, IPv4 or IPv6, TCP or UDP.

use super::checksum;

/// Bytes of the two addresses and the type.
pub const ETHERNET: usize = 14;

/// Shortest frame without its check sequence.
pub const MINIMUM: usize = 60;

/// Types behind the addresses.
pub mod ethertype {
    pub const IPV4: u16 = 0x0800;
    pub const ARP: u16 = 0x0806;
    pub const VLAN: u16 = 0x8100;
    pub const SERVICE_VLAN: u16 = 0x88a8;
    pub const IPV6: u16 = 0x86dd;
}

/// Protocols of an IP packet.
pub mod protocol {
    pub const ICMP: u8 = 1;
    pub const TCP: u8 = 6;
    pub const UDP: u8 = 17;
    pub const ICMPV6: u8 = 58;
}

/// An IP header.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Network {
    /// 4 or 6.
    pub version: u8,
    pub start: usize,
    /// Where the payload starts, behind options or extension headers.
    pub payload: usize,
    /// Where the packet ends; the frame can be longer by its padding.
    pub end: usize,
    /// Protocol of the payload.
    pub protocol: u8,
    /// True for a part of a packet.
    pub fragment: bool,
    /// True for a part other than the first, which has no transport header.
    pub later_fragment: bool,
    /// Length of an IPv4 header in words.
    pub header_words: u8,
    /// Traffic class: DSCP in the high six bits, ECN in the low two.
    pub class: u8,
    pub ttl: u8,
    pub source: Vec<u8>,
    pub destination: Vec<u8>,
}

/// A TCP or UDP header.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Transport {
    pub protocol: u8,
    pub start: usize,
    pub source: u16,
    pub destination: u16,
    /// Flags of TCP, nine bits.
    pub flags: u16,
    /// Where the data starts.
    pub payload: usize,
}

/// A frame's headers.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Headers {
    pub destination: [u8; 6],
    pub source: [u8; 6],
    /// Tag protocol and tag control, the outermost first, at most two.
    pub tags: Vec<(u16, u16)>,
    /// Type of what follows the tags.
    pub ethertype: u16,
    pub network: Option<Network>,
    pub transport: Option<Transport>,
}

fn be16(data: &[u8], at: usize) -> Option<u16> {
    let pair = data.get(at..at.checked_add(2)?)?;
    Some(u16::from_be_bytes([pair[0], pair[1]]))
}

impl Headers {
    /// Reads the headers of a frame; None if it is too short for an Ethernet header.
    pub fn parse(frame: &[u8]) -> Option<Headers> {
        let destination = frame.get(..6)?.try_into().ok()?;
        let source = frame.get(6..12)?.try_into().ok()?;
        let mut tags = Vec::new();
        let mut at = 12;
        let mut kind = be16(frame, at)?;
        while matches!(kind, ethertype::VLAN | ethertype::SERVICE_VLAN) && tags.len() < 2 {
            let Some(next) = be16(frame, at + 4) else {
                break;
            };
            tags.push((kind, be16(frame, at + 2)?));
            (at, kind) = (at + 4, next);
        }
        let start = at + 2;
        let network = match kind {
            ethertype::IPV4 => ipv4(frame, start),
            ethertype::IPV6 => ipv6(frame, start),
            _ => None,
        };
        let transport = network.as_ref().and_then(|n| transport(frame, n));
        Some(Headers {
            destination,
            source,
            tags,
            ethertype: kind,
            network,
            transport,
        })
    }

    /// True for broadcast and multicast destinations.
    pub fn to_group(&self) -> bool {
        self.destination[0] & 1 != 0
    }

    /// True for the broadcast address.
    pub fn to_all(&self) -> bool {
        self.destination == [0xff; 6]
    }
}

fn ipv4(frame: &[u8], start: usize) -> Option<Network> {
    let h = frame.get(start..start.checked_add(20)?)?;
    let words = h[0] & 0xf;
    let header = usize::from(words) * 4;
    let total = usize::from(be16(h, 2)?);
    let end = start.checked_add(total)?;
    if h[0] >> 4 != 4 || header < 20 || total < header || end > frame.len() {
        return None;
    }
    let fragment = be16(h, 6)?;
    Some(Network {
        version: 4,
        start,
        payload: start + header,
        end,
        protocol: h[9],
        fragment: fragment & 0x3fff != 0,
        later_fragment: fragment & 0x1fff != 0,
        header_words: words,
        class: h[1],
        ttl: h[8],
        source: h[12..16].to_vec(),
        destination: h[16..20].to_vec(),
    })
}

/// Extension headers that are looked through, with a length in units of eight bytes.
const OPTIONS: [u8; 3] = [0, 43, 60];
const FRAGMENT: u8 = 44;

fn ipv6(frame: &[u8], start: usize) -> Option<Network> {
    let h = frame.get(start..start.checked_add(40)?)?;
    let end = start.checked_add(40)?.checked_add(be16(h, 4)?.into())?;
    if h[0] >> 4 != 6 || end > frame.len() {
        return None;
    }
    let (mut next, mut at) = (h[6], start + 40);
    let (mut fragment, mut later_fragment) = (false, false);
    // Each round takes eight bytes of the frame at least.
    loop {
        let size = match next {
            FRAGMENT => {
                fragment = true;
                later_fragment = be16(frame, at + 2)? & 0xfff8 != 0;
                8
            }
            n if OPTIONS.contains(&n) => 8 + 8 * usize::from(*frame.get(at + 1)?),
            _ => break,
        };
        if at + size > end {
            return None;
        }
        (next, at) = (*frame.get(at)?, at + size);
        if later_fragment {
            break;
        }
    }
    Some(Network {
        version: 6,
        start,
        payload: at,
        end,
        protocol: next,
        fragment,
        later_fragment,
        header_words: 0,
        class: (h[0] << 4) | (h[1] >> 4),
        ttl: h[7],
        source: h[8..24].to_vec(),
        destination: h[24..40].to_vec(),
    })
}

fn transport(frame: &[u8], n: &Network) -> Option<Transport> {
    if n.later_fragment {
        return None;
    }
    let data = frame.get(n.payload..n.end)?;
    let (flags, header) = match n.protocol {
        protocol::UDP if data.len() >= 8 => (0, 8),
        protocol::TCP if data.len() >= 20 => {
            let header = usize::from(data[12] >> 4) * 4;
            if header < 20 || header > data.len() {
                return None;
            }
            (be16(data, 12)? & 0x1ff, header)
        }
        _ => return None,
    };
    Some(Transport {
        protocol: n.protocol,
        start: n.payload,
        source: be16(data, 0)?,
        destination: be16(data, 2)?,
        flags,
        payload: n.payload + header,
    })
}

/// True if the checksum of an IPv4 header is right; IPv6 has none.
pub fn network_ok(frame: &[u8], n: &Network) -> bool {
    let header = n.start.saturating_add(usize::from(n.header_words) * 4);
    n.version == 6
        || frame
            .get(n.start..header)
            .is_some_and(|h| checksum::sum(h) == 0xffff)
}

/// True if a TCP or UDP checksum is right.
pub fn transport_ok(frame: &[u8], n: &Network, t: &Transport) -> bool {
    if n.fragment {
        return false;
    }
    let Some(data) = frame.get(t.start..n.end) else {
        return false;
    };
    if t.protocol == protocol::UDP && n.version == 4 && data.get(6..8) == Some(&[0, 0]) {
        // The sender left it out.
        return true;
    }
    let pseudo = checksum::pseudo_header(&n.source, &n.destination, t.protocol, data.len());
    checksum::fold(checksum::add(pseudo, data)) == 0xffff
}

#[cfg(test)]
pub mod tests {
    use super::*;

    /// An Ethernet frame with an IPv4 packet of the given protocol.
    pub fn ipv4_frame(protocol: u8, payload: &[u8]) -> Vec<u8> {
        let mut f = vec![2, 0, 0, 0, 0, 2, 2, 0, 0, 0, 0, 1, 8, 0];
        let total = (20 + payload.len()) as u16;
        let mut h = vec![0x45, 0, 0, 0, 0, 1, 0, 0, 64, protocol, 0, 0];
        h[2..4].copy_from_slice(&total.to_be_bytes());
        h.extend([192, 0, 2, 1, 192, 0, 2, 2]);
        let sum = checksum::finish(checksum::add(0, &h)).to_be_bytes();
        h[10..12].copy_from_slice(&sum);
        f.extend(h);
        f.extend(payload);
        f
    }

    /// A UDP datagram between the addresses of [`ipv4_frame`], with its checksum.
    pub fn udp(source: u16, destination: u16, data: &[u8]) -> Vec<u8> {
        let length = (8 + data.len()) as u16;
        let mut d = Vec::new();
        for word in [source, destination, length, 0] {
            d.extend(word.to_be_bytes());
        }
        d.extend(data);
        let pseudo = checksum::pseudo_header(&[192, 0, 2, 1], &[192, 0, 2, 2], 17, d.len());
        let sum = checksum::finish(checksum::add(pseudo, &d)).to_be_bytes();
        d[6..8].copy_from_slice(&sum);
        d
    }

    #[test]
    fn udp_over_ipv4() {
        let mut f = ipv4_frame(17, &udp(1000, 53, b"abc"));
        f.resize(MINIMUM, 0);
        let h = Headers::parse(&f).unwrap();
        let (n, t) = (h.network.unwrap(), h.transport.unwrap());
        assert_eq!((n.start, n.payload, n.end), (14, 34, 45));
        assert_eq!((t.source, t.destination, t.payload), (1000, 53, 42));
        assert!(network_ok(&f, &n) && transport_ok(&f, &n, &t));
        f[44] ^= 1;
        assert!(!transport_ok(&f, &n, &t));
        f[22] ^= 1;
        assert!(!network_ok(&f, &n));
    }

    #[test]
    fn tags() {
        let mut f = ipv4_frame(1, &[8, 0, 0, 0]);
        f.splice(12..12, [0x88, 0xa8, 0, 5, 0x81, 0, 0x20, 7]);
        let h = Headers::parse(&f).unwrap();
        assert_eq!(h.tags, [(0x88a8, 5), (0x8100, 0x2007)]);
        assert_eq!(h.ethertype, ethertype::IPV4);
        assert_eq!(h.network.unwrap().start, 22);
        assert!(h.transport.is_none());
    }

    #[test]
    fn ipv6_with_options() {
        let mut f = vec![0x33, 0x33, 0, 0, 0, 1, 2, 0, 0, 0, 0, 1, 0x86, 0xdd];
        let mut h = vec![0x60, 0, 0, 0, 0, 16, 0, 255];
        h.extend([0; 32]);
        f.extend(h);
        // Hop-by-hop options, then ICMPv6.
        f.extend([58, 0, 5, 2, 0, 0, 1, 0]);
        f.extend([143, 0, 0, 0, 0, 0, 0, 0]);
        let h = Headers::parse(&f).unwrap();
        assert!(h.to_group() && !h.to_all());
        let n = h.network.unwrap();
        assert_eq!((n.protocol, n.payload, n.end), (58, 62, 70));
    }

    #[test]
    fn nonsense_has_no_headers() {
        assert!(Headers::parse(&[0; 13]).is_none());
        for length in 14..80 {
            for first in [0x45, 0x4f, 0x60, 0xff] {
                for kind in [[8, 0], [0x86, 0xdd], [0x81, 0]] {
                    let mut f = vec![0xff; length];
                    f[12..14].copy_from_slice(&kind);
                    if let Some(b) = f.get_mut(14) {
                        *b = first;
                    }
                    let _ = Headers::parse(&f);
                    f[14.min(length - 1)..].fill(0);
                    if let Some(b) = f.get_mut(14) {
                        *b = first;
                    }
                    let _ = Headers::parse(&f);
                }
            }
        }
    }
}
