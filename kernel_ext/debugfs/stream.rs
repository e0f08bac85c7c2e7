// SPDX-License-Identifier: GPL-2.0

//! Files that go on while they are read.
//!
//! C headers: [`include/linux/fs.h`](srctree/include/linux/fs.h),
//! [`include/linux/poll.h`](srctree/include/linux/poll.h)

use crate::{
    kernel_ext::wait::WaitQueue,
    LocalModule, //
};
use kernel::{
    bindings,
    error::to_result,
    fmt,
    module::this_module,
    new_mutex,
    prelude::*,
    sync::{
        atomic::{
            Atomic,
            AtomicFlag,
            Relaxed, //
        },
        Arc,
        Mutex, //
    },
    time::Delta,
    uaccess::UserSlice, //
};

/// How long a reader waits before it looks again; a wake-up makes it look at once.
const LOOK_AGAIN: Delta = Delta::from_secs(60);

/// A sequence of items that grows and is read as text by any number of readers.
///
/// Items have numbers that go up. Each open file reads from a place of its own, the number of the
/// item that it shows next.
pub(crate) trait Stream: Send + Sync + 'static {
    /// Returns the number of the item with which a file that is being opened begins.
    fn start(&self) -> u64;

    /// Returns whether there is an item with the number `next` or a higher one; must not sleep.
    fn ready(&self, next: u64) -> bool;

    /// Appends items from `next` on to `out`, some or all, and returns the number that comes next.
    ///
    /// Called when [`ready`](Self::ready). The returned number must be higher than `next`, also if
    /// nothing was appended since the items were overwritten.
    ///
    /// # Errors
    ///
    /// What the reader shall get; its place stays and `out` is thrown away.
    fn read(&self, next: u64, out: &mut Text) -> Result<u64>;

    /// Returns the queue that is woken, with [`WaitQueue::wake_all`], after an item was added.
    fn queue(&self) -> &Arc<WaitQueue>;
}

/// Text on its way to a reader; to be written to with `write!`, which fails without memory.
pub(crate) struct Text {
    bytes: KVVec<u8>,
}

impl Text {
    /// Returns the number of bytes.
    pub(crate) fn len(&self) -> usize {
        self.bytes.len()
    }
}

impl fmt::Write for Text {
    fn write_str(&mut self, text: &str) -> fmt::Result {
        self.bytes
            .extend_from_slice(text.as_bytes(), GFP_KERNEL)
            .map_err(|_| fmt::Error)
    }
}

/// A stream to which an inode refers.
pub(super) struct Node {
    stream: Arc<dyn Stream>,
    closed: AtomicFlag,
}

impl Node {
    pub(super) fn new<T: Stream>(stream: Arc<T>) -> Self {
        Self {
            stream,
            closed: AtomicFlag::new(false),
        }
    }

    /// Lets all readers return; called before the file is removed, which waits for them.
    pub(super) fn close(&self) {
        self.closed.store(true, Relaxed);
        self.stream.queue().wake_all();
    }

    fn closed(&self) -> bool {
        self.closed.load(Relaxed)
    }
}

/// An open file.
#[pin_data]
struct Reader {
    /// The number of the item that comes after those in `pending`.
    next: Atomic<u64>,
    /// How many bytes of `pending` are still to be read; changed under its lock.
    left: Atomic<usize>,
    #[pin]
    pending: Mutex<Text>,
    /// The queue in which a `poll(2)` of this file may have left an entry. Such an entry holds the
    /// file open, hence the queue lives long enough, also when the stream is gone.
    queue: Arc<WaitQueue>,
}

impl Reader {
    fn ready(&self, node: &Node) -> bool {
        self.left.load(Relaxed) != 0 || node.stream.ready(self.next.load(Relaxed))
    }

    /// Copies what there is to user space; 0 if there is nothing.
    fn copy(&self, node: &Node, buffer: UserPtr, count: usize) -> Result<usize> {
        let mut pending = self.pending.lock();
        let next = self.next.load(Relaxed);

        if self.left.load(Relaxed) == 0 && node.stream.ready(next) {
            pending.bytes.clear();
            let after = match node.stream.read(next, &mut pending) {
                // A stream that does not advance would be asked for ever.
                Ok(after) if after > next => after,
                result => {
                    pending.bytes.clear();
                    return Err(result.err().unwrap_or(EIO));
                }
            };
            self.left.store(pending.bytes.len(), Relaxed);
            self.next.store(after, Relaxed);
        }

        let left = self.left.load(Relaxed);
        let start = pending.bytes.len().saturating_sub(left);
        let length = left.min(count);
        let end = start.saturating_add(length);
        let bytes = pending.bytes.get(start..end).ok_or(EIO)?;

        UserSlice::new(buffer, length).writer().write_slice(bytes)?;
        self.left.store(left.saturating_sub(length), Relaxed);
        Ok(length)
    }
}

/// File operations in a static.
struct Operations(bindings::file_operations);

// SAFETY: The operations are never changed; the pointer in them is that of the module.
unsafe impl Sync for Operations {}

static OPERATIONS: Operations = Operations(bindings::file_operations {
    owner: this_module::<LocalModule>().as_ptr(),
    open: Some(open),
    read: Some(read),
    poll: Some(poll),
    release: Some(release),
    ..pin_init::zeroed()
});

