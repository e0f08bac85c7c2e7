// SPDX-License-Identifier: GPL-2.0

//! Receive queues: scatter a frame to posted buffers and complete it.

use super::arrival::{
    describe,
    put16,
    put32,
    Arrival, //
};
use super::cq::{
    self,
    at,
    syndrome,
    Cqe,
    CQE_BYTES, //
};
use super::frame::MINIMUM;
use super::mkey::{
    self,
    Access,
    Piece, //
};
use super::ring::Ring;
use super::{
    checksum,
    state,
    striding, //
};
use crate::bits;
use crate::device::Device;
use crate::ifc::fields::{
    rqc,
    wq, //
};
use crate::rules::Rule;

/// `wq.wq_type`. Source: `MLX5_WQ_TYPE_*` of the kernel's header.
pub mod kind {
    pub const LINKED_LIST: u8 = 0;
    pub const CYCLIC: u8 = 1;
    pub const LINKED_LIST_STRIDING: u8 = 2;
    pub const CYCLIC_STRIDING: u8 = 3;
}

/// Key of the segment that ends a scatter list. Source: `MLX5_TERMINATE_SCATTER_LIST_LKEY`.
const TERMINATE: u32 = 0x100;

/// Size of a data segment, and of the segment that links requests of a list.
pub const SEGMENT: usize = 16;

/// Bit 31 of a receive segment's size asks for start padding.
const SIZE_MASK: u32 = 0x7fff_ffff;

/// A receive queue.
#[derive(Debug, Clone)]
pub struct Rq {
    pub number: u32,
    pub kind: u8,
    pub ring: Ring,
    /// Bus address of the doorbell record; its first word is the producer counter.
    pub record: u64,
    pub cq: u32,
    pub pd: u32,
    pub state: u8,
    /// Requests consumed.
    pub counter: u16,
    /// Index of the current request of a list.
    pub head: u16,
    /// Strides of the current request that are used.
    pub used: u32,
    pub strides: u32,
    pub log_stride: u32,
    pub two_byte_shift: bool,
    pub user_index: u32,
    pub counter_set: u8,
    /// It may use the reserved key.
    pub reserved_key: bool,
    pub keep_vlan: bool,
    pub keep_fcs: bool,
    pub flush: bool,
    pub context: Vec<u8>,
}

impl Rq {
    /// A queue from its context, as after CREATE_RQ.
    pub fn new(number: u32, ring: Ring, context: &[u8]) -> Rq {
        // Strides are stated from 2^9 up; less is negative. Their size is from 64 bytes up.
        let log_strides = match bits::get32(context, rqc::WQ / wq::LOG_WQE_NUM_OF_STRIDES) {
            n @ 0..=7 => 9 + n,
            n => n - 7,
        };
        Rq {
            number,
            kind: bits::get(context, rqc::WQ / wq::WQ_TYPE) as u8,
            ring,
            record: bits::get(context, rqc::WQ / wq::DBR_ADDR),
            cq: bits::get32(context, rqc::CQN),
            pd: bits::get32(context, rqc::WQ / wq::PD),
            state: state::RST,
            counter: 0,
            head: 0,
            used: 0,
            strides: 1 << log_strides,
            log_stride: 6 + bits::get32(context, rqc::WQ / wq::LOG_WQE_STRIDE_SIZE),
            two_byte_shift: bits::flag(context, rqc::WQ / wq::TWO_BYTE_SHIFT_EN),
            user_index: bits::get32(context, rqc::USER_INDEX),
            counter_set: bits::get(context, rqc::COUNTER_SET_ID) as u8,
            reserved_key: bits::flag(context, rqc::RLKY),
            keep_vlan: bits::flag(context, rqc::VSD),
            keep_fcs: bits::flag(context, rqc::SCATTER_FCS),
            flush: bits::flag(context, rqc::FLUSH_IN_ERROR_EN),
            context: context.to_vec(),
        }
    }

    /// Back to the start: a move to RST.
    pub fn reset(&mut self) {
        (self.counter, self.head, self.used) = (0, 0, 0);
    }

    pub fn is_striding(&self) -> bool {
        matches!(
            self.kind,
            kind::LINKED_LIST_STRIDING | kind::CYCLIC_STRIDING
        )
    }

