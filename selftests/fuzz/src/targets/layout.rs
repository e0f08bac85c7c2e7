// SPDX-License-Identifier: GPL-2.0

//! Fields of words: reading, writing, masks.

use crate::{
    input::Input,
    naive, //
};
use mlx5_prm_host::prm::bits;

/// Reads and writes fields, and compares with doing it bit by bit.
pub fn bits(input: &mut Input<'_>) {
    let offset = usize::from(input.u8() & 0x3f);
    let (a, b) = (u32::from(input.u8()) % 64, u32::from(input.u8()) % 64);
    let (hi, lo) = (a.max(b), a.min(b));
    let value = input.u64();
    let bytes = input.bytes(64);

    assert_eq!(
        bits::get(bytes, offset, hi, lo),
        naive::get(bytes, offset, hi, lo)
    );

    let mut written = bytes.to_vec();
    bits::set(&mut written, offset, hi, lo, value);
    let mut expected = bytes.to_vec();
    naive::set(&mut expected, offset, hi, lo, value);
    assert_eq!(written, expected);

    for bit in [usize::from(a as u8), value as usize] {
        let naive =
            (bit / 8 < bytes.len()) && bytes[bytes.len() - 1 - bit / 8] & (1 << (bit % 8)) != 0;
        assert_eq!(bits::test(bytes, bit), naive);
    }
}
