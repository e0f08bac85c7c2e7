// SPDX-License-Identifier: GPL-2.0

//! Recovery: bringing a function back that is dead, by a reset and a new run.
//!
//! A thread of its own carries out the attempts ([`thread`]), when somebody asks for one by
//! `recovery/trigger`, or by itself if that was chosen ([`policy`] says when).
//!
//! ```text
//!   device state --+                       +--> stop the run: waiters are let go
//!   trigger -------+--> thread -- attempt -+--> reset, wait for the device and for firmware
//!   unbind --------+       |               +--> a new run, from the first command on
//!                          v
//!                       record --> debugfs, log, uevent
//! ```
//!
//! What is shown and counted elsewhere goes on, see [`Common`](super::run::Common).
//!
//! # Unbinding
//!
//! The thread is the first thing that ends then. Its waits end with that; if it has an attempt
//! under way, the state says "unbinding", so that commands end as well. The kernel's reset of a PCI
//! function is the one step that cannot be ended: unbinding waits for the device's lock until it is
//! over.
//!
//! # Lock order
//!
//! There is one lock here, a mutex around the record's history; nothing is locked under it.

mod attempt;
mod files;
mod record;
mod reset;
mod thread;

#[allow(unreachable_pub, reason = "the file is public in the host's tests")]
mod policy;

pub(super) use self::{
    files::Files,
    record::Record, //
};

use self::thread::Recoverer;
use super::place::Place;
use crate::{
    device::{
        Condition,
        Reason,
        Registration,
        State, //
    },
    kernel_ext::kthread::Kthread, //
};
use kernel::{
    prelude::*,
    sync::Arc, //
};

/// The recovery of a function; dropping it ends an attempt that is under way.
pub(super) struct Recovery<'bound> {
    record: Arc<Record>,
    state: Arc<State>,
    _registration: Registration,
    _thread: Kthread<'bound, Recoverer<'bound>>,
}

impl<'bound> Recovery<'bound> {
    /// Starts the thread, which makes attempts by itself if `auto`.
    ///
    /// # Errors
    ///
    /// [`ENOMEM`] without memory, [`EINTR`] if the calling process is being killed.
    pub(super) fn start(place: &Arc<Place<'bound>>, auto: bool) -> Result<Self> {
        let scope = place.common().scope;
        let state = place.common().state.clone();
        let record = Arc::pin_init(Record::new(state.clone(), auto), GFP_KERNEL)?;
        let registration = state.add_waiter(record.clone())?;
        let recoverer = Recoverer::new(place.clone(), record.clone());
        let name = scope.dev().name();

        Ok(Self {
            _registration: registration,
            _thread: Kthread::spawn(
                scope,
                fmt!("prm_recover@{name}"),
                Arc::new(recoverer, GFP_KERNEL)?,
            )?,
            record,
            state,
        })
    }

    /// What is shown of the recovery.
    pub(super) fn record(&self) -> &Arc<Record> {
        &self.record
    }
}

impl Drop for Recovery<'_> {
    fn drop(&mut self) {
        // First this, then the state: the thread does it the other way round when it makes the
        // function alive, so that one of the two sees the other.
        self.record.stop();
        if self.state.is_recovering() {
            self.state.worsen(Condition::Fatal(Reason::Unbinding));
        }
    }
}
