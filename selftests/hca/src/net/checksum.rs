// SPDX-License-Identifier: GPL-2.0

//! The Internet checksum (RFC 1071), its pseudo headers, and the Ethernet frame check sequence.

/// Adds bytes as big-endian words of 16 bits; an odd last byte counts as the high half.
pub fn add(mut sum: u64, data: &[u8]) -> u64 {
    for pair in data.chunks(2) {
        let word = u16::from_be_bytes([pair[0], pair.get(1).copied().unwrap_or(0)]);
        sum = sum.wrapping_add(word.into());
    }
    sum
}

/// Folds a sum to 16 bits.
pub fn fold(mut sum: u64) -> u16 {
    while sum > 0xffff {
        sum = (sum & 0xffff) + (sum >> 16);
    }
    sum as u16
}

/// The folded sum of some bytes, as a completion entry reports it: not inverted.
pub fn sum(data: &[u8]) -> u16 {
    fold(add(0, data))
}

/// Sum of the pseudo header of IPv4 or IPv6: addresses, protocol, length of the payload.
pub fn pseudo_header(source: &[u8], destination: &[u8], protocol: u8, length: usize) -> u64 {
    let sum = add(add(0, source), destination);
    sum.wrapping_add(protocol.into())
        .wrapping_add(length as u64)
}

/// The checksum to store in a packet whose checksum field is zero.
pub fn finish(sum: u64) -> u16 {
    !fold(sum)
}

/// A CRC-32 (IEEE 802.3) with one more byte. It starts at, and ends with an inversion by, all ones.
pub fn crc32(crc: u32, byte: u8) -> u32 {
    (0..8).fold(crc ^ u32::from(byte), |crc, _| {
        (crc >> 1) ^ if crc & 1 != 0 { 0xedb8_8320 } else { 0 }
    })
}

/// Frame check sequence of an Ethernet frame, in transmission order.
pub fn frame_check(data: &[u8]) -> [u8; 4] {
    let crc = data.iter().fold(u32::MAX, |crc, b| crc32(crc, *b));
    (!crc).to_le_bytes()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn example_of_rfc_1071() {
        let data = [0x00, 0x01, 0xf2, 0x03, 0xf4, 0xf5, 0xf6, 0xf7];
        assert_eq!(sum(&data), 0xddf2);
        assert_eq!(finish(add(0, &data)), !0xddf2);
        assert_eq!(sum(&[0x12]), 0x1200);
        assert_eq!(sum(&[]), 0);
    }

    #[test]
    fn carries_fold_twice() {
        assert_eq!(fold(0x1_ffff), 1);
        assert_eq!(fold(0xffff_ffff_ffff), 0xffff);
    }

    #[test]
    fn pseudo_headers() {
        let sum = pseudo_header(&[192, 0, 2, 1], &[192, 0, 2, 2], 17, 8);
        assert_eq!(fold(sum), fold(0xc000 + 0x201 + 0xc000 + 0x202 + 17 + 8));
    }

    #[test]
    fn crc_check_value() {
        // The check value of CRC-32 over the digits 1 to 9.
        assert_eq!(frame_check(b"123456789"), 0xcbf4_3926u32.to_le_bytes());
    }
}
