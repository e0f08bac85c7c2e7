// SPDX-License-Identifier: GPL-2.0

//! Slots of the command queue: who has them, and what a completion means.

use mlx5_prm_host::cmd::slots::{Kind, Slot, Slots, Verdict, MAX};
use mlx5_prm_host::prm::opcode::Opcode;
use proptest::prelude::*;

fn states(slots: &Slots) -> Vec<(usize, Slot)> {
    slots.outstanding().collect()
}

#[test]
fn a_queue_has_an_ordinary_slot_and_one_for_pages() {
    assert!(Slots::new(0).is_none());
    assert!(
        Slots::new(1).is_none(),
        "no slot would be left for ordinary commands"
    );
    assert!(Slots::new(2).is_some());
    assert!(Slots::new(MAX).is_some());
    assert!(Slots::new(MAX + 1).is_none());
}

#[test]
fn the_last_slot_is_for_pages_only() {
    let mut slots = Slots::new(4).unwrap();
    assert_eq!(slots.claim(Kind::Pages), Some(3));
    assert_eq!(slots.claim(Kind::Pages), None);
    for expected in 0..3 {
        assert_eq!(slots.claim(Kind::Ordinary), Some(expected));
    }
    assert_eq!(slots.claim(Kind::Ordinary), None);
    slots.release(3);
    assert_eq!(
        slots.claim(Kind::Ordinary),
        None,
        "not even a free page slot"
    );
    assert_eq!(slots.claim(Kind::Pages), Some(3));
}

#[test]
fn a_completion_wakes_only_a_command_that_is_done() {
    let mut slots = Slots::new(32).unwrap();
    let slot = slots.claim(Kind::Ordinary).unwrap();
    // An event of the slot's former command, doubled, while the next one is being written.
    assert_eq!(slots.complete(slot, true), Verdict::Spurious);
    slots.launch(slot, Opcode::NOP, 5);
    // And once more, when the entry is the device's already.
    assert_eq!(slots.complete(slot, false), Verdict::Spurious);
    assert_eq!(slots.complete(slot, true), Verdict::Wake);
    // Doubled before the waiter has given the slot back: it looks at the entry itself.
    assert_eq!(slots.complete(slot, true), Verdict::Wake);
    slots.release(slot);
    assert_eq!(slots.complete(slot, true), Verdict::Spurious);
    assert!(states(&slots).is_empty());
}

#[test]
fn a_timed_out_slot_is_not_reused_before_its_late_completion() {
    let mut slots = Slots::new(2).unwrap();
    assert_eq!(slots.claim(Kind::Ordinary), Some(0));
    slots.launch(0, Opcode::CREATE_DCT, 7);
    slots.time_out(0);
    assert_eq!(slots.quarantined(), 1);
    assert_eq!(slots.claim(Kind::Ordinary), None);
    // A release that comes from nowhere does not free it either.
    slots.release(0);
    assert_eq!(slots.claim(Kind::Ordinary), None);
    assert_eq!(slots.complete(0, false), Verdict::Spurious);
    match slots.complete(0, true) {
        Verdict::Late(flight) => {
            assert_eq!(flight.opcode, Opcode::CREATE_DCT);
            assert_eq!(flight.since_us, 7);
        }
        other => panic!("{other:?}"),
    }
    assert_eq!(slots.quarantined(), 0);
    assert_eq!(slots.claim(Kind::Ordinary), Some(0));
}

#[test]
fn slots_that_do_not_exist_are_harmless() {
    let mut slots = Slots::new(8).unwrap();
    for index in [8, 31, 32, usize::MAX] {
        assert_eq!(slots.complete(index, true), Verdict::Spurious);
        slots.launch(index, Opcode::NOP, 0);
        slots.time_out(index);
        slots.release(index);
    }
    assert!(states(&slots).is_empty());
}

#[derive(Clone, Debug)]
enum Step {
    Claim(bool),
    Launch(usize),
    Complete(usize, bool),
    TimeOut(usize),
    Release(usize),
}

fn step() -> impl Strategy<Value = Step> {
    let slot = 0usize..10;
    prop_oneof![
        any::<bool>().prop_map(Step::Claim),
        slot.clone().prop_map(Step::Launch),
        (slot.clone(), any::<bool>()).prop_map(|(slot, done)| Step::Complete(slot, done)),
        slot.clone().prop_map(Step::TimeOut),
        slot.prop_map(Step::Release),
    ]
}

proptest! {
    /// Whatever happens, in whatever order: a slot is given to one owner at a time, and one whose
    /// entry the device still has is given to nobody.
    #[test]
    fn no_slot_has_two_owners(steps in prop::collection::vec(step(), 1..200)) {
        let mut slots = Slots::new(8).unwrap();
        // What an owner may rely on: claimed or launched here, and not yet given back.
        let mut owned = [false; 8];
        let mut device = [false; 8];
        for step in steps {
            match step {
                Step::Claim(pages) => {
                    let kind = if pages { Kind::Pages } else { Kind::Ordinary };
                    if let Some(slot) = slots.claim(kind) {
                        prop_assert!(!owned[slot] && !device[slot]);
                        prop_assert_eq!(slot == 7, pages);
                        owned[slot] = true;
                    }
                }
                Step::Launch(slot) => {
                    slots.launch(slot, Opcode::NOP, 0);
                    if slot < 8 && owned[slot] {
                        device[slot] = true;
                    }
                }
                Step::Complete(slot, done) => match slots.complete(slot, done) {
                    Verdict::Wake => prop_assert!(done && owned[slot] && device[slot]),
                    Verdict::Late(_) => {
                        prop_assert!(done && !owned[slot] && device[slot]);
                        device[slot] = false;
                    }
                    Verdict::Spurious => (),
                },
                Step::TimeOut(slot) => {
                    slots.time_out(slot);
                    // Only a command that the device has can time out.
                    if slot < 8 && device[slot] {
                        owned[slot] = false;
                    }
                }
                Step::Release(slot) => {
                    slots.release(slot);
                    // A quarantined slot stays the device's.
                    if slot < 8 && owned[slot] {
                        owned[slot] = false;
                        device[slot] = false;
                    }
                }
            }
            let outstanding = slots.outstanding().count();
            prop_assert_eq!(outstanding, device.iter().filter(|device| **device).count());
        }
    }
}
