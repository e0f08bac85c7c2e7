// SPDX-License-Identifier: GPL-2.0

//! From readings of the health registers to a verdict.
//!
//! The machine is fed with one reading at a time, and with nothing else: neither clock nor register
//! is touched here. It keeps no record of its own; what changed is returned.
//!
//! # When is the counter called stalled?
//!
//! When a number of readings in a row (the threshold, 3 by default) have found it unchanged, *and*
//! several of its measured periods have passed. Either condition alone would call a slow counter,
//! or readings in quick succession, a stall. A counter whose period is not known yet gets
//! [`UNMEASURED_US`].
//!
//! # States
//!
//! From any state to any other, by what the readings say; the first line that applies holds.
//!
//! | state | reading | fatal |
//! |---|---|---|
//! | gone | repeated readings of all ones (one alone is not held against the device) | yes |
//! | reset, disabled | nic_interface is 7, or 1 | yes |
//! | failed | synd is not 0, and rfr is set | yes |
//! | stalled | the counter has not moved | yes |
//! | syndrome | synd is not 0 | no |
//! | suspect | a reading of all ones, or a counter that has not moved for several periods | no |
//! | measuring | the counter's period is not known yet | no |
//! | healthy | none of these | no |

use super::period::Period;
use crate::prm::{
    health::Buffer,
    iseg::NicInterface, //
};

/// Periods that must pass without a change before the counter can be called suspect or stalled.
pub const STALL_PERIODS: u64 = 5;

/// Microseconds that must pass without a change while the period is not known.
pub const UNMEASURED_US: u64 = 5_000_000;

/// Readings of all ones in a row that mean that the device is gone, at least.
pub const MIN_DEAD_READS: u32 = 2;

/// An advance of more counts than this between two readings is a jump, such as after a reset of the
/// device, and says nothing about the period.
const JUMP: u32 = 1 << 16;

/// The counter has 24 bits, as the kernel's header says; the others are the syndrome.
///
/// mlx5_core compares all 32 bits, mlxcx takes the lowest 8 for the syndrome: in either reading
/// these 24 bits change as the counter does.
const COUNTER_MASK: u32 = 0x00ff_ffff;

/// What is wrong, from the last two words of the health buffer.
#[derive(Clone, Copy, PartialEq, Eq, Default, Debug)]
pub struct Trouble {
    /// What failed; 0: nothing.
    pub synd: u8,
    /// Firmware's own number for the failure.
    pub ext_synd: u16,
    /// Not recoverable without a reset.
    pub rfr: bool,
}

impl Trouble {
    /// Nothing is wrong.
    pub const NONE: Self = Self {
        synd: 0,
        ext_synd: 0,
        rfr: false,
    };

    /// Takes it out of a health buffer; without a syndrome the rest means nothing.
    pub fn of(buffer: &Buffer) -> Self {
        if buffer.synd() == 0 {
            return Self::NONE;
        }
        Self {
            synd: buffer.synd(),
            ext_synd: buffer.ext_synd(),
            rfr: buffer.rfr(),
        }
    }
}

/// One reading of the registers.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Sample {
    /// A word was all ones, as all are when the device does not answer.
    Dead,
    /// What the registers hold.
    Live {
        /// The counter; bits above 23 are not looked at.
        counter: u32,
        /// What the function is used for.
        nic_interface: u8,
        /// What is wrong.
        trouble: Trouble,
    },
}

/// The verdict on a function.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
#[repr(u8)]
pub enum State {
    /// The counter's period is not known yet.
    Measuring = 0,
    /// Nothing is wrong.
    Healthy = 1,
    /// The counter has not moved for several periods, or a reading was all ones.
    Suspect = 2,
    /// Firmware reports a failure and goes on.
    Syndrome = 3,
    /// The counter stands still.
    Stalled = 4,
    /// Firmware reports a failure that only a reset can mend.
    Failed = 5,
    /// The function is disabled.
    Disabled = 6,
    /// A reset of firmware was asked for.
    Reset = 7,
    /// The device does not answer.
    Gone = 8,
}

