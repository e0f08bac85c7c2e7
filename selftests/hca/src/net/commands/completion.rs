// SPDX-License-Identifier: GPL-2.0

//! Completion queues: CREATE_CQ, DESTROY_CQ, QUERY_CQ, MODIFY_CQ.

use super::{
    above_limit,
    bad_value,
    last,
    page_list, //
};
use crate::bits;
use crate::command::{
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
use crate::net::cq::{
    opcode as cqe,
    Cq,
    CQE_BYTES, //
};
use crate::net::ring::Ring;
use crate::objects::Kind;
use crate::rules::Rule;

pub const COMMANDS: &[Spec] = &[
    Spec::new(opcode::CREATE_CQ, "create_cq_in", "create_cq_out", create),
    Spec::new(
        opcode::DESTROY_CQ,
        "destroy_cq_in",
        "destroy_cq_out",
        destroy,
    ),
    Spec::new(opcode::QUERY_CQ, "query_cq_in", "query_cq_out", query),
    Spec::new(opcode::MODIFY_CQ, "modify_cq_in", "modify_cq_out", modify),
];

/// `cqc.cqe_sz`: entries of 64 bytes, others have 128.
/// Source: `MLX5_CQC_CQE_SZ_*` of the kernel's header; 2 is "always 128 bytes".
const SIZE_64: u64 = 0;
const SIZE_128_ALWAYS: u64 = 2;

/// Doorbell records lie on eight bytes.
const RECORD_BYTES: u64 = 8;

fn create(call: &mut Call<'_>) -> Outcome {
    let at = create_cq_in::CQ_CONTEXT;
    if call.flag(create_cq_in::CQ_UMEM_VALID) || call.flag(at / cqc::DBR_UMEM_VALID) {
        return Err(super::unsupported(call, "a queue in a umem"));
    }
    let log_size = call.get32(at / cqc::LOG_CQ_SIZE);
    let limit = call.device.caps.get("cmd_hca_cap.log_max_cq_sz");
    if u64::from(log_size) > limit {
        return Err(above_limit(call, "log_cq_size", log_size.into(), limit));
    }
    let size = call.get(at / cqc::CQE_SZ);
    if size > SIZE_128_ALWAYS {
        return Err(bad_value(call, format!("cqe_sz is {size}")));
    }
    if call.flag(at / cqc::OI) && call.device.caps.get("cmd_hca_cap.cq_oi") == 0 {
        return Err(super::unsupported(call, "oi without the capability cq_oi"));
    }
    check_record(call, at / cqc::DBR_ADDR)?;
    let ring = Ring::new(
        page_list(call, create_cq_in::PAS),
        call.get32(at / cqc::LOG_PAGE_SIZE).saturating_add(12),
        call.get(at / cqc::PAGE_OFFSET) * 64,
        log_size,
        if size == SIZE_64 { 6 } else { 7 },
    );
    let ring =
        ring.map_err(|text| call.refuse(status::BAD_INPUT_LENGTH, Rule::InputLength, text))?;
    check_entries(call, &ring)?;
    let context = call.input[at.byte()..at.byte() + cqc::BYTES].to_vec();
    let refers = [
        (Kind::Eq, call.get32(at / cqc::C_EQN_OR_APU_ELEMENT)),
        (Kind::Uar, call.get32(at / cqc::UAR_PAGE)),
    ];
    let last = last(call, "cmd_hca_cap.log_max_cq");
    let made = call
        .device
        .objects
        .create(Kind::Cq, (1, last), &refers, Vec::new());
    let number = made.map_err(|e| call.object_error(&e))?;
    call.device
        .net
        .cqs
        .insert(number, Cq::new(number, ring, &context));
    call.set(create_cq_out::CQN, number);
    Ok(())
}

/// A doorbell record is aligned and in memory that the device can read.
pub fn check_record(call: &mut Call<'_>, field: Field) -> Outcome {
    let address = call.get(field);
    if address % RECORD_BYTES != 0 {
        return Err(bad_value(call, format!("dbr_addr is 0x{address:x}")));
    }
    let found = call.device.memory.check(address, RECORD_BYTES, false);
    found.map_err(|f| call.refuse(status::BAD_PARAM, Rule::Dma, format!("dbr_addr: {f}")))
}

/// The ring is in memory, and no entry looks like one that the device wrote.
fn check_entries(call: &mut Call<'_>, ring: &Ring) -> Outcome {
    let found = ring.check(&call.device.memory, true);
    found.map_err(|f| call.refuse(status::BAD_PARAM, Rule::Dma, f.to_string()))?;
    let mut valid = 0;
    for i in 0..ring.entries() {
        let mut byte = [0];
        let last = ring.position(i) + ring.stride() as u64 - 1;
        if ring.read(&call.device.memory, last, &mut byte).is_err() {
            break;
        }
        // Software owns it in the first pass: ownership bit 0 and an opcode.
        valid += u32::from(byte[0] & 1 == 0 && byte[0] >> 4 != cqe::INVALID);
    }
    debug_assert!(ring.stride() >= CQE_BYTES);
    if valid > 0 {
        let text = format!("{valid} of {} CQEs look valid", ring.entries());
        call.note(Rule::CqBuffer, text);
    }
    Ok(())
}

fn destroy(call: &mut Call<'_>) -> Outcome {
    let number = call.get32(destroy_cq_in::CQN);
    let gone = call.device.objects.destroy(Kind::Cq, number);
    gone.map_err(|e| call.object_error(&e))?;
    call.device.net.cqs.remove(&number);
    Ok(())
}

fn query(call: &mut Call<'_>) -> Outcome {
    let number = call.get32(query_cq_in::CQN);
    let Some(cq) = call.device.net.cqs.get(&number).cloned() else {
        let text = format!("there is no CQ 0x{number:x}");
        return Err(call.refuse(status::BAD_RESOURCE, Rule::NoObject, text));
    };
    let at = query_cq_out::CQ_CONTEXT;
    call.set_bytes(at, &cq.context);
    call.set(at / cqc::STATUS, cq.status);
    call.set(at / cqc::ST, cq.st);
    call.set(at / cqc::PRODUCER_COUNTER, cq.pi);
    let consumer = cq.consumer(&call.device.memory).unwrap_or(0);
    call.set(at / cqc::CONSUMER_COUNTER, consumer);
    Ok(())
}

/// Fields that MODIFY_CQ can change, by their bit in the field select.
/// Source: `MLX5_CQ_MODIFY_*` of the kernel's `cq.h`; bit 3 is the EQ (modify_field_select).
const FIELDS: &[(u32, Field)] = &[
    (0, cqc::CQ_PERIOD),
    (1, cqc::CQ_MAX_COUNT),
    (2, cqc::OI),
    (3, cqc::C_EQN_OR_APU_ELEMENT),
    (4, cqc::CQ_PERIOD_MODE),
];

fn modify(call: &mut Call<'_>) -> Outcome {
    let number = call.get32(modify_cq_in::CQN);
    if !call.device.net.cqs.contains_key(&number) {
        let text = format!("there is no CQ 0x{number:x}");
        return Err(call.refuse(status::BAD_RESOURCE, Rule::NoObject, text));
    }
    let select = call.get32(modify_cq_in::MODIFY_FIELD_SELECT_RESIZE_FIELD_SELECT);
    let known = FIELDS.iter().fold(0, |m, (bit, _)| m | (1u32 << bit));
    if select & !known != 0 {
        return Err(bad_value(call, format!("field select 0x{select:x}")));
    }
    let at = modify_cq_in::CQ_CONTEXT;
    if (select >> 3) & 1 != 0 {
        let eq = call.get32(at / cqc::C_EQN_OR_APU_ELEMENT);
        let uar = call.device.net.cqs.get(&number).map_or(0, |cq| cq.uar);
        let refers = [(Kind::Eq, eq), (Kind::Uar, uar)];
        let moved = call
            .device
            .objects
            .set_references(Kind::Cq, number, &refers);
        moved.map_err(|e| call.object_error(&e))?;
    }
    let new: Vec<(Field, u64)> = FIELDS
        .iter()
        .filter(|(bit, _)| (select >> bit) & 1 != 0)
        .map(|(_, f)| (*f, call.get(at / *f)))
        .collect();
    if let Some(cq) = call.device.net.cqs.get_mut(&number) {
        for (field, value) in new {
            bits::set(&mut cq.context, field, value);
        }
        cq.eq = bits::get(&cq.context, cqc::C_EQN_OR_APU_ELEMENT) as u8;
        cq.overrun_ignore = bits::flag(&cq.context, cqc::OI);
    }
    Ok(())
}
