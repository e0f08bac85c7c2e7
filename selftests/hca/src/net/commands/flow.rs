// SPDX-License-Identifier: GPL-2.0

//! Flow tables: tables, groups, entries, roots.

use super::{
    above_limit,
    bad_value,
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
use crate::ifc::{
    opcode,
    Field, //
};
use crate::net::matching;
use crate::net::steering::{
    action,
    kind,
    miss,
    Destination,
    Entry,
    Group,
    Table, //
};
use crate::objects::Kind;
use crate::rules::Rule;

const NEEDS: &str = "cmd_hca_cap.nic_flow_table";

pub const COMMANDS: &[Spec] = &[
    Spec::new(
        opcode::CREATE_FLOW_TABLE,
        "create_flow_table_in",
        "create_flow_table_out",
        create_table,
    )
    .needs(NEEDS),
    Spec::new(
        opcode::DESTROY_FLOW_TABLE,
        "destroy_flow_table_in",
        "destroy_flow_table_out",
        destroy_table,
    )
    .needs(NEEDS),
    Spec::new(
        opcode::MODIFY_FLOW_TABLE,
        "modify_flow_table_in",
        "modify_flow_table_out",
        modify_table,
    )
    .needs(NEEDS),
    Spec::new(
        opcode::SET_FLOW_TABLE_ROOT,
        "set_flow_table_root_in",
        "set_flow_table_root_out",
        set_root,
    )
    .needs(NEEDS)
    .op_mods(&[SET, RESET]),
    Spec::new(
        opcode::CREATE_FLOW_GROUP,
        "create_flow_group_in",
        "create_flow_group_out",
        create_group,
    )
    .needs(NEEDS),
    Spec::new(
        opcode::DESTROY_FLOW_GROUP,
        "destroy_flow_group_in",
        "destroy_flow_group_out",
        destroy_group,
    )
    .needs(NEEDS),
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

/// op_mod of SET_FLOW_TABLE_ROOT and SET_FLOW_TABLE_ENTRY.
const SET: u16 = 0;
const RESET: u16 = 1;
const MODIFY: u16 = 1;

/// First numbers of tables and groups.
const FIRST_TABLE: u32 = 1;
const LAST: u32 = 0x00ff_ffff;

/// The properties of the tables of a kind, as the capabilities have them.
fn property(call: &mut Call<'_>, table_kind: u8, name: &str) -> Result<u64, Refusal> {
    let which = match table_kind {
        kind::NIC_RX => "flow_table_properties_nic_receive",
        kind::NIC_TX => "flow_table_properties_nic_transmit",
        other => return Err(unsupported(call, format!("tables of type 0x{other:x}"))),
    };
    Ok(call
        .device
        .caps
        .get(&format!("flow_table_nic_cap.{which}.{name}")))
}

/// Checks what all commands have: the kind of table, and that it is the function's own.
fn check_kind(call: &mut Call<'_>, kind: Field, other: Field) -> Result<u8, Refusal> {
    let table_kind = call.get(kind) as u8;
    if property(call, table_kind, "ft_support")? == 0 {
        return Err(unsupported(
            call,
            format!("tables of type 0x{table_kind:x}"),
        ));
    }
    if call.flag(other) {
        return Err(unsupported(call, "tables of another vport"));
    }
    Ok(table_kind)
}

fn table_of(call: &mut Call<'_>, number: u32, table_kind: u8) -> Result<Table, Refusal> {
    let found = call.device.net.steering.tables.get(&number).cloned();
    found.filter(|t| t.kind == table_kind).ok_or_else(|| {
        let text = format!("there is no flow table 0x{number:x} of type 0x{table_kind:x}");
        call.refuse(status::BAD_RESOURCE, Rule::NoObject, text)
    })
}

/// Objects that an object refers to.
type References = Vec<(Kind, u32)>;

/// What happens to a packet that matches no entry: the action, and the next table.
fn miss_of(call: &mut Call<'_>, at: Field) -> Result<(u8, u32, References), Refusal> {
    let what = call.get(at / flow_table_context::TABLE_MISS_ACTION) as u8;
    let next = call.get32(at / flow_table_context::TABLE_MISS_ID);
    match what {
        miss::DEFAULT => Ok((what, 0, Vec::new())),
        miss::FORWARD => Ok((what, next, vec![(Kind::FlowTable, next)])),
        other => Err(bad_value(call, format!("table_miss_action is {other}"))),
    }
}

fn create_table(call: &mut Call<'_>) -> Outcome {
    let table_kind = check_kind(
        call,
        create_flow_table_in::TABLE_TYPE,
        create_flow_table_in::OTHER_VPORT,
    )?;
    let at = create_flow_table_in::FLOW_TABLE_CONTEXT;
    let log_size = call.get(at / flow_table_context::LOG_SIZE);
    let limit = property(call, table_kind, "log_max_ft_size")?;
    if log_size > limit {
        return Err(above_limit(call, "log_size", log_size, limit));
    }
    let level = call.get(at / flow_table_context::LEVEL);
    let limit = property(call, table_kind, "max_ft_level")?;
    if level > limit {
        return Err(above_limit(call, "level", level, limit));
    }
    for (flag, capability) in [
        (flow_table_context::REFORMAT_EN, "reformat"),
        (flow_table_context::DECAP_EN, "decap"),
        (flow_table_context::SW_OWNER, "sw_owner"),
        (flow_table_context::TERMINATION_TABLE, "termination_table"),
    ] {
        if call.flag(at / flag) && property(call, table_kind, capability)? == 0 {
            return Err(unsupported(call, format!("a table with {capability}")));
        }
    }
    if call.flag(at / flow_table_context::RTC_VALID) {
        return Err(unsupported(call, "a table with rtc_valid"));
    }
    let (miss_action, miss_table, refers) = miss_of(call, at)?;
    let objects = &mut call.device.objects;
    let made = objects.create(Kind::FlowTable, (FIRST_TABLE, LAST), &refers, Vec::new());
    let number = made.map_err(|e| call.object_error(&e))?;
    let table = Table {
        kind: table_kind,
        level: level as u8,
        log_size: log_size as u8,
        miss_action,
        miss_table,
        ..Table::default()
    };
    call.device.net.steering.tables.insert(number, table);
    call.set(create_flow_table_out::TABLE_ID, number);
    Ok(())
}

fn destroy_table(call: &mut Call<'_>) -> Outcome {
    let table_kind = check_kind(
        call,
        destroy_flow_table_in::TABLE_TYPE,
        destroy_flow_table_in::OTHER_VPORT,
    )?;
    let number = call.get32(destroy_flow_table_in::TABLE_ID);
    table_of(call, number, table_kind)?;
    let gone = call.device.objects.destroy(Kind::FlowTable, number);
    gone.map_err(|e| call.object_error(&e))?;
    let steering = &mut call.device.net.steering;
    steering.tables.remove(&number);
    steering.roots.retain(|_, root| *root != number);
    Ok(())
}

/// Bit of `modify_field_select`: the miss table. Source: `MLX5_MODIFY_FLOW_TABLE_MISS_TABLE_ID`.
const MISS_TABLE: u64 = 1 << 0;

fn modify_table(call: &mut Call<'_>) -> Outcome {
    let table_kind = check_kind(
        call,
        modify_flow_table_in::TABLE_TYPE,
        modify_flow_table_in::OTHER_VPORT,
    )?;
    if property(call, table_kind, "flow_table_modify")? == 0 {
        return Err(unsupported(call, "flow_table_modify is 0"));
    }
    let number = call.get32(modify_flow_table_in::TABLE_ID);
    table_of(call, number, table_kind)?;
    let select = call.get(modify_flow_table_in::MODIFY_FIELD_SELECT);
    if select != MISS_TABLE {
        return Err(bad_value(
            call,
            format!("modify_field_select is 0x{select:x}"),
        ));
    }
    let (miss_action, miss_table, refers) =
        miss_of(call, modify_flow_table_in::FLOW_TABLE_CONTEXT)?;
    let moved = call
        .device
        .objects
        .set_references(Kind::FlowTable, number, &refers);
    moved.map_err(|e| call.object_error(&e))?;
    if let Some(t) = call.device.net.steering.tables.get_mut(&number) {
        (t.miss_action, t.miss_table) = (miss_action, miss_table);
    }
    Ok(())
}

fn set_root(call: &mut Call<'_>) -> Outcome {
    let table_kind = check_kind(
        call,
        set_flow_table_root_in::TABLE_TYPE,
        set_flow_table_root_in::OTHER_VPORT,
    )?;
    if call.op_mod == RESET {
        if property(call, table_kind, "reset_root_to_default")? == 0 {
            return Err(unsupported(call, "reset_root_to_default is 0"));
        }
        call.device.net.steering.roots.remove(&table_kind);
        return Ok(());
    }
    let is = call.device.net.steering.roots.contains_key(&table_kind);
    if is && property(call, table_kind, "modify_root")? == 0 {
        return Err(unsupported(call, "there is a root, and modify_root is 0"));
    }
    let number = call.get32(set_flow_table_root_in::TABLE_ID);
    table_of(call, number, table_kind)?;
    call.device.net.steering.roots.insert(table_kind, number);
    Ok(())
}

fn create_group(call: &mut Call<'_>) -> Outcome {
    let table_kind = check_kind(
        call,
        create_flow_group_in::TABLE_TYPE,
        create_flow_group_in::OTHER_VPORT,
    )?;
    let number = call.get32(create_flow_group_in::TABLE_ID);
    let table = table_of(call, number, table_kind)?;
    let group_type = call.get(create_flow_group_in::GROUP_TYPE);
    if group_type != 0 {
        return Err(unsupported(call, format!("group_type {group_type}")));
    }
    let (start, end) = (
        call.get32(create_flow_group_in::START_FLOW_INDEX),
        call.get32(create_flow_group_in::END_FLOW_INDEX),
    );
    if start > end || end >= table.size() {
        let text = format!("entries {start} to {end} of {}", table.size());
        return Err(call.refuse(status::BAD_PARAM, Rule::Limit, text));
    }
    if let Some((id, g)) = table
        .groups
        .iter()
        .find(|(_, g)| g.start <= end && start <= g.end)
    {
        let text = format!(
            "entries {start} to {end}, group 0x{id:x} has {} to {}",
            g.start, g.end
        );
        return Err(call.refuse(status::BAD_PARAM, Rule::Value, text));
    }
    let criteria = match_bytes(call, create_flow_group_in::MATCH_CRITERIA);
    let enable = call.get(create_flow_group_in::MATCH_CRITERIA_ENABLE) as u8;
    matching::check(&criteria, enable).map_err(|text| unsupported(call, text))?;
    let refers = [(Kind::FlowTable, number)];
    let objects = &mut call.device.objects;
    let made = objects.create(Kind::FlowGroup, (0, LAST), &refers, Vec::new());
    let id = made.map_err(|e| call.object_error(&e))?;
    if let Some(t) = call.device.net.steering.tables.get_mut(&number) {
        let group = Group {
            start,
            end,
            criteria,
        };
        t.groups.insert(id, group);
    }
    call.set(create_flow_group_out::GROUP_ID, id);
    Ok(())
}

fn match_bytes(call: &Call<'_>, at: Field) -> Vec<u8> {
    let mut bytes = call.tail(at).to_vec();
    bytes.resize(matching::BYTES, 0);
    bytes
}

fn destroy_group(call: &mut Call<'_>) -> Outcome {
    let table_kind = check_kind(
        call,
        destroy_flow_group_in::TABLE_TYPE,
        destroy_flow_group_in::OTHER_VPORT,
    )?;
    let number = call.get32(destroy_flow_group_in::TABLE_ID);
    let id = call.get32(destroy_flow_group_in::GROUP_ID);
    let table = table_of(call, number, table_kind)?;
    if !table.groups.contains_key(&id) {
        let text = format!("there is no group 0x{id:x} in flow table 0x{number:x}");
        return Err(call.refuse(status::BAD_RESOURCE, Rule::NoObject, text));
    }
    let gone = call.device.objects.destroy(Kind::FlowGroup, id);
    gone.map_err(|e| call.object_error(&e))?;
    if let Some(t) = call.device.net.steering.tables.get_mut(&number) {
        t.groups.remove(&id);
    }
    Ok(())
}

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
