// SPDX-License-Identifier: GPL-2.0

//! Whether commands may be sent to a function, and why not.

use core::fmt;

/// Why a function is fatal.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
#[repr(u32)]
pub enum Reason {
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
    /// Its number, for programs; never 0.
    pub const fn number(self) -> u32 {
        // CAST: The discriminants are those of a `repr(u32)`.
        self as u32
    }

    /// The word that programs look for.
    pub const fn word(self) -> &'static str {
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
    pub const fn name(self) -> &'static str {
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
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Condition {
    /// Commands may be sent.
    Alive,
    /// Firmware cannot be relied on any more: commands would not come back.
    Fatal(Reason),
    /// The device does not answer at all: every read is all ones.
    Gone,
}

impl Condition {
    /// The number of [`Condition::Alive`].
    pub const ALIVE: u32 = 0;
    /// The number of [`Condition::Gone`].
    pub const GONE: u32 = u32::MAX;

    /// The condition as a number, for an atomic.
    pub const fn into_raw(self) -> u32 {
        match self {
            Condition::Alive => Self::ALIVE,
            Condition::Fatal(reason) => reason.number(),
            Condition::Gone => Self::GONE,
        }
    }

    /// The condition of that number; what no condition has is [`Condition::Gone`].
    pub const fn from_raw(raw: u32) -> Self {
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

    /// Word and number of what is wrong, for programs: those of the reason if the function is
    /// fatal.
    pub const fn reason(self) -> (&'static str, u32) {
        match self {
            Condition::Alive => ("none", 0),
            Condition::Fatal(reason) => (reason.word(), reason.number()),
            Condition::Gone => ("no-answer", 255),
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
