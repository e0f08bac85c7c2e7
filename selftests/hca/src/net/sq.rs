// SPDX-License-Identifier: GPL-2.0

//! Send queues: fetches work requests from guest memory and carries them out.

use super::cq::{
    self,
    at,
    syndrome,
    Cqe,
    CQE_BYTES, //
};
use super::mkey::{
    self,
    Access, //
};
use super::ring::Ring;
use super::wqe::{
    self,
    opcode,
    Control,
    Data, //
};
use super::{
    offload,
    state,
    transmit,
    umr, //
};
use crate::bits;
use crate::device::Device;
use crate::ifc::fields::{
    sqc,
    wq, //
};
use crate::rules::Rule;

/// Largest frame or large send that the device gathers. Source: capability `max_lso_cap` (18).
const MAX_GATHER: usize = 1 << 18;

/// A send queue.
#[derive(Debug, Clone)]
pub struct Sq {
    pub number: u32,
    pub ring: Ring,
    /// Bus address of the doorbell record; its second word is the producer counter.
    pub record: u64,
    pub cq: u32,
    pub pd: u32,
    pub uar: u32,
    pub state: u8,
    /// Counter of the next block to fetch.
    pub counter: u16,
    pub user_index: u32,
    pub may_umr: bool,
    /// It may use the reserved key.
    pub reserved_key: bool,
    /// It sends frames: it has a TIS.
    pub has_tis: bool,
    pub context: Vec<u8>,
}

/// Why a request failed: the syndrome of its completion, and the reason for the log.
struct Failure {
    syndrome: u8,
    rule: Rule,
    text: String,
}

fn operation(text: impl Into<String>) -> Failure {
    Failure {
        syndrome: syndrome::LOCAL_QP_OPERATION,
        rule: Rule::Wqe,
        text: text.into(),
    }
}

fn length(text: impl Into<String>) -> Failure {
    Failure {
        syndrome: syndrome::LOCAL_LENGTH,
        rule: Rule::Wqe,
        text: text.into(),
    }
}

fn protection(text: impl Into<String>) -> Failure {
    Failure {
        syndrome: syndrome::LOCAL_PROTECTION,
        rule: Rule::WqeKey,
        text: text.into(),
    }
}

impl Sq {
    /// A queue from its context, as after CREATE_SQ.
    pub fn new(number: u32, ring: Ring, context: &[u8]) -> Sq {
        Sq {
            number,
            ring,
            record: bits::get(context, sqc::WQ / wq::DBR_ADDR),
            cq: bits::get32(context, sqc::CQN),
            pd: bits::get32(context, sqc::WQ / wq::PD),
            uar: bits::get32(context, sqc::WQ / wq::UAR_PAGE),
            state: state::RST,
            counter: 0,
            user_index: bits::get32(context, sqc::USER_INDEX),
            may_umr: bits::flag(context, sqc::REG_UMR),
            reserved_key: bits::flag(context, sqc::RLKY),
            has_tis: bits::get(context, sqc::TIS_LST_SZ) > 0,
            context: context.to_vec(),
        }
    }

    /// A completion entry for a request.
    fn cqe(&self, code: u8, control: &Control) -> Cqe {
        let mut e = [0; CQE_BYTES];
        e[at::USER_INDEX..at::USER_INDEX + 4].copy_from_slice(&self.user_index.to_be_bytes());
        let who = (u32::from(control.opcode) << 24) | self.number & 0x00ff_ffff;
        e[at::OPCODE_QPN..at::OPCODE_QPN + 4].copy_from_slice(&who.to_be_bytes());
        e[at::WQE_COUNTER..at::WQE_COUNTER + 2].copy_from_slice(&control.index.to_be_bytes());
        e[at::OPCODE_OWNER] = code << 4;
        if control.solicited() {
            e[at::OPCODE_OWNER] |= cq::SOLICITED;
        }
        e
    }
}

/// Takes a doorbell: the first words of the newest request.
pub fn doorbell(device: &mut Device, uar: u32, first: u32, second: u32) {
    let number = second >> 8;
    let subject = "SQ doorbell";
    let Some(sq) = device.net.sqs.get(&number) else {
        let text = format!("SQ 0x{number:x} does not exist (value {first:08x} {second:08x})");
        device.violation(Rule::SqDoorbell, subject, text);
        return;
    };
    if sq.uar != uar {
        let text = format!(
            "SQ 0x{number:x} belongs to UAR 0x{:x}, not to 0x{uar:x}",
            sq.uar
        );
        device.violation(Rule::SqDoorbell, subject, text);
        return;
    }
    if sq.state == state::RST {
        let text = format!("SQ 0x{number:x} is in state RST");
        device.violation(Rule::ObjectState, subject, text);
        return;
    }
    run(device, number);
}

