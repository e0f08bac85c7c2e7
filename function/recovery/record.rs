// SPDX-License-Identifier: GPL-2.0

//! What is known of the attempts, and what was chosen about them; for debugfs and the summary.

use super::{
    attempt::{
        Attempt,
        Why, //
    },
    policy::{
        Plan,
        Row,
        Settings,
        Step, //
    }, //
};
use crate::{
    device::{
        State,
        Waiter, //
    },
    kernel_ext::{
        clock,
        debugfs::Setting,
        ring::Ring,
        signal::Signal,
        wait::WaitQueue, //
    },
};
use core::{
    fmt,
    ops::RangeInclusive, //
};
use kernel::{
    new_mutex,
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
        Mutex, //
    },
    time::Delta, //
};

/// Attempts in a row, unless it is changed.
const LIMIT: u32 = 5;

/// Limits that may be set.
const LIMIT_RANGE: RangeInclusive<u32> = 1..=1000;

/// Time before the first attempt of a row in milliseconds, unless it is changed.
const BACKOFF_MS: u32 = 1_000;

/// Times that may be set.
const BACKOFF_RANGE_MS: RangeInclusive<u32> = 10..=600_000;

/// Attempts that are kept.
const KEPT: usize = 64;

/// How long a wait for an attempt lasts at a time; nothing is done when that is over.
const WAIT: Delta = Delta::from_secs(3600);

/// The only bit of the signal: something has changed.
const CHANGED: u32 = 1;

struct Inner {
    attempts: u64,
    succeeded: u64,
    failed: u64,
    row: Row,
    /// When the next attempt is made.
    due_us: Option<u64>,
    history: Ring<Attempt, KVec<Attempt>>,
}

/// What is known of the attempts.
///
/// Shared by the thread, which writes, and debugfs, which reads, asks for attempts, and changes the
/// settings.
#[pin_data]
pub(in crate::function) struct Record {
    device: Arc<State>,
    /// Wakes the thread.
    #[pin]
    signal: Signal,
    step: Atomic<u32>,
    auto: Atomic<bool>,
    limit: Setting,
    backoff_ms: Setting,
    /// An attempt is wanted or under way.
    busy: Atomic<bool>,
    /// Somebody waits for an attempt that has not begun yet.
    wanted: Atomic<bool>,
    /// Attempts that have ended, and the errno of the last.
    ended: Atomic<u64>,
    errno: Atomic<i32>,
    #[pin]
    waiters: WaitQueue,
    #[pin]
    inner: Mutex<Inner>,
}

impl Record {
    pub(super) fn new(device: Arc<State>, auto: bool) -> impl PinInit<Self, Error> {
        try_pin_init!(Self {
            device,
            signal <- Signal::new(),
            step: Atomic::new(Step::Idle.number()),
            auto: Atomic::new(auto),
            limit: Setting::new(LIMIT, LIMIT_RANGE),
            backoff_ms: Setting::new(BACKOFF_MS, BACKOFF_RANGE_MS),
            busy: Atomic::new(false),
            wanted: Atomic::new(false),
            ended: Atomic::new(0),
            errno: Atomic::new(0),
            waiters <- WaitQueue::new(),
            inner <- new_mutex!(Inner {
                attempts: 0,
                succeeded: 0,
                failed: 0,
                row: Row::default(),
                due_us: None,
                history: Ring::new(KVec::from_elem(Attempt::EMPTY, KEPT, GFP_KERNEL)?),
            }),
        })
    }

    pub(super) fn signal(&self) -> &Signal {
        &self.signal
    }

    /// Ends the thread's waits, and those for attempts.
    pub(super) fn stop(&self) {
        self.signal.stop();
        self.waiters.wake_all();
    }

    /// What is being done, as shown.
    pub(super) fn set_step(&self, step: Step) {
        self.step.store(step.number(), Relaxed);
    }

    /// What to do about a function that is dead since `dead_us`, if it is dead.
    pub(super) fn plan(&self, dead_us: Option<u64>) -> Plan {
        let settings = self.settings();
        let mut inner = self.inner.lock();
        let plan = inner.row.plan(&settings, dead_us);

        inner.due_us = match plan {
            Plan::AttemptAt(at_us) => Some(at_us),
            Plan::Nothing | Plan::Exhausted => None,
        };
        plan
    }

    /// Takes the wish for an attempt, if there is one.
    pub(super) fn take_wish(&self) -> bool {
        self.wanted.xchg(false, Full)
    }

    /// Takes the right to make an attempt without a wish; fails if there is a wish.
    pub(super) fn take_turn(&self) -> bool {
        self.busy.cmpxchg(false, true, Full).is_ok()
    }

    /// Notes that an attempt begins, of a function that is dead since `since_us`.
    pub(super) fn begin(&self, why: Why, since_us: u64) -> Attempt {
        let mut inner = self.inner.lock();

        inner.attempts = inner.attempts.saturating_add(1);
        inner.due_us = None;
        Attempt::begin(inner.attempts, why, self.device.condition(), since_us)
    }

