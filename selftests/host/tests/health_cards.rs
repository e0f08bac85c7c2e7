// SPDX-License-Identifier: GPL-2.0

//! Health buffers that real cards left behind, as drivers printed them: put into a buffer and shown
//! again, each value must be the same, and the verdict right.

use mlx5_prm_host::health::machine::{Machine, Sample, State, Trouble};
use mlx5_prm_host::health::render::{self, Verdict};
use mlx5_prm_host::kernel_ext::date;
use mlx5_prm_host::prm::bits::Bits;
use mlx5_prm_host::prm::dump;
use mlx5_prm_host::prm::health::Buffer;
use mlx5_prm_host::prm::layout::Layout;
use zerocopy::IntoBytes;

/// A print of a real card. Lines that a generation of drivers does not have are left out.
struct Print {
    card: &'static str,
    lines: &'static str,
    verdict: Verdict,
    state: State,
}

const PRINTS: &[Print] = &[
    Print {
        card: "ConnectX-6, irisc not responding",
        lines: "assert_var[0] 0x00000001
                assert_var[1] 0x2097ce84
                assert_var[2] 0x00000000
                assert_var[3] 0x00000000
                assert_var[4] 0x00000000
                assert_exit_ptr 0x20a4996c
                assert_callra 0x20a49a10
                fw_ver 20.26.4012
                hw_id 0x0000020f
                irisc_index 0
                synd 0x7
                ext_synd 0x40d0
                raw fw_ver 0x141a0fac",
        verdict: Verdict::Reported,
        state: State::Syndrome,
    },
    Print {
        card:
            "ConnectX-4 Lx, irisc not responding (the version is printed in two forms that differ)",
        lines: "assert_exit_ptr 0x0080e428
                assert_callra 0x0080e070
                hw_id 0x0000020b
                irisc_index 2
                synd 0x7
                ext_synd 0x00c0
                raw fw_ver 0xe01a00e2",
        verdict: Verdict::Reported,
        state: State::Syndrome,
    },
    Print {
        card: "ConnectX-5, unrecoverable hardware error",
        lines: "assert_var[0] 0xfc3fc043
                assert_var[1] 0x0001b41c
                assert_var[2] 0x00000000
                assert_var[3] 0x00000000
                assert_var[4] 0x00000000
                assert_exit_ptr 0x008033b4
                assert_callra 0x0080365c
                fw_ver 16.24.1000
                hw_id 0x0000020d
                irisc_index 0
                synd 0x8
                ext_synd 0x003d
                raw fw_ver 0x101803e8",
        verdict: Verdict::Reported,
        state: State::Syndrome,
    },
    Print {
        card: "ConnectX-5, firmware internal error",
        lines: "assert_var[0] 0x08040700
                assert_var[1] 0x00000000
                assert_var[2] 0x00000000
                assert_var[3] 0x00000000
                assert_var[4] 0x00000000
                assert_var[5] 0x00000000
                assert_exit_ptr 0x00aaf800
                assert_callra 0x00aaf70c
                fw_ver 16.32.492
                time 1634819758
                hw_id 0x0000020d
                rfr 0
                severity 3 (ERROR)
                irisc_index 9
                synd 0x1
                ext_synd 0x802b
                raw fw_ver 0x102001ec",
        verdict: Verdict::Reported,
        state: State::Syndrome,
    },
    Print {
        card: "ConnectX-6 Dx, both functions: high temperature",
        lines: "assert_var[0] 0x00000073
                assert_var[1] 0x00000073
                assert_var[2] 0x00000000
                assert_var[3] 0x00000000
                assert_var[4] 0x00000000
                assert_exit_ptr 0x20a36f94
                assert_callra 0x20a0e5b4
                fw_ver 22.99.7864
                hw_id 0x00000212
                irisc_index 0
                synd 0x10
                ext_synd 0x0000
                raw fw_ver 0x16631eb8",
        verdict: Verdict::Reported,
        state: State::Syndrome,
    },
    Print {
        card: "ConnectX-6 Dx, firmware internal error",
        lines: "assert_var[0] 0x0521945b
                assert_var[1] 0x00000000
                assert_var[2] 0x00000000
                assert_var[3] 0x00000000
                assert_var[4] 0x00000000
                assert_var[5] 0x00000000
                assert_exit_ptr 0x21492f38
                assert_callra 0x2102d5f0
                fw_ver 22.44.1036
                time 1742220438
                hw_id 0x00000212
                rfr 0
                severity 3 (ERROR)
                irisc_index 3
                synd 0x1
                ext_synd 0x8f7a
                raw fw_ver 0x162c040c",
        verdict: Verdict::Reported,
        state: State::Syndrome,
    },
    Print {
        card: "BlueField-3 (the print ends in the middle)",
        lines: "assert_var[0] 0x0000001e
                assert_var[1] 0x00000000
                assert_var[2] 0x00000000
                assert_var[3] 0x00000000
                assert_var[4] 0x00000000
                assert_var[5] 0x00000000
                assert_exit_ptr 0x20adec54
                assert_callra 0x20adeeb0
                severity 2 (CRITICAL)
                synd 0x1",
        verdict: Verdict::Reported,
        state: State::Syndrome,
    },
    connectx8("irisc_index 5\ntime 196"),
    connectx8("irisc_index 7\ntime 203"),
    connectx8("irisc_index 3\ntime 210"),
    connectx8("irisc_index 0\ntime 217"),
    connectx8("irisc_index 2\ntime 224"),
    connectx8("irisc_index 2\ntime 231"),
    connectx8("irisc_index 7\ntime 0"),
    connectx8("irisc_index 5\ntime 245"),
    Print {
        card: "a device that has left the bus",
        lines: "assert_var[0] 0xffffffff
                assert_var[1] 0xffffffff
                assert_var[2] 0xffffffff
                assert_var[3] 0xffffffff
                assert_var[4] 0xffffffff
                assert_var[5] 0xffffffff
                assert_exit_ptr 0xffffffff
                assert_callra 0xffffffff
                time 4294967295
                hw_id 0xffffffff
                rfr 1
                crr 1
                severity 7 (DEBUG)
                irisc_index 255
                synd 0xff
                ext_synd 0xffff
                raw fw_ver 0xffffffff",
        verdict: Verdict::NoAnswer,
        state: State::Gone,
    },
];

