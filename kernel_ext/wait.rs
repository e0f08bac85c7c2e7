// SPDX-License-Identifier: GPL-2.0

//! Wait queues with a condition and a limit.
//!
//! [`kernel::sync::CondVar`] needs a lock around the condition, so that a hard interrupt handler
//! cannot change it, and its only wait with a limit can be ended by signals. Here the condition is
//! a closure over atomics, as in the C macros `wait_event_*()`.
//!
//! C header: [`include/linux/wait.h`](srctree/include/linux/wait.h)

use super::clock::{
    to_jiffies,
    to_ktime, //
};
use kernel::{
    bindings,
    prelude::*,
    time::Delta,
    types::Opaque, //
};

/// The lockdep class of the internal lock of every [`WaitQueue`].
struct LockClass(Opaque<bindings::lock_class_key>);

// SAFETY: Only lockdep looks into the key, and does so under its own lock.
unsafe impl Sync for LockClass {}

static LOCK_CLASS: LockClass = LockClass(Opaque::uninit());

/// Threads that wait for something to become true.
///
/// # Invariants
///
/// `inner` is a `struct wait_queue_head` that was initialised in place and is never moved.
#[pin_data]
pub(crate) struct WaitQueue {
    #[pin]
    inner: Opaque<bindings::wait_queue_head>,
}

// SAFETY: A `struct wait_queue_head` belongs to no thread.
unsafe impl Send for WaitQueue {}

// SAFETY: A `struct wait_queue_head` is guarded by its own lock.
unsafe impl Sync for WaitQueue {}

impl WaitQueue {
    /// Makes a queue without waiters.
    pub(crate) fn new() -> impl PinInit<Self> {
        // INVARIANT: The queue is initialised in its final place; `Opaque` is pinned.
        pin_init!(Self {
            inner <- Opaque::ffi_init(|slot: *mut bindings::wait_queue_head| {
                // SAFETY:
                // - `slot` points to memory for a `struct wait_queue_head`.
                // - Name and key are static.
                unsafe {
                    bindings::__init_waitqueue_head(
                        slot,
                        c"kernel_ext::WaitQueue".as_char_ptr(),
                        LOCK_CLASS.0.get(),
                    )
                };
            }),
        })
    }

    /// Lets all waiters look at their condition again; may be called from any context.
    pub(crate) fn wake_all(&self) {
        // SAFETY: By the type invariant, the pointer is a valid `struct wait_queue_head`.
        unsafe {
            bindings::__wake_up(
                self.inner.get(),
                bindings::TASK_NORMAL,
                0,
                core::ptr::null_mut(),
            )
        };
    }

    /// Waits until `condition` is true, at most as long as `timeout`.
    ///
    /// Returns whether the condition became true. Signals do not end the wait, and the sleep
    /// counts as idle: it is meant for kernel threads. `condition` runs while the thread is about
    /// to sleep, so it must not sleep itself: it reads atomics.
    pub(crate) fn wait_idle(&self, timeout: Delta, condition: impl FnMut() -> bool) -> bool {
        // No signal can end this wait, hence an error cannot come; it would mean "not yet true".
        self.wait(bindings::TASK_IDLE, timeout, condition)
            .unwrap_or(false)
    }

    /// Waits until `condition` is true, at most as long as `timeout`, or until a signal comes.
    ///
    /// Returns whether the condition became true. For system calls of user space. `condition`
    /// runs while the thread is about to sleep, so it must not sleep itself.
    ///
    /// # Errors
    ///
    /// [`ERESTARTSYS`] if a signal came; to be returned to the system call layer.
    pub(crate) fn wait_interruptible(
        &self,
        timeout: Delta,
        condition: impl FnMut() -> bool,
    ) -> Result<bool> {
        self.wait(bindings::TASK_INTERRUPTIBLE, timeout, condition)
    }

    /// As [`wait_idle`](Self::wait_idle), but until a point in time, in microseconds since boot.
    ///
    /// That is kept to some ten microseconds, where a timeout is rounded up to the kernel's tick.
    pub(crate) fn wait_idle_until(&self, until_us: u64, condition: impl FnMut() -> bool) -> bool {
        let mut until = to_ktime(until_us);

        // No signal can end this wait, as above.
        self.wait_in_steps(bindings::TASK_IDLE, false, condition, || {
            // SAFETY: The time is valid during the call; the caller may sleep. It returns 0 if the
            // time has come, and an error if the thread was woken before.
            let woken = unsafe {
                bindings::schedule_hrtimeout(
                    &raw mut until,
                    bindings::hrtimer_mode_HRTIMER_MODE_ABS,
                )
            };
            woken == 0
        })
        .unwrap_or(false)
    }

    fn wait(&self, state: u32, timeout: Delta, condition: impl FnMut() -> bool) -> Result<bool> {
        let mut left = c_long::try_from(to_jiffies(timeout)).unwrap_or(c_long::MAX);
        let over = left == 0;

        self.wait_in_steps(state, over, condition, || {
            // SAFETY: Any non-negative time is allowed; the caller may sleep.
            left = unsafe { bindings::schedule_timeout(left) };
            left == 0
        })
    }

    /// Waits until `condition` is true or the time is `over`; `sleep` sleeps until it is woken, or
    /// the time is over, which it then says.
    fn wait_in_steps(
        &self,
        state: u32,
        mut over: bool,
        mut condition: impl FnMut() -> bool,
        mut sleep: impl FnMut() -> bool,
    ) -> Result<bool> {
        // CAST: Task states are small bit masks.
        let state = state as c_int;

        let entry = Opaque::<bindings::wait_queue_entry>::uninit();

        // SAFETY: `entry` is memory for a `struct wait_queue_entry`.
        unsafe { bindings::init_wait_entry(entry.get(), 0) };

        let result = loop {
            // From here on a wake-up is not lost: it makes the thread runnable again, so that
            // `sleep()` below returns at once.
            //
            // SAFETY:
            // - By the type invariant, the queue is valid.
            // - `entry` is initialised, stays in place, and is taken out below, before it dies.
            let interrupted =
                unsafe { bindings::prepare_to_wait_event(self.inner.get(), entry.get(), state) };

            if condition() {
                break Ok(true);
            }
            if interrupted != 0 {
                break Err(ERESTARTSYS);
            }
            if over {
                break Ok(false);
            }
            over = sleep();
        };

        // SAFETY: As above; the entry is taken out of the queue, if a waker has not done it, and
        // the thread's state is set back to running.
        unsafe { bindings::finish_wait(self.inner.get(), entry.get()) };

        result
    }
}
