// SPDX-License-Identifier: GPL-2.0

//! Event queues: CREATE_EQ, DESTROY_EQ, QUERY_EQ, GEN_EQE.

use super::{
    status,
    Call,
    Outcome,
    Spec, //
};
use crate::bits;
use crate::eq::{
    st,
    Eq,
    EQE_BYTES, //
};
use crate::ifc::fields::*;
use crate::ifc::opcode;
use crate::objects::Kind;
use crate::rules::Rule;

pub const COMMANDS: &[Spec] = &[
    Spec::new(opcode::CREATE_EQ, "create_eq_in", "create_eq_out", create),
    Spec::new(
        opcode::DESTROY_EQ,
        "destroy_eq_in",
        "destroy_eq_out",
        destroy,
    ),
    Spec::new(opcode::QUERY_EQ, "query_eq_in", "query_eq_out", query),
];

/// Numbers below belong to the firmware.
const FIRST_EQN: u8 = 4;

/// Event types that need a capability. Source: `gather_async_events_mask` of mlx5_core's `eq.c`.
const EVENT_CAPS: &[(u8, &str)] = &[
    (0x0d, "cmd_hca_cap.vport_group_manager"),
    (0x16, "cmd_hca_cap.port_module_event"),
    (0x17, "cmd_hca_cap.temp_warn_event"),
    (0x22, "cmd_hca_cap.general_notification_event"),
    (0x20, "cmd_hca_cap.fpga"),
    (0x21, "cmd_hca_cap.fpga"),
    (0x1c, "cmd_hca_cap.dct"),
    (0x25, "cmd_hca_cap.pps"),
];

fn create(call: &mut Call<'_>) -> Outcome {
    let at = create_eq_in::EQ_CONTEXT_ENTRY;
    let log_size = call.get32(at / eqc::LOG_EQ_SIZE);
    let max = call.device.caps.get("cmd_hca_cap.log_max_eq_sz");
    if u64::from(log_size) > max {
        let text = format!("log_eq_size is {log_size}, the limit {max}");
        return Err(call.refuse(status::BAD_PARAM, Rule::Limit, text));
    }
    let uar = call.get32(at / eqc::UAR_PAGE);
    if !call.device.has_uar(uar) {
        let text = format!("UAR page 0x{uar:x} does not exist");
        return Err(call.refuse(status::BAD_RESOURCE, Rule::NoObject, text));
    }
    let vector = call.get(at / eqc::INTR) as u16;
    if usize::from(vector) >= call.device.irqs.count() {
        let text = format!("vector {vector} of {}", call.device.irqs.count());
        return Err(call.refuse(status::BAD_PARAM, Rule::Limit, text));
    }
    let state = call.get(at / eqc::ST) as u8;
    if state != 0 && ![st::ARMED, st::FIRED, st::ALWAYS_ARMED].contains(&state) {
        let text = format!("state 0x{state:x}");
        return Err(call.refuse(status::BAD_PARAM, Rule::Value, text));
    }
    let page_shift = call.get32(at / eqc::LOG_PAGE_SIZE).saturating_add(12);
    let offset = call.get(at / eqc::PAGE_OFFSET) * EQE_BYTES;
    let ring = EQE_BYTES << log_size;
    let wanted = offset.saturating_add(ring).div_ceil(1 << page_shift);
    let bytes = call.tail(create_eq_in::PAS).len() as u64;
    if bytes != wanted * 8 {
        let text = format!("{bytes} bytes of addresses, {wanted} pages are needed");
        return Err(call.refuse(status::BAD_INPUT_LENGTH, Rule::InputLength, text));
    }
    let pages: Vec<u64> = (0..wanted as u32)
        .map(|i| call.get(create_eq_in::PAS.index(i)))
        .collect();
    let mask: Vec<u64> = (0..4)
        .map(|i| call.get(create_eq_in::EVENT_BITMASK.index(i)))
        .collect();
    check_events(call, &mask);
    let mut eq = Eq {
        number: 0,
        pages,
        page_shift,
        offset,
        log_size,
        mask: [mask[0], mask[1], mask[2], mask[3]],
        vector,
        uar,
        st: if state == 0 { st::FIRED } else { state },
        status: 0,
        ci: 0,
        pi: 0,
        overrun_ignore: call.flag(at / eqc::OI),
        collapse: call.flag(at / eqc::EC),
        context: bits::bytes(call.input, at).to_vec(),
        lost: 0,
    };
    check_ring(call, &eq)?;
    let limit = match call.device.caps.get("cmd_hca_cap.max_num_eqs") {
        0 => 1u64 << call.device.caps.get("cmd_hca_cap.log_max_eq"),
        n => n,
    };
    if call.device.eqs.len() as u64 >= limit {
        let text = format!("{limit} EQs exist, that is all");
        return Err(call.refuse(status::NO_RESOURCES, Rule::Limit, text));
    }
    let Some(number) = call.device.eqs.free_number(FIRST_EQN) else {
        return Err(call.decline(status::NO_RESOURCES, Rule::NoResource));
    };
    eq.number = number;
    let refers = [(Kind::Uar, uar)];
    let added = call
        .device
        .objects
        .insert(Kind::Eq, number.into(), &refers, Vec::new());
    added.map_err(|e| call.object_error(&e))?;
    call.device.eqs.insert(eq);
    call.set(create_eq_out::EQ_NUMBER, number);
    Ok(())
}

