// SPDX-License-Identifier: GPL-2.0

//! UDP ports of VXLAN tunnels.

use super::{
    status,
    Call,
    Outcome,
    Spec, //
};
use crate::ifc::fields::*;
use crate::ifc::opcode;
use crate::rules::Rule;

pub const COMMANDS: &[Spec] = &[
    Spec::new(
        opcode::ADD_VXLAN_UDP_DPORT,
        "add_vxlan_udp_dport_in",
        "add_vxlan_udp_dport_out",
        add,
    ),
    Spec::new(
        opcode::DELETE_VXLAN_UDP_DPORT,
        "delete_vxlan_udp_dport_in",
        "delete_vxlan_udp_dport_out",
        delete,
    ),
];

/// Ports that a device takes if its capability `max_vxlan_udp_ports` is 0.
/// Source: `lib/vxlan.c` of mlx5_core.
const DEFAULT_PORTS: u64 = 4;

fn check(call: &mut Call<'_>) -> Outcome {
    let name = "per_protocol_networking_offload_caps.tunnel_stateless_vxlan";
    if call.device.caps.get(name) == 0 {
        let text = "tunnel_stateless_vxlan is 0";
        return Err(call.refuse(status::BAD_OP, Rule::Unsupported, text));
    }
    Ok(())
}

fn add(call: &mut Call<'_>) -> Outcome {
    check(call)?;
    let port = call.get(add_vxlan_udp_dport_in::VXLAN_UDP_PORT) as u16;
    let name = "per_protocol_networking_offload_caps.max_vxlan_udp_ports";
    let limit = match call.device.caps.get(name) {
        0 => DEFAULT_PORTS,
        n => n,
    };
    let ports = &call.device.vxlan_ports;
    if ports.contains(&port) {
        let text = format!("port {port} was added already");
        return Err(call.refuse(status::BAD_PARAM, Rule::ObjectState, text));
    }
    if ports.len() as u64 >= limit {
        let text = format!("{limit} ports are the limit");
        return Err(call.refuse(status::NO_RESOURCES, Rule::Limit, text));
    }
    call.device.vxlan_ports.insert(port);
    Ok(())
}

fn delete(call: &mut Call<'_>) -> Outcome {
    check(call)?;
    let port = call.get(delete_vxlan_udp_dport_in::VXLAN_UDP_PORT) as u16;
    if !call.device.vxlan_ports.remove(&port) {
        let text = format!("port {port} was not added");
        return Err(call.refuse(status::BAD_PARAM, Rule::NoObject, text));
    }
    Ok(())
}
