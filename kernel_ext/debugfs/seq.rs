// SPDX-License-Identifier: GPL-2.0

//! The text that a file shows.
//!
//! C header: [`include/linux/seq_file.h`](srctree/include/linux/seq_file.h)

use core::marker::PhantomData;
use kernel::{
    bindings,
    fmt,
    prelude::*, //
};

/// The contents of a file while they are produced; to be written to with `write!`.
///
/// A write fails when the buffer is full. That is no failure of the file: return the error, and the
/// contents are asked for once more with a larger buffer.
///
/// # Invariants
///
/// `seq` is valid and used by nobody else while this object lives.
pub(crate) struct Seq<'a> {
    seq: *mut bindings::seq_file,
    _borrow: PhantomData<&'a mut bindings::seq_file>,
}

impl Seq<'_> {
    /// Wraps the C structure.
    ///
    /// # Safety
    ///
    /// `seq` must be valid and used by nobody else while the returned object lives.
    pub(super) unsafe fn from_raw(seq: *mut bindings::seq_file) -> Self {
        // INVARIANT: By the safety requirement.
        Self {
            seq,
            _borrow: PhantomData,
        }
    }

    /// Appends bytes that need not be text.
    ///
    /// # Errors
    ///
    /// [`EOVERFLOW`] if the buffer is full; to be returned.
    pub(crate) fn bytes(&mut self, bytes: &[u8]) -> Result {
        // SAFETY: By the type invariant, and `bytes` is readable for its length.
        let ret = unsafe { bindings::seq_write(self.seq, bytes.as_ptr().cast(), bytes.len()) };

        if ret == 0 {
            Ok(())
        } else {
            Err(EOVERFLOW)
        }
    }

    /// Returns whether something did not fit.
    pub(super) fn overflowed(&self) -> bool {
        // SAFETY: By the type invariant. This is what `seq_has_overflowed()` looks at.
        unsafe { (*self.seq).count == (*self.seq).size }
    }
}

impl fmt::Write for Seq<'_> {
    fn write_str(&mut self, text: &str) -> fmt::Result {
        self.bytes(text.as_bytes()).map_err(|_| fmt::Error)
    }
}
