// SPDX-License-Identifier: GPL-2.0

//! Simple objects: UAR, PD, transport domain, XRC domain, memory keys, queue counters.

use super::{
    status,
    Call,
    Outcome,
    Spec, //
};
use crate::bits;
use crate::ifc::fields::*;
use crate::ifc::{
    opcode,
    Field, //
};
use crate::objects::Kind;
use crate::rules::Rule;

pub const COMMANDS: &[Spec] = &[
    Spec::new(
        opcode::ALLOC_UAR,
        "alloc_uar_in",
        "alloc_uar_out",
        alloc_uar,
    ),
    Spec::new(
        opcode::DEALLOC_UAR,
        "dealloc_uar_in",
        "dealloc_uar_out",
        dealloc_uar,
    ),
    Spec::new(opcode::ALLOC_PD, "alloc_pd_in", "alloc_pd_out", alloc_pd),
    Spec::new(
        opcode::DEALLOC_PD,
        "dealloc_pd_in",
        "dealloc_pd_out",
        dealloc_pd,
    ),
    Spec::new(
        opcode::ALLOC_TRANSPORT_DOMAIN,
        "alloc_transport_domain_in",
        "alloc_transport_domain_out",
        alloc_td,
    ),
    Spec::new(
        opcode::DEALLOC_TRANSPORT_DOMAIN,
        "dealloc_transport_domain_in",
        "dealloc_transport_domain_out",
        dealloc_td,
    ),
    Spec::new(
        opcode::ALLOC_XRCD,
        "alloc_xrcd_in",
        "alloc_xrcd_out",
        alloc_xrcd,
    )
    .needs("cmd_hca_cap.xrc"),
    Spec::new(
        opcode::DEALLOC_XRCD,
        "dealloc_xrcd_in",
        "dealloc_xrcd_out",
        dealloc_xrcd,
    )
    .needs("cmd_hca_cap.xrc"),
    Spec::new(
        opcode::CREATE_MKEY,
        "create_mkey_in",
        "create_mkey_out",
        create_mkey,
    ),
    Spec::new(
        opcode::DESTROY_MKEY,
        "destroy_mkey_in",
        "destroy_mkey_out",
        destroy_mkey,
    ),
    Spec::new(
        opcode::QUERY_SPECIAL_CONTEXTS,
        "query_special_contexts_in",
        "query_special_contexts_out",
        special_contexts,
    ),
];

/// UAR pages below are the initialization segment.
const FIRST_UAR: u32 = 0x10;

/// Memory keys with the access bits of a mkey context.
const FIRST_MKEY: u32 = 0x10;

/// Keys that the device itself owns.
pub const RESERVED_LKEY: u32 = 0x0700;
const NULL_MKEY: u32 = 0x0200;
const DUMP_FILL_MKEY: u32 = 0x0300;

fn alloc(call: &mut Call<'_>, kind: Kind, range: (u32, u32), out: Field) -> Outcome {
    let made = call.device.objects.create(kind, range, &[], Vec::new());
    let number = made.map_err(|e| call.object_error(&e))?;
    call.set(out, number);
    Ok(())
}

fn dealloc(call: &mut Call<'_>, kind: Kind, field: Field) -> Outcome {
    let number = call.get32(field);
    let gone = call.device.objects.destroy(kind, number);
    gone.map(|_| ()).map_err(|e| call.object_error(&e))
}

/// Highest number under a log2 capability.
fn last(call: &Call<'_>, capability: &str) -> u32 {
    let log = call.device.caps.get(capability).min(24);
    (1u32 << log).saturating_sub(1)
}

fn alloc_uar(call: &mut Call<'_>) -> Outcome {
    let last = (call.device.variant.bar0_bytes / 4096).saturating_sub(1) as u32;
    alloc(call, Kind::Uar, (FIRST_UAR, last), alloc_uar_out::UAR)
}

fn dealloc_uar(call: &mut Call<'_>) -> Outcome {
    dealloc(call, Kind::Uar, dealloc_uar_in::UAR)
}

fn alloc_pd(call: &mut Call<'_>) -> Outcome {
    let last = last(call, "cmd_hca_cap.log_max_pd");
    alloc(call, Kind::Pd, (1, last), alloc_pd_out::PD)
}

fn dealloc_pd(call: &mut Call<'_>) -> Outcome {
    dealloc(call, Kind::Pd, dealloc_pd_in::PD)
}

fn alloc_td(call: &mut Call<'_>) -> Outcome {
    let last = last(call, "cmd_hca_cap.log_max_transport_domain");
    let out = alloc_transport_domain_out::TRANSPORT_DOMAIN;
    alloc(call, Kind::TransportDomain, (1, last), out)
}

