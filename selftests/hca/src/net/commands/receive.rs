// SPDX-License-Identifier: GPL-2.0

//! The receive side: RQ.

use super::send::no_queue;
use super::work_queue::{
    check_move,
    check_new,
    ring, //
};
use super::{
    bad_value,
    last,
    unsupported, //
};
use crate::command::{
    Call,
    Outcome,
    Spec, //
};
use crate::ifc::fields::*;
use crate::ifc::opcode;
use crate::net::rq::{
    self,
    Rq, //
};
use crate::net::state;
use crate::objects::Kind;

pub const COMMANDS: &[Spec] = &[
    Spec::new(
        opcode::CREATE_RQ,
        "create_rq_in",
        "create_rq_out",
        create_rq,
    ),
    Spec::new(
        opcode::MODIFY_RQ,
        "modify_rq_in",
        "modify_rq_out",
        modify_rq,
    ),
    Spec::new(
        opcode::DESTROY_RQ,
        "destroy_rq_in",
        "destroy_rq_out",
        destroy_rq,
    ),
    Spec::new(opcode::QUERY_RQ, "query_rq_in", "query_rq_out", query_rq),
];

/// First number of receive queues.
const FIRST_RQ: u32 = 0x100;

/// `rqc.mem_rq_type` of a queue with buffers of its own.
const INLINE: u64 = 0;

/// Bits of `modify_bitmask`. Source: `MLX5_MODIFY_RQ_IN_MODIFY_BITMASK_*` of the kernel's header.
mod modify {
    pub const VSD: u64 = 1 << 1;
    pub const SCATTER_FCS: u64 = 1 << 2;
    pub const COUNTER_SET: u64 = 1 << 3;
    pub const KNOWN: u64 = VSD | SCATTER_FCS | COUNTER_SET;
}

fn create_rq(call: &mut Call<'_>) -> Outcome {
    let at = create_rq_in::CTX;
    check_new(call, at / rqc::STATE)?;
    if call.get(at / rqc::MEM_RQ_TYPE) != INLINE {
        return Err(unsupported(call, "a queue of a shared pool (RMP)"));
    }
    if call.flag(at / rqc::HAIRPIN) {
        return Err(unsupported(call, "a hairpin queue"));
    }
    if call.flag(at / rqc::DELAY_DROP_EN) && call.device.caps.get("cmd_hca_cap.rq_delay_drop") == 0
    {
        return Err(unsupported(
            call,
            "delay_drop_en without the capability rq_delay_drop",
        ));
    }
    let scatter_fcs = "per_protocol_networking_offload_caps.scatter_fcs";
    if call.flag(at / rqc::SCATTER_FCS) && call.device.caps.get(scatter_fcs) == 0 {
        return Err(unsupported(call, "scatter_fcs without its capability"));
    }
    let kind = call.get(at / rqc::WQ / wq::WQ_TYPE) as u8;
    check_kind(call, kind)?;
    let ring = ring(call, at / rqc::WQ, "cmd_hca_cap.log_max_qp_sz")?;
    let mut refers = references(call.get32(at / rqc::CQN), call.get32(at / rqc::WQ / wq::PD));
    let set = call.get32(at / rqc::COUNTER_SET_ID);
    if set != 0 {
        refers.push((Kind::QCounter, set));
    }
    let context = call.input[at.byte()..at.byte() + rqc::BYTES].to_vec();
    let last = last(call, "cmd_hca_cap.log_max_rq");
    let made = call
        .device
        .objects
        .create(Kind::Rq, (FIRST_RQ, last), &refers, Vec::new());
    let number = made.map_err(|e| call.object_error(&e))?;
    call.device
        .net
        .rqs
        .insert(number, Rq::new(number, ring, &context));
    call.set(create_rq_out::RQN, number);
    Ok(())
}

/// What a queue refers to. PD 0 is none: such a queue can name no memory.
fn references(cq: u32, pd: u32) -> Vec<(Kind, u32)> {
    let mut refers = vec![(Kind::Cq, cq)];
    if pd != 0 {
        refers.push((Kind::Pd, pd));
    }
    refers
}