impl State {
    /// The state's word.
    pub const fn name(self) -> &'static str {
        match self {
            State::Measuring => "measuring",
            State::Healthy => "healthy",
            State::Suspect => "suspect",
            State::Syndrome => "syndrome",
            State::Stalled => "stalled",
            State::Failed => "failed",
            State::Disabled => "disabled",
            State::Reset => "reset",
            State::Gone => "gone",
        }
    }

    /// The state's number, for programs.
    pub const fn number(self) -> u8 {
        // CAST: The discriminants are those of a `repr(u8)`.
        self as u8
    }

    /// Whether firmware cannot be relied on any more.
    pub const fn is_fatal(self) -> bool {
        matches!(
            self,
            State::Stalled | State::Failed | State::Disabled | State::Reset | State::Gone
        )
    }
}

/// A change of the state, or of what is wrong within the same state.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Transition {
    /// When, in microseconds of the monotonic clock.
    pub at_us: u64,
    /// The state before.
    pub from: State,
    /// The state now.
    pub to: State,
    /// The counter as last read.
    pub counter: u32,
    /// Readings in a row that found the counter unchanged.
    pub misses: u32,
    /// Microseconds since the counter was last seen to change.
    pub gap_us: u64,
    /// Readings of all ones in a row.
    pub dead_reads: u32,
    /// What is wrong.
    pub trouble: Trouble,
}

/// The state machine, with all that it has counted.
#[derive(Clone, Copy)]
pub struct Machine {
    /// The verdict.
    pub state: State,
    /// When that became so, in microseconds of the monotonic clock; 0 before the first reading.
    pub since_us: u64,
    /// Readings in a row without a change that make a stall.
    pub threshold: u32,
    /// Readings taken.
    pub reads: u64,
    /// Readings of all ones.
    pub dead_total: u64,
    /// Readings of all ones in a row.
    pub dead_reads: u32,
    /// The counter as last read.
    pub counter: Option<u32>,
    /// Times that the counter jumped, as it does when firmware starts again.
    pub jumps: u32,
    /// Readings in a row that found the counter unchanged.
    pub misses: u32,
    /// All readings that found the counter unchanged.
    pub misses_total: u64,
    /// When the counter was last seen to change, in microseconds of the monotonic clock.
    pub changed_at_us: u64,
    /// The longest time without a seen change, in microseconds; at least the interval of reading.
    pub longest_gap_us: u64,
    /// Times that the counter was called stalled.
    pub stalls: u32,
    /// The function's use, as last read.
    pub nic_interface: u8,
    /// What is wrong, as last read.
    pub trouble: Trouble,
    /// The counter's period.
    pub period: Period,
}

impl Machine {
    /// Makes a machine that has seen nothing.
    pub fn new(threshold: u32) -> Self {
        Self {
            state: State::Measuring,
            since_us: 0,
            threshold,
            reads: 0,
            dead_total: 0,
            dead_reads: 0,
            counter: None,
            jumps: 0,
            misses: 0,
            misses_total: 0,
            changed_at_us: 0,
            longest_gap_us: 0,
            stalls: 0,
            nic_interface: 0,
            trouble: Trouble::NONE,
            period: Period::default(),
        }
    }

    /// Begins anew, as after a reset: nothing of what was read before holds; what was counted
    /// stays.
    ///
    /// Returns the transition that this is, if the verdict changes by it.
    pub fn restart(&mut self, now_us: u64) -> Option<Transition> {
        let from = self.state;

        self.state = State::Measuring;
        self.counter = None;
        self.misses = 0;
        self.dead_reads = 0;
        self.nic_interface = 0;
        self.trouble = Trouble::NONE;
        self.period = Period::default();
        if from == State::Measuring {
            return None;
        }
        self.since_us = now_us;
        Some(Transition {
            from,
            ..self.now(now_us)
        })
    }

