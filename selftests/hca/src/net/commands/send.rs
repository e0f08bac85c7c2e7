// SPDX-License-Identifier: GPL-2.0

//! The send side: SQ and TIS.

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
use crate::bits;
use crate::command::{
    status,
    Call,
    Outcome,
    Spec, //
};
use crate::ifc::fields::*;
use crate::ifc::opcode;
use crate::net::sq::{
    self,
    Sq, //
};
use crate::net::state;
use crate::net::wqe;
use crate::objects::Kind;
use crate::rules::Rule;

pub const COMMANDS: &[Spec] = &[
    Spec::new(
        opcode::CREATE_SQ,
        "create_sq_in",
        "create_sq_out",
        create_sq,
    ),
    Spec::new(
        opcode::MODIFY_SQ,
        "modify_sq_in",
        "modify_sq_out",
        modify_sq,
    ),
    Spec::new(
        opcode::DESTROY_SQ,
        "destroy_sq_in",
        "destroy_sq_out",
        destroy_sq,
    ),
    Spec::new(opcode::QUERY_SQ, "query_sq_in", "query_sq_out", query_sq),
    Spec::new(
        opcode::CREATE_TIS,
        "create_tis_in",
        "create_tis_out",
        create_tis,
    ),
    Spec::new(
        opcode::MODIFY_TIS,
        "modify_tis_in",
        "modify_tis_out",
        modify_tis,
    ),
    Spec::new(
        opcode::DESTROY_TIS,
        "destroy_tis_in",
        "destroy_tis_out",
        destroy_tis,
    ),
    Spec::new(
        opcode::QUERY_TIS,
        "query_tis_in",
        "query_tis_out",
        query_tis,
    ),
];

/// First number of send queues: apart from those of receive queues, so that a mix-up shows.
const FIRST_SQ: u32 = 0x1000;

/// `wq.wq_type` of a send queue.
const CYCLIC: u64 = 1;

fn create_sq(call: &mut Call<'_>) -> Outcome {
    let at = create_sq_in::CTX;
    check_new(call, at / sqc::STATE)?;
    if call.flag(at / sqc::HAIRPIN) {
        return Err(unsupported(call, "a hairpin queue"));
    }
    if call.get(at / sqc::PACKET_PACING_RATE_LIMIT_INDEX) != 0
        && call.device.caps.get("qos_cap.packet_pacing") == 0
    {
        return Err(unsupported(
            call,
            "a rate limit without the capability packet_pacing",
        ));
    }
    if call.get(at / sqc::TS_CQE_TO_DEST_CQN) != 0
        && call.device.caps.get("cmd_hca_cap.ts_cqe_to_dest_cqn") == 0
    {
        return Err(unsupported(
            call,
            "ts_cqe_to_dest_cqn without its capability",
        ));
    }
    if call.get(at / sqc::QOS_QUEUE_GROUP_ID) != 0
        && call.device.caps.get("qos_cap.nic_sq_scheduling") == 0
    {
        return Err(unsupported(call, "a queue group without nic_sq_scheduling"));
    }
    if call.get(at / sqc::WQ / wq::WQ_TYPE) != CYCLIC {
        return Err(bad_value(call, "wq_type is not cyclic"));
    }
    let ring = ring(call, at / sqc::WQ, "cmd_hca_cap.log_max_qp_sz")?;
    if ring.stride() != wqe::BLOCK {
        return Err(bad_value(
            call,
            format!("a stride of {} bytes", ring.stride()),
        ));
    }
    let mut refers = vec![
        (Kind::Cq, call.get32(at / sqc::CQN)),
        (Kind::Pd, call.get32(at / sqc::WQ / wq::PD)),
        (Kind::Uar, call.get32(at / sqc::WQ / wq::UAR_PAGE)),
    ];
    match call.get(at / sqc::TIS_LST_SZ) {
        0 => {}
        1 => refers.push((Kind::Tis, call.get32(at / sqc::TIS_NUM_0))),
        n => return Err(bad_value(call, format!("tis_lst_sz is {n}"))),
    }
    let context = call.input[at.byte()..at.byte() + sqc::BYTES].to_vec();
    let last = last(call, "cmd_hca_cap.log_max_sq");
    let made = call
        .device
        .objects
        .create(Kind::Sq, (FIRST_SQ, last), &refers, Vec::new());
    let number = made.map_err(|e| call.object_error(&e))?;
    call.device
        .net
        .sqs
        .insert(number, Sq::new(number, ring, &context));
    call.set(create_sq_out::SQN, number);
    Ok(())
}

