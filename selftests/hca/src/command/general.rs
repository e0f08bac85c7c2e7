// SPDX-License-Identifier: GPL-2.0

//! Initialization and general commands: ENABLE_HCA to DISABLE_HCA, ISSI, adapter, NOP.

use super::{
    status,
    Call,
    Outcome,
    Spec, //
};
use crate::device::Stage;
use crate::ifc::fields::*;
use crate::ifc::opcode;
use crate::iseg::nic;
use crate::objects::Kind;
use crate::pages::Function;
use crate::rules::Rule;

pub const COMMANDS: &[Spec] = &[
    Spec::new(
        opcode::ENABLE_HCA,
        "enable_hca_in",
        "enable_hca_out",
        enable,
    )
    .from(Stage::Disabled),
    Spec::new(
        opcode::DISABLE_HCA,
        "disable_hca_in",
        "disable_hca_out",
        disable,
    )
    .from(Stage::Enabled),
    Spec::new(opcode::INIT_HCA, "init_hca_in", "init_hca_out", init).from(Stage::Enabled),
    Spec::new(
        opcode::TEARDOWN_HCA,
        "teardown_hca_in",
        "teardown_hca_out",
        teardown,
    )
    .from(Stage::Enabled),
    Spec::new(
        opcode::QUERY_ISSI,
        "query_issi_in",
        "query_issi_out",
        query_issi,
    )
    .from(Stage::Enabled),
    Spec::new(opcode::SET_ISSI, "set_issi_in", "set_issi_out", set_issi).from(Stage::Enabled),
    Spec::new(
        opcode::SET_DRIVER_VERSION,
        "set_driver_version_in",
        "set_driver_version_out",
        set_driver_version,
    )
    .from(Stage::Enabled)
    .needs("cmd_hca_cap.driver_version"),
    Spec::new(
        opcode::QUERY_ADAPTER,
        "query_adapter_in",
        "query_adapter_out",
        query_adapter,
    )
    .from(Stage::Enabled),
    Spec::new(opcode::NOP, "nop_in", "nop_out", nop),
];

/// TEARDOWN_HCA profiles. Source: `MLX5_TEARDOWN_HCA_IN_PROFILE_*` of the kernel's header.
mod profile {
    pub const GRACEFUL: u64 = 0;
    pub const FORCE: u64 = 1;
    pub const FAST: u64 = 2;
}

/// ISSI values that the model speaks: 0 and 1.
const SUPPORTED_ISSI: u32 = 0b11;

/// True if a command is about the function itself, as opposed to one that it manages.
fn is_own(
    call: &mut Call<'_>,
    function_id: u64,
    embedded_cpu: bool,
) -> Result<bool, super::Refusal> {
    let own_ec = call.device.variant.iseg.embedded_cpu;
    if function_id == 0 && embedded_cpu == own_ec {
        return Ok(true);
    }
    if !own_ec {
        let text = format!("function {function_id} embedded_cpu {embedded_cpu} is not this one");
        return Err(call.refuse(status::BAD_PARAM, Rule::Value, text));
    }
    Ok(false)
}

fn enable(call: &mut Call<'_>) -> Outcome {
    let id = call.get(enable_hca_in::FUNCTION_ID);
    let ec = call.flag(enable_hca_in::EMBEDDED_CPU_FUNCTION);
    if !is_own(call, id, ec)? {
        return call
            .device
            .esw
            .enable_host(true)
            .map_err(|()| call.decline(status::BAD_RES_STATE, Rule::NotPermitted));
    }
    if call.device.stage != Stage::Disabled {
        return Err(call.refuse(
            status::BAD_RES_STATE,
            Rule::Order,
            "the HCA is enabled already",
        ));
    }
    call.device.stage = Stage::Enabled;
    call.device.pages.reset();
    Ok(())
}

fn disable(call: &mut Call<'_>) -> Outcome {
    let id = call.get(disable_hca_in::FUNCTION_ID);
    let ec = call.flag(disable_hca_in::EMBEDDED_CPU_FUNCTION);
    if !is_own(call, id, ec)? {
        return call
            .device
            .esw
            .enable_host(false)
            .map_err(|()| call.decline(status::BAD_RES_STATE, Rule::NotPermitted));
    }
    if call.device.stage == Stage::Initialized {
        return Err(call.refuse(
            status::BAD_RES_STATE,
            Rule::Order,
            "TEARDOWN_HCA comes first",
        ));
    }
    let held = call.device.pages.total();
    if held > 0 {
        call.note(
            Rule::PagesHeld,
            format!("the device still holds {held} pages"),
        );
    }
    call.device.stage = Stage::Disabled;
    call.device.issi = 0;
    call.device.pages.reset();
    call.device.caps.reset();
    Ok(())
}

