// SPDX-License-Identifier: GPL-2.0

//! The watchdog of the event queues: what interrupts do not tell.
//!
//! An entry that stays in a ring without an interrupt is taken by the watchdog at its second look. A
//! queue that was found full may have been overrun, which makes the device give up on it: the device
//! is asked, and if the command queue's events are lost that way, commands are polled again. Commands
//! that had timed out and are done meanwhile are found here too.

use crate::{
    cmd::{
        self,
        Mode, //
    },
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
    sync::Arc,
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
            signal <- Signal::new(),
        })
    }

    fn look(&self) {
        self.commands.reap();

        for vector in &self.vectors {
            vector.look(|stats| {
                if self.limit.pass().is_some() {
                    dev_warn!(
                        self.commands.scope().dev(),
                        "event queue {}: events without an interrupt, taken by the watchdog\n",
                        stats.kind().name()
                    );
                }
            });
            vector.suspects(|number, stats| {
                // A failure of the question is in the log already.
                if !matches!(has_failed(&self.commands, number), Ok(true)) {
                    return;
                }
                stats.note_overrun();
                dev_err!(
                    self.commands.scope().dev(),
                    "event queue {} (eqn {number:#x}) was overrun: the device writes no more events \
                     to it; reload the module\n",
                    stats.kind().name()
                );
                if stats.kind() == Kind::Command {
                    self.commands.set_mode(Mode::Polling);
                }
            });
        }
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
