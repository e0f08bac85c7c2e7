// SPDX-License-Identifier: GPL-2.0

//! What the health thread has found, for debugfs and the summary; outlives the function.

use super::{
    alarms::Alarms,
    evidence::{
        Case,
        Evidence, //
    },
    leftover::Leftover,
    machine::{
        Machine,
        Sample,
        State as Verdict,
        Transition,
        Trouble, //
    },
    readings::Readings,
    render,
    status::{
        self,
        Commands, //
    }, //
};
use crate::{
    device::{
        State,
        Waiter, //
    },
    kernel_ext::{
        clock,
        debugfs::Setting,
        ring::Ring,
        signal::Signal, //
    },
    prm::health::Buffer,
};
use core::fmt;
use kernel::{
    new_mutex,
    new_spinlock,
    prelude::*,
    sync::{
        atomic::{
            Atomic,
            Relaxed, //
        },
        Arc,
        Mutex,
        SpinLock, //
    }, //
};

/// Interval of readings in milliseconds, unless it is changed.
const INTERVAL_MS: u32 = 100;

/// Intervals that may be set, in milliseconds. The kernel's tick sets the lower bound.
const INTERVAL_RANGE_MS: core::ops::RangeInclusive<u32> = 10..=10_000;

/// Readings in a row without a change that make a stall, unless it is changed.
const THRESHOLD: u32 = 3;

/// Thresholds that may be set.
const THRESHOLD_RANGE: core::ops::RangeInclusive<u32> = 1..=100;

/// Age in milliseconds from which on a command is slow, unless it is changed.
///
/// Most commands take some tens of microseconds; starting and stopping take up to seconds.
const SLOW_MS: u32 = 5_000;

/// Such ages that may be set, in milliseconds.
const SLOW_RANGE_MS: core::ops::RangeInclusive<u32> = 100..=600_000;

/// Transitions that are kept.
const KEPT: usize = 64;

/// Bits of [`Record::signal`].
pub(super) mod wake {
    /// The buffer shall be read.
    pub(in crate::health) const REFRESH: u32 = 1 << 0;
    /// The interval has changed.
    pub(in crate::health) const SETTINGS: u32 = 1 << 1;
    /// The status of the function has changed.
    pub(in crate::health) const CHANGED: u32 = 1 << 2;
}

/// A transition, for the history.
#[derive(Clone, Copy)]
struct Entry {
    wall: i64,
    transition: Transition,
}

impl Entry {
    /// Fills the places of the history before there is anything.
    const EMPTY: Self = Self {
        wall: 0,
        transition: Transition {
            at_us: 0,
            from: Verdict::Measuring,
            to: Verdict::Measuring,
            counter: 0,
            misses: 0,
            gap_us: 0,
            dead_reads: 0,
            trouble: Trouble::NONE,
        },
    };
}

struct Inner {
    machine: Machine,
    /// When the last reading of the registers was made.
    read_at_us: u64,
    /// What the buffer held at the last start.
    leftover: Option<Leftover>,
    history: Ring<Entry, KVec<Entry>>,
}

/// The health of a function, as far as it is known.
///
/// Shared by the thread, which writes, and debugfs, which reads, asks for a reading of the buffer,
/// and changes the settings.
#[pin_data]
pub(crate) struct Record {
    /// Wakes the thread, by the bits of [`wake`].
    #[pin]
    signal: Signal,
    #[pin]
    inner: SpinLock<Inner>,
    #[pin]
    evidence: SpinLock<Evidence>,
    #[pin]
    alarms: Alarms,
    state: Arc<State>,
    /// Whether readings are taken and count; held for the time of one.
    #[pin]
    judging: Mutex<bool>,
    #[pin]
    readings: Readings,
    interval_ms: Setting,
    threshold: Setting,
    slow_ms: Setting,
    /// The longest time that a reading came after it was due, in microseconds.
    latest_us: Atomic<u64>,
    /// Changes of the status that user space was told of.
    told: Atomic<u64>,
}

impl Record {
    /// Makes the record of a function of which nothing is known yet.
    ///
    /// # Errors
    ///
    /// [`ENOMEM`] without memory.
    pub(super) fn new(state: Arc<State>) -> impl PinInit<Self, Error> {
        try_pin_init!(Self {
            signal <- Signal::new(),
            inner <- new_spinlock!(Inner {
                machine: Machine::new(THRESHOLD),
                read_at_us: 0,
                leftover: None,
                history: Ring::new(KVec::from_elem(Entry::EMPTY, KEPT, GFP_KERNEL)?),
            }),
            evidence <- new_spinlock!(Evidence::default()),
            alarms <- Alarms::new(state.clone()),
            state,
            judging <- new_mutex!(false),
            readings <- Readings::new(),
            interval_ms: Setting::new(INTERVAL_MS, INTERVAL_RANGE_MS),
            threshold: Setting::new(THRESHOLD, THRESHOLD_RANGE),
            slow_ms: Setting::new(SLOW_MS, SLOW_RANGE_MS),
            latest_us: Atomic::new(0),
            told: Atomic::new(0),
        })
    }

