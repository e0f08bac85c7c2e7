// SPDX-License-Identifier: GPL-2.0

//! What is shown of the event queues, and outlives them.

use super::{
    dispatch::Seen,
    queue::{
        Kind,
        Stats, //
    }, //
};
use kernel::{
    prelude::*,
    sync::Arc, //
};

/// What came by events, and how the queues did.
///
/// The queues that are made after a reset of the function go on with it.
pub(crate) struct Record {
    seen: Arc<Seen>,
    command: Arc<Stats>,
    asynchronous: Arc<Stats>,
    pages: Arc<Stats>,
}

impl Record {
    /// Makes the record of a function that has no queues yet.
    ///
    /// # Errors
    ///
    /// [`ENOMEM`] without memory.
    pub(crate) fn new() -> Result<Self> {
        let stats = |kind| Arc::new(Stats::new(kind), GFP_KERNEL);

        Ok(Self {
            seen: Arc::pin_init(Seen::new(), GFP_KERNEL)?,
            command: stats(Kind::Command)?,
            asynchronous: stats(Kind::Async)?,
            pages: stats(Kind::Pages)?,
        })
    }

    /// Events of all queues.
    pub(super) fn seen(&self) -> &Arc<Seen> {
        &self.seen
    }

    /// The queue of a kind.
    pub(super) fn of(&self, kind: Kind) -> &Arc<Stats> {
        match kind {
            Kind::Command => &self.command,
            Kind::Async => &self.asynchronous,
            Kind::Pages => &self.pages,
        }
    }

    /// The queues that there were.
    pub(super) fn queues(&self) -> impl Iterator<Item = &Arc<Stats>> + '_ {
        [&self.command, &self.asynchronous, &self.pages]
            .into_iter()
            .filter(|stats| stats.was_made())
    }
}
