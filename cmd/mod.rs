// SPDX-License-Identifier: GPL-2.0

//! The command interface.
//!
//! A command is written into a slot of the command queue, with its longer parts in mailboxes, the
//! doorbell is rung, and the device writes the output back and gives the entry back. That it has
//! done so is seen by polling the entry until there is an event queue, and by an event afterwards.
//!
//! ```text
//!   exec() -- claim a slot -- write entry and mailboxes -- doorbell --> device
//!                                                                         |
//!   result <-- read and check output <-- wait (event, or polling) <-------+
//!      |
//!      +-> counters, history, log (failures)
//! ```
//!
//! Several commands are in flight at once, one a slot. A command whose completion does not come in
//! time leaves its slot behind: entry and mailboxes are still the device's, and the slot is reused
//! only when the late completion has come ([`slots`]).
//!
//! A queue lasts from one reset of the function to the next; users get at it through a [`Gate`].
//!
//! [`start`] has the commands that start and stop a function, [`pages`] the memory that firmware
//! asks for, [`caps`] the capabilities, [`access_reg`] the registers behind ACCESS_REG.

mod accounts;
mod book;
mod counters;
mod error;
mod execute;
mod files;
mod gate;
mod history;
#[allow(unreachable_pub, reason = "the file is public in the host's tests")]
mod ledger;
#[allow(unreachable_pub, reason = "the file is public in the host's tests")]
mod slots;
mod transfer;

pub(crate) mod access_reg;
pub(crate) mod caps;
#[allow(unreachable_pub, reason = "the file is public in the host's tests")]
pub(crate) mod message;
pub(crate) mod pages;
pub(crate) mod registers;
pub(crate) mod start;

pub(crate) use self::{
    error::{
        Cause,
        Error, //
    },
    files::Files,
    gate::Gate, //
};

use self::{
    book::Book,
    counters::Counters,
    history::History,
    slots::Kind,
    transfer::Memory, //
};
use crate::{
    device::{
        Condition,
        InitSegment,
        Reason,
        Registration,
        State, //
    },
    kernel_ext::{
        debugfs::Setting,
        dma::Shared,
        ratelimit::RateLimit,
        scope::Scope, //
    },
    prm::{
        command::Command,
        iseg, //
    },
};
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

/// Revision of the command interface that this module speaks.
const INTERFACE_REVISION: u16 = 5;

/// Times that a command may be given, in milliseconds.
const TIMEOUT_RANGE_MS: core::ops::RangeInclusive<u32> = 10..=600_000;

/// How completions are learned of.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) enum Mode {
    /// By looking at the entry.
    Polling,
    /// By events of the command event queue.
    Events,
}

/// What of the command interface is shown, and outlives the queue: one that is made after a reset
/// of the function goes on with it.
pub(crate) struct Log {
    book: Arc<Book>,
    counters: Counters,
    history: Arc<History>,
    mode: Atomic<u32>,
    /// The time that a command may take.
    timeout_ms: Setting,
    signatures: Atomic<bool>,
}

impl Log {
    /// Makes the log of a function that has sent nothing yet; a command may take `timeout_ms`.
    ///
    /// # Errors
    ///
    /// [`ENOMEM`] without memory.
    pub(crate) fn new(timeout_ms: u32) -> Result<Arc<Self>> {
        let log = Self {
            book: Arc::pin_init(Book::new(), GFP_KERNEL)?,
            counters: Counters::new()?,
            history: Arc::pin_init(History::new(), GFP_KERNEL)?,
            mode: Atomic::new(Mode::Polling as u32),
            timeout_ms: Setting::new(timeout_ms, TIMEOUT_RANGE_MS),
            signatures: Atomic::new(false),
        };

        Ok(Arc::new(log, GFP_KERNEL)?)
    }
}

