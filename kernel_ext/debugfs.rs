// SPDX-License-Identifier: GPL-2.0

//! Files in debugfs that keep their module loaded while they are open, and whose errors reach the
//! reader.
//!
//! The files of [`kernel::debugfs`] have no owner: an open file does not keep the module from
//! being unloaded, and its release then calls into freed memory. Their reads cannot fail.
//!
//! Contents are produced in one piece, when a reader starts at offset 0, and kept for the reads
//! that follow: what a reader sees is one state, not a mix. If the contents do not fit into the
//! buffer, they are produced again with a larger one, so the callback must not change anything.
//!
//! C header: [`include/linux/debugfs.h`](srctree/include/linux/debugfs.h)

mod bound;
mod file;
pub(crate) mod parse;
mod root;
mod seq;
mod setting;

pub(crate) use self::{
    bound::BoundFile,
    root::Root,
    seq::Seq,
    setting::Setting, //
};

use self::file::{
    Kind,
    Node, //
};
use kernel::{
    bindings,
    error::from_err_ptr,
    new_mutex,
    prelude::*,
    sync::{
        Arc,
        Mutex, //
    }, //
};

/// A directory with its files; dropping it removes them.
///
/// The drop waits for running callbacks, so it must not happen in one of them, nor under a lock
/// that one of them takes. Files that are open then give [`EIO`]. Subdirectories keep their parent:
/// it is removed with the last of them.
pub(crate) struct Dir {
    inner: Arc<Inner>,
}

/// # Invariants
///
/// `dentry` is a directory of debugfs that nobody else removes. The files in it refer to `nodes`.
#[pin_data(PinnedDrop)]
struct Inner {
    dentry: *mut bindings::dentry,
    /// Boxed, as debugfs has their addresses; freed after `drop()` has removed the files.
    #[pin]
    nodes: Mutex<KVec<KBox<Node<'static>>>>,
    /// Keeps the parent directory, which would take this one with it.
    _parent: Option<Arc<Inner>>,
}

// SAFETY: debugfs may be used from any thread, and `nodes` are `Send`.
unsafe impl Send for Inner {}

// SAFETY: The functions called on `dentry` take the locks that they need.
unsafe impl Sync for Inner {}

impl Dir {
    /// Makes a directory at the top of debugfs.
    ///
    /// # Errors
    ///
    /// [`EEXIST`] if the name is taken, [`ENODEV`] without debugfs, [`EPERM`] if it is locked,
    /// [`ENOMEM`] without memory.
    pub(crate) fn root(name: &CStr) -> Result<Self> {
        Self::make(name, None)
    }

    /// Makes a directory in this one.
    ///
    /// # Errors
    ///
    /// As [`root`](Self::root).
    pub(crate) fn subdir(&self, name: &CStr) -> Result<Self> {
        Self::make(name, Some(self.inner.clone()))
    }

    fn make(name: &CStr, parent: Option<Arc<Inner>>) -> Result<Self> {
        let parent_dentry = parent
            .as_ref()
            .map_or(core::ptr::null_mut(), |parent| parent.dentry);

        // SAFETY: `name` is a C string, `parent_dentry` null or, by the type invariant of `Inner`,
        // a directory, which lives as long as `parent`.
        let dentry = from_err_ptr(unsafe {
            bindings::debugfs_create_dir(name.as_char_ptr(), parent_dentry)
        })?;

        // INVARIANT: The directory was made above, and only `Inner` has it.
        let inner = Arc::pin_init(
            pin_init!(Inner {
                dentry,
                nodes <- new_mutex!(KVec::new()),
                _parent: parent,
            }),
            GFP_KERNEL,
        )
        .inspect_err(|_| {
            // SAFETY: The directory was made above and has no other owner, as `Inner` was not
            // made.
            unsafe { bindings::debugfs_remove(dentry) }
        })?;

        Ok(Self { inner })
    }

    /// Makes a file (mode 0400) whose contents are what `show` writes.
    ///
    /// If `show` fails, reading the file gives that error.
    ///
    /// # Errors
    ///
    /// As [`root`](Self::root); the errors of all functions that make files are the same.
    pub(crate) fn read_file<T, S>(&self, name: &CStr, data: Arc<T>, show: S) -> Result
    where
        T: Send + Sync + 'static,
        S: Fn(&T, &mut Seq<'_>) -> Result + Send + Sync + 'static,
    {
        self.read_file_sized(name, data, 0, show)
    }

    /// As [`read_file`](Self::read_file), for contents of about `size` bytes: with room from the
    /// start they need not be produced several times.
    pub(crate) fn read_file_sized<T, S>(
        &self,
        name: &CStr,
        data: Arc<T>,
        size: usize,
        show: S,
    ) -> Result
    where
        T: Send + Sync + 'static,
        S: Fn(&T, &mut Seq<'_>) -> Result + Send + Sync + 'static,
    {
        self.add(
            name,
            Kind::Read,
            Node::new(data, size, show, file::no_write)?,
        )
    }

    /// Makes a file (mode 0200) that hands what is written to `write`.
    ///
    /// Each `write(2)` is one call with all its bytes, at most [`MAX_WRITE`](file::MAX_WRITE); its
    /// error is the one that the writer gets.
    pub(crate) fn write_file<T, W>(&self, name: &CStr, data: Arc<T>, write: W) -> Result
    where
        T: Send + Sync + 'static,
        W: Fn(&T, &[u8]) -> Result + Send + Sync + 'static,
    {
        self.add(name, Kind::Write, Node::new(data, 0, file::no_show, write)?)
    }

    /// Makes a file (mode 0600) to read and to write.
    pub(crate) fn rw_file<T, S, W>(&self, name: &CStr, data: Arc<T>, show: S, write: W) -> Result
    where
        T: Send + Sync + 'static,
        S: Fn(&T, &mut Seq<'_>) -> Result + Send + Sync + 'static,
        W: Fn(&T, &[u8]) -> Result + Send + Sync + 'static,
    {
        self.add(name, Kind::ReadWrite, Node::new(data, 0, show, write)?)
    }

    fn add(&self, name: &CStr, kind: Kind, node: Node<'static>) -> Result {
        let node = KBox::new(node, GFP_KERNEL)?;
        let data = core::ptr::from_ref::<Node<'_>>(&node)
            .cast_mut()
            .cast::<c_void>();

        let mut nodes = self.inner.nodes.lock();
        nodes.reserve(1, GFP_KERNEL)?;

        // SAFETY:
        // - `name` is a C string, and `dentry` a directory by the type invariant of `Inner`.
        // - The operations want a `Node` that does not move and lives until the file is removed:
        //   it is boxed, pushed to `nodes` below (for which there is room), and freed after the
        //   file was removed, in the drop of `Inner`. Removal waits for running operations, and
        //   debugfs starts no more of them afterwards, except for the release of open files, which
        //   does not look at the node.
        // - The operations are static and owned by this module.
        let made = from_err_ptr(unsafe {
            bindings::debugfs_create_file_full(
                name.as_char_ptr(),
                kind.mode(),
                self.inner.dentry,
                data,
                core::ptr::null(),
                kind.operations(),
            )
        });

        made?;
        nodes.push(node, GFP_KERNEL)?;
        Ok(())
    }
}

#[pinned_drop]
impl PinnedDrop for Inner {
    fn drop(self: Pin<&mut Self>) {
        // SAFETY: By the type invariant the directory is ours, and it still exists: its parent is
        // kept by `_parent`. Removes the files too and waits for running operations.
        unsafe { bindings::debugfs_remove(self.dentry) };
    }
}