    /// Takes in a reading made at `now_us` and says what changed by it.
    ///
    /// `now_us` does not go backwards; if it does, no time has passed.
    pub fn feed(&mut self, now_us: u64, sample: &Sample) -> Option<Transition> {
        let before = (self.state, self.trouble);
        if self.since_us == 0 {
            self.since_us = now_us;
        }
        self.reads = self.reads.saturating_add(1);

        match *sample {
            Sample::Dead => {
                self.dead_reads = self.dead_reads.saturating_add(1);
                self.dead_total = self.dead_total.saturating_add(1);
            }
            Sample::Live {
                counter,
                nic_interface,
                trouble,
            } => {
                self.dead_reads = 0;
                self.nic_interface = nic_interface;
                self.trouble = trouble;
                self.count(now_us, counter & COUNTER_MASK);
            }
        }

        self.state = self.judge(now_us);
        if before == (self.state, self.trouble) {
            return None;
        }
        if before.0 != self.state {
            self.since_us = now_us;
            if self.state == State::Stalled {
                self.stalls = self.stalls.saturating_add(1);
            }
        }
        Some(Transition {
            from: before.0,
            ..self.now(now_us)
        })
    }

    /// Where things stand at `now_us`, in the form of a transition that changes nothing.
    pub fn now(&self, now_us: u64) -> Transition {
        Transition {
            at_us: now_us,
            from: self.state,
            to: self.state,
            counter: self.counter.unwrap_or(0),
            misses: self.misses,
            gap_us: self.gap_us(now_us),
            dead_reads: self.dead_reads,
            trouble: self.trouble,
        }
    }

    /// Microseconds from the last seen change of the counter to `now_us`.
    pub fn gap_us(&self, now_us: u64) -> u64 {
        match self.counter {
            Some(_) => now_us.saturating_sub(self.changed_at_us),
            None => 0,
        }
    }

    /// Microseconds without a change that are needed at least before a stall is called.
    pub fn stall_us(&self) -> u64 {
        match self.period.get() {
            Some(period) => period.saturating_mul(STALL_PERIODS),
            None => UNMEASURED_US,
        }
    }

    fn count(&mut self, now_us: u64, counter: u32) {
        let Some(last) = self.counter.replace(counter) else {
            self.changed_at_us = now_us;
            self.period.advance(now_us, 0);
            return;
        };
        self.longest_gap_us = self.longest_gap_us.max(self.gap_us(now_us));

        let advance = counter.wrapping_sub(last) & COUNTER_MASK;
        if advance == 0 {
            self.misses = self.misses.saturating_add(1);
            self.misses_total = self.misses_total.saturating_add(1);
            return;
        }

        if self.state.is_fatal() {
            // What ran before has ended; a standstill must not count as a slow counter either.
            self.period = Period::default();
            self.period.skip(now_us);
        } else if advance > JUMP {
            self.jumps = self.jumps.saturating_add(1);
            self.period.skip(now_us);
        } else {
            self.period.advance(now_us, advance);
        }
        self.misses = 0;
        self.changed_at_us = now_us;
    }

    fn judge(&self, now_us: u64) -> State {
        if self.dead_reads >= self.threshold.max(MIN_DEAD_READS) {
            return State::Gone;
        }
        if self.dead_reads > 0 {
            return match self.state {
                State::Measuring | State::Healthy => State::Suspect,
                other => other,
            };
        }

        let still = self.misses > 0 && self.gap_us(now_us) >= self.stall_us();
        let failing = self.trouble.synd != 0;

        if NicInterface(self.nic_interface) == NicInterface::SW_RESET {
            State::Reset
        } else if NicInterface(self.nic_interface) == NicInterface::DISABLED {
            State::Disabled
        } else if failing && self.trouble.rfr {
            State::Failed
        } else if still && self.misses >= self.threshold {
            State::Stalled
        } else if failing {
            State::Syndrome
        } else if still {
            State::Suspect
        } else if self.period.get().is_none() {
            State::Measuring
        } else {
            State::Healthy
        }
    }
}
