// SPDX-License-Identifier: GPL-2.0

//! The Ethernet side as a driver sees it: objects by commands, work in guest memory, doorbells;
//! and each of its rules broken once.

mod driver;

use crate::bits;
use crate::command::status::*;
use crate::harness::{
    command,
    FREE, //
};
use crate::ifc::fields::*;
use crate::ifc::{
    opcode,
    Field, //
};
use crate::objects::Kind;

use super::checksum;
use super::state;
use super::wqe;
use driver::{
    create_cq,
    fill_cq,
    Net,
    EQ,
    RECEIVE_BUFFERS,
    RECEIVE_CQ,
    RECORDS,
    RQ,
    SEND_BUFFER,
    SEND_CQ,
    SQ, //
};

#[test]
fn a_ping_through_all_of_it() {
    let mut net = Net::new();
    net.post_buffers(2);
    net.arm(net.cqs[1], 0, 0);
    let bytes = net.ping();
    let request = net.send_request(wqe::opcode::SEND, bytes);
    net.post(&request);
    let sent = net.cqe(SEND_CQ, 0);
    assert_eq!((sent[0x3f], sent[0x3d]), (0x00, 0));
    assert_eq!(bits::word(&sent, 0x38), 0x0a00_0000 | net.sq as u32);
    assert_eq!(bits::word(&sent, 0x20), 0x77);
    let got = net.cqe(RECEIVE_CQ, 0);
    assert_eq!(got[0x3f], 0x20);
    assert_eq!(bits::word(&got, 0x2c), bytes);
    assert_eq!(bits::word(&got, 0x38), 0x1234, "flow tag");
    assert_eq!(
        (got[0x1c], got[0x1d]),
        (3, 2 << 2),
        "L2 and L3 are right, IPv4"
    );
    assert_eq!(got[0x10], 1 << 2, "hash over IPv4 addresses");
    let frame = net.rig.peek(RECEIVE_BUFFERS, bytes as usize);
    assert_eq!(frame[..6], [2, 0, 0, 0, 0, 1]);
    assert_eq!(frame[34], 0, "echo reply");
    assert_eq!(got[0x14..0x16], checksum::sum(&frame[14..]).to_be_bytes());
    // The armed queue told of it.
    assert_eq!(net.rig.peek(EQ + 1, 1), [0]);
    assert_eq!(
        net.rig.peek(EQ + 0x38, 4),
        (net.cqs[1] as u32).to_be_bytes()
    );
    assert!(net.rig.rules().is_empty());
}

#[test]
fn without_a_buffer_frames_are_dropped_and_counted() {
    let mut net = Net::new();
    net.post_buffers(1);
    for _ in 0..3 {
        let bytes = net.ping();
        let request = net.send_request(wqe::opcode::SEND, bytes);
        net.post(&request);
    }
    assert_eq!(net.rig.device.net.diagnostics.out_of_buffer, 2);
    assert!(net.rig.rules().is_empty());
}

#[test]
fn strides() {
    let mut net = Net::new();
    net.use_strides();
    // The first request of a list is that of index 0.
    net.post_strides(&[0, 3]);
    for _ in 0..5 {
        let bytes = net.ping();
        assert_eq!(bytes, 142, "three strides");
        let request = net.send_request(wqe::opcode::SEND, bytes);
        net.post(&request);
    }
    // Request, first stride, strides, bytes; a filler in place of what does not fit.
    let entry = |net: &Net, i| {
        let e = net.cqe(RECEIVE_CQ, i);
        let half = |at: usize| u16::from_be_bytes([e[at], e[at + 1]]);
        (half(0x02), half(0x3c), half(0x2c), half(0x2e))
    };
    assert_eq!(entry(&net, 0), (0, 0, 3, 142));
    assert_eq!(entry(&net, 1), (0, 3, 3, 142));
    assert_eq!(entry(&net, 2), (0, 6, 0x8002, 0));
    assert_eq!(entry(&net, 3), (3, 0, 3, 142));
    assert_eq!(entry(&net, 4), (3, 3, 3, 142));
    assert_eq!(entry(&net, 5), (3, 6, 0x8002, 0));
    let at = RECEIVE_BUFFERS + 3 * 512 + 3 * 64;
    assert_eq!(net.rig.peek(at, 6), [2, 0, 0, 0, 0, 1]);
    // The last frame found no request.
    assert_eq!(net.rig.device.net.diagnostics.out_of_buffer, 1);
    assert!(net.rig.rules().is_empty());
}

