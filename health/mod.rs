// SPDX-License-Identifier: GPL-2.0

//! Firmware health: whether firmware runs, and what it says when it fails.
//!
//! A thread of its own reads a few registers at an interval ([`thread`]) and feeds them to a state
//! machine ([`machine`]). It knows nothing of commands and takes no lock that one who waits for a
//! command can hold, so that a command that hangs does not delay it; what it finds out reaches the
//! waiters through [`State`].
//!
//! ```text
//!   thread -- registers --> machine --> transition --> device state (wakes waiters)
//!     ^                        |             |--> health buffer, if there is a syndrome
//!     +-- interval, refresh    v             +--> history, log, uevent
//!                            record <-- debugfs
//! ```
//!
//! [`State`] also tells what others found out, such as a command that timed out. The thread is
//! woken by each change, and brings it to log and user space ([`status`]). It keeps the first
//! failure ([`evidence`]); what the buffer held before the first command is apart ([`leftover`]).
//!
//! # Glossary
//!
//! | word | meaning |
//! |---|---|
//! | health counter | a register that firmware advances as long as it runs |
//! | health buffer | 64 bytes that firmware fills when it fails; one for all functions of a card |
//! | synd, ext_synd | syndrome: what failed, and firmware's own number for it |
//! | rfr | "request for reset": firmware cannot go on without one |
//! | irisc | an embedded processor of the card |
//!
//! # Lock order
//!
//! A mutex says whether readings count; only this thread, and who starts or stops a run, take it.
//! Under it come spinlocks, around the record, the evidence, and what sensors told; under the last
//! of these come those of the device's state, and none of the others under another.

mod alarms;
mod clear;
mod events;
mod files;
mod readings;
mod record;
mod thread;

#[allow(
    unreachable_pub,
    reason = "the file is public in the crate on the host that includes it"
)]
mod evidence;
#[allow(
    unreachable_pub,
    reason = "the file is public in the crate on the host that includes it"
)]
mod leftover;

#[allow(
    unreachable_pub,
    reason = "the file is public in the crate on the host that includes it"
)]
mod machine;
#[allow(
    unreachable_pub,
    reason = "the file is public in the crate on the host that includes it"
)]
mod modules;
#[allow(
    unreachable_pub,
    reason = "the file is public in the crate on the host that includes it"
)]
mod period;
#[allow(
    unreachable_pub,
    reason = "the file is public in the crate on the host that includes it"
)]
mod render;
#[allow(
    unreachable_pub,
    reason = "the file is public in the crate on the host that includes it"
)]
mod status;

pub(crate) use self::{
    clear::clear_leftover,
    events::subscribe,
    files::Files,
    record::Record, //
};

use self::thread::Watch;
use crate::{
    device::{
        InitSegment,
        Registration,
        State, //
    },
    kernel_ext::{
        kthread::Kthread,
        scope::Scope, //
    },
};
use kernel::{
    prelude::*,
    sync::Arc, //
};

/// A run of the function that is being judged; readings do not count any more when this is dropped.
///
/// While the function is reset they would only tell that it is.
pub(crate) struct Judging {
    record: Arc<Record>,
}

impl Judging {
    /// Begins to judge, with nothing known.
    ///
    /// To be called once firmware has started and knows that this driver is there, since
    /// nic_interface counts from the first reading on.
    pub(crate) fn begin(record: &Arc<Record>) -> Self {
        record.set_judging(true);
        Self {
            record: record.clone(),
        }
    }
}

impl Drop for Judging {
    fn drop(&mut self) {
        self.record.set_judging(false);
    }
}

/// The watch over a function's health; dropping it ends the watch.
pub(crate) struct Health<'bound> {
    _registration: Registration,
    _thread: Kthread<'bound, Watch<'bound>>,
    record: Arc<Record>,
}

impl<'bound> Health<'bound> {
    /// Starts the watch, which judges nothing before [`Judging::begin`].
    ///
    /// # Errors
    ///
    /// [`ENOMEM`] without memory, [`EINTR`] if the calling process is being killed.
    pub(crate) fn start(
        scope: Scope<'bound>,
        init_segment: &Arc<InitSegment<'bound>>,
        state: &Arc<State>,
    ) -> Result<Self> {
        let record = Arc::pin_init(Record::new(state.clone()), GFP_KERNEL)?;
        let watch = Watch::new(scope, init_segment.clone(), state.clone(), record.clone());
        let name = scope.dev().name();

        Ok(Self {
            _registration: state.add_waiter(record.clone())?,
            _thread: Kthread::spawn(
                scope,
                fmt!("prm_health@{name}"),
                Arc::new(watch, GFP_KERNEL)?,
            )?,
            record,
        })
    }

    /// What is shown of the health.
    pub(crate) fn record(&self) -> &Arc<Record> {
        &self.record
    }
}
