// SPDX-License-Identifier: GPL-2.0

//! Numbers that users can change while the module runs.

use super::{
    parse,
    Dir, //
};
use core::{
    fmt::Write,
    ops::RangeInclusive, //
};
use kernel::{
    prelude::*,
    sync::{
        atomic::{
            Atomic,
            Relaxed, //
        },
        Arc, //
    },
};

/// A number within a range, which is read and changed from any thread.
///
/// What depends on it looks at it anew each time; nothing else is ordered by it.
pub(crate) struct Setting {
    value: Atomic<u32>,
    range: RangeInclusive<u32>,
}

impl Setting {
    /// Makes a setting that is `value` until it is changed, and can be changed within `range`.
    ///
    /// `value` itself need not be in the range.
    pub(crate) const fn new(value: u32, range: RangeInclusive<u32>) -> Self {
        Self {
            value: Atomic::new(value),
            range,
        }
    }

    /// The number now.
    pub(crate) fn get(&self) -> u32 {
        self.value.load(Relaxed)
    }

    /// Changes the number.
    ///
    /// # Errors
    ///
    /// [`ERANGE`] outside of the range; the number stays as it was.
    pub(crate) fn set(&self, value: u32) -> Result {
        if !self.range.contains(&value) {
            return Err(ERANGE);
        }
        self.value.store(value, Relaxed);
        Ok(())
    }

    /// Changes the number to the one in the range that is nearest to `value`.
    pub(crate) fn set_nearest(&self, value: u64) {
        let value = u32::try_from(value).unwrap_or(u32::MAX);

        let (least, most) = (*self.range.start(), *self.range.end());

        // Not clamp(), which would panic for a range that is empty.
        self.value.store(value.max(least).min(most), Relaxed);
    }
}

impl Dir {
    /// Makes a file (mode 0600) that shows a setting of `data` and changes it; `changed` is called
    /// after each change.
    ///
    /// A write gives [`EINVAL`] for what is no number, and [`ERANGE`] for one outside of the range.
    pub(crate) fn setting<T, S, C>(
        &self,
        name: &CStr,
        data: Arc<T>,
        setting: S,
        changed: C,
    ) -> Result
    where
        T: Send + Sync + 'static,
        S: Fn(&T) -> &Setting + Copy + Send + Sync + 'static,
        C: Fn(&T) + Send + Sync + 'static,
    {
        self.rw_file(
            name,
            data,
            move |data, w| Ok(writeln!(w, "{}", setting(data).get())?),
            move |data, bytes| {
                setting(data).set(parse::u32(bytes)?)?;
                changed(data);
                Ok(())
            },
        )
    }
}
