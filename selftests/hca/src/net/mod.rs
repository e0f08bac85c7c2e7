// SPDX-License-Identifier: GPL-2.0

//! The Ethernet side: what the netdev of a driver needs.
//!
//! Work queues ([`sq`], [`rq`]) and completion queues ([`cq`]) in guest memory, memory keys
//! ([`mkey`]), flow tables ([`steering`]), receive-side scaling ([`rss`]), vports ([`vport`]), and
//! a host at the other end of the cable ([`wire`]). The commands are in [`commands`], each chapter
//! with a list of its own in [`CHAPTERS`]; registers of the port are in [`registers`].

mod arrival;
mod checksum;
mod commands;
mod control;
mod cq;
#[cfg(test)]
mod cq_tests;
mod frame;
mod matching;
mod mkey;
mod offload;
mod registers;
mod ring;
mod rq;
mod rss;
mod sq;
mod steering;
mod striding;
mod tcp;
mod transmit;
mod umr;
mod vport;
mod wire;
mod wqe;

#[cfg(test)]
mod tests;

use std::collections::BTreeMap;
use std::panic::{
    catch_unwind,
    AssertUnwindSafe, //
};
use std::time::Instant;

use crate::device::Device;
use crate::eq::event;
use crate::pci;
use crate::rules::Rule;
use crate::variants::Variant;

pub use commands::CHAPTERS;
pub use control::{
    run as control,
    HELP, //
};
pub use registers::REGISTERS;

/// States of work queues. Source: `MLX5_SQC_STATE_*`, `MLX5_RQC_STATE_*` of the kernel's header.
pub mod state {
    pub const RST: u8 = 0;
    pub const RDY: u8 = 1;
    pub const ERR: u8 = 3;
}

/// Counters of what went wrong on the function's vport, as QUERY_VNIC_ENV tells them.
#[derive(Debug, Clone, Copy, Default)]
pub struct Diagnostics {
    pub steering_discard: u64,
    pub receive_down: u64,
    pub transmit_down: u64,
    pub cq_overruns: u64,
    pub out_of_buffer: u64,
    pub too_small: u64,
    pub invalid_commands: u64,
    pub async_eq_overruns: u64,
    pub completion_eq_overruns: u64,
    /// Work queues that went to their error state.
    pub queue_errors: u64,
}

impl Diagnostics {
    /// Counts an event queue that was full for an event of this kind.
    pub fn count_eq_overrun(&mut self, kind: u8) {
        let counter = match kind {
            event::COMPLETION => &mut self.completion_eq_overruns,
            _ => &mut self.async_eq_overruns,
        };
        *counter = counter.wrapping_add(1);
    }
}

/// State of the Ethernet side.
pub struct Net {
    pub cqs: BTreeMap<u32, cq::Cq>,
    pub sqs: BTreeMap<u32, sq::Sq>,
    pub rqs: BTreeMap<u32, rq::Rq>,
    /// Contexts of TIRs.
    pub tirs: BTreeMap<u32, Vec<u8>>,
    /// Contexts of tables of queues, with their lists.
    pub rqts: BTreeMap<u32, Vec<u8>>,
    /// Frames dropped for want of a buffer, by counter set.
    pub counter_sets: BTreeMap<u8, u32>,
    pub steering: steering::Steering,
    /// Flow counters that were allocated together: the first, and how many.
    pub counter_bulks: BTreeMap<u32, u32>,
    pub vports: vport::Vports,
    /// Unicast addresses by which the card sorts frames to its functions.
    pub l2_table: BTreeMap<u32, vport::Mac>,
    pub diagnostics: Diagnostics,
    pub port: vport::Port,
    pub wire: wire::Wire,
    pub registers: registers::State,
    /// First halves of doorbells that came in two writes, by page and offset.
    halves: BTreeMap<(u32, u64), u32>,
}

impl Net {
    /// State after power-up.
    pub fn new(variant: &Variant) -> Net {
        Net {
            cqs: BTreeMap::new(),
            sqs: BTreeMap::new(),
            rqs: BTreeMap::new(),
            tirs: BTreeMap::new(),
            rqts: BTreeMap::new(),
            counter_sets: BTreeMap::new(),
            steering: steering::Steering::default(),
            counter_bulks: BTreeMap::new(),
            vports: vport::Vports::new(variant),
            l2_table: BTreeMap::new(),
            diagnostics: Diagnostics::default(),
            port: vport::Port::default(),
            wire: wire::Wire::default(),
            registers: registers::State::default(),
            halves: BTreeMap::new(),
        }
    }

