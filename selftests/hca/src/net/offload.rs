// SPDX-License-Identifier: GPL-2.0

//! What the device does to a frame on its way out: checksums, segmentation, padding.

use super::checksum;
use super::frame::{
    protocol,
    Headers,
    Network,
    Transport,
    MINIMUM, //
};
use super::wqe::ChecksumWork;

/// Frames that one large send may become.
const MAX_SEGMENTS: usize = 1024;

/// Position of the checksum in a transport header.
fn checksum_at(protocol: u8) -> Option<usize> {
    match protocol {
        protocol::TCP => Some(16),
        protocol::UDP => Some(6),
        _ => None,
    }
}

fn put(frame: &mut [u8], at: usize, value: u16) {
    if let Some(place) = frame.get_mut(at..at.saturating_add(2)) {
        place.copy_from_slice(&value.to_be_bytes());
    }
}

/// Computes the checksums that are asked for; headers that are not there are left alone.
pub fn checksums(frame: &mut [u8], work: ChecksumWork) {
    let Some(headers) = Headers::parse(frame) else {
        return;
    };
    let Some(n) = headers.network else { return };
    if work.network {
        network(frame, &n);
    }
    if let Some(t) = headers.transport.filter(|_| work.transport && !n.fragment) {
        transport(frame, &n, &t);
    }
}

fn network(frame: &mut [u8], n: &Network) {
    if n.version != 4 {
        return;
    }
    let at = n.start + 10;
    put(frame, at, 0);
    let end = n.start + usize::from(n.header_words) * 4;
    let sum = checksum::add(0, frame.get(n.start..end).unwrap_or(&[]));
    put(frame, at, checksum::finish(sum));
}

fn transport(frame: &mut [u8], n: &Network, t: &Transport) {
    let Some(offset) = checksum_at(t.protocol) else {
        return;
    };
    put(frame, t.start + offset, 0);
    let data = frame.get(t.start..n.end).unwrap_or(&[]);
    let pseudo = checksum::pseudo_header(&n.source, &n.destination, t.protocol, data.len());
    let sum = match checksum::finish(checksum::add(pseudo, data)) {
        // Zero would mean "none" in UDP.
        0 if t.protocol == protocol::UDP => 0xffff,
        sum => sum,
    };
    put(frame, t.start + offset, sum);
}

/// Pads a frame to the least length of Ethernet.
pub fn pad(frame: &mut Vec<u8>) {
    if frame.len() < MINIMUM {
        frame.resize(MINIMUM, 0);
    }
}

/// Cuts a large TCP packet into frames of at most `mss` bytes of data.
///
/// # Errors
///
/// Why it cannot be cut.
pub fn segment(frame: &[u8], header_bytes: usize, mss: u16) -> Result<Vec<Vec<u8>>, String> {
    // The length field of such a packet does not cover it: write one that does for the parser.
    let mut whole = frame.to_vec();
    let l3 = l3_start(&whole).ok_or("the packet has no IP header")?;
    set_length(&mut whole, l3, frame.len().saturating_sub(l3).min(0xffff));
    let mut head = whole;
    head.truncate(header_bytes);
    let l3_bytes = header_bytes
        .checked_sub(l3)
        .ok_or("the header ends before IP")?;
    set_length(&mut head, l3, l3_bytes);
    let headers = Headers::parse(&head).ok_or("the header is too short")?;
    let (Some(n), Some(t)) = (headers.network, headers.transport) else {
        return Err("the packet is not TCP or UDP".into());
    };
    if t.payload != header_bytes || mss == 0 {
        return Err(format!(
            "headers of {header_bytes} bytes, {} are there, mss {mss}",
            t.payload
        ));
    }
    let data = &frame[header_bytes.min(frame.len())..];
    let count = data.len().div_ceil(mss.into());
    if count == 0 || count > MAX_SEGMENTS {
        return Err(format!(
            "{} bytes are {count} segments of {mss}",
            data.len()
        ));
    }
    let sequence = u32_at(&head, t.start + 4);
    let identification = u32_at(&head, n.start + 4) >> 16;
    let frames = data.chunks(mss.into()).enumerate().map(|(i, part)| {
        let mut f = head.clone();
        f.extend_from_slice(part);
        set_length(&mut f, l3, l3_bytes.saturating_add(part.len()));
        if n.version == 4 {
            let id = identification.wrapping_add(i as u32) as u16;
            put(&mut f, n.start + 4, id);
        }
        if t.protocol == protocol::TCP {
            let here = sequence.wrapping_add((i as u32).wrapping_mul(mss.into()));
            if let Some(place) = f.get_mut(t.start + 4..t.start + 8) {
                place.copy_from_slice(&here.to_be_bytes());
            }
            if i + 1 < count {
                // FIN and PSH belong to the last segment.
                f[t.start + 13] &= !0x09;
            }
        } else {
            put(&mut f, t.start + 4, (8 + part.len()).min(0xffff) as u16);
        }
        f
    });
    Ok(frames.collect())
}

