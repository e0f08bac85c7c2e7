// SPDX-License-Identifier: GPL-2.0

//! Vports: NIC and e-switch contexts, states, counters; the table of unicast addresses.

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
use crate::net::steering::Traffic;
use crate::net::vport::{
    admin,
    list,
    mac,
    Kinds,
    Mac,
    Vport,
    OWN, //
};
use crate::rules::Rule;

pub const COMMANDS: &[Spec] = &[
    Spec::new(
        opcode::QUERY_VPORT_STATE,
        "query_vport_state_in",
        "query_vport_state_out",
        query_state,
    )
    .op_mods(&[VNIC, ESWITCH, PORT]),
    Spec::new(
        opcode::MODIFY_VPORT_STATE,
        "modify_vport_state_in",
        "modify_vport_state_out",
        modify_state,
    )
    .op_mods(&[VNIC, ESWITCH, PORT]),
    Spec::new(
        opcode::QUERY_NIC_VPORT_CONTEXT,
        "query_nic_vport_context_in",
        "query_nic_vport_context_out",
        query_nic,
    ),
    Spec::new(
        opcode::MODIFY_NIC_VPORT_CONTEXT,
        "modify_nic_vport_context_in",
        "modify_nic_vport_context_out",
        modify_nic,
    ),
    Spec::new(
        opcode::QUERY_ESW_VPORT_CONTEXT,
        "query_esw_vport_context_in",
        "query_esw_vport_context_out",
        query_eswitch,
    )
    .needs("cmd_hca_cap.vport_group_manager"),
    Spec::new(
        opcode::MODIFY_ESW_VPORT_CONTEXT,
        "modify_esw_vport_context_in",
        "modify_esw_vport_context_out",
        modify_eswitch,
    )
    .needs("cmd_hca_cap.vport_group_manager"),
    Spec::new(
        opcode::QUERY_VPORT_COUNTER,
        "query_vport_counter_in",
        "query_vport_counter_out",
        query_counter,
    )
    .needs("cmd_hca_cap.vport_counters"),
    Spec::new(
        opcode::QUERY_VNIC_ENV,
        "query_vnic_env_in",
        "query_vnic_env_out",
        query_env,
    ),
    Spec::new(
        opcode::SET_L2_TABLE_ENTRY,
        "set_l2_table_entry_in",
        "set_l2_table_entry_out",
        set_l2,
    )
    .needs("cmd_hca_cap.log_max_l2_table"),
    Spec::new(
        opcode::DELETE_L2_TABLE_ENTRY,
        "delete_l2_table_entry_in",
        "delete_l2_table_entry_out",
        delete_l2,
    )
    .needs("cmd_hca_cap.log_max_l2_table"),
];

/// op_mod of the commands about states. Source: `MLX5_VPORT_STATE_OP_MOD_*`.
const VNIC: u16 = 0;
const ESWITCH: u16 = 1;
const PORT: u16 = 2;

/// Key of the vport that a command names.
fn vport(call: &mut Call<'_>, other: Field, number: Field) -> Result<u16, Refusal> {
    let (other, number) = (call.flag(other), call.get(number) as u16);
    if other && call.device.caps.get("cmd_hca_cap.vport_group_manager") == 0 {
        return Err(unsupported(call, "other_vport without vport_group_manager"));
    }
    let device = &call.device;
    match device.net.vports.key(&device.variant, other, number) {
        Some(key) => Ok(key),
        None => Err(bad_value(
            call,
            format!("vport 0x{number:x}, other_vport {other}"),
        )),
    }
}

/// The vport of a key from [`vport`]; a copy.
fn copy(call: &Call<'_>, key: u16) -> Vport {
    let found = call.device.net.vports.get(key).cloned();
    found.unwrap_or_else(|| Vport::new(0))
}