/// Carries out what is posted on a queue.
pub fn run(device: &mut Device, number: u32) {
    // No other queue looks this one up meanwhile.
    let Some(mut sq) = device.net.sqs.remove(&number) else {
        return;
    };
    let mut word = [0; 4];
    match device.memory.read(sq.record.saturating_add(4), &mut word) {
        Ok(()) => work(device, &mut sq, u32::from_be_bytes(word)),
        Err(fault) => device.violation(Rule::Dma, "SQ", format!("SQ 0x{number:x}: {fault}")),
    }
    device.net.sqs.insert(number, sq);
}

fn work(device: &mut Device, sq: &mut Sq, record: u32) {
    let producer = record as u16;
    let posted = producer.wrapping_sub(sq.counter);
    if u32::from(posted) > sq.ring.entries() {
        let text = format!(
            "SQ 0x{:x} of {} blocks: the record says {producer}, {} is next",
            sq.number,
            sq.ring.entries(),
            sq.counter
        );
        device.violation(Rule::SqDoorbell, "SQ", text);
        return;
    }
    // Each request takes a block at least, so this ends.
    while sq.counter != producer {
        let left = producer.wrapping_sub(sq.counter);
        let start = sq.ring.position(sq.counter.into());
        let mut head = [0; wqe::SEGMENT];
        if let Err(fault) = sq.ring.read(&device.memory, start, &mut head) {
            device.violation(Rule::Dma, "SQ", format!("SQ 0x{:x}: {fault}", sq.number));
            return;
        }
        let mut control = Control::parse(&head);
        let outcome = if sq.state == state::ERR {
            Err(None)
        } else {
            one(device, sq, &control, left, start).map_err(Some)
        };
        let here = sq.counter;
        sq.counter = here.wrapping_add(control.blocks().min(left));
        match outcome {
            Ok(()) if control.wants_completion() => {
                let entry = sq.cqe(cq::opcode::REQUEST, &control);
                super::complete(device, sq.cq, entry);
            }
            Ok(()) => {}
            Err(failure) => {
                // The entry names the place of the request, whatever the request says.
                control.index = here;
                fail(device, sq, &control, failure);
            }
        }
    }
}

/// Completes a request in error; the queue flushes from then on.
fn fail(device: &mut Device, sq: &mut Sq, control: &Control, failure: Option<Failure>) {
    let mut entry = sq.cqe(cq::opcode::REQUEST_ERROR, control);
    entry[at::SYNDROME] = syndrome::FLUSHED;
    if let Some(f) = failure {
        entry[at::SYNDROME] = f.syndrome;
        // The vendor's syndrome is ours to define: the number of the rule.
        entry[at::VENDOR_SYNDROME] = f.rule as u16 as u8;
        let text = format!("SQ 0x{:x} at {}: {}", sq.number, control.index, f.text);
        device.violation(f.rule, "SQ", text);
        sq.state = state::ERR;
        let d = &mut device.net.diagnostics;
        d.queue_errors = d.queue_errors.wrapping_add(1);
    }
    super::complete(device, sq.cq, entry);
}

/// Carries out one request.
fn one(
    device: &mut Device,
    sq: &Sq,
    control: &Control,
    left: u16,
    start: u64,
) -> Result<(), Failure> {
    if control.index != sq.counter {
        let text = format!("the request says index {}", control.index);
        return Err(operation(text));
    }
    if control.qpn != sq.number {
        let text = format!("the request says queue 0x{:x}", control.qpn);
        return Err(operation(text));
    }
    if control.segments == 0 || control.blocks() > left {
        let text = format!("{} segments, {left} blocks are posted", control.segments);
        return Err(length(text));
    }
    let mut request = vec![0; control.bytes()];
    sq.ring
        .read(&device.memory, start, &mut request)
        .map_err(|f| protection(f.to_string()))?;
    match control.opcode {
        opcode::NOP => Ok(()),
        opcode::SEND | opcode::LSO => send(device, sq, control.opcode, &request),
        opcode::ENHANCED_MULTI_PACKET => send_many(device, sq, &request),
        opcode::UMR => umr(device, sq, control, &request),
        other => Err(operation(format!("opcode 0x{other:02x}"))),
    }
}

