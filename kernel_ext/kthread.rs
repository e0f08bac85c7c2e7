// SPDX-License-Identifier: GPL-2.0

//! Kernel threads that are joined when their owner is dropped.
//!
//! C header: [`include/linux/kthread.h`](srctree/include/linux/kthread.h)

use super::{
    scope::{
        Managed,
        Scope, //
    },
    signal::Signal, //
};
use core::ptr::NonNull;
use kernel::{
    bindings,
    error::from_err_ptr,
    fmt,
    prelude::*,
    str::CString,
    sync::Arc, //
};

/// What a thread does.
///
/// The thread shares the value with its other users, in an [`Arc`].
pub(crate) trait Body: Send + Sync {
    /// Whether the thread goes before all that share the processors by turns.
    ///
    /// For a thread that watches over others, does little, and must be in time also on a machine
    /// that is busy. Interrupt threads still go before it.
    const URGENT: bool = false;

    /// Returns the cell on which [`run`](Self::run) waits, and which ends the wait at the stop.
    ///
    /// It must always be the same one, and be used by one thread at a time only.
    fn signal(&self) -> &Signal;

    /// The body of the thread; runs once and returns soon after `stop` says so.
    ///
    /// All waits must be bounded or end with the stop: dropping the [`Kthread`] waits for the
    /// return. The body may also return earlier by itself.
    fn run(&self, stop: &StopToken<'_>);
}

/// Tells the body of a thread whether it shall end.
pub(crate) struct StopToken<'a> {
    signal: &'a Signal,
}

impl StopToken<'_> {
    /// Returns whether the body shall return now.
    pub(crate) fn should_stop(&self) -> bool {
        self.signal.stopped()
    }
}

/// A running kernel thread; dropping it stops the thread and waits for its end.
///
/// It must not be dropped by its own thread, which would wait for itself.
pub(crate) struct Kthread<'bound, T: Body> {
    _running: Managed<'bound, Running<T>>,
}

impl<'bound, T: Body + 'bound> Kthread<'bound, T> {
    /// Starts a thread called `name` (15 characters are seen in most places) that runs `body`.
    ///
    /// The body may borrow what lives for `'bound`: the thread is stopped at the latest when the
    /// driver is unbound, see [`Managed`].
    ///
    /// # Errors
    ///
    /// [`ENOMEM`] without memory, [`EINTR`] if the calling process is being killed.
    pub(crate) fn spawn(
        scope: Scope<'bound>,
        name: fmt::Arguments<'_>,
        body: Arc<T>,
    ) -> Result<Self> {
        let name = CString::try_from_fmt(name)?;
        // A body can be run again by another thread once its thread has ended.
        body.signal().restart();
        let data = Arc::as_ptr(&body).cast_mut().cast::<c_void>();

        // SAFETY:
        // - `trampoline::<T>` wants a `T` that lives until the thread has ended: `Running` keeps
        //   a reference to it and joins the thread before it gives that up.
        // - Format and argument are C strings, and fit each other; the name is copied.
        let task = from_err_ptr(unsafe {
            bindings::kthread_create_on_node(
                Some(trampoline::<T>),
                data,
                bindings::NUMA_NO_NODE,
                c"%s".as_char_ptr(),
                name.as_char_ptr(),
            )
        })?;

        // The reference is taken before the thread can run, and end: its task is valid until
        // `kthread_stop_put()`.
        //
        // SAFETY: The new thread sleeps until it is woken for the first time, so `task` is valid.
        unsafe { bindings::get_task_struct(task) };

        // INVARIANT: `task` is a thread made for `body`, with a reference of ours.
        let running = Running {
            task: NonNull::new(task).ok_or(ENOMEM)?,
            body,
        };

        // If this fails, `Running` is dropped; the thread ends without having called the body.
        let running = Managed::new(scope, Ok(running))?;

        if T::URGENT {
            // SAFETY: We have a reference to the task.
            unsafe { bindings::sched_set_fifo_low(task) };
        }

        // SAFETY: We have a reference to the task.
        unsafe { bindings::wake_up_process(task) };

        Ok(Self { _running: running })
    }
}

/// A thread and what it uses.
///
/// # Invariants
///
/// `task` was made by `kthread_create_on_node()` for `body`; we own a reference to it, and nobody
/// else stops it.
struct Running<T: Body> {
    task: NonNull<bindings::task_struct>,
    body: Arc<T>,
}

// SAFETY: The task may be stopped from any thread; `Arc<T>` can be sent as `T` is `Send` and
// `Sync`.
unsafe impl<T: Body> Send for Running<T> {}

// SAFETY: A shared `Running` only gives out `&Arc<T>`.
unsafe impl<T: Body> Sync for Running<T> {}

impl<T: Body> Drop for Running<T> {
    fn drop(&mut self) {
        // Ends the thread's wait, also one that is just about to begin: the flag stays.
        self.body.signal().stop();

        // SAFETY: By the type invariant, `task` is a kernel thread that nobody else stops, with a
        // reference of ours, which this call gives back. It returns when the thread function has
        // returned, or at once if it had done so before; then nobody uses `body` any more.
        unsafe { bindings::kthread_stop_put(self.task.as_ptr()) };
    }
}

/// The function of the thread.
///
/// # Safety
///
/// `data` must point to a `T` that lives until this function has returned.
unsafe extern "C" fn trampoline<T: Body>(data: *mut c_void) -> c_int {
    // SAFETY: By the safety requirement. `T` is `Sync`, so it may be shared with this thread.
    let body = unsafe { &*data.cast::<T>() };

    body.run(&StopToken {
        signal: body.signal(),
    });
    0
}
