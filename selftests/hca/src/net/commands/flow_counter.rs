// SPDX-License-Identifier: GPL-2.0

//! Counters that flow table entries and receive queues count in.

use super::{
    above_limit,
    bad_value, //
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
use crate::net::steering::Traffic;
use crate::objects::Kind;
use crate::rules::Rule;

pub const COMMANDS: &[Spec] = &[
    Spec::new(
        opcode::ALLOC_FLOW_COUNTER,
        "alloc_flow_counter_in",
        "alloc_flow_counter_out",
        alloc_flow,
    )
    .needs("cmd_hca_cap.nic_flow_table"),
    Spec::new(
        opcode::DEALLOC_FLOW_COUNTER,
        "dealloc_flow_counter_in",
        "dealloc_flow_counter_out",
        dealloc_flow,
    ),
    Spec::new(
        opcode::QUERY_FLOW_COUNTER,
        "query_flow_counter_in",
        "query_flow_counter_out",
        query_flow,
    ),
    Spec::new(
        opcode::ALLOC_Q_COUNTER,
        "alloc_q_counter_in",
        "alloc_q_counter_out",
        alloc_queue,
    ),
    Spec::new(
        opcode::DEALLOC_Q_COUNTER,
        "dealloc_q_counter_in",
        "dealloc_q_counter_out",
        dealloc_queue,
    ),
    Spec::new(
        opcode::QUERY_Q_COUNTER,
        "query_q_counter_in",
        "query_q_counter_out",
        query_queue,
    ),
];

/// Counters in a bulk of one: the field selects from 128 up by bits.
const BULK: u32 = 128;

/// Single counters have numbers below this, bulks start at its multiples.
const SPACE: u32 = 1 << 16;

fn alloc_flow(call: &mut Call<'_>) -> Outcome {
    let bulk = call.get32(alloc_flow_counter_in::FLOW_COUNTER_BULK);
    let log = call.get32(alloc_flow_counter_in::FLOW_COUNTER_BULK_LOG_SIZE);
    let able = call.device.caps.get("cmd_hca_cap.flow_counter_bulk_alloc") as u32;
    let count = match (bulk, log) {
        (0, 0) => 1,
        (b, 0) if b & !able == 0 && b.is_power_of_two() => b.saturating_mul(BULK),
        (0, n)
            if n <= 16
                && call
                    .device
                    .caps
                    .get("cmd_hca_cap.log_max_flow_counter_bulk")
                    >= n.into() =>
        {
            1 << n
        }
        _ => {
            return Err(bad_value(
                call,
                format!("flow_counter_bulk 0x{bulk:x}, log {log}"),
            ))
        }
    };
    let bulks = &call.device.net.counter_bulks;
    let free = (1..SPACE)
        .map(|n| if count == 1 { n } else { n * SPACE })
        .find(|first| !bulks.contains_key(first));
    let Some(first) = free else {
        return Err(call.decline(status::NO_RESOURCES, Rule::NoResource));
    };
    for id in first..first.saturating_add(count) {
        let added = call
            .device
            .objects
            .insert(Kind::FlowCounter, id, &[], Vec::new());
        added.map_err(|e| call.object_error(&e))?;
        call.device
            .net
            .steering
            .counters
            .insert(id, Traffic::default());
    }
    call.device.net.counter_bulks.insert(first, count);
    call.set(alloc_flow_counter_out::FLOW_COUNTER_ID, first);
    Ok(())
}

fn dealloc_flow(call: &mut Call<'_>) -> Outcome {
    let first = call.get32(dealloc_flow_counter_in::FLOW_COUNTER_ID);
    let Some(count) = call.device.net.counter_bulks.get(&first).copied() else {
        let text = format!("there is no flow counter 0x{first:x}, or it is within a bulk");
        return Err(call.refuse(status::BAD_RESOURCE, Rule::NoObject, text));
    };
    let all = first..first.saturating_add(count);
    for id in all.clone() {
        let users = call
            .device
            .objects
            .get(Kind::FlowCounter, id)
            .map_or(0, |o| o.users);
        if users > 0 {
            let text = format!("flow counter 0x{id:x} is in use by {users} entries");
            return Err(call.refuse(status::RESOURCE_BUSY, Rule::ObjectBusy, text));
        }
    }
    for id in all {
        let gone = call.device.objects.destroy(Kind::FlowCounter, id);
        gone.map_err(|e| call.object_error(&e))?;
        call.device.net.steering.counters.remove(&id);
    }
    call.device.net.counter_bulks.remove(&first);
    Ok(())
}

fn query_flow(call: &mut Call<'_>) -> Outcome {
    let first = call.get32(query_flow_counter_in::FLOW_COUNTER_ID);
    let count = call.get32(query_flow_counter_in::NUM_OF_COUNTERS).max(1);
    let clear = call.flag(query_flow_counter_in::CLEAR);
    let room = call
        .output
        .len()
        .saturating_sub(query_flow_counter_out::BYTES)
        / traffic_counter::BYTES;
    if (count as usize) > room {
        return Err(above_limit(
            call,
            "num_of_counters",
            count.into(),
            room as u64,
        ));
    }
    for i in 0..count {
        let id = first.saturating_add(i);
        let Some(traffic) = call.device.net.steering.counters.get_mut(&id) else {
            let text = format!("there is no flow counter 0x{id:x}");
            return Err(call.refuse(status::BAD_RESOURCE, Rule::NoObject, text));
        };
        let now = *traffic;
        if clear {
            *traffic = Traffic::default();
        }
        let at = query_flow_counter_out::FLOW_STATISTICS.index(i);
        bits::set(&mut call.output, at / traffic_counter::PACKETS, now.packets);
        bits::set(&mut call.output, at / traffic_counter::OCTETS, now.bytes);
    }
    Ok(())
}

fn alloc_queue(call: &mut Call<'_>) -> Outcome {
    let last = (call.device.caps.get("cmd_hca_cap.max_qp_cnt") as u32).min(0xff);
    let objects = &mut call.device.objects;
    let made = objects.create(Kind::QCounter, (1, last.max(1)), &[], Vec::new());
    let number = made.map_err(|e| call.object_error(&e))?;
    call.device.net.counter_sets.insert(number as u8, 0);
    call.set(alloc_q_counter_out::COUNTER_SET_ID, number);
    Ok(())
}

fn dealloc_queue(call: &mut Call<'_>) -> Outcome {
    let number = call.get32(dealloc_q_counter_in::COUNTER_SET_ID);
    let gone = call.device.objects.destroy(Kind::QCounter, number);
    gone.map_err(|e| call.object_error(&e))?;
    call.device.net.counter_sets.remove(&(number as u8));
    Ok(())
}

fn query_queue(call: &mut Call<'_>) -> Outcome {
    let number = call.get(query_q_counter_in::COUNTER_SET_ID) as u8;
    let clear = call.flag(query_q_counter_in::CLEAR);
    let Some(dropped) = call.device.net.counter_sets.get_mut(&number) else {
        let text = format!("there is no counter set {number}");
        return Err(call.refuse(status::BAD_RESOURCE, Rule::NoObject, text));
    };
    let now = *dropped;
    if clear {
        *dropped = 0;
    }
    call.set(query_q_counter_out::OUT_OF_BUFFER, now);
    Ok(())
}
