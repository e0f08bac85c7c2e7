// SPDX-License-Identifier: GPL-2.0

//! Completions that can be waited for with a limit.
//!
//! [`kernel::sync::Completion`] can only be waited for without a limit and only be completed for
//! good. A command that is sent to a device needs neither: the device may never answer, and the
//! place of a finished command is used again.
//!
//! C header: [`include/linux/completion.h`](srctree/include/linux/completion.h)

use super::clock::to_jiffies;
use kernel::{
    bindings,
    prelude::*,
    time::Delta,
    types::Opaque, //
};

/// A one-shot or counting event that a thread waits for.
///
/// Each call of [`complete`](Self::complete) lets one waiter pass, also one that comes later;
/// [`reinit`](Self::reinit) forgets those that nobody has waited for.
///
/// # Invariants
///
/// `inner` is a `struct completion` that was initialised in place and is never moved.
#[pin_data]
pub(crate) struct Completion {
    #[pin]
    inner: Opaque<bindings::completion>,
}

// SAFETY: A `struct completion` belongs to no thread.
unsafe impl Send for Completion {}

// SAFETY: All functions called on `struct completion` take its internal lock, except for
// `reinit()`, which is a single store.
unsafe impl Sync for Completion {}

impl Completion {
    /// Makes a completion that nobody has completed yet.
    pub(crate) fn new() -> impl PinInit<Self> {
        // INVARIANT: The completion is initialised in its final place; `Opaque` is pinned.
        pin_init!(Self {
            inner <- Opaque::ffi_init(|slot: *mut bindings::completion| {
                // SAFETY: `slot` points to memory for a `struct completion`.
                unsafe { bindings::init_completion(slot) };
            }),
        })
    }

    fn as_raw(&self) -> *mut bindings::completion {
        self.inner.get()
    }

    /// Lets one waiter pass; may be called from any context, also from a hard interrupt.
    pub(crate) fn complete(&self) {
        // SAFETY: By the type invariant, the pointer is a valid `struct completion`.
        unsafe { bindings::complete(self.as_raw()) };
    }

    /// Makes the completion incomplete again.
    ///
    /// The caller makes sure that nobody completes it at the same time: such a completion can be
    /// lost.
    pub(crate) fn reinit(&self) {
        // SAFETY:
        // - By the type invariant, the pointer is a valid `struct completion`.
        // - This is what `reinit_completion()` does. A store that meets a `complete()` on another
        //   CPU is a race of marked accesses under the kernel's memory model: one of the two
        //   values stays, which is the loss that the documentation above speaks of.
        unsafe { (&raw mut (*self.as_raw()).done).write_volatile(0) };
    }

    /// Waits, at most as long as `timeout`, and takes one completion.
    ///
    /// Returns whether there was one. The wait cannot be interrupted by a signal: whoever needs
    /// it to end early completes it. A time that is zero or negative only looks. The time is
    /// rounded up to the kernel's tick.
    #[must_use = "false means that the time is over and nothing was completed"]
    pub(crate) fn wait_timeout(&self, timeout: Delta) -> bool {
        let jiffies = to_jiffies(timeout);

        if jiffies == 0 {
            // SAFETY: By the type invariant, the pointer is a valid `struct completion`.
            return unsafe { bindings::try_wait_for_completion(self.as_raw()) };
        }

        // SAFETY: By the type invariant, the pointer is a valid `struct completion`.
        unsafe { bindings::wait_for_completion_timeout(self.as_raw(), jiffies) != 0 }
    }
}
