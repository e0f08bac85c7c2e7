// SPDX-License-Identifier: GPL-2.0

//! Debug capabilities: page 0Dh.

use crate::layout;

layout! {
    /// What the device shows of itself.
    pub struct Debug: plain "debug_cap", 0x100 {
        0x00 [31:31] core_dump_general: RO, "Core dump of the whole device.";
        0x00 [30:30] core_dump_qp: RO, "Core dump of a queue pair.";
        0x00 [22:22] resource_dump: RO, "Resource dump.";
        0x04 [29:29] stall_detect: RO, "Detection of stalls.";
    }
}