    pub fn is_list(&self) -> bool {
        matches!(self.kind, kind::LINKED_LIST | kind::LINKED_LIST_STRIDING)
    }

    /// Index of the current request in the ring.
    fn index(&self) -> u16 {
        if self.is_list() {
            self.head
        } else {
            self.counter & (self.ring.entries().saturating_sub(1) & 0xffff) as u16
        }
    }

    /// A completion entry without the parts that a frame has.
    pub fn cqe(&self, code: u8) -> Cqe {
        let mut e = [0; CQE_BYTES];
        put32(&mut e, at::USER_INDEX, self.user_index);
        let counter = if self.is_striding() {
            put16(&mut e, at::WQE_ID, self.index());
            self.used.min(0xffff) as u16
        } else if self.is_list() {
            self.index()
        } else {
            self.counter
        };
        put16(&mut e, at::WQE_COUNTER, counter);
        e[at::OPCODE_OWNER] = code << 4;
        e
    }
}

/// Delivers a frame to a queue. Returns false if it was dropped.
pub fn deliver(device: &mut Device, number: u32, arrival: &Arrival<'_>) -> bool {
    let Some(mut rq) = device.net.rqs.get(&number).cloned() else {
        return false;
    };
    if rq.state != state::RDY {
        return false;
    }
    let done = place(device, &mut rq, arrival);
    device.net.rqs.insert(number, rq);
    done
}

fn place(device: &mut Device, rq: &mut Rq, arrival: &Arrival<'_>) -> bool {
    let mut data = arrival.frame.to_vec();
    if rq.keep_fcs {
        if data.len() < MINIMUM {
            data.resize(MINIMUM, 0);
        }
        data.extend(checksum::frame_check(&data));
    }
    let tag = arrival.headers.tags.first().filter(|_| !rq.keep_vlan);
    if tag.is_some() {
        data.drain(12..16);
    }
    let outcome = if rq.is_striding() {
        striding::place(device, rq, &data)
    } else {
        buffers(device, rq, &data)
    };
    let (mut entry, advance) = match outcome {
        Ok(Some(placed)) => placed,
        Ok(None) => return false,
        Err(text) => {
            fail(device, rq, text);
            return false;
        }
    };
    describe(&mut entry, arrival);
    if let Some((_, tci)) = tag {
        entry[at::HEADER_TYPES] |= 1;
        put16(&mut entry, at::VLAN, *tci);
    }
    super::complete(device, rq.cq, entry);
    if advance {
        next(device, rq);
    }
    true
}

/// Number of requests that are posted and not consumed; counts a drop if there is none.
pub fn available(device: &mut Device, rq: &Rq) -> Result<u16, String> {
    let mut word = [0; 4];
    device
        .memory
        .read(rq.record, &mut word)
        .map_err(|f| f.to_string())?;
    let posted = (u32::from_be_bytes(word) as u16).wrapping_sub(rq.counter);
    if u32::from(posted) > rq.ring.entries() {
        let text = format!(
            "RQ 0x{:x} of {} requests: the record is {posted} ahead of {}",
            rq.number,
            rq.ring.entries(),
            rq.counter
        );
        device.violation(Rule::RqRecord, "RQ", text);
        return Ok(0);
    }
    Ok(posted)
}

/// Bytes of the current request.
pub fn request(device: &Device, rq: &Rq) -> Result<Vec<u8>, String> {
    let mut request = vec![0; rq.ring.stride()];
    let position = rq.ring.position(rq.index().into());
    rq.ring
        .read(&device.memory, position, &mut request)
        .map_err(|f| f.to_string())?;
    Ok(request)
}

/// Moves on to the next request.
pub fn next(device: &mut Device, rq: &mut Rq) {
    rq.counter = rq.counter.wrapping_add(1);
    rq.used = 0;
    if rq.is_list() {
        // Bytes 3:2 of the link.
        let mut link = [0; 4];
        let position = rq.ring.position(rq.head.into());
        if let Err(f) = rq.ring.read(&device.memory, position, &mut link) {
            device.violation(Rule::Dma, "RQ", format!("RQ 0x{:x}: {f}", rq.number));
        }
        rq.head = u16::from_be_bytes([link[2], link[3]]);
    }
}

