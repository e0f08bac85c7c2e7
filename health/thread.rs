// SPDX-License-Identifier: GPL-2.0

//! The thread that reads the registers, and what it does when something changes.

use super::{
    evidence::{
        Case,
        Hung,
        Saved,
        SLOTS, //
    },
    machine::{
        Sample,
        State as Verdict,
        Transition,
        Trouble, //
    },
    readings::Why,
    record::{
        wake,
        Record, //
    },
    render::{
        Brief,
        Sentence, //
    },
    status, //
};
use crate::{
    device::{
        Change,
        Condition,
        Degradation,
        InitSegment,
        Reason,
        State,
        What, //
    },
    kernel_ext::{
        clock,
        kthread::{
            Body,
            StopToken, //
        },
        ratelimit::RateLimit,
        scope::Scope,
        signal::Signal,
        uevent, //
    },
    prm::{
        health::{
            Buffer,
            Severity, //
        },
        iseg::{
            CommandQueueAddress,
            Health, //
        },
        layout::Layout, //
    },
};
use kernel::{
    prelude::*,
    sync::Arc, //
};
use zerocopy::IntoBytes;

/// Offset of the word with nic_interface in the register of the command queue's address.
const NIC_INTERFACE: usize = 4;

/// Offset of the words with rfr and the syndromes in the health buffer.
const TROUBLE: usize = 0x38;

/// The watch over a function.
pub(super) struct Watch<'bound> {
    scope: Scope<'bound>,
    init_segment: Arc<InitSegment<'bound>>,
    state: Arc<State>,
    record: Arc<Record>,
    /// A device that changes its mind with every reading must not fill the log.
    log: RateLimit,
    /// Nor shall degradations that come and go; what is fatal is told in any case.
    changes: RateLimit,
    uevents: RateLimit,
}

impl<'bound> Watch<'bound> {
    pub(super) fn new(
        scope: Scope<'bound>,
        init_segment: Arc<InitSegment<'bound>>,
        state: Arc<State>,
        record: Arc<Record>,
    ) -> Self {
        Self {
            scope,
            init_segment,
            state,
            record,
            log: RateLimit::new(20, 60_000),
            changes: RateLimit::new(40, 60_000),
            uevents: RateLimit::new(100, 10_000),
        }
    }

    /// Reads the counter, the use of the function, and what is wrong.
    ///
    /// Whether the syndrome beside the counter can be relied on is not certain (sources place it
    /// differently), so the one of the health buffer is read, with rfr beside it.
    fn read(&self) -> Sample {
        let health: Health = self.init_segment.read();
        let queue: CommandQueueAddress = self
            .init_segment
            .read_from(CommandQueueAddress::OFFSET, NIC_INTERFACE);
        let buffer: Buffer = self.init_segment.read_from(Buffer::BAR_OFFSET, TROUBLE);

        if has_dead_word(health.as_bytes())
            || has_dead_word(queue.as_bytes())
            || has_dead_word(buffer.as_bytes())
        {
            return Sample::Dead;
        }
        let mut trouble = Trouble::of(&buffer);
        if self.record.remembers_leftover() {
            let all = self.read_buffer();
            if has_dead_word(all.as_bytes()) && all.fw_version() == u32::MAX {
                return Sample::Dead;
            }
            if self.record.is_leftover(&all) {
                trouble = Trouble::NONE;
            }
        }
        Sample::Live {
            counter: health.health_counter(),
            nic_interface: queue.nic_interface(),
            trouble,
        }
    }

    fn read_buffer(&self) -> Buffer {
        self.init_segment.read_from(Buffer::BAR_OFFSET, 0)
    }

    fn tick(&self) {
        self.record.while_judging(|| {
            let sample = self.read();

            if let Some((number, transition)) = self.record.feed(clock::monotonic_us(), &sample) {
                self.act(number, &transition);
            }
        });
        self.look_at_commands();
    }

    /// Judges the age of the oldest command.
    fn look_at_commands(&self) {
        let slow = self.state.outstanding().oldest_us().is_some_and(|since| {
            clock::monotonic_us().saturating_sub(since) > self.record.slow_us()
        });

        self.suffers(Degradation::CommandSlow, slow);
    }

    fn suffers(&self, from: Degradation, holds: bool) {
        if holds {
            self.state.degrade(from);
        } else {
            self.state.mend(from);
        }
    }

