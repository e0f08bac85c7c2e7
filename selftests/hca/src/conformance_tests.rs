// SPDX-License-Identifier: GPL-2.0

//! Each strict check at least once, through memory and doorbell as a driver would break it.

use crate::command::status::*;
use crate::faults::Fault;
use crate::harness::{
    command,
    create_eq,
    give,
    take,
    Rig,
    BASE,
    FREE, //
};
use crate::ifc::fields::*;
use crate::ifc::opcode;
use crate::mmio;

fn nop() -> Vec<u8> {
    command(opcode::NOP, 16, &[])
}

fn alloc_uar(rig: &mut Rig) -> u64 {
    let out = rig.ok(&command(opcode::ALLOC_UAR, 16, &[]), 16);
    crate::bits::get(&out, alloc_uar_out::UAR)
}

fn fault(rig: &mut Rig, text: &str) {
    let words: Vec<&str> = text.split_whitespace().collect();
    rig.device.faults.add(Fault::parse(&words).unwrap());
}

#[test]
fn a_whole_life_without_violation() {
    for variant in crate::variants::names() {
        let mut rig = Rig::initialized(variant);
        rig.ok(&nop(), 16);
        let uar = alloc_uar(&mut rig);
        let eq = create_eq(&mut rig, FREE, uar, 1 << 0x0a);
        let out = rig.ok(&eq, 16);
        let eqn = crate::bits::get(&out, create_eq_out::EQ_NUMBER);
        rig.ok(&nop(), 16);
        assert_eq!(rig.peek(FREE + 1, 1), [0x0a]);
        assert_eq!(rig.peek(FREE + 0x20, 4), [0, 0, 0, 1]);
        assert_eq!(rig.peek(FREE + 0x3f, 1), [0]);
        rig.write32(uar as u32 as u64 * 4096 + 0x40, ((eqn as u32) << 24) | 1);
        rig.ok(
            &command(opcode::DESTROY_EQ, 16, &[(destroy_eq_in::EQ_NUMBER, eqn)]),
            16,
        );
        rig.ok(
            &command(opcode::DEALLOC_UAR, 16, &[(dealloc_uar_in::UAR, uar)]),
            16,
        );
        rig.ok(&command(opcode::TEARDOWN_HCA, 16, &[]), 16);
        let ec = u64::from(rig.device.variant.iseg.embedded_cpu);
        let mut all = take(7);
        crate::bits::set(&mut all, manage_pages_in::EMBEDDED_CPU_FUNCTION, ec);
        let out = rig.ok(&all, 16 + 7 * 8);
        assert_eq!(
            crate::bits::get(&out, manage_pages_out::OUTPUT_NUM_ENTRIES),
            7
        );
        let off = [(disable_hca_in::EMBEDDED_CPU_FUNCTION, ec)];
        rig.ok(&command(opcode::DISABLE_HCA, 16, &off), 12);
        assert!(rig.rules().is_empty(), "{variant}");
    }
}

#[test]
fn delivery() {
    let mut rig = Rig::initialized("cx6dx");
    let cap = command(opcode::SET_DRIVER_VERSION, 80, &[]);
    // Wrong token in the entry alone.
    rig.prepare(0, &cap, 16);
    rig.patch_entry(0, |raw| raw[0x3c] ^= 1);
    rig.ring(1);
    rig.work();
    assert_eq!(rig.answer(0, 16).delivery, 2);
    assert_eq!(rig.rules(), ["block-token"]);
    // The last block points on.
    rig.prepare(0, &cap, 16);
    rig.put(Rig::INPUT_BLOCK + 0x236, &[4]);
    rig.device
        .caps
        .define("cmd_hca_cap.cmdif_checksum", 0, 3)
        .unwrap();
    rig.ring(1);
    rig.work();
    assert_eq!(rig.answer(0, 16).delivery, 0);
    assert_eq!(rig.rules(), ["chain-long"]);
    // Signatures count once they are enabled.
    rig.device
        .caps
        .define("cmd_hca_cap.cmdif_checksum", 3, 3)
        .unwrap();
    rig.prepare(0, &cap, 16);
    rig.put(Rig::INPUT_BLOCK, &[4]);
    rig.ring(1);
    rig.work();
    assert_eq!(rig.answer(0, 16).delivery, 1);
    assert_eq!(rig.rules(), ["block-signature"]);
}