fn modify_sq(call: &mut Call<'_>) -> Outcome {
    let number = call.get32(modify_sq_in::SQN);
    let Some(is) = call.device.net.sqs.get(&number).map(|q| q.state) else {
        return Err(no_queue(call, "SQ", number));
    };
    let told = call.get(modify_sq_in::SQ_STATE) as u8;
    let to = call.get(modify_sq_in::CTX / sqc::STATE) as u8;
    check_move(call, is, told, to)?;
    let mask = call.get(modify_sq_in::MODIFY_BITMASK);
    if mask != 0 {
        return Err(unsupported(call, format!("modify_bitmask 0x{mask:x}")));
    }
    if let Some(q) = call.device.net.sqs.get_mut(&number) {
        q.state = to;
        if to == state::RST {
            q.counter = 0;
        }
    }
    if to == state::ERR {
        // What is posted flushes.
        sq::run(call.device, number);
    }
    Ok(())
}

/// Refuses a queue that does not exist.
pub fn no_queue(call: &mut Call<'_>, what: &str, number: u32) -> crate::command::Refusal {
    let text = format!("there is no {what} 0x{number:x}");
    call.refuse(status::BAD_RESOURCE, Rule::NoObject, text)
}

fn destroy_sq(call: &mut Call<'_>) -> Outcome {
    let number = call.get32(destroy_sq_in::SQN);
    let gone = call.device.objects.destroy(Kind::Sq, number);
    gone.map_err(|e| call.object_error(&e))?;
    call.device.net.sqs.remove(&number);
    Ok(())
}

fn query_sq(call: &mut Call<'_>) -> Outcome {
    let number = call.get32(query_sq_in::SQN);
    let Some(q) = call.device.net.sqs.get(&number).cloned() else {
        return Err(no_queue(call, "SQ", number));
    };
    let at = query_sq_out::SQ_CONTEXT;
    call.set_bytes(at, &q.context);
    call.set(at / sqc::STATE, q.state);
    call.set(at / sqc::WQ / wq::HW_COUNTER, q.counter);
    Ok(())
}

fn check_tis(call: &mut Call<'_>, at: crate::ifc::Field) -> Outcome {
    if call.flag(at / tisc::TLS_EN) && call.device.caps.get("cmd_hca_cap.tls_tx") == 0 {
        return Err(unsupported(call, "tls_en without the capability tls_tx"));
    }
    let affinity = call.get(at / tisc::LAG_TX_PORT_AFFINITY);
    if affinity != 0 && call.device.caps.get("cmd_hca_cap.lag_tx_port_affinity") == 0 {
        return Err(unsupported(
            call,
            "lag_tx_port_affinity without its capability",
        ));
    }
    Ok(())
}

fn create_tis(call: &mut Call<'_>) -> Outcome {
    let at = create_tis_in::CTX;
    check_tis(call, at)?;
    let mut refers = vec![(
        Kind::TransportDomain,
        call.get32(at / tisc::TRANSPORT_DOMAIN),
    )];
    let pd = call.get32(at / tisc::PD);
    if pd != 0 {
        refers.push((Kind::Pd, pd));
    }
    let context = call.input[at.byte()..at.byte() + tisc::BYTES].to_vec();
    let last = last(call, "cmd_hca_cap.log_max_tis");
    let made = call
        .device
        .objects
        .create(Kind::Tis, (1, last), &refers, context);
    let number = made.map_err(|e| call.object_error(&e))?;
    call.set(create_tis_out::TISN, number);
    Ok(())
}

fn modify_tis(call: &mut Call<'_>) -> Outcome {
    let number = call.get32(modify_tis_in::TISN);
    check_tis(call, modify_tis_in::CTX)?;
    let select = modify_tis_in::BITMASK;
    let fields: Vec<_> = [
        (modify_tis_bitmask::PRIO, tisc::PRIO),
        (
            modify_tis_bitmask::LAG_TX_PORT_AFFINITY,
            tisc::LAG_TX_PORT_AFFINITY,
        ),
        (
            modify_tis_bitmask::STRICT_LAG_TX_PORT_AFFINITY,
            tisc::STRICT_LAG_TX_PORT_AFFINITY,
        ),
    ]
    .into_iter()
    .filter(|(bit, _)| call.flag(select / *bit))
    .map(|(_, f)| (f, call.get(modify_tis_in::CTX / f)))
    .collect();
    match call.device.objects.get_mut(Kind::Tis, number) {
        Ok(object) => {
            for (field, value) in fields {
                bits::set(&mut object.context, field, value);
            }
            Ok(())
        }
        Err(e) => Err(call.object_error(&e)),
    }
}

fn destroy_tis(call: &mut Call<'_>) -> Outcome {
    let number = call.get32(destroy_tis_in::TISN);
    let gone = call.device.objects.destroy(Kind::Tis, number);
    gone.map(|_| ()).map_err(|e| call.object_error(&e))
}

fn query_tis(call: &mut Call<'_>) -> Outcome {
    let number = call.get32(query_tis_in::TISN);
    let found = call
        .device
        .objects
        .get(Kind::Tis, number)
        .map(|o| o.context.clone());
    let context = found.map_err(|e| call.object_error(&e))?;
    call.set_bytes(query_tis_out::TIS_CONTEXT, &context);
    Ok(())
}
