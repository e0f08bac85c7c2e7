// SPDX-License-Identifier: GPL-2.0

//! Whose the entries of an event queue are.
//!
//! The queue is a ring of 2^n entries. Software counts the entries it has taken; the device writes
//! the owner bit of an entry as the number of times it has gone around, modulo 2, so that an entry
//! is new exactly if that bit equals bit n of the count. Before the first use all owner bits are 1,
//! which is what no entry of the first round has.

/// Where software is in the ring.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Ring {
    log_size: u8,
    taken: u64,
}

impl Ring {
    /// The start of a ring of 2^`log_size` entries; `log_size` is at most 22.
    pub const fn new(log_size: u8) -> Option<Self> {
        if log_size > 22 {
            return None;
        }
        Some(Self { log_size, taken: 0 })
    }

    /// Number of entries of the ring.
    pub const fn size(&self) -> u64 {
        1 << self.log_size
    }

    /// log2 of the number of entries.
    pub const fn log_size(&self) -> u8 {
        self.log_size
    }

    /// Number of entries taken since the start; the doorbell holds its low 24 bits.
    pub const fn taken(&self) -> u64 {
        self.taken
    }

    /// Index of the entry that is looked at next.
    pub const fn index(&self) -> usize {
        // CAST: A ring has at most 2^22 entries.
        (self.taken % self.size()) as usize
    }

    /// Whether that entry is new, given its owner bit.
    pub const fn is_new(&self, owner: bool) -> bool {
        let round = (self.taken >> self.log_size) % 2 == 1;

        owner == round
    }

    /// Takes the entry.
    pub fn advance(&mut self) {
        self.taken = self.taken.wrapping_add(1);
    }
}
