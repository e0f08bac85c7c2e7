// SPDX-License-Identifier: GPL-2.0

//! An interrupt vector with the event queues that raise it.

use kernel::{
    irq::{
        IrqReturn,
        ThreadedHandler,
        ThreadedIrqReturn, //
    },
    new_mutex,
    prelude::*,
    sync::{
        Arc,
        Mutex, //
    }, //
};

use super::{
    dispatch::Seen,
    queue::{
        EventQueue,
        Kind,
        Stats, //
    }, //
};

/// A vector, and the handler of its interrupt.
#[pin_data]
pub(super) struct Vector<'bound> {
    #[pin]
    queues: Mutex<KVec<EventQueue<'bound>>>,
    seen: Arc<Seen>,
}

impl<'bound> Vector<'bound> {
    pub(super) fn new(seen: Arc<Seen>) -> impl PinInit<Self> {
        pin_init!(Self {
            queues <- new_mutex!(KVec::new()),
            seen,
        })
    }

    /// Adds a queue and arms it.
    pub(super) fn add(&self, queue: EventQueue<'bound>) -> Result {
        let mut queues = self.queues.lock();

        // If there is no room the queue is dropped, and destroyed, after the lock is given back.
        if let Err(error) = queues.reserve(1, GFP_KERNEL) {
            drop(queues);
            return Err(error.into());
        }
        queue.arm();
        let _ = queues.push_within_capacity(queue);
        Ok(())
    }

    /// Takes the queue of the kind out, if it is here.
    pub(super) fn remove(&self, kind: Kind) -> Option<EventQueue<'bound>> {
        let mut queues = self.queues.lock();
        let index = queues
            .iter()
            .position(|queue| queue.stats().kind() == kind)?;

        queues.remove(index).ok()
    }

    /// Looks at all queues for entries that no interrupt was raised for; whether events of one do
    /// not come by themselves.
    pub(super) fn look(&self, mut lost: impl FnMut(&Arc<Stats>)) -> bool {
        let mut stalled = false;

        for queue in self.queues.lock().iter_mut() {
            if queue.look() {
                lost(queue.stats());
            }
            stalled |= queue.is_stalled();
        }
        stalled
    }

    /// Notes that the queue of the kind may have been overrun, if it is here.
    pub(super) fn suspect(&self, kind: Kind) {
        for queue in self.queues.lock().iter_mut() {
            if queue.stats().kind() == kind {
                queue.suspect();
            }
        }
    }

    /// Notes that the device has given up on the queue of the kind.
    pub(super) fn note_failure(&self, kind: Kind) {
        for queue in self.queues.lock().iter_mut() {
            if queue.stats().kind() == kind {
                queue.note_failure();
            }
        }
    }

    /// Calls `each` for every queue that may have been overrun since the last call.
    ///
    /// Not under the lock: `each` may send commands.
    pub(super) fn suspects(&self, mut each: impl FnMut(u8, &Arc<Stats>)) {
        for index in 0.. {
            let found = match self.queues.lock().get_mut(index) {
                None => return,
                Some(queue) => queue
                    .take_suspicion()
                    .map(|number| (number, queue.stats().clone())),
            };
            if let Some((number, stats)) = found {
                each(number, &stats);
            }
        }
    }
}

impl ThreadedHandler for Vector<'_> {
    fn handle(&self) -> ThreadedIrqReturn {
        ThreadedIrqReturn::WakeThread
    }

    fn handle_threaded(&self) -> IrqReturn {
        let mut count = 0u64;
        for queue in self.queues.lock().iter_mut() {
            count = count.saturating_add(queue.interrupt());
        }

        if count == 0 {
            self.seen.note_spurious_interrupt();
        }
        // MSI-X is never shared: the interrupt was ours, whether or not there was something to do.
        IrqReturn::Handled
    }
}
