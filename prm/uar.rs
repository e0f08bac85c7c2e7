// SPDX-License-Identifier: GPL-2.0

//! User access regions: pages of BAR0 with doorbells.

use crate::{
    commands,
    layout, //
};

layout! {
    /// Input of ALLOC_UAR.
    pub struct AllocUarIn: input "alloc_uar_in", 0x10 {}

    /// Output of ALLOC_UAR.
    pub struct AllocUarOut: output "alloc_uar_out", 0x10 {
        0x08 [23:0] uar: RO, "Number of the region.";
    }

    /// Input of DEALLOC_UAR.
    pub struct DeallocUarIn: input "dealloc_uar_in", 0x10 {
        0x08 [23:0] uar: RW, "Number of the region.";
    }

    /// Output of DEALLOC_UAR.
    pub struct DeallocUarOut: output "dealloc_uar_out", 0x10 {}
}

commands! {
    /// Takes a region of doorbells.
    AllocUar = ALLOC_UAR: AllocUarIn => AllocUarOut;
    /// Gives it back.
    DeallocUar = DEALLOC_UAR: DeallocUarIn => DeallocUarOut;
}