#[test]
fn doorbell() {
    let mut rig = Rig::initialized("cx6dx");
    rig.ring(2);
    assert_eq!(rig.rules(), ["doorbell-ownership"]);
    fault(&mut rig, "NOP hold");
    rig.prepare(1, &nop(), 16);
    rig.ring(2);
    rig.ring(2);
    assert_eq!(rig.rules(), ["doorbell-busy"]);
    rig.write32(0x14, (BASE + 0x2000) as u32);
    assert_eq!(rig.rules(), ["queue-busy"]);
    rig.device.iseg.set_by_name("log_cmdq_size", 2).unwrap();
    rig.ring(1 << 4);
    assert_eq!(rig.rules(), ["doorbell-slot"]);
    rig.device.iseg.set_initializing(true);
    rig.ring(1);
    assert_eq!(rig.rules(), ["doorbell-not-ready"]);
    rig.device.iseg.set_initializing(false);
    rig.write32(0x14, 0x7000_0000);
    assert_eq!(rig.rules(), ["queue-address"]);
    rig.device.function_reset();
    rig.device.iseg.set_initializing(false);
    rig.ring(1);
    assert_eq!(rig.rules(), ["doorbell-queue"]);
}

#[test]
fn ownership_while_the_device_works() {
    let mut rig = Rig::initialized("cx6dx");
    let input = command(opcode::SET_DRIVER_VERSION, 80, &[]);
    fault(&mut rig, "any hold times forever");
    rig.prepare(0, &input, 16);
    rig.ring(1);
    rig.put(Rig::INPUT_BLOCK + 20, b"x");
    rig.device.cmdq.release(1, false);
    std::thread::sleep(std::time::Duration::from_millis(1));
    rig.work();
    assert_eq!(rig.rules(), ["mailbox-changed"]);
    rig.prepare(0, &nop(), 16);
    rig.ring(1);
    rig.put(Rig::entry(0) + 0x18, b"x");
    rig.device.cmdq.release(1, false);
    std::thread::sleep(std::time::Duration::from_millis(1));
    rig.work();
    assert_eq!(rig.rules(), ["entry-changed"]);
}

#[test]
fn registers() {
    let mut rig = Rig::initialized("cx6dx");
    rig.write32(0x200, 1);
    rig.write32(0x1010, 0);
    assert_eq!(rig.rules(), ["mmio-reserved"; 2]);
    mmio::write(&mut rig.device, 0x18, &[0; 8]);
    mmio::write(&mut rig.device, 0x19, &[0; 4]);
    mmio::read(&mut rig.device, 0x11, &mut [0; 4]);
    mmio::read(&mut rig.device, 0x10, &mut [0; 3]);
    assert_eq!(rig.rules(), ["mmio-access"; 4]);
    rig.write32(0x10_0040, 0);
    assert_eq!(rig.rules(), ["uar"]);
    let uar = alloc_uar(&mut rig);
    rig.write32(uar * 4096 + 0x40, 9 << 24);
    assert_eq!(rig.rules(), ["eq-doorbell"]);
    rig.write32(uar * 4096 + 0x10, 0);
    assert_eq!(rig.rules(), ["mmio-reserved"]);
}

