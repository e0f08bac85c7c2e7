// SPDX-License-Identifier: GPL-2.0

//! Counters of commands: one set for each operation code that the module sends.
//!
//! Names are those of mlx5_core's debugfs, which users know, and the longest time beside them.

use crate::{
    kernel_ext::debugfs::Dir,
    prm::opcode::Opcode, //
};
use core::fmt::{
    self,
    Write, //
};
use kernel::{
    prelude::*,
    str::CString,
    sync::{
        atomic::{
            Atomic,
            Relaxed, //
        },
        Arc, //
    }, //
};

use super::error::{
    Cause,
    Error as CommandError, //
};

/// The commands that the module sends.
const SENT: &[Opcode] = &[
    Opcode::QUERY_HCA_CAP,
    Opcode::QUERY_ADAPTER,
    Opcode::INIT_HCA,
    Opcode::TEARDOWN_HCA,
    Opcode::ENABLE_HCA,
    Opcode::DISABLE_HCA,
    Opcode::QUERY_PAGES,
    Opcode::MANAGE_PAGES,
    Opcode::SET_HCA_CAP,
    Opcode::QUERY_ISSI,
    Opcode::SET_ISSI,
    Opcode::SET_DRIVER_VERSION,
    Opcode::CREATE_EQ,
    Opcode::DESTROY_EQ,
    Opcode::QUERY_EQ,
    Opcode::QUERY_ESW_FUNCTIONS,
    Opcode::ALLOC_UAR,
    Opcode::DEALLOC_UAR,
    Opcode::ACCESS_REG,
    Opcode::NOP,
];

/// Counters of one operation code.
pub(crate) struct Counter {
    opcode: Opcode,
    n: Atomic<u64>,
    failed: Atomic<u64>,
    failed_mbox_status: Atomic<u64>,
    last_failed_errno: Atomic<u32>,
    last_failed_mbox_status: Atomic<u32>,
    last_failed_syndrome: Atomic<u32>,
    total_us: Atomic<u64>,
    longest_us: Atomic<u64>,
}

impl Counter {
    fn new(opcode: Opcode) -> Self {
        Self {
            opcode,
            n: Atomic::new(0),
            failed: Atomic::new(0),
            failed_mbox_status: Atomic::new(0),
            last_failed_errno: Atomic::new(0),
            last_failed_mbox_status: Atomic::new(0),
            last_failed_syndrome: Atomic::new(0),
            total_us: Atomic::new(0),
            longest_us: Atomic::new(0),
        }
    }

    fn count(&self, took_us: u64, error: Option<&CommandError>) {
        self.n.fetch_add(1, Relaxed);
        self.total_us.fetch_add(took_us, Relaxed);
        let mut longest = self.longest_us.load(Relaxed);
        while took_us > longest {
            match self.longest_us.cmpxchg(longest, took_us, Relaxed) {
                Ok(_) => break,
                Err(now) => longest = now,
            }
        }

        let Some(error) = error else { return };
        self.failed.fetch_add(1, Relaxed);
        // Without the sign, as mlx5_core shows it.
        self.last_failed_errno
            .store(error.errno().to_errno().unsigned_abs(), Relaxed);
        if let Cause::Refused { status, syndrome } = error.cause {
            self.failed_mbox_status.fetch_add(1, Relaxed);
            self.last_failed_mbox_status
                .store(u32::from(status.0), Relaxed);
            self.last_failed_syndrome.store(syndrome, Relaxed);
        }
    }

    fn average_us(&self) -> u64 {
        self.total_us
            .load(Relaxed)
            .checked_div(self.n.load(Relaxed))
            .unwrap_or(0)
    }

    /// Sets everything back to zero; commands that end meanwhile may be counted in part.
    fn reset(&self) {
        self.n.store(0, Relaxed);
        self.failed.store(0, Relaxed);
        self.failed_mbox_status.store(0, Relaxed);
        self.last_failed_errno.store(0, Relaxed);
        self.last_failed_mbox_status.store(0, Relaxed);
        self.last_failed_syndrome.store(0, Relaxed);
        self.total_us.store(0, Relaxed);
        self.longest_us.store(0, Relaxed);
    }
}

