// SPDX-License-Identifier: GPL-2.0

//! Where the run of a function has its place, and what has to be told when one comes or goes.

use super::{
    run::{
        Common,
        Run, //
    },
    summary::LastFacts, //
};
use crate::{
    cmd::{
        caps::Shown,
        Gate, //
    },
    esw, //
};
use kernel::{
    new_mutex,
    prelude::*,
    sync::{
        Arc,
        Mutex, //
    }, //
};

/// The place of the run, and what of it is shown.
#[pin_data]
pub(super) struct Place<'bound> {
    common: Common<'bound>,
    gate: Arc<Gate<'bound>>,
    caps: Arc<Shown>,
    functions: Arc<esw::Record>,
    facts: Arc<LastFacts>,
    #[pin]
    run: Mutex<Option<Run<'bound>>>,
}

impl<'bound> Place<'bound> {
    /// Makes the place of the first run, which was started with `common`.
    ///
    /// # Errors
    ///
    /// [`ENOMEM`] without memory; the run is stopped then.
    pub(super) fn new(common: Common<'bound>, run: Run<'bound>) -> Result<Arc<Self>> {
        let gate = Arc::pin_init(Gate::new(common.state.clone()), GFP_KERNEL)?;

        let caps = Arc::pin_init(Shown::new(run.caps.clone()), GFP_KERNEL)?;
        let facts = Arc::pin_init(LastFacts::new(run.facts), GFP_KERNEL)?;
        let functions = run.functions.clone();
        gate.open(run.commands.clone());
        Arc::pin_init(
            pin_init!(Self {
                common,
                gate,
                caps,
                functions,
                facts,
                run <- new_mutex!(Some(run)),
            }),
            GFP_KERNEL,
        )
    }

    /// What all runs have in common.
    pub(super) fn common(&self) -> &Common<'bound> {
        &self.common
    }

    /// The way to the command queue.
    pub(super) fn gate(&self) -> &Arc<Gate<'bound>> {
        &self.gate
    }

    /// The capabilities that were read last.
    pub(super) fn caps(&self) -> &Arc<Shown> {
        &self.caps
    }

    /// The e-switch functions.
    pub(super) fn functions(&self) -> &Arc<esw::Record> {
        &self.functions
    }

    /// What the device said about itself last.
    pub(super) fn facts(&self) -> &Arc<LastFacts> {
        &self.facts
    }

    /// Starts another run, after a reset; there is none now.
    ///
    /// # Errors
    ///
    /// Those of [`Run::start`].
    pub(super) fn restart(&self, canceled: &dyn Fn() -> Result) -> Result {
        let run = Run::start(&self.common, Some(&self.functions), canceled)?;
        let commands = run.commands.clone();

        self.caps.replace(run.caps.clone());
        self.facts.replace(run.facts);
        *self.run.lock() = Some(run);
        self.gate.open(commands);
        Ok(())
    }

    /// Stops the run, if there is one: users leave, then everything is undone as far as the
    /// function is alive.
    pub(super) fn stop(&self) {
        self.gate.close();
        // Not under the lock: this takes commands.
        let run = self.run.lock().take();
        drop(run);
    }
}