fn query_state(call: &mut Call<'_>) -> Outcome {
    let key = vport(
        call,
        query_vport_state_in::OTHER_VPORT,
        query_vport_state_in::VPORT_NUMBER,
    )?;
    let v = copy(call, key);
    let port_up = crate::net::link_is_up(call.device);
    let (admin_state, up) = match call.op_mod {
        PORT => (call.device.registers.port_admin_up.into(), port_up),
        _ => (v.admin_state, v.admin_state != admin::DOWN && port_up),
    };
    call.set(query_vport_state_out::ADMIN_STATE, admin_state);
    call.set(query_vport_state_out::STATE, up);
    call.set(query_vport_state_out::MAX_TX_SPEED, v.max_tx_speed);
    Ok(())
}

fn modify_state(call: &mut Call<'_>) -> Outcome {
    let key = vport(
        call,
        modify_vport_state_in::OTHER_VPORT,
        modify_vport_state_in::VPORT_NUMBER,
    )?;
    let to = call.get(modify_vport_state_in::ADMIN_STATE) as u8;
    if to > admin::AUTO {
        return Err(bad_value(call, format!("admin_state is {to}")));
    }
    if call.op_mod == PORT {
        // The uplink follows the port's own state, which PAOS sets.
        return Ok(());
    }
    let speed = call.get(modify_vport_state_in::MAX_TX_SPEED) as u16;
    if speed != 0
        && call
            .device
            .caps
            .get("e_switch_cap.esw_vport_state_max_tx_speed")
            == 0
    {
        return Err(unsupported(call, "max_tx_speed without its capability"));
    }
    if let Some(v) = call.device.net.vports.get_mut(key) {
        v.admin_state = to;
        v.max_tx_speed = speed;
    }
    Ok(())
}

/// Writes addresses or VLANs in layouts of eight bytes.
fn put_list(call: &mut Call<'_>, at: Field, v: &Vport, which: u64) -> usize {
    let item = |i: usize| at.index(i as u32);
    match which {
        list::VLAN => {
            for (i, vlan) in v.vlans.iter().enumerate() {
                call.set(item(i) / vlan_layout::VLAN, *vlan);
            }
            v.vlans.len()
        }
        _ => {
            let macs = if which == list::UNICAST {
                &v.unicast
            } else {
                &v.multicast
            };
            for (i, m) in macs.iter().enumerate() {
                call.set_bytes(item(i) / mac_address_layout::MAC_ADDR_47_32, m);
            }
            macs.len()
        }
    }
}

fn query_nic(call: &mut Call<'_>) -> Outcome {
    let key = vport(
        call,
        query_nic_vport_context_in::OTHER_VPORT,
        query_nic_vport_context_in::VPORT_NUMBER,
    )?;
    let which = call.get(query_nic_vport_context_in::ALLOWED_LIST_TYPE);
    if which > list::VLAN {
        return Err(bad_value(call, format!("allowed_list_type is {which}")));
    }
    let v = copy(call, key);
    let at = query_nic_vport_context_out::NIC_VPORT_CONTEXT;
    call.set_bytes(at, &v.context);
    let count = put_list(
        call,
        at / nic_vport_context::CURRENT_UC_MAC_ADDRESS,
        &v,
        which,
    );
    call.set(at / nic_vport_context::ALLOWED_LIST_TYPE, which);
    call.set(at / nic_vport_context::ALLOWED_LIST_SIZE, count as u64);
    Ok(())
}

