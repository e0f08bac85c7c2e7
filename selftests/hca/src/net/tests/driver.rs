// SPDX-License-Identifier: GPL-2.0

//! A driver in miniature: makes all that a netdev needs, posts requests and buffers, rings.

use crate::bits;
use crate::command::status::OK;
use crate::harness::{
    command,
    create_eq,
    Rig,
    FREE, //
};
use crate::ifc::fields::*;
use crate::ifc::{
    opcode,
    Field, //
};

use crate::net::checksum;
use crate::net::frame::tests::ipv4_frame;
use crate::net::state;
use crate::net::transmit::rq_num;
use crate::net::wire;
use crate::net::wqe;

/// Where the queues of the small driver are.
pub const EQ: u64 = FREE;
pub const SEND_CQ: u64 = FREE + 0x1000;
pub const RECEIVE_CQ: u64 = FREE + 0x2000;
pub const SQ: u64 = FREE + 0x3000;
pub const RQ: u64 = FREE + 0x4000;
/// Doorbell records, 16 bytes apart.
pub const RECORDS: u64 = FREE + 0x5000;
pub const SEND_BUFFER: u64 = FREE + 0x6000;
pub const RECEIVE_BUFFERS: u64 = FREE + 0x8000;

pub const CQE_BYTES: u64 = 64;
pub const LOG_CQES: u64 = 4;

/// The driver: numbers of what it made.
pub struct Net {
    pub rig: Rig,
    pub uar: u32,
    pub eq: u64,
    pub pd: u64,
    pub key: u64,
    pub cqs: [u64; 2],
    pub tis: u64,
    pub sq: u64,
    pub rq: u64,
    pub rqt: u64,
    pub tir: u64,
    pub table: u64,
    pub group: u64,
    /// Counters of the send queue, and of arms of the receive CQ.
    pub producer: u16,
}

fn number(out: &[u8], f: Field) -> u64 {
    bits::get(out, f)
}

/// CREATE_CQ with a ring of one page.
pub fn create_cq(uar: u64, eq: u64, ring: u64, record: u64) -> Vec<u8> {
    let at = create_cq_in::CQ_CONTEXT;
    command(
        opcode::CREATE_CQ,
        create_cq_in::BYTES + 8,
        &[
            (at / cqc::LOG_CQ_SIZE, LOG_CQES),
            (at / cqc::UAR_PAGE, uar),
            (at / cqc::C_EQN_OR_APU_ELEMENT, eq),
            (at / cqc::DBR_ADDR, record),
            (create_cq_in::PAS.index(0), ring),
        ],
    )
}

pub fn fill_cq(rig: &mut Rig, ring: u64) {
    for i in 0..1 << LOG_CQES {
        rig.put(ring + i * CQE_BYTES + 0x3f, &[0xf1]);
    }
}

impl Net {
    /// Makes everything that a netdev needs: one channel, one flow table that sends all to it.
    pub fn new() -> Net {
        let mut rig = Rig::initialized("cx6dx");
        let out = rig.ok(&command(opcode::ALLOC_UAR, 16, &[]), 16);
        let uar = number(&out, alloc_uar_out::UAR);
        let eq = create_eq(&mut rig, EQ, uar, 0);
        let eq = number(&rig.ok(&eq, 16), create_eq_out::EQ_NUMBER);
        let out = rig.ok(&command(opcode::ALLOC_PD, 16, &[]), 16);
        let pd = number(&out, alloc_pd_out::PD);
        let out = rig.ok(&command(opcode::ALLOC_TRANSPORT_DOMAIN, 16, &[]), 16);
        let td = number(&out, alloc_transport_domain_out::TRANSPORT_DOMAIN);
        let at = create_mkey_in::MEMORY_KEY_MKEY_ENTRY;
        let fields = [
            (at / mkc::LR, 1),
            (at / mkc::LW, 1),
            (at / mkc::LENGTH64, 1),
            (at / mkc::PD, pd),
            (at / mkc::QPN, 0xff_ffff),
            (at / mkc::MKEY_7_0, 0x42),
        ];
        let create = command(opcode::CREATE_MKEY, create_mkey_in::BYTES, &fields);
        let key = (number(&rig.ok(&create, 16), create_mkey_out::MKEY_INDEX) << 8) | 0x42;
        let cqs = [SEND_CQ, RECEIVE_CQ].map(|ring| {
            fill_cq(&mut rig, ring);
            let record = RECORDS + if ring == SEND_CQ { 0 } else { 16 };
            let out = rig.ok(&create_cq(uar, eq, ring, record), 16);
            number(&out, create_cq_out::CQN)
        });
        let at = create_tis_in::CTX / tisc::TRANSPORT_DOMAIN;
        let create = command(opcode::CREATE_TIS, create_tis_in::BYTES, &[(at, td)]);
        let tis = number(&rig.ok(&create, 16), create_tis_out::TISN);
        let mut net = Net {
            rig,
            uar: uar as u32,
            eq,
            pd,
            key,
            cqs,
            tis,
            sq: 0,
            rq: 0,
            rqt: 0,
            tir: 0,
            table: 0,
            group: 0,
            producer: 0,
        };
        net.queues();
        net.dispatch(td);
        net.steering();
        assert!(net.rig.rules().is_empty());
        net
    }