    /// What follows from a transition: first of all, that waiters go on.
    fn act(&self, number: u64, transition: &Transition) {
        // Those who are let go take their commands off the list.
        let commands = self.hung();

        if let Some(condition) = condition(transition.to) {
            self.state.worsen(condition);
        } else if transition.dead_reads == 0 {
            self.suffers(Degradation::Syndrome, transition.trouble != Trouble::NONE);
        }

        let mut buffer = None;
        if transition.trouble != Trouble::NONE && transition.dead_reads == 0 {
            let read = self.read_buffer();
            self.record.readings().keep(Why::Transition, read);
            buffer = Some(read);
        }

        if transition.to.is_fatal() || transition.to == Verdict::Syndrome {
            let saved = match buffer {
                Some(buffer) => Saved::Read(buffer),
                None if transition.to == Verdict::Gone => Saved::NoAnswer,
                None if transition.to == Verdict::Stalled => Saved::Unreadable,
                None => Saved::NotRead,
            };
            self.latch(*transition, saved, commands);
        }

        self.report(transition, buffer.as_ref());

        // Suspicions come and go; only verdicts are events.
        let calm = matches!(transition.to, Verdict::Measuring | Verdict::Healthy);
        let suspicion_ends = transition.from == Verdict::Suspect && calm;
        if transition.to != Verdict::Suspect && !suspicion_ends {
            self.announce(number, transition);
        }
    }

    /// The commands that the device has.
    fn hung(&self) -> [Option<Hung>; SLOTS] {
        let now_us = clock::monotonic_us();
        let mut all = [None; SLOTS];

        for (place, command) in all.iter_mut().zip(self.state.outstanding().iter()) {
            *place = Some(Hung {
                slot: command.slot,
                opcode: command.opcode,
                age_us: now_us.saturating_sub(command.since_us),
                given_up: command.given_up,
            });
        }
        all
    }

    /// Keeps a failure, if it is the first.
    fn latch(&self, verdict: Transition, buffer: Saved, commands: [Option<Hung>; SLOTS]) {
        self.record.latch(&Case {
            at_us: clock::monotonic_us(),
            wall: clock::wall_seconds(),
            status: self.state.status(),
            verdict,
            buffer,
            commands,
        });
    }

    /// Tells of all changes of the function's status that nobody was told of yet, whoever has made
    /// them.
    fn tell_changes(&self) {
        let untold = self.record.untold();
        let until = untold.end;

        for number in untold {
            // One that was overwritten already is a gap in the numbers.
            if let Some(change) = self.state.change(number) {
                self.tell(number, &change);
            }
        }
        self.record.note_told(until);
    }

    fn tell(&self, number: u64, change: &Change) {
        // What the registers tell is kept where it is found.
        let failure = matches!(
            change.what,
            What::Worse(Condition::Fatal(Reason::Silent))
                | What::Raised(Degradation::CommandTimeout)
        );
        if failure {
            self.latch(self.record.now(), Saved::NotRead, self.hung());
        }

        let dev = self.scope.dev();
        let grave = matches!(change.what, What::Worse(_) | What::Revived);
        let sentence = status::Sentence(change);
        let pass = self.changes.pass();
        if let Some(suppressed @ 1..) = pass {
            dev_warn!(
                dev,
                "state: {suppressed} changes were not printed, see health/changes\n"
            );
        }
        match (pass, change.what) {
            (None, _) if !grave => (),
            (_, What::Worse(_)) => {
                dev_err!(dev, "state: {}\n", format_args!("{sentence}"));
            }
            (_, What::Raised(_)) => {
                dev_warn!(dev, "state: {}\n", format_args!("{sentence}"));
            }
            _ => dev_info!(dev, "state: {}\n", format_args!("{sentence}")),
        }

        if self.uevents.pass().is_none() && !grave {
            return;
        }
        let overall = change.status.overall();
        let (reason, reason_number) = change.status.condition.reason();
        let degradations = change.status.degradations;
        let result = uevent::change(
            dev,
            &[
                fmt!("PRM_EVENT=state"),
                fmt!("PRM_STATE={}", overall.name()),
                fmt!("PRM_STATE_NUMBER={}", overall.number()),
                fmt!("PRM_REASON={reason}"),
                fmt!("PRM_REASON_NUMBER={reason_number}"),
                fmt!("PRM_DEGRADATIONS={}", format_args!("{degradations}")),
                fmt!("PRM_DEGRADATION_BITS={:#x}", degradations.bits()),
                fmt!("PRM_CHANGE={}", format_args!("{}", change.what)),
                fmt!("PRM_SEQ={number}"),
            ],
        );
        if let Err(error) = result {
            dev_warn!(
                dev,
                "state: no uevent for change {number} ({}), see health/changes\n",
                error.to_errno()
            );
        }
    }

