// SPDX-License-Identifier: GPL-2.0

//! What was sent last, and what failed last, with the bytes of both directions.
//!
//! The room for it is allocated at the start: keeping a command allocates nothing. Buffers longer
//! than a record has room for are cut, and the record says so.

use crate::prm::opcode::Opcode;
use core::fmt;
use kernel::{
    new_mutex,
    prelude::*,
    sync::Mutex, //
};

use super::error::Cause;

/// Commands that are kept.
const COMMANDS: usize = 64;

/// Bytes of input, and of output, that are kept of each of them.
const COMMAND_BYTES: usize = 128;

/// Failures that are kept.
const FAILURES: usize = 32;

/// Bytes of input, and of output, that are kept of each of them: all of the largest command.
const FAILURE_BYTES: usize = 16 + 768 * 8;

/// A command that has ended.
#[derive(Clone, Copy)]
pub(crate) struct Record {
    /// The command.
    pub(super) opcode: Opcode,
    /// Its modifier.
    pub(super) op_mod: u16,
    /// The slot it had, if it got one.
    pub(super) slot: Option<usize>,
    /// When it was sent, in microseconds of the monotonic clock.
    pub(super) at_us: u64,
    /// How long it took, in microseconds.
    pub(super) took_us: u64,
    /// Why it failed, if it did.
    pub(super) failure: Option<Cause>,
    /// Bytes of input.
    pub(super) input_length: usize,
    /// Bytes of output.
    pub(super) output_length: usize,
}

