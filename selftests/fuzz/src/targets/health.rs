// SPDX-License-Identifier: GPL-2.0

//! The health buffer, the state machine over readings, and what a function suffers from.

use super::{
    print,
    value, //
};
use crate::input::Input;
use mlx5_prm_host::{
    device::degradation::{
        Degradation,
        Degradations, //
    },
    health::{
        machine::{
            Machine,
            Sample,
            State,
            Trouble,
            MIN_DEAD_READS, //
        },
        render, //
    },
    prm::{
        health::Buffer,
        iseg::NicInterface, //
    }, //
};

/// Any buffer is shown with the values it has.
pub fn buffer(input: &mut Input<'_>) {
    let bytes: [u8; 0x40] = input.array();
    let buffer = Buffer::from(bytes);
    let text = print(|w| render::buffer(w, &buffer));
    let word = |at: usize| u32::from_be_bytes([0, 1, 2, 3].map(|i| bytes[at + i]));

    for i in 0..6 {
        let name = format!("assert_var[{i}]");
        assert_eq!(value(&text, &name), format!("{:#010x}", word(4 * i)));
    }
    for (name, at) in [
        ("assert_exit_ptr", 0x20),
        ("assert_callra", 0x24),
        ("hw_id", 0x34),
    ] {
        assert_eq!(value(&text, name), format!("{:#010x}", word(at)));
    }
    assert!(value(&text, "time").starts_with(&format!("{} ", word(0x2c))));
    for (name, bit) in [("rfr", 31), ("crr", 30), ("valid", 27)] {
        let expected = (word(0x38) >> bit & 1).to_string();
        assert_eq!(value(&text, name), expected);
    }
    assert!(value(&text, "severity").starts_with(&(word(0x38) >> 24 & 7).to_string()));
    assert_eq!(value(&text, "irisc_index"), bytes[0x3c].to_string());
    assert!(value(&text, "synd").starts_with(&format!("{:#04x} ", bytes[0x3d])));
    assert_eq!(
        value(&text, "ext_synd"),
        format!("{:#06x}", word(0x3c) & 0xffff)
    );
    value(&text, "verdict");

    let brief = render::Brief(&buffer).to_string();
    assert!(!brief.contains('\n'), "{brief}");
    assert!(
        brief.contains(&format!("hw_id {:#010x}", word(0x34))),
        "{brief}"
    );

    let trouble = Trouble::of(&buffer);
    assert_eq!(trouble.synd, bytes[0x3d]);
    assert!(trouble.synd != 0 || trouble == Trouble::NONE);
}

/// One reading.
fn sample(input: &mut Input<'_>) -> Sample {
    let kind = input.u8();
    if kind & 3 == 0 {
        return Sample::Dead;
    }
    let synd = if kind & 4 == 0 { 0 } else { input.u8() };
    let trouble = match synd {
        0 => Trouble::NONE,
        synd => Trouble {
            synd,
            ext_synd: input.u16(),
            rfr: kind & 8 != 0,
        },
    };
    Sample::Live {
        counter: input.u32(),
        nic_interface: if kind & 16 == 0 { 0 } else { input.u8() },
        trouble,
    }
}

/// Any readings at any times: the verdict follows the table in health/machine.rs, nothing changes
/// without a transition, and each can be put into words.
pub fn machine(input: &mut Input<'_>) {
    let threshold = input.u32() >> (input.u8() % 32);
    let mut machine = Machine::new(threshold);
    let mut now_us = input.u64() >> (input.u8() % 64);
    let (mut reads, mut dead) = (0u64, 0u32);

    while !input.is_empty() {
        let step = input.u32();
        now_us = match step >> 30 {
            3 => now_us.wrapping_sub(u64::from(step & 0xffff)),
            2 => now_us.wrapping_add(u64::from(step) << 32),
            _ => now_us.saturating_add(u64::from(step & 0xff_ffff)),
        };
        let sample = sample(input);
        let before = machine;
        let transition = machine.feed(now_us, &sample);

        reads += 1;
        assert_eq!(machine.reads, reads);
        dead = if sample == Sample::Dead { dead + 1 } else { 0 };
        assert_eq!(machine.dead_reads, dead);
        assert_eq!(
            machine.state == State::Gone,
            dead >= threshold.max(MIN_DEAD_READS) || (dead > 0 && before.state == State::Gone)
        );
        if let Sample::Live {
            nic_interface,
            trouble,
            counter,
        } = sample
        {
            assert_eq!(machine.counter, Some(counter & 0xff_ffff));
            assert_eq!(
                (machine.nic_interface, machine.trouble),
                (nic_interface, trouble)
            );
            let reset = NicInterface(nic_interface) == NicInterface::SW_RESET;
            let disabled = NicInterface(nic_interface) == NicInterface::DISABLED;
            let failed = trouble.synd != 0 && trouble.rfr && !reset && !disabled;
            assert_eq!(machine.state == State::Reset, reset);
            assert_eq!(machine.state == State::Disabled, disabled);
            assert_eq!(machine.state == State::Failed, failed);
            if before
                .counter
                .is_some_and(|before| before != counter & 0xff_ffff)
            {
                assert_ne!(machine.state, State::Stalled, "a counter that moves");
            }
        }
        if machine.state == State::Stalled && dead == 0 {
            assert!(machine.misses >= threshold);
            assert!(machine.gap_us(now_us) >= machine.stall_us());
        }

        let same = (before.state, before.trouble) == (machine.state, machine.trouble);
        assert_eq!(transition.is_none(), same);
        let told = transition.unwrap_or_else(|| machine.now(now_us));
        assert_eq!((told.from, told.to), (before.state, machine.state));
        let line = print(|w| render::line(w, reads, step as i32 as i64, &told));
        assert_eq!(line.lines().count(), 1, "{line}");
        let text = print(|w| render::state(w, &machine, now_us));
        assert_eq!(value(&text, "ticks"), reads.to_string());
        assert_eq!(
            value(&text, "state"),
            format!("{} ({})", machine.state.name(), machine.state.number())
        );
    }
}

/// A set is what its bits say, and its words say the same.
pub fn degradations(input: &mut Input<'_>) {
    let bits = input.u32();
    let set = Degradations::from_bits(bits);
    assert_eq!(Degradations::from_bits(set.bits()), set);
    assert_eq!(set.bits() & !bits, 0);

    let words: Vec<&str> = Degradation::ALL
        .iter()
        .filter(|one| bits & one.bit() != 0)
        .inspect(|one| assert!(set.contains(**one)))
        .map(|one| one.name())
        .collect();
    assert_eq!(words.len() as u32, set.bits().count_ones());
    assert_eq!(set.is_empty(), words.is_empty());
    let expected = if words.is_empty() {
        "none".to_string()
    } else {
        words.join(" ")
    };
    assert_eq!(set.to_string(), expected);
}
