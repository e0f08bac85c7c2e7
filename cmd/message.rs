// SPDX-License-Identifier: GPL-2.0

//! The bytes of a command: entry and mailbox blocks made of an input, and an output made of them.
//!
//! Nothing here knows the kernel: the file is compiled a second time for tests on the host.

use crate::prm::queue::{
    Entry,
    MailboxBlock, //
};
use core::mem::take;

/// Blocks of input, and of output, that an ordinary slot has: enough for a capability page.
pub const ORDINARY_BLOCKS: usize = 8;

/// Bytes of input, and of output, that an ordinary slot holds: no command can have more.
pub const CAPACITY: usize = Entry::INLINE + ORDINARY_BLOCKS * MailboxBlock::DATA;

/// What goes into a slot.
pub struct Request<'a> {
    /// Fixed part of the input.
    pub input: &'a [u8],
    /// What follows the fixed part of the input.
    pub tail: &'a [u8],
    /// Bytes of output that there is room for.
    pub output_length: usize,
    /// Token of the command; not 0.
    pub token: u8,
}

impl<'a> Request<'a> {
    /// Bytes of input; [`None`] for more than there can be.
    pub fn input_length(&self) -> Option<usize> {
        self.input.len().checked_add(self.tail.len())
    }

    /// The input, to be taken from front to back: first by [`entry`](Self::entry), then by the
    /// blocks.
    pub fn data(&self) -> Parts<'a> {
        Parts {
            first: self.input,
            second: self.tail,
        }
    }

    /// Makes the entry, without pointers and unsigned, and takes its part of the input out of
    /// `data`. Both lengths are at most what a slot has room for.
    pub fn entry(&self, data: &mut Parts<'_>) -> Entry {
        let mut inline = [0; Entry::INLINE];
        let input_length = data.len();
        data.take(&mut inline);

        let mut entry = Entry::new();
        entry
            .set_type_(Entry::TYPE_PCI)
            // CAST: Both are at most the capacity of a slot.
            .set_input_length(input_length as u32)
            .set_output_length(self.output_length as u32)
            .set_command_input_inline_data(&inline)
            .set_token(self.token);
        entry
    }

    /// Makes block `number` of a chain, signed, and takes its part out of `data`. `next` is the
    /// address of the next block; 0 if this is the last.
    pub fn block(&self, number: u32, next: u64, data: &mut Parts<'_>) -> MailboxBlock {
        let mut chunk = [0; MailboxBlock::DATA];
        data.take(&mut chunk);

        let mut block = MailboxBlock::new();
        block
            .set_next(next)
            .set_mailbox_data(&chunk)
            .set_block_number(number)
            .set_token(self.token)
            .sign();
        block
    }
}

/// Two slices that are read as one.
pub struct Parts<'a> {
    first: &'a [u8],
    second: &'a [u8],
}

impl Parts<'_> {
    /// Nothing: what the blocks of an output are sent with.
    pub const fn none() -> Self {
        Self {
            first: &[],
            second: &[],
        }
    }

    /// Bytes that are left.
    fn len(&self) -> usize {
        self.first.len().saturating_add(self.second.len())
    }

    /// Moves the next bytes into `to`; what is left of it stays as it is.
    fn take(&mut self, mut to: &mut [u8]) {
        for part in [&mut self.first, &mut self.second] {
            let count = part.len().min(to.len());
            let (now, later) = part.split_at(count);
            let (room, rest) = take(&mut to).split_at_mut(count);
            room.copy_from_slice(now);
            *part = later;
            to = rest;
        }
    }
}

/// Parts of an output that are looked at for flaws.
#[derive(Clone, Copy)]
pub struct Checks {
    /// The device signs its outputs.
    pub signatures: bool,
}

/// A flaw of an output.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Flaw {
    /// The entry's token has changed.
    EntryToken,
    /// The entry's signature does not fit.
    EntrySignature,
    /// A mailbox block's token is not the entry's.
    BlockToken,
    /// A mailbox block's number is not its place in the chain.
    BlockNumber,
    /// A mailbox block's signature does not fit.
    BlockSignature,
}

impl Flaw {
    /// The flaw in words.
    pub const fn name(self) -> &'static str {
        match self {
            Flaw::EntryToken => "the entry came back with another token",
            Flaw::EntrySignature => "the signature of the entry does not fit",
            Flaw::BlockToken => "an output mailbox has another token",
            Flaw::BlockNumber => "an output mailbox has another block number",
            Flaw::BlockSignature => "the signature of an output mailbox does not fit",
        }
    }
}

/// An output that is being put together: the entry first, then the blocks in their order.
///
/// It is copied as far as it goes also if a flaw is found, so that it can be shown.
pub struct Incoming<'a> {
    first: &'a mut [u8],
    second: &'a mut [u8],
    token: u8,
    checks: Checks,
    flaw: Option<Flaw>,
}

impl<'a> Incoming<'a> {
    /// Begins with nothing of `output`, and of the `tail` behind it.
    pub fn new(token: u8, checks: Checks, output: &'a mut [u8], tail: &'a mut [u8]) -> Self {
        Self {
            first: output,
            second: tail,
            token,
            checks,
            flaw: None,
        }
    }

    /// Takes in the entry.
    pub fn entry(&mut self, entry: &Entry) {
        self.note(entry.token() != self.token, Flaw::EntryToken);
        self.note(
            self.checks.signatures && !entry.is_signed(),
            Flaw::EntrySignature,
        );
        self.put(entry.command_output_inline_data());
    }

    /// Takes in block `number`.
    pub fn block(&mut self, number: u32, block: &MailboxBlock) {
        self.note(block.token() != self.token, Flaw::BlockToken);
        self.note(block.block_number() != number, Flaw::BlockNumber);
        self.note(
            self.checks.signatures && !block.is_signed(),
            Flaw::BlockSignature,
        );
        self.put(block.mailbox_data());
    }

    /// The first flaw that was found.
    pub fn flaw(&self) -> Option<Flaw> {
        self.flaw
    }

    fn note(&mut self, condition: bool, flaw: Flaw) {
        if condition && self.flaw.is_none() {
            self.flaw = Some(flaw);
        }
    }

    /// Writes `from` behind what is there already, as far as there is room.
    fn put(&mut self, mut from: &[u8]) {
        for part in [&mut self.first, &mut self.second] {
            let count = part.len().min(from.len());
            let (now, later) = from.split_at(count);
            let (room, rest) = take(part).split_at_mut(count);
            room.copy_from_slice(now);
            *part = rest;
            from = later;
        }
    }
}
