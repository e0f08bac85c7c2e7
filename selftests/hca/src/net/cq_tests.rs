// SPDX-License-Identifier: GPL-2.0

//! Completion queues: ownership, overrun, arming, moderation.

use std::time::{
    Duration,
    Instant, //
};

use super::cq::*;
use super::ring::Ring;
use crate::bits;
use crate::ifc::fields::cqc;
use crate::memory::fake::guest;
use crate::memory::GuestMemory;

/// A queue of four entries at 1000h with its record at 2000h.
pub fn small() -> Cq {
    let ring = Ring::new(vec![0x1000], 12, 0, 2, 6).unwrap();
    let mut context = vec![0; cqc::BYTES];
    bits::set(&mut context, cqc::DBR_ADDR, 0x2000);
    bits::set(&mut context, cqc::C_EQN_OR_APU_ELEMENT, 5);
    Cq::new(3, ring, &context)
}

fn entry(opcode: u8) -> Cqe {
    let mut e = [0; CQE_BYTES];
    e[at::OPCODE_OWNER] = opcode << 4;
    e
}

fn last(memory: &GuestMemory, index: u64) -> u8 {
    let mut b = [0];
    memory.read(0x1000 + index * 64 + 0x3f, &mut b).unwrap();
    b[0]
}

fn set(memory: &GuestMemory, offset: u64, word: u32) {
    memory.write(0x2000 + offset, &word.to_be_bytes()).unwrap();
}

#[test]
fn ownership_changes_with_each_pass() {
    let memory = guest(0x1000, 0x2000);
    let mut cq = small();
    for pass in 0..4u32 {
        for i in 0..4 {
            assert_eq!(
                cq.write(&memory, &entry(2), Instant::now()),
                Written::Ok(false)
            );
            assert_eq!(u32::from(last(&memory, i)), 0x20 | pass & 1);
            set(&memory, 0, cq.pi);
        }
    }
    cq.pi = COUNTER_MASK;
    set(&memory, 0, COUNTER_MASK);
    assert_eq!(
        cq.write(&memory, &entry(0), Instant::now()),
        Written::Ok(false)
    );
    assert_eq!(cq.pi, 0);
    assert_eq!(last(&memory, 3), 1);
}

#[test]
fn overrun_fails_the_queue() {
    let memory = guest(0x1000, 0x2000);
    let mut cq = small();
    for _ in 0..4 {
        assert_eq!(
            cq.write(&memory, &entry(0), Instant::now()),
            Written::Ok(false)
        );
    }
    assert_eq!(
        cq.write(&memory, &entry(0), Instant::now()),
        Written::Overrun { consumer: 0 }
    );
    assert_eq!(cq.status, status::OVERFLOW);
    assert_eq!(cq.write(&memory, &entry(0), Instant::now()), Written::Dead);
    let mut cq = small();
    cq.overrun_ignore = true;
    for _ in 0..9 {
        assert_eq!(
            cq.write(&memory, &entry(0), Instant::now()),
            Written::Ok(false)
        );
    }
}

#[test]
fn arming() {
    let memory = guest(0x1000, 0x2000);
    let mut cq = small();
    set(&memory, 4, 0);
    assert_eq!(cq.arm(&memory, 0, Instant::now()), Ok(false));
    assert_eq!(
        cq.write(&memory, &entry(0), Instant::now()),
        Written::Ok(true)
    );
    assert_eq!(
        cq.write(&memory, &entry(0), Instant::now()),
        Written::Ok(false)
    );
    let old = Err(ArmError::Record { record: 0 });
    assert_eq!(cq.arm(&memory, 1, Instant::now()), old);
    set(&memory, 4, 1);
    assert_eq!(
        cq.arm(&memory, 1, Instant::now()),
        Ok(false),
        "asked for before"
    );
    assert_eq!(cq.st, st::FIRED);
    set(&memory, 4, (3 << 28) | 1);
    let wrong = Err(ArmError::Sequence { got: 3, want: 1 });
    assert_eq!(cq.arm(&memory, (3 << 28) | 1, Instant::now()), wrong);
    // One entry waits that the driver has not seen.
    set(&memory, 4, (1 << 28) | 1);
    assert_eq!(cq.arm(&memory, (1 << 28) | 1, Instant::now()), Ok(true));
    set(&memory, 4, (2 << 28) | 3);
    let past = ArmError::PastProducer { ci: 3, producer: 2 };
    assert_eq!(cq.arm(&memory, (2 << 28) | 3, Instant::now()), Err(past));
}

#[test]
fn solicited_only() {
    let memory = guest(0x1000, 0x2000);
    let mut cq = small();
    set(&memory, 4, 1 << 24);
    assert_eq!(cq.arm(&memory, 1 << 24, Instant::now()), Ok(false));
    assert_eq!(
        cq.write(&memory, &entry(0), Instant::now()),
        Written::Ok(false)
    );
    let mut e = entry(2);
    e[at::OPCODE_OWNER] |= SOLICITED;
    assert_eq!(cq.write(&memory, &e, Instant::now()), Written::Ok(true));
}

#[test]
fn moderation() {
    let memory = guest(0x1000, 0x2000);
    let mut cq = small();
    bits::set(&mut cq.context, cqc::CQ_MAX_COUNT, 3);
    bits::set(&mut cq.context, cqc::CQ_PERIOD, 50);
    let now = Instant::now();
    let end = now.checked_add(Duration::from_micros(50));
    assert_eq!(cq.arm(&memory, 0, now), Ok(false));
    assert_eq!(cq.write(&memory, &entry(0), now), Written::Ok(false));
    assert_eq!(cq.due, end);
    let later = now + Duration::from_micros(9);
    assert_eq!(cq.write(&memory, &entry(0), later), Written::Ok(false));
    assert_eq!(cq.due, end, "the first entry started the time");
    bits::set(&mut cq.context, cqc::CQ_PERIOD_MODE, START_FROM_CQE);
    assert_eq!(cq.write(&memory, &entry(0), later), Written::Ok(true));
    assert_eq!((cq.due, cq.events, cq.st), (None, 1, st::FIRED));
    // A solicited entry does not wait.
    bits::set(&mut cq.context, cqc::SCQE_BREAK_MODERATION_EN, 1);
    set(&memory, 4, (1 << 28) | 3);
    assert_eq!(cq.arm(&memory, (1 << 28) | 3, now), Ok(false));
    let mut solicited = entry(2);
    solicited[at::OPCODE_OWNER] |= SOLICITED;
    assert_eq!(cq.write(&memory, &solicited, now), Written::Ok(true));
    let mut cq = small();
    bits::set(&mut cq.context, cqc::CQ_MAX_COUNT, 3);
    bits::set(&mut cq.context, cqc::CQ_PERIOD, 50);
    (cq.pi, cq.events) = (3, 1);
    // Armed while two are left over that the driver has not seen.
    set(&memory, 4, (1 << 28) | 1);
    assert_eq!(cq.arm(&memory, (1 << 28) | 1, now), Ok(false));
    assert_eq!(cq.due, end);
}

#[test]
fn without_memory() {
    let memory = guest(0x8000, 0x1000);
    let mut cq = small();
    assert!(matches!(
        cq.write(&memory, &entry(0), Instant::now()),
        Written::Fault(_)
    ));
    assert!(matches!(
        cq.arm(&memory, 0, Instant::now()),
        Err(ArmError::Fault(_))
    ));
}
