// SPDX-License-Identifier: GPL-2.0

//! The slots of the command queue, and who has them.
//!
//! A slot goes around as follows; what is not in the table cannot happen, and is counted where the
//! device says that it did.
//!
//! | state | event | next | meaning |
//! |---|---|---|---|
//! | free | claim | claimed | a command is being written into the slot |
//! | claimed | launch | in flight | the entry is the device's; the doorbell follows |
//! | claimed | release | free | the command could not be written |
//! | in flight | completion | in flight | its waiter is woken and releases it |
//! | in flight | release | free | the waiter has read the output |
//! | in flight | time-out | quarantined | entry and mailboxes stay the device's |
//! | quarantined | completion | free | late, but harmless |
//!
//! A completion for a slot that is not in flight, or whose entry is still the device's, is
//! spurious: a doubled event, or a wrong bit. The last slot is for page commands only, so that
//! pages can be given while all others wait for them.

use crate::prm::opcode::Opcode;

/// Most slots that a command queue can have: one page of entries, one bit of the doorbell each.
pub const MAX: usize = 32;

/// Which slots a command may use.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Kind {
    /// All but the last.
    Ordinary,
    /// The last.
    Pages,
}

/// State of a slot.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Slot {
    /// Nobody's.
    Free,
    /// A command is being written into it.
    Claimed,
    /// The device has it.
    InFlight(Flight),
    /// The device has it, and its waiter has gone.
    Quarantined(Flight),
}

/// A command that the device has.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Flight {
    /// Its operation code.
    pub opcode: Opcode,
    /// When it was launched, in microseconds of the monotonic clock.
    pub since_us: u64,
}

/// What a completion means.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Verdict {
    /// The waiter shall be woken.
    Wake,
    /// A command that had timed out; its slot is free again.
    Late(Flight),
    /// No command of ours is finished there.
    Spurious,
}

/// The slots of one queue.
pub struct Slots {
    slots: [Slot; MAX],
    count: usize,
}

impl Slots {
    /// Makes `count` free slots, 2 to [`MAX`]: fewer leave no ordinary one.
    pub const fn new(count: usize) -> Option<Self> {
        if count < 2 || count > MAX {
            return None;
        }
        Some(Self {
            slots: [Slot::Free; MAX],
            count,
        })
    }

    /// Number of slots.
    pub const fn count(&self) -> usize {
        self.count
    }

    /// The slots that the device has, with their index.
    pub fn outstanding(&self) -> impl Iterator<Item = (usize, Slot)> + '_ {
        self.slots
            .iter()
            .take(self.count)
            .copied()
            .enumerate()
            .filter(|(_, slot)| matches!(slot, Slot::InFlight(_) | Slot::Quarantined(_)))
    }

    /// Number of slots that are quarantined.
    pub fn quarantined(&self) -> usize {
        self.slots
            .iter()
            .filter(|slot| matches!(slot, Slot::Quarantined(_)))
            .count()
    }

    /// Takes a free slot of the kind, if there is one.
    pub fn claim(&mut self, kind: Kind) -> Option<usize> {
        let last = self.count - 1;
        let (from, to) = match kind {
            Kind::Ordinary => (0, last),
            Kind::Pages => (last, self.count),
        };

        let (index, slot) = self
            .slots
            .iter_mut()
            .enumerate()
            .take(to)
            .skip(from)
            .find(|(_, slot)| **slot == Slot::Free)?;
        *slot = Slot::Claimed;
        Some(index)
    }

    /// Notes that the entry of a claimed slot is the device's now.
    pub fn launch(&mut self, index: usize, opcode: Opcode, now_us: u64) {
        if let Some(slot @ Slot::Claimed) = self.slots.get_mut(index) {
            *slot = Slot::InFlight(Flight {
                opcode,
                since_us: now_us,
            });
        }
    }

    /// Gives back a slot that is claimed, or whose command is done.
    pub fn release(&mut self, index: usize) {
        if let Some(slot @ (Slot::Claimed | Slot::InFlight(_))) = self.slots.get_mut(index) {
            *slot = Slot::Free;
        }
    }

    /// Quarantines a slot whose waiter gives up.
    pub fn time_out(&mut self, index: usize) {
        if let Some(slot) = self.slots.get_mut(index) {
            if let Slot::InFlight(flight) = *slot {
                *slot = Slot::Quarantined(flight);
            }
        }
    }

    /// Judges a completion of slot `index`; `done` says whether the entry is software's again.
    pub fn complete(&mut self, index: usize, done: bool) -> Verdict {
        if index >= self.count || !done {
            return Verdict::Spurious;
        }
        match self.slots.get_mut(index) {
            Some(Slot::InFlight(_)) => Verdict::Wake,
            Some(slot @ Slot::Quarantined(_)) => {
                let Slot::Quarantined(flight) = core::mem::replace(slot, Slot::Free) else {
                    return Verdict::Spurious;
                };
                Verdict::Late(flight)
            }
            _ => Verdict::Spurious,
        }
    }
}
