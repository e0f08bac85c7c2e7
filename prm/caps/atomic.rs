// SPDX-License-Identifier: GPL-2.0

//! Atomic capabilities: page 3.

use crate::layout;

layout! {
    /// Which atomic operations there are, and how large.
    pub struct Atomic: plain "atomic_caps", 0x100 {
        0x08 [31:30] atomic_req_8b_endianness_mode: RW,
            "Byte order of requests of 8 bytes; 1: the host's.",
            ifc("atomic_req_8B_endianness_mode");
        0x08 [25:25] supported_atomic_req_8b_endianness_mode_1: RO,
            "Mode 1 of the byte order can be chosen.",
            ifc("supported_atomic_req_8B_endianness_mode_1");
        0x10 [15:0] atomic_operations: RO, "Bit n: operation n is supported.";
        0x14 [15:0] atomic_size_qp: RO, "Bit n: operands of 2^n bytes, on queue pairs.";
        0x18 [15:0] atomic_size_dc: RO, "Bit n: operands of 2^n bytes, on DC.";
    }
}
