// SPDX-License-Identifier: GPL-2.0

//! A cell of wake-up reasons for one thread.
//!
//! The usual loop "do work, sleep, repeat" loses a wake-up that comes between the last look at the
//! work and the sleep. A [`Signal`] keeps the reason until the thread takes it.

use super::wait::WaitQueue;
use kernel::{
    prelude::*,
    sync::atomic::{
        Atomic,
        Full,
        Relaxed, //
    },
    time::Delta,
};

/// The bit of [`Signal::bits`] that says that the thread shall end; waiting does not take it.
const STOP: u32 = 1 << 31;

/// Reasons to wake a thread, as bits that the user defines; bit 31 is reserved.
///
/// Any number of threads and interrupt handlers raise bits, one thread waits for them. Bits that
/// are raised several times before the thread looks are seen once.
///
/// Shared by reference; there is no lock, everything is atomic.
#[pin_data]
pub(crate) struct Signal {
    bits: Atomic<u32>,
    #[pin]
    queue: WaitQueue,
}

impl Signal {
    /// Makes a signal with no bit raised.
    pub(crate) fn new() -> impl PinInit<Self> {
        pin_init!(Self {
            bits: Atomic::new(0),
            queue <- WaitQueue::new(),
        })
    }

    /// Adds `bits` (of 0 to 30) to those raised and wakes the thread; callable from any context,
    /// also from a hard interrupt.
    pub(crate) fn raise(&self, bits: u32) {
        self.add(bits & !STOP);
    }

    /// Waits until bits are raised, the thread shall stop, or the time is over; takes the bits.
    ///
    /// Returns 0 if the time is over or if there is nothing but the wish to stop. Returns without
    /// sleeping once [`stop`](Self::stop) was called.
    pub(crate) fn wait_timeout(&self, timeout: Delta) -> u32 {
        self.queue
            .wait_idle(timeout, || self.bits.load(Relaxed) != 0);
        self.take()
    }

    /// As [`wait_timeout`](Self::wait_timeout), but until a point in time, in microseconds since
    /// boot, which is kept more exactly.
    pub(crate) fn wait_until(&self, until_us: u64) -> u32 {
        self.queue
            .wait_idle_until(until_us, || self.bits.load(Relaxed) != 0);
        self.take()
    }

    /// Takes the bits that are raised now, without waiting.
    pub(crate) fn take(&self) -> u32 {
        self.update(|old| old & STOP) & !STOP
    }

    /// Makes all present and future waits return at once, until a thread is started that waits
    /// here.
    pub(crate) fn stop(&self) {
        self.add(STOP);
    }

    /// Lets a new thread wait; bits that were raised before are still there for it.
    pub(super) fn restart(&self) {
        self.update(|old| old & !STOP);
    }

    /// Returns whether [`stop`](Self::stop) was called.
    pub(crate) fn stopped(&self) -> bool {
        self.bits.load(Relaxed) & STOP != 0
    }

    fn add(&self, bits: u32) {
        self.update(|old| old | bits);
        self.queue.wake_all();
    }

    /// Replaces the bits by `change` of them and returns the old ones.
    ///
    /// Fully ordered: what the raiser wrote before is seen by the thread that takes the bit.
    fn update(&self, change: impl Fn(u32) -> u32) -> u32 {
        let mut old = self.bits.load(Relaxed);

        loop {
            match self.bits.cmpxchg(old, change(old), Full) {
                Ok(_) => return old,
                Err(now) => old = now,
            }
        }
    }
}
