// SPDX-License-Identifier: GPL-2.0

//! Event queues: how the device tells that something has happened.
//!
//! There are three. The command queue's is made first, while commands are still polled; from then
//! on completions come as events. The second has all asynchronous events that somebody has
//! subscribed to, the third only requests for pages, so that these are not held up by anything
//! else.
//!
//! ```text
//!   device -- EQE --> ring -- interrupt --> thread of the vector --> dispatcher --> subscribers
//!                      ^                                                (note, and wake)
//!                      +-- watchdog: looks for entries that no interrupt was raised for
//! ```

mod dispatch;
mod files;
mod page_requests;
mod queue;
mod record;
#[allow(unreachable_pub, reason = "the file is public in the host's tests")]
mod ring;
mod vector;
mod watchdog;

pub(crate) use self::{
    dispatch::{
        Subscriber,
        Subscription, //
    },
    files::Files,
    record::Record, //
};

use self::{
    dispatch::{
        Dispatcher,
        Seen, //
    },
    page_requests::{
        Requests,
        Worker, //
    },
    queue::{
        EventQueue,
        Kind, //
    },
    vector::Vector,
    watchdog::Watchdog, //
};
use crate::{
    cmd::{
        self,
        pages::Pages,
        Mode, //
    },
    kernel_ext::{
        irq::{
            Line,
            Vectors, //
        },
        kthread::Kthread, //
    },
    objects::Uar,
    prm::{
        caps::General,
        eq::{
            CommandCompletion,
            Eqe,
            EventMask,
            EventType, //
        }, //
    },
};
use kernel::{
    prelude::*,
    sync::Arc, //
};

/// Vectors that are asked for: one for each queue.
const VECTORS: u32 = 3;

/// Completions of commands, for the command interface.
struct Completions<'bound>(Arc<cmd::Queue<'bound>>);

impl Subscriber for Completions<'_> {
    fn event(&self, eqe: &Eqe) {
        let completion: CommandCompletion = eqe.data();
        self.0.completions(completion.command_completion_vector());
    }
}

/// The event queues of a function, with their interrupts and their watchdog.
///
/// Fields are dropped in order: the threads that use the queues before the interrupts.
pub(crate) struct Events<'bound> {
    _watchdog: Kthread<'bound, Watchdog<'bound>>,
    _worker: Option<Kthread<'bound, Worker<'bound>>>,
    _lines: Lines<'bound>,
}

/// Events that are asked for to be shown, whether or not somebody acts on them.
///
/// Each is asked for only if the capability says that the device has it.
fn observed(general: &General) -> EventMask {
    let optional = [
        (EventType::PORT_CHANGE, true),
        (EventType::PORT_MODULE, general.port_module_event()),
        (EventType::TEMP_WARN, general.temp_warn_event()),
        (EventType::GENERAL, general.general_notification_event()),
        (EventType::NIC_VPORT_CHANGE, general.vport_group_manager()),
    ];

    optional
        .into_iter()
        .filter(|(_, has)| *has)
        .fold(EventMask::EMPTY, |mask, (event, _)| mask.with(event))
}

/// The interrupt lines, one for each vector that there is.
struct Lines<'bound> {
    commands: Arc<cmd::Queue<'bound>>,
    lines: KVec<(Line<'bound, Vector<'bound>>, Arc<Vector<'bound>>)>,
}

impl<'bound> Lines<'bound> {
    fn new(commands: &Arc<cmd::Queue<'bound>>, seen: &Arc<Seen>) -> Result<Self> {
        let scope = commands.scope();
        let vectors = Vectors::new(scope, 1, VECTORS).inspect_err(|_| {
            dev_err!(
                scope.dev(),
                "no MSI-X vector: expected at least 1, for the event queues\n"
            );
        })?;

        let mut lines = KVec::with_capacity(vectors.count(), GFP_KERNEL)?;
        for index in 0..vectors.count() {
            let vector = Arc::pin_init(Vector::new(seen.clone()), GFP_KERNEL)?;
            let name = scope.dev().name();
            let line = vectors.line(index, fmt!("mlx5_prm_rs{index}@{name}"), vector.clone())?;
            lines.push((line, vector), GFP_KERNEL)?;
        }
        Ok(Self {
            commands: commands.clone(),
            lines,
        })
    }

