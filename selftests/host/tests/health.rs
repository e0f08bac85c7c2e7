// SPDX-License-Identifier: GPL-2.0

//! The health state machine: from readings to verdicts.

use mlx5_prm_host::health::machine::{
    Machine, Sample, State, Transition, Trouble, STALL_PERIODS, UNMEASURED_US,
};
use mlx5_prm_host::health::render;
use mlx5_prm_host::kernel_ext::ring::Ring;
use proptest::prelude::*;

/// A device whose counter runs with a period, and a machine that reads it.
struct Bench {
    machine: Machine,
    now_us: u64,
    interval_us: u64,
    period_us: u64,
    /// Counts until `from_us`, from where on the counter runs.
    base: u32,
    from_us: u64,
    runs: bool,
    nic_interface: u8,
    trouble: Trouble,
    dead: bool,
    seen: Vec<Transition>,
}

impl Bench {
    fn new(period_us: u64, interval_us: u64) -> Self {
        Self {
            machine: Machine::new(3),
            now_us: 10_000_000,
            interval_us,
            period_us,
            base: 7,
            from_us: 10_000_000,
            runs: true,
            nic_interface: 0,
            trouble: Trouble::NONE,
            dead: false,
            seen: Vec::new(),
        }
    }

    fn counter(&self) -> u32 {
        let counts = if self.runs {
            (self.now_us - self.from_us) / self.period_us
        } else {
            0
        };
        self.base.wrapping_add(counts as u32) & 0xff_ffff
    }

    fn set(&mut self, base: u32, runs: bool) {
        self.base = base;
        self.runs = runs;
        self.from_us = self.now_us;
    }

    fn freeze(&mut self) {
        self.set(self.counter(), false);
    }

    fn run(&mut self) {
        self.set(self.counter(), true);
    }

    fn sample(&self) -> Sample {
        if self.dead {
            return Sample::Dead;
        }
        Sample::Live {
            counter: self.counter(),
            nic_interface: self.nic_interface,
            trouble: self.trouble,
        }
    }

    fn tick(&mut self) {
        self.now_us += self.interval_us;
        let sample = self.sample();
        self.seen.extend(self.machine.feed(self.now_us, &sample));
    }

    fn ticks(&mut self, count: u32) -> &mut Self {
        for _ in 0..count {
            self.tick();
        }
        self
    }

    /// The states gone through since the last call.
    fn states(&mut self) -> Vec<State> {
        self.seen
            .drain(..)
            .map(|transition| transition.to)
            .collect()
    }
}

/// A device as the write-up describes it, watched for three seconds with the default interval.
fn healthy() -> Bench {
    let mut bench = Bench::new(10_000, 100_000);
    bench.ticks(30);
    assert_eq!(bench.states(), [State::Healthy]);
    bench
}

#[test]
fn the_period_is_measured() {
    for (period, interval) in [
        (10_000, 100_000),
        (10_000, 7_000),
        (1_000, 100_000),
        (250_000, 100_000),
        (2_000_000, 100_000),
        (10_000, 2_500_000),
    ] {
        let mut bench = Bench::new(period, interval);
        bench.ticks(3000);
        let measured = bench.machine.period.get().unwrap();
        assert!(
            measured.abs_diff(period) <= period / 3,
            "{measured} for {period}"
        );
        assert_eq!(
            bench.states(),
            [State::Healthy],
            "period {period}, interval {interval}"
        );
    }
}

#[test]
fn three_unchanged_readings_are_a_stall_within_400_ms() {
    let mut bench = healthy();
    bench.freeze();
    let frozen_at = bench.now_us;

    bench.ticks(4);
    let stall = bench.seen.last().unwrap();
    assert_eq!((stall.misses, stall.gap_us), (3, 300_000));
    assert_eq!(bench.states(), [State::Suspect, State::Stalled]);
    assert!(bench.machine.since_us - frozen_at <= 400_000);
    assert_eq!(bench.machine.stalls, 1);

    // It stays one stall, however long it lasts.
    bench.ticks(1000);
    assert_eq!(bench.states(), []);
    assert_eq!(bench.machine.stalls, 1);
    assert!(bench.machine.longest_gap_us >= 100_000_000);
}

#[test]
fn two_unchanged_readings_are_none() {
    let mut bench = healthy();
    bench.freeze();
    bench.ticks(2);
    bench.run();
    bench.ticks(20);
    assert_eq!(bench.states(), [State::Suspect, State::Healthy]);
    assert_eq!(bench.machine.stalls, 0);
    assert_eq!(bench.machine.misses_total, 2);
}

