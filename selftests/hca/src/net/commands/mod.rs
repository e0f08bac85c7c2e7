// SPDX-License-Identifier: GPL-2.0

//! Commands of the Ethernet side, one file a chapter.

mod completion;
mod dispatch;
mod flow;
mod flow_counter;
mod flow_entry;
mod receive;
mod send;
mod vport;
mod vport_state;
mod work_queue;

use crate::command::{
    status,
    Call,
    Refusal,
    Spec, //
};
use crate::ifc::Field;
use crate::rules::Rule;

/// Chapters of commands of the Ethernet side.
pub const CHAPTERS: &[&[Spec]] = &[
    completion::COMMANDS,
    dispatch::COMMANDS,
    flow::COMMANDS,
    flow_counter::COMMANDS,
    flow_entry::COMMANDS,
    receive::COMMANDS,
    send::COMMANDS,
    vport::COMMANDS,
    vport_state::COMMANDS,
];

/// Highest number under a log2 capability; numbers have 24 bits.
fn last(call: &Call<'_>, capability: &str) -> u32 {
    let log = call.device.caps.get(capability).min(24);
    (1u32 << log).saturating_sub(1)
}

/// Addresses of pages at the end of the input.
fn page_list(call: &Call<'_>, field: Field) -> Vec<u64> {
    call.tail(field)
        .chunks_exact(8)
        .map(|b| b.iter().fold(0, |v, byte| (v << 8) | u64::from(*byte)))
        .collect()
}

/// Refuses a value.
fn bad_value(call: &mut Call<'_>, text: impl Into<String>) -> Refusal {
    call.refuse(status::BAD_PARAM, Rule::Value, text)
}

/// Refuses what no capability announces.
fn unsupported(call: &mut Call<'_>, text: impl Into<String>) -> Refusal {
    call.refuse(status::BAD_PARAM, Rule::Unsupported, text)
}

/// Refuses a size or number above its limit.
fn above_limit(call: &mut Call<'_>, what: &str, value: u64, limit: u64) -> Refusal {
    let text = format!("{what} is {value}, the limit {limit}");
    call.refuse(status::BAD_PARAM, Rule::Limit, text)
}