/// The command queue of a function.
#[pin_data]
pub(crate) struct Queue<'bound> {
    scope: Scope<'bound>,
    init_segment: Arc<InitSegment<'bound>>,
    state: Arc<State>,
    /// Ends the waits of the book when the condition gets worse.
    _wake_up: Registration,
    memory: Memory<'bound>,
    log: Arc<Log>,
    token: Atomic<u32>,
    errors: RateLimit,
    #[pin]
    buried: Mutex<KVec<Arc<Shared<'bound>>>>,
}

impl<'bound> Queue<'bound> {
    /// Makes the queue and tells the device where it is; `log` goes on.
    ///
    /// There is one queue at a time.
    ///
    /// # Errors
    ///
    /// [`EOPNOTSUPP`] for another revision of the command interface, [`EINVAL`] for a queue whose
    /// size makes no sense, [`ENOMEM`] without memory.
    pub(crate) fn new(
        scope: Scope<'bound>,
        init_segment: Arc<InitSegment<'bound>>,
        state: Arc<State>,
        log: Arc<Log>,
    ) -> Result<Arc<Self>> {
        let interface: iseg::CommandInterface = init_segment.read();
        let revision = interface.cmd_interface_rev();
        if revision != INTERFACE_REVISION {
            dev_err!(
                scope.dev(),
                "command interface revision is {revision}, expected {INTERFACE_REVISION}: \
                 this firmware needs another driver\n"
            );
            return Err(EOPNOTSUPP);
        }

        let mut address: iseg::CommandQueueAddress = init_segment.read();
        let (log_size, log_stride) = (address.log_cmdq_size(), address.log_cmdq_stride());
        if !(1..=5).contains(&log_size) || log_stride < 6 || log_size + log_stride > 12 {
            dev_err!(
                scope.dev(),
                "command queue of 2^{log_size} entries, 2^{log_stride} bytes apart: \
                 expected 2 to 32 entries of at least 64 bytes within one page\n"
            );
            return Err(EINVAL);
        }

        let count = 1usize << log_size;
        let memory = Memory::new(scope, count, 1usize << log_stride)?;
        log.book.restart(count)?;
        log.mode.store(Mode::Polling as u32, Relaxed);
        log.signatures.store(false, Relaxed);
        let wake_up = state.add_waiter(log.book.clone())?;

        // The low bits, nic_interface among them, are written as zero: "full driver".
        address = iseg::CommandQueueAddress::new();
        address.set_address(memory.address()?);
        init_segment.write(&address)?;

        Arc::pin_init(
            pin_init!(Self {
                scope,
                init_segment,
                state,
                _wake_up: wake_up,
                memory,
                log,
                token: Atomic::new(0),
                errors: RateLimit::new(20, 5_000),
                buried <- new_mutex!(KVec::new()),
            }),
            GFP_KERNEL,
        )
    }

