// SPDX-License-Identifier: GPL-2.0

//! What a query has brought, and when.

use super::{
    snapshot::Snapshot,
    support::Facts, //
};
use crate::{
    kernel_ext::clock,
    prm::esw::QueryEswFunctionsMod, //
};
use core::fmt;
use kernel::prelude::*;

/// When something was asked, and how many events had come by then.
#[derive(Clone, Copy)]
pub(super) struct When {
    pub(super) at_us: u64,
    pub(super) wall: i64,
    pub(super) events: u64,
}

/// The outputs of a query, as the device gave them.
pub(super) struct Outputs {
    /// The functions.
    pub(super) functions: KVec<u8>,
    /// The legacy layout with the list of SFs, where that takes a query of its own.
    pub(super) list: KVec<u8>,
}

impl Outputs {
    pub(super) const EMPTY: Self = Self {
        functions: KVec::new(),
        list: KVec::new(),
    };

    pub(super) fn new(facts: &Facts) -> Result<Self> {
        let list = if facts.needs_list() {
            facts.list_length()
        } else {
            0
        };

        Ok(Self {
            functions: KVec::from_elem(0, facts.output_length(), GFP_KERNEL)?,
            list: KVec::from_elem(0, list, GFP_KERNEL)?,
        })
    }
}

/// What a query has brought.
pub(super) struct Taken {
    pub(super) when: When,
    pub(super) outputs: Outputs,
    /// Whether the list of SFs could be had, where that takes a query of its own.
    pub(super) has_list: bool,
}

impl Taken {
    pub(super) fn view(&self, op_mod: QueryEswFunctionsMod) -> Snapshot<'_> {
        let list: &[u8] = &self.outputs.list;

        Snapshot::new(op_mod, &self.outputs.functions).with_list_of(self.has_list.then_some(list))
    }
}

impl When {
    pub(super) fn age_ms(&self) -> u64 {
        clock::monotonic_us().saturating_sub(self.at_us) / 1000
    }

    /// Prints how old a snapshot is, and what it may have missed of all `events`.
    pub(super) fn write(&self, w: &mut dyn fmt::Write, events: u64) -> fmt::Result {
        writeln!(w, "snapshot: {} us", self.at_us)?;
        writeln!(w, "snapshot_age_ms: {}", self.age_ms())?;
        writeln!(w, "events_before: {}", self.events)?;
        writeln!(w, "events_since: {}", events.saturating_sub(self.events))
    }
}
