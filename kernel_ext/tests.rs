// SPDX-License-Identifier: GPL-2.0

//! KUnit tests of what only a kernel can run.

use super::{
    clock::{
        monotonic_ms,
        to_jiffies, //
    },
    completion::Completion,
    ratelimit::RateLimit,
    wait::WaitQueue, //
};
use kernel::{
    prelude::*,
    sync::Arc,
    time::Delta, //
};

#[kunit_tests(mlx5_prm_rs_kernel_ext)]
mod tests {
    use super::*;

    /// Long enough to be seen on any clock, short enough for a test.
    const SHORT: Delta = Delta::from_millis(30);

    #[test]
    fn times_become_jiffies_rounded_up() {
        assert_eq!(to_jiffies(Delta::from_nanos(-1)), 0);
        assert_eq!(to_jiffies(Delta::ZERO), 0);
        assert_eq!(to_jiffies(Delta::from_nanos(1)), 1);
        assert_eq!(
            to_jiffies(Delta::from_secs(1)),
            to_jiffies(Delta::from_millis(1000))
        );
        assert!(to_jiffies(Delta::from_secs(1)) > to_jiffies(Delta::from_millis(900)));
        // What does not fit 32 bits of milliseconds is still a long time.
        assert!(to_jiffies(Delta::from_secs(1 << 32)) >= to_jiffies(Delta::from_secs(1 << 21)));
    }

    #[test]
    fn a_completion_that_does_not_come_is_waited_for_no_longer_than_said() -> Result {
        let completion = Arc::pin_init(Completion::new(), GFP_KERNEL)?;
        let start = monotonic_ms();

        assert!(!completion.wait_timeout(SHORT));
        assert!(monotonic_ms() - start >= 29);
        // Without time it is only looked for.
        assert!(!completion.wait_timeout(Delta::ZERO));
        assert!(!completion.wait_timeout(Delta::from_millis(-5)));
        Ok(())
    }

    #[test]
    fn each_complete_lets_one_wait_pass() -> Result {
        let completion = Arc::pin_init(Completion::new(), GFP_KERNEL)?;

        completion.complete();
        completion.complete();
        assert!(completion.wait_timeout(SHORT));
        assert!(completion.wait_timeout(Delta::ZERO));
        assert!(!completion.wait_timeout(Delta::ZERO));

        completion.complete();
        completion.reinit();
        assert!(!completion.wait_timeout(Delta::ZERO));
        Ok(())
    }

    #[test]
    fn a_wait_looks_at_its_condition_first_and_last() -> Result {
        let queue = Arc::pin_init(WaitQueue::new(), GFP_KERNEL)?;
        let mut looks = 0;

        assert!(queue.wait_idle(SHORT, || true));
        assert!(!queue.wait_idle(SHORT, || {
            looks += 1;
            false
        }));
        assert!(looks >= 2);
        assert!(!queue.wait_interruptible(Delta::ZERO, || false)?);
        Ok(())
    }

    #[test]
    fn lines_beyond_the_burst_are_counted() {
        let limit = RateLimit::new(2, 3_600_000);

        assert_eq!(limit.pass(), Some(0));
        assert_eq!(limit.pass(), Some(0));
        assert_eq!(limit.pass(), None);
        assert_eq!(limit.pass(), None);
    }
}
