// SPDX-License-Identifier: GPL-2.0

//! The thread that makes the attempts.

use super::{
    super::place::Place,
    attempt::{
        Attempt,
        Why, //
    },
    policy::{
        after,
        Ended,
        Next,
        Plan,
        Step,
        Way, //
    },
    record::Record,
    reset, //
};
use crate::{
    device::{
        Condition,
        Reason, //
    },
    kernel_ext::{
        clock,
        kthread::{
            Body,
            StopToken, //
        },
        signal::Signal,
        uevent, //
    }, //
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
    time::Delta, //
};

/// Time that the thread sleeps if there is nothing to do; the signal ends it.
const IDLE: Delta = Delta::from_secs(3600);

/// How long health may take to know that firmware runs, in milliseconds. It calls a stall earlier.
const VERIFY_MS: u64 = 10_000;

/// Pause between two looks at that.
const LOOK: Delta = Delta::from_millis(20);

/// Brings the function back.
pub(super) struct Recoverer<'bound> {
    place: Arc<Place<'bound>>,
    record: Arc<Record>,
    /// Since when the function is dead, in microseconds of the monotonic clock; 0: it is alive.
    dead_us: Atomic<u64>,
}

impl<'bound> Recoverer<'bound> {
    pub(super) fn new(place: Arc<Place<'bound>>, record: Arc<Record>) -> Self {
        Self {
            place,
            record,
            dead_us: Atomic::new(0),
        }
    }

    /// Since when the function is dead, if it is.
    fn dead_since(&self) -> Option<u64> {
        if self.place.common().state.is_alive() {
            self.dead_us.store(0, Relaxed);
            return None;
        }
        let now_us = clock::monotonic_us().max(1);
        let since = self.dead_us.load(Relaxed);
        if since == 0 {
            self.dead_us.store(now_us, Relaxed);
            return Some(now_us);
        }
        Some(since)
    }

    /// Makes an attempt; its errno is that of the last step that failed.
    fn attempt(&self, why: Why, stop: &StopToken<'_>) {
        let state = &self.place.common().state;
        let since_us = self.dead_since().unwrap_or_else(clock::monotonic_us);
        let mut attempt = self.record.begin(why, since_us);

        state.set_recovering(true);
        self.report_begin(&attempt);
        let result = self.steps(&mut attempt, stop);
        if result.is_err() && !stop.should_stop() {
            state.not_recovered();
        }
        attempt.took_us = clock::monotonic_us().saturating_sub(attempt.at_us);
        attempt.errno = result.err().map_or(0, Error::to_errno);
        state.set_recovering(false);
        // A function that dies again is dead since then.
        self.dead_us.store(0, Relaxed);
        self.record.set_step(Step::Idle);
        self.report_end(&attempt);
        self.record.end(&attempt);
    }

    fn steps(&self, attempt: &mut Attempt, stop: &StopToken<'_>) -> Result {
        let common = self.place.common();
        let offered = reset::is_firmware_reset_offered(common);
        let mut ways = Way::all(offered, common.virtual_function).iter();
        let mut step = Step::Stopping;

        loop {
            attempt.step = step;
            self.record.set_step(step);
            let result = self.step(step, attempt.way, stop);
            let ended = match result {
                _ if stop.should_stop() => Ended::Canceled,
                Ok(()) => Ended::Well,
                Err(_) => Ended::Badly,
            };

            match after(step, ended, ways.len()) {
                Next::Do(next) => step = next,
                Next::OtherWay => {
                    if let Err(error) = result {
                        self.report_step(attempt, error);
                    }
                    attempt.way = ways.next().copied();
                    step = Step::Resetting;
                }
                Next::Recovered => return Ok(()),
                Next::Canceled => return Err(ECANCELED),
                Next::Failed => {
                    let error = result.err().unwrap_or(EIO);
                    self.report_step(attempt, error);
                    return Err(error);
                }
            }
        }
    }

    fn step(&self, step: Step, way: Option<Way>, stop: &StopToken<'_>) -> Result {
        let common = self.place.common();
        let canceled = || {
            if stop.should_stop() {
                return Err(ECANCELED);
            }
            Ok(())
        };
        let pause = |time| {
            // Bits that are raised meanwhile tell nothing that is not looked at afterwards.
            self.record.signal().wait_timeout(time);
            canceled()
        };

        match step {
            Step::Stopping => {
                self.place.stop();
                // Nobody shall take it for alive while it is reset.
                common.state.worsen(Condition::Fatal(Reason::Reset));
                Ok(())
            }
            Step::Resetting => reset::reset(common, way.unwrap_or(Way::Function), &pause),
            Step::Answering => reset::wait_for_answer(common, &pause),
            Step::Initializing => common.wait_for_firmware(&canceled),
            Step::Starting => {
                common.state.revive();
                // See the drop of `Recovery`.
                if stop.should_stop() {
                    common.state.worsen(Condition::Fatal(Reason::Unbinding));
                    return Err(ECANCELED);
                }
                self.place
                    .restart(&canceled)
                    .and_then(|()| self.verify(&pause))
                    .inspect_err(|_| common.state.not_recovered())
            }
            Step::Idle | Step::Waiting | Step::Exhausted => Ok(()),
        }
    }

