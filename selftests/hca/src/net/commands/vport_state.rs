// SPDX-License-Identifier: GPL-2.0

//! Vports: states and counters; the table of unicast addresses.

use super::vport::{
    copy,
    vport, //
};
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
use crate::net::steering::Traffic;
use crate::net::vport::{
    admin,
    mac,
    Kinds,
    Mac,
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
        (
            "vnic_env_queue_counters",
            stat::COUNTER_ERROR_QUEUES,
            d.queue_errors,
        ),
        (
            "vnic_env_queue_counters",
            stat::TOTAL_ERROR_QUEUES,
            d.queue_errors,
        ),
        (
            "invalid_command_count",
            stat::INVALID_COMMAND,
            d.invalid_commands,
        ),
        (
            "eq_overrun_count",
            stat::ASYNC_EQ_OVERRUN,
            d.async_eq_overruns,
        ),
        (
            "eq_overrun_count",
            stat::COMP_EQ_OVERRUN,
            d.completion_eq_overruns,
        ),
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
