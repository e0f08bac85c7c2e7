// SPDX-License-Identifier: GPL-2.0

//! The last records of something, numbered.
//!
//! The room is given at the start, so that adding allocates nothing. Nothing here knows the kernel:
//! the file is compiled a second time for tests on the host.

#![allow(
    unreachable_pub,
    reason = "the file is public in the crate on the host that includes it"
)]

use core::{
    marker::PhantomData,
    ops::{
        Deref,
        DerefMut,
        Range, //
    }, //
};

/// A ring that keeps the last records; `S` is what holds them, such as a vector.
///
/// Records are numbered from 0 in the order in which they were added, and keep their number.
pub struct Ring<T, S> {
    slots: S,
    added: u64,
    _records: PhantomData<T>,
}

impl<T, S> Ring<T, S>
where
    T: Copy,
    S: Deref<Target = [T]> + DerefMut,
{
    /// Makes an empty ring; `slots` has as many (arbitrary) records as shall be kept.
    pub fn new(slots: S) -> Self {
        Self {
            slots,
            added: 0,
            _records: PhantomData,
        }
    }

    /// Adds a record, over the oldest one if all slots are taken, and returns its number.
    pub fn add(&mut self, record: T) -> u64 {
        let number = self.added;

        if let Some(slot) = self.index(number).and_then(|i| self.slots.get_mut(i)) {
            *slot = record;
        }
        self.added = self.added.wrapping_add(1);
        number
    }

    /// The numbers of the records that are there.
    pub fn numbers(&self) -> Range<u64> {
        // CAST: A length fits.
        let kept = self.added.min(self.slots.len() as u64);

        self.added - kept..self.added
    }

    /// The record of that number, if it is there.
    pub fn get(&self, number: u64) -> Option<T> {
        if !self.numbers().contains(&number) {
            return None;
        }
        self.index(number).and_then(|i| self.slots.get(i)).copied()
    }

    /// How many records were ever added.
    pub fn added(&self) -> u64 {
        self.added
    }

    fn index(&self, number: u64) -> Option<usize> {
        // CAST: A length fits, and a remainder is less than it.
        number
            .checked_rem(self.slots.len() as u64)
            .map(|index| index as usize)
    }
}
