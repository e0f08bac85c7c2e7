// SPDX-License-Identifier: GPL-2.0

//! Recovery: when an attempt is made, and what follows from each step.

use mlx5_prm_host::recovery::policy::{
    after, backoff_us, Ended, Next, Plan, Row, Settings, Step, Way, MAX_BACKOFF_MS, STABLE_US,
};
use proptest::prelude::*;

fn settings() -> impl Strategy<Value = Settings> {
    (any::<bool>(), 1u32..=1000, 10u32..=600_000).prop_map(|(auto, limit, backoff_ms)| Settings {
        auto,
        limit,
        backoff_ms,
    })
}

const DEFAULT: Settings = Settings {
    auto: true,
    limit: 3,
    backoff_ms: 1000,
};

#[test]
fn back_offs_double_until_the_limit() {
    let mut row = Row::default();
    assert_eq!(row.plan(&DEFAULT, None), Plan::Nothing);
    assert_eq!(row.plan(&DEFAULT, Some(5)), Plan::AttemptAt(1_000_005));
    row.note(5, 1_500_000);
    assert_eq!(
        row.plan(&DEFAULT, Some(1_500_000)),
        Plan::AttemptAt(3_500_000)
    );
    row.note(1_500_000, 4_000_000);
    assert_eq!(
        row.plan(&DEFAULT, Some(4_000_000)),
        Plan::AttemptAt(8_000_000)
    );
    row.note(4_000_000, 9_000_000);
    assert_eq!(row.plan(&DEFAULT, Some(9_000_000)), Plan::Exhausted);
    row.clear();
    assert_eq!(
        row.plan(&DEFAULT, Some(9_000_000)),
        Plan::AttemptAt(10_000_000)
    );
}

#[test]
fn a_row_ends_when_the_function_was_well_for_long() {
    let mut row = Row::default();
    for _ in 0..3 {
        row.note(1, 1000);
    }
    assert_eq!(row.plan(&DEFAULT, Some(999 + STABLE_US)), Plan::Exhausted);
    let dead = 1000 + STABLE_US;
    assert_eq!(
        row.plan(&DEFAULT, Some(dead)),
        Plan::AttemptAt(dead + 1_000_000)
    );
    row.note(dead, dead + 1);
    assert_eq!(row.attempts(dead + 2), 1);
}

#[test]
fn an_attempt_goes_through_all_steps() {
    let mut steps = vec![];
    let mut step = Step::Stopping;
    loop {
        steps.push(step);
        match after(step, Ended::Well, 1) {
            Next::Do(next) => step = next,
            Next::OtherWay => step = Step::Resetting,
            Next::Recovered => break,
            other => panic!("{other:?}"),
        }
    }
    assert_eq!(
        steps,
        [
            Step::Stopping,
            Step::Resetting,
            Step::Answering,
            Step::Initializing,
            Step::Starting
        ]
    );
}

#[test]
fn firmware_is_reset_only_where_it_may_be() {
    assert_eq!(Way::all(false, false), [Way::Function]);
    assert_eq!(Way::all(true, true), [Way::Function]);
    assert_eq!(Way::all(true, false), [Way::Function, Way::Firmware]);
}

#[test]
fn steps_have_numbers_of_their_own() {
    for number in 0..8 {
        assert_eq!(Step::of(number).number(), number);
    }
    assert_eq!(Step::of(99), Step::Idle);
}

fn step() -> impl Strategy<Value = Step> {
    (2u32..=6).prop_map(Step::of)
}

proptest! {
    #[test]
    fn nothing_is_done_by_itself_unless_chosen(settings in settings(), dead in any::<u64>()) {
        let settings = Settings { auto: false, ..settings };
        prop_assert_eq!(Row::default().plan(&settings, Some(dead)), Plan::Nothing);
    }

    /// However a function fails, there are as many attempts in a row as the limit says, and each
    /// comes no earlier than its back-off after the one before.
    #[test]
    fn the_limit_holds(
        settings in settings(),
        times in prop::collection::vec((0u64..1_000_000, 0u64..30_000_000), 1..40),
    ) {
        let settings = Settings { auto: true, ..settings };
        let mut row = Row::default();
        let mut now = 1;
        let mut made = 0;
        for (took, until_dead) in times {
            let dead = now + until_dead;
            match row.plan(&settings, Some(dead)) {
                Plan::AttemptAt(at) => {
                    prop_assert!(made < settings.limit);
                    prop_assert!(at >= dead + u64::from(settings.backoff_ms) * 1000);
                    prop_assert!(at <= dead + backoff_us(&settings, made));
                    // Made late, or at once.
                    now = at + took;
                    row.note(dead, now);
                    made += 1;
                }
                Plan::Exhausted => prop_assert_eq!(made, settings.limit),
                Plan::Nothing => prop_assert!(false),
            }
        }
    }

    #[test]
    fn back_offs_grow_and_are_bounded(settings in settings(), attempts in 0u32..200) {
        let one = backoff_us(&settings, attempts);
        let next = backoff_us(&settings, attempts + 1);
        prop_assert!(next >= one);
        prop_assert!(next <= MAX_BACKOFF_MS * 1000);
        prop_assert!(next == MAX_BACKOFF_MS * 1000 || next == one * 2);
    }

    /// Whatever the steps do, an attempt ends, after a number of steps that the ways set.
    #[test]
    fn an_attempt_ends(
        results in prop::collection::vec(any::<bool>(), 64),
        offered in any::<bool>(),
    ) {
        let mut ways = Way::all(offered, false).iter();
        let mut step = Step::Stopping;
        let mut ended = false;
        for (count, well) in results.into_iter().enumerate() {
            prop_assert!(count <= 9, "at most one stop and four steps for each way");
            let how = if well { Ended::Well } else { Ended::Badly };
            match after(step, how, ways.len()) {
                Next::Do(next) => step = next,
                Next::OtherWay => {
                    prop_assert!(ways.next().is_some());
                    step = Step::Resetting;
                }
                Next::Recovered => {
                    prop_assert_eq!((step, well), (Step::Starting, true));
                    ended = true;
                    break;
                }
                Next::Failed => {
                    prop_assert!(!well && ways.len() == 0);
                    ended = true;
                    break;
                }
                Next::Canceled => prop_assert!(false),
            }
        }
        prop_assert!(ended);
    }

    #[test]
    fn unbinding_ends_any_step(step in step(), ways in 0usize..3) {
        prop_assert_eq!(after(step, Ended::Canceled, ways), Next::Canceled);
    }
}
