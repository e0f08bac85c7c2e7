// SPDX-License-Identifier: GPL-2.0

//! One attempt to bring a function back, as it is remembered.

use super::policy::{
    Step,
    Way, //
};
use crate::{
    device::Condition,
    kernel_ext::{
        clock,
        date, //
    }, //
};
use core::fmt;
use kernel::prelude::*;

/// Why an attempt is made.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Why {
    /// Somebody has asked for it.
    Asked,
    /// The function is dead, and attempts are made automatically.
    Automatic,
}

impl Why {
    /// The word for it.
    pub(super) const fn name(self) -> &'static str {
        match self {
            Why::Asked => "asked for",
            Why::Automatic => "automatic",
        }
    }
}

/// An attempt.
#[derive(Clone, Copy)]
pub(super) struct Attempt {
    /// Counts from 1.
    pub(super) number: u64,
    pub(super) why: Why,
    /// Condition of the function before.
    pub(super) before: Condition,
    /// Since when that was so, in microseconds of the monotonic clock.
    pub(super) since_us: u64,
    /// When it began, in microseconds of the monotonic clock.
    pub(super) at_us: u64,
    /// When that was, in seconds since 1970.
    wall: i64,
    /// How long it took, in microseconds.
    pub(super) took_us: u64,
    /// The last way in which the function was reset.
    pub(super) way: Option<Way>,
    /// The step in which it ended.
    pub(super) step: Step,
    /// Its errno; 0 if the function is alive.
    pub(super) errno: i32,
}

impl Attempt {
    /// Fills the places of the history before there is anything.
    pub(super) const EMPTY: Self = Self {
        number: 0,
        why: Why::Asked,
        before: Condition::Alive,
        since_us: 0,
        at_us: 0,
        wall: 0,
        took_us: 0,
        way: None,
        step: Step::Idle,
        errno: 0,
    };

    /// An attempt that begins now.
    pub(super) fn begin(number: u64, why: Why, before: Condition, since_us: u64) -> Self {
        Self {
            number,
            why,
            before,
            since_us,
            at_us: clock::monotonic_us(),
            wall: clock::wall_seconds(),
            ..Self::EMPTY
        }
    }

    /// How it ended, in a word.
    pub(super) fn outcome(&self) -> &'static str {
        match self.errno {
            0 => "succeeded",
            errno if errno == ECANCELED.to_errno() => "canceled",
            _ => "failed",
        }
    }

    /// Prints how it ended.
    pub(super) fn write(&self, w: &mut dyn fmt::Write) -> fmt::Result {
        write!(
            w,
            "{} ({}) after {} ms in {} by {}",
            self.outcome(),
            self.errno,
            self.took_us / 1000,
            self.step.name(),
            self.way.map_or("no reset", Way::name),
        )
    }

    /// Prints it as a line of the history.
    pub(super) fn write_line(&self, w: &mut dyn fmt::Write) -> fmt::Result {
        write!(w, "{} {} ", self.number, self.at_us)?;
        date::write(w, u64::try_from(self.wall).unwrap_or(0))?;
        write!(w, " {}: {}: ", self.why.name(), self.before)?;
        self.write(w)?;
        writeln!(w)
    }
}
