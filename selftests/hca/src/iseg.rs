// SPDX-License-Identifier: GPL-2.0

//! The initialization segment: the first 16 KiB of BAR0.

use std::time::{
    Duration,
    Instant, //
};

use crate::bits;
use crate::ifc::{
    self,
    fields::initial_seg as seg,
    Field, //
};

/// Size of the segment with its reserved words, as a whole number of pages.
pub const SIZE: u64 = 0x5000;

/// Byte offsets that MMIO dispatch needs.
pub mod at {
    use super::seg;

    pub const QUEUE_HIGH: u64 = seg::CMDQ_PHY_ADDR_63_32.byte() as u64;
    pub const QUEUE_LOW: u64 = seg::CMDQ_PHY_ADDR_31_12.byte() as u64;
    pub const DOORBELL: u64 = seg::COMMAND_DOORBELL_VECTOR.byte() as u64;
    pub const INITIALIZING: u64 = (seg::INITIALIZING.bit / 32 * 4) as u64;
    pub const HEALTH: u64 = seg::HEALTH_BUFFER.byte() as u64;
    pub const HEALTH_END: u64 = HEALTH + 0x40;
    /// The timer is not in the layout header; source: the kernel's `struct mlx5_init_seg`.
    pub const TIMER_HIGH: u64 = 0x1000;
    pub const TIMER_LOW: u64 = 0x1004;
    pub const CLEAR_INT: u64 = (seg::CLEAR_INT.bit / 32 * 4) as u64;
    pub const HEALTH_COUNTER: u64 = (seg::HEALTH_COUNTER.bit / 32 * 4) as u64;
    /// `clr_intx` of the kernel's `struct mlx5_init_seg`; the layout header has it at 100Ch.
    pub const CLEAR_INTX: u64 = 0x200c;
}

/// Fields that the layout header lacks. Source: `struct mlx5_init_seg` in the kernel's
/// `device.h`, `lib/tout.c` and `health.c` of mlx5_core.
const EXTRA: &[(&str, Field)] = &[
    ("cmd_exec_to", word(0xff8)),
    ("cmd_q_init_to", word(0xffc)),
    (
        "sw_reset_supported",
        Field {
            bit: 0x1fc * 8 + 1,
            width: 1,
            count: 1,
        },
    ),
];

/// `nic_interface` with the third bit that mlx5_core's `mlx5_get_nic_state` reads.
pub const NIC_INTERFACE: Field = Field {
    bit: 0x14 * 8 + 21,
    width: 3,
    count: 1,
};

/// Values of `nic_interface`. Source: `health.c` of mlx5_core.
pub mod nic {
    pub const FULL: u64 = 0;
    pub const DISABLED: u64 = 1;
    pub const SW_RESET: u64 = 7;
}

const fn word(byte: u32) -> Field {
    Field {
        bit: byte * 8,
        width: 32,
        count: 1,
    }
}

/// What the segment starts with after power-up.
#[derive(Debug, Clone)]
pub struct Defaults {
    pub fw_rev: (u16, u16, u16),
    pub cmd_interface_rev: u16,
    pub log_cmdq_size: u8,
    pub log_cmdq_stride: u8,
    pub embedded_cpu: bool,
    /// Time from reset until `initializing` clears.
    pub initializing: Duration,
}

/// Register contents.
pub struct InitSegment {
    data: Vec<u8>,
    start: Instant,
    /// When `initializing` clears; None if it stays as it is.
    ready_at: Option<Instant>,
}

impl InitSegment {
    /// The segment of a function that was just reset.
    pub fn new(d: &Defaults) -> InitSegment {
        let mut s = InitSegment {
            data: vec![0; seg::BYTES.max(SIZE as usize)],
            start: Instant::now(),
            ready_at: None,
        };
        s.put(seg::FW_REV_MAJOR, d.fw_rev.0.into());
        s.put(seg::FW_REV_MINOR, d.fw_rev.1.into());
        s.put(seg::FW_REV_SUBMINOR, d.fw_rev.2.into());
        s.put(seg::CMD_INTERFACE_REV, d.cmd_interface_rev.into());
        s.put(seg::LOG_CMDQ_SIZE, d.log_cmdq_size.into());
        s.put(seg::LOG_CMDQ_STRIDE, d.log_cmdq_stride.into());
        s.put(seg::EMBEDDED_CPU, d.embedded_cpu.into());
        // Full driver, disabled and software reset are understood.
        s.put(seg::NIC_INTERFACE_SUPPORTED, 0b011);
        s.initialize_for(d.initializing);
        s
    }

    fn put(&mut self, f: Field, value: u64) {
        bits::set(&mut self.data, f, value);
    }

    /// Value of a field.
    pub fn get(&self, f: Field) -> u64 {
        bits::get(&self.data, f)
    }

    /// Sets `initializing` for a time.
    pub fn initialize_for(&mut self, time: Duration) {
        self.put(seg::INITIALIZING, u64::from(!time.is_zero()));
        self.ready_at = Instant::now().checked_add(time);
    }

