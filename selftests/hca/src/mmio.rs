// SPDX-License-Identifier: GPL-2.0

//! Accesses to BAR0: the initialization segment, then UAR pages.

use crate::cmdq;
use crate::device::{
    Device,
    Stage, //
};
use crate::eq::CiError;
use crate::iseg::{
    self,
    at,
    nic, //
};
use crate::net;
use crate::rules::Rule;

/// Size of a UAR page.
const UAR_BYTES: u64 = 4096;

/// Doorbells of event queues in a UAR page: update and arm, update only.
const EQ_ARM: u64 = 0x40;
const EQ_UPDATE: u64 = 0x48;

/// A read; `data` has the right length and lies inside of BAR0.
pub fn read(device: &mut Device, offset: u64, data: &mut [u8]) {
    let length = data.len() as u64;
    if !matches!(length, 1 | 2 | 4 | 8) || offset % length != 0 {
        let text = format!("read of {length} bytes at {offset:#x}");
        device.violation(Rule::MmioAccess, "MMIO", text);
    }
    let c = &mut device.counters;
    match offset {
        o if (at::HEALTH..at::HEALTH_END).contains(&o) || o & !3 == at::HEALTH_COUNTER => {
            c.mmio_read_health += 1;
        }
        o if o < iseg::SIZE => c.mmio_read_iseg += 1,
        _ => c.mmio_read_other += 1,
    }
    for (i, byte) in (0u64..).zip(data.iter_mut()) {
        let here = offset.saturating_add(i);
        let word = word(device, here & !3).to_be_bytes();
        *byte = word[(here & 3) as usize];
    }
}

/// The big-endian word at an offset.
fn word(device: &mut Device, offset: u64) -> u32 {
    match offset {
        at::HEALTH_COUNTER => (device.health.synd() << 24) | device.health.counter(),
        o if (at::HEALTH..at::HEALTH_END).contains(&o) => {
            crate::bits::word(&device.health.buffer, (o - at::HEALTH) as usize)
        }
        o if o < iseg::SIZE => {
            let khz = device.variant.timer_khz();
            device.iseg.word(o, khz)
        }
        // Doorbells are write-only.
        _ => 0,
    }
}

/// A write; it lies inside of BAR0.
pub fn write(device: &mut Device, offset: u64, data: &[u8]) {
    if offset < iseg::SIZE {
        write_iseg(device, offset, data);
    } else {
        write_uar(device, offset, data);
    }
}

fn value(data: &[u8]) -> Option<u32> {
    Some(u32::from_be_bytes(data.try_into().ok()?))
}

fn write_iseg(device: &mut Device, offset: u64, data: &[u8]) {
    if offset == at::DOORBELL {
        device.counters.mmio_write_doorbell += 1;
    } else {
        device.counters.mmio_write_iseg += 1;
    }
    let Some(value) = value(data).filter(|_| offset % 4 == 0) else {
        let text = format!("write of {} bytes at {offset:#x}", data.len());
        device.violation(Rule::MmioAccess, "MMIO", text);
        return;
    };
    match offset {
        at::QUEUE_HIGH => device.iseg.write_queue_high(value),
        at::QUEUE_LOW => write_queue_low(device, value),
        at::DOORBELL => cmdq::doorbell(device, value),
        // The acknowledge of a PCI-synchronous reset, and the legacy interrupt.
        at::INITIALIZING | at::CLEAR_INT | at::CLEAR_INTX => {}
        // What the health buffer holds from before may be cleared, and by nothing but zeros.
        o if (at::HEALTH..at::HEALTH_END).contains(&o) && value == 0 => {
            device.health.write_zero((o - at::HEALTH) as usize);
        }
        _ => {
            let text = format!("write of {value:#010x} at {offset:#x}");
            device.violation(Rule::MmioReserved, "MMIO", text);
        }
    }
}