    pub(super) fn signal(&self) -> &Signal {
        &self.signal
    }

    /// Begins to judge, or ends that; when this has ended it, no verdict follows any more.
    pub(super) fn set_judging(&self, judging: bool) {
        let mut now = self.judging.lock();

        if judging && !*now {
            // Of what was told before the reset nothing holds, and the status says so already.
            self.alarms.forget();
            let wall = clock::wall_seconds();
            let mut inner = self.inner.lock();
            if let Some(transition) = inner.machine.restart(clock::monotonic_us()) {
                inner.history.add(Entry { wall, transition });
            }
        }
        *now = judging;
    }

    /// Calls `each` if readings count; they do until it returns.
    pub(super) fn while_judging(&self, each: impl FnOnce()) {
        let judging = self.judging.lock();

        if *judging {
            each();
        }
    }

    pub(super) fn interval_us(&self) -> u64 {
        u64::from(self.interval_ms.get()).saturating_mul(1000)
    }

    /// Takes in a reading of the registers; the number of the transition comes with it.
    pub(super) fn feed(&self, now_us: u64, sample: &Sample) -> Option<(u64, Transition)> {
        let wall = clock::wall_seconds();
        let mut inner = self.inner.lock();

        inner.read_at_us = now_us;
        inner.machine.threshold = self.threshold.get();
        let transition = inner.machine.feed(now_us, sample)?;
        let number = inner.history.add(Entry { wall, transition });
        Some((number, transition))
    }

    /// Notes that a reading came `late_us` microseconds after it was due.
    pub(super) fn note_late(&self, late_us: u64) {
        if late_us > self.latest_us.load(Relaxed) {
            self.latest_us.store(late_us, Relaxed);
        }
    }

    /// Where the machine stands now.
    pub(super) fn now(&self) -> Transition {
        self.inner.lock().machine.now(clock::monotonic_us())
    }

    /// Keeps what the buffer held at a start.
    pub(super) fn keep_leftover(&self, leftover: Leftover) {
        self.inner.lock().leftover = Some(leftover);
    }

    /// Whether the buffer holds only what it held at the start; what differs from that is new, and
    /// so is all that comes later.
    pub(super) fn is_leftover(&self, buffer: &Buffer) -> bool {
        let mut inner = self.inner.lock();

        match &mut inner.leftover {
            Some(leftover) if leftover.is_still(buffer) => true,
            Some(leftover) => {
                leftover.differs();
                false
            }
            None => false,
        }
    }

    /// Whether a leftover is remembered that a reading could be.
    pub(super) fn remembers_leftover(&self) -> bool {
        self.inner
            .lock()
            .leftover
            .as_ref()
            .is_some_and(Leftover::is_remembered)
    }

    /// Keeps a failure, if it is the first.
    pub(super) fn latch(&self, case: &Case) {
        self.evidence.lock().add(case);
    }

    /// Forgets the failures that are kept, so that the next one is the first.
    pub(super) fn clear_evidence(&self) {
        self.evidence.lock().clear();
    }

    /// The numbers of the changes of the status that user space was not told of.
    pub(super) fn untold(&self) -> core::ops::Range<u64> {
        self.told.load(Relaxed)..self.state.sequence()
    }

    /// Notes that user space was told of the changes before `number`.
    pub(super) fn note_told(&self, number: u64) {
        self.told.store(number, Relaxed);
    }

    /// Age in microseconds from which on a command is slow.
    pub(super) fn slow_us(&self) -> u64 {
        u64::from(self.slow_ms.get()).saturating_mul(1000)
    }

    /// What modules and sensors tell.
    pub(super) fn alarms(&self) -> &Alarms {
        &self.alarms
    }

    /// What was read of the health buffer.
    pub(super) fn readings(&self) -> &Readings {
        &self.readings
    }

    /// Makes the thread read the health buffer now, and waits until it has.
    ///
    /// # Errors
    ///
    /// Those of [`Readings::refresh`].
    pub(super) fn refresh(&self) -> Result {
        self.readings.refresh(&self.signal, wake::REFRESH)
    }

    /// Interval of readings, in milliseconds.
    pub(super) fn interval_ms(&self) -> &Setting {
        &self.interval_ms
    }

    /// Readings in a row without a change that make a stall.
    pub(super) fn threshold(&self) -> &Setting {
        &self.threshold
    }

    /// Age in milliseconds from which on a command is slow.
    pub(super) fn slow_ms(&self) -> &Setting {
        &self.slow_ms
    }

