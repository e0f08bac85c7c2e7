// SPDX-License-Identifier: GPL-2.0

//! The device model: it never crashes, whatever a guest or a control client does.

use crate::input::Input;
use hca::fuzz::{
    self,
    Guest, //
};

/// Cards that differ in what a guest can do with them.
const CARDS: [&str; 3] = ["cx6dx", "bf2", "cx7vf"];

/// Most steps of a run.
const STEPS: usize = 64;

/// Does what a guest can do: commands good and bad, registers, memory. After a reset the card works
/// as on the first day.
pub fn commands(input: &mut Input<'_>) {
    let mut guest = Guest::new(CARDS[usize::from(input.u8()) % CARDS.len()]);

    for _ in 0..STEPS {
        if input.is_empty() {
            break;
        }
        step(&mut guest, input);
    }
    guest.start_again();
}

fn step(guest: &mut Guest, input: &mut Input<'_>) {
    match input.u8() % 8 {
        // A command in a slot, with the fields that the bytes say.
        0..=2 => {
            let slot = u64::from(input.u8() & 3);
            command(guest, slot, input);
            guest.write(0x18, &(1u32 << slot).to_be_bytes());
        }
        // The same with a part of the entry changed.
        3 => {
            let slot = u64::from(input.u8() & 3);
            command(guest, slot, input);
            let at = usize::from(input.u8() & 0x3f);
            let length = usize::from(input.u8() & 15);
            guest.patch_entry(slot, at, input.bytes(length));
            guest.write(0x18, &(1u32 << slot).to_be_bytes());
        }
        // Memory: entries, blocks, and what is behind them.
        4 => {
            let base = [fuzz::QUEUE, fuzz::INPUT, fuzz::MEMORY, 0][usize::from(input.u8() & 3)];
            let address = base.wrapping_add(u64::from(input.u32() >> 8));
            let length = usize::from(input.u8());
            guest.put(address, input.bytes(length));
        }
        // Registers, and doorbells of the pages behind them.
        5 => {
            let offset = u64::from(input.u32() & 0x3_ffff);
            let length = usize::from(input.u8() % 9);
            let data = input.bytes(length);
            guest.write(offset, data);
            assert_eq!(guest.read(offset, length).len(), length);
        }
        6 => {
            let offset = u64::from(input.u16());
            let length = usize::from(input.u8() % 9);
            guest.configure(offset, input.bytes(length));
        }
        _ => guest.work(),
    }
}

/// Writes a command into a slot.
fn command(guest: &mut Guest, slot: u64, input: &mut Input<'_>) {
    let codes = fuzz::opcodes();
    let choice = input.below(codes.len() + 1);
    let code = match fuzz::opcodes().nth(choice) {
        Some(code) => code,
        None => input.u16(),
    };
    let length = [16, 32, 64, 0x110, 0x210, 0x410][usize::from(input.u8()) % 6];
    let output = [8, 12, 16, 0x110, 0x810, 0x1010][usize::from(input.u8()) % 6];
    let given = usize::from(input.u8());
    let mut bytes = vec![0; length];
    bytes[..2].copy_from_slice(&code.to_be_bytes());
    for (to, from) in bytes[2..].iter_mut().zip(input.bytes(given)) {
        *to = *from;
    }
    // Addresses of memory that is there, where a list of pages begins.
    if given & 0x80 != 0 && length > 0x10 {
        for (i, to) in bytes[0x10..].chunks_exact_mut(8).enumerate() {
            to.copy_from_slice(&(fuzz::MEMORY + 4096 * i as u64).to_be_bytes());
        }
    }
    guest.prepare(slot, &bytes, output);
}

/// Sends requests to the control socket, a line each.
pub fn control(input: &mut Input<'_>) {
    let mut guest = Guest::new(CARDS[usize::from(input.u8()) % CARDS.len()]);
    let text = String::from_utf8_lossy(input.rest());

    for line in text.lines().take(STEPS) {
        if let Some(Err(reason)) = guest.request(line) {
            assert!(!reason.is_empty());
        }
    }
}
