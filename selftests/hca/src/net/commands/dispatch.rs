// SPDX-License-Identifier: GPL-2.0

//! Choice of a receive queue: RQT and TIR.

use super::send::no_queue;
use super::{
    above_limit,
    bad_value,
    last,
    unsupported, //
};
use crate::bits;
use crate::command::{
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
use crate::net::transmit::rq_num;
use crate::objects::Kind;

pub const COMMANDS: &[Spec] = &[
    Spec::new(
        opcode::CREATE_RQT,
        "create_rqt_in",
        "create_rqt_out",
        create_rqt,
    ),
    Spec::new(
        opcode::MODIFY_RQT,
        "modify_rqt_in",
        "modify_rqt_out",
        modify_rqt,
    ),
    Spec::new(
        opcode::DESTROY_RQT,
        "destroy_rqt_in",
        "destroy_rqt_out",
        destroy_rqt,
    ),
    Spec::new(
        opcode::CREATE_TIR,
        "create_tir_in",
        "create_tir_out",
        create_tir,
    ),
    Spec::new(
        opcode::MODIFY_TIR,
        "modify_tir_in",
        "modify_tir_out",
        modify_tir,
    ),
    Spec::new(
        opcode::DESTROY_TIR,
        "destroy_tir_in",
        "destroy_tir_out",
        destroy_tir,
    ),
];
/// Reads the list of queues of a table whose context stands at `at`.
fn queue_list(call: &mut Call<'_>, at: Field) -> Result<Vec<(Kind, u32)>, Refusal> {
    let size = call.get32(at / rqtc::RQT_ACTUAL_SIZE);
    let most = call.get32(at / rqtc::RQT_MAX_SIZE);
    let log = call.device.caps.get("cmd_hca_cap.log_max_rqt_size");
    if size > most && most > 0 || u64::from(size.max(most)) > 1 << log {
        return Err(above_limit(call, "rqt_actual_size", size.into(), 1 << log));
    }
    if size == 0 {
        return Err(bad_value(call, "an empty table"));
    }
    if call.flag(at / rqtc::RQ_VHCA_ID_FORMAT) {
        return Err(unsupported(call, "queues of other functions"));
    }
    Ok((0..size)
        .map(|i| (Kind::Rq, call.get32(at / rq_num(i))))
        .collect())
}

fn create_rqt(call: &mut Call<'_>) -> Outcome {
    let at = create_rqt_in::RQT_CONTEXT;
    let queues = queue_list(call, at)?;
    let context = call.input[at.byte()..].to_vec();
    let last = last(call, "cmd_hca_cap.log_max_rqt");
    let made = call
        .device
        .objects
        .create(Kind::Rqt, (1, last), &queues, Vec::new());
    let number = made.map_err(|e| call.object_error(&e))?;
    call.device.net.rqts.insert(number, context);
    call.set(create_rqt_out::RQTN, number);
    Ok(())
}

fn modify_rqt(call: &mut Call<'_>) -> Outcome {
    let number = call.get32(modify_rqt_in::RQTN);
    if !call.flag(modify_rqt_in::BITMASK / rqt_bitmask::RQN_LIST) {
        return Err(bad_value(call, "rqn_list is not selected"));
    }
    let at = modify_rqt_in::CTX;
    let queues = queue_list(call, at)?;
    let most = call
        .device
        .net
        .rqts
        .get(&number)
        .map_or(0, |c| bits::get(c, rqtc::RQT_MAX_SIZE));
    if queues.len() as u64 > most && most > 0 {
        return Err(above_limit(
            call,
            "rqt_actual_size",
            queues.len() as u64,
            most,
        ));
    }
    let moved = call
        .device
        .objects
        .set_references(Kind::Rqt, number, &queues);
    moved.map_err(|e| call.object_error(&e))?;
    let mut context = call.input[at.byte()..].to_vec();
    bits::set(&mut context, rqtc::RQT_MAX_SIZE, most);
    call.device.net.rqts.insert(number, context);
    Ok(())
}

fn destroy_rqt(call: &mut Call<'_>) -> Outcome {
    let number = call.get32(destroy_rqt_in::RQTN);
    let gone = call.device.objects.destroy(Kind::Rqt, number);
    gone.map_err(|e| call.object_error(&e))?;
    call.device.net.rqts.remove(&number);
    Ok(())
}

/// `tirc.disp_type`. Source: `MLX5_TIRC_DISP_TYPE_*` of the kernel's header.
const DIRECT: u64 = 0;
const INDIRECT: u64 = 1;

/// What a TIR may ask for.
fn check_tir(call: &mut Call<'_>, at: Field) -> Outcome {
    let offloads = "per_protocol_networking_offload_caps";
    if call.flag(at / tirc::TLS_EN) && call.device.caps.get("cmd_hca_cap.tls_rx") == 0 {
        return Err(unsupported(call, "tls_en without the capability tls_rx"));
    }
    if call.get(at / tirc::PACKET_MERGE_MASK) != 0
        && call.device.caps.get(&format!("{offloads}.lro_cap")) == 0
    {
        return Err(unsupported(
            call,
            "packet_merge_mask without the capability lro_cap",
        ));
    }
    let function = call.get(at / tirc::RX_HASH_FN);
    if function > 2 {
        return Err(bad_value(call, format!("rx_hash_fn is {function}")));
    }
    Ok(())
}

fn create_tir(call: &mut Call<'_>) -> Outcome {
    let at = create_tir_in::CTX;
    check_tir(call, at)?;
    let mut refers = vec![(
        Kind::TransportDomain,
        call.get32(at / tirc::TRANSPORT_DOMAIN),
    )];
    match call.get(at / tirc::DISP_TYPE) {
        DIRECT => refers.push((Kind::Rq, call.get32(at / tirc::INLINE_RQN))),
        INDIRECT => refers.push((Kind::Rqt, call.get32(at / tirc::INDIRECT_TABLE))),
        other => return Err(bad_value(call, format!("disp_type is {other}"))),
    }
    let context = call.input[at.byte()..at.byte() + tirc::BYTES].to_vec();
    let last = last(call, "cmd_hca_cap.log_max_tir");
    let made = call
        .device
        .objects
        .create(Kind::Tir, (1, last), &refers, Vec::new());
    let number = made.map_err(|e| call.object_error(&e))?;
    call.device.net.tirs.insert(number, context);
    call.set(create_tir_out::TIRN, number);
    Ok(())
}

/// Fields that each bit of the mask covers.
const TIR_FIELDS: &[(Field, &[Field])] = &[
    (modify_tir_bitmask::SELF_LB_EN, &[tirc::SELF_LB_BLOCK]),
    (
        modify_tir_bitmask::HASH,
        &[
            tirc::RX_HASH_SYMMETRIC,
            tirc::RX_HASH_FN,
            tirc::RX_HASH_FIELD_SELECTOR_OUTER,
            tirc::RX_HASH_FIELD_SELECTOR_INNER,
        ],
    ),
    (
        modify_tir_bitmask::PACKET_MERGE,
        &[
            tirc::LRO_TIMEOUT_PERIOD_USECS,
            tirc::PACKET_MERGE_MASK,
            tirc::LRO_MAX_IP_PAYLOAD_SIZE,
        ],
    ),
];

fn modify_tir(call: &mut Call<'_>) -> Outcome {
    let number = call.get32(modify_tir_in::TIRN);
    let at = modify_tir_in::CTX;
    check_tir(call, at)?;
    let Some(mut context) = call.device.net.tirs.get(&number).cloned() else {
        return Err(no_queue(call, "TIR", number));
    };
    for (bit, fields) in TIR_FIELDS {
        if !call.flag(modify_tir_in::BITMASK / *bit) {
            continue;
        }
        for f in *fields {
            bits::set(&mut context, *f, call.get(at / *f));
        }
        if *bit == modify_tir_bitmask::HASH {
            let key = bits::bytes(call.input, at / tirc::RX_HASH_TOEPLITZ_KEY).to_vec();
            bits::set_bytes(&mut context, tirc::RX_HASH_TOEPLITZ_KEY, &key);
        }
    }
    call.device.net.tirs.insert(number, context);
    Ok(())
}

fn destroy_tir(call: &mut Call<'_>) -> Outcome {
    let number = call.get32(destroy_tir_in::TIRN);
    let gone = call.device.objects.destroy(Kind::Tir, number);
    gone.map_err(|e| call.object_error(&e))?;
    call.device.net.tirs.remove(&number);
    Ok(())
}
