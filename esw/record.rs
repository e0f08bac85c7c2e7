// SPDX-License-Identifier: GPL-2.0

//! What is known of the e-switch functions, for debugfs and the summary; outlives the function.

use super::{
    diff::compare,
    render::{
        self,
        Entry, //
    },
    support::Facts,
    taken::{
        Outputs,
        Taken,
        When, //
    }, //
};
use crate::{
    cmd::{
        self,
        caps::Caps, //
    },
    device::State,
    eq::{
        Subscriber,
        Subscription, //
    },
    kernel_ext::{
        clock,
        request::Requests,
        ring::Ring,
        signal::Signal, //
    },
    prm::{
        eq::{
            Eqe,
            EventType, //
        },
        esw::QueryEswFunctionsMod,
        iseg, //
    },
};
use core::{
    fmt,
    mem,
    ops::Range, //
};
use kernel::{
    new_mutex,
    prelude::*,
    sync::{
        atomic::{
            Acquire,
            Atomic,
            Relaxed,
            Release, //
        },
        Arc,
        Mutex, //
    },
    time::Delta, //
};

/// Changes that are kept.
const KEPT: usize = 256;

/// How long a query that was asked for may take beyond the time-out of its command, in
/// milliseconds: one that is under way already may have to end first.
const REFRESH_MS: i64 = 5_000;

/// Bits of [`Record::signal`].
pub(super) mod wake {
    /// An event has come.
    pub(in crate::esw) const EVENT: u32 = 1 << 0;
    /// Somebody has asked for a query.
    pub(in crate::esw) const REFRESH: u32 = 1 << 1;
}

/// A query that failed.
struct Failure {
    when: When,
    error: cmd::Error,
}

struct Inner {
    current: Option<Taken>,
    /// Room for the next outputs.
    spare: Outputs,
    queries: u64,
    failures: u64,
    /// The last query, if it failed.
    failure: Option<Failure>,
    /// Why the list of SFs could not be had, the last time that it was asked for.
    list_failure: Option<cmd::Error>,
    history: Ring<Entry, KVec<Entry>>,
}

/// The e-switch functions, as far as they are known.
#[pin_data]
pub(crate) struct Record {
    facts: Facts,
    device: Arc<State>,
    /// Longest time that a write to `refresh` waits.
    patience: Delta,
    /// Wakes the thread, by the bits of [`wake`].
    #[pin]
    signal: Signal,
    events: Atomic<u64>,
    #[pin]
    requests: Requests,
    #[pin]
    inner: Mutex<Inner>,
}

impl Record {
    /// Looks whether the function has the command, and makes room for what it will say.
    ///
    /// `command_timeout_ms` is the time that a command may take.
    pub(crate) fn new(
        caps: &Caps,
        state: &iseg::State,
        device: Arc<State>,
        command_timeout_ms: u64,
    ) -> impl PinInit<Self, Error> {
        let facts = Facts::of(&caps.general(), caps.eswitch().as_ref(), state);
        let room = if facts.supported() {
            Outputs::new(&facts)
        } else {
            Ok(Outputs::EMPTY)
        };
        let patience = i64::try_from(command_timeout_ms)
            .unwrap_or(i64::MAX)
            .saturating_mul(2)
            .saturating_add(REFRESH_MS);

        try_pin_init!(Self {
            facts,
            device,
            patience: Delta::from_millis(patience),
            signal <- Signal::new(),
            events: Atomic::new(0),
            requests <- Requests::new(),
            inner <- new_mutex!(Inner {
                current: None,
                spare: room?,
                queries: 0,
                failures: 0,
                failure: None,
                list_failure: None,
                history: Ring::new(KVec::from_elem(Entry::EMPTY, KEPT, GFP_KERNEL)?),
            }),
        })
    }