/// Returns the operations of streams; they want a [`Node`].
pub(super) fn operations() -> &'static bindings::file_operations {
    &OPERATIONS.0
}

/// Returns the node of an open file.
///
/// # Safety
///
/// `file` must belong to an inode with a [`Node`], and for `'a` an operation of debugfs other than
/// the release must be running on it.
unsafe fn node<'a>(file: *mut bindings::file) -> &'a Node {
    // SAFETY: By the safety requirement; the running operation keeps the node alive.
    unsafe { &*(*(*file).f_inode).i_private.cast::<Node>() }
}

/// Opens a stream.
///
/// # Safety
///
/// Called by debugfs only, for an inode with a [`Node`].
unsafe extern "C" fn open(inode: *mut bindings::inode, file: *mut bindings::file) -> c_int {
    // SAFETY: By the safety requirement; this operation keeps the node alive.
    let node = unsafe { &*(*inode).i_private.cast::<Node>() };

    let reader = KBox::pin_init(
        pin_init!(Reader {
            next: Atomic::new(node.stream.start()),
            left: Atomic::new(0),
            pending <- new_mutex!(Text { bytes: KVVec::new() }),
            queue: node.stream.queue().clone(),
        }),
        GFP_KERNEL,
    );

    let result = reader.and_then(|reader| {
        // SAFETY: `inode` and `file` are being opened.
        to_result(unsafe { bindings::stream_open(inode, file) })?;

        // SAFETY: `file` is being opened, so nobody else uses it. The reader stays pinned: it is
        // only turned back into a pinned box, in `release()`.
        unsafe { (*file).private_data = KBox::into_raw(Pin::into_inner_unchecked(reader)).cast() };
        Ok(())
    });

    match result {
        Ok(()) => 0,
        Err(error) => error.to_errno(),
    }
}

/// Closes a stream.
///
/// # Safety
///
/// Called by debugfs only, once, for a file that was opened by `open()`.
unsafe extern "C" fn release(_inode: *mut bindings::inode, file: *mut bindings::file) -> c_int {
    // SAFETY: `open()` stored the pinned box, and nobody uses the file any more. The node, which
    // may be gone, is not used.
    drop(unsafe { Pin::new_unchecked(KBox::from_raw((*file).private_data.cast::<Reader>())) });
    0
}

/// Reads from a stream, waiting for the first byte.
///
/// # Safety
///
/// Called by debugfs only, for a file that was opened by `open()`.
unsafe extern "C" fn read(
    file: *mut bindings::file,
    buffer: *mut c_char,
    count: usize,
    _offset: *mut bindings::loff_t,
) -> isize {
    // SAFETY: This is an operation of debugfs on a file with a node.
    let node = unsafe { node(file) };
    // SAFETY: `open()` stored the reader, which lives until the release.
    let reader = unsafe { &*(*file).private_data.cast::<Reader>() };
    // SAFETY: `file` is valid; a flag that is changed at the same time is seen or not.
    let flags = unsafe { (&raw const (*file).f_flags).read_volatile() };
    let wait = flags & bindings::O_NONBLOCK == 0;

    match try_read(node, reader, UserPtr::from_ptr(buffer.cast()), count, wait) {
        // CAST: The system call layer limits `count` to the positive values of `c_int`.
        Ok(length) => length as isize,
        // CAST: Sign extension.
        Err(error) => error.to_errno() as isize,
    }
}

fn try_read(
    node: &Node,
    reader: &Reader,
    buffer: UserPtr,
    count: usize,
    wait: bool,
) -> Result<usize> {
    if count == 0 {
        return Ok(0);
    }

    loop {
        if node.closed() {
            return Err(EIO);
        }

        let length = reader.copy(node, buffer, count)?;
        if length != 0 {
            return Ok(length);
        }

        if reader.ready(node) {
            // What was there was overwritten, and more has come.
            continue;
        }
        if !wait {
            return Err(EAGAIN);
        }

        reader
            .queue
            .wait_interruptible(LOOK_AGAIN, || node.closed() || reader.ready(node))?;
    }
}

/// Tells whether a stream can be read, and where to wait until it can.
///
/// # Safety
///
/// Called by debugfs only, for a file that was opened by `open()`.
unsafe extern "C" fn poll(
    file: *mut bindings::file,
    table: *mut bindings::poll_table,
) -> bindings::__poll_t {
    // SAFETY: This is an operation of debugfs on a file with a node.
    let node = unsafe { node(file) };
    // SAFETY: `open()` stored the reader, which lives until the release.
    let reader = unsafe { &*(*file).private_data.cast::<Reader>() };

    // SAFETY: `file` and `table` are those of the running operation. The queue lives until the
    // release of the file, which comes after the entry was taken out: `poll(2)` holds the file
    // until it has done so, and epoll does so before the release.
    unsafe { reader.queue.register_poll(file, table) };

    if node.closed() {
        bindings::POLLHUP | bindings::POLLERR
    } else if reader.ready(node) {
        bindings::POLLIN | bindings::POLLRDNORM
    } else {
        0
    }
}
