// SPDX-License-Identifier: GPL-2.0

//! What debugfs shows of the event queues.

use crate::kernel_ext::debugfs::Dir;
use kernel::{
    prelude::*,
    str::CString, //
};

use super::Record;

/// The directory `eq` with its files.
pub(crate) struct Files {
    _queues: KVec<Dir>,
    _dir: Dir,
}

impl Files {
    /// Makes the directory under `parent`.
    ///
    /// # Errors
    ///
    /// Those of debugfs; [`ENOMEM`] without memory.
    pub(crate) fn new(parent: &Dir, record: &Record) -> Result<Self> {
        let dir = parent.subdir(c"eq")?;

        dir.read_file(c"events", record.seen().clone(), |seen, w| {
            Ok(seen.show_counts(w)?)
        })?;
        dir.read_file(c"last", record.seen().clone(), |seen, w| {
            Ok(seen.show_last(w)?)
        })?;

        let mut queues = KVec::new();
        for stats in record.queues() {
            let name = CString::try_from_fmt(fmt!("{}", stats.kind().name()))?;
            let sub = dir.subdir(&name)?;
            sub.read_file(c"state", stats.clone(), |stats, w| Ok(stats.show(w)?))?;
            queues.push(sub, GFP_KERNEL)?;
        }
        Ok(Self {
            _queues: queues,
            _dir: dir,
        })
    }
}