/// The bytes of a command: fixed part and tail of input and output.
#[derive(Clone, Copy)]
pub(super) struct Buffers<'a> {
    pub(super) input: [&'a [u8]; 2],
    pub(super) output: [&'a [u8]; 2],
}

/// A ring of `N` records with up to `ROOM` bytes of input, and of output, each.
struct Ring<const N: usize, const ROOM: usize> {
    records: KVec<(u64, Record)>,
    bytes: KVVec<u8>,
    /// Number of records ever added; the next one's number.
    added: u64,
}

impl<const N: usize, const ROOM: usize> Ring<N, ROOM> {
    fn new() -> Result<Self> {
        Ok(Self {
            records: KVec::with_capacity(N, GFP_KERNEL)?,
            bytes: KVVec::from_elem(0, N * ROOM * 2, GFP_KERNEL)?,
            added: 0,
        })
    }

    /// Place of record number `number`.
    fn index(number: u64) -> usize {
        const { assert!(N > 0) };

        // CAST: The remainder is less than `N`.
        (number % N as u64) as usize
    }

    /// The rooms for input and output of the record at `index`.
    fn room(&mut self, index: usize) -> Option<(&mut [u8], &mut [u8])> {
        self.bytes
            .get_mut(index * ROOM * 2..)?
            .get_mut(..ROOM * 2)?
            .split_at_mut_checked(ROOM)
    }

    fn add(&mut self, record: &Record, buffers: &Buffers<'_>) {
        let index = Self::index(self.added);
        let numbered = (self.added, *record);

        if let Some(place) = self.records.get_mut(index) {
            *place = numbered;
        } else if self.records.push_within_capacity(numbered).is_err() {
            // Cannot be: the room was allocated at the start.
            return;
        }
        self.added = self.added.wrapping_add(1);

        if let Some((input, output)) = self.room(index) {
            copy(input, buffers.input);
            copy(output, buffers.output);
        }
    }

    /// Calls `each` for every record, oldest first, with input and output as far as they were kept.
    fn each(&self, mut each: impl FnMut(u64, &Record, &[u8], &[u8]) -> fmt::Result) -> fmt::Result {
        let oldest = self.added.saturating_sub(self.records.len() as u64);

        for number in oldest..self.added {
            let index = Self::index(number);
            let Some((number, record)) = self.records.get(index) else {
                continue;
            };
            let part = |at: usize, length: usize| {
                self.bytes
                    .get(at..at + length.min(ROOM))
                    .unwrap_or_default()
            };
            let at = index * ROOM * 2;
            each(
                *number,
                record,
                part(at, record.input_length),
                part(at + ROOM, record.output_length),
            )?;
        }
        Ok(())
    }
}

fn copy(to: &mut [u8], from: [&[u8]; 2]) {
    let from = from.iter().flat_map(|part| part.iter());

    for (to, from) in to.iter_mut().zip(from) {
        *to = *from;
    }
}

/// The last commands and the last failures.
#[pin_data]
pub(crate) struct History {
    #[pin]
    commands: Mutex<Ring<COMMANDS, COMMAND_BYTES>>,
    #[pin]
    failures: Mutex<Ring<FAILURES, FAILURE_BYTES>>,
}

impl History {
    /// Allocates the room for all records.
    pub(super) fn new() -> impl PinInit<Self, Error> {
        try_pin_init!(Self {
            commands <- new_mutex!(Ring::new()?),
            failures <- new_mutex!(Ring::new()?),
        })
    }

    /// Keeps a command that has ended.
    pub(super) fn add(&self, record: &Record, buffers: &Buffers<'_>) {
        self.commands.lock().add(record, buffers);
        if record.failure.is_some() {
            self.failures.lock().add(record, buffers);
        }
    }

    /// Prints the last commands, a line each, oldest first.
    pub(super) fn show(&self, w: &mut dyn fmt::Write) -> fmt::Result {
        writeln!(w, "# number at_us took_us slot input output command")?;
        self.commands
            .lock()
            .each(|number, record, _, _| write_line(w, number, record))
    }

    /// Prints the last commands with their bytes.
    pub(super) fn show_data(&self, w: &mut dyn fmt::Write) -> fmt::Result {
        self.commands
            .lock()
            .each(|number, record, input, output| write_whole(w, number, record, input, output))
    }

    /// Prints the last failures with their bytes.
    pub(super) fn show_failures(&self, w: &mut dyn fmt::Write) -> fmt::Result {
        self.failures
            .lock()
            .each(|number, record, input, output| write_whole(w, number, record, input, output))
    }

    /// Number of failures since the start.
    pub(super) fn failed(&self) -> u64 {
        self.failures.lock().added
    }
}

fn write_line(w: &mut dyn fmt::Write, number: u64, record: &Record) -> fmt::Result {
    write!(w, "{number} {} {} ", record.at_us, record.took_us)?;
    match record.slot {
        Some(slot) => write!(w, "{slot} ")?,
        None => write!(w, "- ")?,
    }
    write!(
        w,
        "{:#x} {:#x} {} op_mod({:#x}) ",
        record.input_length, record.output_length, record.opcode, record.op_mod,
    )?;
    match &record.failure {
        Some(cause) => writeln!(w, "failed, {cause}"),
        None => writeln!(w, "ok"),
    }
}

/// Prints a record with its bytes in the form of mlx5_core's dumps, so that both can be compared.
fn write_whole(
    w: &mut dyn fmt::Write,
    number: u64,
    record: &Record,
    input: &[u8],
    output: &[u8],
) -> fmt::Result {
    write_line(w, number, record)?;
    write_bytes(w, "INPUT", number, record.input_length, input)?;
    write_bytes(w, "OUTPUT", number, record.output_length, output)
}

fn write_bytes(
    w: &mut dyn fmt::Write,
    title: &str,
    number: u64,
    length: usize,
    bytes: &[u8],
) -> fmt::Result {
    write!(w, "cmd[{number}]: {title}")?;
    if bytes.len() < length {
        write!(w, ", first {:#x} of {length:#x} bytes", bytes.len())?;
    }
    writeln!(w)?;

    for (i, row) in bytes.chunks(16).enumerate() {
        write!(w, "cmd[{number}]: {:03x}:", i * 16)?;
        for word in row.chunks(4) {
            w.write_char(' ')?;
            for byte in word {
                write!(w, "{byte:02x}")?;
            }
        }
        writeln!(w)?;
    }
    Ok(())
}