/// Where the IP header starts; the packet need not be whole.
fn l3_start(frame: &[u8]) -> Option<usize> {
    let mut at = 12;
    for _ in 0..3 {
        match frame.get(at..at + 2)? {
            [0x81, 0x00] | [0x88, 0xa8] => at += 4,
            [0x08, 0x00] | [0x86, 0xdd] => return Some(at + 2),
            _ => return None,
        }
    }
    None
}

fn u32_at(data: &[u8], at: usize) -> u32 {
    data.get(at..at.saturating_add(4))
        .and_then(|b| b.try_into().ok())
        .map_or(0, u32::from_be_bytes)
}

/// Sets the length field of an IP header; `bytes` counts from the start of the header.
fn set_length(frame: &mut [u8], l3: usize, bytes: usize) {
    match frame.get(l3).map(|b| b >> 4) {
        Some(4) => put(frame, l3 + 2, bytes.min(0xffff) as u16),
        Some(6) => put(frame, l3 + 4, bytes.saturating_sub(40).min(0xffff) as u16),
        _ => {}
    }
}

#[cfg(test)]
mod tests {
    use super::super::frame::tests::{
        ipv4_frame,
        udp, //
    };
    use super::super::frame::{
        network_ok,
        transport_ok, //
    };
    use super::*;

    const BOTH: ChecksumWork = ChecksumWork {
        network: true,
        transport: true,
        inner_network: false,
        inner_transport: false,
    };

    #[test]
    fn both_checksums() {
        let mut f = ipv4_frame(17, &udp(1, 2, b"hello"));
        let right = f.clone();
        f[24] = 0x55;
        f[40] = 0x55;
        checksums(&mut f, BOTH);
        assert_eq!(f, right);
        let mut none = f.clone();
        none[24] = 0x55;
        let spoiled = none.clone();
        checksums(&mut none, ChecksumWork::default());
        assert_eq!(none, spoiled);
    }

    #[test]
    fn large_send() {
        let mut tcp = vec![0; 20];
        tcp[..8].copy_from_slice(&[0, 80, 0x10, 0, 0xff, 0xff, 0xff, 0xf0]);
        tcp[12] = 0x50;
        tcp[13] = 0x19;
        tcp.extend((0..250).map(|i| i as u8));
        let mut f = ipv4_frame(6, &tcp);
        // Drivers leave the length of the whole to the device.
        put(&mut f, 16, 0);
        let mut frames = segment(&f, 54, 100).unwrap();
        assert_eq!(
            frames.iter().map(Vec::len).collect::<Vec<_>>(),
            [154, 154, 104]
        );
        let mut data = Vec::new();
        for (i, f) in frames.iter_mut().enumerate() {
            checksums(f, BOTH);
            let h = Headers::parse(f).unwrap();
            let (n, t) = (h.network.unwrap(), h.transport.unwrap());
            assert!(network_ok(f, &n) && transport_ok(f, &n, &t));
            assert_eq!(u32_at(f, 38), 0xffff_fff0u32.wrapping_add(i as u32 * 100));
            assert_eq!(t.flags, if i == 2 { 0x19 } else { 0x10 });
            assert_eq!(u32_at(f, 18) >> 16, 1 + i as u32);
            data.extend_from_slice(&f[54..]);
        }
        assert_eq!(data, tcp[20..]);
    }

    #[test]
    fn what_cannot_be_cut() {
        let f = ipv4_frame(1, &[0; 40]);
        assert!(segment(&f, 34, 100).is_err());
        let f = ipv4_frame(6, &[0x50; 40]);
        assert!(segment(&f, 54, 0).is_err());
        assert!(segment(&f, 3, 100).is_err());
        assert!(segment(&[0; 3], 1, 100).is_err());
        assert!(segment(&f, 4000, 100).is_err());
    }

    #[test]
    fn padding() {
        let mut f = vec![1; 20];
        pad(&mut f);
        assert_eq!((f.len(), f[19], f[20]), (60, 1, 0));
    }
}
