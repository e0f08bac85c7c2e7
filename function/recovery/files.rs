// SPDX-License-Identifier: GPL-2.0

//! The files in `recovery/`.

use super::Record;
use crate::kernel_ext::debugfs::{
    parse,
    Dir, //
};
use core::fmt::Write;
use kernel::{
    prelude::*,
    sync::Arc, //
};

/// The directory `recovery` with its files.
pub(in crate::function) struct Files {
    _dir: Dir,
}

impl Files {
    /// Makes the directory under `parent`.
    ///
    /// # Errors
    ///
    /// Those of debugfs; [`ENOMEM`] without memory.
    pub(in crate::function) fn new(parent: &Dir, record: &Arc<Record>) -> Result<Self> {
        let dir = parent.subdir(c"recovery")?;

        dir.read_file(c"state", record.clone(), |record, w| {
            Ok(record.show_state(w)?)
        })?;
        dir.read_file(c"history", record.clone(), |record, w| {
            Ok(record.show_history(w)?)
        })?;
        dir.write_file(c"trigger", record.clone(), |record, bytes| {
            if !parse::boolean(bytes)? {
                return Err(EINVAL);
            }
            record.trigger()
        })?;
        dir.rw_file(
            c"auto",
            record.clone(),
            |record, w| Ok(writeln!(w, "{}", u8::from(record.auto()))?),
            |record, bytes| {
                record.set_auto(parse::boolean(bytes)?);
                Ok(())
            },
        )?;
        dir.setting(
            c"limit",
            record.clone(),
            Record::limit,
            Record::settings_changed,
        )?;
        dir.setting(
            c"backoff_ms",
            record.clone(),
            Record::backoff_ms,
            Record::settings_changed,
        )?;

        Ok(Self { _dir: dir })
    }
}
