// SPDX-License-Identifier: GPL-2.0

//! All that is known of how a function does, in one word, and what changes of it.

use core::fmt;

use super::{
    condition::Condition,
    degradation::{
        Degradation,
        Degradations, //
    }, //
};

/// How a function does, in one word.
///
/// Programs that watch many machines look for the word or the number; neither changes.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
#[repr(u8)]
pub enum Overall {
    /// Nothing is wrong.
    Ok = 0,
    /// It works, and suffers from something.
    Degraded = 1,
    /// No commands can be sent.
    Fatal = 2,
    /// It does not answer.
    Gone = 3,
    /// It is being reset and started again.
    Recovering = 4,
}

impl Overall {
    /// The word.
    pub const fn name(self) -> &'static str {
        match self {
            Overall::Ok => "ok",
            Overall::Degraded => "degraded",
            Overall::Fatal => "fatal",
            Overall::Gone => "gone",
            Overall::Recovering => "recovering",
        }
    }

    /// The number.
    pub const fn number(self) -> u8 {
        // CAST: The discriminants are those of a `repr(u8)`.
        self as u8
    }
}

/// How a function does.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Status {
    /// Whether commands may be sent.
    pub condition: Condition,
    /// What the function suffers from.
    pub degradations: Degradations,
    /// Whether a recovery is under way.
    pub recovering: bool,
}

impl Status {
    /// A function that does well.
    pub const OK: Self = Self {
        condition: Condition::Alive,
        degradations: Degradations::NONE,
        recovering: false,
    };

    /// The status in one word; a recovery that is under way is what counts most.
    pub const fn overall(&self) -> Overall {
        if self.recovering {
            return Overall::Recovering;
        }
        match self.condition {
            Condition::Gone => Overall::Gone,
            Condition::Fatal(_) => Overall::Fatal,
            Condition::Alive if self.degradations.is_empty() => Overall::Ok,
            Condition::Alive => Overall::Degraded,
        }
    }
}

/// What has changed.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum What {
    /// The condition got worse: it is this one now.
    Worse(Condition),
    /// The function is alive again, after a reset, and suffers from nothing.
    Revived,
    /// The function suffers from something.
    Raised(Degradation),
    /// The function does not suffer from something any more.
    Mended(Degradation),
    /// A recovery has begun.
    RecoveryBegun,
    /// A recovery has ended, well or not.
    RecoveryEnded,
}

/// Says what has changed, in words.
impl fmt::Display for What {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            What::Worse(condition) => write!(f, "{condition}"),
            What::Revived => f.write_str("alive again after a reset"),
            What::Raised(what) => write!(f, "{} begins", what.name()),
            What::Mended(what) => write!(f, "{} ends", what.name()),
            What::RecoveryBegun => f.write_str("a recovery begins"),
            What::RecoveryEnded => f.write_str("the recovery ends"),
        }
    }
}

/// A change, with the status after it.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Change {
    /// When, in microseconds of the monotonic clock.
    pub at_us: u64,
    /// The same by the wall clock, in seconds since 1970.
    pub wall: i64,
    /// What has changed.
    pub what: What,
    /// How the function does since.
    pub status: Status,
}

impl Change {
    /// Fills the places of a history before there is anything.
    pub const EMPTY: Self = Self {
        at_us: 0,
        wall: 0,
        what: What::Revived,
        status: Status::OK,
    };
}
