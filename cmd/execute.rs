// SPDX-License-Identifier: GPL-2.0

//! A command's way through a slot, from the claim to the output, and what completions do to it.

use crate::{
    device::{
        Condition,
        Degradation, //
    },
    kernel_ext::clock,
    prm::{
        command::Command,
        layout::{
            Input,
            Layout,
            Output, //
        },
        opcode::Opcode,
        status::{
            Delivery,
            Status, //
        },
    },
};
use kernel::{
    prelude::*,
    sync::atomic::Relaxed,
    time::{
        delay::fsleep,
        Delta, //
    },
};
use zerocopy::FromZeros;

use super::{
    history::{
        Buffers,
        Record, //
    },
    message::{
        Checks,
        Flaw,
        Request, //
    },
    slots::{
        Kind,
        Slot, //
    },
    Cause,
    Error,
    Mode,
    Queue, //
};

/// Shortest and longest pause between two looks at an entry while polling, in microseconds.
///
/// A command takes some tens of microseconds; one that takes long is looked at less and less often.
const POLL_US: (u64, u64) = (20, 5_000);

/// How long the event of a command is waited for before the entry itself is looked at, in
/// milliseconds: an event that was lost costs no more than that.
pub(super) const LOOK_MS: u64 = 500;

impl Queue<'_> {
    /// Takes an event of the command event queue: bit n is set if slot n is done.
    pub(crate) fn completions(&self, vector: u32) {
        for slot in (0..u32::BITS).filter(|slot| vector & (1 << slot) != 0) {
            // CAST: A slot number fits.
            let slot = slot as usize;
            let done = slot < self.log.book.count() && self.memory.is_done(slot);
            self.complete(slot, done);
        }
    }

    /// Commands that were found done although no event had come.
    pub(crate) fn lost_events(&self) -> u64 {
        self.log.book.lost_events()
    }

    /// Looks for late completions whose event did not come, or comes in no event at all.
    pub(crate) fn reap(&self) {
        if self.log.book.quarantined() == 0 {
            return;
        }
        self.log.book.each_outstanding(|slot, state| {
            if matches!(state, Slot::Quarantined(_)) && self.memory.is_done(slot) {
                self.complete(slot, true);
            }
        });
    }

    fn complete(&self, slot: usize, done: bool) {
        if let Some(flight) = self.log.book.complete(slot, done) {
            self.state.outstanding().end(slot);
            self.mend_quarantine();
            dev_warn!(
                self.scope.dev(),
                "cmd[{slot}]: {} completed {} ms after it was sent, too late: its slot is \
                 free again\n",
                flight.opcode,
                clock::monotonic_us().saturating_sub(flight.since_us) / 1000
            );
        }
    }

    /// Sends a command in a slot of the kind, waits for its output, counts it and keeps it.
    pub(super) fn run<C: Command>(
        &self,
        kind: Kind,
        op_mod: u16,
        mut input: C::In,
        tail_in: &[u8],
        tail_out: &mut [u8],
    ) -> Result<C::Out, Error> {
        input.set_header(C::OPCODE.0, op_mod);

        let mut output = C::Out::new_zeroed();
        let started = clock::monotonic_us();
        let (slot, result) = self.transact(
            kind,
            C::OPCODE,
            input.as_bytes(),
            tail_in,
            output.as_mut_bytes(),
            tail_out,
        );
        let result = result.and_then(|()| match output.outcome() {
            (Status::OK, _) => Ok(()),
            (status, syndrome) => Err(Cause::Refused { status, syndrome }),
        });
        let error = result.err().map(|cause| Error {
            opcode: C::OPCODE,
            op_mod,
            cause,
        });

        let took_us = clock::monotonic_us().saturating_sub(started);
        self.log.counters.count(C::OPCODE, took_us, error.as_ref());
        self.log.history.add(
            &Record {
                opcode: C::OPCODE,
                op_mod,
                slot,
                at_us: started,
                took_us,
                failure: error.map(|error| error.cause),
                input_length: C::In::TABLE.size + tail_in.len(),
                output_length: C::Out::TABLE.size + tail_out.len(),
            },
            &Buffers {
                input: [input.as_bytes(), tail_in],
                output: [output.as_bytes(), tail_out],
            },
        );

        match error {
            None => Ok(output),
            Some(error) => Err(error),
        }
    }

    /// One command through one slot: claims it, uses it, and gives it back or quarantines it.
    fn transact(
        &self,
        kind: Kind,
        opcode: Opcode,
        input: &[u8],
        tail_in: &[u8],
        output: &mut [u8],
        tail_out: &mut [u8],
    ) -> (Option<usize>, Result<(), Cause>) {
        let book = &self.log.book;
        let limit_ms = self.timeout_ms();

        if let Err(cause) = self.check_alive() {
            return (None, Err(cause));
        }
        self.reap();
        let Some(slot) = book.claim(kind, &self.state, millis(limit_ms)) else {
            return (None, Err(self.check_alive().err().unwrap_or(Cause::NoSlot)));
        };

        let request = Request {
            input,
            tail: tail_in,
            output_length: output.len() + tail_out.len(),
            token: self.next_token(),
        };
        if let Err(error) = self.memory.send(slot, &request) {
            book.release(slot);
            let cause = if error == E2BIG {
                Cause::TooLarge
            } else {
                Cause::Internal
            };
            return (Some(slot), Err(cause));
        }

        let events = self.log.mode.load(Relaxed) == Mode::Events as u32;
        let now_us = clock::monotonic_us();
        book.launch(slot, opcode, now_us);
        self.state.outstanding().begin(slot, opcode, now_us);
        self.init_segment.ring_doorbell(1 << slot);

        let waited = if events {
            self.wait_for_event(slot, limit_ms)
        } else {
            self.poll(slot, limit_ms)
        };
        if let Err(cause) = waited {
            self.give_up(slot, &cause);
            return (Some(slot), Err(cause));
        }

        let result = self.take_output(slot, &request, output, tail_out);
        self.state.outstanding().end(slot);
        book.release(slot);
        self.state.mend(Degradation::CommandTimeout);
        (Some(slot), result)
    }

    /// Leaves a slot to the device.
    fn give_up(&self, slot: usize, cause: &Cause) {
        // All before the late completion can come, which undoes it.
        self.state.outstanding().give_up(slot);
        if matches!(cause, Cause::TimedOut { .. }) {
            self.state.degrade(Degradation::CommandTimeout);
            self.state.degrade(Degradation::QuarantinedSlots);
        }
        self.log.book.give_up(slot);
        self.mend_quarantine();
    }

    fn mend_quarantine(&self) {
        if self.log.book.quarantined() == 0 {
            self.state.mend(Degradation::QuarantinedSlots);
        }
    }

    fn check_alive(&self) -> Result<(), Cause> {
        match self.state.condition() {
            Condition::Alive => Ok(()),
            condition => Err(Cause::Dead(condition)),
        }
    }

    fn poll(&self, slot: usize, limit_ms: u64) -> Result<(), Cause> {
        let start = clock::monotonic_us();
        let limit_us = limit_ms.saturating_mul(1000);
        let (shortest, longest) = POLL_US;

        loop {
            // The time is taken before the look: the device had all of it.
            let waited = clock::monotonic_us().saturating_sub(start);
            if self.memory.is_done(slot) {
                return Ok(());
            }
            self.check_alive()?;
            if waited > limit_us {
                return Err(Cause::TimedOut { after_ms: limit_ms });
            }
            let pause = (waited / 4).clamp(shortest, longest);
            fsleep(Delta::from_micros(i64::try_from(pause).unwrap_or(i64::MAX)));
        }
    }

    fn wait_for_event(&self, slot: usize, limit_ms: u64) -> Result<(), Cause> {
        let start = clock::monotonic_ms();

        loop {
            let waited = clock::monotonic_ms().saturating_sub(start);
            let left = limit_ms.saturating_sub(waited);
            let came = self.log.book.wait(slot, millis(left.min(LOOK_MS)));

            // The entry itself decides, whoever has woken us.
            if self.memory.is_done(slot) {
                if !came {
                    self.log.book.lost_event();
                }
                return Ok(());
            }
            self.check_alive()?;
            if left == 0 {
                return Err(Cause::TimedOut { after_ms: limit_ms });
            }
        }
    }

    /// Reads and judges the output of a slot that is done.
    fn take_output(
        &self,
        slot: usize,
        request: &Request<'_>,
        output: &mut [u8],
        tail_out: &mut [u8],
    ) -> Result<(), Cause> {
        let entry = self.memory.entry(slot).map_err(|_| Cause::Internal)?;
        let delivery = Delivery(entry.status());
        let checks = Checks {
            signatures: self.log.signatures.load(Relaxed),
        };

        let flaw: Option<Flaw> = self
            .memory
            .receive(slot, &entry, request.token, checks, output, tail_out)
            .map_err(|_| Cause::Internal)?;

        // If the command was not delivered there is no output that could have a flaw.
        if !delivery.is_ok() {
            return Err(Cause::NotDelivered(delivery));
        }
        if let Some(flaw) = flaw {
            return Err(Cause::BadOutput(flaw));
        }

        Ok(())
    }

    /// The token of the next command: counts through 1 to 255.
    fn next_token(&self) -> u8 {
        let count = self.token.fetch_add(1, Relaxed);

        // CAST: The remainder is less than 255.
        (count % 255) as u8 + 1
    }
}

fn millis(ms: u64) -> Delta {
    Delta::from_millis(i64::try_from(ms).unwrap_or(i64::MAX))
}
