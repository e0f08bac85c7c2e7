// SPDX-License-Identifier: GPL-2.0

//! Event queues: the context, its commands, and the doorbell.
//!
//! The entries are in [`super::event`].

use super::bits::{
    single,
    Bits, //
};
use crate::{
    codes,
    commands,
    layout, //
};

pub use super::event::*;

layout! {
    /// Event queue context.
    pub struct Eqc: plain "eqc", 0x40 {
        0x00 [31:28] status: RO, "Whether the queue works.", names(EqStatus::name_of);
        0x00 [18:18] ec: RW, "1: all entries collapse into the first.";
        0x00 [17:17] oi: RW, "1: overrun is ignored.";
        0x00 [11:8] st: RO, "Whether the next event raises an interrupt.", names(EqState::name_of);
        0x08 [11:6] page_offset: RW, "Where the queue begins in its first page, in 64 bytes.";
        0x0c [28:24] log_eq_size: RW, "log2 of the number of entries.";
        0x0c [23:0] uar_page: RW, "Region with the queue's doorbell.";
        0x14 [11:0] intr: RW, "MSI-X vector.";
        0x18 [28:24] log_page_size: RW, "log2 of the pages' size in units of 4 KiB.";
        0x28 [23:0] consumer_counter: RO, "Entries that software has taken.";
        0x2c [23:0] producer_counter: RO, "Entries that the device has written.";
    }

    /// Input of CREATE_EQ, fixed part; the addresses of the queue's pages follow.
    pub struct CreateEqIn: input "create_eq_in", 0x110 {
        0x10 [Eqc] eq_context_entry: RW, "Context of the queue to make.";
        0x58 [63:0; 4] event_bitmask: RW, "Event n: word n/64, bit n modulo 64.";
    }

    /// Output of CREATE_EQ.
    pub struct CreateEqOut: output "create_eq_out", 0x10 {
        0x08 [7:0] eq_number: RO, "Number of the queue.";
    }

    /// Input of DESTROY_EQ.
    pub struct DestroyEqIn: input "destroy_eq_in", 0x10 {
        0x08 [7:0] eq_number: RW, "Number of the queue.";
    }

    /// Output of DESTROY_EQ.
    pub struct DestroyEqOut: output "destroy_eq_out", 0x10 {}

    /// Input of QUERY_EQ.
    pub struct QueryEqIn: input "query_eq_in", 0x10 {
        0x08 [7:0] eq_number: RW, "Number of the queue.";
    }

    /// Output of QUERY_EQ, fixed part; the addresses of the queue's pages follow.
    pub struct QueryEqOut: output "query_eq_out", 0x110 {
        0x10 [Eqc] eq_context_entry: RO, "Context of the queue.";
        0x58 [63:0] event_bitmask: RO, "Event n: bit n, for 0 to 63.";
    }

    /// Input of GEN_EQE.
    pub struct GenEqeIn: input "gen_eqe_in", 0x50 {
        0x08 [7:0] eq_number: RW, "Queue to write to.";
        0x10 [Eqe] eqe: RW, "Entry to write.";
    }

    /// Output of GEN_EQE.
    pub struct GenEqeOut: output "gen_eq_out", 0x10 {}

    /// Doorbell of an event queue, in the queue's UAR.
    pub struct Doorbell: plain "", 0x4 {
        0x00 [31:24] eqn: WO, "Number of the queue.",
            source("eq_update_ci in mlx5_core lib/eq.h");
        0x00 [23:0] ci: WO, "Entries that software has taken, modulo 2^24.",
            source("eq_update_ci in mlx5_core lib/eq.h");
    }
}

commands! {
    /// Makes an event queue.
    CreateEq = CREATE_EQ: CreateEqIn => CreateEqOut;
    /// Removes an event queue.
    DestroyEq = DESTROY_EQ: DestroyEqIn => DestroyEqOut;
    /// Shows an event queue's context.
    QueryEq = QUERY_EQ: QueryEqIn => QueryEqOut;
    /// Writes an entry, for tests.
    GenEqe = GEN_EQE: GenEqeIn => GenEqeOut;
}

codes! {
    /// Status of an event queue.
    pub struct EqStatus(u8) {
        OK = 0x0 "ok",
        WRITE_FAILURE = 0xa "EQ write failure",
    }
}

codes! {
    /// Interrupt state of an event queue.
    pub struct EqState(u8) {
        ARMED = 0x9 "armed",
        FIRED = 0xa "fired",
        ALWAYS_ARMED = 0xb "always armed",
    }
}

impl Doorbell {
    /// Offset in the UAR of the doorbell that takes the counter and arms the queue.
    pub const ARM: usize = 0x40;

    /// Offset in the UAR of the doorbell that only takes the counter.
    pub const UPDATE: usize = 0x48;

    /// Makes the doorbell of queue `eqn` for a free-running count of entries taken.
    pub fn of(eqn: u8, taken: u64) -> Self {
        *Self::new().set_eqn(eqn).set_ci(Bits::low(taken))
    }

    /// The word to store.
    pub fn word(&self) -> u32 {
        u32::from_be_bytes(self.0)
    }
}

/// A set of event types, for a new queue.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct EventMask([u64; 4]);

impl EventMask {
    /// No events: a queue for completions only.
    pub const EMPTY: Self = Self([0; 4]);

    /// The set with `event` in it as well.
    #[must_use]
    pub fn with(mut self, event: EventType) -> Self {
        if let Some(word) = self.0.get_mut(usize::from(event.0 / 64)) {
            *word |= single(u32::from(event.0));
        }
        self
    }

    /// Whether `event` is in the set.
    pub fn contains(&self, event: EventType) -> bool {
        self.0
            .get(usize::from(event.0 / 64))
            .is_some_and(|word| word & single(u32::from(event.0)) != 0)
    }
}

impl CreateEqIn {
    /// Chooses the events that the queue is for.
    pub fn set_events(&mut self, events: EventMask) -> &mut Self {
        self.set_event_bitmask(events.0)
    }

    /// The events that the queue is for.
    pub fn events(&self) -> EventMask {
        EventMask(self.event_bitmask())
    }
}
