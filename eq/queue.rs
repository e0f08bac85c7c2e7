// SPDX-License-Identifier: GPL-2.0

//! One event queue: its memory, its context in the device, and taking entries from it.

use crate::{
    cmd,
    kernel_ext::dma::{
        self,
        Shared, //
    },
    objects::Uar,
    prm::{
        bits::Bits,
        eq::{
            CreateEq,
            CreateEqIn,
            DestroyEq,
            DestroyEqIn,
            Doorbell,
            EqStatus,
            Eqc,
            Eqe,
            EventMask,
            QueryEq,
            QueryEqIn, //
        },
        layout::Layout,
        pages::PageAddress, //
    },
};
use core::fmt;
use kernel::{
    prelude::*,
    sync::{
        atomic::{
            Atomic,
            Relaxed, //
        },
        Arc, //
    }, //
};
use zerocopy::{
    FromZeros,
    IntoBytes, //
};

use super::{
    dispatch::Dispatcher,
    ring::Ring, //
};

/// Entries taken before the device is told of it, so that it never sees a full ring for long.
const UPDATE_EVERY: u64 = 64;

/// Offset of the byte with the owner bit.
const OWNER_BYTE: usize = 0x3f;

/// What an event queue is for.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) enum Kind {
    /// Completions of commands.
    Command,
    /// What happens to ports, functions, and objects.
    Async,
    /// Requests for pages.
    Pages,
}

impl Kind {
    /// Name, for files and messages.
    pub(crate) const fn name(self) -> &'static str {
        match self {
            Kind::Command => "command",
            Kind::Async => "async",
            Kind::Pages => "pages",
        }
    }

    /// log2 of the entries: a command queue has 32 slots at most; the others take bursts.
    const fn log_size(self) -> u8 {
        match self {
            Kind::Command | Kind::Pages => 8,
            Kind::Async => 10,
        }
    }
}

/// What is shown of an event queue, and outlives it.
pub(crate) struct Stats {
    kind: Kind,
    number: Atomic<u32>,
    vector: Atomic<u32>,
    size: Atomic<u64>,
    taken: Atomic<u64>,
    interrupts: Atomic<u64>,
    lost_interrupts: Atomic<u64>,
    longest_batch: Atomic<u64>,
    overruns: Atomic<u64>,
}

impl Stats {
    /// Makes the record of a queue that is still to be made.
    pub(super) fn new(kind: Kind) -> Self {
        Self {
            kind,
            number: Atomic::new(u32::MAX),
            vector: Atomic::new(0),
            size: Atomic::new(0),
            taken: Atomic::new(0),
            interrupts: Atomic::new(0),
            lost_interrupts: Atomic::new(0),
            longest_batch: Atomic::new(0),
            overruns: Atomic::new(0),
        }
    }

    /// Notes that the device has made the queue; what was counted stays.
    fn note_made(&self, number: u8, vector: u32, size: u64) {
        self.vector.store(vector, Relaxed);
        self.size.store(size, Relaxed);
        self.taken.store(0, Relaxed);
        self.number.store(u32::from(number), Relaxed);
    }

    /// Whether there was such a queue.
    pub(super) fn was_made(&self) -> bool {
        self.number.load(Relaxed) != u32::MAX
    }

    /// What the queue is for.
    pub(super) fn kind(&self) -> Kind {
        self.kind
    }

    /// Prints the queue, as `name: value` lines.
    pub(super) fn show(&self, w: &mut dyn fmt::Write) -> fmt::Result {
        writeln!(w, "kind: {}", self.kind.name())?;
        writeln!(w, "eqn: {:#x}", self.number.load(Relaxed))?;
        writeln!(w, "intr: {}", self.vector.load(Relaxed))?;
        writeln!(w, "entries: {}", self.size.load(Relaxed))?;
        writeln!(w, "consumer_counter: {}", self.taken.load(Relaxed))?;
        writeln!(w, "interrupts: {}", self.interrupts.load(Relaxed))?;
        writeln!(w, "lost_interrupts: {}", self.lost_interrupts.load(Relaxed))?;
        writeln!(w, "longest_batch: {}", self.longest_batch.load(Relaxed))?;
        writeln!(w, "overruns: {}", self.overruns.load(Relaxed))
    }
}