    /// Sets or clears `initializing` for good.
    pub fn set_initializing(&mut self, on: bool) {
        self.put(seg::INITIALIZING, on.into());
        self.ready_at = None;
    }

    /// True while the firmware takes no commands.
    pub fn initializing(&mut self) -> bool {
        if self.ready_at.is_some_and(|t| Instant::now() >= t) {
            self.set_initializing(false);
        }
        self.get(seg::INITIALIZING) != 0
    }

    /// Sets a field by name, for tests of what a driver makes of it.
    pub fn set_by_name(&mut self, name: &str, value: u64) -> Result<(), String> {
        if name == "nic_interface" {
            self.put(NIC_INTERFACE, value);
            return Ok(());
        }
        let f = EXTRA
            .iter()
            .find(|(n, _)| *n == name)
            .map(|(_, f)| *f)
            .or_else(|| ifc::layout("initial_seg")?.field(name))
            .filter(|f| f.width <= 64)
            .ok_or_else(|| format!("the initialization segment has no field {name}"))?;
        if f.width < 64 && value >> f.width != 0 {
            return Err(format!("{name} has {} bits", f.width));
        }
        if name == "initializing" {
            self.ready_at = None;
        }
        self.put(f, value);
        Ok(())
    }

    /// Time since start in nanoseconds: the free-running timer ticks in units of 1/`khz` ms.
    pub fn timer(&self, khz: u64) -> u64 {
        let ns = u64::try_from(self.start.elapsed().as_nanos()).unwrap_or(u64::MAX);
        (u128::from(ns) * u128::from(khz) / 1_000_000) as u64
    }

    /// The word at a byte offset; health words and counters come from elsewhere.
    pub fn word(&mut self, offset: u64, khz: u64) -> u32 {
        match offset {
            at::TIMER_HIGH => (self.timer(khz) >> 32) as u32,
            at::TIMER_LOW => self.timer(khz) as u32,
            // The doorbell is write-only.
            at::DOORBELL => 0,
            _ => {
                self.initializing();
                bits::word(&self.data, usize::try_from(offset).unwrap_or(usize::MAX))
            }
        }
    }

    /// Bus address of the command queue.
    pub fn queue_address(&self) -> u64 {
        let high = self.get(seg::CMDQ_PHY_ADDR_63_32);
        (high << 32) | (self.get(seg::CMDQ_PHY_ADDR_31_12) << 12)
    }

    /// Number of command slots.
    pub fn slots(&self) -> u32 {
        1 << self.get(seg::LOG_CMDQ_SIZE).min(5)
    }

    /// Bytes from one command slot to the next.
    pub fn stride(&self) -> u64 {
        1 << self.get(seg::LOG_CMDQ_STRIDE).min(12)
    }

    /// Takes a write of 10h.
    pub fn write_queue_high(&mut self, value: u32) {
        self.put(seg::CMDQ_PHY_ADDR_63_32, value.into());
    }

    /// Takes a write of 14h. Returns the new `nic_interface`.
    pub fn write_queue_low(&mut self, value: u32) -> u64 {
        self.put(seg::CMDQ_PHY_ADDR_31_12, (value >> 12).into());
        self.put(NIC_INTERFACE, ((value >> 8) & 7).into());
        u64::from((value >> 8) & 7)
    }

    /// Sets `nic_interface` as the firmware does.
    pub fn set_nic_interface(&mut self, value: u64) {
        self.put(NIC_INTERFACE, value);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn segment() -> InitSegment {
        InitSegment::new(&Defaults {
            fw_rev: (22, 36, 1010),
            cmd_interface_rev: 5,
            log_cmdq_size: 5,
            log_cmdq_stride: 6,
            embedded_cpu: true,
            initializing: Duration::ZERO,
        })
    }

    #[test]
    fn words() {
        let mut s = segment();
        assert_eq!(s.word(0, 1), (36 << 16) | 22);
        assert_eq!(s.word(4, 1), (5 << 16) | 1010);
        assert_eq!(s.word(0x14, 1), 0x56);
        assert_eq!((s.word(0x1fc, 1) >> 23) & 1, 1);
        s.write_queue_high(1);
        assert_eq!(s.write_queue_low(0x1234_5700), 7);
        assert_eq!(s.queue_address(), 0x1_1234_5000);
        assert_eq!(s.word(0x14, 1), 0x1234_5756);
        assert_eq!(s.word(u64::MAX, 1), 0);
    }

    #[test]
    fn by_name() {
        let mut s = segment();
        s.set_by_name("cmd_interface_rev", 4).unwrap();
        s.set_by_name("cmd_exec_to", 0x2000_0002).unwrap();
        assert_eq!(s.word(4, 1) >> 16, 4);
        assert_eq!(s.word(0xff8, 1), 0x2000_0002);
        assert!(s.set_by_name("log_cmdq_size", 16).is_err());
        assert!(s.set_by_name("nonsense", 0).is_err());
        s.set_by_name("initializing", 1).unwrap();
        assert!(s.initializing());
        s.initialize_for(Duration::ZERO);
        assert!(!s.initializing());
    }
}
