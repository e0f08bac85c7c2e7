// SPDX-License-Identifier: GPL-2.0

//! The thread that reads the registers, and what it does when something changes.

use super::{
    machine::{
        Sample,
        State as Verdict,
        Transition,
        Trouble, //
    },
    record::{
        wake,
        Record,
        Why, //
    },
    render::{
        Brief,
        Sentence, //
    }, //
};
use crate::{
    device::{
        Condition,
        InitSegment,
        Reason,
        State, //
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
    sync::Arc,
    time::Delta, //
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
        Sample::Live {
            counter: health.health_counter(),
            nic_interface: queue.nic_interface(),
            trouble: Trouble::of(&buffer),
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
    }

    /// What follows from a transition: first of all, that waiters go on.
    fn act(&self, number: u64, transition: &Transition) {
        if let Some(condition) = condition(transition.to) {
            self.state.worsen(condition);
        }

        let mut buffer = None;
        if transition.trouble != Trouble::NONE && transition.dead_reads == 0 {
            let read = self.read_buffer();
            self.record.keep(Why::Transition, read);
            buffer = Some(read);
        }

        self.report(transition, buffer.as_ref());

        // Suspicions come and go; only verdicts are events.
        let calm = matches!(transition.to, Verdict::Measuring | Verdict::Healthy);
        let suspicion_ends = transition.from == Verdict::Suspect && calm;
        if transition.to != Verdict::Suspect && !suspicion_ends {
            self.announce(number, transition);
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
        let up_to = self.record.requests();

        self.record.keep(Why::Request, self.read_buffer());
        self.record.served(up_to);
    }
}

impl Body for Watch<'_> {
    fn signal(&self) -> &Signal {
        self.record.signal()
    }

    fn run(&self, stop: &StopToken<'_>) {
        let mut last_us = clock::monotonic_us();
        self.tick();

        while !stop.should_stop() {
            let due_us = last_us.saturating_add(self.record.interval_us());
            let now_us = clock::monotonic_us();

            if now_us >= due_us {
                last_us = now_us;
                self.tick();
                continue;
            }
            let left = i64::try_from(due_us.saturating_sub(now_us)).unwrap_or(i64::MAX);
            let bits = self.record.signal().wait_timeout(Delta::from_micros(left));
            if bits & wake::REFRESH != 0 {
                self.refresh();
            }
            // A changed interval counts from the last reading: the loop looks at it again.
        }
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