    /// Drops what a driver set up; counters of the port and the wire go on.
    pub fn reset(&mut self, variant: &Variant) {
        let (port, wire, registers) = (
            self.port,
            std::mem::take(&mut self.wire),
            std::mem::take(&mut self.registers),
        );
        *self = Net {
            port,
            wire,
            registers,
            ..Net::new(variant)
        };
    }

    /// What of the function's queues lies in a range of memory.
    pub fn owner_in(&self, address: u64, size: u64) -> Option<String> {
        let inside = |record: u64| record >= address && record - address < size;
        let cq = self
            .cqs
            .values()
            .find(|q| q.ring.uses(address, size) || inside(q.record));
        let sq = self
            .sqs
            .values()
            .find(|q| q.ring.uses(address, size) || inside(q.record));
        let rq = self
            .rqs
            .values()
            .find(|q| q.ring.uses(address, size) || inside(q.record));
        cq.map(|q| format!("CQ 0x{:x}", q.number))
            .or(sq.map(|q| format!("SQ 0x{:x}", q.number)))
            .or(rq.map(|q| format!("RQ 0x{:x}", q.number)))
    }

    /// When the next event of a completion queue is due that waits for more entries.
    pub fn next_due(&self) -> Option<Instant> {
        self.cqs.values().filter_map(|cq| cq.due).min()
    }
}

/// Registers in a UAR page. Sources: `MLX5_CQ_DOORBELL` and `MLX5_BF_OFFSET` of the kernel's
/// `cq.h` and `device.h`.
const CQ_ARM: u64 = 0x20;
const SEND_DOORBELLS: std::ops::Range<u64> = 0x800..0x1000;

/// Doorbell registers follow each other at this distance.
const SEND_DOORBELL_STEP: u64 = 0x100;

/// Takes a write to a UAR page that is not an EQ doorbell. `offset` counts from the start of the
/// page. Returns false if there is no such register.
pub fn uar_write(device: &mut Device, uar: u32, offset: u64, data: &[u8]) -> bool {
    if !pci::bus_master(&device.config) {
        // Without access to memory a doorbell comes to nothing.
        return true;
    }
    let register = match offset & !7 {
        CQ_ARM => CQ_ARM,
        o if SEND_DOORBELLS.contains(&o) => o,
        _ => return false,
    };
    // A register of the send side takes a whole request too; its first words are the doorbell.
    if register != CQ_ARM && register % SEND_DOORBELL_STEP != 0 {
        return true;
    }
    let word = |at: usize| {
        let b = data.get(at..at + 4)?;
        Some(u32::from_be_bytes(b.try_into().ok()?))
    };
    let pair = match (data.len(), offset % 8) {
        (4, 0) => {
            if let Some(first) = word(0) {
                device.net.halves.insert((uar, register), first);
            }
            return true;
        }
        (4, 4) => device.net.halves.remove(&(uar, register)).zip(word(0)),
        (n, 0) if n >= 8 => word(0).zip(word(4)),
        _ => None,
    };
    let Some((first, second)) = pair else {
        let text = format!("write of {} bytes at {offset:#x} of a UAR page", data.len());
        device.violation(Rule::MmioAccess, "UAR", text);
        return true;
    };
    // Guest data must not end the model.
    let done = catch_unwind(AssertUnwindSafe(|| match register {
        CQ_ARM => arm(device, uar, first, second),
        _ => sq::doorbell(device, uar, first, second),
    }));
    if done.is_err() {
        device.violation(Rule::Model, "UAR", "the handler of a doorbell panicked");
    }
    true
}

fn arm(device: &mut Device, uar: u32, word: u32, second: u32) {
    let number = second & 0x00ff_ffff;
    let subject = "CQ doorbell";
    let Some(cq) = device.net.cqs.get_mut(&number) else {
        let text = format!("CQ 0x{number:x} does not exist (value {word:08x} {second:08x})");
        device.violation(Rule::CqDoorbell, subject, text);
        return;
    };
    if cq.uar != uar {
        let text = format!(
            "CQ 0x{number:x} belongs to UAR 0x{:x}, not to 0x{uar:x}",
            cq.uar
        );
        device.violation(Rule::CqDoorbell, subject, text);
        return;
    }
    match cq.arm(&device.memory, word, Instant::now()) {
        Ok(true) => completion_event(device, number),
        Ok(false) => {}
        Err(e) => device.violation(Rule::CqDoorbell, subject, format!("CQ 0x{number:x}: {e}")),
    }
}

