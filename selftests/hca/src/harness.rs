// SPDX-License-Identifier: GPL-2.0

//! A driver in miniature for unit tests and fuzzing: sends commands through memory and doorbell.

use std::collections::BTreeMap;
use std::sync::{
    Mutex,
    PoisonError, //
};

use crate::bits;
use crate::cmdq::{
    self,
    signature, //
};
use crate::conformance::Conformance;
use crate::device::Device;
use crate::ifc::fields::{
    cmd_if_box,
    cmd_queue_entry as e,
    *, //
};
use crate::ifc::{
    opcode,
    Field, //
};
use crate::log::CommandLog;
use crate::memory::fake::guest;
use crate::mmio;
use crate::variants::{
    self,
    Variant, //
};

/// Guest memory of the rig.
pub const BASE: u64 = 0x10_0000;
const SIZE: u64 = 0x80_0000;
const QUEUE: u64 = BASE;
const INPUT: u64 = BASE + 0x1_0000;
const OUTPUT: u64 = BASE + 0x4_0000;
/// Memory that tests may use.
pub const FREE: u64 = BASE + 0x10_0000;

/// A device and its driver.
pub struct Rig {
    pub device: Device,
    token: u8,
}

/// What a command ended with.
#[derive(Debug)]
pub struct Answer {
    pub delivery: u8,
    pub status: u8,
    pub syndrome: u32,
    pub output: Vec<u8>,
}

impl Rig {
    /// A device without latency that asks for few pages, its queue address written.
    pub fn new(variant: &str) -> Rig {
        let variant = card(variant);
        let mut device = Device::new(variant, Conformance::default(), CommandLog::default());
        device.memory = guest(BASE, SIZE);
        device.cmdq.delay = std::time::Duration::ZERO;
        device.pages.boot = 3;
        device.pages.init = 4;
        let mut rig = Rig { device, token: 0 };
        rig.begin();
        rig
    }

    /// What a driver does before the first command.
    fn begin(&mut self) {
        self.device.iseg.set_initializing(false);
        self.device.pages.reset();
        self.device.config.write(4, &[0x06, 0]);
        self.write32(0x10, (QUEUE >> 32) as u32);
        self.write32(0x14, QUEUE as u32);
    }

    /// After INIT_HCA.
    pub fn initialized(variant: &str) -> Rig {
        let mut rig = Rig::new(variant);
        rig.initialize();
        rig
    }

    /// After a reset, up to and with INIT_HCA.
    #[cfg(feature = "fuzz")]
    pub fn restart(&mut self) {
        self.begin();
        self.initialize();
    }

    fn initialize(&mut self) {
        self.ok(&self.enable_hca(), 12);
        self.ok(
            &command(opcode::SET_ISSI, 16, &[(set_issi_in::CURRENT_ISSI, 1)]),
            16,
        );
        self.give_pages(7);
        self.ok(&command(opcode::INIT_HCA, 32, &[]), 16);
        let broken = self.rules();
        assert!(broken.is_empty(), "{broken:?}");
    }

    fn enable_hca(&self) -> Vec<u8> {
        let ec = u64::from(self.device.variant.iseg.embedded_cpu);
        command(
            opcode::ENABLE_HCA,
            16,
            &[(enable_hca_in::EMBEDDED_CPU_FUNCTION, ec)],
        )
    }

    /// Gives `n` pages from the end of memory down.
    pub fn give_pages(&mut self, n: u32) {
        let held = self.device.pages.total() as u64;
        let pages: Vec<u64> = (0..u64::from(n))
            .map(|i| BASE + SIZE - 4096 * (held + i + 1))
            .collect();
        self.ok(&give(&pages, self.device.variant.iseg.embedded_cpu), 16);
    }

    /// Writes a register of four bytes.
    pub fn write32(&mut self, offset: u64, value: u32) {
        mmio::write(&mut self.device, offset, &value.to_be_bytes());
    }

    /// Writes guest memory.
    pub fn put(&mut self, address: u64, data: &[u8]) {
        self.device.memory.write(address, data).unwrap();
    }

    /// Reads guest memory.
    pub fn peek(&self, address: u64, n: usize) -> Vec<u8> {
        let mut out = vec![0; n];
        self.device.memory.read(address, &mut out).unwrap();
        out
    }

    /// Prepares an entry in a slot without ringing: as a good driver does it.
    pub fn prepare(&mut self, slot: u64, input: &[u8], output_length: usize) {
        self.token = self.token.wrapping_add(1).max(1);
        let mut raw = [0u8; 64];
        raw[0] = 7;
        bits::set(&mut raw, e::INPUT_LENGTH, input.len() as u64);
        bits::set(&mut raw, e::OUTPUT_LENGTH, output_length as u64);
        let inline = &input[..input.len().min(16)];
        bits::set_bytes(&mut raw, e::COMMAND_INPUT_INLINE_DATA, inline);
        bits::set(&mut raw, e::TOKEN, self.token.into());
        bits::set(&mut raw, e::OWNERSHIP, 1);
        let area = slot * 0x8000;
        if input.len() > 16 {
            self.chain(INPUT + area, &input[16..], input.len() - 16);
            bits::set(&mut raw, e::INPUT_MAILBOX_POINTER_31_9, (INPUT + area) >> 9);
        }
        if output_length > 16 {
            self.chain(OUTPUT + area, &[], output_length - 16);
            bits::set(
                &mut raw,
                e::OUTPUT_MAILBOX_POINTER_31_9,
                (OUTPUT + area) >> 9,
            );
        }
        signature::sign_entry(&mut raw);
        self.put(QUEUE + slot * 64, &raw);
    }

