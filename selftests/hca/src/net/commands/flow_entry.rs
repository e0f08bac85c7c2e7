// SPDX-License-Identifier: GPL-2.0

//! Flow tables: entries.

use super::flow::{
    check_kind,
    match_bytes,
    property,
    table_of,
    References,
    LAST,
    NEEDS,
    SET, //
};
use super::{
    above_limit,
    unsupported, //
};
use crate::bits;
use crate::command::{
    status,
    Call,
    Outcome,
    Refusal,
    Spec, //
};
use crate::ifc::fields::*;
use crate::ifc::opcode;
use crate::net::steering::{
    action,
    kind,
    Destination,
    Entry,
    Table, //
};
use crate::objects::Kind;
use crate::rules::Rule;

pub const COMMANDS: &[Spec] = &[
    Spec::new(
        opcode::SET_FLOW_TABLE_ENTRY,
        "set_fte_in",
        "set_fte_out",
        set_entry,
    )
    .needs(NEEDS)
    .op_mods(&[SET, MODIFY]),
    Spec::new(
        opcode::DELETE_FLOW_TABLE_ENTRY,
        "delete_fte_in",
        "delete_fte_out",
        delete_entry,
    )
    .needs(NEEDS),
];

/// op_mod that changes an entry.
const MODIFY: u16 = 1;
/// Bits of `modify_enable_mask`. Source: `MLX5_SET_FTE_MODIFY_ENABLE_MASK_*`.
mod change {
    pub const ACTION: u64 = 1 << 0;
    pub const TAG: u64 = 1 << 1;
    pub const DESTINATIONS: u64 = 1 << 2;
    pub const COUNTERS: u64 = 1 << 3;
    pub const KNOWN: u64 = ACTION | TAG | DESTINATIONS | COUNTERS;
}

/// Types of destinations. Source: `enum mlx5_ifc_flow_destination_type` of the kernel's header.
const TO_TABLE: u64 = 1;
const TO_TIR: u64 = 2;

/// Destinations and counters of an entry, and what it refers to.
type Targets = (Vec<Destination>, Vec<u32>, References);

fn targets(call: &mut Call<'_>, from: &Table) -> Result<Targets, Refusal> {
    let at = set_fte_in::FLOW_CONTEXT;
    if call.flag(at / flow_context::EXTENDED_DESTINATION) {
        return Err(unsupported(call, "extended_destination"));
    }
    let limit = |log: u64| 1u64.checked_shl(log as u32).unwrap_or(u64::MAX);
    let wanted = call.get(at / flow_context::DESTINATION_LIST_SIZE);
    let most = limit(property(call, from.kind, "log_max_destination")?);
    if wanted > most {
        return Err(above_limit(call, "destination_list_size", wanted, most));
    }
    let counted = call.get(at / flow_context::FLOW_COUNTER_LIST_SIZE);
    let most = limit(property(call, from.kind, "log_max_flow_counter")?);
    if counted > most {
        return Err(above_limit(call, "flow_counter_list_size", counted, most));
    }
    let start = (at / flow_context::DESTINATION).byte();
    let list = call.input.get(start..).unwrap_or(&[]);
    if (list.len() as u64) < (wanted + counted) * 8 {
        let text = format!("{} bytes for {wanted} + {counted} list entries", list.len());
        return Err(call.refuse(status::BAD_INPUT_LENGTH, Rule::InputLength, text));
    }
    let (mut destinations, mut counters, mut refers) = (Vec::new(), Vec::new(), Vec::new());
    let ignore_level = call.flag(set_fte_in::IGNORE_FLOW_LEVEL);
    for (i, d) in (0..wanted + counted).zip(list.chunks_exact(8)) {
        if i >= wanted {
            let id = bits::get32(d, flow_counter_list::FLOW_COUNTER_ID);
            counters.push(id);
            refers.push((Kind::FlowCounter, id));
            continue;
        }
        let id = bits::get32(d, dest_format_struct::DESTINATION_ID);
        match bits::get(d, dest_format_struct::DESTINATION_TYPE) {
            TO_TABLE => {
                let next = table_of(call, id, from.kind)?;
                if next.level <= from.level && !ignore_level {
                    let text = format!("from level {} to level {}", from.level, next.level);
                    return Err(call.refuse(status::BAD_PARAM, Rule::Value, text));
                }
                destinations.push(Destination::Table(id));
                refers.push((Kind::FlowTable, id));
            }
            TO_TIR if from.kind == kind::NIC_RX => {
                destinations.push(Destination::Tir(id));
                refers.push((Kind::Tir, id));
            }
            other => return Err(unsupported(call, format!("destination_type {other}"))),
        }
    }
    Ok((destinations, counters, refers))
}

