// SPDX-License-Identifier: GPL-2.0

//! HCA capabilities: QUERY_HCA_CAP and SET_HCA_CAP.

use super::{
    status,
    Call,
    Outcome,
    Spec, //
};
use crate::caps::{
    SetError,
    TYPES, //
};
use crate::device::Stage;
use crate::ifc::fields::*;
use crate::ifc::{
    opcode,
    Override, //
};
use crate::rules::Rule;

pub const COMMANDS: &[Spec] = &[
    Spec::new(
        opcode::QUERY_HCA_CAP,
        "query_hca_cap_in",
        "query_hca_cap_out",
        query,
    )
    .from(Stage::Enabled)
    .op_mods(&[]),
    Spec::new(
        opcode::SET_HCA_CAP,
        "set_hca_cap_in",
        "set_hca_cap_out",
        set,
    )
    .from(Stage::Enabled)
    .op_mods(&[])
    .inner(set_layout),
];

/// The page's own layout takes the place of the union of all pages.
fn set_layout(input: &[u8]) -> Option<Override<'static>> {
    let kind = (crate::bits::word(input, 4) & 0xffff) as u16 >> 1;
    let layout = TYPES
        .iter()
        .find(|(k, _)| *k == kind)?
        .1
        .split('@')
        .next()?;
    Some(Override {
        member: "capability",
        layout,
    })
}

fn query(call: &mut Call<'_>) -> Outcome {
    let (kind, current) = (call.op_mod >> 1, call.op_mod & 1 != 0);
    let other = call.flag(query_hca_cap_in::OTHER_FUNCTION);
    let function = call.get(query_hca_cap_in::FUNCTION_ID);
    if other && call.device.caps.get("cmd_hca_cap.vhca_group_manager") == 0 {
        let text = "other_function is set, but vhca_group_manager is 0";
        return Err(call.refuse(status::BAD_PARAM, Rule::Unsupported, text));
    }
    if !other && function != 0 {
        let text = format!("function_id is {function}, but other_function is 0");
        return Err(call.refuse(status::BAD_PARAM, Rule::Value, text));
    }
    let Some(page) = call.device.caps.page(kind) else {
        return Err(match TYPES.iter().any(|(k, _)| *k == kind) {
            // Pages that a capability announces are there: asking for another is a mistake.
            true => call.refuse(
                status::BAD_PARAM,
                Rule::Unsupported,
                format!("capability type 0x{kind:x} is not announced"),
            ),
            false => {
                let text = format!("capability type 0x{kind:x}");
                call.refuse(status::BAD_PARAM, Rule::OpMod, text)
            }
        });
    };
    let data = if current { &page.current } else { &page.max }.clone();
    call.set_bytes(query_hca_cap_out::CAPABILITY, &data);
    Ok(())
}

fn set(call: &mut Call<'_>) -> Outcome {
    let kind = call.op_mod >> 1;
    if call.op_mod & 1 != 0 || call.device.caps.page(kind).is_none() {
        let text = format!("op_mod is 0x{:x}", call.op_mod);
        return Err(call.refuse(status::BAD_PARAM, Rule::OpMod, text));
    }
    if call.flag(set_hca_cap_in::OTHER_FUNCTION) {
        if call.device.caps.get("cmd_hca_cap.vhca_group_manager") == 0 {
            let text = "other_function is set, but vhca_group_manager is 0";
            return Err(call.refuse(status::BAD_PARAM, Rule::Unsupported, text));
        }
        // Other functions keep their capabilities: there is no driver on them here.
        return Ok(());
    }
    if call.device.stage == Stage::Initialized {
        let text = "capabilities are set before INIT_HCA";
        return Err(call.refuse(status::BAD_SYS_STATE, Rule::Order, text));
    }
    let asked = call.tail(set_hca_cap_in::CAPABILITY).to_vec();
    if let Err(errors) = call.device.caps.set_page(kind, &asked) {
        let mut refusal = call.decline(status::BAD_PARAM, Rule::CapFixed);
        for e in errors {
            let rule = match e {
                SetError::AboveMax { .. } => Rule::CapAboveMax,
                SetError::Fixed { .. } => Rule::CapFixed,
            };
            refusal = call.refuse(status::BAD_PARAM, rule, e.to_string());
        }
        return Err(refusal);
    }
    Ok(())
}
