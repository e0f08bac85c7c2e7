// SPDX-License-Identifier: GPL-2.0

//! Work that others ask of a thread, and wait for.
//!
//! Requests that come together are served together: who asks wants a result that is newer than the
//! request, and does not mind whom else it serves.

use super::{
    signal::Signal,
    wait::WaitQueue, //
};
use kernel::{
    prelude::*,
    sync::atomic::{
        Acquire,
        Atomic,
        Full,
        Release, //
    },
    time::Delta,
};

/// The requests to one thread.
#[pin_data]
pub(crate) struct Requests {
    asked: Atomic<u64>,
    /// Those before this one were served.
    served: Atomic<u64>,
    #[pin]
    waiters: WaitQueue,
}

impl Requests {
    /// Makes the place for requests; there are none yet.
    pub(crate) fn new() -> impl PinInit<Self> {
        pin_init!(Self {
            asked: Atomic::new(0),
            served: Atomic::new(0),
            waiters <- WaitQueue::new(),
        })
    }

    /// Asks by raising `bits` of the thread's signal, and waits until the thread has served that.
    ///
    /// # Errors
    ///
    /// - [`ETIMEDOUT`] if the thread did not come to it within `patience`.
    /// - [`ESHUTDOWN`] if the thread has ended, or shall end.
    /// - [`ERESTARTSYS`] if a signal came.
    pub(crate) fn ask(&self, thread: &Signal, bits: u32, patience: Delta) -> Result {
        let number = self.asked.fetch_add(1, Full).wrapping_add(1);
        let is_served = || self.served.load(Acquire) >= number;

        thread.raise(bits);
        self.waiters
            .wait_interruptible(patience, || is_served() || thread.stopped())?;

        if is_served() {
            Ok(())
        } else if thread.stopped() {
            Err(ESHUTDOWN)
        } else {
            Err(ETIMEDOUT)
        }
    }

    /// How many were asked for; the thread hands it to [`serve`](Self::serve) once it has done what
    /// was asked, after this call.
    pub(crate) fn count(&self) -> u64 {
        self.asked.load(Acquire)
    }

    /// Lets those go on whose request is among the first `count`.
    pub(crate) fn serve(&self, count: u64) {
        self.served.store(count, Release);
        self.waiters.wake_all();
    }

    /// Lets those go who wait for a thread that has ended.
    pub(crate) fn let_go(&self) {
        self.waiters.wake_all();
    }
}
