// SPDX-License-Identifier: GPL-2.0

//! Flow tables: tables, groups, roots.

use super::{
    above_limit,
    bad_value,
    unsupported, //
};
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
    kind,
    miss,
    Group,
    Table, //
};
use crate::objects::Kind;
use crate::rules::Rule;

/// The capability of all these commands.
pub const NEEDS: &str = "cmd_hca_cap.nic_flow_table";

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
];

/// op_mod: of SET_FLOW_TABLE_ROOT both, of SET_FLOW_TABLE_ENTRY the first.
pub const SET: u16 = 0;
const RESET: u16 = 1;

/// First numbers of tables and groups.
const FIRST_TABLE: u32 = 1;
pub const LAST: u32 = 0x00ff_ffff;

/// The properties of the tables of a kind, as the capabilities have them.
pub fn property(call: &mut Call<'_>, table_kind: u8, name: &str) -> Result<u64, Refusal> {
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
pub fn check_kind(call: &mut Call<'_>, kind: Field, other: Field) -> Result<u8, Refusal> {
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

/// A table by number, if it is of the kind.
pub fn table_of(call: &mut Call<'_>, number: u32, table_kind: u8) -> Result<Table, Refusal> {
    let found = call.device.net.steering.tables.get(&number).cloned();
    found.filter(|t| t.kind == table_kind).ok_or_else(|| {
        let text = format!("there is no flow table 0x{number:x} of type 0x{table_kind:x}");
        call.refuse(status::BAD_RESOURCE, Rule::NoObject, text)
    })
}

/// Objects that an object refers to.
pub type References = Vec<(Kind, u32)>;

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

/// Match parameters at a place of the input.
pub fn match_bytes(call: &Call<'_>, at: Field) -> Vec<u8> {
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