    /// Looks whether firmware runs: it may take commands and be as ill as it was.
    ///
    /// # Errors
    ///
    /// [`EIO`] if the function is dead; the run is stopped then. That of `pause`.
    fn verify(&self, pause: reset::Pause<'_>) -> Result {
        let common = self.place.common();
        let start = clock::monotonic_ms();

        while !common.health.is_running() {
            if clock::monotonic_ms().saturating_sub(start) > VERIFY_MS {
                break;
            }
            pause(LOOK)?;
            if !common.state.is_alive() {
                break;
            }
        }
        if !common.state.is_alive() {
            self.place.stop();
            return Err(EIO);
        }
        Ok(())
    }

    fn report_begin(&self, attempt: &Attempt) {
        let dev = self.place.common().scope.dev();

        dev_warn!(
            dev,
            "recovery: attempt {} begins ({}): the device was {}\n",
            attempt.number,
            attempt.why.name(),
            attempt.before
        );
        self.announce("begin", attempt);
    }

    fn report_step(&self, attempt: &Attempt, error: Error) {
        dev_warn!(
            self.place.common().scope.dev(),
            "recovery: attempt {}: {} failed ({}) with {}\n",
            attempt.number,
            attempt.step.name(),
            error.to_errno(),
            attempt.way.map_or("no reset", Way::name)
        );
    }

    fn report_end(&self, attempt: &Attempt) {
        let dev = self.place.common().scope.dev();
        let took_ms = attempt.took_us / 1000;

        if attempt.errno == 0 {
            dev_info!(
                dev,
                "recovery: attempt {} succeeded after {took_ms} ms by a {}\n",
                attempt.number,
                attempt.way.map_or("restart", Way::name)
            );
        } else {
            dev_err!(
                dev,
                "recovery: attempt {} {} after {took_ms} ms in {} ({})\n",
                attempt.number,
                attempt.outcome(),
                attempt.step.name(),
                attempt.errno
            );
        }
        self.announce(attempt.outcome(), attempt);
    }

    /// Tells user space.
    fn announce(&self, what: &str, attempt: &Attempt) {
        let dev = self.place.common().scope.dev();
        let result = uevent::change(
            dev,
            &[
                fmt!("PRM_EVENT=recovery"),
                fmt!("PRM_RECOVERY={what}"),
                fmt!("PRM_RECOVERY_ATTEMPT={}", attempt.number),
                fmt!("PRM_RECOVERY_WHY={}", attempt.why.name()),
                fmt!("PRM_RECOVERY_STEP={}", attempt.step.name()),
                fmt!("PRM_RECOVERY_ERRNO={}", attempt.errno.unsigned_abs()),
            ],
        );

        if let Err(error) = result {
            dev_warn!(
                dev,
                "recovery: no uevent for attempt {} ({}), see recovery/history\n",
                attempt.number,
                error.to_errno()
            );
        }
    }
}

impl Body for Recoverer<'_> {
    fn signal(&self) -> &Signal {
        self.record.signal()
    }

    fn run(&self, stop: &StopToken<'_>) {
        while !stop.should_stop() {
            if self.record.take_wish() {
                self.attempt(Why::Asked, stop);
                continue;
            }

            let plan = self.record.plan(self.dead_since());
            let now_us = clock::monotonic_us();
            let wait = match plan {
                Plan::Nothing => {
                    self.record.set_step(Step::Idle);
                    IDLE
                }
                Plan::Exhausted => {
                    self.record.set_step(Step::Exhausted);
                    IDLE
                }
                Plan::AttemptAt(at_us) if at_us <= now_us => {
                    if self.record.take_turn() {
                        self.attempt(Why::Automatic, stop);
                    }
                    continue;
                }
                Plan::AttemptAt(at_us) => {
                    self.record.set_step(Step::Waiting);
                    let left = at_us.saturating_sub(now_us);
                    Delta::from_micros(i64::try_from(left).unwrap_or(i64::MAX))
                }
            };
            self.record.signal().wait_timeout(wait);
        }
    }
}
