// SPDX-License-Identifier: GPL-2.0

//! When a recovery is tried, and what follows from each step of it. It only computes.
//!
//! # Attempts by itself
//!
//! If attempts are made automatically, the first comes one back-off after the function was found to
//! be dead, and each further one after twice the time of the one before, up to [`MAX_BACKOFF_MS`].
//! Attempts count as a row until the function has been well for [`STABLE_US`]: one that fails again
//! at once is not reset for ever. When the row has as many attempts as the limit allows, no more
//! are made until somebody asks for one.
//!
//! # Steps of an attempt
//!
//! | step | what | if it fails |
//! |---|---|---|
//! | stopping | all who wait are let go, the run ends | - |
//! | resetting | the function is reset, in one way | next way |
//! | answering | until configuration space answers | next way |
//! | initializing | until firmware takes commands | next way |
//! | starting | a new run, from the first command on, whose firmware is seen to run | next way |
//!
//! The ways are those that the device has, see [`Way`]; when there is none left, the attempt has
//! failed. Each step ends at once when the driver is unbound, and the attempt with it.

/// Longest time from one attempt to the next, in milliseconds.
pub const MAX_BACKOFF_MS: u64 = 600_000;

/// Time that a function has to be well until what was before is forgotten, in microseconds.
pub const STABLE_US: u64 = 60_000_000;

/// What the recovery does.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
#[repr(u32)]
pub enum Step {
    /// Nothing: the function is alive, or nobody has asked for a recovery.
    Idle = 0,
    /// An attempt will be made when the back-off is over.
    Waiting = 1,
    /// The run is being stopped.
    Stopping = 2,
    /// The function is being reset.
    Resetting = 3,
    /// Configuration space does not answer yet.
    Answering = 4,
    /// Firmware does not take commands yet.
    Initializing = 5,
    /// A new run is being started.
    Starting = 6,
    /// The limit is reached: no more attempts are made automatically.
    Exhausted = 7,
}

impl Step {
    /// The step's word.
    pub const fn name(self) -> &'static str {
        match self {
            Step::Idle => "idle",
            Step::Waiting => "waiting",
            Step::Stopping => "stopping",
            Step::Resetting => "resetting",
            Step::Answering => "answering",
            Step::Initializing => "initializing",
            Step::Starting => "starting",
            Step::Exhausted => "exhausted",
        }
    }

    /// The step's number, for programs.
    pub const fn number(self) -> u32 {
        // CAST: The discriminants are those of a `repr(u32)`.
        self as u32
    }

    /// The step of a number.
    pub const fn of(number: u32) -> Self {
        match number {
            1 => Step::Waiting,
            2 => Step::Stopping,
            3 => Step::Resetting,
            4 => Step::Answering,
            5 => Step::Initializing,
            6 => Step::Starting,
            7 => Step::Exhausted,
            _ => Step::Idle,
        }
    }
}

/// A way of resetting a function.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Way {
    /// The kernel's reset of a PCI function, which is an FLR where the function has that.
    Function,
    /// The reset of firmware by nic_interface, which is one of the whole card.
    Firmware,
}

impl Way {
    /// The word for it.
    pub const fn name(self) -> &'static str {
        match self {
            Way::Function => "function reset",
            Way::Firmware => "firmware reset",
        }
    }

    /// The ways in which a function is reset, one after the other.
    ///
    /// A VF has no say about firmware.
    pub const fn all(firmware_reset_is_offered: bool, virtual_function: bool) -> &'static [Way] {
        if firmware_reset_is_offered && !virtual_function {
            &[Way::Function, Way::Firmware]
        } else {
            &[Way::Function]
        }
    }
}

/// How a step ended.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Ended {
    /// It did what it is for.
    Well,
    /// It failed.
    Badly,
    /// The driver is being unbound.
    Canceled,
}

/// What follows from a step.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Next {
    /// This step.
    Do(Step),
    /// Resetting, in the next way.
    OtherWay,
    /// The function is alive.
    Recovered,
    /// The attempt has failed.
    Failed,
    /// The attempt is given up.
    Canceled,
}

/// What follows from a step that has ended; `ways_left` are those that were not tried yet.
pub fn after(step: Step, ended: Ended, ways_left: usize) -> Next {
    match (step, ended) {
        (_, Ended::Canceled) => Next::Canceled,
        // Nothing that happens there keeps the function from being reset.
        (Step::Stopping, _) if ways_left > 0 => Next::OtherWay,
        (Step::Stopping, _) => Next::Failed,
        (Step::Resetting, Ended::Well) => Next::Do(Step::Answering),
        (Step::Answering, Ended::Well) => Next::Do(Step::Initializing),
        (Step::Initializing, Ended::Well) => Next::Do(Step::Starting),
        (Step::Starting, Ended::Well) => Next::Recovered,
        (_, Ended::Badly) if ways_left > 0 => Next::OtherWay,
        _ => Next::Failed,
    }
}

/// What to do about a function.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Plan {
    /// Nothing.
    Nothing,
    /// An attempt, at this time, in microseconds of the monotonic clock.
    AttemptAt(u64),
    /// Nothing: there were as many attempts as the limit allows.
    Exhausted,
}

/// What may be chosen.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Settings {
    /// Attempts are made automatically.
    pub auto: bool,
    /// Most attempts in a row.
    pub limit: u32,
    /// Time before the first attempt of a row, in milliseconds.
    pub backoff_ms: u32,
}

/// The attempts so far.
#[derive(Clone, Copy, PartialEq, Eq, Default, Debug)]
pub struct Row {
    /// Attempts in a row.
    attempts: u32,
    /// When the last attempt ended, in microseconds of the monotonic clock.
    ended_us: Option<u64>,
}

impl Row {
    /// Attempts in a row, for a function that is dead since `dead_us`.
    pub fn attempts(&self, dead_us: u64) -> u32 {
        match self.ended_us {
            Some(ended) if dead_us.saturating_sub(ended) < STABLE_US => self.attempts,
            _ => 0,
        }
    }

    /// What to do about a function that is dead since `dead_us`, or [`None`] if it is alive.
    pub fn plan(&self, settings: &Settings, dead_us: Option<u64>) -> Plan {
        let Some(dead_us) = dead_us.filter(|_| settings.auto) else {
            return Plan::Nothing;
        };
        let attempts = self.attempts(dead_us);
        if attempts >= settings.limit {
            return Plan::Exhausted;
        }

        let from = self.ended_us.map_or(dead_us, |ended| ended.max(dead_us));
        Plan::AttemptAt(from.saturating_add(backoff_us(settings, attempts)))
    }

    /// Notes that an attempt has ended at `now_us` that was made because the function was dead
    /// since `dead_us`.
    pub fn note(&mut self, dead_us: u64, now_us: u64) {
        self.attempts = self.attempts(dead_us).saturating_add(1);
        self.ended_us = Some(now_us);
    }

    /// Forgets all attempts.
    pub fn clear(&mut self) {
        *self = Self::default();
    }
}

/// The time before the attempt that follows after `attempts` of a row, in microseconds.
pub fn backoff_us(settings: &Settings, attempts: u32) -> u64 {
    let first = u64::from(settings.backoff_ms);
    let factor = 1u64.checked_shl(attempts).unwrap_or(u64::MAX);

    first
        .saturating_mul(factor)
        .min(MAX_BACKOFF_MS.max(first))
        .saturating_mul(1000)
}