/// What all 16 ports of a machine with eight ConnectX-8 cards have in common is added by [`parse`].
const fn connectx8(lines: &'static str) -> Print {
    Print {
        card: CONNECTX8,
        lines,
        verdict: Verdict::Reported,
        state: State::Syndrome,
    }
}

const CONNECTX8: &str = "ConnectX-8";

const CONNECTX8_LINES: &str = "assert_var[0] 0x00000003
    assert_var[1] 0x00000000
    assert_var[5] 0x00000000
    assert_exit_ptr 0x00000000
    assert_callra 0x00000000
    fw_ver 40.48.1132
    raw fw_ver 0x2830046c
    hw_id 0x0000021e
    rfr 0
    crr 0
    severity 3 (ERROR)
    synd 0x1
    ext_synd 0x035e";

fn lines(print: &Print) -> Vec<(String, String)> {
    let common = if print.card == CONNECTX8 {
        CONNECTX8_LINES
    } else {
        ""
    };

    common
        .lines()
        .chain(print.lines.lines())
        .map(|line| {
            let line = line.trim();
            let split = if line.starts_with("raw ") {
                10
            } else {
                line.find(' ').unwrap()
            };
            let (name, value) = line.split_at(split);
            (name.to_owned(), value.trim().to_owned())
        })
        .collect()
}

fn number(text: &str) -> u32 {
    match text.strip_prefix("0x") {
        Some(digits) => u32::from_str_radix(digits, 16).unwrap(),
        None => text.split(' ').next().unwrap().parse().unwrap(),
    }
}

/// Fills a buffer with the values of a print.
fn parse(print: &Print) -> Buffer {
    let mut buffer = Buffer::new();

    for (name, value) in lines(print) {
        if name == "fw_ver" {
            continue;
        }
        let value = number(&value);
        match name.as_str() {
            "assert_exit_ptr" => buffer.set_assert_exit_ptr(value),
            "assert_callra" => buffer.set_assert_callra(value),
            "raw fw_ver" => buffer.set_fw_version(value),
            "time" => buffer.set_time(value),
            "hw_id" => buffer.set_hw_id(value),
            "rfr" => buffer.set_rfr(value != 0),
            "crr" => buffer.set_crr(value != 0),
            "severity" => buffer
                .set_valid(true)
                .set_severity(Bits::try_new(u64::from(value)).unwrap()),
            "irisc_index" => buffer.set_irisc_index(u8::try_from(value).unwrap()),
            "synd" => buffer.set_synd(u8::try_from(value).unwrap()),
            "ext_synd" => buffer.set_ext_synd(u16::try_from(value).unwrap()),
            var => {
                let i: usize = var[11..12].parse().unwrap();
                let mut vars = buffer.assert_var();
                vars[i] = value;
                buffer.set_assert_var(vars)
            }
        };
    }
    buffer
}

