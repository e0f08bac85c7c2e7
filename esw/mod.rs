// SPDX-License-Identifier: GPL-2.0

//! E-switch functions: the hosts behind an embedded switch, their VFs and SFs.
//!
//! Only the switch's manager may ask (QUERY_ESW_FUNCTIONS), and it asks only when there is a
//! reason: once at the start, after an event ESW_FUNCTIONS_CHANGED, and when somebody writes to
//! `esw/refresh`. It never polls, so each snapshot is shown with its age and with the number of
//! events that came before and after it: what is stale can be told.
//!
//! ```text
//!   event (interrupt thread) -- counts, wakes --> thread -- command --> snapshot --> history
//! ```
//!
//! Events that come while a query is under way lead to one more query, not to one each.
//!
//! # Glossary
//!
//! | word | meaning |
//! |---|---|
//! | ECPF | function of the processor on a BlueField card; manages the switch |
//! | host PF, VF | physical and virtual functions that the machine around the card sees |
//! | SF | scalable function: a slice of a PF that is no PCI function |
//! | vport | a function's port at the switch |
//! | vhca_id | number of a function in the device |
//!
//! # Lock order
//!
//! There is one lock here, a mutex around the snapshots; nothing is locked under it.

mod files;
mod record;
mod taken;
mod thread;

#[allow(
    unreachable_pub,
    reason = "the file is public in the crate on the host that includes it"
)]
mod diff;
#[allow(
    unreachable_pub,
    reason = "the file is public in the crate on the host that includes it"
)]
mod render;
#[allow(
    unreachable_pub,
    reason = "the file is public in the crate on the host that includes it"
)]
mod snapshot;
#[allow(
    unreachable_pub,
    reason = "the file is public in the crate on the host that includes it"
)]
mod support;

pub(crate) use self::{
    files::Files,
    record::Record, //
};

use self::thread::Inquirer;
use crate::{
    cmd,
    kernel_ext::kthread::Kthread, //
};
use kernel::{
    prelude::*,
    sync::Arc, //
};

/// The thread that asks for the functions of the hosts; dropping it ends that.
pub(crate) struct Esw<'bound> {
    /// [`None`] if the function does not have the command.
    _thread: Option<Kthread<'bound, Inquirer<'bound>>>,
}

impl<'bound> Esw<'bound> {
    /// Asks for the first time, and starts the thread, if the function has the command at all.
    ///
    /// A first query that fails is shown and does not keep the function from being used. To be
    /// called with events at work: [`Record::subscription`] goes to the event queues before.
    ///
    /// # Errors
    ///
    /// [`ENOMEM`] without memory, [`EINTR`] if the calling process is being killed.
    pub(crate) fn start(commands: &Arc<cmd::Queue<'bound>>, record: &Arc<Record>) -> Result<Self> {
        if !record.supported() {
            return Ok(Self { _thread: None });
        }

        let scope = commands.scope();
        let name = scope.dev().name();
        let inquirer = Inquirer::new(commands.clone(), record.clone());
        inquirer.first();

        Ok(Self {
            _thread: Some(Kthread::spawn(
                scope,
                fmt!("prm_esw@{name}"),
                Arc::new(inquirer, GFP_KERNEL)?,
            )?),
        })
    }
}
