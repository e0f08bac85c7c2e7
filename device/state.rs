// SPDX-License-Identifier: GPL-2.0

//! Whether the function is alive and well, shared by those who find out and those who wait for it.

use super::{
    degradation::{
        Degradation,
        Degradations, //
    },
    outstanding::OutstandingTable, //
};
use crate::kernel_ext::fmt::kernel_display;
use core::fmt;
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

/// Why a function is fatal.
#[derive(Clone, Copy, PartialEq, Eq)]
#[repr(u32)]
pub(crate) enum Reason {
    /// The health counter stands still.
    Stalled = 1,
    /// Firmware reports a syndrome and asks for a reset.
    Syndrome = 2,
    /// The nic_interface field says that the function is disabled.
    Disabled = 3,
    /// The nic_interface field says that a reset is under way.
    Reset = 4,
    /// A command that is to stop the function did not come back.
    Silent = 5,
    /// A recovery was tried, and did not bring the function back.
    NotRecovered = 6,
    /// The driver is being unbound while a recovery is under way.
    Unbinding = 7,
}

impl Reason {
    /// The word that programs look for.
    pub(crate) const fn word(self) -> &'static str {
        match self {
            Reason::Stalled => "stalled",
            Reason::Syndrome => "syndrome",
            Reason::Disabled => "disabled",
            Reason::Reset => "reset",
            Reason::Silent => "silent",
            Reason::NotRecovered => "not-recovered",
            Reason::Unbinding => "unbinding",
        }
    }

    /// The reason in words.
    pub(crate) const fn name(self) -> &'static str {
        match self {
            Reason::Stalled => "the health counter stands still",
            Reason::Syndrome => "firmware reports a syndrome and asks for a reset",
            Reason::Disabled => "the function is disabled (nic_interface=1)",
            Reason::Reset => "the function is being reset (nic_interface=7)",
            Reason::Silent => "commands do not come back",
            Reason::NotRecovered => "the recovery did not bring it back",
            Reason::Unbinding => "the driver is being unbound",
        }
    }
}

/// The condition of a function.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) enum Condition {
    /// Commands may be sent.
    Alive,
    /// Firmware cannot be relied on any more: commands would not come back.
    Fatal(Reason),
    /// The device does not answer at all: every read is all ones.
    Gone,
}

impl Condition {
    const ALIVE: u32 = 0;
    const GONE: u32 = u32::MAX;

    const fn into_raw(self) -> u32 {
        match self {
            Condition::Alive => Self::ALIVE,
            // CAST: The discriminants are those of a `repr(u32)`.
            Condition::Fatal(reason) => reason as u32,
            Condition::Gone => Self::GONE,
        }
    }

    const fn from_raw(raw: u32) -> Self {
        match raw {
            Self::ALIVE => Condition::Alive,
            1 => Condition::Fatal(Reason::Stalled),
            2 => Condition::Fatal(Reason::Syndrome),
            3 => Condition::Fatal(Reason::Disabled),
            4 => Condition::Fatal(Reason::Reset),
            5 => Condition::Fatal(Reason::Silent),
            6 => Condition::Fatal(Reason::NotRecovered),
            7 => Condition::Fatal(Reason::Unbinding),
            _ => Condition::Gone,
        }
    }
}

/// Prints `alive`, or `fatal: ` and the reason, or `gone: ` and what that means.
impl fmt::Display for Condition {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Condition::Alive => f.write_str("alive"),
            Condition::Fatal(reason) => write!(f, "fatal: {}", reason.name()),
            Condition::Gone => f.write_str("gone: all reads are ones"),
        }
    }
}

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
    sequence: Atomic<u64>,
    outstanding: OutstandingTable,
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
            sequence: Atomic::new(0),
            outstanding: OutstandingTable::new()?,
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

    /// Grows with every change of what the other methods tell.
    pub(crate) fn sequence(&self) -> u64 {
        self.sequence.load(Relaxed)
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
        self.tell_all();
        true
    }

    /// Notes that the function is alive and suffers from nothing: it has been reset, and nothing
    /// of what was before holds.
    pub(crate) fn revive(&self) {
        self.outstanding.clear();
        self.degradations.store(0, Relaxed);
        self.raw.store(Condition::ALIVE, Release);
        self.tell();
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
        self.tell_all();
    }

    /// Notes that a recovery begins or ends.
    pub(crate) fn set_recovering(&self, recovering: bool) {
        if self.recovering.xchg(recovering, Full) != recovering {
            self.tell();
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
        self.tell();
        true
    }

    /// Tells that the condition got worse.
    fn tell_all(&self) {
        self.sequence.fetch_add(1, Relaxed);
        for waiter in self.waiters.lock().iter() {
            waiter.wake();
            waiter.changed();
        }
    }

    /// Tells that something changed.
    fn tell(&self) {
        self.sequence.fetch_add(1, Relaxed);
        for waiter in self.waiters.lock().iter() {
            waiter.changed();
        }
    }
}
