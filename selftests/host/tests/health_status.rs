// SPDX-License-Identifier: GPL-2.0

//! What programs see of a function's health: the status and its changes, the evidence of the first
//! failure, what a reset left behind, and what events tell.

use mlx5_prm_host::device::{
    Change, Condition, Degradation, Degradations, Overall, Reason, Status, What,
};
use mlx5_prm_host::health::evidence::{Case, Evidence, Hung, Saved, SLOTS};
use mlx5_prm_host::health::leftover::{Leftover, Outcome, WORDS};
use mlx5_prm_host::health::machine::{Machine, Transition};
use mlx5_prm_host::health::modules::Sensors;
use mlx5_prm_host::health::status::{self, Commands};
use mlx5_prm_host::prm::bits::Bits;
use mlx5_prm_host::prm::event::{PortModule, TemperatureWarning};
use mlx5_prm_host::prm::health::Buffer;
use mlx5_prm_host::prm::opcode::Opcode;
use zerocopy::{FromBytes, IntoBytes};

const REASONS: [Reason; 7] = [
    Reason::Stalled,
    Reason::Syndrome,
    Reason::Disabled,
    Reason::Reset,
    Reason::Silent,
    Reason::NotRecovered,
    Reason::Unbinding,
];

fn status_of(condition: Condition, degradations: &[Degradation]) -> Status {
    Status {
        condition,
        degradations: Degradations::from_bits(degradations.iter().fold(0, |b, d| b | d.bit())),
        recovering: false,
    }
}

fn shown(status: &Status, commands: &Commands) -> String {
    let mut text = String::new();
    status::status(&mut text, status, 7, commands).unwrap();
    text
}

#[test]
fn words_and_numbers_of_the_overall_state_do_not_change() {
    let recovering = Status {
        recovering: true,
        ..status_of(Condition::Gone, &[])
    };
    for (status, word, number) in [
        (Status::OK, "ok", 0),
        (
            status_of(Condition::Alive, &[Degradation::CommandTimeout]),
            "degraded",
            1,
        ),
        (
            status_of(
                Condition::Fatal(Reason::Stalled),
                &[Degradation::CommandSlow],
            ),
            "fatal",
            2,
        ),
        (status_of(Condition::Gone, &[]), "gone", 3),
        (recovering, "recovering", 4),
    ] {
        let overall: Overall = status.overall();
        assert_eq!((overall.name(), overall.number()), (word, number));
    }
}

#[test]
fn reasons_have_words_and_numbers_of_their_own() {
    let mut words = Vec::new();
    for (reason, number) in REASONS.iter().zip(1..) {
        let condition = Condition::Fatal(*reason);
        assert_eq!(condition.reason(), (reason.word(), number));
        assert_eq!(Condition::from_raw(condition.into_raw()), condition);
        words.push(reason.word());
    }
    words.sort_unstable();
    words.dedup();
    assert_eq!(words.len(), REASONS.len());
    assert_eq!(Condition::Alive.reason(), ("none", 0));
    assert_eq!(Condition::Gone.reason(), ("no-answer", 255));
    for condition in [Condition::Alive, Condition::Gone] {
        assert_eq!(Condition::from_raw(condition.into_raw()), condition);
    }
}

#[test]
fn the_status_is_lines_of_names_and_values() {
    assert_eq!(
        shown(&Status::OK, &Commands::default()),
        "state: ok (0)\n\
         reason: none (0)\n\
         condition: alive\n\
         degradations: none\n\
         degradation_bits: 0x0\n\
         recovering: 0\n\
         sequence: 7\n\
         commands_outstanding: 0\n\
         commands_given_up: 0\n\
         oldest_command: none\n\
         oldest_command_us: 0\n"
    );
    let suffering = status_of(
        Condition::Alive,
        &[Degradation::CommandTimeout, Degradation::QuarantinedSlots],
    );
    let commands = Commands {
        waiting: 2,
        given_up: 1,
        oldest: Some((Opcode::NOP, 1234)),
    };
    let text = shown(&suffering, &commands);
    for line in [
        "state: degraded (1)\n",
        "degradations: command-timeout quarantined-slots\n",
        "degradation_bits: 0x6\n",
        "commands_outstanding: 2\ncommands_given_up: 1\n",
        "oldest_command: NOP(0x80d)\noldest_command_us: 1234\n",
    ] {
        assert!(text.contains(line), "no {line:?} in\n{text}");
    }
    let text = shown(
        &status_of(Condition::Fatal(Reason::Stalled), &[]),
        &Commands::default(),
    );
    assert!(text.starts_with("state: fatal (2)\nreason: stalled (1)\n"));
}

#[test]
fn each_degradation_has_a_bit_and_a_word() {
    let mut all = 0;
    for (one, bit) in Degradation::ALL.iter().zip(0..) {
        assert_eq!(one.bit(), 1 << bit);
        assert!(!one.name().contains(' '));
        all |= one.bit();
    }
    assert_eq!(Degradations::from_bits(u32::MAX).bits(), all);
    assert_eq!(
        Degradations::from_bits(all).to_string(),
        "syndrome command-timeout quarantined-slots command-slow eq-stalled temperature port-module"
    );
}

