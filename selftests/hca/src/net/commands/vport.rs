// SPDX-License-Identifier: GPL-2.0

//! Vports: NIC and e-switch contexts.

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
use crate::net::vport::{
    list,
    mac,
    Vport, //
};
use crate::rules::Rule;

pub const COMMANDS: &[Spec] = &[
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
];

/// Key of the vport that a command names.
pub fn vport(call: &mut Call<'_>, other: Field, number: Field) -> Result<u16, Refusal> {
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
pub fn copy(call: &Call<'_>, key: u16) -> Vport {
    let found = call.device.net.vports.get(key).cloned();
    found.unwrap_or_else(|| Vport::new(0))
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
