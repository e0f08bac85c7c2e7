// SPDX-License-Identifier: GPL-2.0

//! The watchdog of the event queues: what interrupts do not tell.
//!
//! An entry that stays in a ring without an interrupt is taken by the watchdog at its second look.
//! A queue that was found full may have been overrun, which makes the device give up on it: the
//! device is asked, and if the command queue's events are lost that way, commands are polled again.
//! It is asked as well when a command was done without an event. Commands that had timed out and
//! are done meanwhile are found here too.

use crate::{
    cmd::{
        self,
        Mode, //
    },
    device::Degradation,
    kernel_ext::{
        kthread::{
            Body,
            StopToken, //
        },
        ratelimit::RateLimit,
        signal::Signal, //
    },
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

use super::{
    queue::{
        has_failed,
        Kind, //
    },
    vector::Vector, //
};

/// Time from one look to the next.
const PERIOD: Delta = Delta::from_millis(250);

/// The watchdog thread's body.
#[pin_data]
pub(super) struct Watchdog<'bound> {
    commands: Arc<cmd::Queue<'bound>>,
    vectors: KVec<Arc<Vector<'bound>>>,
    limit: RateLimit,
    /// Commands without an event that were acted upon.
    lost_events: Atomic<u64>,
    #[pin]
    signal: Signal,
}

impl<'bound> Watchdog<'bound> {
    pub(super) fn new(
        commands: Arc<cmd::Queue<'bound>>,
        vectors: KVec<Arc<Vector<'bound>>>,
    ) -> impl PinInit<Self> {
        pin_init!(Self {
            commands,
            vectors,
            limit: RateLimit::new(5, 10_000),
            lost_events: Atomic::new(0),
            signal <- Signal::new(),
        })
    }

    fn look(&self) {
        self.commands.reap();

        let mut stalled = false;
        let events_are_lost = self.commands.lost_events() != self.lost_events.load(Relaxed);
        for vector in &self.vectors {
            stalled |= vector.look(|stats| {
                if self.limit.pass().is_some() {
                    dev_warn!(
                        self.commands.scope().dev(),
                        "event queue {}: events without an interrupt, taken by the watchdog\n",
                        stats.kind().name()
                    );
                }
            });
            if events_are_lost {
                vector.suspect(Kind::Command);
            }
            vector.suspects(|number, stats| {
                // A failure of the question is in the log already.
                if !matches!(has_failed(&self.commands, number), Ok(true)) {
                    return;
                }
                vector.note_failure(stats.kind());
                dev_err!(
                    self.commands.scope().dev(),
                    "event queue {} (eqn {number:#x}) was overrun: the device writes no more \
                     events to it; reload the module\n",
                    stats.kind().name()
                );
                if stats.kind() == Kind::Command {
                    self.commands.set_mode(Mode::Polling);
                }
            });
        }
        let state = self.commands.state();
        if stalled {
            state.degrade(Degradation::EqStalled);
        } else {
            state.mend(Degradation::EqStalled);
        }
        // The question may have got no event either; that shall not make it be asked for ever.
        self.lost_events.store(self.commands.lost_events(), Relaxed);
    }
}

impl Body for Watchdog<'_> {
    fn signal(&self) -> &Signal {
        &self.signal
    }

    fn run(&self, stop: &StopToken<'_>) {
        while !stop.should_stop() {
            self.signal.wait_timeout(PERIOD);
            if self.commands.state().is_alive() {
                self.look();
            }
        }
    }
}