    fn wq(&self, at: Field, stride: u64, ring: u64, record: u64) -> Vec<(Field, u64)> {
        vec![
            (at / wq::WQ_TYPE, 1),
            (at / wq::PD, self.pd),
            (at / wq::UAR_PAGE, self.uar.into()),
            (at / wq::DBR_ADDR, record),
            (at / wq::LOG_WQ_STRIDE, stride),
            (at / wq::LOG_WQ_SZ, 4),
            (at / wq::PAS, ring),
        ]
    }

    fn queues(&mut self) {
        let at = create_sq_in::CTX;
        let mut fields = self.wq(at / sqc::WQ, 6, SQ, RECORDS + 32);
        fields.extend([
            (at / sqc::CQN, self.cqs[0]),
            (at / sqc::TIS_LST_SZ, 1),
            (at / sqc::TIS_NUM_0, self.tis),
            (at / sqc::USER_INDEX, 0x77),
        ]);
        let create = command(opcode::CREATE_SQ, create_sq_in::BYTES + 8, &fields);
        self.sq = number(&self.rig.ok(&create, 16), create_sq_out::SQN);
        let at = create_rq_in::CTX;
        let mut fields = self.wq(at / rqc::WQ, 4, RQ, RECORDS + 48);
        fields.push((at / rqc::CQN, self.cqs[1]));
        let create = command(opcode::CREATE_RQ, create_rq_in::BYTES + 8, &fields);
        self.rq = number(&self.rig.ok(&create, 16), create_rq_out::RQN);
        self.move_sq(state::RST, state::RDY, OK);
        let fields = [
            (modify_rq_in::RQN, self.rq),
            (modify_rq_in::CTX / rqc::STATE, state::RDY.into()),
        ];
        self.rig.ok(
            &command(opcode::MODIFY_RQ, modify_rq_in::BYTES, &fields),
            16,
        );
    }

    pub fn move_sq(&mut self, from: u8, to: u8, wanted: u8) {
        let fields = [
            (modify_sq_in::SQN, self.sq),
            (modify_sq_in::SQ_STATE, from.into()),
            (modify_sq_in::CTX / sqc::STATE, to.into()),
        ];
        let modify = command(opcode::MODIFY_SQ, modify_sq_in::BYTES, &fields);
        assert_eq!(self.rig.send(&modify, 16).status, wanted, "{from} to {to}");
    }

    fn dispatch(&mut self, td: u64) {
        let at = create_rqt_in::RQT_CONTEXT;
        let fields = [
            (at / rqtc::RQT_MAX_SIZE, 1),
            (at / rqtc::RQT_ACTUAL_SIZE, 1),
            (at / rq_num(0), self.rq),
        ];
        let create = command(opcode::CREATE_RQT, create_rqt_in::BYTES + 4, &fields);
        self.rqt = number(&self.rig.ok(&create, 16), create_rqt_out::RQTN);
        let at = create_tir_in::CTX;
        let select = at / tirc::RX_HASH_FIELD_SELECTOR_OUTER;
        let fields = [
            (at / tirc::DISP_TYPE, 1),
            (at / tirc::INDIRECT_TABLE, self.rqt),
            (at / tirc::TRANSPORT_DOMAIN, td),
            (at / tirc::RX_HASH_FN, 2),
            (select / rx_hash_field_select::SELECTED_FIELDS, 3),
        ];
        let create = command(opcode::CREATE_TIR, create_tir_in::BYTES, &fields);
        self.tir = number(&self.rig.ok(&create, 16), create_tir_out::TIRN);
    }