    /// The function that the queue belongs to.
    pub(crate) fn scope(&self) -> Scope<'bound> {
        self.scope
    }

    /// Whether the function is alive.
    pub(crate) fn state(&self) -> &Arc<State> {
        &self.state
    }

    /// BAR 0 of the function.
    pub(crate) fn init_segment(&self) -> &Arc<InitSegment<'bound>> {
        &self.init_segment
    }

    /// Learns of completions in another way from the next command on.
    ///
    /// Commands in flight need not be waited for: one that was sent in event mode and gets no event
    /// any more finds out by itself, see [`execute::LOOK_MS`].
    pub(crate) fn set_mode(&self, mode: Mode) {
        self.log.mode.store(mode as u32, Relaxed);
    }

    /// The time that a command may take, in milliseconds.
    pub(crate) fn timeout_ms(&self) -> u64 {
        u64::from(self.log.timeout_ms.get())
    }

    /// Sets the time that a command may take, from the next one on; the nearest that is allowed, if
    /// `ms` is not.
    pub(crate) fn set_timeout_ms(&self, ms: u64) {
        self.log.timeout_ms.set_nearest(ms);
    }

    /// Verifies the signatures of outputs from the next command on, or stops doing so.
    pub(crate) fn set_signatures(&self, verify: bool) {
        self.log.signatures.store(verify, Relaxed);
    }

    /// Sends a command and waits for its output.
    ///
    /// # Errors
    ///
    /// What went wrong; it is logged and kept in the history already.
    pub(crate) fn exec<C: Command>(&self, op_mod: u16, input: C::In) -> Result<C::Out, Error> {
        self.exec_with::<C>(op_mod, input, &[], &mut [])
    }

    /// Sends a command that may well fail, such as one that older firmware does not know.
    ///
    /// # Errors
    ///
    /// What went wrong; it is counted and kept in the history, but not logged.
    pub(crate) fn try_exec<C: Command>(&self, op_mod: u16, input: C::In) -> Result<C::Out, Error> {
        self.try_exec_with::<C>(op_mod, input, &[], &mut [])
    }

    /// The same for a command that goes on behind the fixed part.
    fn try_exec_with<C: Command>(
        &self,
        op_mod: u16,
        input: C::In,
        tail_in: &[u8],
        tail_out: &mut [u8],
    ) -> Result<C::Out, Error> {
        self.run::<C>(Kind::Ordinary, op_mod, input, tail_in, tail_out)
    }

    /// Sends a command whose input, output, or both go on behind the fixed part.
    ///
    /// # Errors
    ///
    /// What went wrong; it is logged and kept in the history already.
    pub(crate) fn exec_with<C: Command>(
        &self,
        op_mod: u16,
        input: C::In,
        tail_in: &[u8],
        tail_out: &mut [u8],
    ) -> Result<C::Out, Error> {
        self.run::<C>(Kind::Ordinary, op_mod, input, tail_in, tail_out)
            .inspect_err(|error| self.report(error))
    }

    /// The same in the slot that is kept for page commands.
    pub(crate) fn exec_pages<C: Command>(
        &self,
        op_mod: u16,
        input: C::In,
        tail_in: &[u8],
        tail_out: &mut [u8],
    ) -> Result<C::Out, Error> {
        self.run::<C>(Kind::Pages, op_mod, input, tail_in, tail_out)
            .inspect_err(|error| self.report(error))
    }

    /// Keeps memory that the device may still write to, until the queue itself goes.
    pub(crate) fn bury(&self, memory: Arc<Shared<'bound>>) {
        if self.buried.lock().push(memory.clone(), GFP_KERNEL).is_err() {
            // Lost memory is better than memory that is somebody else's when the device writes to
            // it.
            core::mem::forget(memory);
        }
    }

    /// Sends a command that undoes something, when the function is being stopped.
    ///
    /// Nothing is sent to a function that is not alive. One whose commands do not come back counts
    /// as dead from then on: stopping it must not take a time-out for each thing there is to undo.
    ///
    /// # Errors
    ///
    /// What went wrong; it is logged and kept in the history already.
    pub(crate) fn undo<C: Command>(&self, op_mod: u16, input: C::In) -> Result<C::Out, Error> {
        self.exec::<C>(op_mod, input)
            .inspect_err(|error| self.note_silence(error))
    }

    /// Notes that the function is dead if a command that stops it did not come back.
    pub(crate) fn note_silence(&self, error: &Error) {
        if !matches!(error.cause, Cause::TimedOut { .. } | Cause::NoSlot) {
            return;
        }
        if self.state.worsen(Condition::Fatal(Reason::Silent)) {
            dev_err!(
                self.scope.dev(),
                "commands do not come back while the device is being stopped: the rest is left out\n"
            );
        }
    }

    fn report(&self, error: &Error) {
        // What comes of a dead device was reported when it died.
        if matches!(error.cause, Cause::Dead(_)) {
            return;
        }
        match self.errors.pass() {
            None => (),
            Some(0) => dev_err!(self.scope.dev(), "{error}\n"),
            Some(suppressed) => dev_err!(
                self.scope.dev(),
                "{error} ({suppressed} more failures were not printed, see cmd/failures)\n"
            ),
        }
    }
}
