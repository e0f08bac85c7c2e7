// SPDX-License-Identifier: GPL-2.0

//! The slots with those who wait for them: what of the queue can be shared beyond the binding.

use crate::{
    device::{
        State,
        Waiter, //
    },
    kernel_ext::{
        clock,
        completion::Completion,
        wait::WaitQueue, //
    },
    prm::opcode::Opcode,
};
use core::fmt;
use kernel::{
    new_spinlock,
    prelude::*,
    sync::{
        atomic::{
            Atomic,
            Relaxed, //
        },
        Arc,
        SpinLock, //
    },
    time::Delta, //
};

use super::slots::{
    Flight,
    Kind,
    Slot,
    Slots,
    Verdict,
    MAX, //
};

/// The slots of a queue, their waiters, and what was counted about them.
#[pin_data]
pub(super) struct Book {
    #[pin]
    slots: SpinLock<Slots>,
    done: KVec<Arc<Completion>>,
    #[pin]
    freed: WaitQueue,
    /// Completions of commands that had timed out.
    late: Atomic<u64>,
    /// Completions that belong to no command.
    spurious: Atomic<u64>,
    /// Commands that were done without an event.
    lost_events: Atomic<u64>,
    /// Commands that were given up.
    timed_out: Atomic<u64>,
}

impl Book {
    /// Makes the book of a queue that is still to be made.
    pub(super) fn new() -> impl PinInit<Self, Error> {
        try_pin_init!(Self {
            slots <- new_spinlock!(Slots::new(MAX).ok_or(EINVAL)?),
            done: {
                let mut done = KVec::with_capacity(MAX, GFP_KERNEL)?;
                for _ in 0..MAX {
                    done.push(Arc::pin_init(Completion::new(), GFP_KERNEL)?, GFP_KERNEL)?;
                }
                done
            },
            freed <- WaitQueue::new(),
            late: Atomic::new(0),
            spurious: Atomic::new(0),
            lost_events: Atomic::new(0),
            timed_out: Atomic::new(0),
        })
    }

    /// Begins anew with `count` free slots; what was counted stays.
    ///
    /// Nobody may have a slot of the queue before.
    ///
    /// # Errors
    ///
    /// [`EINVAL`] for a count that a queue cannot have.
    pub(super) fn restart(&self, count: usize) -> Result {
        *self.slots.lock() = Slots::new(count).ok_or(EINVAL)?;
        Ok(())
    }

    /// Claims a slot of the kind, waiting for one at most as long as `limit`.
    ///
    /// Returns [`None`] when the time is over or the function is not alive any more.
    pub(super) fn claim(&self, kind: Kind, state: &State, limit: Delta) -> Option<usize> {
        let mut slot = None;

        self.freed.wait_idle(limit, || {
            if slot.is_none() {
                slot = self.slots.lock().claim(kind);
            }
            slot.is_some() || !state.is_alive()
        });

        // Nobody completes a slot that is claimed but not launched: nothing is lost here.
        if let Some(done) = slot.and_then(|slot| self.done.get(slot)) {
            done.reinit();
        }
        slot
    }

    /// Notes that the entry of a claimed slot is the device's from `now_us` on.
    pub(super) fn launch(&self, slot: usize, opcode: Opcode, now_us: u64) {
        self.slots.lock().launch(slot, opcode, now_us);
    }

    /// Gives a slot back.
    pub(super) fn release(&self, slot: usize) {
        self.slots.lock().release(slot);
        self.freed.wake_all();
    }

    /// Quarantines a slot: its waiter goes, but the device still has its memory.
    pub(super) fn give_up(&self, slot: usize) {
        self.timed_out.fetch_add(1, Relaxed);
        self.slots.lock().time_out(slot);
    }

    /// Waits for the completion of a slot, at most as long as `limit`; whether it came.
    pub(super) fn wait(&self, slot: usize, limit: Delta) -> bool {
        self.done
            .get(slot)
            .is_some_and(|done| done.wait_timeout(limit))
    }