fn completion_event(device: &mut Device, number: u32) {
    let Some(eq) = device.net.cqs.get(&number).map(|cq| cq.eq) else {
        return;
    };
    let mut data = [0; 28];
    data[0x18..0x1c].copy_from_slice(&number.to_be_bytes());
    device.post_to(eq, event::COMPLETION, 0, &data);
}

/// Event of a completion queue that failed. Source: `MLX5_EVENT_TYPE_CQ_ERROR`.
const CQ_ERROR: u8 = 0x04;

/// Syndromes of that event: overrun and access violation.
const CQ_ERROR_OVERRUN: u8 = 1;
const CQ_ERROR_ACCESS: u8 = 2;

/// Writes an entry to a completion queue, with its time, and raises the event that is due.
fn complete(device: &mut Device, number: u32, mut entry: cq::Cqe) {
    let time = device.timer().to_be_bytes();
    if entry[cq::at::OPCODE_OWNER] >> 4 < cq::opcode::REQUEST_ERROR {
        entry[cq::at::TIMESTAMP..cq::at::TIMESTAMP + 8].copy_from_slice(&time);
    }
    let Some(cq) = device.net.cqs.get_mut(&number) else {
        return;
    };
    let (rule, text, syndrome) = match cq.write(&device.memory, &entry, Instant::now()) {
        cq::Written::Ok(true) => return completion_event(device, number),
        cq::Written::Ok(false) | cq::Written::Dead => return,
        cq::Written::Overrun { consumer } => {
            let text = format!(
                "CQ 0x{number:x} of {} entries is full, the record says {consumer}",
                cq.ring.entries()
            );
            (Rule::CqOverrun, text, CQ_ERROR_OVERRUN)
        }
        cq::Written::Fault(fault) => (
            Rule::Dma,
            format!("CQ 0x{number:x}: {fault}"),
            CQ_ERROR_ACCESS,
        ),
    };
    let d = &mut device.net.diagnostics;
    d.cq_overruns = d.cq_overruns.wrapping_add(1);
    device.violation(rule, "CQ", text);
    let mut data = [0; 12];
    data[..4].copy_from_slice(&number.to_be_bytes());
    data[11] = syndrome;
    device.post_event(CQ_ERROR, 0, &data);
}

/// Counts a frame for which a queue had no buffer.
fn out_of_buffer(device: &mut Device, counter_set: u8) {
    let d = &mut device.net.diagnostics;
    d.out_of_buffer = d.out_of_buffer.wrapping_add(1);
    if let Some(n) = device.net.counter_sets.get_mut(&counter_set) {
        *n = n.wrapping_add(1);
    }
}

/// Sub-types of PORT_CHANGE. Source: `MLX5_PORT_CHANGE_SUBTYPE_*` of the kernel's `device.h`.
const PORT_DOWN: u8 = 1;
const PORT_ACTIVE: u8 = 4;

/// True if the port can pass frames: it is turned on, and a cable is in.
pub fn link_is_up(device: &Device) -> bool {
    device.registers.port_admin_up && !device.net.port.unplugged
}

/// PAOS turned the port on or off.
pub fn set_port(device: &mut Device, up: bool) {
    change_link(device, |d| d.registers.port_admin_up = up);
}

/// Somebody put the cable in or pulled it out.
fn set_cable(device: &mut Device, is_in: bool) {
    change_link(device, |d| d.net.port.unplugged = !is_in);
}

fn change_link(device: &mut Device, change: impl FnOnce(&mut Device)) {
    let was = link_is_up(device);
    change(device);
    let up = link_is_up(device);
    if was != up {
        device.net.port.downs = device.net.port.downs.wrapping_add(u32::from(!up));
        // The port number stands in bits 31:28 of the third word.
        let mut data = [0; 12];
        data[8] = 1 << 4;
        let sub_type = if up { PORT_ACTIVE } else { PORT_DOWN };
        device.post_event(event::PORT_CHANGE, sub_type, &data);
    }
}

/// Fills in a group of port counters (PPCNT `grp`), for one of `prio_tc` where the group asks for
/// it; `out` starts as zeros.
pub fn port_counters(device: &mut Device, group: u64, prio: u64, out: &mut [u8]) {
    registers::port_counters(&device.net.port, group, prio, out);
}

/// Called by the firmware thread: raises completion events whose time has come.
pub fn run_due(device: &mut Device, now: Instant) {
    let due: Vec<u32> = device
        .net
        .cqs
        .values_mut()
        .filter(|cq| cq.due.is_some_and(|t| t <= now))
        .map(|cq| {
            cq.fire();
            cq.number
        })
        .collect();
    for number in due {
        completion_event(device, number);
    }
}
