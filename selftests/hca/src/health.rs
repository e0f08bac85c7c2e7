// SPDX-License-Identifier: GPL-2.0

//! The health counter and the health buffer of the initialization segment.

use std::time::{
    Duration,
    Instant, //
};

use crate::bits;
use crate::ifc::{
    self,
    fields::health_buffer as hb,
    Field, //
};

/// Bits of the buffer that the kernel's header does not name.
/// Source: `struct health_buffer` of the kernel's `device.h` and `health.c` of mlx5_core.
pub const EXTRA_FIELDS: &[(&str, Field)] = &[
    ("assert_var0", word(0x00)),
    ("assert_var1", word(0x04)),
    ("assert_var2", word(0x08)),
    ("assert_var3", word(0x0c)),
    ("assert_var4", word(0x10)),
    ("assert_var5", word(0x14)),
    ("assert_exit_ptr", word(0x20)),
    (
        "crr",
        Field {
            bit: 0x38 * 8 + 1,
            width: 1,
            count: 1,
        },
    ),
];

const fn word(byte: u32) -> Field {
    Field {
        bit: byte * 8,
        width: 32,
        count: 1,
    }
}

/// State of the firmware as the health registers show it.
pub struct Health {
    /// The 64 bytes at 200h.
    pub buffer: Vec<u8>,
    period: Duration,
    /// Counter at `since`.
    base: u32,
    since: Instant,
    frozen: bool,
    /// Whether zeros that a driver writes clear the buffer.
    ///
    /// No public driver writes it, so that both has to be reckoned with.
    pub writable: bool,
}

impl Health {
    /// A firmware that is well. `fw_version` and `hw_id` are always in the buffer.
    pub fn new(fw_version: u32, hw_id: u32) -> Health {
        let mut health = Health {
            buffer: vec![0; hb::BYTES],
            period: Duration::from_millis(10),
            base: 1,
            since: Instant::now(),
            frozen: false,
            writable: true,
        };
        health.clear(fw_version, hw_id);
        health
    }

    /// Empties the buffer, as a reset of the firmware does.
    pub fn clear(&mut self, fw_version: u32, hw_id: u32) {
        self.buffer.fill(0);
        bits::set(&mut self.buffer, hb::FW_VERSION, u64::from(fw_version));
        bits::set(&mut self.buffer, hb::HW_ID, u64::from(hw_id));
    }

    /// Takes a zero that a driver writes to the word at an offset of the buffer.
    pub fn write_zero(&mut self, offset: usize) {
        if !self.writable {
            return;
        }
        if let Some(word) = self.buffer.get_mut(offset..offset.saturating_add(4)) {
            word.fill(0);
        }
    }

    /// Value of the health counter.
    pub fn counter(&self) -> u32 {
        let ticks = if self.frozen || self.period.is_zero() {
            0
        } else {
            self.since.elapsed().as_nanos() / self.period.as_nanos()
        };
        // Bits 31:24 are the health syndrome.
        self.base.wrapping_add(ticks as u32) & 0x00ff_ffff
    }

    /// Syndrome byte that stands beside the counter and in the buffer.
    pub fn synd(&self) -> u32 {
        bits::get32(&self.buffer, hb::SYND)
    }

    fn rebase(&mut self) {
        self.base = self.counter();
        self.since = Instant::now();
    }

    /// Stops the counter.
    pub fn freeze(&mut self) {
        self.rebase();
        self.frozen = true;
    }

    /// Lets the counter run again.
    pub fn run(&mut self) {
        self.rebase();
        self.frozen = false;
    }

    /// Sets the counter's period.
    pub fn set_period(&mut self, period: Duration) {
        self.rebase();
        self.period = period;
    }

    /// Sets the counter to a value.
    pub fn set_counter(&mut self, value: u32) {
        self.base = value & 0x00ff_ffff;
        self.since = Instant::now();
    }

    /// Finds a field of the buffer by name.
    pub fn field(name: &str) -> Option<Field> {
        EXTRA_FIELDS
            .iter()
            .find(|(n, _)| *n == name)
            .map(|(_, f)| *f)
            .or_else(|| ifc::layout("health_buffer")?.field(name))
    }

    /// Settings and non-zero words for the control socket.
    pub fn show(&self) -> Vec<String> {
        let mut lines = vec![
            format!("counter: {}", self.counter()),
            format!(
                "counter_state: {}",
                if self.frozen { "frozen" } else { "running" }
            ),
            format!("period_ms: {}", self.period.as_millis()),
            format!(
                "buffer_writes: {}",
                if self.writable { "clear" } else { "ignored" }
            ),
        ];
        lines.extend(bits::dump(&self.buffer));
        lines
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn fields_by_both_names() {
        assert_eq!(Health::field("synd").map(|f| f.bit), Some(0x3d * 8));
        assert_eq!(Health::field("ext_synd").map(|f| f.bit), Some(0x3e * 8));
        assert_eq!(Health::field("rfr").map(|f| f.bit), Some(0x38 * 8));
        assert_eq!(Health::field("assert_exit_ptr").map(|f| f.bit), Some(0x100));
        assert_eq!(Health::field("nonsense"), None);
    }

    #[test]
    fn a_frozen_counter_stands() {
        let mut h = Health::new(1, 2);
        h.set_period(Duration::from_micros(1));
        let a = h.counter();
        std::thread::sleep(Duration::from_millis(2));
        assert_ne!(a, h.counter());
        h.freeze();
        let b = h.counter();
        std::thread::sleep(Duration::from_millis(2));
        assert_eq!(b, h.counter());
        h.set_counter(0xff12_3456);
        assert_eq!(h.counter(), 0x12_3456);
    }
}
