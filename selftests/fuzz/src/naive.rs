// SPDX-License-Identifier: GPL-2.0

//! The same questions answered bit by bit, to hold against the module's answers.

/// Bit `bit` (63 or 31 being the most significant, as the manual counts) of the word, or pair of
/// words, at `offset`; [`None`] if it lies beyond the end.
fn place(bytes: &[u8], offset: usize, pair: bool, bit: u32) -> Option<(usize, u8)> {
    let from_front = if pair { 63 - bit } else { 31 - bit } as usize;
    let at = offset + from_front / 8;
    // A word is there as a whole or not at all.
    let word = offset + from_front / 32 * 4;
    (word + 4 <= bytes.len()).then_some((at, 1 << (7 - from_front % 8)))
}

/// Bits `hi:lo` of the word, or pair of words, at `offset`.
pub fn get(bytes: &[u8], offset: usize, hi: u32, lo: u32) -> u64 {
    (lo..=hi).rev().fold(0, |value, bit| {
        let set =
            place(bytes, offset, hi > 31, bit).is_some_and(|(at, mask)| bytes[at] & mask != 0);
        (value << 1) | u64::from(set)
    })
}

/// Writes bits `hi:lo` of the word, or pair of words, at `offset`.
pub fn set(bytes: &mut [u8], offset: usize, hi: u32, lo: u32, value: u64) {
    for bit in lo..=hi {
        if let Some((at, mask)) = place(bytes, offset, hi > 31, bit) {
            if (value >> (bit - lo)) & 1 != 0 {
                bytes[at] |= mask;
            } else {
                bytes[at] &= !mask;
            }
        }
    }
}

/// Bytes from what a dump says; `size` of them.
///
/// # Panics
///
/// If a line has not the form of a dump's.
pub fn undump(text: &str, size: usize) -> Vec<u8> {
    let mut bytes = vec![0; size];
    for line in text.lines().filter(|line| !line.starts_with('#')) {
        let (place, value) = line
            .split_once(": ")
            .unwrap_or((line.trim_end_matches(':'), ""));
        let (offset, what) = place.split_once(' ').expect("an offset, and what is there");
        let offset = hex(offset);
        if what == "reserved" {
            let old = get(&bytes, offset, 31, 0);
            let new = hex(value) as u64;
            assert_eq!(old & new, 0, "a bit is shown twice: {line}");
            set(&mut bytes, offset, 31, 0, old | new);
            continue;
        }
        let (range, _name) = what
            .strip_prefix('[')
            .and_then(|what| what.split_once("] "))
            .expect("a range of bits in brackets");
        if let Some(count) = range.strip_suffix(" bytes") {
            let shown: Vec<u8> = value
                .split(' ')
                .map(|byte| hex_digits(byte) as u8)
                .collect();
            assert_eq!(count.parse(), Ok(shown.len()), "{line}");
            bytes[offset..][..shown.len()].copy_from_slice(&shown);
            continue;
        }
        let (hi, lo) = range.split_once(':').unwrap_or((range, range));
        let (hi, lo) = (hi.parse().expect("a bit"), lo.parse().expect("a bit"));
        let number = value.split(' ').next().expect("a value");
        set(&mut bytes, offset, hi, lo, hex(number) as u64);
    }
    bytes
}

/// A number with 0x.
fn hex(text: &str) -> usize {
    hex_digits(text.strip_prefix("0x").expect("a hexadecimal number"))
}

fn hex_digits(text: &str) -> usize {
    usize::from_str_radix(text, 16).expect("hexadecimal digits")
}