fn set_entry(call: &mut Call<'_>) -> Outcome {
    let table_kind = check_kind(call, set_fte_in::TABLE_TYPE, set_fte_in::OTHER_VPORT)?;
    let number = call.get32(set_fte_in::TABLE_ID);
    let index = call.get32(set_fte_in::FLOW_INDEX);
    let table = table_of(call, number, table_kind)?;
    let at = set_fte_in::FLOW_CONTEXT;
    let group_id = call.get32(at / flow_context::GROUP_ID);
    let Some(group) = table.groups.get(&group_id) else {
        let text = format!("there is no group 0x{group_id:x} in flow table 0x{number:x}");
        return Err(call.refuse(status::BAD_RESOURCE, Rule::NoObject, text));
    };
    if index < group.start || index > group.end {
        let text = format!(
            "index {index}, the group has {} to {}",
            group.start, group.end
        );
        return Err(call.refuse(status::BAD_PARAM, Rule::Limit, text));
    }
    let actions = call.get(at / flow_context::ACTION) as u16;
    if actions & !action::KNOWN != 0 {
        return Err(unsupported(call, format!("action 0x{actions:x}")));
    }
    let old = table.entries.get(&index).cloned();
    let mask = call.get(set_fte_in::MODIFY_ENABLE_MASK);
    match (call.op_mod, &old) {
        (MODIFY, None) => {
            let text = format!("there is no entry {index} in flow table 0x{number:x}");
            return Err(call.refuse(status::BAD_RESOURCE, Rule::NoObject, text));
        }
        (MODIFY, Some(_)) if mask & !change::KNOWN != 0 => {
            return Err(unsupported(call, format!("modify_enable_mask 0x{mask:x}")));
        }
        (MODIFY, Some(_)) if property(call, table_kind, "flow_modify_en")? == 0 => {
            return Err(unsupported(call, "flow_modify_en is 0"));
        }
        (SET, Some(_)) => {
            let text = format!("entry {index} of flow table 0x{number:x} is there already");
            return Err(call.refuse(status::BAD_PARAM, Rule::Value, text));
        }
        _ => {}
    }
    let (destinations, counters, refers) = targets(call, &table)?;
    let new = Entry {
        object: 0,
        group: group_id,
        actions,
        tag: call.get32(at / flow_context::FLOW_TAG),
        value: match_bytes(call, at / flow_context::MATCH_VALUE),
        destinations,
        counters,
    };
    let entry = match old {
        Some(old) => changed(call, old, new, mask, group_id)?,
        None => {
            let mut all = vec![(Kind::FlowGroup, group_id)];
            all.extend(refers);
            let objects = &mut call.device.objects;
            let made = objects.create(Kind::FlowEntry, (0, LAST), &all, Vec::new());
            let object = made.map_err(|e| call.object_error(&e))?;
            Entry { object, ..new }
        }
    };
    if let Some(t) = call.device.net.steering.tables.get_mut(&number) {
        t.entries.insert(index, entry);
    }
    Ok(())
}

/// An entry with the changes that the mask selects; its references follow.
fn changed(
    call: &mut Call<'_>,
    old: Entry,
    new: Entry,
    mask: u64,
    group: u32,
) -> Result<Entry, Refusal> {
    let mut entry = old;
    if mask & change::ACTION != 0 {
        entry.actions = new.actions;
    }
    if mask & change::TAG != 0 {
        entry.tag = new.tag;
    }
    if mask & change::DESTINATIONS != 0 {
        entry.destinations = new.destinations;
    }
    if mask & change::COUNTERS != 0 {
        entry.counters = new.counters;
    }
    let mut refers = vec![(Kind::FlowGroup, group)];
    refers.extend(entry.destinations.iter().map(|d| match d {
        Destination::Table(t) => (Kind::FlowTable, *t),
        Destination::Tir(t) => (Kind::Tir, *t),
    }));
    refers.extend(entry.counters.iter().map(|c| (Kind::FlowCounter, *c)));
    let objects = &mut call.device.objects;
    let moved = objects.set_references(Kind::FlowEntry, entry.object, &refers);
    moved.map_err(|e| call.object_error(&e))?;
    Ok(entry)
}

fn delete_entry(call: &mut Call<'_>) -> Outcome {
    let table_kind = check_kind(call, delete_fte_in::TABLE_TYPE, delete_fte_in::OTHER_VPORT)?;
    let number = call.get32(delete_fte_in::TABLE_ID);
    let index = call.get32(delete_fte_in::FLOW_INDEX);
    let table = table_of(call, number, table_kind)?;
    let Some(entry) = table.entries.get(&index) else {
        let text = format!("there is no entry {index} in flow table 0x{number:x}");
        return Err(call.refuse(status::BAD_RESOURCE, Rule::NoObject, text));
    };
    let gone = call.device.objects.destroy(Kind::FlowEntry, entry.object);
    gone.map_err(|e| call.object_error(&e))?;
    if let Some(t) = call.device.net.steering.tables.get_mut(&number) {
        t.entries.remove(&index);
    }
    Ok(())
}
