// SPDX-License-Identifier: GPL-2.0

//! What the health thread has found, for debugfs and the summary; outlives the function.

use super::{
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
    modules::Sensors,
    render,
    status::{
        self,
        Commands, //
    }, //
};
use crate::{
    device::{
        Degradation,
        State,
        Waiter, //
    },
    kernel_ext::{
        clock,
        ring::Ring,
        signal::Signal,
        wait::WaitQueue, //
    },
    prm::{
        dump,
        event::{
            PortModule,
            TemperatureWarning, //
        },
        health::Buffer,
        layout::Layout, //
    },
};
use core::fmt;
use kernel::{
    new_mutex,
    new_spinlock,
    prelude::*,
    sync::{
        atomic::{
            Acquire,
            Atomic,
            Full,
            Relaxed,
            Release, //
        },
        Arc,
        Mutex,
        SpinLock, //
    },
    time::Delta, //
};
use zerocopy::IntoBytes;

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

/// How long a reading of the buffer that was asked for may take, in milliseconds.
const REFRESH_MS: i64 = 5_000;

/// Bits of [`Record::signal`].
pub(super) mod wake {
    /// The buffer shall be read.
    pub(in crate::health) const REFRESH: u32 = 1 << 0;
    /// The interval has changed.
    pub(in crate::health) const SETTINGS: u32 = 1 << 1;
    /// The status of the function has changed.
    pub(in crate::health) const CHANGED: u32 = 1 << 2;
}

/// Why the health buffer was read.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Why {
    /// A transition with a syndrome.
    Transition,
    /// Somebody has asked for it.
    Request,
}