#[test]
fn commands() {
    let mut rig = Rig::initialized("cx6dx");
    let mut check = |input: Vec<u8>, length: usize, status: u8, rule: &str| {
        let a = rig.send(&input, length);
        let rules = rig.rules();
        assert_eq!(
            (a.delivery, a.status, rules.as_slice()),
            (0, status, &[rule][..])
        );
        let number = a.syndrome & 0xffff;
        assert_eq!(a.syndrome >> 16, 0xca, "{number}");
    };
    check(command(0xfff, 16, &[]), 16, BAD_OP, "unknown-opcode");
    check(
        command(opcode::CREATE_DCT, 16, &[]),
        16,
        BAD_OP,
        "unsupported",
    );
    check(
        command(opcode::ALLOC_XRCD, 16, &[]),
        16,
        BAD_OP,
        "unsupported",
    );
    check(
        command(opcode::NOP, 8, &[]),
        16,
        BAD_INPUT_LENGTH,
        "input-length",
    );
    check(nop(), 8, BAD_OUTPUT_LENGTH, "output-length");
    check(
        command(opcode::NOP, 16, &[(nop_in::OP_MOD, 1)]),
        16,
        BAD_PARAM,
        "op-mod",
    );
    let mut reserved = nop();
    reserved[9] = 1;
    check(reserved, 16, BAD_PARAM, "command-reserved");
    let uid = [(create_eq_in::UID, 1)];
    check(command(opcode::NOP, 16, &uid), 16, BAD_PARAM, "uid");
    check(
        command(opcode::INIT_HCA, 32, &[]),
        16,
        BAD_RES_STATE,
        "order",
    );
    check(
        command(opcode::DISABLE_HCA, 16, &[]),
        12,
        BAD_RES_STATE,
        "order",
    );
    check(
        command(opcode::SET_ISSI, 16, &[]),
        16,
        BAD_SYS_STATE,
        "order",
    );
    let issi = [(set_issi_in::CURRENT_ISSI, 2)];
    check(command(opcode::SET_ISSI, 16, &issi), 16, BAD_PARAM, "value");
    let profile = [(teardown_hca_in::PROFILE, 7)];
    check(
        command(opcode::TEARDOWN_HCA, 16, &profile),
        16,
        BAD_PARAM,
        "value",
    );
    let pd = [(dealloc_pd_in::PD, 5)];
    check(
        command(opcode::DEALLOC_PD, 16, &pd),
        16,
        BAD_RESOURCE,
        "no-object",
    );
    let port = [
        (access_register_in::OP_MOD, 1),
        (access_register_in::REGISTER_ID, 0x5003),
    ];
    check(
        command(opcode::ACCESS_REG, 32, &port),
        32,
        BAD_PARAM,
        "value",
    );
    check(
        command(opcode::QUERY_ESW_FUNCTIONS, 16, &[]),
        128,
        BAD_OP,
        "unsupported",
    );
    let cap = [(query_hca_cap_in::OP_MOD, 0x7e)];
    check(
        command(opcode::QUERY_HCA_CAP, 16, &cap),
        4112,
        BAD_PARAM,
        "op-mod",
    );
}

#[test]
fn order_of_commands() {
    let mut rig = Rig::new("cx6dx");
    let a = rig.send(&command(opcode::QUERY_ISSI, 16, &[]), 112);
    assert_eq!((a.status, rig.rules()), (BAD_SYS_STATE, vec!["order"]));
    rig.ok(&command(opcode::ENABLE_HCA, 16, &[]), 12);
    let a = rig.send(&nop(), 16);
    assert_eq!((a.status, rig.rules()), (BAD_SYS_STATE, vec!["order"]));
    let a = rig.send(&command(opcode::INIT_HCA, 32, &[]), 16);
    assert_eq!(
        (a.status, rig.rules()),
        (BAD_SYS_STATE, vec!["pages-missing"])
    );
    rig.give_pages(3);
    let a = rig.send(&command(opcode::DISABLE_HCA, 16, &[]), 12);
    assert_eq!((a.status, rig.rules()), (OK, vec!["pages-held"]));
}

#[test]
fn pages() {
    let mut rig = Rig::initialized("cx6dx");
    let mut check = |pages: &[u64], rule: &str| {
        let a = rig.send(&give(pages, false), 16);
        assert_ne!(a.status, OK, "{rule}");
        assert_eq!(rig.rules(), [rule]);
    };
    check(&[0], "page-address");
    check(&[FREE + 8], "page-address");
    check(&[0x7000_0000], "page-address");
    check(&[FREE, FREE], "page-twice");
    check(&[BASE + 0x7f_f000], "page-twice");
    let a = rig.send(&give(&[FREE], false), 16);
    assert_eq!((a.status, rig.rules()), (OK, vec!["pages-excess"]));
    let mut short = give(&[FREE], false);
    short.truncate(16);
    let a = rig.send(&short, 16);
    assert_eq!(
        (a.status, rig.rules()),
        (BAD_INPUT_LENGTH, vec!["input-length"])
    );
    rig.device.check_unmap(FREE, 4096);
    rig.device.check_unmap(FREE + 4096, 4096);
    assert_eq!(rig.rules(), ["unmapped"]);
    rig.device.config.write(4, &[0x02, 0]);
    rig.device.check_unmap(FREE, 4096);
    assert!(rig.rules().is_empty());
    rig.device.config.write(4, &[0x06, 0]);
    // While it runs, the device gives back only what it wants to get rid of.
    let out = rig.ok(&take(4), 16 + 32);
    assert_eq!(
        crate::bits::get(&out, manage_pages_out::OUTPUT_NUM_ENTRIES),
        0
    );
    let a = rig.send(&take(4), 16);
    assert_eq!(
        (a.status, rig.rules()),
        (BAD_OUTPUT_LENGTH, vec!["output-length"])
    );
    // Teardown with an object left, then all pages twice over.
    alloc_uar(&mut rig);
    rig.ok(&command(opcode::TEARDOWN_HCA, 16, &[]), 16);
    assert_eq!(rig.rules(), ["objects-left"]);
    rig.ok(&take(8), 16 + 64);
    rig.ok(&take(8), 16 + 64);
    assert_eq!(rig.rules(), ["pages-take"]);
}