/// Scatter list of a request: key, address and size of each buffer.
pub fn scatter_list(request: &[u8]) -> Vec<(u32, u64, u32)> {
    let word = |s: &[u8], i: usize| u32::from_be_bytes([s[i], s[i + 1], s[i + 2], s[i + 3]]);
    request
        .chunks_exact(SEGMENT)
        .map(|s| {
            let address = (u64::from(word(s, 8)) << 32) | u64::from(word(s, 12));
            (word(s, 4), address, word(s, 0) & SIZE_MASK)
        })
        .take_while(|(key, _, bytes)| *key != TERMINATE && *bytes > 0)
        .collect()
}

/// Where an address of a queue's buffers is in memory.
pub fn pieces(
    device: &Device,
    rq: &Rq,
    key: u32,
    address: u64,
    bytes: u64,
) -> Result<Vec<Piece>, String> {
    let access = Access {
        key,
        address,
        bytes,
        write: true,
        pd: rq.pd,
        reserved: rq.reserved_key,
    };
    mkey::translate(&device.objects, access)
}

/// Writes data over pieces of memory.
pub fn store(device: &Device, pieces: &[Piece], mut data: &[u8]) -> Result<(), String> {
    for p in pieces {
        let n = usize::try_from(p.bytes)
            .unwrap_or(usize::MAX)
            .min(data.len());
        device
            .memory
            .write(p.address, &data[..n])
            .map_err(|f| f.to_string())?;
        data = &data[n..];
    }
    Ok(())
}

/// What became of a frame: its completion entry, and whether the request is used up; None if it was
/// dropped.
pub type Placed = Option<(Cqe, bool)>;

/// One request a frame.
fn buffers(device: &mut Device, rq: &Rq, data: &[u8]) -> Result<Placed, String> {
    if available(device, rq)? == 0 {
        super::out_of_buffer(device, rq.counter_set);
        return Ok(None);
    }
    let request = request(device, rq)?;
    let start = if rq.is_list() { SEGMENT } else { 0 };
    let mut rest = data;
    for (key, address, bytes) in scatter_list(request.get(start..).unwrap_or(&[])) {
        let n = rest.len().min(bytes as usize);
        if n == 0 {
            break;
        }
        let to = pieces(device, rq, key, address, n as u64)?;
        store(device, &to, &rest[..n])?;
        rest = &rest[n..];
    }
    if !rest.is_empty() {
        return Err(format!(
            "{} bytes of {} do not fit the buffers",
            rest.len(),
            data.len()
        ));
    }
    let mut entry = rq.cqe(cq::opcode::RESPONSE_SEND);
    put32(&mut entry, at::BYTE_COUNT, data.len() as u32);
    Ok(Some((entry, true)))
}

/// A request that cannot take its frame ends in error, and the queue with it.
fn fail(device: &mut Device, rq: &mut Rq, text: String) {
    device.violation(Rule::Rqe, "RQ", format!("RQ 0x{:x}: {text}", rq.number));
    let mut entry = rq.cqe(cq::opcode::RESPONSE_ERROR);
    entry[at::SYNDROME] = syndrome::LOCAL_PROTECTION;
    entry[at::VENDOR_SYNDROME] = Rule::Rqe as u16 as u8;
    super::complete(device, rq.cq, entry);
    next(device, rq);
    rq.state = state::ERR;
    let d = &mut device.net.diagnostics;
    d.queue_errors = d.queue_errors.wrapping_add(1);
    if rq.flush {
        flush(device, rq);
    }
}

/// Completes what is posted on a queue in error.
pub fn flush(device: &mut Device, rq: &mut Rq) {
    let posted = available(device, rq).unwrap_or(0);
    for _ in 0..posted {
        let mut entry = rq.cqe(cq::opcode::RESPONSE_ERROR);
        entry[at::SYNDROME] = syndrome::FLUSHED;
        if rq.is_striding() {
            let left = rq.strides.saturating_sub(rq.used);
            put32(&mut entry, at::BYTE_COUNT, left << 16);
        }
        super::complete(device, rq.cq, entry);
        next(device, rq);
    }
}