/// Two readings just before and just after the counter's step say nothing about its period.
#[test]
fn a_single_step_is_no_measurement() {
    let mut bench = Bench::new(1_400_000, 10_000);
    bench.from_us -= 1_385_000;
    bench.ticks(2_000);
    assert_eq!(bench.states(), [State::Healthy]);
}

#[test]
fn readings_in_quick_succession_are_no_stall() {
    let mut bench = Bench::new(10_000, 1_000);
    bench.ticks(5_000);
    assert_eq!(bench.states(), [State::Healthy]);
    assert!(bench.machine.misses_total > 3_000);

    bench.freeze();
    let frozen_at = bench.now_us;
    bench.ticks(200);
    assert_eq!(bench.machine.state, State::Stalled);
    assert!(bench.machine.since_us - frozen_at >= 4 * 10_000);
}

#[test]
fn a_counter_that_never_moves_is_found_at_the_start() {
    let mut bench = Bench::new(10_000, 100_000);
    bench.runs = false;
    let limit = (UNMEASURED_US / 100_000) as u32;
    bench.ticks(limit - 1);
    assert_eq!(bench.states(), []);
    bench.ticks(2);
    assert_eq!(bench.states(), [State::Stalled]);
}

#[test]
fn the_counter_wraps() {
    let mut bench = healthy();
    bench.set(0xff_ffe0, true);
    bench.ticks(30);
    assert_eq!(bench.states(), []);
    assert_eq!(bench.machine.misses_total, 0);
    // Setting the counter was a jump, passing its end was none.
    assert_eq!(bench.machine.jumps, 1);
    assert!(bench.machine.period.get().unwrap().abs_diff(10_000) < 1_000);
}

#[test]
fn a_syndrome_beside_the_counter_is_no_movement() {
    let mut machine = Machine::new(3);
    for tick in 1..20u32 {
        machine.feed(u64::from(tick) * 100_000, &live(tick * 10));
    }
    for tick in 20..25u32 {
        machine.feed(u64::from(tick) * 100_000, &live(tick << 24 | 190));
    }
    assert_eq!(machine.state, State::Stalled);
}

fn live(counter: u32) -> Sample {
    Sample::Live {
        counter,
        nic_interface: 0,
        trouble: Trouble::NONE,
    }
}

#[test]
fn a_jump_does_not_spoil_the_period() {
    let mut bench = healthy();
    bench.set(3, true);
    bench.ticks(3);
    bench.set(0x70_0000, true);
    bench.ticks(30);
    assert_eq!(bench.states(), []);
    assert_eq!(bench.machine.jumps, 2);
    assert!(bench.machine.period.get().unwrap().abs_diff(10_000) < 1_000);
}

#[test]
fn a_stall_that_ends_is_measured_anew() {
    let mut bench = healthy();
    bench.freeze();
    bench.ticks(50);
    bench.run();
    bench.ticks(30);
    assert_eq!(
        bench.states(),
        [
            State::Suspect,
            State::Stalled,
            State::Measuring,
            State::Healthy
        ]
    );
    // The standstill is no slow counter: the next stall is found as fast.
    assert!(bench.machine.period.get().unwrap() < 12_000);
    bench.freeze();
    bench.ticks(4);
    assert_eq!(bench.machine.state, State::Stalled);
    assert_eq!(bench.machine.stalls, 2);
}

#[test]
fn a_counter_that_slows_down_is_followed() {
    let mut bench = healthy();
    for period in [30_000, 90_000, 250_000, 700_000] {
        bench.freeze();
        bench.period_us = period;
        bench.run();
        bench.ticks(200);
    }
    assert!(!bench.states().contains(&State::Stalled));
    assert!(bench.machine.period.get().unwrap().abs_diff(700_000) < 100_000);
}

#[test]
fn one_reading_of_all_ones_is_not_fatal_and_repeated_ones_are() {
    let mut bench = healthy();
    bench.dead = true;
    bench.ticks(2);
    bench.dead = false;
    bench.ticks(5);
    assert_eq!(bench.states(), [State::Suspect, State::Healthy]);
    assert_eq!(bench.machine.dead_total, 2);

    let at = bench.now_us;
    bench.dead = true;
    bench.ticks(100);
    assert_eq!(bench.seen.last().unwrap().dead_reads, 3);
    assert_eq!(bench.states(), [State::Suspect, State::Gone]);
    assert!(bench.machine.since_us - at <= 400_000);
}

#[test]
fn a_threshold_of_one_still_forgives_one_reading_of_all_ones() {
    let mut bench = healthy();
    bench.machine.threshold = 1;
    bench.dead = true;
    bench.ticks(1);
    bench.dead = false;
    bench.ticks(2);
    assert_eq!(bench.states(), [State::Suspect, State::Healthy]);
}