    fn steering(&mut self) {
        let create = command(opcode::CREATE_FLOW_TABLE, create_flow_table_in::BYTES, &[]);
        self.table = number(&self.rig.ok(&create, 16), create_flow_table_out::TABLE_ID);
        let fields = [(create_flow_group_in::TABLE_ID, self.table)];
        let create = command(
            opcode::CREATE_FLOW_GROUP,
            create_flow_group_in::BYTES,
            &fields,
        );
        self.group = number(&self.rig.ok(&create, 16), create_flow_group_out::GROUP_ID);
        let at = set_fte_in::FLOW_CONTEXT;
        let to = at / flow_context::DESTINATION;
        let fields = [
            (set_fte_in::TABLE_ID, self.table),
            (at / flow_context::GROUP_ID, self.group),
            (at / flow_context::ACTION, 4),
            (at / flow_context::FLOW_TAG, 0x1234),
            (at / flow_context::DESTINATION_LIST_SIZE, 1),
            (to / dest_format_struct::DESTINATION_TYPE, 2),
            (to / dest_format_struct::DESTINATION_ID, self.tir),
        ];
        let set = command(opcode::SET_FLOW_TABLE_ENTRY, set_fte_in::BYTES + 8, &fields);
        self.rig.ok(&set, 16);
        let fields = [(set_flow_table_root_in::TABLE_ID, self.table)];
        let root = command(
            opcode::SET_FLOW_TABLE_ROOT,
            set_flow_table_root_in::BYTES,
            &fields,
        );
        self.rig.ok(&root, 16);
        // The address to which the host's answers go.
        let at = set_l2_table_entry_in::MAC_ADDRESS / mac_address_layout::MAC_ADDR_47_32;
        let mut set = command(
            opcode::SET_L2_TABLE_ENTRY,
            set_l2_table_entry_in::BYTES,
            &[],
        );
        bits::set_bytes(&mut set, at, &[2, 0, 0, 0, 0, 1]);
        self.rig.ok(&set, 16);
    }

    /// Takes a queue of requests of eight strides of 64 bytes, linked in a list, in place of the
    /// other: its only user is the table of queues.
    pub fn use_strides(&mut self) {
        let at = create_rq_in::CTX;
        let mut fields = self.wq(at / rqc::WQ, 5, RQ, RECORDS + 64);
        fields.extend([
            (at / rqc::CQN, self.cqs[1]),
            (at / rqc::WQ / wq::WQ_TYPE, 2),
            (at / rqc::WQ / wq::LOG_WQ_SZ, 2),
            // Eight is 2^-6 times 2^9.
            (at / rqc::WQ / wq::LOG_WQE_NUM_OF_STRIDES, 0x10 - 6),
        ]);
        let create = command(opcode::CREATE_RQ, create_rq_in::BYTES + 8, &fields);
        self.rq = number(&self.rig.ok(&create, 16), create_rq_out::RQN);
        let fields = [
            (modify_rq_in::RQN, self.rq),
            (modify_rq_in::CTX / rqc::STATE, state::RDY.into()),
        ];
        let modify = command(opcode::MODIFY_RQ, modify_rq_in::BYTES, &fields);
        self.rig.ok(&modify, 16);
        let at = modify_rqt_in::CTX;
        let fields = [
            (modify_rqt_in::RQTN, self.rqt),
            (modify_rqt_in::BITMASK / rqt_bitmask::RQN_LIST, 1),
            (at / rqtc::RQT_ACTUAL_SIZE, 1),
            (at / rq_num(0), self.rq),
        ];
        let modify = command(opcode::MODIFY_RQT, modify_rqt_in::BYTES + 4, &fields);
        self.rig.ok(&modify, 16);
    }

