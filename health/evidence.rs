// SPDX-License-Identifier: GPL-2.0

//! What is kept of the first failure.
//!
//! A card that fails goes on failing: what is seen last, after resets and retries, is seldom what
//! began it. So the first failure is kept as it was found, until somebody clears it. A syndrome
//! that firmware survives is a failure as well, and may be harmless: the first failure that is
//! fatal has a place of its own beside it.

use core::fmt;

use super::{
    machine::Transition,
    render, //
};
use crate::{
    device::Status,
    kernel_ext::date,
    prm::{
        health::Buffer,
        opcode::Opcode, //
    },
};

/// Commands that can be outstanding.
pub const SLOTS: usize = 32;

/// A command that the device had.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Hung {
    /// Its slot.
    pub slot: usize,
    /// Its operation code.
    pub opcode: Opcode,
    /// How long the device had it, in microseconds.
    pub age_us: u64,
    /// Whether nobody waited for it any more.
    pub given_up: bool,
}

/// What is known of the health buffer at the time of a failure.
#[derive(Clone, Copy)]
pub enum Saved {
    /// It was read.
    Read(Buffer),
    /// Firmware stood still without a syndrome, so that it could not be read.
    Unreadable,
    /// The device did not answer.
    NoAnswer,
    /// The failure is not one that firmware tells of.
    NotRead,
}

/// A failure as it was found.
#[derive(Clone, Copy)]
pub struct Case {
    /// When, in microseconds of the monotonic clock.
    pub at_us: u64,
    /// The same by the wall clock, in seconds since 1970.
    pub wall: i64,
    /// How the function did from then on.
    pub status: Status,
    /// The verdict on the registers with the counter.
    pub verdict: Transition,
    /// The health buffer.
    pub buffer: Saved,
    /// The commands that the device had, by slot.
    pub commands: [Option<Hung>; SLOTS],
}

impl Case {
    /// Whether the function could not be used any more.
    pub fn is_fatal(&self) -> bool {
        self.status.condition.reason().1 != 0
    }
}

/// The failures that are kept.
#[derive(Clone, Copy, Default)]
pub struct Evidence {
    first: Option<Case>,
    fatal: Option<Case>,
    later: u64,
}

impl Evidence {
    /// Whether a failure would be kept.
    pub fn wants(&self, fatal: bool) -> bool {
        self.first.is_none() || fatal && self.fatal.is_none()
    }

    /// Takes a failure, and keeps it if it is the first.
    pub fn add(&mut self, case: &Case) {
        let fatal = case.is_fatal();

        if !self.wants(fatal) {
            self.later = self.later.saturating_add(1);
            return;
        }
        if self.first.is_none() {
            self.first = Some(*case);
        }
        if fatal {
            self.fatal = Some(*case);
        }
    }

    /// Forgets all.
    pub fn clear(&mut self) {
        *self = Self::default();
    }

    /// Prints what is kept, as `name: value` lines with a heading for each failure.
    pub fn show(&self, w: &mut dyn fmt::Write) -> fmt::Result {
        let Some(first) = &self.first else {
            return writeln!(
                w,
                "evidence: none (no failure since the start, or since this was cleared)"
            );
        };

        if first.is_fatal() {
            writeln!(w, "evidence: first failure, which was fatal")?;
            case(w, first)?;
        } else {
            writeln!(w, "evidence: first failure, which was not fatal")?;
            case(w, first)?;
            if let Some(fatal) = &self.fatal {
                writeln!(w, "evidence: first fatal failure")?;
                case(w, fatal)?;
            }
        }
        writeln!(w, "later_failures: {}", self.later)
    }
}

fn case(w: &mut dyn fmt::Write, case: &Case) -> fmt::Result {
    let overall = case.status.overall();
    let (reason, number) = case.status.condition.reason();

    writeln!(w, "at_us: {}", case.at_us)?;
    w.write_str("date: ")?;
    date::write(w, u64::try_from(case.wall).unwrap_or(0))?;
    writeln!(w)?;
    writeln!(w, "state: {} ({})", overall.name(), overall.number())?;
    writeln!(w, "reason: {reason} ({number})")?;
    writeln!(w, "degradations: {}", case.status.degradations)?;
    w.write_str("verdict: ")?;
    render::sentence(w, &case.verdict)?;
    writeln!(w)?;
    writeln!(w, "counter: {:#08x}", case.verdict.counter)?;
    writeln!(w, "misses: {}", case.verdict.misses)?;
    writeln!(w, "gap_ms: {}", case.verdict.gap_us / 1000)?;
    writeln!(w, "dead_reads: {}", case.verdict.dead_reads)?;

    let commands = case.commands.iter().flatten();
    writeln!(w, "commands_outstanding: {}", commands.clone().count())?;
    for command in commands {
        writeln!(
            w,
            "command[{}]: {} age_us={} {}",
            command.slot,
            command.opcode,
            command.age_us,
            if command.given_up {
                "given-up"
            } else {
                "waiting"
            },
        )?;
    }
    match &case.buffer {
        Saved::Read(buffer) => {
            writeln!(w, "buffer: read")?;
            render::buffer(w, buffer)
        }
        Saved::Unreadable => writeln!(
            w,
            "buffer: not read (the counter stood still without a syndrome)"
        ),
        Saved::NoAnswer => writeln!(w, "buffer: not read (the device did not answer)"),
        Saved::NotRead => writeln!(w, "buffer: not read (firmware reported no failure)"),
    }
}
