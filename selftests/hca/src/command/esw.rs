// SPDX-License-Identifier: GPL-2.0

//! E-switch functions: QUERY_ESW_FUNCTIONS.

use super::{
    status,
    Call,
    Outcome,
    Spec, //
};
use crate::ifc::fields::*;
use crate::ifc::{
    opcode,
    Field, //
};
use crate::rules::Rule;

pub const COMMANDS: &[Spec] = &[Spec::new(
    opcode::QUERY_ESW_FUNCTIONS,
    "query_esw_functions_in",
    "query_esw_functions_out",
    query,
)
.op_mods(&[LEGACY, V1])];

/// op_mod of the two output layouts. Source: mlx5_core's `eswitch.c`.
const LEGACY: u16 = 0;
const V1: u16 = 0x4000;

/// The first of the network functions. The header has it in a union without a name.
const PARAMS: Field = Field {
    bit: 0x10 * 8,
    width: 64 * 8,
    count: 1,
};

/// The bitmap of SFs follows the legacy layout. Source: older kernels' headers, rdma-core.
const SF_BITMAP: usize = 0x80;

fn query(call: &mut Call<'_>) -> Outcome {
    let caps = &call.device.caps;
    let manager = caps.get("cmd_hca_cap.eswitch_manager") != 0;
    let announced = caps.get("e_switch_cap.esw_functions_changed") != 0
        || call.device.variant.iseg.embedded_cpu;
    if !manager || !announced {
        let text = format!(
            "eswitch_manager {}, esw_functions_changed or embedded_cpu {}",
            u8::from(manager),
            u8::from(announced)
        );
        return Err(call.refuse(status::BAD_OP, Rule::Unsupported, text));
    }
    if call.op_mod == V1 {
        if call
            .device
            .caps
            .get("cmd_hca_cap.query_host_net_function_v1")
            == 0
        {
            let text = "V1 layout, but query_host_net_function_v1 is 0";
            return Err(call.refuse(status::BAD_PARAM, Rule::Unsupported, text));
        }
        let n = call.device.esw.put_v1(&mut call.output, PARAMS);
        call.set(query_esw_functions_out::NET_FUNCTION_NUM, n);
        return Ok(());
    }
    call.device.esw.put_legacy(&mut call.output, PARAMS);
    if let Some(rest) = call.output.get_mut(SF_BITMAP..) {
        call.device.esw.put_sfs(rest);
    }
    Ok(())
}
