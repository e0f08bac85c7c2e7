// SPDX-License-Identifier: GPL-2.0

//! What send and receive queues share: the `wq` layout and the states.

use super::completion::check_record;
use super::{
    above_limit,
    bad_value,
    page_list,
    unsupported, //
};
use crate::command::{
    status,
    Call,
    Outcome,
    Refusal, //
};
use crate::ifc::fields::wq;
use crate::ifc::Field;
use crate::net::ring::Ring;
use crate::net::state;
use crate::rules::Rule;

/// Strides that a work queue can have, log2 of bytes.
const LOG_STRIDES: std::ops::RangeInclusive<u32> = 4..=10;

/// Reads a work queue whose layout stands at `at`, and checks it.
pub fn ring(call: &mut Call<'_>, at: Field, max_log_size: &str) -> Result<Ring, Refusal> {
    if call.flag(at / wq::WQ_UMEM_VALID) || call.flag(at / wq::DBR_UMEM_VALID) {
        return Err(unsupported(call, "a queue in a umem"));
    }
    if call.flag(at / wq::WQ_SIGNATURE) {
        return Err(unsupported(call, "wq_signature"));
    }
    if call.flag(at / wq::SHAMPO_ENABLE) {
        return Err(unsupported(
            call,
            "shampo_enable without the capability shampo",
        ));
    }
    let log_size = call.get32(at / wq::LOG_WQ_SZ);
    let limit = call.device.caps.get(max_log_size);
    if u64::from(log_size) > limit {
        return Err(above_limit(call, "log_wq_sz", log_size.into(), limit));
    }
    let log_stride = call.get32(at / wq::LOG_WQ_STRIDE);
    if !LOG_STRIDES.contains(&log_stride) {
        return Err(bad_value(call, format!("log_wq_stride is {log_stride}")));
    }
    check_record(call, at / wq::DBR_ADDR)?;
    let made = Ring::new(
        page_list(call, at / wq::PAS),
        call.get32(at / wq::LOG_WQ_PG_SZ).saturating_add(12),
        call.get(at / wq::PAGE_OFFSET) * 64,
        log_size,
        log_stride,
    );
    let ring =
        made.map_err(|text| call.refuse(status::BAD_INPUT_LENGTH, Rule::InputLength, text))?;
    let found = ring.check(&call.device.memory, false);
    found.map_err(|f| call.refuse(status::BAD_PARAM, Rule::Dma, f.to_string()))?;
    Ok(ring)
}

/// A queue is made in state RST.
pub fn check_new(call: &mut Call<'_>, field: Field) -> Outcome {
    let is = call.get(field) as u8;
    if is != state::RST {
        return Err(bad_value(call, format!("a new queue in state {is}")));
    }
    Ok(())
}

/// Checks a change of state; `told` is the state that the driver thinks the queue is in.
pub fn check_move(call: &mut Call<'_>, is: u8, told: u8, to: u8) -> Outcome {
    if told != is {
        let text = format!("the queue is in state {is}, not {told}");
        // The device itself may have moved it to ERR meanwhile.
        return Err(if is == state::ERR {
            call.decline(status::BAD_RES_STATE, Rule::ObjectState)
        } else {
            call.refuse(status::BAD_RES_STATE, Rule::ObjectState, text)
        });
    }
    let allowed = matches!(
        (is, to),
        (state::RST, state::RST | state::RDY)
            | (state::RDY, state::RST | state::RDY | state::ERR)
            | (state::ERR, state::RST | state::ERR)
    );
    if !allowed {
        let text = format!("from state {is} to {to}");
        return Err(call.refuse(status::BAD_RES_STATE, Rule::ObjectState, text));
    }
    Ok(())
}