#[test]
fn a_change_is_a_line() {
    let change = Change {
        at_us: 1_500_000,
        wall: 1_634_819_758,
        what: What::Raised(Degradation::EqStalled),
        status: status_of(
            Condition::Alive,
            &[Degradation::EqStalled, Degradation::Syndrome],
        ),
    };
    let mut text = String::new();
    status::line(&mut text, 3, &change).unwrap();
    assert_eq!(
        text,
        "3 1500000 2021-10-21T12:35:58Z degraded (1) reason=none(0) degradations=0x11: \
         eq-stalled begins; suffers from syndrome eq-stalled\n"
    );
    let change = Change {
        what: What::Worse(Condition::Gone),
        status: status_of(Condition::Gone, &[]),
        ..change
    };
    text.clear();
    status::line(&mut text, 4, &change).unwrap();
    assert_eq!(
        text,
        "4 1500000 2021-10-21T12:35:58Z gone (3) reason=no-answer(255) degradations=0x0: \
         gone: all reads are ones\n"
    );
}

fn verdict(at_us: u64) -> Transition {
    Transition {
        counter: 0x1234,
        misses: 3,
        gap_us: 300_000,
        ..Machine::new(3).now(at_us)
    }
}

fn case(at_us: u64, condition: Condition) -> Case {
    let mut commands = [None; SLOTS];
    commands[0] = Some(Hung {
        slot: 4,
        opcode: Opcode::NOP,
        age_us: 250_000,
        given_up: false,
    });
    commands[1] = Some(Hung {
        slot: 31,
        opcode: Opcode::MANAGE_PAGES,
        age_us: 61_000_000,
        given_up: true,
    });
    let mut buffer = Buffer::new();
    buffer.set_synd(7u8).set_ext_synd(0x40d0u16);
    Case {
        at_us,
        wall: 1_634_819_758,
        status: status_of(condition, &[]),
        verdict: verdict(at_us),
        buffer: Saved::Read(buffer),
        commands,
    }
}

fn evidence(evidence: &Evidence) -> String {
    let mut text = String::new();
    evidence.show(&mut text).unwrap();
    text
}

#[test]
fn the_first_failure_is_kept_whatever_comes_later() {
    let mut kept = Evidence::default();
    assert!(evidence(&kept).starts_with("evidence: none"));
    kept.add(&case(1, Condition::Fatal(Reason::Stalled)));
    let text = evidence(&kept);
    for line in [
        "evidence: first failure, which was fatal\nat_us: 1\ndate: 2021-10-21T12:35:58Z\n",
        "state: fatal (2)\nreason: stalled (1)\n",
        "counter: 0x001234\nmisses: 3\ngap_ms: 300\n",
        "commands_outstanding: 2\n",
        "command[4]: NOP(0x80d) age_us=250000 waiting\n",
        "command[31]: MANAGE_PAGES(0x108) age_us=61000000 given-up\n",
        "buffer: read\n",
        "ext_synd: 0x40d0\n",
        "later_failures: 0\n",
    ] {
        assert!(text.contains(line), "no {line:?} in\n{text}");
    }
    kept.add(&case(2, Condition::Gone));
    assert_eq!(
        evidence(&kept),
        text.replace("later_failures: 0", "later_failures: 1")
    );
    kept.clear();
    assert!(evidence(&kept).starts_with("evidence: none"));
    kept.add(&case(3, Condition::Gone));
    assert!(evidence(&kept).contains("at_us: 3\n"));
}

#[test]
fn a_harmless_failure_does_not_hide_the_first_fatal_one() {
    let mut kept = Evidence::default();
    kept.add(&case(1, Condition::Alive));
    kept.add(&case(2, Condition::Alive));
    kept.add(&case(3, Condition::Fatal(Reason::Stalled)));
    kept.add(&case(4, Condition::Gone));
    let text = evidence(&kept);
    let times: Vec<_> = text.lines().filter(|l| l.starts_with("at_us: ")).collect();
    assert_eq!(times, ["at_us: 1", "at_us: 3"]);
    assert!(text.contains("evidence: first failure, which was not fatal\n"));
    assert!(text.contains("evidence: first fatal failure\n"));
    assert!(text.ends_with("later_failures: 2\n"));
}

#[test]
fn why_a_buffer_was_not_read_is_told() {
    for (saved, reason) in [
        (Saved::Unreadable, "counter stood still"),
        (Saved::NoAnswer, "did not answer"),
        (Saved::NotRead, "reported no failure"),
    ] {
        let mut kept = Evidence::default();
        kept.add(&Case {
            buffer: saved,
            ..case(1, Condition::Gone)
        });
        let text = evidence(&kept);
        assert!(text.contains("buffer: not read (") && text.contains(reason));
    }
}

/// A buffer without a failure: versions are always there.
fn idle() -> Buffer {
    let mut buffer = Buffer::new();
    buffer.set_fw_version(0x1624_03f2u32).set_hw_id(0x212u32);
    buffer
}