/// An event queue; DESTROY_EQ when dropped.
pub(crate) struct EventQueue<'bound> {
    commands: Arc<cmd::Queue<'bound>>,
    uar: Arc<Uar<'bound>>,
    memory: Arc<Shared<'bound>>,
    ring: Ring,
    number: u8,
    dispatcher: Arc<Dispatcher<'bound>>,
    stats: Arc<Stats>,
    /// Entries taken at the watchdog's last look, if there was a new entry then.
    stuck_at: Option<u64>,
    /// The ring may have been full: the device shall be asked for its status.
    suspect: bool,
    /// The watchdog had to take entries, and no interrupt has come for any since.
    stalled: bool,
    /// The device has given up on it.
    failed: bool,
}

impl<'bound> EventQueue<'bound> {
    /// Makes an event queue for `events` with interrupt vector `vector`; `stats` goes on.
    ///
    /// It is not armed: no interrupt comes before the first [`arm`](Self::arm).
    ///
    /// # Errors
    ///
    /// Those of the command; [`ENOMEM`] without memory.
    pub(super) fn new(
        commands: &Arc<cmd::Queue<'bound>>,
        uar: &Arc<Uar<'bound>>,
        dispatcher: &Arc<Dispatcher<'bound>>,
        stats: &Arc<Stats>,
        vector: u32,
        max_log_size: u8,
        events: EventMask,
    ) -> Result<Self> {
        let ring = Ring::new(stats.kind().log_size().min(max_log_size)).ok_or(EINVAL)?;
        let size = usize::try_from(ring.size()).map_err(|_| EINVAL)?;
        let bytes = (size * Eqe::TABLE.size).next_multiple_of(dma::PAGE_SIZE);
        let memory = Arc::new(Shared::zeroed(commands.scope(), bytes)?, GFP_KERNEL)?;

        for entry in 0..size {
            memory.write_u8(entry * Eqe::TABLE.size + OWNER_BYTE, 1)?;
        }

        let mut addresses = KVec::new();
        for page in (0..memory.size()).step_by(dma::PAGE_SIZE) {
            let address = PageAddress::of(memory.dma_address(page)?);
            addresses.extend_from_slice(address.as_bytes(), GFP_KERNEL)?;
        }

        let mut context = Eqc::new();
        context
            .set_log_eq_size(Bits::low(u64::from(ring.log_size())))
            .set_uar_page(Bits::low(u64::from(uar.number())))
            .set_intr(Bits::low(u64::from(vector)));
        let mut input = CreateEqIn::new();
        input.set_eq_context_entry(&context).set_events(events);

        let output = commands.exec_with::<CreateEq>(0, input, &addresses, &mut [])?;
        stats.note_made(output.eq_number(), vector, ring.size());

        Ok(Self {
            commands: commands.clone(),
            uar: uar.clone(),
            memory,
            ring,
            number: output.eq_number(),
            dispatcher: dispatcher.clone(),
            stats: stats.clone(),
            stuck_at: None,
            suspect: false,
            stalled: false,
            failed: false,
        })
    }

    /// What is shown of the queue.
    pub(super) fn stats(&self) -> &Arc<Stats> {
        &self.stats
    }

    /// Tells the device which entries were taken, and lets the next event raise an interrupt.
    pub(super) fn arm(&self) {
        self.ring_doorbell(Doorbell::ARM);
    }

    /// Takes all new entries, after an interrupt; how many there were.
    pub(super) fn interrupt(&mut self) -> u64 {
        self.stats.interrupts.fetch_add(1, Relaxed);
        let count = self.take_all();
        if count > 0 {
            self.stalled = false;
        }
        count
    }