fn init(call: &mut Call<'_>) -> Outcome {
    if call.device.stage == Stage::Initialized {
        return Err(call.refuse(
            status::BAD_RES_STATE,
            Rule::Order,
            "INIT_HCA was done already",
        ));
    }
    let missing = call.device.pages.boot_missing() + call.device.pages.init_missing();
    if missing > 0 {
        let text = format!("{missing} boot and init pages were not given");
        return Err(call.refuse(status::BAD_SYS_STATE, Rule::PagesMissing, text));
    }
    let sw_vhca = call.get(init_hca_in::SW_VHCA_ID);
    if sw_vhca != 0 && call.device.caps.get("cmd_hca_cap_2.sw_vhca_id_valid") == 0 {
        let text = format!("sw_vhca_id is {sw_vhca}, but sw_vhca_id_valid is 0");
        return Err(call.refuse(status::BAD_PARAM, Rule::Unsupported, text));
    }
    call.device.stage = Stage::Initialized;
    Ok(())
}

fn teardown(call: &mut Call<'_>) -> Outcome {
    if call.device.stage != Stage::Initialized {
        return Err(call.refuse(status::BAD_RES_STATE, Rule::Order, "there was no INIT_HCA"));
    }
    match call.get(teardown_hca_in::PROFILE) {
        profile::GRACEFUL => left_over(call),
        profile::FORCE => {
            if call.device.caps.get("cmd_hca_cap.force_teardown") == 0 {
                let text = "profile force close without the capability force_teardown";
                return Err(call.refuse(status::BAD_PARAM, Rule::Unsupported, text));
            }
        }
        profile::FAST => {
            if call.device.caps.get("cmd_hca_cap.fast_teardown") == 0 {
                let text = "profile fast teardown without the capability fast_teardown";
                return Err(call.refuse(status::BAD_PARAM, Rule::Unsupported, text));
            }
            // The driver asks for the end by nic_interface and waits to read it back.
            return Ok(());
        }
        other => {
            let text = format!("profile {other}");
            return Err(call.refuse(status::BAD_PARAM, Rule::Value, text));
        }
    }
    let d = &mut *call.device;
    d.eqs.clear();
    d.objects.clear();
    d.net.reset(&d.variant);
    d.pages.teardown();
    d.stage = Stage::Enabled;
    if call.get(teardown_hca_in::PROFILE) == profile::FORCE {
        call.device.iseg.set_nic_interface(nic::DISABLED);
    }
    Ok(())
}

/// Notes what a graceful teardown finds still there.
fn left_over(call: &mut Call<'_>) {
    let mut left: Vec<(Kind, usize)> = Vec::new();
    for (kind, _, _) in call.device.objects.iter() {
        match left.iter_mut().find(|(k, _)| *k == kind) {
            Some((_, n)) => *n += 1,
            None => left.push((kind, 1)),
        }
    }
    for (kind, n) in left {
        call.note(
            Rule::ObjectsLeft,
            format!("{n} of {kind:?} are still there"),
        );
    }
}

fn query_issi(call: &mut Call<'_>) -> Outcome {
    call.set(query_issi_out::CURRENT_ISSI, call.device.issi);
    call.set(query_issi_out::SUPPORTED_ISSI_DW0, SUPPORTED_ISSI);
    Ok(())
}

fn set_issi(call: &mut Call<'_>) -> Outcome {
    let issi = call.get(set_issi_in::CURRENT_ISSI);
    if issi >= 32 || (SUPPORTED_ISSI >> issi) & 1 == 0 {
        let text = format!("ISSI {issi} is not supported");
        return Err(call.refuse(status::BAD_PARAM, Rule::Value, text));
    }
    if call.device.stage == Stage::Initialized {
        return Err(call.refuse(
            status::BAD_SYS_STATE,
            Rule::Order,
            "ISSI is set before INIT_HCA",
        ));
    }
    call.device.issi = issi as u16;
    Ok(())
}

fn set_driver_version(call: &mut Call<'_>) -> Outcome {
    let early = call.device.stage < Stage::Initialized;
    if early
        && call
            .device
            .caps
            .get("cmd_hca_cap.driver_version_before_init_hca")
            == 0
    {
        let text = "before INIT_HCA without driver_version_before_init_hca";
        return Err(call.refuse(status::BAD_SYS_STATE, Rule::Order, text));
    }
    let text = call.tail(set_driver_version_in::DRIVER_VERSION);
    let end = text.iter().position(|b| *b == 0).unwrap_or(text.len());
    call.device.driver_version = String::from_utf8_lossy(&text[..end]).into_owned();
    Ok(())
}

/// `ieee_vendor_id`: the manufacturer's OUI.
const IEEE_VENDOR_ID: u64 = 0x02c9;

fn query_adapter(call: &mut Call<'_>) -> Outcome {
    use query_adapter_param_block as block;
    let at = query_adapter_out::QUERY_ADAPTER_STRUCT;
    call.set(at / block::IEEE_VENDOR_ID, IEEE_VENDOR_ID);
    let psid = call.device.variant.psid;
    call.set(at / block::VSD_VENDOR_ID, 0x15b3u64);
    call.set_bytes(at / block::VSD_CONTD_PSID, psid.as_bytes());
    Ok(())
}

fn nop(_: &mut Call<'_>) -> Outcome {
    Ok(())
}

/// The function as page commands of the driver itself name it.
pub fn own_function(call: &Call<'_>) -> Function {
    Function {
        embedded_cpu: call.device.variant.iseg.embedded_cpu,
        id: 0,
    }
}
