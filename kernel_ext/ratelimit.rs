// SPDX-License-Identifier: GPL-2.0

//! A limit for log lines that a device or a user can cause.

use super::clock::monotonic_ms;
use kernel::sync::atomic::{
    Atomic,
    Relaxed, //
};

/// Lets at most `burst` lines pass in each interval, and counts the others.
///
/// Usable from any context. There is no lock: on a change of interval that several threads see at
/// once, one or two lines more can pass.
pub(crate) struct RateLimit {
    interval_ms: u64,
    burst: u32,
    /// When the present interval began, in milliseconds since boot; 0 before the first line.
    since_ms: Atomic<u64>,
    passed: Atomic<u32>,
    suppressed: Atomic<u32>,
}

impl RateLimit {
    /// Makes a limit of `burst` lines in `interval_ms` milliseconds.
    pub(crate) const fn new(burst: u32, interval_ms: u64) -> Self {
        Self {
            interval_ms,
            burst,
            since_ms: Atomic::new(0),
            passed: Atomic::new(0),
            suppressed: Atomic::new(0),
        }
    }

    /// Asks whether a line may be printed now.
    ///
    /// `Some(n)` means yes, and that `n` lines were suppressed since the last one that was printed,
    /// which the line should say if it is not 0. `None` means no; the line is counted.
    pub(crate) fn pass(&self) -> Option<u32> {
        let now = monotonic_ms();
        let since = self.since_ms.load(Relaxed);

        // Only one of the threads that see the end of the interval begins the new one.
        if (since == 0 || now.saturating_sub(since) >= self.interval_ms)
            && self.since_ms.cmpxchg(since, now.max(1), Relaxed).is_ok()
        {
            self.passed.store(0, Relaxed);
        }

        // Compared before it is added to, so that a long storm does not wrap the counter.
        if self.passed.load(Relaxed) < self.burst && self.passed.fetch_add(1, Relaxed) < self.burst
        {
            Some(self.suppressed.xchg(0, Relaxed))
        } else {
            // Wraps after 2^32 lines within one interval; the kernel's atomics do so silently.
            self.suppressed.fetch_add(1, Relaxed);
            None
        }
    }
}