#[test]
fn shown_values_are_those_of_the_print() {
    for print in PRINTS {
        let mut text = String::new();
        render::buffer(&mut text, &parse(print)).unwrap();

        for (name, value) in lines(print) {
            let expected = match name.as_str() {
                "fw_ver" => format!("({value})"),
                "raw fw_ver" => format!("fw_version: {value} "),
                "synd" => format!("synd: {:#04x} (", number(&value)),
                "time" => format!("time: {value} ("),
                _ => format!("{name}: {value}"),
            };
            assert!(
                text.contains(&expected),
                "{}: no {expected:?} in\n{text}",
                print.card
            );
        }
        assert!(text.ends_with(&format!("verdict: {}\n", print.verdict.sentence())));
        assert_eq!(Verdict::of(&parse(print)), print.verdict, "{}", print.card);
    }
}

#[test]
fn the_machine_comes_to_the_same_verdict() {
    for print in PRINTS {
        let buffer = parse(print);
        let mut machine = Machine::new(3);

        for tick in 1..=20 {
            let sample = match print.verdict {
                Verdict::NoAnswer => Sample::Dead,
                _ => Sample::Live {
                    counter: tick * 10,
                    nic_interface: 0,
                    trouble: Trouble::of(&buffer),
                },
            };
            machine.feed(u64::from(tick) * 100_000, &sample);
        }
        assert_eq!(machine.state, print.state, "{}", print.card);
    }
}

#[test]
fn a_severity_that_is_not_valid_counts_as_error() {
    let mut text = String::new();
    render::buffer(&mut text, &parse(&PRINTS[0])).unwrap();
    assert!(
        text.contains("severity: 0 (not valid, counts as 3 ERROR)\n"),
        "{text}"
    );
}

#[test]
fn the_code_that_sources_name_differently_has_both_names() {
    let mut text = String::new();
    render::buffer(&mut text, Buffer::new().set_synd(0x0bu8)).unwrap();
    assert!(
        text.contains("ICM page") && text.contains("hardware"),
        "{text}"
    );
}

#[test]
fn resets_are_told_apart() {
    let mut buffer = Buffer::new();
    assert_eq!(Verdict::of(&buffer), Verdict::Nothing);
    // Without a syndrome the bits mean nothing.
    buffer.set_rfr(true);
    assert_eq!(Verdict::of(&buffer), Verdict::Nothing);
    assert_eq!(Trouble::of(&buffer), Trouble::NONE);
    buffer.set_synd(8u8);
    assert_eq!(Verdict::of(&buffer), Verdict::NeedsReset);
    assert!(Trouble::of(&buffer).rfr);
    buffer.set_crr(true);
    assert_eq!(Verdict::of(&buffer), Verdict::NeedsColdReset);
}

#[test]
fn the_dump_names_each_field_at_its_place() {
    let buffer = parse(&PRINTS[3]);
    let mut text = String::new();
    dump::write(
        &mut text,
        Buffer::TABLE,
        Buffer::BAR_OFFSET,
        buffer.as_bytes(),
    )
    .unwrap();

    for line in [
        "0x200 [31:0] assert_var[0]: 0x8040700",
        "0x220 [31:0] assert_exit_ptr: 0xaaf800",
        "0x22c [31:0] time: 0x61715eae",
        "0x238 [26:24] severity: 0x3 (ERROR)",
        "0x23c [23:16] synd: 0x1 (firmware internal error)",
        "0x23c [15:0] ext_synd: 0x802b",
    ] {
        assert!(text.contains(line), "no {line:?} in\n{text}");
    }
}

#[test]
fn dates() {
    for (seconds, expected) in [
        (0, "1970-01-01T00:00:00Z"),
        (951_782_399, "2000-02-28T23:59:59Z"),
        (951_782_400, "2000-02-29T00:00:00Z"),
        (951_868_800, "2000-03-01T00:00:00Z"),
        (1_634_819_758, "2021-10-21T12:35:58Z"),
        (1_742_220_438, "2025-03-17T14:07:18Z"),
        (4_102_444_799, "2099-12-31T23:59:59Z"),
        (4_107_542_400, "2100-03-01T00:00:00Z"),
        (u64::from(u32::MAX), "2106-02-07T06:28:15Z"),
    ] {
        let mut text = String::new();
        date::write(&mut text, seconds).unwrap();
        assert_eq!(text, expected);
    }
}