/// Fields of the context that each selection covers; address lists aside.
const NIC_FIELDS: &[(Field, &[Field])] = &[
    (
        modify_nic_vport_field_select::ROCE_EN,
        &[nic_vport_context::ROCE_EN],
    ),
    (
        modify_nic_vport_field_select::MTU,
        &[nic_vport_context::MTU],
    ),
    (
        modify_nic_vport_field_select::PROMISC,
        &[
            nic_vport_context::PROMISC_UC,
            nic_vport_context::PROMISC_MC,
            nic_vport_context::PROMISC_ALL,
        ],
    ),
    (
        modify_nic_vport_field_select::CHANGE_EVENT,
        &[
            nic_vport_context::ARM_CHANGE_EVENT,
            nic_vport_context::EVENT_ON_MTU,
            nic_vport_context::EVENT_ON_PROMISC_CHANGE,
            nic_vport_context::EVENT_ON_VLAN_CHANGE,
            nic_vport_context::EVENT_ON_MC_ADDRESS_CHANGE,
            nic_vport_context::EVENT_ON_UC_ADDRESS_CHANGE,
        ],
    ),
    (
        modify_nic_vport_field_select::MIN_INLINE,
        &[nic_vport_context::MIN_WQE_INLINE_MODE],
    ),
    (
        modify_nic_vport_field_select::NODE_GUID,
        &[nic_vport_context::NODE_GUID],
    ),
    (
        modify_nic_vport_field_select::PORT_GUID,
        &[nic_vport_context::PORT_GUID],
    ),
    (
        modify_nic_vport_field_select::DISABLE_UC_LOCAL_LB,
        &[nic_vport_context::DISABLE_UC_LOCAL_LB],
    ),
    (
        modify_nic_vport_field_select::DISABLE_MC_LOCAL_LB,
        &[nic_vport_context::DISABLE_MC_LOCAL_LB],
    ),
];

/// Selections that need a capability.
const NIC_NEEDS: &[(Field, &str)] = &[
    (modify_nic_vport_field_select::ROCE_EN, "cmd_hca_cap.roce"),
    (
        modify_nic_vport_field_select::NODE_GUID,
        "e_switch_cap.nic_vport_node_guid_modify",
    ),
    (
        modify_nic_vport_field_select::PORT_GUID,
        "e_switch_cap.nic_vport_port_guid_modify",
    ),
    (
        modify_nic_vport_field_select::DISABLE_UC_LOCAL_LB,
        "cmd_hca_cap.disable_local_lb_uc",
    ),
    (
        modify_nic_vport_field_select::DISABLE_MC_LOCAL_LB,
        "cmd_hca_cap.disable_local_lb_mc",
    ),
];

fn modify_nic(call: &mut Call<'_>) -> Outcome {
    let key = vport(
        call,
        modify_nic_vport_context_in::OTHER_VPORT,
        modify_nic_vport_context_in::VPORT_NUMBER,
    )?;
    let select = modify_nic_vport_context_in::FIELD_SELECT;
    let at = modify_nic_vport_context_in::NIC_VPORT_CONTEXT;
    for (bit, capability) in NIC_NEEDS {
        if call.flag(select / *bit) && call.device.caps.get(capability) == 0 {
            return Err(unsupported(
                call,
                format!("a field that needs {capability}"),
            ));
        }
    }
    if call.flag(select / modify_nic_vport_field_select::AFFILIATION) {
        return Err(unsupported(call, "affiliation of vports"));
    }
    let mut v = copy(call, key);
    for (bit, fields) in NIC_FIELDS {
        for f in fields.iter().filter(|_| call.flag(select / *bit)) {
            bits::set(&mut v.context, *f, call.get(at / *f));
        }
    }
    if call.flag(select / modify_nic_vport_field_select::PERMANENT_ADDRESS) {
        v.set_address(mac(
            call.input,
            (at / nic_vport_context::PERMANENT_ADDRESS).byte(),
        ));
    }
    if call.flag(select / modify_nic_vport_field_select::ADDRESSES_LIST) {
        set_list(call, at, &mut v)?;
    }
    if let Some(place) = call.device.net.vports.get_mut(key) {
        *place = v;
    }
    Ok(())
}

/// Capability that bounds each list.
const LIST_LIMITS: [(&str, &str); 3] = [
    ("unicast addresses", "cmd_hca_cap.log_max_current_uc_list"),
    ("multicast addresses", "cmd_hca_cap.log_max_current_mc_list"),
    ("VLANs", "cmd_hca_cap.log_max_vlan_list"),
];

