// SPDX-License-Identifier: GPL-2.0

//! The operations of the files.
//!
//! C header: [`include/linux/fs.h`](srctree/include/linux/fs.h)

use super::Seq;
use crate::LocalModule;
use kernel::{
    bindings,
    module::this_module,
    prelude::*,
    sync::Arc,
    uaccess::UserSlice, //
};

/// The largest number of bytes that one write may have.
pub(crate) const MAX_WRITE: usize = 4096;

/// What a file does, whatever its data is.
trait Callbacks: Send + Sync {
    fn show(&self, seq: &mut Seq<'_>) -> Result;
    fn write(&self, bytes: &[u8]) -> Result;
}

struct File<T, S, W> {
    data: Arc<T>,
    show: S,
    write: W,
}

impl<T, S, W> Callbacks for File<T, S, W>
where
    T: Send + Sync,
    S: Fn(&T, &mut Seq<'_>) -> Result + Send + Sync,
    W: Fn(&T, &[u8]) -> Result + Send + Sync,
{
    fn show(&self, seq: &mut Seq<'_>) -> Result {
        (self.show)(&self.data, seq)
    }

    fn write(&self, bytes: &[u8]) -> Result {
        (self.write)(&self.data, bytes)
    }
}

/// A file, to which its inode refers.
pub(super) struct Node<'a> {
    /// The first size of the buffer in bytes; 0 for that of the seq file.
    size: usize,
    callbacks: KBox<dyn Callbacks + 'a>,
}

impl<'a> Node<'a> {
    pub(super) fn new<T, S, W>(data: Arc<T>, size: usize, show: S, write: W) -> Result<Self>
    where
        T: Send + Sync + 'a,
        S: Fn(&T, &mut Seq<'_>) -> Result + Send + Sync + 'a,
        W: Fn(&T, &[u8]) -> Result + Send + Sync + 'a,
    {
        Ok(Self {
            size,
            callbacks: KBox::new(File { data, show, write }, GFP_KERNEL)?,
        })
    }
}

/// The `show` of a file that cannot be read; its mode and operations keep it from being called.
pub(super) fn no_show<T>(_: &T, _: &mut Seq<'_>) -> Result {
    Err(EINVAL)
}

/// The `write` of a file that cannot be written; its mode and operations keep it from being called.
pub(super) fn no_write<T>(_: &T, _: &[u8]) -> Result {
    Err(EINVAL)
}

/// What can be done with a file.
#[derive(Clone, Copy)]
pub(super) enum Kind {
    Read,
    Write,
    ReadWrite,
}

impl Kind {
    pub(super) fn mode(self) -> u16 {
        match self {
            Self::Read => 0o400,
            Self::Write => 0o200,
            Self::ReadWrite => 0o600,
        }
    }

    pub(super) fn operations(self) -> &'static bindings::file_operations {
        match self {
            Self::Read => &READ.0,
            Self::Write => &WRITE.0,
            Self::ReadWrite => &READ_WRITE.0,
        }
    }
}

/// File operations in a static.
struct Operations(bindings::file_operations);

// SAFETY: The operations are never changed; the pointer in them is that of the module.
unsafe impl Sync for Operations {}

static READ: Operations = Operations(bindings::file_operations {
    owner: this_module::<LocalModule>().as_ptr(),
    open: Some(open_seq),
    read: Some(bindings::seq_read),
    llseek: Some(bindings::seq_lseek),
    release: Some(bindings::single_release),
    ..pin_init::zeroed()
});

static WRITE: Operations = Operations(bindings::file_operations {
    owner: this_module::<LocalModule>().as_ptr(),
    open: Some(bindings::simple_open),
    write: Some(write_plain),
    llseek: Some(bindings::noop_llseek),
    ..pin_init::zeroed()
});

static READ_WRITE: Operations = Operations(bindings::file_operations {
    owner: this_module::<LocalModule>().as_ptr(),
    open: Some(open_seq),
    read: Some(bindings::seq_read),
    write: Some(write_seq),
    llseek: Some(bindings::seq_lseek),
    release: Some(bindings::single_release),
    ..pin_init::zeroed()
});

/// Opens a file that can be read.
///
/// # Safety
///
/// Called by debugfs only, for an inode whose private data is a `Node`, which lives until all
/// operations have ended.
unsafe extern "C" fn open_seq(inode: *mut bindings::inode, file: *mut bindings::file) -> c_int {
    // SAFETY: By the safety requirement.
    let data = unsafe { (*inode).i_private };
    // SAFETY: By the safety requirement.
    let node = unsafe { &*data.cast::<Node<'_>>() };

    // SAFETY: `file` is being opened; `show` gets `data` through the seq file.
    unsafe {
        match node.size {
            0 => bindings::single_open(file, Some(show), data),
            size => bindings::single_open_size(file, Some(show), data, size),
        }
    }
}

/// Produces the contents of a file.
///
/// # Safety
///
/// Called by the seq file code only, for a seq file that was made in `open_seq()`, while a read
/// operation of debugfs is running.
unsafe extern "C" fn show(raw: *mut bindings::seq_file, _: *mut c_void) -> c_int {
    // SAFETY: `open_seq()` made the node the private data of the seq file, and the running
    // operation keeps it alive.
    let node = unsafe { &*(*raw).private.cast::<Node<'_>>() };
    // SAFETY: The seq file's lock is held during this call.
    let mut seq = unsafe { Seq::from_raw(raw) };

    let result = node.callbacks.show(&mut seq);

    match result {
        // Whatever came after the buffer was full does not count: there will be another call.
        _ if seq.overflowed() => 0,
        Ok(()) => 0,
        Err(error) => error.to_errno(),
    }
}

/// Writes to a file that can be read too.
///
/// # Safety
///
/// Called by debugfs only, for a file that was opened by `open_seq()`.
unsafe extern "C" fn write_seq(
    file: *mut bindings::file,
    buffer: *const c_char,
    count: usize,
    _offset: *mut bindings::loff_t,
) -> isize {
    // SAFETY: `single_open()` made the seq file the private data of the file.
    let seq = unsafe { (*file).private_data.cast::<bindings::seq_file>() };
    // SAFETY: `open_seq()` made the node the private data of the seq file, where it stays; the
    // running operation keeps it alive.
    let node = unsafe { &*(*seq).private.cast::<Node<'_>>() };

    write(node, buffer, count)
}

/// Writes to a file that cannot be read.
///
/// # Safety
///
/// Called by debugfs only, for a file that was opened by `simple_open()`.
unsafe extern "C" fn write_plain(
    file: *mut bindings::file,
    buffer: *const c_char,
    count: usize,
    _offset: *mut bindings::loff_t,
) -> isize {
    // SAFETY: `simple_open()` copied the private data of the inode, which is the node, to the file;
    // the running operation keeps it alive.
    let node = unsafe { &*(*file).private_data.cast::<Node<'_>>() };

    write(node, buffer, count)
}

fn write(node: &Node<'_>, buffer: *const c_char, count: usize) -> isize {
    match try_write(node, buffer, count) {
        // CAST: `count` is at most `MAX_WRITE`.
        Ok(()) => count as isize,
        // CAST: Sign extension.
        Err(error) => error.to_errno() as isize,
    }
}

fn try_write(node: &Node<'_>, buffer: *const c_char, count: usize) -> Result {
    if count > MAX_WRITE {
        return Err(E2BIG);
    }

    let mut bytes = KVec::new();
    let buffer = UserPtr::from_ptr(buffer.cast_mut().cast());
    UserSlice::new(buffer, count).read_all(&mut bytes, GFP_KERNEL)?;

    node.callbacks.write(&bytes)
}