#[test]
fn requests_that_fail_end_the_queue() {
    /// Rule, syndrome, and what breaks it.
    type Case = (&'static str, u8, fn(&mut Vec<u8>));
    let wrong: [Case; 6] = [
        ("wqe", 0x02, |w| w[3] = 0x3f),
        ("wqe", 0x02, |w| w[2] = 9),
        ("wqe", 0x02, |w| w[6] ^= 1),
        ("wqe", 0x01, |w| w[7] = 9),
        ("wqe-key", 0x04, |w| w[39] ^= 1),
        ("wqe-key", 0x04, |w| w[40] = 0x80),
    ];
    for (rule, syndrome, spoil) in wrong {
        let mut net = Net::new();
        let bytes = net.ping();
        let mut request = net.send_request(wqe::opcode::SEND, bytes);
        let good = request[..8].to_vec();
        spoil(&mut request);
        net.rig.put(SQ, &request);
        net.rig.put(RECORDS + 36, &1u32.to_be_bytes());
        net.ring(&good);
        assert_eq!(net.rig.rules(), [rule], "{request:02x?}");
        let e = net.cqe(SEND_CQ, 0);
        assert_eq!((e[0x3f] >> 4, e[0x37]), (0xd, syndrome));
        // The next request is flushed, until the queue is brought back.
        net.producer = 1;
        let nop = net.send_request(wqe::opcode::NOP, 0);
        net.post(&nop);
        assert_eq!(net.cqe(SEND_CQ, 1)[0x37], 0x05);
        net.move_sq(state::ERR, state::RST, OK);
        net.move_sq(state::RST, state::RDY, OK);
        net.producer = 0;
        let nop = net.send_request(wqe::opcode::NOP, 0);
        net.post(&nop);
        assert_eq!(net.cqe(SEND_CQ, 2)[0x3f], 0x00);
        assert!(net.rig.rules().is_empty());
    }
}

#[test]
fn doorbells() {
    let mut net = Net::new();
    let nop = net.send_request(wqe::opcode::NOP, 0);
    net.ring(&[0, 0, 0, 0, 0, 0, 99, 1]);
    assert_eq!(net.rig.rules(), ["sq-doorbell"]);
    net.rig.put(RECORDS + 36, &99u32.to_be_bytes());
    net.ring(&nop[..8]);
    assert_eq!(net.rig.rules(), ["sq-doorbell"]);
    net.rig.put(RECORDS + 36, &0u32.to_be_bytes());
    net.move_sq(state::RDY, state::RST, OK);
    net.ring(&nop[..8]);
    assert_eq!(net.rig.rules(), ["object-state"]);
    net.arm(99, 0, 0);
    assert_eq!(net.rig.rules(), ["cq-doorbell"]);
    net.arm(net.cqs[0], 0, 5);
    assert_eq!(net.rig.rules(), ["cq-doorbell"]);
    let at = u64::from(net.uar) * 4096 + 0x800;
    crate::mmio::write(&mut net.rig.device, at, &[0; 3]);
    assert_eq!(net.rig.rules(), ["mmio-access"]);
}

#[test]
fn completion_queues() {
    let mut net = Net::new();
    let (uar, eq) = (net.uar.into(), net.eq);
    // Entries of zeros look like those of the first pass.
    let ring = FREE + 0x7000;
    let create = create_cq(uar, eq, ring, RECORDS + 64);
    net.rig.ok(&create, 16);
    assert_eq!(net.rig.rules(), ["cq-buffer"]);
    for (field, value, status) in [
        (cqc::DBR_ADDR, RECORDS + 4, BAD_PARAM),
        (cqc::DBR_ADDR, 0, BAD_PARAM),
        (cqc::LOG_CQ_SIZE, 31, BAD_PARAM),
        (cqc::LOG_CQ_SIZE, 9, BAD_INPUT_LENGTH),
        (cqc::C_EQN_OR_APU_ELEMENT, 99, BAD_RESOURCE),
        (cqc::UAR_PAGE, 99, BAD_RESOURCE),
    ] {
        fill_cq(&mut net.rig, ring);
        let mut bad = create.clone();
        bits::set(&mut bad, create_cq_in::CQ_CONTEXT / field, value);
        assert_eq!(net.rig.send(&bad, 16).status, status, "{field:?} {value}");
        assert_eq!(net.rig.rules().len(), 1);
    }
    // Nobody consumes: the seventeenth entry does not fit.
    for _ in 0..17 {
        let nop = net.send_request(wqe::opcode::NOP, 0);
        net.post(&nop);
    }
    assert_eq!(net.rig.rules(), ["cq-overrun"]);
}

#[test]
fn receive_queues() {
    let mut net = Net::new();
    let bytes = net.ping();
    net.post_buffers(1);
    net.rig.put(RECORDS + 48, &99u32.to_be_bytes());
    let request = net.send_request(wqe::opcode::SEND, bytes);
    net.post(&request);
    assert_eq!(net.rig.rules(), ["rq-record"]);
    // A buffer that is too small fails the queue.
    net.post_buffers(1);
    net.rig.put(RQ, &16u32.to_be_bytes());
    let request = net.send_request(wqe::opcode::SEND, bytes);
    net.post(&request);
    assert_eq!(net.rig.rules(), ["rqe"]);
    assert_eq!(net.cqe(RECEIVE_CQ, 0)[0x3f] >> 4, 0xe);
    assert_eq!(net.rig.device.net.rqs[&(net.rq as u32)].state, state::ERR);
}

#[test]
fn what_is_in_use_stays() {
    let mut net = Net::new();
    let busy: [(u16, usize, Field, u64); 7] = [
        (opcode::DEALLOC_PD, 16, dealloc_pd_in::PD, net.pd),
        (opcode::DESTROY_CQ, 16, destroy_cq_in::CQN, net.cqs[0]),
        (opcode::DESTROY_EQ, 16, destroy_eq_in::EQ_NUMBER, net.eq),
        (opcode::DESTROY_TIS, 16, destroy_tis_in::TISN, net.tis),
        (opcode::DESTROY_RQ, 16, destroy_rq_in::RQN, net.rq),
        (opcode::DESTROY_RQT, 16, destroy_rqt_in::RQTN, net.rqt),
        (opcode::DESTROY_TIR, 16, destroy_tir_in::TIRN, net.tir),
    ];
    for (code, length, field, n) in busy {
        let destroy = command(code, length, &[(field, n)]);
        assert_eq!(net.rig.send(&destroy, 16).status, RESOURCE_BUSY, "{code:x}");
        assert_eq!(net.rig.rules(), ["object-busy"]);
    }
    let destroy = command(
        opcode::DESTROY_FLOW_GROUP,
        destroy_flow_group_in::BYTES,
        &[
            (destroy_flow_group_in::TABLE_ID, net.table),
            (destroy_flow_group_in::GROUP_ID, net.group),
        ],
    );
    assert_eq!(net.rig.send(&destroy, 16).status, RESOURCE_BUSY);
    net.rig.rules();
    // In the order of a driver that goes.
    /// Opcode, length of the input, fields.
    type Step = (u16, usize, Vec<(Field, u64)>);
    let order: [Step; 5] = [
        (
            opcode::DELETE_FLOW_TABLE_ENTRY,
            delete_fte_in::BYTES,
            vec![(delete_fte_in::TABLE_ID, net.table)],
        ),
        (
            opcode::DESTROY_FLOW_GROUP,
            destroy_flow_group_in::BYTES,
            vec![
                (destroy_flow_group_in::TABLE_ID, net.table),
                (destroy_flow_group_in::GROUP_ID, net.group),
            ],
        ),
        (
            opcode::DESTROY_FLOW_TABLE,
            destroy_flow_table_in::BYTES,
            vec![(destroy_flow_table_in::TABLE_ID, net.table)],
        ),
        (
            opcode::DESTROY_TIR,
            16,
            vec![(destroy_tir_in::TIRN, net.tir)],
        ),
        (
            opcode::DESTROY_RQT,
            16,
            vec![(destroy_rqt_in::RQTN, net.rqt)],
        ),
    ];
    for (code, length, fields) in order {
        net.rig.ok(&command(code, length, &fields), 16);
    }
    for (kind, n) in [(Kind::FlowTable, net.table), (Kind::Tir, net.tir)] {
        assert!(!net.rig.device.objects.exists(kind, n as u32));
    }
    net.move_sq(state::ERR, state::RST, BAD_RES_STATE);
    assert_eq!(net.rig.rules(), ["object-state"]);
}

#[test]
fn a_guest_that_writes_anything_does_no_harm() {
    let mut net = Net::new();
    net.post_buffers(16);
    // A generator of numbers without randomness, so that a failure comes again.
    let mut seed = 0x1234_5678_9abc_def1u64;
    let mut next = move || {
        seed ^= seed << 13;
        seed ^= seed >> 7;
        seed ^= seed << 17;
        seed
    };
    for round in 0..3000u64 {
        let bytes = net.ping();
        let mut request = net.send_request(wqe::opcode::SEND, bytes);
        for _ in 0..next() % 4 {
            let at = (next() % 64) as usize;
            request[at] = next() as u8;
        }
        if round % 7 == 0 {
            let at = SEND_BUFFER + next() % 60;
            net.rig.put(at, &next().to_be_bytes());
        }
        if round % 11 == 0 {
            let at = RQ + next() % 256;
            net.rig.put(at, &next().to_be_bytes());
        }
        if round % 5 == 0 {
            let at = RECORDS + (next() % 80);
            net.rig.put(at, &next().to_be_bytes());
        }
        net.post(&request);
        net.arm(next() % 6, (next() % 4) as u32, (next() & 0xff_ffff) as u32);
        let ci = net.rig.device.net.cqs[&(net.cqs[0] as u32)].pi;
        net.rig.put(RECORDS, &ci.to_be_bytes());
        if round % 3 == 0 {
            for (from, to) in [(3, 0), (0, 1)] {
                let fields = [
                    (modify_sq_in::SQN, net.sq),
                    (modify_sq_in::SQ_STATE, from),
                    (modify_sq_in::CTX / sqc::STATE, to),
                ];
                let modify = command(opcode::MODIFY_SQ, modify_sq_in::BYTES, &fields);
                net.rig.send(&modify, 16);
            }
            net.producer = net.rig.device.net.sqs[&(net.sq as u32)].counter;
        }
        let rules = net.rig.rules();
        assert!(!rules.contains(&"model"), "round {round}");
    }
}
