// SPDX-License-Identifier: GPL-2.0

//! What a guest, and whoever holds the control socket, can do to the model, for selftests/fuzz.

use crate::device::Stage;
use crate::harness::{
    Rig,
    FREE, //
};
use crate::ifc::opcode;
use crate::{
    control,
    mmio, //
};

/// Slots of the command queue.
pub const SLOTS: u64 = 32;

/// Memory of the guest that nothing else uses; its page 0 lies there.
pub const MEMORY: u64 = FREE;

/// Address of the entry of slot 0; those of the others follow.
pub const QUEUE: u64 = crate::harness::BASE;

/// Address of the first input block of slot 0.
pub const INPUT: u64 = Rig::INPUT_BLOCK;

/// All opcodes of the kernel's header, by number.
pub fn opcodes() -> impl ExactSizeIterator<Item = u16> {
    opcode::NAMES.iter().map(|(code, _)| *code)
}

/// A guest with one card, whose driver has started it.
pub struct Guest(Rig);

impl Guest {
    /// Starts a card of the named kind.
    pub fn new(variant: &str) -> Guest {
        Guest(Rig::initialized(variant))
    }

    /// Writes a command into a slot, as a good driver does it.
    pub fn prepare(&mut self, slot: u64, input: &[u8], output_length: usize) {
        self.0.prepare(slot % SLOTS, input, output_length);
    }

    /// Changes bytes of an entry; it is signed again.
    pub fn patch_entry(&mut self, slot: u64, at: usize, bytes: &[u8]) {
        self.0.patch_entry(slot % SLOTS, |entry| {
            for (to, from) in entry.iter_mut().skip(at).zip(bytes) {
                *to = *from;
            }
        });
    }

    /// Writes memory; an address that is none of the guest's is left alone.
    pub fn put(&mut self, address: u64, bytes: &[u8]) {
        let _ = self.0.device.memory.write(address, bytes);
    }

    /// Writes to BAR0, and lets the firmware do what is due then.
    pub fn write(&mut self, offset: u64, bytes: &[u8]) {
        mmio::write(&mut self.0.device, offset, bytes);
        self.work();
    }

    /// Reads from BAR0.
    pub fn read(&mut self, offset: u64, length: usize) -> Vec<u8> {
        let mut data = vec![0; length];
        mmio::read(&mut self.0.device, offset, &mut data);
        data
    }

    /// Writes to configuration space, and reads it back.
    pub fn configure(&mut self, offset: u64, bytes: &[u8]) {
        self.0.device.config.write(offset, bytes);
        let mut back = vec![0; bytes.len()];
        self.0.device.config.read(offset, &mut back);
    }

    /// Has the control socket run a request. The one that ends the program, also as the effect of a
    /// fault, and those that wait for something, are not for here.
    pub fn request(&mut self, line: &str) -> Option<Result<Vec<String>, String>> {
        let words: Vec<&str> = line.split_whitespace().collect();
        if matches!(words.first(), None | Some(&"wait")) || line.contains("exit") {
            return None;
        }
        let answer = control::perform(&mut self.0.device, &words);
        self.work();
        Some(answer)
    }

    /// Lets the firmware do what is due.
    pub fn work(&mut self) {
        self.0.work();
        let now = std::time::Instant::now();
        crate::later::run_due(&mut self.0.device, now);
        crate::net::run_due(&mut self.0.device, now);
    }

    /// Resets the function and starts it as a driver does.
    ///
    /// # Panics
    ///
    /// If that does not work as with a new card, whatever was done before.
    pub fn start_again(&mut self) {
        let rig = &mut self.0;
        rig.device.function_reset();
        rig.rules();
        rig.restart();
        assert_eq!(rig.device.stage, Stage::Initialized);
    }
}
