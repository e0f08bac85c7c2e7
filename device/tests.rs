// SPDX-License-Identifier: GPL-2.0

//! KUnit tests of what those who share a function tell each other.

use super::{
    Condition,
    Degradation,
    Reason,
    State,
    Waiter, //
};
use kernel::{
    prelude::*,
    sync::{
        atomic::{
            Atomic,
            Relaxed, //
        },
        Arc, //
    },
};

/// Counts how often it was told of something.
struct Counter {
    woken: Atomic<u32>,
    changes: Atomic<u32>,
}

impl Counter {
    fn new() -> Result<Arc<Self>> {
        Ok(Arc::new(
            Self {
                woken: Atomic::new(0),
                changes: Atomic::new(0),
            },
            GFP_KERNEL,
        )?)
    }

    fn told(&self) -> (u32, u32) {
        (self.woken.load(Relaxed), self.changes.load(Relaxed))
    }
}

impl Waiter for Counter {
    fn wake(&self) {
        self.woken.fetch_add(1, Relaxed);
    }

    fn changed(&self) {
        self.changes.fetch_add(1, Relaxed);
    }
}

#[kunit_tests(mlx5_prm_rs_state)]
mod tests {
    use super::*;

    #[test]
    fn a_condition_only_gets_worse_until_a_revival() -> Result {
        let state = Arc::pin_init(State::new(), GFP_KERNEL)?;

        assert!(state.is_alive());
        assert!(state.worsen(Condition::Fatal(Reason::Stalled)));
        // The first reason stays.
        assert!(!state.worsen(Condition::Fatal(Reason::Syndrome)));
        assert!(state.condition() == Condition::Fatal(Reason::Stalled));
        assert!(state.worsen(Condition::Gone));
        assert!(!state.worsen(Condition::Fatal(Reason::Stalled)));
        assert!(state.condition() == Condition::Gone);

        state.degrade(Degradation::Temperature);
        state.revive();
        assert!(state.is_alive());
        assert!(state.degradations().is_empty());
        Ok(())
    }

    #[test]
    fn each_change_is_told_once() -> Result {
        let state = Arc::pin_init(State::new(), GFP_KERNEL)?;
        let counter = Counter::new()?;
        let registration = state.add_waiter(counter.clone())?;
        let before = state.sequence();

        assert!(state.degrade(Degradation::EqStalled));
        assert!(!state.degrade(Degradation::EqStalled));
        assert_eq!(counter.told(), (0, 1));
        assert!(state.mend(Degradation::EqStalled));
        assert!(!state.mend(Degradation::EqStalled));
        assert_eq!(counter.told(), (0, 2));
        assert!(state.worsen(Condition::Gone));
        assert!(!state.worsen(Condition::Gone));
        assert_eq!(counter.told(), (1, 3));
        assert_eq!(state.sequence(), before + 3);

        drop(registration);
        state.revive();
        assert_eq!(counter.told(), (1, 3));
        Ok(())
    }

    #[test]
    fn a_place_that_was_left_is_free_again() -> Result {
        let state = Arc::pin_init(State::new(), GFP_KERNEL)?;
        let mut all = KVec::new();

        while let Ok(registration) = state.add_waiter(Counter::new()?) {
            all.push(registration, GFP_KERNEL)?;
        }
        assert!(all.len() >= 4);
        assert!(all.pop().is_some());
        assert!(state.add_waiter(Counter::new()?).is_ok());
        Ok(())
    }
}
