// SPDX-License-Identifier: GPL-2.0

//! Whether the function is alive and well, shared by those who find out and those who wait for it.

use super::{
    change::{
        Change,
        Status,
        What, //
    },
    condition::{
        Condition,
        Reason, //
    },
    degradation::{
        Degradation,
        Degradations, //
    },
    outstanding::OutstandingTable, //
};
use crate::kernel_ext::{
    clock,
    fmt::kernel_display,
    ring::Ring, //
};
use kernel::{
    new_spinlock,
    prelude::*,
    sync::{
        atomic::{
            Acquire,
            Atomic,
            Full,
            Relaxed,
            Release, //
        },
        Arc,
        SpinLock, //
    },
};

/// Changes that are kept.
const KEPT: usize = 64;

kernel_display!(Condition);

/// Somebody who wants to know when the state changes.
///
/// Both methods are called under a spinlock, and must only wake: whoever finds a change calls them,
/// the health thread among others, which waits for nobody.
pub(crate) trait Waiter: Send + Sync {
    /// The condition got worse: wakes all that wait, so that they look at it.
    fn wake(&self);

    /// Anything has changed, the condition or what the function suffers from.
    fn changed(&self) {}
}

/// A waiter that is told of changes until this is dropped.
pub(crate) struct Registration {
    state: Arc<State>,
    waiter: Arc<dyn Waiter>,
}

impl Drop for Registration {
    fn drop(&mut self) {
        let mut waiters = self.state.waiters.lock();
        let mut gone = None;
        if let Some(at) = waiters
            .iter()
            .position(|waiter| Arc::ptr_eq(waiter, &self.waiter))
        {
            gone = waiters.remove(at).ok();
        }
        drop(waiters);
        // Not under the lock: it may be the last reference.
        drop(gone);
    }
}

/// Waiters that a state has room for: the command queue, the health thread, the recovery, and some.
const WAITERS: usize = 8;

/// The condition of one function, and those who want to know when it changes.
///
/// It lives as long as the driver is bound: a recovery makes a dead function alive again.
#[pin_data]
pub(crate) struct State {
    raw: Atomic<u32>,
    degradations: Atomic<u32>,
    recovering: Atomic<bool>,
    outstanding: OutstandingTable,
    #[pin]
    changes: SpinLock<Ring<Change, KVec<Change>>>,
    #[pin]
    waiters: SpinLock<KVec<Arc<dyn Waiter>>>,
}

impl State {
    /// Makes the state of a function that is alive and well, as far as is known.
    ///
    /// # Errors
    ///
    /// [`ENOMEM`] without memory.
    pub(crate) fn new() -> impl PinInit<Self, Error> {
        try_pin_init!(Self {
            raw: Atomic::new(Condition::ALIVE),
            degradations: Atomic::new(0),
            recovering: Atomic::new(false),
            outstanding: OutstandingTable::new()?,
            changes <- new_spinlock!(Ring::new(KVec::from_elem(Change::EMPTY, KEPT, GFP_KERNEL)?)),
            waiters <- new_spinlock!(KVec::with_capacity(WAITERS, GFP_KERNEL)?),
        })
    }

    /// The condition now.
    pub(crate) fn condition(&self) -> Condition {
        Condition::from_raw(self.raw.load(Acquire))
    }

    /// Whether commands may be sent.
    pub(crate) fn is_alive(&self) -> bool {
        self.condition() == Condition::Alive
    }

    /// What the function suffers from now.
    pub(crate) fn degradations(&self) -> Degradations {
        Degradations::from_bits(self.degradations.load(Relaxed))
    }

    /// Whether a recovery is under way.
    pub(crate) fn is_recovering(&self) -> bool {
        self.recovering.load(Relaxed)
    }

    /// How the function does now.
    pub(crate) fn status(&self) -> Status {
        Status {
            condition: self.condition(),
            degradations: self.degradations(),
            recovering: self.is_recovering(),
        }
    }

    /// How many changes there were of the [`status`](Self::status); it never gets less.
    pub(crate) fn sequence(&self) -> u64 {
        self.changes.lock().added()
    }

    /// The numbers of the changes that are still known, from 0 on.
    pub(crate) fn changes(&self) -> core::ops::Range<u64> {
        self.changes.lock().numbers()
    }

    /// A change by its number, if it is still known.
    pub(crate) fn change(&self, number: u64) -> Option<Change> {
        self.changes.lock().get(number)
    }

    /// The commands that the device has.
    pub(crate) fn outstanding(&self) -> &OutstandingTable {
        &self.outstanding
    }