#[test]
fn capabilities() {
    let mut rig = Rig::new("cx6dx");
    rig.ok(&command(opcode::ENABLE_HCA, 16, &[]), 12);
    let query = [(query_hca_cap_in::OP_MOD, 1)];
    let out = rig.ok(&command(opcode::QUERY_HCA_CAP, 16, &query), 4112);
    let mut input = command(opcode::SET_HCA_CAP, 16, &[]);
    input.extend(&out[16..]);
    rig.ok(&input, 16);
    let at = set_hca_cap_in::CAPABILITY;
    for (field, value, rule) in [
        (cmd_hca_cap::LOG_MAX_QP, 31, "cap-above-max"),
        (cmd_hca_cap::LOG_MAX_EQ, 3, "cap-fixed"),
    ] {
        let mut bad = input.clone();
        crate::bits::set(&mut bad, at / field, value);
        let a = rig.send(&bad, 16);
        assert_eq!((a.status, rig.rules()), (BAD_PARAM, vec![rule]));
    }
}

#[test]
fn event_queues() {
    let mut rig = Rig::initialized("cx6dx");
    let uar = alloc_uar(&mut rig);
    let at = create_eq_in::EQ_CONTEXT_ENTRY;
    let good = create_eq(&mut rig, FREE, uar, 1 << 9);
    let mut check = |change: (crate::ifc::Field, u64), rule: &str| {
        let mut input = good.clone();
        crate::bits::set(&mut input, change.0, change.1);
        let a = rig.send(&input, 16);
        assert_ne!(a.status, OK, "{rule}");
        assert_eq!(rig.rules(), [rule]);
    };
    check((at / eqc::LOG_EQ_SIZE, 31), "limit");
    check((at / eqc::UAR_PAGE, 0x77), "no-object");
    check((at / eqc::INTR, 64), "limit");
    check((at / eqc::ST, 1), "value");
    check((at / eqc::LOG_EQ_SIZE, 8), "input-length");
    check((create_eq_in::PAS.index(1), 0x7000_0000), "dma");
    rig.put(FREE + 63, &[0]);
    let mut tracer = good.clone();
    crate::bits::set(
        &mut tracer,
        create_eq_in::EVENT_BITMASK.index(0),
        (1 << 9) | (1 << 0x20),
    );
    let out = rig.ok(&tracer, 16);
    assert_eq!(rig.rules(), ["eq-events", "eq-buffer"]);
    let eqn = crate::bits::get(&out, create_eq_out::EQ_NUMBER) as u32;
    let busy = rig.send(
        &command(opcode::DEALLOC_UAR, 16, &[(dealloc_uar_in::UAR, uar)]),
        16,
    );
    assert_eq!(
        (busy.status, rig.rules()),
        (RESOURCE_BUSY, vec!["object-busy"])
    );
    rig.device.post_event(9, 4, &[]);
    rig.device.post_event(9, 4, &[]);
    rig.write32(uar * 4096 + 0x48, (eqn << 24) | 2);
    rig.write32(uar * 4096 + 0x48, (eqn << 24) | 1);
    rig.write32(uar * 4096 + 0x48, (eqn << 24) | 3);
    assert_eq!(rig.rules(), ["eq-index"; 2]);
    for _ in 0..129 {
        rig.device.post_event(9, 4, &[]);
    }
    assert_eq!(rig.rules(), ["eq-overrun"]);
    assert_eq!(rig.device.health.synd(), 0x0c);
    let query = [(query_eq_in::EQ_NUMBER, eqn.into())];
    let out = rig.ok(&command(opcode::QUERY_EQ, 16, &query), 272);
    assert_eq!(
        crate::bits::get(&out, query_eq_out::EQ_CONTEXT_ENTRY / eqc::STATUS),
        0xa
    );
}

