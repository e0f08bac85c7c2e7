// SPDX-License-Identifier: GPL-2.0

//! What debugfs shows of the command interface.

use crate::{
    kernel_ext::{
        debugfs::{
            parse,
            BoundFile,
            Dir, //
        },
        scope::Scope, //
    },
    prm::boot::{
        Nop,
        NopIn, //
    },
};
use core::fmt;
use kernel::{
    prelude::*,
    sync::{
        atomic::Relaxed,
        Arc, //
    }, //
};

use super::{
    Gate,
    Log,
    Mode, //
};

/// Most NOPs that one write asks for.
const MAX_NOPS: u32 = 10_000;

/// The directory `cmd` with its files.
pub(crate) struct Files<'bound> {
    _nop: BoundFile<'bound>,
    _commands: KVec<Dir>,
    _dir: Dir,
}

impl<'bound> Files<'bound> {
    /// Makes the directory under `parent`.
    ///
    /// # Errors
    ///
    /// Those of debugfs; [`ENOMEM`] without memory.
    pub(crate) fn new(
        scope: Scope<'bound>,
        parent: &Dir,
        log: &Arc<Log>,
        gate: &Arc<Gate<'bound>>,
    ) -> Result<Self> {
        let dir = parent.subdir(c"cmd")?;
        let log = || log.clone();

        dir.read_file(c"state", log(), |log, w| Ok(log.show(w)?))?;
        dir.read_file(c"outstanding", log(), |log, w| {
            Ok(log.book.show_outstanding(w)?)
        })?;
        dir.read_file(c"counters", log(), |log, w| Ok(log.counters.show(w)?))?;
        dir.read_file(c"history", log(), |log, w| Ok(log.history.show(w)?))?;
        dir.read_file_sized(c"history_data", log(), 128 * 1024, |log, w| {
            Ok(log.history.show_data(w)?)
        })?;
        dir.read_file_sized(c"failures", log(), 128 * 1024, |log, w| {
            Ok(log.history.show_failures(w)?)
        })?;
        dir.setting(c"timeout_ms", log(), |log| &log.timeout_ms, |_| ())?;

        let nop = BoundFile::new(scope, &dir, c"nop", gate.clone(), |gate, bytes| {
            let count = parse::u32(bytes)?;
            if !(1..=MAX_NOPS).contains(&count) {
                return Err(ERANGE);
            }
            for _ in 0..count {
                // Many can take long, and the writer may be told to end.
                if kernel::current!().signal_pending() {
                    return Err(EINTR);
                }
                gate.enter()?.exec::<Nop>(0, NopIn::new())?;
            }
            Ok(())
        })?;

        let mut commands = KVec::new();
        log().counters.files(&dir, &mut commands)?;
        Ok(Self {
            _nop: nop,
            _commands: commands,
            _dir: dir,
        })
    }
}

impl Log {
    fn show(&self, w: &mut dyn fmt::Write) -> fmt::Result {
        let mode = if self.mode.load(Relaxed) == Mode::Events as u32 {
            "events"
        } else {
            "polling"
        };
        let on_off = |on| if on { "on" } else { "off" };

        writeln!(w, "mode: {mode}")?;
        writeln!(
            w,
            "output_signatures: {}",
            on_off(self.signatures.load(Relaxed))
        )?;
        writeln!(w, "timeout_ms: {}", self.timeout_ms.get())?;
        self.book.show(w)?;
        writeln!(w, "failures: {}", self.history.failed())
    }

    /// Prints the lines about the command interface for `summary`.
    pub(crate) fn summary(&self, w: &mut dyn fmt::Write) -> fmt::Result {
        let (sent, failed) = self.counters.totals();

        writeln!(
            w,
            "commands: {sent} sent, {failed} failed, {} slots quarantined",
            self.book.quarantined()
        )
    }
}