fn set_list(call: &mut Call<'_>, at: Field, v: &mut Vport) -> Outcome {
    let which = call.get(at / nic_vport_context::ALLOWED_LIST_TYPE);
    let size = call.get(at / nic_vport_context::ALLOWED_LIST_SIZE);
    let limit = usize::try_from(which).ok().and_then(|w| LIST_LIMITS.get(w));
    let Some((what, capability)) = limit else {
        return Err(bad_value(call, format!("allowed_list_type is {which}")));
    };
    let most = 1 << call.device.caps.get(capability);
    if size > most {
        return Err(above_limit(call, what, size, most));
    }
    let items = call.tail(at / nic_vport_context::CURRENT_UC_MAC_ADDRESS);
    if (items.len() as u64) < size * 8 {
        let text = format!("{} bytes for {size} {what}", items.len());
        return Err(call.refuse(status::BAD_INPUT_LENGTH, Rule::InputLength, text));
    }
    let items = items.chunks_exact(8).take(size as usize);
    match which {
        list::VLAN => {
            v.vlans = items
                .map(|i| bits::get(i, vlan_layout::VLAN) as u16)
                .collect();
        }
        list::MULTICAST => v.multicast = items.map(|i| mac(i, 0)).collect(),
        _ => v.unicast = items.map(|i| mac(i, 0)).collect(),
    }
    Ok(())
}

fn query_eswitch(call: &mut Call<'_>) -> Outcome {
    let key = vport(
        call,
        query_esw_vport_context_in::OTHER_VPORT,
        query_esw_vport_context_in::VPORT_NUMBER,
    )?;
    let v = copy(call, key);
    call.set_bytes(query_esw_vport_context_out::ESW_VPORT_CONTEXT, &v.eswitch);
    Ok(())
}

/// Fields of the e-switch context with their selection and the capability for them.
const ESWITCH_FIELDS: &[(Field, &[Field], &str)] = &[
    (
        esw_vport_context_fields_select::VPORT_CVLAN_INSERT,
        &[
            esw_vport_context::VPORT_CVLAN_INSERT,
            esw_vport_context::CVLAN_CFI,
            esw_vport_context::CVLAN_PCP,
            esw_vport_context::CVLAN_ID,
        ],
        "e_switch_cap.vport_cvlan_insert_if_not_exist",
    ),
    (
        esw_vport_context_fields_select::VPORT_CVLAN_STRIP,
        &[esw_vport_context::VPORT_CVLAN_STRIP],
        "e_switch_cap.vport_cvlan_strip",
    ),
    (
        esw_vport_context_fields_select::VPORT_SVLAN_INSERT,
        &[
            esw_vport_context::VPORT_SVLAN_INSERT,
            esw_vport_context::SVLAN_CFI,
            esw_vport_context::SVLAN_PCP,
            esw_vport_context::SVLAN_ID,
        ],
        "e_switch_cap.vport_svlan_insert",
    ),
    (
        esw_vport_context_fields_select::VPORT_SVLAN_STRIP,
        &[esw_vport_context::VPORT_SVLAN_STRIP],
        "e_switch_cap.vport_svlan_strip",
    ),
    (
        esw_vport_context_fields_select::FDB_TO_VPORT_REG_C_ID,
        &[esw_vport_context::FDB_TO_VPORT_REG_C_ID],
        "flow_table_eswitch_cap.fdb_to_vport_reg_c_id",
    ),
];

fn modify_eswitch(call: &mut Call<'_>) -> Outcome {
    let key = vport(
        call,
        modify_esw_vport_context_in::OTHER_VPORT,
        modify_esw_vport_context_in::VPORT_NUMBER,
    )?;
    let select = modify_esw_vport_context_in::FIELD_SELECT;
    let at = modify_esw_vport_context_in::ESW_VPORT_CONTEXT;
    let mut v = copy(call, key);
    for (bit, fields, capability) in ESWITCH_FIELDS {
        if !call.flag(select / *bit) {
            continue;
        }
        if call.device.caps.get(capability) == 0 {
            return Err(unsupported(
                call,
                format!("a field that needs {capability}"),
            ));
        }
        for f in *fields {
            bits::set(&mut v.eswitch, *f, call.get(at / *f));
        }
    }
    if let Some(place) = call.device.net.vports.get_mut(key) {
        *place = v;
    }
    Ok(())
}

fn put_traffic(call: &mut Call<'_>, at: Field, t: Traffic) {
    call.set(at / traffic_counter::PACKETS, t.packets);
    call.set(at / traffic_counter::OCTETS, t.bytes);
}

