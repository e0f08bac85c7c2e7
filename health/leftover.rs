// SPDX-License-Identifier: GPL-2.0

//! What the health buffer holds from before a reset, and how it is told from what is new.
//!
//! A driver that starts finds what an earlier failure left behind. It is shown as such, and cleared
//! so that the next start does not find it again. No public driver writes the buffer, so a device
//! may ignore that; then the content is remembered, and is not taken for a new failure as long as
//! it stays the same.

use core::fmt;

use super::render;
use crate::{kernel_ext::date, prm::health::Buffer};
use zerocopy::IntoBytes;

/// Words of the buffer that tell of a failure, as offsets into it: all but versions and gaps.
pub const WORDS: [usize; 11] = [
    0x00, 0x04, 0x08, 0x0c, 0x10, 0x14, 0x20, 0x24, 0x2c, 0x38, 0x3c,
];

/// What became of the content of the buffer.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Outcome {
    /// There was nothing.
    Empty,
    /// The device did not answer.
    NoAnswer,
    /// It was cleared.
    Cleared,
    /// The device ignores that it is cleared; the content is remembered.
    Kept,
}

impl Outcome {
    /// Judges the content of the buffer before anything is written; [`None`] means that it is to
    /// be cleared.
    pub fn before(buffer: &Buffer) -> Option<Self> {
        if buffer.as_bytes().iter().all(|byte| *byte == 0xff) || buffer.fw_version() == u32::MAX {
            Some(Self::NoAnswer)
        } else if is_empty(buffer) {
            Some(Self::Empty)
        } else {
            None
        }
    }

    /// Judges the content of the buffer after it was cleared.
    pub fn after(buffer: &Buffer) -> Self {
        if is_empty(buffer) {
            Self::Cleared
        } else {
            Self::Kept
        }
    }

    /// The outcome as a sentence.
    pub const fn sentence(self) -> &'static str {
        match self {
            Self::Empty => "none: the health buffer was empty",
            Self::NoAnswer => "unknown: the device did not answer",
            Self::Cleared => "from before the start, and cleared",
            Self::Kept => {
                "from before the start; the device ignores that it is cleared, so it does not count"
            }
        }
    }
}

/// What was found at the last start.
#[derive(Clone, Copy)]
pub struct Leftover {
    /// Whether the buffer has held nothing else since.
    pub unchanged: bool,
    /// When, in microseconds of the monotonic clock.
    pub at_us: u64,
    /// The same by the wall clock, in seconds since 1970.
    pub wall: i64,
    /// What was there.
    pub buffer: Buffer,
    /// What became of it.
    pub outcome: Outcome,
}

impl Leftover {
    /// Whether the device still holds it, as far as is known, so that it must not count as new.
    pub fn is_remembered(&self) -> bool {
        self.outcome == Outcome::Kept && self.unchanged
    }

    /// Whether the buffer holds just what it held at the start, and always did.
    pub fn is_still(&self, now: &Buffer) -> bool {
        self.is_remembered()
            && WORDS
                .iter()
                .all(|at| word(now, *at) == word(&self.buffer, *at))
    }

    /// Notes that the buffer holds something else: all that comes from now on is new.
    pub fn differs(&mut self) {
        self.unchanged = false;
    }

    /// Prints what was found, a value a line.
    pub fn show(&self, w: &mut dyn fmt::Write) -> fmt::Result {
        writeln!(w, "leftover: {}", self.outcome.sentence())?;
        writeln!(w, "at_us: {}", self.at_us)?;
        w.write_str("date: ")?;
        date::write(w, u64::try_from(self.wall).unwrap_or(0))?;
        writeln!(w)?;
        match self.outcome {
            Outcome::Empty | Outcome::NoAnswer => Ok(()),
            Outcome::Cleared | Outcome::Kept => render::buffer(w, &self.buffer),
        }
    }
}

fn is_empty(buffer: &Buffer) -> bool {
    WORDS.iter().all(|at| word(buffer, *at) == [0; 4])
}

fn word(buffer: &Buffer, at: usize) -> [u8; 4] {
    buffer
        .as_bytes()
        .get(at..)
        .and_then(|bytes| bytes.first_chunk())
        .copied()
        .unwrap_or([0; 4])
}