    /// Posts requests of that kind: request `i` is followed by the next of `order`.
    pub fn post_strides(&mut self, order: &[u64]) {
        for (i, at) in order.iter().enumerate() {
            let follows = order.get(i + 1).copied().unwrap_or(0);
            let mut s = vec![0, 0, 0, follows as u8];
            s.resize(16, 0);
            s.extend(512u32.to_be_bytes());
            s.extend((self.key as u32).to_be_bytes());
            s.extend((RECEIVE_BUFFERS + at * 512).to_be_bytes());
            self.rig.put(RQ + at * 32, &s);
        }
        self.rig
            .put(RECORDS + 64, &(order.len() as u32).to_be_bytes());
    }

    /// Posts `n` receive buffers of 2048 bytes.
    pub fn post_buffers(&mut self, n: u16) {
        for i in 0..u64::from(n) {
            let mut s = 2048u32.to_be_bytes().to_vec();
            s.extend((self.key as u32).to_be_bytes());
            s.extend((RECEIVE_BUFFERS + i * 2048).to_be_bytes());
            self.rig.put(RQ + i * 16, &s);
        }
        self.rig.put(RECORDS + 48, &u32::from(n).to_be_bytes());
    }

    /// A request of one block: SEND of `bytes` in the send buffer.
    pub fn send_request(&self, opcode: u8, bytes: u32) -> Vec<u8> {
        let mut w = vec![0; wqe::BLOCK];
        let first = (u32::from(self.producer) << 8) | u32::from(opcode);
        w[..4].copy_from_slice(&first.to_be_bytes());
        let segments = if opcode == wqe::opcode::NOP { 1 } else { 3 };
        w[4..8].copy_from_slice(&(((self.sq as u32) << 8) | segments).to_be_bytes());
        w[0x0b] = 8;
        // Checksums of both layers.
        w[20] = 0xc0;
        w[32..36].copy_from_slice(&bytes.to_be_bytes());
        w[36..40].copy_from_slice(&(self.key as u32).to_be_bytes());
        w[40..48].copy_from_slice(&SEND_BUFFER.to_be_bytes());
        w
    }

    /// Posts a request and rings.
    pub fn post(&mut self, request: &[u8]) {
        let at = SQ + u64::from(self.producer & 15) * 64;
        self.rig.put(at, request);
        self.producer = self.producer.wrapping_add(1);
        self.rig
            .put(RECORDS + 36, &u32::from(self.producer).to_be_bytes());
        self.ring(&request[..8]);
    }

    pub fn ring(&mut self, words: &[u8]) {
        let at = u64::from(self.uar) * 4096 + 0x800;
        crate::mmio::write(&mut self.rig.device, at, words);
    }

    pub fn arm(&mut self, cq: u64, sequence: u32, ci: u32) {
        let record = RECORDS + 4 + if cq == self.cqs[0] { 0 } else { 16 };
        let word = (sequence << 28) | ci;
        self.rig.put(record, &word.to_be_bytes());
        let mut both = word.to_be_bytes().to_vec();
        both.extend((cq as u32).to_be_bytes());
        let at = u64::from(self.uar) * 4096 + 0x20;
        crate::mmio::write(&mut self.rig.device, at, &both);
    }

    pub fn cqe(&self, ring: u64, index: u64) -> Vec<u8> {
        self.rig.peek(ring + index * CQE_BYTES, 64)
    }

    /// Puts an echo request to the host into the send buffer; its checksums are left out.
    pub fn ping(&mut self) -> u32 {
        let mut echo = vec![8, 0, 0, 0, 0, 1, 0, 1];
        echo.extend([0x5a; 100]);
        let sum = checksum::finish(checksum::add(0, &echo)).to_be_bytes();
        echo[2..4].copy_from_slice(&sum);
        let mut f = ipv4_frame(1, &echo);
        f[..6].copy_from_slice(&wire::MAC);
        f[24..26].fill(0);
        self.rig.put(SEND_BUFFER, &f);
        f.len() as u32
    }
}