#[test]
fn a_card_that_comes_back_is_seen() {
    let mut bench = healthy();
    bench.dead = true;
    bench.ticks(10);
    bench.dead = false;
    bench.ticks(20);
    assert_eq!(
        bench.states(),
        [
            State::Suspect,
            State::Gone,
            State::Measuring,
            State::Healthy
        ]
    );
}

const INTERNAL: Trouble = Trouble {
    synd: 1,
    ext_synd: 0x35e,
    rfr: false,
};

/// Setting, expected states: from a healthy device on, eight readings.
#[test]
fn table_of_transitions() {
    let fatal = Trouble {
        rfr: true,
        ..INTERNAL
    };
    type Change = fn(&mut Bench);
    let table: &[(&str, Change, &[State])] = &[
        ("nothing", |_| (), &[]),
        ("syndrome", |b| b.trouble = INTERNAL, &[State::Syndrome]),
        (
            "rfr",
            |b| {
                b.trouble = Trouble {
                    rfr: true,
                    ..INTERNAL
                }
            },
            &[State::Failed],
        ),
        ("disabled", |b| b.nic_interface = 1, &[State::Disabled]),
        ("without DRAM", |b| b.nic_interface = 2, &[]),
        ("reset", |b| b.nic_interface = 7, &[State::Reset]),
        ("gone", |b| b.dead = true, &[State::Suspect, State::Gone]),
        ("stall", Bench::freeze, &[State::Suspect, State::Stalled]),
        (
            "stall with a syndrome",
            |b| {
                b.freeze();
                b.trouble = INTERNAL;
            },
            &[State::Syndrome, State::Stalled],
        ),
        (
            "stall of a disabled function",
            |b| {
                b.freeze();
                b.nic_interface = 1;
            },
            &[State::Disabled],
        ),
    ];

    for (name, change, expected) in table {
        let mut bench = healthy();
        change(&mut bench);
        bench.ticks(8);
        assert_eq!(bench.states(), *expected, "{name}");
        assert_eq!(
            bench.machine.state.is_fatal(),
            expected
                .last()
                .is_some_and(|s| !matches!(s, State::Syndrome)),
            "{name}"
        );
    }

    // A syndrome that changes is a transition too, one that stays is none.
    let mut bench = healthy();
    bench.trouble = INTERNAL;
    bench.ticks(5);
    bench.trouble.ext_synd = 0x35f;
    bench.ticks(5);
    bench.trouble = fatal;
    bench.ticks(5);
    bench.trouble = Trouble::NONE;
    bench.ticks(5);
    assert_eq!(
        bench.states(),
        [
            State::Syndrome,
            State::Syndrome,
            State::Failed,
            State::Measuring,
            State::Healthy
        ]
    );
}

#[test]
fn sentences_say_what_holds() {
    let say = |bench: &Bench| {
        let mut text = String::new();
        render::sentence(&mut text, &bench.machine.now(bench.now_us)).unwrap();
        text
    };
    let mut bench = healthy();
    assert!(say(&bench).contains("advances"));

    bench.freeze();
    bench.ticks(5);
    assert!(say(&bench).contains("synd is 0: firmware cannot answer reads"));
    assert!(
        say(&bench).contains("for 500 ms (5 readings)"),
        "{}",
        say(&bench)
    );

    bench.trouble = INTERNAL;
    bench.ticks(1);
    let text = say(&bench);
    assert!(
        text.contains("firmware internal error (synd=0x01, ext_synd=0x035e)"),
        "{text}"
    );
    assert!(!text.contains("not read"), "{text}");
}

#[test]
fn the_state_is_shown_as_word_and_number() {
    let mut text = String::new();
    let bench = healthy();
    render::state(&mut text, &bench.machine, bench.now_us).unwrap();
    for line in [
        "state: healthy (1)\n",
        "misses: 0\n",
        "threshold: 3\n",
        "ticks: 30\n",
        "longest_gap_ms: 100\n",
        "nic_interface: 0x0 (full driver)\n",
        "synd: 0x00 (none)\n",
    ] {
        assert!(text.contains(line), "no {line:?} in\n{text}");
    }
    assert!(
        text.lines().all(|line| line.split_once(": ").is_some()),
        "{text}"
    );
}

/// The history of transitions is such a ring.
#[test]
fn a_ring_keeps_the_last_records_and_their_numbers() {
    let mut ring = Ring::new(vec![0u32; 4]);
    assert!(ring.numbers().is_empty());
    assert_eq!(ring.get(0), None);
    for record in 0..10u32 {
        assert_eq!(ring.add(record * 11), u64::from(record));
        assert_eq!(ring.get(u64::from(record)), Some(record * 11));
    }
    assert_eq!(ring.numbers(), 6..10);
    assert_eq!(ring.added(), 10);
    let kept: Vec<_> = (0..12).filter_map(|number| ring.get(number)).collect();
    assert_eq!(kept, [66, 77, 88, 99]);

    // Without room nothing is kept, and nothing breaks.
    let mut none = Ring::new(Vec::<u32>::new());
    assert_eq!(none.add(1), 0);
    assert_eq!(none.get(0), None);
}