    /// The vector for a queue: its own, or the last if there are too few.
    fn vector(&self, kind: Kind) -> Result<(u32, &Arc<Vector<'bound>>)> {
        let wanted = match kind {
            Kind::Command => 0,
            Kind::Async => 1,
            Kind::Pages => 2,
        };
        let index = usize::min(wanted, self.lines.len().saturating_sub(1));
        let (_, vector) = self.lines.get(index).ok_or(ENODEV)?;

        // CAST: There are three at most.
        Ok((index as u32, vector))
    }

    fn vectors(&self) -> impl Iterator<Item = &Arc<Vector<'bound>>> + '_ {
        self.lines.iter().map(|(_, vector)| vector)
    }

    fn remove(&self, kind: Kind) {
        for vector in self.vectors() {
            // Destroyed outside of the lock: the completion of that command comes by an interrupt.
            let queue = vector.remove(kind);
            drop(queue);
        }
    }
}

impl Drop for Lines<'_> {
    /// Destroys the queues in the reverse order of their making.
    fn drop(&mut self) {
        self.remove(Kind::Pages);
        self.remove(Kind::Async);
        // The event queue cannot announce the completion of its own end.
        self.commands.set_mode(Mode::Polling);
        self.remove(Kind::Command);
    }
}

impl<'bound> Events<'bound> {
    /// Makes the queues and switches the command interface over to events; `record` goes on.
    ///
    /// # Errors
    ///
    /// Those of the commands and of interrupts; [`ENOMEM`] without memory.
    pub(crate) fn start(
        commands: &Arc<cmd::Queue<'bound>>,
        uar: &Arc<Uar<'bound>>,
        pages: &Arc<Pages<'bound>>,
        general: &General,
        record: &Record,
        mut subscriptions: KVec<Subscription<'bound>>,
    ) -> Result<Self> {
        let seen = record.seen();
        let requests = Arc::pin_init(Requests::new(), GFP_KERNEL)?;

        let mut mask = observed(general);
        for one in &subscriptions {
            mask = mask.with(one.event);
        }
        subscriptions.push(
            Subscription {
                event: EventType::CMD,
                subscriber: Arc::new(Completions(commands.clone()), GFP_KERNEL)?,
            },
            GFP_KERNEL,
        )?;
        subscriptions.push(
            Subscription {
                event: EventType::PAGE_REQUEST,
                subscriber: requests.clone(),
            },
            GFP_KERNEL,
        )?;
        let dispatcher = Arc::new(
            Dispatcher::new(subscriptions, mask, seen.clone()),
            GFP_KERNEL,
        )?;

        let lines = Lines::new(commands, seen)?;
        let make = |kind, events| -> Result {
            let (index, vector) = lines.vector(kind)?;
            let queue = EventQueue::new(
                commands,
                uar,
                &dispatcher,
                record.of(kind),
                index,
                general.log_max_eq_sz(),
                events,
            )?;
            vector.add(queue)
        };

        make(Kind::Command, EventMask::EMPTY.with(EventType::CMD))?;
        commands.set_mode(Mode::Events);
        make(Kind::Async, mask)?;

        let scope = commands.scope();
        let name = scope.dev().name();
        let mut worker = None;
        if !general.page_request_disable() {
            let body = Arc::new(Worker::new(requests, pages.clone()), GFP_KERNEL)?;
            worker = Some(Kthread::spawn(scope, fmt!("prm_pages@{name}"), body)?);
            make(Kind::Pages, EventMask::EMPTY.with(EventType::PAGE_REQUEST))?;
        }

        let mut vectors = KVec::new();
        for vector in lines.vectors() {
            vectors.push(vector.clone(), GFP_KERNEL)?;
        }
        let watchdog = Arc::pin_init(Watchdog::new(commands.clone(), vectors), GFP_KERNEL)?;

        Ok(Self {
            _watchdog: Kthread::spawn(scope, fmt!("prm_eq@{name}"), watchdog)?,
            _worker: worker,
            _lines: lines,
        })
    }
}
