// SPDX-License-Identifier: GPL-2.0

//! Signatures of command entries and mailbox blocks.
//!
//! Each is the complement of the XOR of the bytes that it covers, so that XOR over all of them,
//! the signature included, is FFh.

use crate::ifc::fields::{
    cmd_if_box,
    cmd_queue_entry, //
};

/// XOR over bytes.
pub fn xor(data: &[u8]) -> u8 {
    data.iter().fold(0, |x, b| x ^ b)
}

/// True if an entry's signature is right.
pub fn entry_is_signed(entry: &[u8]) -> bool {
    xor(entry) == 0xff
}

/// Signs an entry.
pub fn sign_entry(entry: &mut [u8]) {
    sign(entry, cmd_queue_entry::SIGNATURE.byte());
}

/// The bytes that `ctrl_signature` covers, itself included.
fn control(block: &[u8]) -> &[u8] {
    let end = cmd_if_box::CTRL_SIGNATURE.byte() + 1;
    let start = cmd_if_box::MAILBOX_DATA.byte() + 512;
    block.get(start..end).unwrap_or(&[])
}

/// True if both signatures of a mailbox block are right.
pub fn block_is_signed(block: &[u8]) -> bool {
    xor(control(block)) == 0xff && xor(block) == 0xff
}

/// True if a block carries no signatures at all.
pub fn block_is_unsigned(block: &[u8]) -> bool {
    block.get(cmd_if_box::CTRL_SIGNATURE.byte()) == Some(&0)
        && block.get(cmd_if_box::SIGNATURE.byte()) == Some(&0)
}

/// Signs a mailbox block.
pub fn sign_block(block: &mut [u8]) {
    let at = cmd_if_box::CTRL_SIGNATURE.byte();
    if let Some(byte) = block.get_mut(at) {
        *byte = 0;
    }
    let sum = !xor(control(block));
    if let Some(byte) = block.get_mut(at) {
        *byte = sum;
    }
    sign(block, cmd_if_box::SIGNATURE.byte());
}

fn sign(data: &mut [u8], at: usize) {
    if let Some(byte) = data.get_mut(at) {
        *byte = 0;
    }
    let sum = !xor(data);
    if let Some(byte) = data.get_mut(at) {
        *byte = sum;
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::bits::parse_hex;

    /// Entries of a real card, as a driver's debug print showed them.
    const REAL: [&str; 3] = [
        "07000000 00000010 00000000 00000000 01030000 00000000 00000001 00000000
         00000000 00000000 00000000 00000000 00000000 00000000 00000010 3fc50001",
        "07000000 00000010 00000000 00000000 01030000 00000000 00000001 00000000
         00000000 00000000 00000000 00000001 00000000 00000000 00000010 3fc50000",
        "07000000 00000040 00000001 347e4400 09310000 00000000 00000000 00000000
         00000000 00000000 00000000 00000000 00000000 00000000 00000010 40de0001",
    ];

    #[test]
    fn real_entries() {
        for text in REAL {
            let entry = parse_hex(text).unwrap();
            assert!(entry_is_signed(&entry));
            let mut again = entry.clone();
            sign_entry(&mut again);
            assert_eq!(entry, again);
            again[0x10] ^= 1;
            assert!(!entry_is_signed(&again));
        }
    }

    #[test]
    fn blocks() {
        let mut block = vec![0u8; cmd_if_box::BYTES];
        assert!(block_is_unsigned(&block));
        assert!(!block_is_signed(&block));
        block[5] = 0x12;
        block[0x23d] = 0x77;
        sign_block(&mut block);
        assert!(block_is_signed(&block));
        assert_eq!(block[0x23e], !0x77);
        block[5] = 0x13;
        assert!(!block_is_signed(&block));
        sign_block(&mut block);
        block[0x23d] ^= 1;
        block[5] ^= 1;
        assert_eq!(
            xor(&block),
            0xff,
            "the whole is right, the control part is not"
        );
        assert!(!block_is_signed(&block));
    }
}