/// Reads what a data segment names.
fn gather(device: &Device, sq: &Sq, data: &Data, out: &mut Vec<u8>) -> Result<(), Failure> {
    let (bytes, key, address) = match data {
        Data::Inline(bytes) => {
            out.extend_from_slice(bytes);
            return Ok(());
        }
        Data::Pointer {
            bytes,
            key,
            address,
        } => (*bytes, *key, *address),
    };
    if out.len().saturating_add(bytes as usize) > MAX_GATHER {
        return Err(length(format!("more than {MAX_GATHER} bytes to send")));
    }
    let access = Access {
        key,
        address,
        bytes: bytes.into(),
        write: false,
        pd: sq.pd,
        reserved: sq.reserved_key,
    };
    for piece in mkey::translate(&device.objects, access).map_err(protection)? {
        let from = out.len();
        out.resize(
            from.saturating_add(usize::try_from(piece.bytes).unwrap_or(0)),
            0,
        );
        device
            .memory
            .read(piece.address, &mut out[from..])
            .map_err(|f| protection(f.to_string()))?;
    }
    Ok(())
}

fn check_sender(sq: &Sq) -> Result<(), Failure> {
    if sq.has_tis {
        Ok(())
    } else {
        Err(operation("a queue without TIS sends a frame"))
    }
}

fn send(device: &mut Device, sq: &Sq, code: u8, request: &[u8]) -> Result<(), Failure> {
    check_sender(sq)?;
    let (ethernet, start) = wqe::ethernet(request).map_err(length)?;
    if ethernet.vlan.is_some() {
        return Err(operation(
            "VLAN insertion without the capability wqe_vlan_insert",
        ));
    }
    if ethernet.parser_flags != 0 || ethernet.parser != [0; 4] {
        return Err(operation(
            "software parser offsets without the capability swp",
        ));
    }
    if ethernet.work.inner_network || ethernet.work.inner_transport {
        return Err(operation("inner checksums without a tunnel capability"));
    }
    let mut frame = ethernet.inline.clone();
    for d in wqe::data(request, start).map_err(length)? {
        gather(device, sq, &d, &mut frame)?;
    }
    let frames = if code == opcode::LSO {
        let header = ethernet.inline.len();
        offload::segment(&frame, header, ethernet.mss).map_err(length)?
    } else {
        vec![frame]
    };
    for mut f in frames {
        offload::checksums(&mut f, ethernet.work);
        transmit::send(device, sq.number, ethernet.metadata, f);
    }
    Ok(())
}

/// Many frames in one request: each data segment is a frame of its own.
fn send_many(device: &mut Device, sq: &Sq, request: &[u8]) -> Result<(), Failure> {
    check_sender(sq)?;
    let capability = "per_protocol_networking_offload_caps.enhanced_multi_pkt_send_wqe";
    if device.caps.get(capability) == 0 {
        return Err(operation("the capability enhanced_multi_pkt_send_wqe is 0"));
    }
    let (ethernet, start) = wqe::ethernet(request).map_err(length)?;
    if !ethernet.inline.is_empty() {
        return Err(length("inline headers in a request of many frames"));
    }
    for d in wqe::data(request, start).map_err(length)? {
        let mut frame = Vec::new();
        gather(device, sq, &d, &mut frame)?;
        offload::checksums(&mut frame, ethernet.work);
        transmit::send(device, sq.number, ethernet.metadata, frame);
    }
    Ok(())
}

fn umr(device: &mut Device, sq: &Sq, control: &Control, request: &[u8]) -> Result<(), Failure> {
    if !sq.may_umr {
        return Err(operation("a UMR, but reg_umr is 0"));
    }
    let umr = wqe::umr(request).map_err(length)?;
    let mut translations = umr.inline.clone();
    if let Some(pointer) = &umr.pointer {
        gather(device, sq, pointer, &mut translations)?;
    }
    umr::update(
        &mut device.objects,
        control.general,
        sq.pd,
        &umr,
        &translations,
    )
    .map_err(protection)
}
