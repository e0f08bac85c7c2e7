// SPDX-License-Identifier: GPL-2.0

//! One function of a card: what is started for it, and in which order it is stopped.

mod parameters;
mod place;
mod recovery;
mod run;
mod summary;

pub(crate) use parameters::check as check_parameters;

use self::{
    parameters::Parameters,
    place::Place,
    recovery::Recovery,
    run::{
        Common,
        Run, //
    },
    summary::Summary, //
};
use crate::{
    cmd::{
        self,
        pages::Accounts, //
    },
    device::{
        InitSegment,
        State, //
    },
    eq,
    esw,
    health::{
        self,
        Health, //
    },
    kernel_ext::{
        debugfs::{
            Dir,
            Root, //
        },
        pci::{
            self as pci_ext,
            is_virtual_function,
            may_do_dma, //
        },
        scope::Scope, //
    }, //
};
use kernel::{
    device::Core,
    pci,
    prelude::*,
    sync::{
        atomic::{
            Atomic,
            Relaxed, //
        },
        Arc, //
    }, //
};

/// What kind of function a PCI id belongs to.
///
/// The id has to tell: a VF that was handed to a virtual machine is an ordinary function there,
/// without the kernel's mark of a VF.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) enum Kind {
    /// A physical function.
    Physical,
    /// A virtual function.
    Virtual,
}

/// A function that is driven.
///
/// Fields are dropped from the first to the last.
pub(crate) struct Function<'bound> {
    /// Ends an attempt that is under way, and the waits for it.
    _recovery: Recovery<'bound>,
    /// Nobody reads or writes a file any more once these are gone.
    _files: Option<Files<'bound>>,
    /// All that the device was told is undone.
    _running: Running<'bound>,
    /// The watch over firmware's health.
    _health: Health<'bound>,
    /// With it, BAR 0 and the PCI function, if nobody else has it any more.
    _place: Arc<Place<'bound>>,
}

/// Stops the run when dropped.
struct Running<'bound>(Arc<Place<'bound>>);

impl Drop for Running<'_> {
    fn drop(&mut self) {
        self.0.stop();
    }
}

/// The function's directory in debugfs, with one directory a chapter.
struct Files<'bound> {
    _cmd: cmd::Files<'bound>,
    _eq: eq::Files,
    _esw: esw::Files,
    _health: health::Files,
    _recovery: recovery::Files,
    _caps: Dir,
    _top: Dir,
}

impl<'bound> Function<'bound> {
    /// Starts a function; `kind` is [`None`] for an id that the user has added.
    ///
    /// # Errors
    ///
    /// Whatever stops it from working; the log says which step failed, and what was expected.
    pub(crate) fn start(pdev: &'bound pci::Device<Core<'_>>, kind: Option<&Kind>) -> Result<Self> {
        // SAFETY: `'bound` is the lifetime of `pci::Driver::probe()`, which calls this.
        let scope = unsafe { Scope::new(pdev)? };
        let parameters = Parameters::read();

        let pci = Arc::new(pci_ext::Enabled::new(scope, pdev)?, GFP_KERNEL)?;
        let init_segment = Arc::new(InitSegment::map(scope)?, GFP_KERNEL)?;
        let state = Arc::pin_init(State::new(), GFP_KERNEL)?;
        let health = Health::start(scope, &init_segment, &state)?;
        let common = Common {
            scope,
            init_segment,
            // The watch still has BAR 0 if the start fails.
            pci: pci.clone(),
            state,
            commands: cmd::Log::new(parameters.command_timeout_ms)?,
            pages: Arc::pin_init(Accounts::new(parameters.max_pages), GFP_KERNEL)?,
            events: eq::Record::new()?,
            health: health.record().clone(),
            virtual_function: kind == Some(&Kind::Virtual) || is_virtual_function(pdev),
            left_running: Atomic::new(false),
            parameters,
        };
        let auto = common.parameters.recovery_auto;
        let run = first_run(pdev, &common)?;
        let place = Place::new(common, run)?;

        let running = Running(place.clone());
        let recovery = Recovery::start(&place, auto)?;
        // A driver works without debugfs, though this one has little else to offer.
        let files = Files::new(&place, recovery.record())
            .inspect_err(|error| {
                dev_err!(scope.dev(), "no debugfs files: {}\n", error.to_errno());
            })
            .ok();

        Ok(Self {
            _recovery: recovery,
            _files: files,
            _running: running,
            _health: health,
            _place: place,
        })
    }
}

impl<'bound> Files<'bound> {
    fn new(place: &Arc<Place<'bound>>, recovery: &Arc<recovery::Record>) -> Result<Self> {
        let Common {
            scope,
            state,
            commands,
            pages,
            events,
            health,
            virtual_function,
            ..
        } = place.common();
        let top = Root::subdir(scope.dev().name())?;

        let health_files = health::Files::new(&top, health)?;
        let esw = esw::Files::new(&top, place.functions())?;
        top.read_file(c"pages", pages.clone(), |pages, w| Ok(pages.show(w)?))?;
        let summary = Summary {
            virtual_function: *virtual_function,
            facts: place.facts().clone(),
            state: state.clone(),
            caps: place.caps().clone(),
            pages: pages.clone(),
            commands: commands.clone(),
            health: health.clone(),
            functions: place.functions().clone(),
            recovery: recovery.clone(),
        };
        top.read_file(c"summary", Arc::new(summary, GFP_KERNEL)?, |summary, w| {
            Ok(summary.show(w)?)
        })?;
        let caps_dir = top.subdir(c"caps")?;
        place.caps().files(&caps_dir)?;

        Ok(Self {
            _cmd: cmd::Files::new(*scope, &top, commands, place.gate())?,
            _eq: eq::Files::new(&top, events)?,
            _esw: esw,
            _health: health_files,
            _recovery: recovery::Files::new(&top, recovery)?,
            _caps: caps_dir,
            _top: top,
        })
    }
}

/// Starts the first run, with a reset before it if somebody has left the function running: a driver
/// that died with its kernel, or was taken away without having stopped it.
///
/// That shows in two ways: the function may access memory although no driver has it, or it refuses
/// its first command since it is not in the state for it.
fn first_run<'bound>(pdev: &pci::Device<Core<'_>>, common: &Common<'bound>) -> Result<Run<'bound>> {
    let dev = common.scope.dev();
    let canceled = || {
        if kernel::current!().signal_pending() {
            return Err(EINTR);
        }
        Ok(())
    };
    let reset = || {
        common
            .pci
            .reset_in_probe(pdev)
            .inspect_err(|error| dev_warn!(dev, "it cannot be reset ({})\n", error.to_errno()))
    };

    if may_do_dma(pdev)? {
        dev_warn!(
            dev,
            "bus mastering is on although no driver has the function: it is reset first\n"
        );
        // What cannot be reset may work all the same.
        let _ = reset();
    }
    match Run::start(common, None, &canceled) {
        Err(_) if common.left_running.load(Relaxed) => {
            dev_warn!(
                dev,
                "the function is not in its initial state: it is reset, and started again\n"
            );
            reset()?;
            Run::start(common, None, &canceled)
        }
        result => result,
    }
}
