// SPDX-License-Identifier: GPL-2.0

//! The way to the command queue for those who do not belong to its run, such as files.
//!
//! A queue is thrown away when the function is reset, and another is made. Whoever sends commands
//! for a user enters through the gate, and leaves after one command; closing it waits for that.

use super::Queue;
use crate::{
    device::State,
    kernel_ext::wait::WaitQueue, //
};
use core::ops::Deref;
use kernel::{
    new_spinlock,
    prelude::*,
    sync::{
        atomic::{
            Acquire,
            Atomic,
            Relaxed,
            Release, //
        },
        Arc,
        SpinLock, //
    },
    time::Delta, //
};

/// How long a wait for users lasts at a time; nothing is done when that is over.
const WAIT: Delta = Delta::from_secs(3600);

/// The gate, which is open as long as there is a queue for users.
#[pin_data]
pub(crate) struct Gate<'bound> {
    state: Arc<State>,
    #[pin]
    queue: SpinLock<Option<Arc<Queue<'bound>>>>,
    users: Atomic<u32>,
    #[pin]
    left: WaitQueue,
}

impl<'bound> Gate<'bound> {
    /// Makes a gate that is closed.
    pub(crate) fn new(state: Arc<State>) -> impl PinInit<Self> + use<'bound> {
        pin_init!(Self {
            state,
            queue <- new_spinlock!(None),
            users: Atomic::new(0),
            left <- WaitQueue::new(),
        })
    }

    /// Lets users get at `queue`.
    pub(crate) fn open(&self, queue: Arc<Queue<'bound>>) {
        let old = self.queue.lock().replace(queue);
        // Not under the lock: it may be the last reference.
        drop(old);
    }

    /// Lets no more users in, and waits until all have left, which takes one command at most.
    pub(crate) fn close(&self) {
        let queue = self.queue.lock().take();

        // Nobody comes in any more: the number only goes down.
        while !self.left.wait_idle(WAIT, || self.users.load(Acquire) == 0) {}
        drop(queue);
    }

    /// Gets at the queue, to send one command.
    ///
    /// # Errors
    ///
    /// See [`State::refusal`].
    pub(crate) fn enter(&self) -> Result<User<'_, 'bound>> {
        let queue = self.queue.lock();

        match &*queue {
            Some(queue) => {
                // Under the lock, so that `close()` counts this user or keeps it out.
                self.users.fetch_add(1, Relaxed);
                Ok(User {
                    gate: self,
                    queue: queue.clone(),
                })
            }
            None => Err(self.state.refusal()),
        }
    }
}

/// Somebody who uses the queue.
pub(crate) struct User<'a, 'bound> {
    gate: &'a Gate<'bound>,
    /// Its memory is never freed by a user: whoever closes the gate has the queue as well.
    queue: Arc<Queue<'bound>>,
}

impl<'bound> Deref for User<'_, 'bound> {
    type Target = Queue<'bound>;

    fn deref(&self) -> &Queue<'bound> {
        &self.queue
    }
}

impl Drop for User<'_, '_> {
    fn drop(&mut self) {
        self.gate.users.fetch_sub(1, Release);
        self.gate.left.wake_all();
    }
}
