// SPDX-License-Identifier: GPL-2.0

//! Moving commands into, and results out of, the memory that is shared with the device.
//!
//! Each slot has its entry in the queue page and its mailbox blocks, one after the other, in a
//! block of memory of its own: first those of the input, then those of the output. They are
//! allocated and linked once; sending a command only fills them. Who may touch them follows from
//! the slot's state (see [`slots`](super::slots)): the one who has claimed it, until it is
//! launched, and again when the device has given the entry back.

use crate::{
    kernel_ext::{
        dma::{
            self,
            Shared, //
        },
        scope::Scope, //
    },
    prm::{
        layout::Layout,
        queue::{
            blocks,
            Entry,
            MailboxBlock, //
        },
    },
};
use kernel::prelude::*;
use zerocopy::{
    FromZeros,
    IntoBytes, //
};

use super::message::{
    Checks,
    Flaw,
    Incoming,
    Parts,
    Request,
    ORDINARY_BLOCKS, //
};

/// Blocks of input, and of output, that the page slot has: enough for 768 page addresses.
const PAGE_BLOCKS: usize = 12;

/// The queue page and all mailboxes.
pub(super) struct Memory<'bound> {
    entries: Shared<'bound>,
    mailboxes: KVec<Shared<'bound>>,
    stride: usize,
}

impl<'bound> Memory<'bound> {
    /// Allocates the memory of `slots` slots whose entries are `stride` bytes apart.
    ///
    /// # Errors
    ///
    /// [`ENOMEM`] without memory.
    pub(super) fn new(scope: Scope<'bound>, slots: usize, stride: usize) -> Result<Self> {
        let mut mailboxes = KVec::with_capacity(slots, GFP_KERNEL)?;

        for slot in 0..slots {
            let blocks = blocks_of(slot, slots);
            let memory = Shared::zeroed(scope, blocks * 2 * MailboxBlock::ALIGNMENT)?;
            mailboxes.push(memory, GFP_KERNEL)?;
        }

        Ok(Self {
            entries: Shared::zeroed(scope, dma::PAGE_SIZE)?,
            mailboxes,
            stride,
        })
    }

    /// Address of the queue page, as the device knows it.
    pub(super) fn address(&self) -> Result<u64> {
        self.entries.dma_address(0)
    }

    /// Bytes of input, and of output, that a slot holds.
    pub(super) fn capacity(&self, slot: usize) -> usize {
        Entry::INLINE + blocks_of(slot, self.mailboxes.len()) * MailboxBlock::DATA
    }

    /// Writes a command into a claimed slot and hands the entry over to the device.
    ///
    /// # Errors
    ///
    /// [`E2BIG`] if input or output exceed [`capacity`](Self::capacity); the entry is not handed
    /// over.
    pub(super) fn send(&self, slot: usize, request: &Request<'_>) -> Result {
        let input_length = request.input_length().ok_or(E2BIG)?;
        if input_length.max(request.output_length) > self.capacity(slot) {
            return Err(E2BIG);
        }

        let mut data = request.data();
        let mut entry = request.entry(&mut data);
        let first_output = blocks_of(slot, self.mailboxes.len());
        entry.set_input_mailbox(self.write_chain(slot, 0, input_length, request, &mut data)?);
        entry.set_output_mailbox(self.write_chain(
            slot,
            first_output,
            request.output_length,
            request,
            &mut Parts::none(),
        )?);
        entry.set_ownership(true).sign();

        let at = self.entry_offset(slot)?;
        let bytes = entry.as_bytes();
        let (body, ownership) = bytes
            .split_at_checked(Entry::OWNERSHIP_BYTE)
            .ok_or(EINVAL)?;
        self.entries.write_bytes(at, body)?;

        // The device may look at the entry as soon as it sees the ownership bit: everything else
        // must be there before. Pairs with the device's read of the entry.
        dma::dma_wmb();
        self.entries.write_u8(
            at + Entry::OWNERSHIP_BYTE,
            ownership.first().copied().unwrap_or(1),
        )?;

        // And the ownership bit before the doorbell, which the caller rings next.
        dma::dma_wmb();
        Ok(())
    }

    /// Whether the entry of a slot is software's.
    #[inline]
    pub(super) fn is_done(&self, slot: usize) -> bool {
        let byte = self
            .entry_offset(slot)
            .and_then(|at| self.entries.read_u8(at + Entry::OWNERSHIP_BYTE));

        byte.is_ok_and(|byte| byte & 1 == 0)
    }

    /// Reads the entry of a slot that is done.
    pub(super) fn entry(&self, slot: usize) -> Result<Entry> {
        // The output was written before the ownership bit was cleared: read it after having seen
        // that. Pairs with the device's order of writes.
        dma::dma_rmb();

        let mut entry = Entry::new_zeroed();
        self.entries
            .read_bytes(self.entry_offset(slot)?, entry.as_mut_bytes())?;
        Ok(entry)
    }

    /// Copies the output of a slot that is done: its fixed part, then the tail.
    ///
    /// The output is copied as far as it goes also if a flaw is found, so that it can be shown.
    pub(super) fn receive(
        &self,
        slot: usize,
        entry: &Entry,
        token: u8,
        checks: Checks,
        output: &mut [u8],
        tail: &mut [u8],
    ) -> Result<Option<Flaw>> {
        let length = output.len() + tail.len();
        let mut incoming = Incoming::new(token, checks, output, tail);
        incoming.entry(entry);

        let memory = self.mailboxes.get(slot).ok_or(EINVAL)?;
        let first = blocks_of(slot, self.mailboxes.len());
        for number in 0..blocks(length) {
            let at = (first + number) * MailboxBlock::ALIGNMENT;
            let mut block = MailboxBlock::new_zeroed();
            memory.read_bytes(at, block.as_mut_bytes())?;
            // CAST: A slot has a handful of blocks.
            incoming.block(number as u32, &block);
        }

        Ok(incoming.flaw())
    }

    /// Fills the chain of blocks that begins with `first` and gives its address; 0 if none is
    /// needed.
    fn write_chain(
        &self,
        slot: usize,
        first: usize,
        length: usize,
        request: &Request<'_>,
        data: &mut Parts<'_>,
    ) -> Result<u64> {
        let memory = self.mailboxes.get(slot).ok_or(EINVAL)?;
        let count = blocks(length);
        if count == 0 {
            return Ok(0);
        }

        for number in 0..count {
            let at = (first + number) * MailboxBlock::ALIGNMENT;
            let next = if number + 1 < count {
                memory.dma_address(at + MailboxBlock::ALIGNMENT)?
            } else {
                0
            };
            // CAST: A slot has a handful of blocks.
            let block = request.block(number as u32, next, data);
            memory.write_bytes(at, block.as_bytes())?;
        }

        memory.dma_address(first * MailboxBlock::ALIGNMENT)
    }

    fn entry_offset(&self, slot: usize) -> Result<usize> {
        slot.checked_mul(self.stride).ok_or(ERANGE)
    }
}

/// Blocks of input, and of output, that a slot has.
const fn blocks_of(slot: usize, slots: usize) -> usize {
    if slot + 1 == slots {
        PAGE_BLOCKS
    } else {
        ORDINARY_BLOCKS
    }
}

const _: () = assert!(MailboxBlock::TABLE.size <= MailboxBlock::ALIGNMENT);
