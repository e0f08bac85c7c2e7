// SPDX-License-Identifier: GPL-2.0

//! How a function does, for programs that watch it.
//!
//! The words and numbers of these lines are an interface: monitors compare them.

use core::fmt;

use crate::{
    device::{
        Change,
        Degradations,
        Status, //
    },
    kernel_ext::date,
    prm::opcode::Opcode,
};

/// The commands that the device has.
#[derive(Clone, Copy, PartialEq, Eq, Default, Debug)]
pub struct Commands {
    /// How many somebody waits for.
    pub waiting: usize,
    /// How many were given up.
    pub given_up: usize,
    /// The oldest of those that somebody waits for, and its age in microseconds.
    pub oldest: Option<(Opcode, u64)>,
}

/// Prints how a function does, a value a line.
pub fn status(
    w: &mut dyn fmt::Write,
    status: &Status,
    sequence: u64,
    commands: &Commands,
) -> fmt::Result {
    let overall = status.overall();
    let (reason, reason_number) = status.condition.reason();

    writeln!(w, "state: {} ({})", overall.name(), overall.number())?;
    writeln!(w, "reason: {reason} ({reason_number})")?;
    writeln!(w, "condition: {}", status.condition)?;
    writeln!(w, "degradations: {}", status.degradations)?;
    writeln!(w, "degradation_bits: {:#x}", status.degradations.bits())?;
    writeln!(w, "recovering: {}", u8::from(status.recovering))?;
    writeln!(w, "sequence: {sequence}")?;
    writeln!(w, "commands_outstanding: {}", commands.waiting)?;
    writeln!(w, "commands_given_up: {}", commands.given_up)?;
    match commands.oldest {
        Some((opcode, age_us)) => {
            writeln!(w, "oldest_command: {opcode}")?;
            writeln!(w, "oldest_command_us: {age_us}")
        }
        None => writeln!(w, "oldest_command: none\noldest_command_us: 0"),
    }
}

/// A change in words, without its time: for the log.
pub struct Sentence<'a>(pub &'a Change);

impl fmt::Display for Sentence<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Change { what, status, .. } = self.0;
        let overall = status.overall();
        let (reason, number) = status.condition.reason();

        write!(
            f,
            "{} ({}) reason={reason}({number}) degradations={:#x}: {what}",
            overall.name(),
            overall.number(),
            status.degradations.bits(),
        )?;
        if status.degradations != Degradations::NONE {
            write!(f, "; suffers from {}", status.degradations)?;
        }
        Ok(())
    }
}

/// Prints a change with its number, as one line.
pub fn line(w: &mut dyn fmt::Write, number: u64, change: &Change) -> fmt::Result {
    write!(w, "{number} {} ", change.at_us)?;
    date::write(w, u64::try_from(change.wall).unwrap_or(0))?;
    writeln!(w, " {}", Sentence(change))
}
