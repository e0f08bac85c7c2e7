// SPDX-License-Identifier: GPL-2.0

//! The last reading of the health buffer, and how to ask for one.

use super::render;
use crate::{
    kernel_ext::{
        clock,
        date,
        request::Requests,
        signal::Signal, //
    },
    prm::{
        dump,
        health::Buffer,
        layout::Layout, //
    },
};
use core::fmt;
use kernel::{
    new_spinlock,
    prelude::*,
    sync::SpinLock,
    time::Delta, //
};
use zerocopy::IntoBytes;

/// How long a reading that was asked for may take.
const PATIENCE: Delta = Delta::from_secs(5);

/// Why the health buffer was read.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Why {
    /// A transition with a syndrome.
    Transition,
    /// Somebody has asked for it.
    Request,
}

/// A reading of the health buffer.
#[derive(Clone, Copy)]
struct Reading {
    at_us: u64,
    wall: i64,
    why: Why,
    buffer: Buffer,
}

/// The last reading, and those who have asked for one.
#[pin_data]
pub(super) struct Readings {
    #[pin]
    last: SpinLock<Option<Reading>>,
    #[pin]
    requests: Requests,
}

impl Readings {
    pub(super) fn new() -> impl PinInit<Self> {
        pin_init!(Self {
            last <- new_spinlock!(None),
            requests <- Requests::new(),
        })
    }

    /// Keeps a reading.
    pub(super) fn keep(&self, why: Why, buffer: Buffer) {
        let reading = Reading {
            at_us: clock::monotonic_us(),
            wall: clock::wall_seconds(),
            why,
            buffer,
        };

        *self.last.lock() = Some(reading);
    }

    /// Those who have asked for a reading.
    pub(super) fn requests(&self) -> &Requests {
        &self.requests
    }

    /// Makes the thread read the buffer now, by `bits` of its signal, and waits until it has.
    ///
    /// # Errors
    ///
    /// - [`ENODEV`] if what was read is all ones, which is kept all the same.
    /// - [`ETIMEDOUT`] if the thread did not come to it.
    /// - [`ESHUTDOWN`] if the watch has ended.
    /// - [`ERESTARTSYS`] if a signal came.
    pub(super) fn refresh(&self, thread: &Signal, bits: u32) -> Result {
        self.requests.ask(thread, bits, PATIENCE)?;

        match *self.last.lock() {
            Some(reading) if reading.buffer.as_bytes().iter().all(|byte| *byte == 0xff) => {
                Err(ENODEV)
            }
            _ => Ok(()),
        }
    }

    /// Prints the buffer, a field a line.
    pub(super) fn show_buffer(&self, w: &mut dyn fmt::Write, unreadable: bool) -> fmt::Result {
        match self.head(w, unreadable)? {
            Some(buffer) => render::buffer(w, &buffer),
            None => Ok(()),
        }
    }

    /// Prints the buffer as the manual's table.
    pub(super) fn show_layout(&self, w: &mut dyn fmt::Write, unreadable: bool) -> fmt::Result {
        match self.head(w, unreadable)? {
            Some(buffer) => dump::write(w, Buffer::TABLE, Buffer::BAR_OFFSET, buffer.as_bytes()),
            None => Ok(()),
        }
    }

    /// Returns the last reading, having printed when and why it was made.
    fn head(&self, w: &mut dyn fmt::Write, unreadable: bool) -> Result<Option<Buffer>, fmt::Error> {
        if unreadable {
            writeln!(
                w,
                "not_read: firmware cannot answer reads: the health buffer is not read"
            )?;
        }
        let last = *self.last.lock();
        let Some(reading) = last else {
            writeln!(
                w,
                "reading: none (no syndrome was seen; a write of 1 to refresh reads the buffer)"
            )?;
            return Ok(None);
        };

        let why = match reading.why {
            Why::Transition => "a syndrome was seen",
            Why::Request => "asked for by a write to refresh",
        };
        writeln!(w, "reading: {} us ({why})", reading.at_us)?;
        let age_us = clock::monotonic_us().saturating_sub(reading.at_us);
        writeln!(w, "reading_age_ms: {}", age_us / 1000)?;
        w.write_str("reading_date: ")?;
        date::write(w, u64::try_from(reading.wall).unwrap_or(0))?;
        writeln!(w)?;
        Ok(Some(reading.buffer))
    }
}
