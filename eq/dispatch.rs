// SPDX-License-Identifier: GPL-2.0

//! From an event to those who want to know of it.

use crate::prm::{
    dump,
    eq::{
        Eqe,
        EventMask,
        EventType, //
    },
    layout::Layout, //
};
use core::fmt;
use kernel::{
    new_mutex,
    prelude::*,
    sync::{
        atomic::{
            Atomic,
            Relaxed, //
        },
        Arc,
        Mutex, //
    }, //
};

use crate::kernel_ext::clock;

/// Events that are kept.
const KEPT: usize = 64;

/// Somebody who wants to know of events.
pub(crate) trait Subscriber: Send + Sync {
    /// Takes an event, in the interrupt thread of its queue.
    ///
    /// Only notes what happened and wakes whoever acts on it: commands sent from here could wait
    /// for a completion that this very thread would have to take.
    fn event(&self, eqe: &Eqe);
}

/// A wish to know of events of one type.
pub(crate) struct Subscription<'bound> {
    /// The type.
    pub(crate) event: EventType,
    /// Who wants to know.
    pub(crate) subscriber: Arc<dyn Subscriber + 'bound>,
}

/// What events came, shown in debugfs.
#[pin_data]
pub(crate) struct Seen {
    counts: [Atomic<u64>; 256],
    unexpected: Atomic<u64>,
    spurious_interrupts: Atomic<u64>,
    #[pin]
    last: Mutex<Last>,
}

/// The last events, oldest first from `next` on once the ring is full.
struct Last {
    events: KVec<(u64, Eqe)>,
    next: usize,
}

impl Seen {
    pub(super) fn new() -> impl PinInit<Self, Error> {
        try_pin_init!(Self {
            counts: [const { Atomic::new(0) }; 256],
            unexpected: Atomic::new(0),
            spurious_interrupts: Atomic::new(0),
            last <- new_mutex!(Last {
                events: KVec::with_capacity(KEPT, GFP_KERNEL)?,
                next: 0,
            }),
        })
    }

    /// Notes an interrupt that found no event.
    pub(super) fn note_spurious_interrupt(&self) {
        self.spurious_interrupts.fetch_add(1, Relaxed);
    }

    fn note(&self, eqe: &Eqe, expected: bool) {
        if let Some(count) = self.counts.get(usize::from(eqe.event_type())) {
            count.fetch_add(1, Relaxed);
        }
        if !expected {
            self.unexpected.fetch_add(1, Relaxed);
        }
        // Completions of commands would push everything else out, and are in the command history.
        if EventType(eqe.event_type()) == EventType::CMD {
            return;
        }

        let mut last = self.last.lock();
        let event = (clock::monotonic_us(), *eqe);
        let next = last.next;
        match last.events.get_mut(next) {
            Some(place) => *place = event,
            // The room was allocated at the start, so this cannot fail until it is full.
            None => {
                let _ = last.events.push_within_capacity(event);
            }
        }
        last.next = (next + 1) % KEPT;
    }

    /// Prints how many events of each type came.
    pub(super) fn show_counts(&self, w: &mut dyn fmt::Write) -> fmt::Result {
        writeln!(w, "unexpected: {}", self.unexpected.load(Relaxed))?;
        writeln!(
            w,
            "spurious_interrupts: {}",
            self.spurious_interrupts.load(Relaxed)
        )?;
        for (code, count) in (0..=u8::MAX).zip(&self.counts) {
            let count = count.load(Relaxed);
            if count > 0 {
                let name = EventType(code).name().unwrap_or("unknown");
                writeln!(w, "{name} ({code:#04x}): {count}")?;
            }
        }
        Ok(())
    }

    /// Prints the last events by the manual's table, oldest first.
    pub(super) fn show_last(&self, w: &mut dyn fmt::Write) -> fmt::Result {
        let last = self.last.lock();
        let (newer, older) = last.events.split_at(last.next.min(last.events.len()));

        for (at_us, eqe) in [older, newer].into_iter().flatten() {
            writeln!(w, "at_us: {at_us}")?;
            dump::write(w, Eqe::TABLE, 0, eqe.as_bytes())?;
        }
        Ok(())
    }
}

/// Brings events to their subscribers.
pub(crate) struct Dispatcher<'bound> {
    subscriptions: KVec<Subscription<'bound>>,
    observed: EventMask,
    seen: Arc<Seen>,
}

impl<'bound> Dispatcher<'bound> {
    /// Makes a dispatcher for the given wishes; events of `observed` are expected besides.
    pub(super) fn new(
        subscriptions: KVec<Subscription<'bound>>,
        observed: EventMask,
        seen: Arc<Seen>,
    ) -> Self {
        Self {
            subscriptions,
            observed,
            seen,
        }
    }

    /// Brings an event to all who want to know of it.
    pub(super) fn dispatch(&self, eqe: &Eqe) {
        let mut expected = self.observed.contains(EventType(eqe.event_type()));

        for one in &self.subscriptions {
            if one.event.0 == eqe.event_type() {
                expected = true;
                one.subscriber.event(eqe);
            }
        }
        self.seen.note(eqe, expected);
    }
}