#[test]
fn a_recovery_says_that_commands_stay_refused() {
    let mut bench = healthy();
    bench.freeze();
    bench.ticks(5);
    bench.run();
    bench.ticks(1);
    let back = bench.seen.last().unwrap();
    assert!(back.from.is_fatal() && !back.to.is_fatal());
    let mut text = String::new();
    render::line(&mut text, 5, 0, back).unwrap();
    assert!(
        text.contains("refused until the driver is bound again"),
        "{text}"
    );
}

fn any_sample() -> impl Strategy<Value = Sample> {
    prop_oneof![
        1 => Just(Sample::Dead),
        4 => (
            prop_oneof![any::<u32>(), 0u32..4, 0xff_fff0u32..0x100_0004],
            prop_oneof![4 => Just(0u8), 1 => 0u8..8],
            prop_oneof![4 => Just((0u8, 0u16, false)), 1 => any::<(u8, u16, bool)>()],
        )
            .prop_map(|(counter, nic_interface, (synd, ext_synd, rfr))| Sample::Live {
                counter,
                nic_interface,
                trouble: Trouble {
                    synd,
                    ext_synd,
                    rfr,
                },
            }),
    ]
}

proptest! {
    /// Whatever comes: no panic, states only from the readings that allow them, no line without a
    /// change.
    #[test]
    fn any_readings(
        threshold in 1u32..6,
        readings in prop::collection::vec((any_sample(), prop_oneof![0u64..200_000, any::<u64>()]), 1..200),
    ) {
        let mut machine = Machine::new(threshold);
        let mut now = 0u64;
        for (sample, wait) in readings {
            now = now.saturating_add(wait);
            let before = machine;
            let transition = machine.feed(now, &sample);

            if machine.state == State::Gone {
                prop_assert!(machine.dead_reads >= 2 && machine.dead_reads >= threshold
                    || before.state == State::Gone);
            }
            if machine.state == State::Failed && before.state != State::Failed {
                prop_assert!(machine.trouble.synd != 0 && machine.trouble.rfr);
            }
            if machine.counter != before.counter {
                prop_assert_eq!(machine.misses, 0);
            }
            if machine.state == State::Stalled && before.state != State::Stalled {
                prop_assert!(machine.misses >= threshold);
                prop_assert!(machine.gap_us(now) >= machine.stall_us());
            }
            match transition {
                Some(t) => prop_assert!(
                    (t.from, before.trouble) != (t.to, machine.trouble) && t.to == machine.state
                ),
                None => prop_assert_eq!(
                    (before.state, before.trouble),
                    (machine.state, machine.trouble)
                ),
            }
            let mut text = String::new();
            render::state(&mut text, &machine, now).unwrap();
            if let Some(t) = transition {
                render::line(&mut text, 1, i64::MAX, &t).unwrap();
                render::line(&mut text, 1, i64::MIN, &t).unwrap();
            }
        }
    }

    /// A counter that runs is never called stalled, whatever its period and the interval are, also
    /// when readings come late.
    #[test]
    fn no_false_alarm(
        period_us in 100u64..1_500_000,
        interval_us in 1_000u64..2_000_000,
        late in prop::collection::vec(0u64..3_000_000, 200),
        phase in 0u64..100,
    ) {
        let mut bench = Bench::new(period_us, interval_us);
        bench.from_us -= (period_us - 1) * phase / 100;
        for late in late {
            bench.now_us += if late % 4 == 0 { late } else { 0 };
            bench.tick();
            prop_assert!(!bench.machine.state.is_fatal(), "{:?}", bench.machine.state);
        }
    }

    /// A counter that stops is found after the threshold's readings once several periods are over.
    #[test]
    fn every_stall_is_found(
        period_us in 100u64..300_000,
        interval_us in 10_000u64..300_000,
        before in 200u32..400,
    ) {
        let mut bench = Bench::new(period_us, interval_us);
        bench.ticks(before);
        bench.freeze();
        let at = bench.now_us;
        let limit = (4 * interval_us).max(2 * STALL_PERIODS * period_us) + interval_us;
        while bench.machine.state != State::Stalled {
            bench.tick();
            prop_assert!(bench.now_us - at <= limit, "not found after {} us", bench.now_us - at);
        }
    }
}
