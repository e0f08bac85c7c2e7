// SPDX-License-Identifier: GPL-2.0

//! The Ethernet side: what the netdev of a driver needs.
//!
//! Each file here is a chapter of commands with a list of its own, named in [`CHAPTERS`].

use crate::command::Spec;
use crate::device::Device;
use crate::variants::Variant;

/// Chapters of commands of the Ethernet side.
pub const CHAPTERS: &[&[Spec]] = &[];

/// State of the Ethernet side.
#[derive(Default)]
pub struct Net {}

impl Net {
    /// State after power-up.
    pub fn new(_: &Variant) -> Net {
        Net::default()
    }

    /// Drops what a driver set up.
    pub fn reset(&mut self, variant: &Variant) {
        *self = Net::new(variant);
    }

    /// Called by the firmware thread after each command.
    pub fn run_later(&mut self) {}
}

/// Takes a write to a UAR page that is not an EQ doorbell. `offset` counts from the start of the
/// page. Returns false if there is no such register.
pub fn uar_write(_: &mut Device, _uar: u32, _offset: u64, _data: &[u8]) -> bool {
    false
}

/// Registers of the Ethernet side, by chapter.
pub const REGISTERS: &[&[crate::access_reg::Register]] = &[];

/// PAOS turned the port on or off.
pub fn set_port(device: &mut Device, up: bool) {
    let changed = device.registers.port_admin_up != up;
    device.registers.port_admin_up = up;
    if changed {
        // Sub-types "down" and "active" of PORT_CHANGE; the port number stands in 31:28 of word 2.
        let sub_type = if up { 4 } else { 1 };
        let mut data = [0u8; 12];
        data[8] = 1 << 4;
        device.post_event(crate::eq::event::PORT_CHANGE, sub_type, &data);
    }
}

/// Fills in a group of port counters (PPCNT `grp`); `out` starts as zeros.
pub fn port_counters(_: &mut Device, _group: u64, _out: &mut [u8]) {}