fn query_counter(call: &mut Call<'_>) -> Outcome {
    let key = vport(
        call,
        query_vport_counter_in::OTHER_VPORT,
        query_vport_counter_in::VPORT_NUMBER,
    )?;
    let v = copy(call, key);
    use query_vport_counter_out as out;
    put_traffic(call, out::RECEIVED_ETH_UNICAST, v.received.unicast);
    put_traffic(call, out::RECEIVED_ETH_MULTICAST, v.received.multicast);
    put_traffic(call, out::RECEIVED_ETH_BROADCAST, v.received.broadcast);
    put_traffic(call, out::TRANSMITTED_ETH_UNICAST, v.transmitted.unicast);
    put_traffic(
        call,
        out::TRANSMITTED_ETH_MULTICAST,
        v.transmitted.multicast,
    );
    put_traffic(
        call,
        out::TRANSMITTED_ETH_BROADCAST,
        v.transmitted.broadcast,
    );
    if call.flag(query_vport_counter_in::CLEAR) {
        if let Some(v) = call.device.net.vports.get_mut(key) {
            (v.received, v.transmitted) = (Kinds::default(), Kinds::default());
        }
    }
    Ok(())
}

fn query_env(call: &mut Call<'_>) -> Outcome {
    let key = vport(
        call,
        query_vnic_env_in::OTHER_VPORT,
        query_vnic_env_in::VPORT_NUMBER,
    )?;
    if key != OWN {
        // Nobody drives the other vports: nothing went wrong there.
        return Ok(());
    }
    let d = call.device.net.diagnostics;
    use vnic_diagnostic_statistics as stat;
    let at = query_vnic_env_out::VPORT_ENV;
    for (capability, field, value) in [
        (
            "nic_receive_steering_discard",
            stat::NIC_RECEIVE_STEERING_DISCARD,
            d.steering_discard,
        ),
        (
            "receive_discard_vport_down",
            stat::RECEIVE_DISCARD_VPORT_DOWN,
            d.receive_down,
        ),
        (
            "transmit_discard_vport_down",
            stat::TRANSMIT_DISCARD_VPORT_DOWN,
            d.transmit_down,
        ),
        ("vnic_env_cq_overrun", stat::CQ_OVERRUN, d.cq_overruns),
        ("vnic_env_int_rq_oob", stat::INTERNAL_RQ_OUT_OF_BUFFER, 0),
        ("eth_wqe_too_small", stat::ETH_WQE_TOO_SMALL, d.too_small),
    ] {
        if call.device.caps.get(&format!("cmd_hca_cap.{capability}")) != 0 {
            call.set(at / field, value);
        }
    }
    Ok(())
}

fn l2_index(call: &mut Call<'_>, field: Field) -> Result<u32, Refusal> {
    let index = call.get32(field);
    let size = 1u64 << call.device.caps.get("cmd_hca_cap.log_max_l2_table");
    if u64::from(index) >= size {
        return Err(above_limit(call, "table_index", index.into(), size - 1));
    }
    Ok(index)
}

fn set_l2(call: &mut Call<'_>) -> Outcome {
    let index = l2_index(call, set_l2_table_entry_in::TABLE_INDEX)?;
    if call.flag(set_l2_table_entry_in::SILENT_MODE_VALID)
        && call.device.caps.get("cmd_hca_cap.silent_mode_query") == 0
    {
        return Err(unsupported(call, "silent_mode without its capability"));
    }
    let address: Mac = mac(call.input, set_l2_table_entry_in::MAC_ADDRESS.byte());
    call.device.net.l2_table.insert(index, address);
    Ok(())
}

fn delete_l2(call: &mut Call<'_>) -> Outcome {
    let index = l2_index(call, delete_l2_table_entry_in::TABLE_INDEX)?;
    if call.device.net.l2_table.remove(&index).is_none() {
        let text = format!("there is no entry {index}");
        return Err(call.refuse(status::BAD_INDEX, Rule::NoObject, text));
    }
    Ok(())
}
