// SPDX-License-Identifier: GPL-2.0

//! The command queue: doorbells, commands in flight, completions.

pub mod entry;
pub mod mailbox;
pub mod signature;

use std::collections::BTreeMap;
use std::panic::{
    catch_unwind,
    AssertUnwindSafe, //
};
use std::time::{
    Duration,
    Instant, //
};

use crate::bits;
use crate::command;
use crate::device::Device;
use crate::eq::event;
use crate::faults::{
    self,
    Effect, //
};
use crate::ifc::fields::{
    cmd_if_box,
    cmd_queue_entry, //
};
use crate::ifc::opcode;
use crate::later::Later;
use crate::log::Record;
use crate::pci;
use crate::rules::Rule;
use entry::{
    delivery,
    Entry,
    Undelivered,
    INLINE, //
};
use mailbox::{
    Chain,
    DATA, //
};

/// A command that the device owns.
pub struct Job {
    slot: u32,
    address: u64,
    entry: Entry,
    input: Vec<u8>,
    input_chain: Chain,
    output_chain: Chain,
    /// The checks' verdict.
    accepted: Result<(), Undelivered>,
    effects: Vec<Effect>,
    /// When it completes; None if never, or not before `release`.
    due: Option<Instant>,
    /// It waits for `release`.
    pub held: bool,
    started: Instant,
    /// EQ that gets the completion, fixed when the command was taken.
    event_queue: Option<u8>,
}

impl Job {
    /// Opcode and op_mod.
    pub fn command(&self) -> (u16, u16) {
        (
            (bits::word(&self.input, 0) >> 16) as u16,
            (bits::word(&self.input, 4) & 0xffff) as u16,
        )
    }

    fn has(&self, effect: &Effect) -> bool {
        self.effects.contains(effect)
    }

    /// Requests to carry out now that it has been taken.
    fn requests(&self) -> Vec<Vec<String>> {
        let request = |effect: &Effect| match effect {
            Effect::Do(words) => Some(words.clone()),
            _ => None,
        };
        self.effects.iter().filter_map(request).collect()
    }

    /// True if it is never to complete.
    pub fn dropped(&self) -> bool {
        self.has(&Effect::Drop)
    }
}

/// The queue's state.
pub struct CommandQueue {
    /// Bus address, once a driver wrote one.
    pub address: Option<u64>,
    jobs: BTreeMap<u32, Job>,
    /// Time from doorbell to completion.
    pub delay: Duration,
}

impl Default for CommandQueue {
    fn default() -> Self {
        CommandQueue {
            address: None,
            jobs: BTreeMap::new(),
            delay: Duration::from_micros(10),
        }
    }
}

impl CommandQueue {
    /// Forgets address and commands.
    pub fn clear(&mut self) {
        self.address = None;
        self.jobs.clear();
    }

    /// Commands in flight.
    pub fn jobs(&self) -> impl Iterator<Item = (u32, &Job)> {
        self.jobs.iter().map(|(s, j)| (*s, j))
    }

    /// Number of commands in flight, without those that never complete.
    pub fn in_flight(&self) -> usize {
        self.jobs.values().filter(|j| !j.dropped()).count()
    }

    /// Number of commands that wait for `release`.
    pub fn held(&self) -> usize {
        self.jobs.values().filter(|j| j.held).count()
    }

    /// Lets held commands go, oldest first, at most `n`. Returns how many.
    pub fn release(&mut self, n: usize, newest_first: bool) -> usize {
        let mut held: Vec<(Instant, u32)> = self
            .jobs
            .iter()
            .filter(|(_, j)| j.held)
            .map(|(s, j)| (j.started, *s))
            .collect();
        held.sort();
        if newest_first {
            held.reverse();
        }
        held.truncate(n);
        let base = Instant::now();
        for (i, (_, slot)) in held.iter().enumerate() {
            if let Some(job) = self.jobs.get_mut(slot) {
                job.held = false;
                // The order asked for is kept.
                job.due = base.checked_add(Duration::from_micros(i as u64));
            }
        }
        held.len()
    }

    /// A slot whose command is due.
    pub fn due(&self, now: Instant) -> Option<u32> {
        self.jobs
            .iter()
            .filter_map(|(s, j)| Some((j.due?, *s)))
            .filter(|(t, _)| *t <= now)
            .min()
            .map(|(_, s)| s)
    }

