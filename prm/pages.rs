// SPDX-License-Identifier: GPL-2.0

//! Pages: memory of the host that firmware keeps its state in.
//!
//! The unit is 4096 bytes whatever the host's page size. A list of page addresses of 64 bits each
//! follows the fixed part of MANAGE_PAGES' input (giving) or output (returning).

use super::bits::Bits;
use crate::{
    codes,
    commands,
    layout, //
};

layout! {
    /// Input of QUERY_PAGES; `op_mod` is a [`QueryPagesMod`].
    pub struct QueryPagesIn: input "query_pages_in", 0x10 {
        0x08 [31:31] embedded_cpu_function: RW, "1: the function is an embedded CPU's.";
        0x08 [15:0] function_id: RW, "Function that is asked about; 0: the own one.";
    }

    /// Output of QUERY_PAGES.
    pub struct QueryPagesOut: output "query_pages_out", 0x10 {
        0x08 [31:31] embedded_cpu_function: RO, "1: the function is an embedded CPU's.";
        0x08 [15:0] function_id: RO, "Function that the answer is about.";
        0x0c [31:0] num_pages: RO, "Pages wanted; negative (two's complement): offered back.";
    }

    /// Input of MANAGE_PAGES, fixed part; `op_mod` is a [`ManagePagesMod`].
    pub struct ManagePagesIn: input "manage_pages_in", 0x10 {
        0x08 [31:31] embedded_cpu_function: RW, "1: the function is an embedded CPU's.";
        0x08 [15:0] function_id: RW, "Function that the pages are for; 0: the own one.";
        0x0c [31:0] input_num_entries: RW, "Pages given, or asked back.";
    }

    /// Output of MANAGE_PAGES, fixed part.
    pub struct ManagePagesOut: output "manage_pages_out", 0x10 {
        0x08 [31:0] output_num_entries: RO, "Pages returned, whose addresses follow.";
    }

    /// Entry of a list of pages.
    pub struct PageAddress: plain "", 0x8 {
        0x00 [63:12] pa: RW, "Address of the page in units of 4 KiB.",
            source("pas of manage_pages_in, a list that offsetof does not reach into");
    }
}

commands! {
    /// Asks how many pages firmware wants.
    QueryPages = QUERY_PAGES: QueryPagesIn => QueryPagesOut;
    /// Gives pages to firmware, or takes them back.
    ManagePages = MANAGE_PAGES: ManagePagesIn => ManagePagesOut;
}

codes! {
    /// `op_mod` of QUERY_PAGES: what the pages are for.
    pub struct QueryPagesMod(u16) {
        BOOT = 1 "boot pages",
        INIT = 2 "init pages",
        REGULAR = 3 "regular pages",
    }
}

codes! {
    /// `op_mod` of MANAGE_PAGES: which way the pages go.
    pub struct ManagePagesMod(u16) {
        CANNOT_GIVE = 0 "cannot give",
        GIVE = 1 "give",
        RETURN = 2 "return",
    }
}

/// Bytes of a page.
pub const PAGE_SIZE: usize = 4096;

/// Most pages that one MANAGE_PAGES gives or returns, as in mlx5_core.
pub const MAX_ENTRIES: usize = 768;

impl QueryPagesOut {
    /// Pages wanted; negative: offered back.
    pub fn pages(&self) -> i32 {
        // CAST: The field is a signed number.
        self.num_pages() as i32
    }
}

impl PageAddress {
    /// The entry for the page at `address`, whose low 12 bits are zero.
    pub fn of(address: u64) -> Self {
        *Self::new().set_pa(Bits::low(address / PAGE_SIZE as u64))
    }

    /// Address of the page.
    pub fn address(&self) -> u64 {
        self.pa().saturating_mul(PAGE_SIZE as u64)
    }
}
