// SPDX-License-Identifier: GPL-2.0

//! Whether the function is alive, shared by those who find out and those who wait for it.

use crate::kernel_ext::fmt::kernel_display;
use core::fmt;
use kernel::{
    new_mutex,
    prelude::*,
    sync::{
        atomic::{
            Acquire,
            Atomic,
            Relaxed,
            Release, //
        },
        Arc,
        Mutex, //
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
}

impl Reason {
    /// The reason in words.
    pub(crate) const fn name(self) -> &'static str {
        match self {
            Reason::Stalled => "the health counter stands still",
            Reason::Syndrome => "firmware reports a syndrome and asks for a reset",
            Reason::Disabled => "the function is disabled (nic_interface=1)",
            Reason::Reset => "the function is being reset (nic_interface=7)",
            Reason::Silent => "commands do not come back",
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

/// Somebody whose waits end when the condition changes for the worse.
pub(crate) trait Waiter: Send + Sync {
    /// Wakes all that wait, so that they look at the condition.
    ///
    /// Must not take a lock that one who waits may hold: the health thread calls this.
    fn wake(&self);
}

/// The condition of one function, and those who want to know when it gets worse.
#[pin_data]
pub(crate) struct State {
    raw: Atomic<u32>,
    #[pin]
    waiters: Mutex<KVec<Arc<dyn Waiter>>>,
}

impl State {
    /// Makes the state of a function that is alive, as far as is known.
    pub(crate) fn new() -> impl PinInit<Self> {
        pin_init!(Self {
            raw: Atomic::new(Condition::ALIVE),
            waiters <- new_mutex!(KVec::new()),
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

    /// Notes a worse condition and wakes all waiters; returns whether this changed anything.
    ///
    /// A function gets from alive to fatal or gone, and from fatal to gone, not back: only a new
    /// start makes it alive, with a new state.
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

        for waiter in self.waiters.lock().iter() {
            waiter.wake();
        }
        true
    }

    /// Adds a waiter, which is kept as long as the state.
    ///
    /// # Errors
    ///
    /// [`ENOMEM`] without memory.
    pub(crate) fn add_waiter(&self, waiter: Arc<dyn Waiter>) -> Result {
        self.waiters.lock().push(waiter, GFP_KERNEL)?;
        Ok(())
    }
}