/// Counters of all commands of one function.
pub(crate) struct Counters {
    counters: KVec<Arc<Counter>>,
}

impl Counters {
    pub(super) fn new() -> Result<Self> {
        let mut counters = KVec::with_capacity(SENT.len(), GFP_KERNEL)?;

        for opcode in SENT {
            counters.push(Arc::new(Counter::new(*opcode), GFP_KERNEL)?, GFP_KERNEL)?;
        }
        Ok(Self { counters })
    }

    /// Counts a command that has ended.
    pub(super) fn count(&self, opcode: Opcode, took_us: u64, error: Option<&CommandError>) {
        if let Some(counter) = self.counters.iter().find(|one| one.opcode == opcode) {
            counter.count(took_us, error);
        }
    }

    /// Commands sent, and commands failed, since the start or the last reset.
    pub(super) fn totals(&self) -> (u64, u64) {
        let sum = |of: fn(&Counter) -> u64| self.counters.iter().map(|one| of(one)).sum();

        (
            sum(|one| one.n.load(Relaxed)),
            sum(|one| one.failed.load(Relaxed)),
        )
    }

    /// Prints a line for every command that was sent at least once.
    pub(super) fn show(&self, w: &mut dyn fmt::Write) -> fmt::Result {
        writeln!(w, "# command n failed average_us longest_us")?;
        for one in &self.counters {
            let n = one.n.load(Relaxed);
            if n > 0 {
                writeln!(
                    w,
                    "{} {n} {} {} {}",
                    one.opcode,
                    one.failed.load(Relaxed),
                    one.average_us(),
                    one.longest_us.load(Relaxed),
                )?;
            }
        }
        Ok(())
    }

    /// Makes a directory for each command in `dir`, and keeps it in `dirs`.
    pub(super) fn files(&self, dir: &Dir, dirs: &mut KVec<Dir>) -> Result {
        for one in &self.counters {
            let name = CString::try_from_fmt(fmt!("{}", one.opcode.name().unwrap_or("unknown")))?;
            let sub = dir.subdir(&name)?;
            counter_files(&sub, one)?;
            dirs.push(sub, GFP_KERNEL)?;
        }
        Ok(())
    }
}

fn counter_files(dir: &Dir, counter: &Arc<Counter>) -> Result {
    let one = || counter.clone();

    dir.read_file(c"n", one(), |c, w| {
        Ok(writeln!(w, "{}", c.n.load(Relaxed))?)
    })?;
    dir.read_file(c"failed", one(), |c, w| {
        Ok(writeln!(w, "{}", c.failed.load(Relaxed))?)
    })?;
    dir.read_file(c"failed_mbox_status", one(), |c, w| {
        Ok(writeln!(w, "{}", c.failed_mbox_status.load(Relaxed))?)
    })?;
    dir.read_file(c"last_failed_errno", one(), |c, w| {
        Ok(writeln!(w, "{}", c.last_failed_errno.load(Relaxed))?)
    })?;
    dir.read_file(c"last_failed_mbox_status", one(), |c, w| {
        Ok(writeln!(
            w,
            "{:#x}",
            c.last_failed_mbox_status.load(Relaxed)
        )?)
    })?;
    dir.read_file(c"last_failed_syndrome", one(), |c, w| {
        Ok(writeln!(w, "{:#x}", c.last_failed_syndrome.load(Relaxed))?)
    })?;
    dir.read_file(c"average", one(), |c, w| {
        Ok(writeln!(w, "{}", c.average_us())?)
    })?;
    dir.read_file(c"longest", one(), |c, w| {
        Ok(writeln!(w, "{}", c.longest_us.load(Relaxed))?)
    })?;
    dir.write_file(c"reset", one(), |c, _| {
        c.reset();
        Ok(())
    })
}