fn dealloc_td(call: &mut Call<'_>) -> Outcome {
    let field = dealloc_transport_domain_in::TRANSPORT_DOMAIN;
    dealloc(call, Kind::TransportDomain, field)
}

fn alloc_xrcd(call: &mut Call<'_>) -> Outcome {
    let last = last(call, "cmd_hca_cap.log_max_xrcd");
    alloc(call, Kind::Xrcd, (1, last), alloc_xrcd_out::XRCD)
}

fn dealloc_xrcd(call: &mut Call<'_>) -> Outcome {
    dealloc(call, Kind::Xrcd, dealloc_xrcd_in::XRCD)
}

/// `mkc.access_mode`. Source: `MLX5_MKC_ACCESS_MODE_*` of the kernel's header.
mod access_mode {
    pub const PA: u64 = 0;
    pub const MTT: u64 = 1;
    pub const KLM: u64 = 2;
    pub const KSM: u64 = 3;
}

fn create_mkey(call: &mut Call<'_>) -> Outcome {
    let at = create_mkey_in::MEMORY_KEY_MKEY_ENTRY;
    let mode = (call.get(at / mkc::ACCESS_MODE_4_2) << 2) | call.get(at / mkc::ACCESS_MODE_1_0);
    let octwords = call.get(at / mkc::TRANSLATIONS_OCTWORD_SIZE);
    let actual = call.get(create_mkey_in::TRANSLATIONS_OCTWORD_ACTUAL_SIZE);
    let bytes = call.tail(create_mkey_in::KLM_PAS_MTT).len() as u64;
    match mode {
        access_mode::PA if bytes > 0 || octwords > 0 => {
            let text = format!("physical access with {octwords} octwords of translations");
            return Err(call.refuse(status::BAD_PARAM, Rule::Value, text));
        }
        access_mode::PA => {}
        access_mode::MTT | access_mode::KLM | access_mode::KSM => {
            if actual > octwords || actual * 16 > bytes {
                let text = format!("{actual} octwords of {octwords}, {bytes} bytes are there");
                return Err(call.refuse(status::BAD_INPUT_LENGTH, Rule::InputLength, text));
            }
        }
        other => {
            let text = format!("access mode {other}");
            return Err(call.refuse(status::BAD_PARAM, Rule::Value, text));
        }
    }
    if mode == access_mode::MTT {
        check_mtt(call, actual)?;
    }
    let pd = call.get32(at / mkc::PD);
    let context = call.input[at.byte()..].to_vec();
    let last = last(call, "cmd_hca_cap.log_max_mkey");
    let refers = [(Kind::Pd, pd)];
    let made = call
        .device
        .objects
        .create(Kind::Mkey, (FIRST_MKEY, last), &refers, context);
    let index = made.map_err(|e| call.object_error(&e))?;
    call.set(create_mkey_out::MKEY_INDEX, index);
    Ok(())
}

/// Translations that are there when the key is made lie in mapped memory.
fn check_mtt(call: &mut Call<'_>, octwords: u64) -> Outcome {
    let at = create_mkey_in::MEMORY_KEY_MKEY_ENTRY;
    let shift = call.get32(at / mkc::LOG_PAGE_SIZE);
    let writes = call.flag(at / mkc::LW);
    let start = create_mkey_in::KLM_PAS_MTT.byte();
    for i in 0..octwords.saturating_mul(2) {
        let offset = start.saturating_add(usize::try_from(i * 8).unwrap_or(usize::MAX));
        let entry = (u64::from(bits::word(call.input, offset)) << 32)
            | u64::from(bits::word(call.input, offset.saturating_add(4)));
        // The low bits of an MTT hold its access rights; an entry of zero is a hole.
        let address = entry & !7;
        if address == 0 {
            continue;
        }
        let size = 1u64.checked_shl(shift).unwrap_or(0);
        if let Err(fault) = call.device.memory.check(address, size, writes) {
            let text = format!("translation {i}: {fault}");
            return Err(call.refuse(status::BAD_PARAM, Rule::Dma, text));
        }
    }
    Ok(())
}

fn destroy_mkey(call: &mut Call<'_>) -> Outcome {
    dealloc(call, Kind::Mkey, destroy_mkey_in::MKEY_INDEX)
}

fn special_contexts(call: &mut Call<'_>) -> Outcome {
    call.set(query_special_contexts_out::RESD_LKEY, RESERVED_LKEY);
    if call.device.caps.get("cmd_hca_cap.null_mkey") != 0 {
        call.set(query_special_contexts_out::NULL_MKEY, NULL_MKEY);
    }
    if call.device.caps.get("cmd_hca_cap.dump_fill_mkey") != 0 {
        call.set(query_special_contexts_out::DUMP_FILL_MKEY, DUMP_FILL_MKEY);
    }
    Ok(())
}