    /// Lets the thread look at the settings.
    pub(super) fn settings_changed(&self) {
        self.signal.raise(wake::SETTINGS);
    }

    pub(super) fn show_state(&self, w: &mut dyn fmt::Write) -> fmt::Result {
        let (machine, read_at_us, transitions) = {
            let inner = self.inner.lock();
            (inner.machine, inner.read_at_us, inner.history.added())
        };
        let now_us = clock::monotonic_us();

        render::state(w, &machine, now_us)?;
        writeln!(w, "interval_ms: {}", self.interval_ms.get())?;
        let age_us = now_us.saturating_sub(read_at_us);
        writeln!(w, "last_tick_age_ms: {}", age_us / 1000)?;
        writeln!(w, "longest_delay_us: {}", self.latest_us.load(Relaxed))?;
        writeln!(w, "transitions: {transitions}")?;
        writeln!(w, "device: {}", self.state.condition())
    }

    pub(super) fn show_status(&self, w: &mut dyn fmt::Write) -> fmt::Result {
        let now_us = clock::monotonic_us();
        let mut commands = Commands::default();

        for command in self.state.outstanding().iter() {
            if command.given_up {
                commands.given_up = commands.given_up.saturating_add(1);
                continue;
            }
            commands.waiting = commands.waiting.saturating_add(1);
            let age_us = now_us.saturating_sub(command.since_us);
            if commands.oldest.is_none_or(|(_, oldest)| age_us > oldest) {
                commands.oldest = Some((command.opcode, age_us));
            }
        }
        // Before the status: what is shown may be newer than the number, never older.
        let sequence = self.state.sequence();
        status::status(w, &self.state.status(), sequence, &commands)
    }

    pub(super) fn show_changes(&self, w: &mut dyn fmt::Write) -> fmt::Result {
        writeln!(w, "# number at_us date state reason degradations: change")?;
        for number in self.state.changes() {
            // One that was overwritten in the meantime is left out.
            if let Some(change) = self.state.change(number) {
                status::line(w, number, &change)?;
            }
        }
        Ok(())
    }

    /// Prints what is kept of the first failure.
    ///
    /// # Errors
    ///
    /// [`ENOMEM`] without memory for a copy: nothing is printed under a spinlock.
    pub(super) fn show_evidence(&self, w: &mut dyn fmt::Write) -> Result {
        let mut copy = KBox::new(Evidence::default(), GFP_KERNEL)?;

        *copy = *self.evidence.lock();
        Ok(copy.show(w)?)
    }

    pub(super) fn show_leftover(&self, w: &mut dyn fmt::Write) -> fmt::Result {
        let leftover = self.inner.lock().leftover;

        match leftover {
            Some(leftover) => leftover.show(w),
            None => writeln!(w, "leftover: unknown: the health buffer was not looked at"),
        }
    }

    pub(super) fn show_buffer(&self, w: &mut dyn fmt::Write) -> fmt::Result {
        self.readings.show_buffer(w, self.is_unreadable())
    }

    pub(super) fn show_layout(&self, w: &mut dyn fmt::Write) -> fmt::Result {
        self.readings.show_layout(w, self.is_unreadable())
    }

    /// Whether firmware stands still without a word, so that its buffer is not read.
    fn is_unreadable(&self) -> bool {
        let machine = self.inner.lock().machine;

        machine.state == Verdict::Stalled && machine.trouble.synd == 0
    }

    pub(super) fn show_history(&self, w: &mut dyn fmt::Write) -> fmt::Result {
        writeln!(w, "# number at_us date from -> to circumstances: meaning")?;
        let numbers = self.inner.lock().history.numbers();

        for number in numbers {
            // Copied out one by one: printing under a spinlock would keep the thread waiting. One
            // that was overwritten in the meantime is left out.
            let entry = self.inner.lock().history.get(number);
            if let Some(Entry { wall, transition }) = entry {
                render::line(w, number, wall, &transition)?;
            }
        }
        Ok(())
    }

    /// Whether firmware is known to run: its counter advances, and nothing fatal is reported.
    pub(crate) fn is_running(&self) -> bool {
        matches!(
            self.inner.lock().machine.state,
            Verdict::Healthy | Verdict::Syndrome
        )
    }

    /// Prints the health in one line.
    pub(crate) fn summary(&self, w: &mut dyn fmt::Write) -> fmt::Result {
        let machine = self.inner.lock().machine;

        write!(
            w,
            "health: {} ({}), ",
            machine.state.name(),
            machine.state.number()
        )?;
        render::sentence(w, &machine.now(clock::monotonic_us()))?;
        writeln!(w)
    }
}

impl Waiter for Record {
    /// The thread waits for nothing that a dead function would keep from it.
    fn wake(&self) {}

    fn changed(&self) {
        self.signal.raise(wake::CHANGED);
    }
}
