// SPDX-License-Identifier: GPL-2.0

//! The commands that the device has, for those who must not wait for a lock of the command
//! interface: what hangs is told by the health thread, whatever hangs.

use crate::prm::opcode::Opcode;
use kernel::{
    prelude::*,
    sync::atomic::{
        Acquire,
        Atomic,
        Full,
        Relaxed,
        Release, //
    }, //
};

/// Slots that a command queue can have: one bit of the doorbell each.
pub(crate) const SLOTS: usize = 32;

/// A command that the device has.
#[derive(Clone, Copy)]
pub(crate) struct Outstanding {
    /// Its slot.
    pub(crate) slot: usize,
    /// Its operation code.
    pub(crate) opcode: Opcode,
    /// When its doorbell was rung, in microseconds of the monotonic clock.
    pub(crate) since_us: u64,
    /// Whether its waiter gave up.
    pub(crate) given_up: bool,
}

/// One slot: `since_us` is 0 while the device does not have it.
struct Place {
    since_us: Atomic<u64>,
    opcode: Atomic<u32>,
}

/// The commands that the device has.
///
/// One who claims a slot is its only writer until the slot is free again; any number read. Nobody
/// takes a lock.
pub(crate) struct OutstandingTable {
    places: KVec<Place>,
    given_up: Atomic<u32>,
}

impl OutstandingTable {
    /// Makes a table without commands.
    ///
    /// # Errors
    ///
    /// [`ENOMEM`] without memory.
    pub(super) fn new() -> Result<Self> {
        let mut places = KVec::with_capacity(SLOTS, GFP_KERNEL)?;

        for _ in 0..SLOTS {
            places.push(
                Place {
                    since_us: Atomic::new(0),
                    opcode: Atomic::new(0),
                },
                GFP_KERNEL,
            )?;
        }
        Ok(Self {
            places,
            given_up: Atomic::new(0),
        })
    }

    /// Notes that the device has a command from `now_us` on.
    pub(crate) fn begin(&self, slot: usize, opcode: Opcode, now_us: u64) {
        let Some(place) = self.places.get(slot) else {
            return;
        };
        self.mark(slot, false);
        place.opcode.store(u32::from(opcode.0), Relaxed);
        // The opcode is there for whoever sees the time: see `get()`.
        place.since_us.store(now_us.max(1), Release);
    }

    /// Notes that nobody waits for the command any more.
    pub(crate) fn give_up(&self, slot: usize) {
        self.mark(slot, true);
    }

    /// Notes that the device does not have the command any more.
    pub(crate) fn end(&self, slot: usize) {
        if let Some(place) = self.places.get(slot) {
            place.since_us.store(0, Release);
        }
        self.mark(slot, false);
    }

    /// The commands that the device has now, by slot.
    pub(crate) fn iter(&self) -> impl Iterator<Item = Outstanding> + '_ {
        (0..self.places.len()).filter_map(|slot| self.get(slot))
    }

    /// When the oldest of the commands that somebody waits for was sent, in microseconds of the
    /// monotonic clock.
    pub(crate) fn oldest_us(&self) -> Option<u64> {
        self.iter()
            .filter(|command| !command.given_up)
            .map(|command| command.since_us)
            .min()
    }

    /// Forgets all commands.
    pub(super) fn clear(&self) {
        (0..self.places.len()).for_each(|slot| self.end(slot));
    }

    fn get(&self, slot: usize) -> Option<Outstanding> {
        let place = self.places.get(slot)?;
        // Pairs with `begin()`.
        let since_us = place.since_us.load(Acquire);
        if since_us == 0 {
            return None;
        }

        Some(Outstanding {
            slot,
            // CAST: Only opcodes, of 16 bits, are stored.
            opcode: Opcode(place.opcode.load(Relaxed) as u16),
            since_us,
            given_up: self.given_up.load(Relaxed) & bit(slot) != 0,
        })
    }

    fn mark(&self, slot: usize, given_up: bool) {
        let mut old = self.given_up.load(Relaxed);

        loop {
            let new = if given_up {
                old | bit(slot)
            } else {
                old & !bit(slot)
            };
            match self.given_up.cmpxchg(old, new, Full) {
                Ok(_) => return,
                Err(now) => old = now,
            }
        }
    }
}

/// The bit of a slot; none for a slot that cannot be.
fn bit(slot: usize) -> u32 {
    u32::try_from(slot)
        .ok()
        .and_then(|slot| 1u32.checked_shl(slot))
        .unwrap_or(0)
}
