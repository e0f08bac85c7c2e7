// SPDX-License-Identifier: GPL-2.0

//! Faults through memory and doorbell, as a driver meets them.

use std::time::{
    Duration,
    Instant, //
};

use crate::control::perform;
use crate::harness::{
    command,
    create_eq,
    Rig,
    BASE,
    FREE, //
};
use crate::ifc::fields::*;
use crate::ifc::opcode;
use crate::later;

fn ask(rig: &mut Rig, request: &str) -> Result<Vec<String>, String> {
    let words: Vec<&str> = request.split_whitespace().collect();
    perform(&mut rig.device, &words)
}

fn nop() -> Vec<u8> {
    command(opcode::NOP, 16, &[])
}

/// A rig with an EQ for command completions at `FREE`; returns the EQ's number.
fn with_eq() -> (Rig, u64) {
    let mut rig = Rig::initialized("cx6dx");
    let out = rig.ok(&command(opcode::ALLOC_UAR, 16, &[]), 16);
    let uar = crate::bits::get(&out, alloc_uar_out::UAR);
    let eq = create_eq(&mut rig, FREE, uar, 1 << 0x0a);
    let out = rig.ok(&eq, 16);
    let eqn = crate::bits::get(&out, create_eq_out::EQ_NUMBER);
    (rig, eqn)
}

/// Type, slot bits and ownership of an EQE.
fn eqe(rig: &Rig, index: u64) -> (u8, u32, u8) {
    let e = rig.peek(FREE + 64 * index, 64);
    (e[1], crate::bits::word(&e, 0x20), e[0x3f] & 1)
}

fn pass_time(rig: &mut Rig, ms: u64) {
    later::run_due(&mut rig.device, Instant::now() + Duration::from_millis(ms));
}

fn send_in(rig: &mut Rig, slot: u64) {
    rig.prepare(slot, &nop(), 16);
    rig.ring(1 << slot);
    rig.work();
}

#[test]
fn bytes_of_entry_and_block() {
    let mut rig = Rig::initialized("cx6dx");
    ask(&mut rig, "fault add NOP entry 0=63").unwrap();
    ask(&mut rig, "fault add NOP entry 0x3f=05").unwrap();
    send_in(&mut rig, 0);
    let entry = rig.peek(Rig::entry(0), 64);
    assert_eq!((entry[0], entry[0x3f]), (0x63, 0x05), "still the device's");
    ask(&mut rig, "fault add QUERY_ISSI block 0 0x3=aabb").unwrap();
    let out = rig.ok(&command(opcode::QUERY_ISSI, 16, &[]), 112);
    assert_eq!(out[16 + 3..16 + 5], [0xaa, 0xbb]);
    assert!(ask(&mut rig, "fault").unwrap().is_empty());
}

#[test]
fn a_second_completion() {
    let (mut rig, _) = with_eq();
    ask(&mut rig, "fault add NOP again=5000").unwrap();
    send_in(&mut rig, 0);
    assert_eq!(eqe(&rig, 0), (0x0a, 1, 0));
    let first = rig.peek(Rig::entry(0), 64);
    rig.put(Rig::entry(0), &[0; 64]);
    pass_time(&mut rig, 0);
    assert_eq!(rig.peek(Rig::entry(0), 64), [0; 64]);
    pass_time(&mut rig, 5000);
    assert_eq!(rig.peek(Rig::entry(0), 64), first);
    assert_eq!(eqe(&rig, 1), (0x0a, 1, 0));
    // The memory is not the device's any more.
    ask(&mut rig, "fault add NOP again=50").unwrap();
    send_in(&mut rig, 0);
    rig.put(Rig::entry(0), &[0; 64]);
    rig.device.config.write(4, &[0x02, 0]);
    pass_time(&mut rig, 60);
    assert_eq!(rig.peek(Rig::entry(0), 64), [0; 64]);
}

#[test]
fn a_request_at_a_command() {
    let mut rig = Rig::initialized("cx6dx");
    ask(&mut rig, "fault add NOP skip=1 do pci dead 30").unwrap();
    rig.send(&nop(), 16);
    assert!(rig.device.pci_alive);
    send_in(&mut rig, 0);
    assert!(!rig.device.pci_alive);
    assert_eq!(rig.peek(Rig::entry(0) + 0x3f, 1), [1], "off the bus");
    pass_time(&mut rig, 40);
    assert!(rig.device.pci_alive);
    ask(&mut rig, "pci dead 30").unwrap();
    ask(&mut rig, "pci dead").unwrap();
    pass_time(&mut rig, 40);
    assert!(!rig.device.pci_alive, "for good this time");
    // What cannot be done does no harm.
    ask(&mut rig, "pci alive").unwrap();
    ask(&mut rig, "fault add NOP do eqe completion 1").unwrap();
    rig.send(&nop(), 16);
    assert!(rig.rules().is_empty());
}

#[test]
fn events_lost_late_and_wrong() {
    let (mut rig, _) = with_eq();
    ask(&mut rig, "eqe fault CMD drop").unwrap();
    rig.send(&nop(), 16);
    assert_eq!(eqe(&rig, 0).2, 1, "not written");
    ask(&mut rig, "eqe fault CMD set 0x20=80000000").unwrap();
    rig.send(&nop(), 16);
    assert_eq!(eqe(&rig, 0), (0x0a, 0x8000_0000, 0));
    ask(&mut rig, "eqe fault any delay=5000").unwrap();
    rig.send(&nop(), 16);
    assert_eq!(eqe(&rig, 1).2, 1);
    pass_time(&mut rig, 5000);
    assert_eq!(eqe(&rig, 1), (0x0a, 1, 0));
    ask(&mut rig, "eqe fault CMD swap").unwrap();
    send_in(&mut rig, 2);
    send_in(&mut rig, 3);
    assert_eq!((eqe(&rig, 2).1, eqe(&rig, 3).1), (8, 4));
    ask(&mut rig, "eqe fault CMD set 0x3f=01").unwrap();
    rig.send(&nop(), 16);
    assert_eq!(eqe(&rig, 4), (0x0a, 1, 1), "the ownership bit of software");
    // The queue is gone before the event comes.
    ask(&mut rig, "eqe fault any delay=50").unwrap();
    rig.send(&nop(), 16);
    rig.device.drop_driver_state();
    pass_time(&mut rig, 60);
    assert_eq!(eqe(&rig, 5).2, 1);
}

#[test]
fn memory_that_the_device_may_write() {
    let (mut rig, eqn) = with_eq();
    let page = rig.device.pages.first(1)[0];
    let before = rig.peek(page, 4096);
    assert_eq!(ask(&mut rig, "dma pages 2 7").unwrap(), ["written: 2"]);
    assert_ne!(rig.peek(page, 4096), before);
    ask(&mut rig, "dma slot 5 0x3c=a55a").unwrap();
    assert_eq!(rig.peek(Rig::entry(5) + 0x3c, 2), [0xa5, 0x5a]);
    ask(&mut rig, &format!("dma eqe {eqn} 3 0x3f=00")).unwrap();
    assert_eq!(rig.peek(FREE + 3 * 64 + 0x3f, 1), [0]);
    for bad in [
        "dma",
        "dma slot 99 0=00",
        "dma slot 0 0x3f=0000",
        "dma eqe 200 0 0=00",
    ] {
        assert!(ask(&mut rig, bad).is_err(), "{bad}");
    }
    rig.device.config.write(4, &[0x02, 0]);
    assert!(ask(&mut rig, "dma slot 5 0=00").is_err());
    assert_eq!(rig.peek(BASE, 1), [7], "the first entry is as it was");
}