/// Notes events that the device does not announce.
fn check_events(call: &mut Call<'_>, mask: &[u64]) {
    for (event, capability) in EVENT_CAPS {
        let wanted = mask
            .get(usize::from(event / 64))
            .is_some_and(|m| (m >> (event % 64)) & 1 != 0);
        // What counts for the DCT event is the maximum: the mask is made before it is enabled.
        if wanted && call.device.caps.get_max(capability) == 0 {
            let text = format!("event 0x{event:02x} without capability {capability}");
            call.note(Rule::EqEvents, text);
        }
    }
}

/// The whole ring is in memory, and every entry's ownership bit is set.
fn check_ring(call: &mut Call<'_>, eq: &Eq) -> Outcome {
    let mut unset = 0;
    for i in 0..eq.entries() {
        let mut byte = [0];
        let Some(address) = eq.address(i) else {
            return Err(call.refuse(status::BAD_PARAM, Rule::Value, "a page is missing"));
        };
        if address % EQE_BYTES != 0 {
            let text = format!("entry {i} is at {address:#x}");
            return Err(call.refuse(status::BAD_PARAM, Rule::Value, text));
        }
        let memory = &call.device.memory;
        let read = memory
            .check(address, EQE_BYTES, true)
            .and_then(|()| memory.read(address.saturating_add(0x3f), &mut byte));
        if let Err(fault) = read {
            let text = format!("entry {i}: {fault}");
            return Err(call.refuse(status::BAD_PARAM, Rule::Dma, text));
        }
        unset += u32::from(byte[0] & 1 == 0);
    }
    if unset > 0 {
        let text = format!(
            "{unset} of {} EQEs have their ownership bit clear",
            eq.entries()
        );
        call.note(Rule::EqBuffer, text);
    }
    Ok(())
}

fn destroy(call: &mut Call<'_>) -> Outcome {
    let number = call.get(destroy_eq_in::EQ_NUMBER) as u8;
    let destroyed = call.device.objects.destroy(Kind::Eq, number.into());
    destroyed.map_err(|e| call.object_error(&e))?;
    call.device.eqs.remove(number);
    Ok(())
}

fn query(call: &mut Call<'_>) -> Outcome {
    let number = call.get(query_eq_in::EQ_NUMBER) as u8;
    let Some(eq) = call.device.eqs.get(number).cloned() else {
        let text = format!("there is no EQ {number}");
        return Err(call.refuse(status::BAD_RESOURCE, Rule::NoObject, text));
    };
    let at = query_eq_out::EQ_CONTEXT_ENTRY;
    call.set_bytes(at, &eq.context);
    call.set(at / eqc::STATUS, eq.status);
    call.set(at / eqc::ST, eq.st);
    call.set(at / eqc::CONSUMER_COUNTER, eq.ci);
    call.set(at / eqc::PRODUCER_COUNTER, eq.pi);
    call.set(query_eq_out::EVENT_BITMASK, eq.mask[0]);
    Ok(())
}
