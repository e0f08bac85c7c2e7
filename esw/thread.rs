// SPDX-License-Identifier: GPL-2.0

//! The thread that asks the device: commands must not be sent where events are taken.

use super::{
    diff::Change,
    record::Record,
    render::Entry, //
};
use crate::{
    cmd,
    kernel_ext::{
        kthread::{
            Body,
            StopToken, //
        },
        ratelimit::RateLimit,
        signal::Signal, //
    },
    prm::esw::{
        QueryEswFunctions,
        QueryEswFunctionsIn,
        QueryEswFunctionsOut, //
    },
};
use core::ops::Range;
use kernel::{
    prelude::*,
    sync::Arc,
    time::Delta, //
};
use zerocopy::IntoBytes;

/// How long the thread sleeps at a time; nothing is done when that is over.
const SLEEP: Delta = Delta::from_secs(3600);

/// Asks for the functions when there is a reason to.
pub(super) struct Inquirer<'bound> {
    commands: Arc<cmd::Queue<'bound>>,
    record: Arc<Record>,
    /// A host that changes its functions all the time must not fill the log.
    log: RateLimit,
}

impl<'bound> Inquirer<'bound> {
    pub(super) fn new(commands: Arc<cmd::Queue<'bound>>, record: Arc<Record>) -> Self {
        Self {
            commands,
            record,
            log: RateLimit::new(50, 60_000),
        }
    }

    /// The query at the start: what it finds is no news.
    pub(super) fn first(&self) {
        self.query();
    }

    /// Asks, keeps the answer, and returns the numbers of the history's new entries.
    fn query(&self) -> Range<u64> {
        let mut room = match self.record.room() {
            Ok(room) => room,
            Err(_) => return self.no_memory(),
        };
        // Events from here on are not behind this answer.
        let when = self.record.now();
        let op_mod = self.record.op_mod().0;
        let split = QueryEswFunctionsOut::CONTEXT.min(room.len());
        let (head, tail) = room.split_at_mut(split);

        let result = self.commands.exec_with::<QueryEswFunctions>(
            op_mod,
            QueryEswFunctionsIn::new(),
            &[],
            tail,
        );
        match result {
            Ok(out) => {
                for (to, from) in head.iter_mut().zip(out.as_bytes()) {
                    *to = *from;
                }
                self.record.keep(when, room)
            }
            Err(error) => {
                self.record.fail(when, error, room);
                0..0
            }
        }
    }

    fn no_memory(&self) -> Range<u64> {
        let error = cmd::Error::no_memory::<QueryEswFunctions>(self.record.op_mod().0);

        self.record.fail(self.record.now(), error, KVec::new());
        0..0
    }

    fn report(&self, numbers: Range<u64>) {
        for number in numbers {
            let Some(Entry {
                subject, change, ..
            }) = self.record.entry(number)
            else {
                continue;
            };
            let Some(suppressed) = self.log.pass() else {
                continue;
            };
            let dev = self.commands.scope().dev();

            if change.skips_zero() || change == Change::PfDisabled {
                dev_warn!(dev, "e-switch: {}\n", format_args!("{subject}: {change}"));
            } else {
                dev_info!(dev, "e-switch: {}\n", format_args!("{subject}: {change}"));
            }
            if suppressed > 0 {
                dev_info!(
                    dev,
                    "e-switch: {suppressed} changes were not printed, see esw/history\n"
                );
            }
        }
    }
}

impl Body for Inquirer<'_> {
    fn signal(&self) -> &Signal {
        self.record.signal()
    }

    fn run(&self, stop: &StopToken<'_>) {
        while !stop.should_stop() {
            if self.record.signal().wait_timeout(SLEEP) == 0 {
                continue;
            }
            // Requests that come while the command is under way need one more.
            let up_to = self.record.requests();
            let news = self.query();
            self.record.served(up_to);
            self.report(news);
        }
    }
}
