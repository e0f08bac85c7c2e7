// SPDX-License-Identifier: GPL-2.0

//! The files in `esw/`. Reading one only formats what is there; `refresh` sends a command.

use super::Record;
use crate::kernel_ext::debugfs::{
    parse,
    Dir, //
};
use kernel::{
    prelude::*,
    sync::Arc, //
};

/// The directory `esw` with its files.
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
        let dir = parent.subdir(c"esw")?;

        dir.read_file(c"support", record.clone(), |record, w| {
            Ok(record.show_support(w)?)
        })?;
        dir.read_file(c"functions", record.clone(), |record, w| {
            Ok(record.show_functions(w)?)
        })?;
        dir.read_file(c"layout", record.clone(), |record, w| {
            Ok(record.show_layout(w)?)
        })?;
        dir.read_file(c"history", record.clone(), |record, w| {
            Ok(record.show_history(w)?)
        })?;
        dir.write_file(c"refresh", record.clone(), |record, bytes| {
            if !parse::boolean(bytes)? {
                return Err(EINVAL);
            }
            record.refresh()
        })?;

        Ok(Self { _dir: dir })
    }
}
