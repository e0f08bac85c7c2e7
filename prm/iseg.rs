// SPDX-License-Identifier: GPL-2.0

//! The initialization segment: the registers at the beginning of BAR0.
//!
//! Each register is a layout of one word or two; [`Layout::OFFSET`](super::layout::Layout::OFFSET)
//! is its place in the BAR.
//!
//! The access column is what drivers do with a register; no public table of the manual has it.

use super::timeout::DefaultTimeout;
use crate::{
    codes,
    layout, //
};

layout! {
    /// Firmware's version, first word.
    pub struct FirmwareRevision: part "initial_seg" at 0x00, 0x4 {
        0x00 [31:16] fw_rev_minor: RO, "Minor number of firmware's version.";
        0x00 [15:0] fw_rev_major: RO, "Major number of firmware's version.";
    }

    /// Revision of the command interface, and the rest of firmware's version.
    pub struct CommandInterface: part "initial_seg" at 0x04, 0x4 {
        0x00 [31:16] cmd_interface_rev: RO, "Revision of the command interface; 5 is known.";
        0x00 [15:0] fw_rev_subminor: RO, "Third number of firmware's version.";
    }

    /// Where the command queue lies, how large it is, and what the function is used for.
    ///
    /// The upper word is written first. A write of the lower word takes both.
    pub struct CommandQueueAddress: part "initial_seg" at 0x10, 0x8 {
        0x00 [31:0] cmdq_phy_addr_63_32: RW, "Address of the command queue, upper half.";
        0x04 [31:12] cmdq_phy_addr_31_12: RW, "Address of the command queue in units of 4 KiB.";
        0x04 [10:8] nic_interface: RW, "What the function is used for.",
            names(NicInterface::name_of),
            differs("9:8 has no room for its value 7; mlx5_core's health.c and Snabb use 10:8");
        0x04 [7:4] log_cmdq_size: RO, "log2 of the number of entries; at most 5.";
        0x04 [3:0] log_cmdq_stride: RO, "log2 of the bytes from one entry to the next.";
    }

    /// Doorbell of the command queue: a set bit hands over the entry of that number.
    pub struct Doorbell: part "initial_seg" at 0x18, 0x4 {
        0x00 [31:0] command_doorbell_vector: WO, "Bit n: entry n.";
    }

    /// What state firmware and function are in.
    pub struct State: part "initial_seg" at 0x1fc, 0x4 {
        0x00 [31:31] initializing: RO, "1: firmware is not ready yet; nothing else is valid.";
        0x00 [30:30] nic_interface_reset: RO, "1: nic_interface 7 resets firmware.",
            source("mlx5_core health.c, MLX5_FW_RESET_SUPPORTED_OFFSET");
        0x00 [26:24] nic_interface_supported: RO, "Bit n: value n of nic_interface is supported.";
        0x00 [23:23] embedded_cpu: RO, "1: the function is an embedded CPU's (ECPF).";
        0x00 [15:12] fw_rst_state: RO, "How far a synchronized firmware reset is.",
            names(FwRstState::name_of), source("mlx5_core fw_reset.c");
    }

    /// Word behind the health buffer.
    pub struct NoDramNic: part "initial_seg" at 0x240, 0x4 {
        0x00 [31:0] no_dram_nic_offset: RO, "Offset of the registers of a NIC without DRAM.";
    }

    /// Timeouts of firmware's own; all zero where it has none.
    pub struct Timeouts: part "initial_seg" at 0xff8, 0x8 {
        0x00 [DefaultTimeout] cmd_exec_to: RO, "Longest execution of a command.",
            source("struct mlx5_init_seg in device.h");
        0x04 [DefaultTimeout] cmd_q_init_to: RO, "Longest set-up of the command queue.",
            source("struct mlx5_init_seg in device.h");
    }

    /// The device's clock. The upper word is read before and after the lower, until it is the same.
    pub struct InternalTimer: part "initial_seg" at 0x1000, 0x8 {
        0x00 [31:0] internal_timer_h: RO, "Cycles of the device's clock, upper half.",
            source("struct mlx5_init_seg in device.h");
        0x04 [31:0] internal_timer_l: RO, "Cycles of the device's clock, lower half.",
            source("struct mlx5_init_seg in device.h");
    }

    /// Acknowledgment of the legacy interrupt.
    pub struct ClearInterrupt: part "initial_seg" at 0x100c, 0x4 {
        0x00 [0:0] clear_int: WO, "1: clears the legacy interrupt.";
    }

    /// Sign of life: the counter runs as long as firmware does.
    ///
    /// mlx5_core reads all 32 bits as the counter; mlxcx takes bits 7:0 for the syndrome.
    pub struct Health: part "initial_seg" at 0x1010, 0x4 {
        0x00 [31:24] health_syndrome: RO, "Why firmware is not well; 0: it is.",
            names(super::health::synd_name);
        0x00 [23:0] health_counter: RO, "Advances as long as firmware runs.";
    }
}

codes! {
    /// Values of `nic_interface`.
    pub struct NicInterface(u8) {
        FULL_DRIVER = 0 "full driver",
        DISABLED = 1 "disabled",
        NO_DRAM = 2 "NIC without DRAM",
        SW_RESET = 7 "software reset",
    }
}

codes! {
    /// Values of `fw_rst_state`.
    pub struct FwRstState(u8) {
        IDLE = 0 "idle",
        TOGGLE_REQUEST = 4 "toggle requested",
        DROP_MODE = 5 "drop mode",
    }
}

impl CommandInterface {
    /// The revision of the command interface that this module speaks.
    pub const REVISION: u16 = 5;
}

impl CommandQueueAddress {
    /// Fills in the address of the queue, whose low 12 bits are zero.
    pub fn set_address(&mut self, address: u64) -> &mut Self {
        // CAST: The upper half of the address is meant.
        self.set_cmdq_phy_addr_63_32((address >> 32) as u32)
            .set_cmdq_phy_addr_31_12(super::bits::Bits::low(address >> 12))
    }

    /// Largest `log_cmdq_size` that there is: a doorbell has 32 bits.
    pub const MAX_LOG_SIZE: u8 = 5;
}

impl Doorbell {
    /// Offset in the BAR.
    pub const OFFSET: usize = <Self as super::layout::Layout>::TABLE.base;
}