    /// Notes that an attempt has ended, and lets those go on who wait for it.
    pub(super) fn end(&self, attempt: &Attempt) {
        let mut inner = self.inner.lock();
        match attempt.outcome() {
            "succeeded" => inner.succeeded = inner.succeeded.saturating_add(1),
            "failed" => inner.failed = inner.failed.saturating_add(1),
            _ => (),
        }
        match attempt.why {
            Why::Automatic => inner.row.note(attempt.since_us, clock::monotonic_us()),
            // Whoever asks knows better than the limit.
            Why::Asked => inner.row.clear(),
        }
        inner.history.add(*attempt);
        drop(inner);

        self.errno.store(attempt.errno, Relaxed);
        self.ended.fetch_add(1, Release);
        self.busy.store(false, Release);
        self.waiters.wake_all();
    }

    /// Makes the thread try to recover the function, and waits until it has.
    ///
    /// # Errors
    ///
    /// - [`EBUSY`] if an attempt is under way.
    /// - [`ECANCELED`] if the driver is being unbound.
    /// - [`EINTR`] if a signal came; the attempt goes on.
    /// - That of the attempt, if it failed.
    pub(super) fn trigger(&self) -> Result {
        if self.signal.stopped() {
            return Err(ECANCELED);
        }
        if self.busy.cmpxchg(false, true, Full).is_err() {
            return Err(EBUSY);
        }

        let before = self.ended.load(Acquire);
        let has_ended = || self.ended.load(Acquire) != before;
        self.wanted.store(true, Release);
        self.signal.raise(CHANGED);
        while !has_ended() {
            if self.signal.stopped() {
                return Err(ECANCELED);
            }
            self.waiters
                .wait_interruptible(WAIT, || has_ended() || self.signal.stopped())
                .map_err(|_| EINTR)?;
        }
        match self.errno.load(Relaxed) {
            0 => Ok(()),
            errno => Err(Error::from_errno(errno)),
        }
    }

    fn settings(&self) -> Settings {
        Settings {
            auto: self.auto.load(Relaxed),
            limit: self.limit.get(),
            backoff_ms: self.backoff_ms.get(),
        }
    }

    pub(super) fn auto(&self) -> bool {
        self.settings().auto
    }

    /// Lets attempts be made automatically, or not; either way, with those before forgotten.
    pub(super) fn set_auto(&self, auto: bool) {
        self.inner.lock().row.clear();
        self.auto.store(auto, Relaxed);
        self.signal.raise(CHANGED);
    }

    /// Attempts in a row.
    pub(super) fn limit(&self) -> &Setting {
        &self.limit
    }

    /// Time before the first attempt of a row, in milliseconds.
    pub(super) fn backoff_ms(&self) -> &Setting {
        &self.backoff_ms
    }

    /// Lets the thread look at the settings.
    pub(super) fn settings_changed(&self) {
        self.signal.raise(CHANGED);
    }

    fn step(&self) -> Step {
        Step::of(self.step.load(Relaxed))
    }

    pub(super) fn show_state(&self, w: &mut dyn fmt::Write) -> fmt::Result {
        let step = self.step();
        let dead = if self.device.is_alive() {
            None
        } else {
            Some(clock::monotonic_us())
        };
        let inner = self.inner.lock();

        writeln!(w, "state: {} ({})", step.name(), step.number())?;
        writeln!(w, "attempts: {}", inner.attempts)?;
        writeln!(w, "succeeded: {}", inner.succeeded)?;
        writeln!(w, "failed: {}", inner.failed)?;
        let row = inner.row.attempts(dead.unwrap_or_else(clock::monotonic_us));
        writeln!(w, "attempts_in_row: {row}")?;
        match inner.due_us {
            Some(due_us) => {
                let left_us = due_us.saturating_sub(clock::monotonic_us());
                writeln!(w, "next_in_ms: {}", left_us / 1000)?;
            }
            None => writeln!(w, "next_in_ms: -")?,
        }
        w.write_str("last: ")?;
        match inner.history.added().checked_sub(1) {
            Some(last) => {
                if let Some(attempt) = inner.history.get(last) {
                    attempt.write(w)?;
                }
            }
            None => w.write_str("none")?,
        }
        writeln!(w)
    }

    pub(super) fn show_history(&self, w: &mut dyn fmt::Write) -> fmt::Result {
        writeln!(w, "# number at_us date why: condition before: outcome")?;
        let inner = self.inner.lock();

        for number in inner.history.numbers() {
            let Some(attempt) = inner.history.get(number) else {
                continue;
            };
            attempt.write_line(w)?;
        }
        Ok(())
    }

    /// Prints the recovery in one line.
    pub(in crate::function) fn summary(&self, w: &mut dyn fmt::Write) -> fmt::Result {
        let step = self.step();
        let inner = self.inner.lock();

        writeln!(
            w,
            "recovery: {} ({}), {} attempts, {} succeeded, automatic {}",
            step.name(),
            step.number(),
            inner.attempts,
            inner.succeeded,
            if self.auto() { "on" } else { "off" },
        )
    }
}

/// Wakes the thread, which looks at the state.
impl Waiter for Record {
    fn wake(&self) {
        self.signal.raise(CHANGED);
    }
}