    /// Notes a worse condition and wakes all waiters; returns whether this changed anything.
    ///
    /// A function gets from alive to fatal or gone, and from fatal to gone; only a recovery makes
    /// it alive again, see [`revive`](Self::revive).
    pub(crate) fn worsen(&self, condition: Condition) -> bool {
        let new = condition.into_raw();
        let mut old = self.raw.load(Relaxed);

        loop {
            let worse = match Condition::from_raw(old) {
                Condition::Alive => condition != Condition::Alive,
                Condition::Fatal(_) => condition == Condition::Gone,
                Condition::Gone => false,
            };
            if !worse {
                return false;
            }
            match self.raw.cmpxchg(old, new, Release) {
                Ok(_) => break,
                Err(now) => old = now,
            }
        }
        self.tell_all(What::Worse(condition));
        true
    }

    /// Notes that the function is alive and suffers from nothing: it has been reset, and nothing
    /// of what was before holds.
    pub(crate) fn revive(&self) {
        self.outstanding.clear();
        self.degradations.store(0, Relaxed);
        self.raw.store(Condition::ALIVE, Release);
        self.tell(What::Revived);
    }

    /// What somebody is told who wants to use the function while it cannot be used: [`EAGAIN`] if a
    /// recovery is under way, [`ENODEV`] if the function is gone, or else [`EIO`].
    pub(crate) fn refusal(&self) -> Error {
        if self.is_recovering() {
            EAGAIN
        } else if self.condition() == Condition::Gone {
            ENODEV
        } else {
            EIO
        }
    }

    /// Notes that a recovery did not make the function alive; a worse condition stays.
    pub(crate) fn not_recovered(&self) {
        let new = Condition::Fatal(Reason::NotRecovered).into_raw();
        let mut old = self.raw.load(Relaxed);

        loop {
            if old == Condition::GONE || old == new {
                return;
            }
            match self.raw.cmpxchg(old, new, Full) {
                Ok(_) => break,
                Err(now) => old = now,
            }
        }
        self.tell_all(What::Worse(Condition::Fatal(Reason::NotRecovered)));
    }

    /// Notes that a recovery begins or ends.
    pub(crate) fn set_recovering(&self, recovering: bool) {
        if self.recovering.xchg(recovering, Full) != recovering {
            self.tell(if recovering {
                What::RecoveryBegun
            } else {
                What::RecoveryEnded
            });
        }
    }

    /// Notes that the function suffers from something; returns whether that is new.
    pub(crate) fn degrade(&self, by: Degradation) -> bool {
        self.set(by, true)
    }

    /// Notes that the function does not suffer from something any more; returns whether it did.
    pub(crate) fn mend(&self, from: Degradation) -> bool {
        self.set(from, false)
    }

    /// Adds a waiter, which is told of changes until what is returned is dropped.
    ///
    /// # Errors
    ///
    /// [`ENOSPC`] if there are [`WAITERS`] already.
    pub(crate) fn add_waiter(self: &Arc<Self>, waiter: Arc<dyn Waiter>) -> Result<Registration> {
        self.waiters
            .lock()
            .push_within_capacity(waiter.clone())
            .map_err(|_| ENOSPC)?;
        Ok(Registration {
            state: self.clone(),
            waiter,
        })
    }

    fn set(&self, which: Degradation, holds: bool) -> bool {
        let mut old = self.degradations.load(Relaxed);

        loop {
            let new = if holds {
                old | which.bit()
            } else {
                old & !which.bit()
            };
            if new == old {
                return false;
            }
            match self.degradations.cmpxchg(old, new, Full) {
                Ok(_) => break,
                Err(now) => old = now,
            }
        }
        self.tell(if holds {
            What::Raised(which)
        } else {
            What::Mended(which)
        });
        true
    }

    /// Keeps a change of the condition for the worse, and tells that there is one.
    fn tell_all(&self, what: What) {
        self.keep(what);
        for waiter in self.waiters.lock().iter() {
            waiter.wake();
            waiter.changed();
        }
    }

    /// Keeps a change that was just made.
    fn keep(&self, what: What) {
        let mut changes = self.changes.lock();

        changes.add(Change {
            at_us: clock::monotonic_us(),
            wall: clock::wall_seconds(),
            what,
            status: self.status(),
        });
    }

    /// Keeps a change that was just made, and tells that there is one.
    fn tell(&self, what: What) {
        self.keep(what);
        for waiter in self.waiters.lock().iter() {
            waiter.changed();
        }
    }
}