    /// Looks for entries that no interrupt was raised for, and takes them; whether there were any.
    ///
    /// An entry counts as such if it has been there at the last look already, and nothing was taken
    /// since.
    pub(super) fn look(&mut self) -> bool {
        let taken = self.ring.taken();
        let waiting = self.next().is_some();

        if waiting && self.stuck_at == Some(taken) {
            self.stuck_at = None;
            self.stats.lost_interrupts.fetch_add(1, Relaxed);
            self.stalled = true;
            self.take_all();
            return true;
        }
        self.stuck_at = waiting.then_some(taken);
        false
    }

    /// Whether events do not come by themselves: interrupts are missing, or the device has given up
    /// on the queue.
    pub(super) fn is_stalled(&self) -> bool {
        self.stalled || self.failed
    }

    /// Notes that the device has given up on the queue.
    pub(super) fn note_failure(&mut self) {
        self.failed = true;
        self.stats.overruns.fetch_add(1, Relaxed);
    }

    /// Notes that the ring may have been full.
    pub(super) fn suspect(&mut self) {
        self.suspect = true;
    }

    /// Number of the queue, if its ring may have been full since the last call.
    pub(super) fn take_suspicion(&mut self) -> Option<u8> {
        core::mem::take(&mut self.suspect).then_some(self.number)
    }

    fn take_all(&mut self) -> u64 {
        let mut count = 0u64;

        while let Some(eqe) = self.next() {
            self.ring.advance();
            count += 1;
            self.dispatcher.dispatch(&eqe);
            if count % UPDATE_EVERY == 0 {
                self.ring_doorbell(Doorbell::UPDATE);
            }
            // A device that writes without end, or a ring of garbage, must not keep this thread:
            // the interrupt comes again at once if there is more.
            if count >= self.ring.size() {
                self.suspect = true;
                break;
            }
        }

        self.stats.taken.store(self.ring.taken(), Relaxed);
        if count > self.stats.longest_batch.load(Relaxed) {
            self.stats.longest_batch.store(count, Relaxed);
        }
        self.arm();
        count
    }

    /// The next new entry, if there is one.
    fn next(&self) -> Option<Eqe> {
        let at = self.ring.index() * Eqe::TABLE.size;
        let owner = self.memory.read_u8(at + OWNER_BYTE).ok()?;
        if !self.ring.is_new(owner & 1 == 1) {
            return None;
        }

        // The device writes the owner bit last. Pairs with that: the rest of the entry is read
        // after the bit was seen.
        dma::dma_rmb();
        let mut eqe = Eqe::new_zeroed();
        self.memory.read_bytes(at, eqe.as_mut_bytes()).ok()?;
        Some(eqe)
    }

    fn ring_doorbell(&self, offset: usize) {
        let value = Doorbell::of(self.number, self.ring.taken());

        // The offset lies in the UAR's page, which BAR 0 has: this cannot fail.
        let _ = self.uar.write(offset, value.word());
    }
}

impl Drop for EventQueue<'_> {
    fn drop(&mut self) {
        let mut input = DestroyEqIn::new();
        input.set_eq_number(self.number);

        // A failure is in the log already. The device may go on writing to the queue then.
        if self.commands.undo::<DestroyEq>(0, input).is_err() {
            self.commands.bury(self.memory.clone());
        }
    }
}

/// Asks the device whether an event queue has failed, which it does when it is overrun.
///
/// # Errors
///
/// Those of the command.
pub(super) fn has_failed(commands: &cmd::Queue<'_>, number: u8) -> Result<bool, cmd::Error> {
    let mut input = QueryEqIn::new();
    input.set_eq_number(number);
    let output = commands.exec::<QueryEq>(0, input)?;

    Ok(EqStatus(output.eq_context_entry().status()) == EqStatus::WRITE_FAILURE)
}