/// A reading of the health buffer.
#[derive(Clone, Copy)]
struct Reading {
    at_us: u64,
    wall: i64,
    why: Why,
    buffer: Buffer,
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
    reading: Option<Reading>,
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
    sensors: SpinLock<Sensors>,
    state: Arc<State>,
    /// Whether readings are taken and count; held for the time of one.
    #[pin]
    judging: Mutex<bool>,
    interval_ms: Atomic<u32>,
    slow_ms: Atomic<u32>,
    /// The longest time that a reading came after it was due, in microseconds.
    latest_us: Atomic<u64>,
    /// Changes of the status that user space was told of.
    told: Atomic<u64>,
    /// Readings of the buffer that were asked for, and up to which of them that was done.
    requested: Atomic<u64>,
    served: Atomic<u64>,
    #[pin]
    waiters: WaitQueue,
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
                reading: None,
                leftover: None,
                history: Ring::new(KVec::from_elem(Entry::EMPTY, KEPT, GFP_KERNEL)?),
            }),
            evidence <- new_spinlock!(Evidence::default()),
            sensors <- new_spinlock!(Sensors::default()),
            state,
            judging <- new_mutex!(false),
            interval_ms: Atomic::new(INTERVAL_MS),
            slow_ms: Atomic::new(SLOW_MS),
            latest_us: Atomic::new(0),
            told: Atomic::new(0),
            requested: Atomic::new(0),
            served: Atomic::new(0),
            waiters <- WaitQueue::new(),
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
            *self.sensors.lock() = Sensors::default();
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
        u64::from(self.interval_ms.load(Relaxed)).saturating_mul(1000)
    }

    /// Takes in a reading of the registers; the number of the transition comes with it.
    pub(super) fn feed(&self, now_us: u64, sample: &Sample) -> Option<(u64, Transition)> {
        let wall = clock::wall_seconds();
        let mut inner = self.inner.lock();

        inner.read_at_us = now_us;
        let transition = inner.machine.feed(now_us, sample)?;
        let number = inner.history.add(Entry { wall, transition });
        Some((number, transition))
    }

    /// Keeps a reading of the health buffer.
    pub(super) fn keep(&self, why: Why, buffer: Buffer) {
        let reading = Reading {
            at_us: clock::monotonic_us(),
            wall: clock::wall_seconds(),
            why,
            buffer,
        };

        self.inner.lock().reading = Some(reading);
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

    /// Takes in what happened to a module.
    pub(super) fn note_module(&self, event: &PortModule) {
        let mut sensors = self.sensors.lock();

        sensors.module(event);
        // Under the lock, so that two events cannot overtake each other.
        self.note_sensors(&sensors);
    }

    /// Takes in which sensors are too hot.
    pub(super) fn note_temperature(&self, event: &TemperatureWarning) {
        let mut sensors = self.sensors.lock();

        sensors.temperature(event);
        self.note_sensors(&sensors);
    }

    /// Forgets what modules and sensors told: the device may not tell when it is over.
    pub(super) fn clear_sensors(&self) {
        let mut sensors = self.sensors.lock();

        *sensors = Sensors::default();
        self.note_sensors(&sensors);
    }

    fn note_sensors(&self, sensors: &Sensors) {
        for (which, holds) in [
            (Degradation::PortModule, sensors.has_module_error()),
            (Degradation::Temperature, sensors.is_hot()),
        ] {
            if holds {
                self.state.degrade(which);
            } else {
                self.state.mend(which);
            }
        }
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
        u64::from(self.slow_ms()).saturating_mul(1000)
    }

    pub(super) fn slow_ms(&self) -> u32 {
        self.slow_ms.load(Relaxed)
    }

    /// Changes the age from which on a command is slow.
    ///
    /// # Errors
    ///
    /// [`ERANGE`] outside of 100 to 600000 ms.
    pub(super) fn set_slow_ms(&self, slow_ms: u32) -> Result {
        if !SLOW_RANGE_MS.contains(&slow_ms) {
            return Err(ERANGE);
        }
        self.slow_ms.store(slow_ms, Relaxed);
        Ok(())
    }

    /// The number of readings that were asked for; to be handed to [`served`](Self::served) once
    /// one was made after this call.
    pub(super) fn requests(&self) -> u64 {
        self.requested.load(Acquire)
    }

    /// Lets those go on who have asked for a reading of the buffer.
    pub(super) fn served(&self, up_to: u64) {
        self.served.store(up_to, Release);
        self.waiters.wake_all();
    }

    /// Makes the thread read the health buffer now, and waits until it has.
    ///
    /// # Errors
    ///
    /// - [`ENODEV`] if what was read is all ones, which is kept all the same.
    /// - [`ETIMEDOUT`] if the thread did not come to it.
    /// - [`ESHUTDOWN`] if the watch has ended.
    /// - [`ERESTARTSYS`] if a signal came.
    pub(super) fn refresh(&self) -> Result {
        let ticket = self.requested.fetch_add(1, Full).wrapping_add(1);
        let is_served = || self.served.load(Acquire) >= ticket;

        self.signal.raise(wake::REFRESH);
        self.waiters
            .wait_interruptible(Delta::from_millis(REFRESH_MS), || {
                is_served() || self.signal.stopped()
            })?;

        if !is_served() {
            return Err(if self.signal.stopped() {
                ESHUTDOWN
            } else {
                ETIMEDOUT
            });
        }
        match self.inner.lock().reading {
            Some(reading) if reading.buffer.as_bytes().iter().all(|byte| *byte == 0xff) => {
                Err(ENODEV)
            }
            _ => Ok(()),
        }
    }

    pub(super) fn interval_ms(&self) -> u32 {
        self.interval_ms.load(Relaxed)
    }

    /// Changes the interval of readings, from the next one on.
    ///
    /// # Errors
    ///
    /// [`ERANGE`] outside of 10 to 10000 ms.
    pub(super) fn set_interval_ms(&self, interval_ms: u32) -> Result {
        if !INTERVAL_RANGE_MS.contains(&interval_ms) {
            return Err(ERANGE);
        }
        self.interval_ms.store(interval_ms, Relaxed);
        self.signal.raise(wake::SETTINGS);
        Ok(())
    }

    pub(super) fn threshold(&self) -> u32 {
        self.inner.lock().machine.threshold
    }

    /// Changes how many readings in a row without a change make a stall.
    ///
    /// # Errors
    ///
    /// [`ERANGE`] outside of 1 to 100.
    pub(super) fn set_threshold(&self, threshold: u32) -> Result {
        if !THRESHOLD_RANGE.contains(&threshold) {
            return Err(ERANGE);
        }
        self.inner.lock().machine.threshold = threshold;
        Ok(())
    }

    pub(super) fn show_state(&self, w: &mut dyn fmt::Write) -> fmt::Result {
        let (machine, read_at_us, transitions) = {
            let inner = self.inner.lock();
            (inner.machine, inner.read_at_us, inner.history.added())
        };
        let now_us = clock::monotonic_us();

        render::state(w, &machine, now_us)?;
        writeln!(w, "interval_ms: {}", self.interval_ms())?;
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

    pub(super) fn show_sensors(&self, w: &mut dyn fmt::Write) -> fmt::Result {
        let sensors = *self.sensors.lock();

        sensors.show(w)
    }

    pub(super) fn show_buffer(&self, w: &mut dyn fmt::Write) -> fmt::Result {
        match self.reading(w)? {
            Some(buffer) => render::buffer(w, &buffer),
            None => Ok(()),
        }
    }

    pub(super) fn show_layout(&self, w: &mut dyn fmt::Write) -> fmt::Result {
        match self.reading(w)? {
            Some(buffer) => dump::write(w, Buffer::TABLE, Buffer::BAR_OFFSET, buffer.as_bytes()),
            None => Ok(()),
        }
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

    /// Returns the last reading of the buffer, having printed when and why it was made.
    fn reading(&self, w: &mut dyn fmt::Write) -> Result<Option<Buffer>, fmt::Error> {
        let (reading, machine) = {
            let inner = self.inner.lock();
            (inner.reading, inner.machine)
        };

        if machine.state == Verdict::Stalled && machine.trouble.synd == 0 {
            writeln!(
                w,
                "not_read: firmware cannot answer reads: the health buffer is not read"
            )?;
        }
        let Some(reading) = reading else {
            writeln!(
                w,
                "reading: none (no syndrome was seen; a write of 1 to refresh reads the buffer)"
            )?;
            return Ok(None);
        };

        let why = match reading.why {
            Why::Transition => "a syndrome was seen",
            Why::Request => "asked for by a write to refresh",
        };
        writeln!(w, "reading: {} us ({why})", reading.at_us)?;
        let age_us = clock::monotonic_us().saturating_sub(reading.at_us);
        writeln!(w, "reading_age_ms: {}", age_us / 1000)?;
        w.write_str("reading_date: ")?;
        crate::kernel_ext::date::write(w, u64::try_from(reading.wall).unwrap_or(0))?;
        writeln!(w)?;
        Ok(Some(reading.buffer))
    }
}

impl Waiter for Record {
    /// The thread waits for nothing that a dead function would keep from it.
    fn wake(&self) {}

    fn changed(&self) {
        self.signal.raise(wake::CHANGED);
    }
}