fn check_kind(call: &mut Call<'_>, kind: u8) -> Outcome {
    let capability = match kind {
        rq::kind::LINKED_LIST => return Ok(()),
        rq::kind::CYCLIC => "cmd_hca_cap.basic_cyclic_rcv_wqe",
        rq::kind::LINKED_LIST_STRIDING | rq::kind::CYCLIC_STRIDING => "cmd_hca_cap.striding_rq",
        other => return Err(bad_value(call, format!("wq_type is {other}"))),
    };
    if call.device.caps.get(capability) == 0 {
        return Err(unsupported(
            call,
            format!("wq_type {kind} without {capability}"),
        ));
    }
    let at = create_rq_in::CTX / rqc::WQ;
    let strides = call.get(at / wq::LOG_WQE_NUM_OF_STRIDES);
    let extended = call.device.caps.get("cmd_hca_cap.ext_stride_num_range") != 0;
    if kind >= rq::kind::LINKED_LIST_STRIDING && strides > 7 && !extended {
        let text = format!("log_wqe_num_of_strides {strides} without ext_stride_num_range");
        return Err(unsupported(call, text));
    }
    Ok(())
}

fn modify_rq(call: &mut Call<'_>) -> Outcome {
    let number = call.get32(modify_rq_in::RQN);
    let Some(mut q) = call.device.net.rqs.get(&number).cloned() else {
        return Err(no_queue(call, "RQ", number));
    };
    let told = call.get(modify_rq_in::RQ_STATE) as u8;
    let to = call.get(modify_rq_in::CTX / rqc::STATE) as u8;
    check_move(call, q.state, told, to)?;
    let mask = call.get(modify_rq_in::MODIFY_BITMASK);
    if mask & !modify::KNOWN != 0 {
        return Err(unsupported(call, format!("modify_bitmask 0x{mask:x}")));
    }
    if mask & modify::COUNTER_SET != 0 {
        let set = call.get32(modify_rq_in::CTX / rqc::COUNTER_SET_ID);
        let mut refers = references(q.cq, q.pd);
        if set != 0 {
            refers.push((Kind::QCounter, set));
        }
        let moved = call
            .device
            .objects
            .set_references(Kind::Rq, number, &refers);
        moved.map_err(|e| call.object_error(&e))?;
        q.counter_set = set as u8;
    }
    if mask & modify::VSD != 0 {
        q.keep_vlan = call.flag(modify_rq_in::CTX / rqc::VSD);
    }
    if mask & modify::SCATTER_FCS != 0 {
        q.keep_fcs = call.flag(modify_rq_in::CTX / rqc::SCATTER_FCS);
    }
    q.state = to;
    match to {
        state::RST => q.reset(),
        state::ERR if q.flush => rq::flush(call.device, &mut q),
        _ => {}
    }
    call.device.net.rqs.insert(number, q);
    Ok(())
}

fn destroy_rq(call: &mut Call<'_>) -> Outcome {
    let number = call.get32(destroy_rq_in::RQN);
    let gone = call.device.objects.destroy(Kind::Rq, number);
    gone.map_err(|e| call.object_error(&e))?;
    call.device.net.rqs.remove(&number);
    Ok(())
}

fn query_rq(call: &mut Call<'_>) -> Outcome {
    let number = call.get32(query_rq_in::RQN);
    let Some(q) = call.device.net.rqs.get(&number).cloned() else {
        return Err(no_queue(call, "RQ", number));
    };
    let at = query_rq_out::RQ_CONTEXT;
    call.set_bytes(at, &q.context);
    call.set(at / rqc::STATE, q.state);
    call.set(at / rqc::VSD, q.keep_vlan);
    call.set(at / rqc::SCATTER_FCS, q.keep_fcs);
    call.set(at / rqc::COUNTER_SET_ID, q.counter_set);
    call.set(at / rqc::WQ / wq::HW_COUNTER, q.counter);
    Ok(())
}