    fn chain(&mut self, first: u64, data: &[u8], length: usize) {
        let n = length.div_ceil(512);
        for i in 0..n {
            let mut block = vec![0u8; cmd_if_box::BYTES];
            let from = (i * 512).min(data.len());
            let part = &data[from..(from + 512).min(data.len())];
            block[..part.len()].copy_from_slice(part);
            let at = first + 1024 * i as u64;
            if i + 1 < n {
                bits::set(
                    &mut block,
                    cmd_if_box::NEXT_POINTER_31_10,
                    (at + 1024) >> 10,
                );
            }
            bits::set(&mut block, cmd_if_box::BLOCK_NUMBER, i as u64);
            bits::set(&mut block, cmd_if_box::TOKEN, self.token.into());
            signature::sign_block(&mut block);
            self.put(at, &block);
        }
    }

    /// Changes a byte of the entry in a slot and signs it again.
    pub fn patch_entry(&mut self, slot: u64, change: impl Fn(&mut [u8])) {
        let mut raw = self.peek(QUEUE + slot * 64, 64);
        change(&mut raw);
        signature::sign_entry(&mut raw);
        self.put(QUEUE + slot * 64, &raw);
    }

    /// Address of an entry, and of the first input block of slot 0.
    pub fn entry(slot: u64) -> u64 {
        QUEUE + slot * 64
    }

    pub const INPUT_BLOCK: u64 = INPUT;

    /// Rings slots.
    pub fn ring(&mut self, vector: u32) {
        self.write32(0x18, vector);
    }

    /// Lets the firmware do what is due; returns the slots in order of completion.
    pub fn work(&mut self) -> Vec<u32> {
        let mut done = Vec::new();
        while let Some(slot) = self.device.cmdq.due(std::time::Instant::now()) {
            cmdq::complete(&mut self.device, slot);
            done.push(slot);
        }
        done
    }

    /// The answer in a slot.
    pub fn answer(&self, slot: u64, output_length: usize) -> Answer {
        let raw = self.peek(QUEUE + slot * 64, 64);
        assert_eq!(raw[0x3f] & 1, 0, "the device gave the entry back");
        let mut output = raw[0x20..0x30].to_vec();
        let mut block = OUTPUT + slot * 0x8000;
        while output.len() < output_length {
            output.extend(self.peek(block, 512));
            block += 1024;
        }
        output.truncate(output_length);
        Answer {
            delivery: raw[0x3f] >> 1,
            status: output[0],
            syndrome: bits::word(&output, 4),
            output,
        }
    }

    /// Sends a command in slot 0 and waits for its end.
    pub fn send(&mut self, input: &[u8], output_length: usize) -> Answer {
        self.prepare(0, input, output_length);
        self.ring(1);
        self.work();
        self.answer(0, output_length)
    }

    /// Sends a command that has to succeed.
    pub fn ok(&mut self, input: &[u8], output_length: usize) -> Vec<u8> {
        let a = self.send(input, output_length);
        assert_eq!((a.delivery, a.status), (0, 0), "{a:?} {:?}", self.rules());
        a.output
    }

    /// Names of the rules broken since the last call.
    pub fn rules(&mut self) -> Vec<&'static str> {
        let c = &mut self.device.conformance;
        let names = c.violations().iter().map(|v| v.rule.name()).collect();
        c.clear();
        names
    }
}

/// A card by name. Its tables are read once: in fuzzing that would be most of the work.
fn card(name: &str) -> Variant {
    static CARDS: Mutex<BTreeMap<String, Variant>> = Mutex::new(BTreeMap::new());
    let mut cards = CARDS.lock().unwrap_or_else(PoisonError::into_inner);
    let load = || variants::load(name).unwrap();
    cards.entry(name.into()).or_insert_with(load).clone()
}

/// The input of a command with some fields set.
pub fn command(code: u16, length: usize, fields: &[(Field, u64)]) -> Vec<u8> {
    let mut input = vec![0u8; length];
    input[..2].copy_from_slice(&code.to_be_bytes());
    for (f, v) in fields {
        bits::set(&mut input, *f, *v);
    }
    input
}

/// MANAGE_PAGES that gives pages.
pub fn give(pages: &[u64], ec: bool) -> Vec<u8> {
    let mut input = command(
        opcode::MANAGE_PAGES,
        16,
        &[
            (manage_pages_in::OP_MOD, 1),
            (manage_pages_in::EMBEDDED_CPU_FUNCTION, ec.into()),
            (manage_pages_in::INPUT_NUM_ENTRIES, pages.len() as u64),
        ],
    );
    for p in pages {
        input.extend(p.to_be_bytes());
    }
    input
}

/// MANAGE_PAGES that takes pages back.
pub fn take(n: u64) -> Vec<u8> {
    command(
        opcode::MANAGE_PAGES,
        16,
        &[
            (manage_pages_in::OP_MOD, 2),
            (manage_pages_in::INPUT_NUM_ENTRIES, n),
        ],
    )
}

/// CREATE_EQ of 128 entries at `ring`, in whose memory every ownership bit gets set.
pub fn create_eq(rig: &mut Rig, ring: u64, uar: u64, events: u64) -> Vec<u8> {
    let at = create_eq_in::EQ_CONTEXT_ENTRY;
    for i in 0..128 {
        rig.put(ring + 64 * i + 63, &[1]);
    }
    let mut input = command(
        opcode::CREATE_EQ,
        create_eq_in::BYTES,
        &[
            (at / eqc::LOG_EQ_SIZE, 7),
            (at / eqc::UAR_PAGE, uar),
            (at / eqc::INTR, 1),
            (create_eq_in::EVENT_BITMASK.index(0), events),
        ],
    );
    for page in [ring, ring + 4096] {
        input.extend(page.to_be_bytes());
    }
    input
}
