// SPDX-License-Identifier: GPL-2.0

//! What is wrong with a function that still works.

use core::fmt;

/// Something that makes a function less than well, without keeping it from work.
///
/// Several hold at the same time. Whoever finds one tells the device's state when it begins and
/// when it ends; the number is the bit that programs see.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
#[repr(u32)]
pub enum Degradation {
    /// Firmware reports a syndrome, but goes on.
    Syndrome = 0,
    /// A command timed out, and none has come back since.
    CommandTimeout = 1,
    /// The device has slots whose waiters gave up.
    QuarantinedSlots = 2,
    /// The oldest command is much older than commands usually get.
    CommandSlow = 3,
    /// An event queue has events that nobody takes, or is in an error state.
    EqStalled = 4,
    /// A temperature sensor is above its warning threshold.
    Temperature = 5,
    /// A port's module reports an error.
    PortModule = 6,
}

impl Degradation {
    /// All there are, by number.
    pub const ALL: [Self; 7] = [
        Degradation::Syndrome,
        Degradation::CommandTimeout,
        Degradation::QuarantinedSlots,
        Degradation::CommandSlow,
        Degradation::EqStalled,
        Degradation::Temperature,
        Degradation::PortModule,
    ];

    /// The word that programs look for.
    pub const fn name(self) -> &'static str {
        match self {
            Degradation::Syndrome => "syndrome",
            Degradation::CommandTimeout => "command-timeout",
            Degradation::QuarantinedSlots => "quarantined-slots",
            Degradation::CommandSlow => "command-slow",
            Degradation::EqStalled => "eq-stalled",
            Degradation::Temperature => "temperature",
            Degradation::PortModule => "port-module",
        }
    }

    /// Its bit among [`Degradations`].
    pub const fn bit(self) -> u32 {
        // CAST: The discriminants are those of a `repr(u32)`, and less than 32.
        1 << self as u32
    }
}

/// A set of [`Degradation`]s.
#[derive(Clone, Copy, PartialEq, Eq, Default, Debug)]
pub struct Degradations(u32);

impl Degradations {
    /// The empty set.
    pub const NONE: Self = Self(0);

    /// The set with these bits; those without a meaning are left out.
    pub fn from_bits(bits: u32) -> Self {
        Self(
            Degradation::ALL
                .iter()
                .fold(0, |known, one| known | one.bit())
                & bits,
        )
    }

    /// The bits of the set.
    pub const fn bits(self) -> u32 {
        self.0
    }

    /// Whether the set is empty.
    pub const fn is_empty(self) -> bool {
        self.0 == 0
    }

    /// Whether `one` is in the set.
    pub const fn contains(self, one: Degradation) -> bool {
        self.0 & one.bit() != 0
    }
}

/// Prints the words, with blanks between them, or `none`.
impl fmt::Display for Degradations {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if self.is_empty() {
            return f.write_str("none");
        }
        let mut found = Degradation::ALL.iter().filter(|one| self.contains(**one));
        if let Some(first) = found.next() {
            f.write_str(first.name())?;
        }
        found.try_for_each(|one| write!(f, " {}", one.name()))
    }
}