fn failed() -> Buffer {
    let mut buffer = idle();
    buffer.set_synd(1u8).set_ext_synd(0x77u16).set_rfr(true);
    buffer
}

#[test]
fn what_to_do_with_a_buffer_from_before() {
    assert_eq!(Outcome::before(&idle()), Some(Outcome::Empty));
    assert_eq!(Outcome::before(&Buffer::new()), Some(Outcome::Empty));
    assert_eq!(Outcome::before(&failed()), None);
    let ones = Buffer::read_from_bytes(&[0xff; 64]).unwrap();
    assert_eq!(Outcome::before(&ones), Some(Outcome::NoAnswer));
    assert_eq!(Outcome::after(&idle()), Outcome::Cleared);
    assert_eq!(Outcome::after(&failed()), Outcome::Kept);
    // Each word that tells of a failure counts, and no other.
    for at in (0..64).step_by(4) {
        let mut bytes = [0; 64];
        bytes[at + 3] = 1;
        let buffer = Buffer::read_from_bytes(&bytes).unwrap();
        let expected = (!WORDS.contains(&at)).then_some(Outcome::Empty);
        assert_eq!(Outcome::before(&buffer), expected, "{at:#x}");
    }
}

#[test]
fn a_leftover_that_stays_is_not_new() {
    let mut leftover = Leftover {
        unchanged: true,
        at_us: 5,
        wall: 1_634_819_758,
        buffer: failed(),
        outcome: Outcome::Kept,
    };
    assert!(leftover.is_remembered() && leftover.is_still(&failed()));
    let mut other = failed();
    other.set_ext_synd(0x78u16);
    assert!(!leftover.is_still(&other));
    // The versions do not tell of a failure.
    let mut newer = failed();
    newer.set_fw_version(1u32);
    assert!(leftover.is_still(&newer));
    // The same content once more, after it had gone, is a failure of its own.
    leftover.differs();
    assert!(!leftover.is_remembered() && !leftover.is_still(&failed()));
    let cleared = Leftover {
        unchanged: true,
        outcome: Outcome::Cleared,
        ..leftover
    };
    assert!(!cleared.is_still(&failed()));

    let mut text = String::new();
    leftover.show(&mut text).unwrap();
    assert!(text.starts_with("leftover: from before the start; the device ignores"));
    assert!(text.contains("at_us: 5\ndate: 2021-10-21T12:35:58Z\n"));
    assert!(text.contains("ext_synd: 0x0077\n"));
}

fn module(number: u8, status: u64, error: u64) -> PortModule {
    let mut event = PortModule::new();
    event
        .set_module(number)
        .set_module_status(Bits::try_new(status).unwrap())
        .set_error_type(Bits::try_new(error).unwrap());
    event
}

#[test]
fn modules_are_told_apart() {
    let mut sensors = Sensors::default();
    sensors.module(&module(0, 3, 6));
    sensors.module(&module(1, 1, 0));
    let mut text = String::new();
    sensors.show(&mut text).unwrap();
    assert_eq!(
        text,
        "hot_sensors: 0x0 0x0\n\
         module[0]: error (3), high temperature (0x6)\n\
         module[1]: plugged (1)\n"
    );
    assert!(sensors.has_module_error());
    sensors.module(&module(1, 3, 7));
    sensors.module(&module(0, 2, 0));
    assert!(sensors.has_module_error());
    sensors.module(&module(1, 1, 0));
    assert!(!sensors.has_module_error());
    // One that there is no place for.
    sensors.module(&module(200, 3, 0xe));
    assert!(sensors.has_module_error());
    sensors.module(&module(200, 1, 0));
    assert!(!sensors.has_module_error());
}

#[test]
fn each_error_of_a_module_has_words() {
    for (error, words) in [
        (0x0, "power budget exceeded"),
        (0x1, "long range for non MLNX cable"),
        (0x2, "bus stuck"),
        (0x3, "no EEPROM or retry timeout"),
        (0x4, "part number list enforced"),
        (0x5, "unknown identifier"),
        (0x6, "high temperature"),
        (0x7, "bad or shorted cable"),
        (0xc, "PCIe slot power too low"),
        (0xe, "unknown error"),
    ] {
        let mut sensors = Sensors::default();
        sensors.module(&module(0, 3, error));
        let mut text = String::new();
        sensors.show(&mut text).unwrap();
        assert!(text.contains(&format!("error (3), {words} ({error:#x})\n")));
    }
}

#[test]
fn temperatures_come_and_go() {
    let mut sensors = Sensors::default();
    let mut event = TemperatureWarning::new();
    event.as_mut_bytes()[15] = 5;
    sensors.temperature(&event);
    assert!(sensors.is_hot());
    let mut text = String::new();
    sensors.show(&mut text).unwrap();
    assert_eq!(text, "hot_sensors: 0x0 0x5\n");
    event.as_mut_bytes()[0] = 0x80;
    sensors.temperature(&event);
    text.clear();
    sensors.show(&mut text).unwrap();
    assert_eq!(text, "hot_sensors: 0x8000000000000000 0x5\n");
    sensors.temperature(&TemperatureWarning::new());
    assert!(!sensors.is_hot());
}