    /// Whether the function still is what it was when the record was made: a reset may have started
    /// another firmware.
    pub(crate) fn fits(&self, caps: &Caps, state: &iseg::State) -> bool {
        self.facts == Facts::of(&caps.general(), caps.eswitch().as_ref(), state)
    }

    /// Whether the function has the command and its event.
    pub(crate) fn supported(&self) -> bool {
        self.facts.supported()
    }

    /// The event to be told of, if the function has it.
    pub(crate) fn subscription(self: &Arc<Self>) -> Option<Subscription<'static>> {
        self.supported().then(|| Subscription {
            event: EventType::ESW_FUNCTIONS_CHANGED,
            subscriber: self.clone(),
        })
    }

    pub(super) fn signal(&self) -> &Signal {
        &self.signal
    }

    pub(super) fn op_mod(&self) -> QueryEswFunctionsMod {
        self.facts.op_mod()
    }

    /// What a query that begins now will cover.
    pub(super) fn now(&self) -> When {
        When {
            at_us: clock::monotonic_us(),
            wall: clock::wall_seconds(),
            events: self.events.load(Acquire),
        }
    }

    /// Whether the list of SFs takes a query of its own.
    pub(super) fn needs_list(&self) -> bool {
        self.facts.needs_list()
    }

    /// Room for the outputs; zeros of the lengths to ask for.
    ///
    /// # Errors
    ///
    /// [`ENOMEM`] without memory, which is only needed for the second query and after a failure.
    pub(super) fn room(&self) -> Result<Outputs> {
        let mut room = mem::replace(&mut self.inner.lock().spare, Outputs::EMPTY);

        if room.functions.is_empty() {
            room = Outputs::new(&self.facts)?;
        }
        room.functions.fill(0);
        room.list.fill(0);
        Ok(room)
    }

    /// Keeps what a query has brought; returns the numbers of the history's new entries.
    pub(super) fn keep(&self, when: When, outputs: Outputs, has_list: bool) -> Range<u64> {
        let new = Taken {
            when,
            outputs,
            has_list,
        };
        let mut inner = self.inner.lock();
        let inner = &mut *inner;
        let before = inner.history.added();

        inner.queries = inner.queries.saturating_add(1);
        inner.failure = None;

        let old = inner.current.take();
        let history = &mut inner.history;
        compare(
            old.as_ref().map(|old| old.view(self.op_mod())).as_ref(),
            &new.view(self.op_mod()),
            &mut |subject, change| {
                history.add(Entry {
                    at_us: when.at_us,
                    wall: when.wall,
                    events: when.events,
                    subject,
                    change,
                });
            },
        );

        inner.current = Some(new);
        if let Some(old) = old {
            inner.spare = old.outputs;
        }
        before..inner.history.added()
    }

    /// Keeps how the query for the list of SFs has ended.
    pub(super) fn note_list(&self, result: &Result<(), cmd::Error>) {
        self.inner.lock().list_failure = result.err();
    }

    /// Keeps a failure; the snapshot before stays.
    pub(super) fn fail(&self, when: When, error: cmd::Error, room: Option<Outputs>) {
        let mut inner = self.inner.lock();

        inner.queries = inner.queries.saturating_add(1);
        inner.failures = inner.failures.saturating_add(1);
        inner.failure = Some(Failure { when, error });
        if let Some(room) = room {
            inner.spare = room;
        }
    }

    /// An entry of the history.
    pub(super) fn entry(&self, number: u64) -> Option<Entry> {
        self.inner.lock().history.get(number)
    }

    /// Those who have asked for a query.
    pub(super) fn requests(&self) -> &Requests {
        &self.requests
    }

    /// Makes the thread ask now, and waits until it has.
    ///
    /// # Errors
    ///
    /// - [`EOPNOTSUPP`] if the function does not have the command.
    /// - That of the command, if it failed.
    /// - [`ETIMEDOUT`] if the thread did not come to it.
    /// - That of [`State::refusal`] if the thread has ended.
    /// - [`ERESTARTSYS`] if a signal came.
    pub(super) fn refresh(&self) -> Result {
        if !self.supported() {
            return Err(EOPNOTSUPP);
        }
        self.requests
            .ask(&self.signal, wake::REFRESH, self.patience)
            .map_err(|error| match error {
                ESHUTDOWN => self.device.refusal(),
                other => other,
            })?;
        match &self.inner.lock().failure {
            Some(failure) => Err(failure.error.into()),
            None => Ok(()),
        }
    }

    pub(super) fn show_support(&self, w: &mut dyn fmt::Write) -> fmt::Result {
        self.facts.write(w)
    }

    pub(super) fn show_functions(&self, w: &mut dyn fmt::Write) -> fmt::Result {
        if !self.check_support(w)? {
            return Ok(());
        }
        let events = self.events.load(Relaxed);
        let inner = self.inner.lock();

        writeln!(w, "events: {events}")?;
        writeln!(w, "queries: {}", inner.queries)?;
        writeln!(w, "queries_failed: {}", inner.failures)?;
        match &inner.failure {
            Some(Failure { when, error }) => {
                writeln!(w, "last_query: {error}")?;
                writeln!(w, "last_query_age_ms: {}", when.age_ms())?;
            }
            None if inner.queries > 0 => writeln!(w, "last_query: ok")?,
            None => writeln!(w, "last_query: none yet")?,
        }
        if let Some(error) = &inner.list_failure {
            writeln!(w, "last_query_of_sfs: {error}")?;
        }
        match &inner.current {
            Some(taken) => {
                taken.when.write(w, events)?;
                render::snapshot(w, &taken.view(self.op_mod()))
            }
            None => writeln!(w, "snapshot: none"),
        }
    }

    pub(super) fn show_layout(&self, w: &mut dyn fmt::Write) -> fmt::Result {
        if !self.check_support(w)? {
            return Ok(());
        }
        let events = self.events.load(Relaxed);

        match &self.inner.lock().current {
            Some(taken) => {
                taken.when.write(w, events)?;
                render::layout(w, &taken.view(self.op_mod()))
            }
            None => writeln!(w, "snapshot: none"),
        }
    }

    pub(super) fn show_history(&self, w: &mut dyn fmt::Write) -> fmt::Result {
        writeln!(w, "# number at_us date events: change")?;
        let inner = self.inner.lock();

        for number in inner.history.numbers() {
            if let Some(entry) = inner.history.get(number) {
                render::line(w, number, &entry)?;
            }
        }
        Ok(())
    }

    /// Prints the hosts in one line.
    pub(crate) fn summary(&self, w: &mut dyn fmt::Write) -> fmt::Result {
        w.write_str("esw: ")?;
        if !self.supported() {
            w.write_str("not supported: ")?;
            self.facts.write_reason(w)?;
            return writeln!(w);
        }

        let events = self.events.load(Relaxed);
        let inner = self.inner.lock();
        match &inner.current {
            Some(taken) => {
                render::brief(w, &taken.view(self.op_mod()))?;
                let since = events.saturating_sub(taken.when.events);
                write!(w, " ({since} events since)")?;
            }
            None => w.write_str("no snapshot")?,
        }
        if inner.failure.is_some() {
            w.write_str(", last query failed")?;
        }
        writeln!(w)
    }

    /// Prints why there is nothing, if so; returns whether there is something.
    fn check_support(&self, w: &mut dyn fmt::Write) -> Result<bool, fmt::Error> {
        if !self.supported() {
            w.write_str("not supported: ")?;
            self.facts.write_reason(w)?;
            writeln!(w)?;
        }
        Ok(self.supported())
    }
}

/// Takes the event: counts it and wakes the thread, which asks.
impl Subscriber for Record {
    fn event(&self, _: &Eqe) {
        self.events.fetch_add(1, Release);
        self.signal.raise(wake::EVENT);
    }
}