/// The low word of the queue address starts the command interface, or asks for another
/// `nic_interface`.
fn write_queue_low(device: &mut Device, value: u32) {
    let subject = "command queue";
    let old = device.cmdq.address;
    let interface = device.iseg.write_queue_low(value);
    if value & 0xff != 0 {
        // Queue size and stride are read-only.
        let text = format!("bits 7:0 of {value:#010x} are not zero");
        device.violation(Rule::MmioReserved, subject, text);
    }
    match interface {
        nic::FULL => {}
        nic::DISABLED => {
            device.drop_driver_state();
            return;
        }
        nic::SW_RESET => {
            device.firmware_reset();
            return;
        }
        other => {
            let text = format!("nic_interface is {other}");
            device.violation(Rule::Value, subject, text);
            return;
        }
    }
    let address = device.iseg.queue_address();
    let size = device.iseg.stride() * u64::from(device.iseg.slots());
    if device.cmdq.in_flight() > 0 && old != Some(address) {
        let n = device.cmdq.in_flight();
        let text = format!("address {address:#x} is written with {n} commands outstanding");
        device.violation(Rule::QueueBusy, subject, text);
    }
    if address == 0 {
        device.drop_driver_state();
        return;
    }
    if let Err(fault) = device.memory.check(address, size, true) {
        device.violation(Rule::QueueAddress, subject, fault.to_string());
    }
    if device.reset.is_dirty() {
        // It goes on with what it had, and takes no command of a new driver.
        device.cmdq.clear();
    } else if device.stage != Stage::Disabled || device.cmdq.jobs().next().is_some() {
        // A driver that starts anew after an error: what it had before is gone.
        device.drop_driver_state();
    }
    device.cmdq.address = Some(address);
}

fn write_uar(device: &mut Device, offset: u64, data: &[u8]) {
    let (uar, inside) = ((offset / UAR_BYTES) as u32, offset % UAR_BYTES);
    let eq = matches!(inside, EQ_ARM | EQ_UPDATE);
    if eq {
        device.counters.mmio_write_eq_doorbell += 1;
    } else {
        device.counters.mmio_write_other += 1;
    }
    if !device.has_uar(uar) {
        let text = format!("write at {offset:#x}: UAR page 0x{uar:x} does not exist");
        device.violation(Rule::Uar, "UAR", text);
        return;
    }
    if !eq {
        if !net::uar_write(device, uar, inside, data) {
            let text = format!("write of {} bytes at {inside:#x} of a UAR page", data.len());
            device.violation(Rule::MmioReserved, "UAR", text);
        }
        return;
    }
    let Some(value) = value(data) else {
        let text = format!("EQ doorbell of {} bytes", data.len());
        device.violation(Rule::MmioAccess, "UAR", text);
        return;
    };
    eq_doorbell(device, uar, value, inside == EQ_ARM);
}

fn eq_doorbell(device: &mut Device, uar: u32, value: u32, arm: bool) {
    let number = (value >> 24) as u8;
    let Some(eq) = device.eqs.get_mut(number) else {
        let text = format!("EQ {number} does not exist (value {value:#010x})");
        device.violation(Rule::EqDoorbell, "EQ doorbell", text);
        return;
    };
    if eq.uar != uar {
        let text = format!(
            "EQ {number} belongs to UAR 0x{:x}, not to 0x{uar:x}",
            eq.uar
        );
        device.violation(Rule::EqDoorbell, "EQ doorbell", text);
        return;
    }
    match eq.update(value & 0x00ff_ffff, arm) {
        Ok(Some(vector)) => device.interrupt(vector),
        Ok(None) => {}
        Err(CiError::Backwards { old, new }) => {
            let text = format!("EQ {number}: from {old} back to {new}");
            device.violation(Rule::EqIndex, "EQ doorbell", text);
        }
        Err(CiError::PastProducer { new, producer }) => {
            let text = format!("EQ {number}: {new} is past the producer {producer}");
            device.violation(Rule::EqIndex, "EQ doorbell", text);
        }
    }
}
