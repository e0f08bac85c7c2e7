// SPDX-License-Identifier: GPL-2.0

//! Files that use what lives only as long as a driver is bound to its device.
//!
//! The files of a [`Dir`] have data that lives for ever, as far as types go, since nothing says
//! when the directory is dropped. A file of this kind is removed at the latest when the driver is
//! unbound (see [`Managed`]), so that writing to it may do something with the device itself.

use super::{
    file::{
        self,
        Kind,
        Node, //
    },
    Dir,
    Inner, //
};
use crate::kernel_ext::scope::{
    Managed,
    Scope, //
};
use kernel::{
    bindings,
    error::from_err_ptr,
    prelude::*,
    sync::Arc, //
};

/// A file to write to, whose data may borrow for `'bound`; removed when dropped.
///
/// The drop waits for writes that are running, so it must not happen under a lock that they take.
pub(crate) struct BoundFile<'bound> {
    _file: Managed<'bound, File<'bound>>,
}

impl<'bound> BoundFile<'bound> {
    /// Makes a file (mode 0200) in `dir` that hands what is written to `write`.
    ///
    /// Each `write(2)` is one call with all its bytes; its error is the one that the writer gets.
    ///
    /// # Errors
    ///
    /// As [`Dir::root`].
    pub(crate) fn new<T, W>(
        scope: Scope<'bound>,
        dir: &Dir,
        name: &CStr,
        data: Arc<T>,
        write: W,
    ) -> Result<Self>
    where
        T: Send + Sync + 'bound,
        W: Fn(&T, &[u8]) -> Result + Send + Sync + 'bound,
    {
        let node = KBox::new(Node::new(data, 0, file::no_show, write)?, GFP_KERNEL)?;
        let data = core::ptr::from_ref::<Node<'_>>(&node)
            .cast_mut()
            .cast::<c_void>();

        // SAFETY:
        // - `name` is a C string, and the directory is valid by the type invariant of `Inner`.
        // - The operations want a `Node` that does not move and lives until the file is removed. It
        //   is boxed, and `File` removes the file before it frees the node; `Managed` sees to it
        //   that this happens before `'bound` ends. Should that not come about because of an error
        //   below, `File` is dropped at once.
        let dentry = from_err_ptr(unsafe {
            bindings::debugfs_create_file_full(
                name.as_char_ptr(),
                Kind::Write.mode(),
                dir.inner.dentry,
                data,
                core::ptr::null(),
                Kind::Write.operations(),
            )
        })?;

        // INVARIANT: The file was made above, with `node` as its data.
        let file = File {
            dentry,
            _node: node,
            _dir: dir.inner.clone(),
        };
        Ok(Self {
            _file: Managed::new(scope, Ok(file))?,
        })
    }
}

/// # Invariants
///
/// `dentry` is a file of debugfs that nobody else removes, and whose data is `_node`.
struct File<'bound> {
    dentry: *mut bindings::dentry,
    /// Freed after `drop()` has removed the file.
    _node: KBox<Node<'bound>>,
    /// Keeps the directory, which would take the file with it.
    _dir: Arc<Inner>,
}

// SAFETY: debugfs may be used from any thread, and the node is `Send`, being made of such parts.
unsafe impl Send for File<'_> {}

impl Drop for File<'_> {
    fn drop(&mut self) {
        // SAFETY: By the type invariant. The removal waits for operations that are running, and
        // debugfs starts no more of them afterwards.
        unsafe { bindings::debugfs_remove(self.dentry) };
    }
}
