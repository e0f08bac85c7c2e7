// SPDX-License-Identifier: GPL-2.0

//! Reading and writing fields of big-endian buffers.
//!
//! A field that lies outside the buffer reads as zero and is not written: the callers check
//! lengths first and name the command that was too short.

use crate::ifc::Field;

/// Value of a field of at most 64 bits.
pub fn get(data: &[u8], f: Field) -> u64 {
    let mut value = 0u64;
    let end = f.bit.saturating_add(f.width.min(64));
    let mut bit = f.bit;
    while bit < end {
        let byte = data.get((bit / 8) as usize).copied().unwrap_or(0);
        if bit % 8 == 0 && end - bit >= 8 {
            value = (value << 8) | u64::from(byte);
            bit += 8;
        } else {
            value = (value << 1) | u64::from((byte >> (7 - bit % 8)) & 1);
            bit += 1;
        }
    }
    value
}

/// The low 32 bits of [`get`].
pub fn get32(data: &[u8], f: Field) -> u32 {
    (get(data, f) & 0xffff_ffff) as u32
}

/// True if a field of one bit is set.
pub fn flag(data: &[u8], f: Field) -> bool {
    get(data, f) != 0
}

/// Writes a field of at most 64 bits; bits of `value` above its width are dropped.
pub fn set(data: &mut [u8], f: Field, value: u64) {
    let width = f.width.min(64);
    for i in 0..width {
        let bit = f.bit.saturating_add(width - 1 - i);
        if let Some(byte) = data.get_mut((bit / 8) as usize) {
            let mask = 0x80u8 >> (bit % 8);
            if (value >> i) & 1 != 0 {
                *byte |= mask;
            } else {
                *byte &= !mask;
            }
        }
    }
}

/// The bytes of a field that starts at a byte, or as many as there are.
pub fn bytes(data: &[u8], f: Field) -> &[u8] {
    let start = f.byte().min(data.len());
    let length = (u64::from(f.width) * u64::from(f.count) / 8) as usize;
    let end = start.saturating_add(length).min(data.len());
    &data[start..end]
}

/// Copies bytes to a field that starts at a byte, as far as they fit.
pub fn set_bytes(data: &mut [u8], f: Field, from: &[u8]) {
    let start = f.byte().min(data.len());
    let length = from.len().min(data.len() - start);
    data[start..start + length].copy_from_slice(&from[..length]);
}

/// The big-endian word at a byte offset.
pub fn word(data: &[u8], offset: usize) -> u32 {
    get32(
        data,
        Field {
            bit: u32::try_from(offset)
                .unwrap_or(u32::MAX / 8)
                .saturating_mul(8),
            width: 32,
            count: 1,
        },
    )
}

/// Parses bytes written as pairs of hexadecimal digits, white space between pairs allowed.
pub fn parse_hex(text: &str) -> Option<Vec<u8>> {
    let digits: Vec<u8> = text.bytes().filter(|b| !b.is_ascii_whitespace()).collect();
    if digits.len() % 2 != 0 {
        return None;
    }
    digits
        .chunks(2)
        .map(|pair| {
            let pair = std::str::from_utf8(pair).ok()?;
            u8::from_str_radix(pair, 16).ok()
        })
        .collect()
}

/// Words of four bytes, four in a line, each line with its offset.
pub fn dump(data: &[u8]) -> Vec<String> {
    data.chunks(16)
        .enumerate()
        .map(|(i, line)| {
            let words: Vec<String> = line
                .chunks(4)
                .map(|w| {
                    w.iter()
                        .map(|b| format!("{b:02x}"))
                        .collect::<Vec<_>>()
                        .concat()
                })
                .collect();
            format!("{:03x}: {}", i * 16, words.join(" "))
        })
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn field(bit: u32, width: u32) -> Field {
        Field {
            bit,
            width,
            count: 1,
        }
    }

    #[test]
    fn bits_are_numbered_from_the_most_significant() {
        let data = [0x12, 0x34, 0x56, 0x78];
        assert_eq!(get(&data, field(0, 4)), 1);
        assert_eq!(get(&data, field(4, 12)), 0x234);
        assert_eq!(get(&data, field(0, 32)), 0x1234_5678);
        assert_eq!(get(&data, field(24, 16)), 0x7800);
    }

    #[test]
    fn set_leaves_the_neighbours_alone() {
        let mut data = [0xff; 4];
        set(&mut data, field(6, 5), 0b10010);
        assert_eq!(data, [0b1111_1110, 0b0101_1111, 0xff, 0xff]);
        assert_eq!(get(&data, field(6, 5)), 0b10010);
        set(&mut data, field(30, 8), 0);
        assert_eq!(data[3], 0xfc);
    }

    #[test]
    fn hex() {
        assert_eq!(parse_hex("00 ff1a"), Some(vec![0, 255, 26]));
        assert_eq!(parse_hex("0"), None);
        assert_eq!(parse_hex("zz"), None);
        assert_eq!(dump(&[1, 2, 3, 4, 5]), ["000: 01020304 05"]);
    }
}