#[test]
fn injected_faults() {
    let mut rig = Rig::initialized("cx6dx");
    fault(&mut rig, "NOP status=6 syndrome=0x1234");
    let a = rig.send(&nop(), 16);
    assert_eq!((a.status, a.syndrome), (6, 0x1234));
    fault(&mut rig, "NOP delivery=6");
    assert_eq!(rig.send(&nop(), 16).delivery, 6);
    fault(&mut rig, "NOP drop");
    rig.prepare(3, &nop(), 16);
    rig.ring(8);
    assert!(rig.work().is_empty());
    fault(&mut rig, "NOP hold times 2");
    for slot in [0, 1] {
        rig.prepare(slot, &nop(), 16);
        rig.ring(1 << slot);
    }
    assert!(rig.work().is_empty());
    assert_eq!(rig.device.cmdq.release(9, true), 2);
    std::thread::sleep(std::time::Duration::from_millis(1));
    assert_eq!(rig.work(), [1, 0], "out of order");
    fault(&mut rig, "QUERY_ISSI wrong-token");
    rig.prepare(0, &command(opcode::QUERY_ISSI, 16, &[]), 112);
    rig.ring(1);
    rig.work();
    let before = rig.peek(Rig::entry(0) + 0x3c, 1);
    rig.send(&command(opcode::QUERY_ISSI, 16, &[]), 112);
    let after = rig.peek(Rig::entry(0) + 0x3c, 1);
    assert_ne!(before[0].wrapping_add(1), after[0], "the first was damaged");
    assert!(rig.rules().is_empty());
}

#[test]
fn a_guest_that_writes_anything_does_no_harm() {
    // A small generator of numbers: the same every time.
    let mut seed = 0x1234_5678_9abc_def1u64;
    let mut next = move || {
        seed ^= seed << 13;
        seed ^= seed >> 7;
        seed ^= seed << 17;
        seed
    };
    let mut rig = Rig::initialized("bf2");
    let codes: Vec<u16> = opcode::NAMES.iter().map(|(c, _)| *c).collect();
    for round in 0..4000u64 {
        let code = codes[(next() % codes.len() as u64) as usize];
        if matches!(code, opcode::TEARDOWN_HCA | opcode::DISABLE_HCA) && round % 50 != 0 {
            continue;
        }
        let length = [16, 32, 272, 280, 4112][(next() % 5) as usize];
        let mut input = command(code, length, &[]);
        for _ in 0..next() % 12 {
            let at = 2 + (next() % (length as u64 - 2)) as usize;
            input[at] = next() as u8;
        }
        rig.send(&input, [8, 16, 128, 4112][(next() % 4) as usize]);
        let offset = next() % rig.device.variant.bar0_bytes;
        rig.write32(offset & !3, next() as u32);
        rig.device.cmdq.release(99, false);
        std::thread::yield_now();
        rig.work();
        if rig.rules().contains(&"model") {
            panic!("a handler failed in round {round}, opcode 0x{code:x}");
        }
        // The queue may have been moved or stopped by a stray write.
        rig.write32(0x10, 0);
        rig.write32(0x14, BASE as u32);
        rig.device.iseg.set_initializing(false);
    }
}

#[test]
fn a_function_that_is_no_bus_master_leaves_memory_alone() {
    let mut rig = Rig::initialized("cx6dx");
    rig.prepare(0, &nop(), 16);
    rig.write32(0x18, 1);
    // The driver has gone in the meantime, and its memory is somebody else's.
    rig.device.config.write(4, &[0x02, 0]);
    rig.put(BASE, &[0x5a; 64]);
    crate::cmdq::complete(&mut rig.device, 0);
    assert_eq!(rig.peek(BASE, 64), [0x5a; 64]);
    assert!(rig.rules().is_empty(), "{:?}", rig.rules());
}