    fn report(&self, transition: &Transition, buffer: Option<&Buffer>) {
        let Transition { from, to, .. } = *transition;

        // Nobody needs to hear of the start, nor of a suspicion or its end.
        let quiet = |verdict| {
            matches!(
                verdict,
                Verdict::Measuring | Verdict::Healthy | Verdict::Suspect
            )
        };
        if to == Verdict::Suspect || quiet(from) && quiet(to) {
            return;
        }
        let Some(suppressed) = self.log.pass() else {
            return;
        };

        let dev = self.scope.dev();
        let sentence = Sentence(transition);
        let severity = buffer.map_or(Severity::ERROR, Buffer::effective_severity);

        if to.is_fatal() || to == Verdict::Syndrome && severity <= Severity::ERROR {
            dev_err!(
                dev,
                "health: {}: {}\n",
                to.name(),
                format_args!("{sentence}")
            );
        } else if to == Verdict::Syndrome {
            dev_warn!(
                dev,
                "health: {}: {}\n",
                to.name(),
                format_args!("{sentence}")
            );
        } else {
            dev_info!(
                dev,
                "health: {} after {}: {}\n",
                to.name(),
                from.name(),
                format_args!("{sentence}")
            );
        }
        if let Some(brief) = buffer.map(Brief) {
            if severity <= Severity::ERROR {
                dev_err!(dev, "health buffer: {}\n", format_args!("{brief}"));
            } else {
                dev_warn!(dev, "health buffer: {}\n", format_args!("{brief}"));
            }
        }
        if suppressed > 0 {
            dev_warn!(
                dev,
                "health: {suppressed} transitions were not printed, see health/history\n"
            );
        }
    }

    /// Tells user space.
    fn announce(&self, number: u64, transition: &Transition) {
        let Transition {
            from, to, trouble, ..
        } = *transition;

        let result = uevent::change(
            self.scope.dev(),
            &[
                fmt!("PRM_EVENT=health"),
                fmt!("PRM_HEALTH={}", to.name()),
                fmt!("PRM_HEALTH_STATE={}", to.number()),
                fmt!("PRM_HEALTH_FROM={}", from.name()),
                fmt!("PRM_HEALTH_FATAL={}", u8::from(to.is_fatal())),
                fmt!("PRM_HEALTH_SEQ={number}"),
                fmt!("PRM_HEALTH_SYND={:#04x}", trouble.synd),
                fmt!("PRM_HEALTH_EXT_SYND={:#06x}", trouble.ext_synd),
                fmt!("PRM_HEALTH_RFR={}", u8::from(trouble.rfr)),
            ],
        );
        if let Err(error) = result {
            dev_warn!(
                self.scope.dev(),
                "health: no uevent for transition {number} ({}), see health/history\n",
                error.to_errno()
            );
        }
    }

    /// Reads the buffer for those who have asked for it.
    fn refresh(&self) {
        let readings = self.record.readings();
        let asked = readings.requests().count();

        readings.keep(Why::Request, self.read_buffer());
        readings.requests().serve(asked);
    }
}

impl Body for Watch<'_> {
    /// A machine that is busy, maybe because of the card, must not delay it.
    const URGENT: bool = true;

    fn signal(&self) -> &Signal {
        self.record.signal()
    }

    fn run(&self, stop: &StopToken<'_>) {
        let mut last_us = clock::monotonic_us();
        self.tick();
        self.tell_changes();

        while !stop.should_stop() {
            let interval_us = self.record.interval_us();
            let due_us = last_us.saturating_add(interval_us);
            let now_us = clock::monotonic_us();

            if now_us >= due_us {
                let late_us = now_us.saturating_sub(due_us);
                self.record.note_late(late_us);
                // Readings are due at points in time that lie an interval apart: one that is late
                // does not delay the others, and those that were missed are left out.
                let missed = late_us.checked_div(interval_us).unwrap_or(0);
                last_us = due_us.saturating_add(missed.saturating_mul(interval_us));
                self.tick();
                self.tell_changes();
                continue;
            }
            let bits = self.record.signal().wait_until(due_us);
            if bits & wake::REFRESH != 0 {
                self.refresh();
            }
            if bits & wake::CHANGED != 0 {
                self.tell_changes();
            }
            // A changed interval counts from the last reading: the loop looks at it again.
        }
        self.tell_changes();
        self.record.readings().requests().let_go();
    }
}

/// Whether a word is all ones, as is every word of a device that does not answer.
///
/// None of the registers read here can be that otherwise: they have reserved bits, or are a counter
/// beside a syndrome.
fn has_dead_word(bytes: &[u8]) -> bool {
    bytes.chunks_exact(4).any(|word| word == [0xff; 4])
}

/// What a verdict means for those who use the function.
fn condition(verdict: Verdict) -> Option<Condition> {
    match verdict {
        Verdict::Stalled => Some(Condition::Fatal(Reason::Stalled)),
        Verdict::Failed => Some(Condition::Fatal(Reason::Syndrome)),
        Verdict::Disabled => Some(Condition::Fatal(Reason::Disabled)),
        Verdict::Reset => Some(Condition::Fatal(Reason::Reset)),
        Verdict::Gone => Some(Condition::Gone),
        Verdict::Measuring | Verdict::Healthy | Verdict::Suspect | Verdict::Syndrome => None,
    }
}
