// SPDX-License-Identifier: GPL-2.0

//! Chains of mailbox blocks.

use super::entry::{
    delivery,
    Undelivered,
    INLINE, //
};
use super::signature;
use crate::bits;
use crate::ifc::fields::cmd_if_box as b;
use crate::ifc::nonzero_reserved;
use crate::memory::GuestMemory;
use crate::rules::Rule;

/// Alignment of a block.
pub const ALIGNMENT: u64 = 1024;

/// Bytes of command data in a block.
pub const DATA: usize = 512;

/// `cmdif_checksum` of the HCA capabilities. Source: an NVIDIA-generated PRM header.
pub mod checksum {
    pub const DISABLED: u64 = 0;
    pub const INITIAL: u64 = 1;
    pub const ENABLED: u64 = 3;
}

/// A chain that was read and found right.
#[derive(Debug, Clone, Default)]
pub struct Chain {
    /// Bus address of each block.
    pub addresses: Vec<u64>,
    /// Contents of each block.
    pub blocks: Vec<Vec<u8>>,
}

/// What kind of chain is walked, with the status for a bad pointer or a wrong length.
#[derive(Debug, Clone, Copy)]
pub struct Direction {
    pub name: &'static str,
    pointer: u8,
    length: u8,
}

/// Input mailboxes.
pub const INPUT: Direction = Direction {
    name: "input",
    pointer: delivery::INPUT_POINTER,
    length: delivery::INPUT_LENGTH,
};

/// Output mailboxes.
pub const OUTPUT: Direction = Direction {
    name: "output",
    pointer: delivery::OUTPUT_POINTER,
    length: delivery::OUTPUT_LENGTH,
};

/// Number of blocks for a message of `length` bytes.
pub fn blocks_for(length: u32) -> usize {
    (length as usize).saturating_sub(INLINE).div_ceil(DATA)
}

/// Reads and checks the blocks of a message. `notes` takes what does not stop the command.
///
/// # Errors
///
/// The first reason for which the firmware would not run the command.
pub fn walk(
    memory: &GuestMemory,
    first: u64,
    length: u32,
    token: u8,
    mode: u64,
    direction: Direction,
    notes: &mut Vec<(Rule, String)>,
) -> Result<Chain, Undelivered> {
    let mut chain = Chain::default();
    let mut next = first;
    let wanted = blocks_for(length);
    let name = direction.name;
    for n in 0..wanted {
        if next == 0 {
            let text = format!("{name} chain ends after {n} blocks of {wanted}");
            return Err(Undelivered::new(direction.length, Rule::ChainShort, text));
        }
        if next % ALIGNMENT != 0 {
            let text = format!("{name} block {n} is at {next:#x}");
            return Err(Undelivered::new(
                direction.pointer,
                Rule::BlockAlignment,
                text,
            ));
        }
        let mut block = vec![0u8; b::BYTES];
        memory.read(next, &mut block).map_err(|f| {
            Undelivered::new(
                delivery::FIRMWARE,
                Rule::Dma,
                format!("{name} block {n}: {f}"),
            )
        })?;
        check(&block, n, token, mode, direction)?;
        chain.addresses.push(next);
        next = next_pointer(&block);
        chain.blocks.push(block);
    }
    if next != 0 && wanted > 0 {
        let text = format!(
            "{name} block {} of {wanted} points to {next:#x}",
            wanted - 1
        );
        notes.push((Rule::ChainLong, text));
    }
    Ok(chain)
}

/// The next pointer of a block, with its low bits.
fn next_pointer(block: &[u8]) -> u64 {
    let low = bits::word(block, b::NEXT_POINTER_31_10.byte());
    (bits::get(block, b::NEXT_POINTER_63_32) << 32) | u64::from(low)
}

fn check(
    block: &[u8],
    n: usize,
    token: u8,
    mode: u64,
    direction: Direction,
) -> Result<(), Undelivered> {
    let name = direction.name;
    let have = bits::get(block, b::TOKEN);
    if have != u64::from(token) {
        let text = format!("{name} block {n} has token {have:02x}h, the entry {token:02x}h");
        return Err(Undelivered::new(delivery::TOKEN, Rule::BlockToken, text));
    }
    let number = bits::get(block, b::BLOCK_NUMBER);
    if number != n as u64 {
        let text = format!("{name} block {n} has number {number}");
        return Err(Undelivered::new(
            delivery::BLOCK_NUMBER,
            Rule::BlockNumber,
            text,
        ));
    }
    let required = mode == checksum::ENABLED
        || (mode == checksum::INITIAL && !signature::block_is_unsigned(block));
    if required && !signature::block_is_signed(block) {
        let text = format!("{name} block {n} has wrong signatures, cmdif_checksum is {mode}");
        return Err(Undelivered::new(
            delivery::SIGNATURE,
            Rule::BlockSignature,
            text,
        ));
    }
    let mut rest = block.to_vec();
    // The low bits of the next pointer are an alignment of their own.
    rest[b::NEXT_POINTER_31_10.byte()..][..4].fill(0);
    if let Some(at) = nonzero_reserved("cmd_if_box", &rest, None) {
        let text = format!(
            "{name} block {n}: reserved byte {at:03x}h is {:02x}h",
            block[at]
        );
        return Err(Undelivered::new(
            delivery::RESERVED,
            Rule::BlockReserved,
            text,
        ));
    }
    Ok(())
}

