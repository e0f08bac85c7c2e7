// SPDX-License-Identifier: GPL-2.0

//! The files in `health/`. Reading one only formats what is there; no register is touched.

use super::Record;
use crate::kernel_ext::debugfs::{
    parse,
    Dir, //
};
use kernel::{
    prelude::*,
    sync::Arc, //
};

/// The directory `health` with its files.
pub(crate) struct Files {
    _dir: Dir,
}

impl Files {
    /// Makes the directory under `parent`.
    ///
    /// # Errors
    ///
    /// Those of debugfs; [`ENOMEM`] without memory.
    pub(crate) fn new(parent: &Dir, record: &Arc<Record>) -> Result<Self> {
        let dir = parent.subdir(c"health")?;

        dir.read_file(c"status", record.clone(), |record, w| {
            Ok(record.show_status(w)?)
        })?;
        dir.read_file(c"changes", record.clone(), |record, w| {
            Ok(record.show_changes(w)?)
        })?;
        dir.rw_file(
            c"evidence",
            record.clone(),
            |record, w| record.show_evidence(w),
            |record, bytes| {
                clears(bytes)?;
                record.clear_evidence();
                Ok(())
            },
        )?;
        dir.read_file(c"leftover", record.clone(), |record, w| {
            Ok(record.show_leftover(w)?)
        })?;
        dir.rw_file(
            c"sensors",
            record.clone(),
            |record, w| Ok(record.alarms().show(w)?),
            |record, bytes| {
                clears(bytes)?;
                record.alarms().clear();
                Ok(())
            },
        )?;
        dir.setting(c"slow_ms", record.clone(), Record::slow_ms, |_| ())?;
        dir.read_file(c"state", record.clone(), |record, w| {
            Ok(record.show_state(w)?)
        })?;
        dir.read_file(c"buffer", record.clone(), |record, w| {
            Ok(record.show_buffer(w)?)
        })?;
        dir.read_file(c"layout", record.clone(), |record, w| {
            Ok(record.show_layout(w)?)
        })?;
        dir.read_file(c"history", record.clone(), |record, w| {
            Ok(record.show_history(w)?)
        })?;
        dir.setting(
            c"interval_ms",
            record.clone(),
            Record::interval_ms,
            Record::settings_changed,
        )?;
        dir.setting(c"threshold", record.clone(), Record::threshold, |_| ())?;
        dir.write_file(c"refresh", record.clone(), |record, bytes| {
            if !parse::boolean(bytes)? {
                return Err(EINVAL);
            }
            record.refresh()
        })?;

        Ok(Self { _dir: dir })
    }
}

/// Checks that what was written to a file means that its content shall be forgotten: 0.
fn clears(bytes: &[u8]) -> Result {
    if parse::boolean(bytes)? {
        return Err(EINVAL);
    }
    Ok(())
}