    /// When the next command is due.
    pub fn next_due(&self) -> Option<Instant> {
        self.jobs.values().filter_map(|j| j.due).min()
    }
}

/// Takes a write of the command doorbell.
pub fn doorbell(device: &mut Device, vector: u32) {
    let slots = device.iseg.slots();
    for slot in (0..32).filter(|s| (vector >> s) & 1 != 0) {
        let subject = "command doorbell";
        if slot >= slots {
            let text = format!("bit {slot} of vector {vector:#x}, but there are {slots} slots");
            device.violation(Rule::DoorbellSlot, subject, text);
            continue;
        }
        if device.iseg.initializing() {
            let text = format!("slot {slot} while initializing is set");
            device.violation(Rule::DoorbellNotReady, subject, text);
            continue;
        }
        let Some(queue) = device.cmdq.address else {
            let text = format!("slot {slot}, but no queue address was written");
            device.violation(Rule::DoorbellQueue, subject, text);
            continue;
        };
        if let Some(job) = device.cmdq.jobs.get(&slot) {
            let (code, _) = job.command();
            let name = opcode::name(code).unwrap_or("?");
            let text = format!("slot {slot} is still busy with {name}");
            device.violation(Rule::DoorbellBusy, subject, text);
            continue;
        }
        let address = queue.saturating_add(u64::from(slot).saturating_mul(device.iseg.stride()));
        if let Some(job) = take(device, slot, address) {
            let requests = job.requests();
            device.counters.commands += 1;
            device.cmdq.jobs.insert(slot, job);
            for request in requests {
                // One that cannot be carried out now, as an event without an EQ, does nothing.
                let words: Vec<&str> = request.iter().map(String::as_str).collect();
                let _ = crate::control::perform(device, &words);
            }
        }
    }
}

/// Reads an entry with its mailboxes and decides when it completes.
fn take(device: &mut Device, slot: u32, address: u64) -> Option<Job> {
    let mut entry = Entry {
        raw: [0; cmd_queue_entry::BYTES],
    };
    if !pci::bus_master(&device.config) {
        let text = format!("slot {slot}, but the function is no bus master");
        device.violation(Rule::Dma, "command doorbell", text);
        return None;
    }
    if let Err(fault) = device.memory.read(address, &mut entry.raw) {
        device.violation(Rule::Dma, "command queue", format!("slot {slot}: {fault}"));
        return None;
    }
    if !entry.owned_by_device() {
        let text = format!("slot {slot}: the entry's ownership bit is not set");
        device.violation(Rule::DoorbellOwnership, "command doorbell", text);
        return None;
    }
    let started = Instant::now();
    let mut job = Job {
        slot,
        address,
        input: entry.input_inline().to_vec(),
        input_chain: Chain::default(),
        output_chain: Chain::default(),
        accepted: Ok(()),
        effects: Vec::new(),
        due: started.checked_add(device.cmdq.delay),
        held: false,
        started,
        event_queue: device.eqs.target(event::COMMAND),
        entry,
    };
    let (code, op_mod) = job.command();
    let subject = command::subject(code);
    let mut notes = Vec::new();
    job.accepted = accept(device, &mut job, &mut notes);
    for (rule, text) in notes {
        device.violation(rule, &subject, text);
    }
    if let Err(u) = job.accepted.clone() {
        device.violation(u.rule, &subject, u.text);
    }
    job.effects = device.faults.select(code, op_mod);
    job.effects.extend(device.reset.effect());
    for effect in &job.effects {
        match effect {
            Effect::Drop => job.due = None,
            Effect::Hold => {
                job.due = None;
                job.held = true;
            }
            Effect::Delay(d) => job.due = started.checked_add(*d),
            _ => {}
        }
    }
    Some(job)
}

