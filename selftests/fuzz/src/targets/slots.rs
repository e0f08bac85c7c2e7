// SPDX-License-Identifier: GPL-2.0

//! The slots of the command queue under any order of claims, completions and time-outs.

use crate::input::Input;
use mlx5_prm_host::{
    cmd::slots::{
        Kind,
        Slots,
        Verdict,
        MAX, //
    },
    prm::opcode::Opcode, //
};

/// A slot as the table in cmd/slots.rs has it.
#[derive(Clone, Copy, PartialEq, Debug)]
enum Naive {
    Free,
    Claimed,
    InFlight(u16, u64),
    Quarantined(u16, u64),
}

/// Does to the slots what the bytes say, and the same to a list that follows the table.
pub fn run(input: &mut Input<'_>) {
    let count = usize::from(input.u8());
    let Some(mut slots) = Slots::new(count) else {
        assert!(!(2..=MAX).contains(&count));
        return;
    };
    let mut naive = vec![Naive::Free; count];

    while !input.is_empty() {
        let operation = input.u8();
        let index = usize::from(input.u8() & 0x3f);
        match operation % 6 {
            0 => {
                let claimed = slots.claim(Kind::Ordinary);
                let expected = naive[..count - 1].iter().position(|s| *s == Naive::Free);
                assert_eq!(claimed, expected);
                if let Some(slot) = expected {
                    naive[slot] = Naive::Claimed;
                }
            }
            1 => {
                let free = naive[count - 1] == Naive::Free;
                assert_eq!(slots.claim(Kind::Pages), free.then_some(count - 1));
                if free {
                    naive[count - 1] = Naive::Claimed;
                }
            }
            2 => {
                let (opcode, now) = (input.u16(), input.u64());
                slots.launch(index, Opcode(opcode), now);
                if let Some(slot @ Naive::Claimed) = naive.get_mut(index) {
                    *slot = Naive::InFlight(opcode, now);
                }
            }
            3 => {
                slots.release(index);
                if let Some(slot @ (Naive::Claimed | Naive::InFlight(..))) = naive.get_mut(index) {
                    *slot = Naive::Free;
                }
            }
            4 => {
                slots.time_out(index);
                if let Some(slot) = naive.get_mut(index) {
                    if let Naive::InFlight(opcode, since) = *slot {
                        *slot = Naive::Quarantined(opcode, since);
                    }
                }
            }
            _ => {
                let done = input.flag();
                let verdict = slots.complete(index, done);
                let slot = naive.get_mut(index).filter(|_| done);
                match slot {
                    Some(Naive::InFlight(..)) => assert_eq!(verdict, Verdict::Wake),
                    Some(slot @ Naive::Quarantined(..)) => {
                        let Verdict::Late(flight) = verdict else {
                            panic!("{verdict:?} for a quarantined slot");
                        };
                        assert_eq!(*slot, Naive::Quarantined(flight.opcode.0, flight.since_us));
                        *slot = Naive::Free;
                    }
                    _ => assert_eq!(verdict, Verdict::Spurious),
                }
            }
        }
        let quarantined = naive
            .iter()
            .filter(|slot| matches!(slot, Naive::Quarantined(..)))
            .count();
        assert_eq!(slots.quarantined(), quarantined);
    }

    let outstanding: Vec<_> = slots
        .outstanding()
        .map(|(index, slot)| match slot {
            mlx5_prm_host::cmd::slots::Slot::InFlight(f) => {
                (index, Naive::InFlight(f.opcode.0, f.since_us))
            }
            mlx5_prm_host::cmd::slots::Slot::Quarantined(f) => {
                (index, Naive::Quarantined(f.opcode.0, f.since_us))
            }
            other => panic!("{other:?} is not outstanding"),
        })
        .collect();
    let expected: Vec<_> = naive
        .into_iter()
        .enumerate()
        .filter(|(_, slot)| matches!(slot, Naive::InFlight(..) | Naive::Quarantined(..)))
        .collect();
    assert_eq!(outstanding, expected);
}
