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
        QueryEswFunctionsMod,
        QueryEswFunctionsOut, //
    },
};
use core::ops::Range;
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
use zerocopy::IntoBytes;

/// How long the thread sleeps at a time; nothing is done when that is over.
const SLEEP: Delta = Delta::from_secs(3600);

/// Asks for the functions when there is a reason to.
pub(super) struct Inquirer<'bound> {
    commands: Arc<cmd::Queue<'bound>>,
    record: Arc<Record>,
    /// The device has refused the list of SFs.
    no_list: Atomic<bool>,
    /// A host that changes its functions all the time must not fill the log.
    log: RateLimit,
}

impl<'bound> Inquirer<'bound> {
    pub(super) fn new(commands: Arc<cmd::Queue<'bound>>, record: Arc<Record>) -> Self {
        Self {
            commands,
            record,
            no_list: Atomic::new(false),
            log: RateLimit::new(50, 60_000),
        }
    }

    /// The query at the start: what it finds is no news.
    pub(super) fn first(&self) {
        self.query();
    }

    /// Asks, keeps the answer, and returns the numbers of the history's new entries.
    fn query(&self) -> Range<u64> {
        // Events from here on are not behind this answer.
        let when = self.record.now();
        let op_mod = self.record.op_mod();

        let Ok(mut room) = self.record.room() else {
            let error = cmd::Error::no_memory::<QueryEswFunctions>(op_mod.0);
            self.record.fail(when, error, None);
            return 0..0;
        };
        if let Err(error) = self.ask(op_mod, &mut room.functions) {
            self.record.fail(when, error, Some(room));
            return 0..0;
        }

        // Without the list, the functions are worth having all the same.
        let has_list = self.record.needs_list() && self.ask_for_list(&mut room.list);

        self.record.keep(when, room, has_list)
    }

    /// Asks for the legacy layout, for its list of SFs; returns whether it came.
    fn ask_for_list(&self, output: &mut [u8]) -> bool {
        if self.no_list.load(Relaxed) {
            return false;
        }
        let result = self.ask(QueryEswFunctionsMod::LEGACY, output);

        // A device that does not have the legacy layout is not asked again.
        if let Err(error) = &result {
            self.no_list.store(error.refused().is_some(), Relaxed);
        }
        self.record.note_list(&result);
        result.is_ok()
    }

    /// Sends the command; fills `output` with all of what comes back.
    fn ask(&self, op_mod: QueryEswFunctionsMod, output: &mut [u8]) -> Result<(), cmd::Error> {
        let split = QueryEswFunctionsOut::CONTEXT.min(output.len());
        let (head, tail) = output.split_at_mut(split);

        let out = self.commands.exec_with::<QueryEswFunctions>(
            op_mod.0,
            QueryEswFunctionsIn::new(),
            &[],
            tail,
        )?;
        for (to, from) in head.iter_mut().zip(out.as_bytes()) {
            *to = *from;
        }
        Ok(())
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
            let asked = self.record.requests().count();
            let news = self.query();
            self.record.requests().serve(asked);
            self.report(news);
        }
        self.record.requests().let_go();
    }
}
