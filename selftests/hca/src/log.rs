// SPDX-License-Identifier: GPL-2.0

//! The command log: the last commands with both buffers, and all of them in a file if asked for.

use std::collections::VecDeque;
use std::fs::File;
use std::io::{
    BufWriter,
    Write, //
};
use std::time::Duration;

use crate::bits;

/// Commands kept for the control socket.
const KEPT: usize = 2048;

/// Bytes of a buffer that the control socket shows; the file has all.
const SHOWN: usize = 1024;

/// A command that completed.
#[derive(Debug, Clone)]
pub struct Record {
    pub sequence: u64,
    pub name: String,
    pub opcode: u16,
    pub op_mod: u16,
    pub slot: u32,
    pub token: u8,
    pub delivery: u8,
    pub status: u8,
    pub syndrome: u32,
    /// From doorbell to completion.
    pub time: Duration,
    pub input: Vec<u8>,
    pub output: Vec<u8>,
}

impl Record {
    /// One line without the buffers.
    pub fn line(&self) -> String {
        format!(
            "{} {} opcode 0x{:x} op_mod 0x{:x} slot {} token 0x{:02x} delivery 0x{:x} status 0x{:x} \
             syndrome 0x{:x} in {} out {} us {}",
            self.sequence,
            self.name,
            self.opcode,
            self.op_mod,
            self.slot,
            self.token,
            self.delivery,
            self.status,
            self.syndrome,
            self.input.len(),
            self.output.len(),
            self.time.as_micros()
        )
    }

    /// The line and both buffers.
    pub fn full(&self, limit: usize) -> Vec<String> {
        let mut lines = vec![self.line()];
        for (name, data) in [("in", &self.input), ("out", &self.output)] {
            let shown = &data[..data.len().min(limit)];
            lines.extend(bits::dump(shown).iter().map(|l| format!("  {name} {l}")));
        }
        lines
    }
}

/// The log.
#[derive(Default)]
pub struct CommandLog {
    file: Option<BufWriter<File>>,
    records: VecDeque<Record>,
    sequence: u64,
}

impl CommandLog {
    /// Creates the log.
    ///
    /// # Errors
    ///
    /// If the file cannot be created.
    pub fn new(path: Option<&str>) -> std::io::Result<CommandLog> {
        Ok(CommandLog {
            file: path.map(File::create).transpose()?.map(BufWriter::new),
            ..CommandLog::default()
        })
    }

    /// Adds a record; its sequence number is set here.
    pub fn add(&mut self, mut record: Record) {
        self.sequence += 1;
        record.sequence = self.sequence;
        if let Some(file) = &mut self.file {
            for line in record.full(usize::MAX) {
                // A full disk must not stop the model.
                let _ = writeln!(file, "{line}");
            }
        }
        if self.records.len() >= KEPT {
            self.records.pop_front();
        }
        self.records.push_back(record);
    }

    /// Writes what is buffered to the file.
    pub fn flush(&mut self) {
        if let Some(file) = &mut self.file {
            let _ = file.flush();
        }
    }

    /// The last `n` records, oldest first.
    pub fn last(&self, n: usize) -> impl Iterator<Item = &Record> {
        self.records
            .iter()
            .skip(self.records.len().saturating_sub(n))
    }

    /// The last `n` records as text.
    pub fn show(&self, n: usize, buffers: bool) -> Vec<String> {
        self.last(n)
            .flat_map(|r| {
                if buffers {
                    r.full(SHOWN)
                } else {
                    vec![r.line()]
                }
            })
            .collect()
    }

    /// Forgets the records; the file keeps its lines.
    pub fn clear(&mut self) {
        self.records.clear();
    }
}
