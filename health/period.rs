// SPDX-License-Identifier: GPL-2.0

//! How fast the health counter runs.
//!
//! No source that could be confirmed says how often firmware advances the counter, so it is
//! measured: between two readings lie a number of counts and a time. A single pair of readings is
//! off by up to one count at either end, hence nothing is said before a few counts were seen, and
//! what is said gets better until the window is full. Later windows replace the value, so that it
//! follows a device that slows down.

/// Counts before the first value: the period is then at most a third too short.
const MIN_COUNTS: u64 = 4;

/// Length of a window in microseconds, if enough counts fall into it.
const WINDOW_US: u64 = 1_000_000;

/// The measured period of the counter.
#[derive(Clone, Copy, Default)]
pub struct Period {
    /// When the present window began, and how many counts there were since.
    window: Option<(u64, u64)>,
    known_us: Option<u64>,
    /// Whether a whole window was measured.
    settled: bool,
}

impl Period {
    /// The period in microseconds, once it is known.
    pub fn get(&self) -> Option<u64> {
        self.known_us
    }

    /// Takes in that the counter has advanced by `counts` at `now_us`, since the last call.
    pub fn advance(&mut self, now_us: u64, counts: u32) {
        let Some((since_us, so_far)) = self.window else {
            self.window = Some((now_us, 0));
            return;
        };
        let counts = so_far.saturating_add(u64::from(counts));
        let elapsed = now_us.saturating_sub(since_us);
        let full = elapsed >= WINDOW_US;

        self.window = Some((since_us, counts));
        if counts < MIN_COUNTS {
            return;
        }
        if full || !self.settled {
            self.known_us = elapsed.checked_div(counts);
        }
        if full {
            self.settled = true;
            self.window = Some((now_us, 0));
        }
    }

    /// Drops the present window, which holds a jump of the counter; keeps the value.
    pub fn skip(&mut self, now_us: u64) {
        self.window = Some((now_us, 0));
    }
}