    /// Notes that a command was found done without an event.
    pub(super) fn lost_event(&self) {
        self.lost_events.fetch_add(1, Relaxed);
    }

    /// Number of commands that were found done without an event.
    pub(super) fn lost_events(&self) -> u64 {
        self.lost_events.load(Relaxed)
    }

    /// Takes a completion of slot `slot`, whose entry is software's again if `done`.
    ///
    /// Returns the command, if it had timed out.
    pub(super) fn complete(&self, slot: usize, done: bool) -> Option<Flight> {
        // The waiter is woken under the lock: until it has given the slot back, which takes the
        // lock, nobody else can have claimed it and be mistaken for it.
        let mut slots = self.slots.lock();

        match slots.complete(slot, done) {
            Verdict::Wake => {
                if let Some(done) = self.done.get(slot) {
                    done.complete();
                }
                None
            }
            Verdict::Late(flight) => {
                drop(slots);
                self.late.fetch_add(1, Relaxed);
                self.freed.wake_all();
                Some(flight)
            }
            Verdict::Spurious => {
                self.spurious.fetch_add(1, Relaxed);
                None
            }
        }
    }

    /// Number of slots.
    pub(super) fn count(&self) -> usize {
        self.slots.lock().count()
    }

    /// Number of quarantined slots.
    pub(super) fn quarantined(&self) -> usize {
        self.slots.lock().quarantined()
    }

    /// Calls `each` for every slot that the device has, with the slot's state at that time.
    pub(super) fn each_outstanding(&self, mut each: impl FnMut(usize, Slot)) {
        for index in 0..self.count() {
            // One lock for each slot: what `each` does is not done under a spinlock.
            let found = self
                .slots
                .lock()
                .outstanding()
                .find(|(slot, _)| *slot == index);
            if let Some((slot, state)) = found {
                each(slot, state);
            }
        }
    }

    /// Age of the oldest command that the device has, in microseconds.
    pub(crate) fn oldest_us(&self) -> Option<u64> {
        let now = clock::monotonic_us();

        self.slots
            .lock()
            .outstanding()
            .filter_map(|(_, slot)| match slot {
                Slot::InFlight(flight) => Some(now.saturating_sub(flight.since_us)),
                _ => None,
            })
            .max()
    }

    /// Prints the counters, as `name: value` lines.
    pub(super) fn show(&self, w: &mut dyn fmt::Write) -> fmt::Result {
        let mut in_flight = 0;
        self.each_outstanding(|_, slot| in_flight += u32::from(matches!(slot, Slot::InFlight(_))));

        writeln!(w, "slots: {}", self.count())?;
        writeln!(w, "slots_in_flight: {in_flight}")?;
        writeln!(w, "slots_quarantined: {}", self.quarantined())?;
        writeln!(w, "timed_out: {}", self.timed_out.load(Relaxed))?;
        writeln!(w, "late_completions: {}", self.late.load(Relaxed))?;
        writeln!(w, "spurious_completions: {}", self.spurious.load(Relaxed))?;
        writeln!(w, "lost_events: {}", self.lost_events.load(Relaxed))?;
        writeln!(w, "oldest_us: {}", self.oldest_us().unwrap_or(0))
    }

    /// Prints the commands that the device has, a line each.
    pub(super) fn show_outstanding(&self, w: &mut dyn fmt::Write) -> fmt::Result {
        let now = clock::monotonic_us();
        let mut result = writeln!(w, "# slot age_us state command");

        self.each_outstanding(|index, slot| {
            let (word, flight) = match slot {
                Slot::InFlight(flight) => ("in_flight", flight),
                Slot::Quarantined(flight) => ("quarantined", flight),
                Slot::Free | Slot::Claimed => return,
            };
            let age = now.saturating_sub(flight.since_us);
            if result.is_ok() {
                result = writeln!(w, "{index} {age} {word} {}", flight.opcode);
            }
        });
        result
    }
}

impl Waiter for Book {
    fn wake(&self) {
        for done in &self.done {
            done.complete();
        }
        self.freed.wake_all();
    }
}
