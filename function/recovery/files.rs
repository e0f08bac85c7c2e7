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
        dir.rw_file(
            c"limit",
            record.clone(),
            |record, w| Ok(writeln!(w, "{}", record.limit())?),
            |record, bytes| record.set_limit(parse::u32(bytes)?),
        )?;
        dir.rw_file(
            c"backoff_ms",
            record.clone(),
            |record, w| Ok(writeln!(w, "{}", record.backoff_ms())?),
            |record, bytes| record.set_backoff_ms(parse::u32(bytes)?),
        )?;

        Ok(Self { _dir: dir })
    }
}