fn accept(
    device: &Device,
    job: &mut Job,
    notes: &mut Vec<(Rule, String)>,
) -> Result<(), Undelivered> {
    job.entry.check(notes)?;
    let mode = device.caps.get("cmd_hca_cap.cmdif_checksum");
    let token = job.entry.token();
    let (length, first) = (job.entry.input_length(), job.entry.input_pointer());
    let memory = &device.memory;
    job.input_chain = mailbox::walk(memory, first, length, token, mode, mailbox::INPUT, notes)?;
    for data in job.input_chain.data() {
        job.input.extend_from_slice(data);
    }
    job.input.truncate(length as usize);
    let (length, first) = (job.entry.output_length(), job.entry.output_pointer());
    job.output_chain = mailbox::walk(memory, first, length, token, mode, mailbox::OUTPUT, notes)?;
    Ok(())
}

/// Runs the command of a slot and completes it.
pub fn complete(device: &mut Device, slot: u32) {
    let Some(mut job) = device.cmdq.jobs.remove(&slot) else {
        return;
    };
    let (code, op_mod) = job.command();
    let subject = command::subject(code);
    // A function that is not bus master, or is off the bus, neither reads nor writes: the driver may
    // have freed the memory.
    let reaches_memory = pci::bus_master(&device.config) && device.pci_alive;
    if reaches_memory {
        check_unchanged(device, &job, &subject);
    }
    let status = job.effects.iter().find_map(|e| match e {
        Effect::Status { status, syndrome } => Some((*status, *syndrome)),
        _ => None,
    });
    let undelivered = job.effects.iter().find_map(|e| match e {
        Effect::Delivery(d) => Some(*d),
        _ => None,
    });
    let length = job.entry.output_length() as usize;
    let (delivered, mut output) = match (&job.accepted, undelivered, status) {
        (Err(u), _, _) => (u.status, Vec::new()),
        (_, Some(d), _) => (d, Vec::new()),
        (_, _, Some((status, syndrome))) => {
            (delivery::OK, command::failure(status, syndrome, length))
        }
        _ => (delivery::OK, run(device, &job.input, length, &subject)),
    };
    for effect in &job.effects {
        if let Effect::Output(offset, bytes) = effect {
            faults::replace(&mut output, *offset, bytes);
        }
    }
    let (status, syndrome) = if output.len() >= 8 {
        (output[0], bits::word(&output, 4))
    } else {
        (0, 0)
    };
    device.log.add(Record {
        sequence: 0,
        name: subject.clone(),
        opcode: code,
        op_mod,
        slot,
        token: job.entry.token(),
        delivery: delivered,
        status,
        syndrome,
        time: job.started.elapsed(),
        input: std::mem::take(&mut job.input),
        output: output.clone(),
    });
    if reaches_memory {
        if let Err(fault) = write_back(device, &job, delivered, &output) {
            device.violation(Rule::Dma, &subject, format!("output: {fault}"));
        }
    }
    device.counters.completions += 1;
    notify(device, &job);
    for effect in &job.effects {
        if let Effect::Again(after) = effect {
            let mut entry = [0u8; cmd_queue_entry::BYTES];
            if reaches_memory && device.memory.read(job.address, &mut entry).is_ok() {
                let what = Later::Completion {
                    slot,
                    entry: entry.to_vec(),
                    event_queue: job.event_queue,
                };
                device.later.add(*after, what);
            }
        }
    }
}

/// Writes an entry a second time, as a device does that has lost count. The driver may have a new
/// command there by now; but the queue must still be the driver's.
pub fn complete_again(device: &mut Device, slot: u32, entry: &[u8], event_queue: Option<u8>) {
    let Some(queue) = device.cmdq.address else {
        return;
    };
    if !pci::bus_master(&device.config) || !device.pci_alive {
        return;
    }
    let address = queue.saturating_add(u64::from(slot).saturating_mul(device.iseg.stride()));
    // An address that is no longer mapped is no fault of the driver's either.
    if device.memory.write(address, entry).is_ok() {
        if let Some(number) = event_queue {
            device.post_to(number, event::COMMAND, 0, &(1u32 << slot).to_be_bytes());
        }
    }
}

fn check_unchanged(device: &mut Device, job: &Job, subject: &str) {
    let mut now = [0u8; cmd_queue_entry::BYTES];
    let readable = device.memory.read(job.address, &mut now).is_ok();
    if !readable || now != job.entry.raw {
        let text = format!(
            "the entry of slot {} changed while the device owned it",
            job.slot
        );
        device.violation(Rule::EntryChanged, subject, text);
    }
    if let Some(n) = job.input_chain.changed(&device.memory) {
        let text = format!("input block {n} changed while the device owned it");
        device.violation(Rule::MailboxChanged, subject, text);
    }
}

