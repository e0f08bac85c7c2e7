// SPDX-License-Identifier: GPL-2.0

//! Registers of the port that only the Ethernet side has, and the counters behind PPCNT.

mod counters;
mod port;
mod qos;

use std::collections::BTreeMap;

use crate::access_reg::{
    Access,
    Register, //
};
use crate::bits;
use crate::command::{
    Call,
    Outcome, //
};
use crate::ifc::Field;

pub use counters::fill as port_counters;

/// Registers of the Ethernet side, by chapter.
pub const REGISTERS: &[&[Register]] = &[port::REGISTERS, qos::REGISTERS];

/// What drivers wrote: contents by register number and index within the register.
#[derive(Debug, Clone, Default)]
pub struct State {
    contents: BTreeMap<(u16, u8), Vec<u8>>,
    /// Second of the timer at which the port's light goes out.
    beacon_end: u64,
}

/// A register of the port that can be read and written.
const fn register(
    id: u16,
    name: &'static str,
    layout: &'static str,
    run: fn(&mut Call<'_>, &mut [u8], bool) -> Outcome,
) -> Register {
    Register {
        id,
        name,
        layout,
        bytes: 0,
        access: Access::ReadWrite,
        pf_only: false,
        run,
    }
}

/// The contents of a register; those after power-up if nothing was written.
fn contents(
    call: &Call<'_>,
    key: (u16, u8),
    bytes: usize,
    initial: impl FnOnce(&mut [u8]),
) -> Vec<u8> {
    match call.device.net.registers.contents.get(&key) {
        Some(is) => is.clone(),
        None => {
            let mut is = vec![0; bytes];
            initial(&mut is);
            is
        }
    }
}

/// Keeps the contents of a register.
fn keep(call: &mut Call<'_>, key: (u16, u8), is: Vec<u8>) {
    call.device.net.registers.contents.insert(key, is);
}

/// Copies a field, all its elements.
fn copy(to: &mut [u8], from: &[u8], field: Field) {
    for i in 0..field.count {
        let here = field.index(i);
        bits::set(to, here, bits::get(from, here));
    }
}

/// Answers with the contents, but with what selected them as the driver sent it.
fn answer(data: &mut [u8], is: &[u8], selectors: &[Field]) {
    let asked = data.to_vec();
    data.fill(0);
    for (to, from) in data.iter_mut().zip(is) {
        *to = *from;
    }
    for s in selectors {
        copy(data, &asked, *s);
    }
}