impl Chain {
    /// The command data of all blocks, one after the other.
    pub fn data(&self) -> impl Iterator<Item = &[u8]> {
        self.blocks
            .iter()
            .map(|block| &block[..DATA.min(block.len())])
    }

    /// Number of the first block whose contents in memory are not those that were read.
    pub fn changed(&self, memory: &GuestMemory) -> Option<usize> {
        let mut now = vec![0u8; b::BYTES];
        self.addresses
            .iter()
            .zip(&self.blocks)
            .position(|(a, block)| {
                // Memory that is gone by now was changed, too.
                memory.read(*a, &mut now).is_err() || now != *block
            })
    }
}

#[cfg(test)]
pub mod tests {
    use super::*;
    use crate::memory::fake::guest;

    /// Writes a chain of `n` signed blocks, 1 KiB apart, and returns the first address.
    pub fn put_chain(memory: &GuestMemory, first: u64, n: usize, token: u8) -> u64 {
        for i in 0..n {
            let mut block = vec![0u8; b::BYTES];
            let at = first + 1024 * i as u64;
            if i + 1 < n {
                bits::set(&mut block, b::NEXT_POINTER_31_10, (at + 1024) >> 10);
            }
            bits::set(&mut block, b::BLOCK_NUMBER, i as u64);
            bits::set(&mut block, b::TOKEN, token.into());
            signature::sign_block(&mut block);
            memory.write(at, &block).unwrap();
        }
        first
    }

    fn verdict(length: u32, mode: u64, change: &[(u64, u8)]) -> Result<usize, (u8, Rule)> {
        let memory = guest(0x10000, 0x10000);
        let first = put_chain(&memory, 0x10000, 2, 9);
        for (at, value) in change {
            memory.write(0x10000 + at, &[*value]).unwrap();
        }
        let mut notes = vec![];
        walk(&memory, first, length, 9, mode, INPUT, &mut notes)
            .map(|c| c.blocks.len() + 10 * notes.len())
            .map_err(|u| (u.status, u.rule))
    }

    #[test]
    fn each_check() {
        let two = 16 + 512 + 1;
        assert_eq!(verdict(two, checksum::ENABLED, &[]), Ok(2));
        assert_eq!(verdict(two + 512, 0, &[]), Err((7, Rule::ChainShort)));
        assert_eq!(verdict(two - 1, 0, &[]), Ok(11), "one block and a note");
        assert_eq!(verdict(two, 0, &[(0x63d, 8)]), Err((2, Rule::BlockToken)));
        assert_eq!(verdict(two, 0, &[(0x63b, 7)]), Err((3, Rule::BlockNumber)));
        assert_eq!(
            verdict(two, 0, &[(0x600, 7)]),
            Err((9, Rule::BlockReserved))
        );
        assert_eq!(
            verdict(two, 0, &[(0x237, 1)]),
            Err((5, Rule::BlockAlignment))
        );
        assert_eq!(verdict(two, 0, &[(0x230, 1)]), Err((6, Rule::Dma)));
        assert_eq!(verdict(two, 0, &[(0x400, 1)]), Ok(2));
        assert_eq!(
            verdict(two, 1, &[(0x400, 1)]),
            Err((1, Rule::BlockSignature))
        );
        assert_eq!(
            verdict(two, 3, &[(0x23e, 0), (0x23f, 0)]),
            Err((1, Rule::BlockSignature))
        );
        assert_eq!(verdict(two, 1, &[(0x23e, 0), (0x23f, 0)]), Ok(2));
    }

    #[test]
    fn numbers_of_blocks() {
        assert_eq!([8, 16, 17, 528, 529].map(blocks_for), [0, 0, 1, 1, 2]);
    }

    #[test]
    fn changes_are_seen() {
        let memory = guest(0x10000, 0x10000);
        let first = put_chain(&memory, 0x10000, 3, 9);
        let chain = walk(&memory, first, 1500, 9, 3, INPUT, &mut vec![]).unwrap();
        assert_eq!(chain.changed(&memory), None);
        memory.write(0x10000 + 0x400, &[1]).unwrap();
        assert_eq!(chain.changed(&memory), Some(1));
    }
}