/// Runs a handler; an error of the model's own ends as an internal error of the firmware.
fn run(device: &mut Device, input: &[u8], length: usize, subject: &str) -> Vec<u8> {
    let result = catch_unwind(AssertUnwindSafe(|| command::run(device, input, length)));
    result.unwrap_or_else(|_| {
        device.violation(Rule::Model, subject, "the handler of the model panicked");
        command::failure(command::status::INTERNAL, Rule::Model.syndrome(), length)
    })
}

fn write_back(
    device: &Device,
    job: &Job,
    delivered: u8,
    output: &[u8],
) -> Result<(), crate::memory::DmaFault> {
    let mode = device.caps.get("cmd_hca_cap.cmdif_checksum");
    let mut rest = output.get(INLINE..).unwrap_or(&[]);
    let damaged = job.effects.iter().any(Effect::damages_blocks);
    let chain = &job.output_chain;
    for (index, (address, old)) in chain.addresses.iter().zip(&chain.blocks).enumerate() {
        let n = rest.len().min(DATA);
        if mode == mailbox::checksum::DISABLED && !damaged {
            device.memory.write(*address, &rest[..n])?;
        } else {
            let mut block = old.clone();
            block[..n].copy_from_slice(&rest[..n]);
            damage(job, index, &mut block);
            device.memory.write(*address, &block)?;
        }
        rest = &rest[n..];
    }
    let mut raw = job.entry.raw;
    let inline = &output[..output.len().min(INLINE)];
    bits::set_bytes(
        &mut raw,
        cmd_queue_entry::COMMAND_OUTPUT_INLINE_DATA,
        inline,
    );
    bits::set(&mut raw, cmd_queue_entry::STATUS, delivered.into());
    bits::set(&mut raw, cmd_queue_entry::OWNERSHIP, 0);
    if job.has(&Effect::WrongToken) {
        bits::set(
            &mut raw,
            cmd_queue_entry::TOKEN,
            (job.entry.token() ^ 0x55).into(),
        );
    }
    signature::sign_entry(&mut raw);
    if job.has(&Effect::BadSignature) {
        raw[cmd_queue_entry::SIGNATURE.byte()] ^= 0xff;
    }
    let mut start = cmd_queue_entry::COMMAND_OUTPUT_INLINE_DATA.byte();
    let last = raw.len() - 1;
    for effect in &job.effects {
        if let Effect::Entry(offset, bytes) = effect {
            faults::replace(&mut raw, *offset, bytes);
            start = start.min(*offset);
        }
    }
    device
        .memory
        .write(job.address.saturating_add(start as u64), &raw[start..last])?;
    // The ownership bit goes last.
    device
        .memory
        .write_byte_release(job.address.saturating_add(last as u64), raw[last])
}

/// Signs an output block, and damages it as asked for.
fn damage(job: &Job, index: usize, block: &mut [u8]) {
    if job.has(&Effect::WrongToken) {
        bits::set(block, cmd_if_box::TOKEN, (job.entry.token() ^ 0x55).into());
    }
    if job.has(&Effect::WrongBlock) {
        let number = bits::get(block, cmd_if_box::BLOCK_NUMBER);
        bits::set(block, cmd_if_box::BLOCK_NUMBER, number ^ 1);
    }
    signature::sign_block(block);
    if job.has(&Effect::BadSignature) {
        let at = cmd_if_box::SIGNATURE.byte();
        if let Some(byte) = block.get_mut(at) {
            *byte ^= 0xff;
        }
    }
    for effect in &job.effects {
        match effect {
            Effect::Block(n, offset, bytes) if *n == index => {
                faults::replace(block, *offset, bytes);
            }
            _ => {}
        }
    }
}

fn notify(device: &mut Device, job: &Job) {
    let Some(number) = job.event_queue else {
        return;
    };
    if job.has(&Effect::NoEvent) {
        return;
    }
    let data = (1u32 << job.slot).to_be_bytes();
    let times = if job.has(&Effect::DuplicateEvent) {
        2
    } else {
        1
    };
    for _ in 0..times {
        device.post_to(number, event::COMMAND, 0, &data);
    }
}
