// SPDX-License-Identifier: GPL-2.0

//! One run of a function: what is started from the first command on, and is gone with a reset.
//!
//! A function has one run after the other, with a reset between them. What goes on from one to the
//! next (the device, what is shown, what is counted) is in [`Common`].

use super::{
    parameters::Parameters,
    summary::{
        Facts,
        FirmwareVersion, //
    }, //
};
use crate::{
    cmd::{
        self,
        access_reg,
        caps::{
            self,
            Caps, //
        },
        pages::{
            Accounts,
            Pages, //
        },
        start::{
            self,
            Enabled,
            Initialized, //
        }, //
    },
    device::{
        InitSegment,
        State, //
    },
    eq::{
        self,
        Events, //
    },
    esw::{
        self,
        Esw, //
    },
    health::{
        self,
        Judging, //
    },
    kernel_ext::{
        pci as pci_ext,
        scope::Scope, //
    },
    objects::Uar,
    prm::{
        access_reg::Dtor,
        iseg,
        layout::Layout,
        pages::QueryPagesMod,
        status::Status, //
    },
};
use kernel::{
    prelude::*,
    sync::{
        atomic::{
            Atomic,
            Relaxed, //
        },
        Arc, //
    }, //
};
use zerocopy::IntoBytes;

/// What all runs of a function have in common.
pub(super) struct Common<'bound> {
    pub(super) scope: Scope<'bound>,
    pub(super) init_segment: Arc<InitSegment<'bound>>,
    /// After BAR 0, whose mapping it has to outlive.
    pub(super) pci: Arc<pci_ext::Enabled<'bound>>,
    pub(super) state: Arc<State>,
    pub(super) parameters: Parameters,
    pub(super) virtual_function: bool,
    pub(super) commands: Arc<cmd::Log>,
    pub(super) pages: Arc<Accounts>,
    pub(super) events: eq::Record,
    pub(super) health: Arc<health::Record>,
    /// The function has refused its first command, since it is not in the state for it.
    pub(super) left_running: Atomic<bool>,
}

impl Common<'_> {
    /// Waits until firmware takes commands, or until `canceled` fails.
    ///
    /// # Errors
    ///
    /// Those of [`InitSegment::wait_until_initialized`]; the log says so too.
    pub(super) fn wait_for_firmware(&self, canceled: &dyn Fn() -> Result) -> Result {
        let limit = self.parameters.init_timeout;

        self.init_segment
            .wait_until_initialized(limit, canceled)
            .inspect_err(|error| {
                let state: iseg::State = self.init_segment.read();
                // CAST: The last word of the value is the register itself.
                let word = u32::from_be_bytes(*state.as_bytes().first_chunk().unwrap_or(&[0; 4]));

                if *error == ENODEV {
                    dev_err!(
                        self.scope.dev(),
                        "the device does not answer: all reads of BAR 0 are ones; \
                         is it in reset, or has it fallen off the bus?\n"
                    );
                } else if *error == EINTR || *error == ECANCELED {
                    dev_err!(
                        self.scope.dev(),
                        "stopped while waiting for firmware to start \
                         (register {:#x} is {word:#x})\n",
                        iseg::State::TABLE.base
                    );
                } else {
                    dev_err!(
                        self.scope.dev(),
                        "firmware is still initializing after {} ms (register {:#x} is {word:#x}, \
                         expected bit 31 to be 0): look at the firmware's own log, or give it more \
                         time by the parameter init_timeout_ms\n",
                        limit.as_millis_ceil(),
                        iseg::State::TABLE.base
                    );
                }
            })
    }
}

/// A run of a function.
///
/// The fields stand in the reverse order of the start, and are dropped from the first to the last:
/// each undoes what its making did. A start that fails half-way drops what it has made in the same
/// order. So this is the one place that says what stops when.
pub(super) struct Run<'bound> {
    /// The thread that asks for the functions of the hosts.
    _esw: Option<Esw<'bound>>,
    /// DESTROY_EQ for each queue; commands are polled again after that.
    _events: Events<'bound>,
    /// DEALLOC_UAR.
    _uar: Arc<Uar<'bound>>,
    /// TEARDOWN_HCA.
    _initialized: Initialized<'bound>,
    /// MANAGE_PAGES until firmware has no page left.
    _given_pages: GivenPages<'bound>,
    /// Until here a firmware that dies ends all waits.
    _judging: Judging,
    /// DISABLE_HCA.
    _enabled: Enabled<'bound>,
    /// No access to memory from here on; what firmware kept of it is freed.
    _cut_off: CutOff<'bound>,
    /// The command queue's memory.
    pub(super) commands: Arc<cmd::Queue<'bound>>,
    /// What the device said about itself.
    pub(super) facts: Facts,
    pub(super) caps: Arc<Caps>,
    pub(super) functions: Arc<esw::Record>,
}

/// Pages that firmware has been given for its own work; taken back when dropped.
struct GivenPages<'bound>(Arc<Pages<'bound>>);

impl Drop for GivenPages<'_> {
    fn drop(&mut self) {
        self.0.reclaim();
    }
}

/// Ends the function's access to memory when dropped.
struct CutOff<'bound> {
    pci: Arc<pci_ext::Enabled<'bound>>,
    pages: Arc<Pages<'bound>>,
}

impl Drop for CutOff<'_> {
    fn drop(&mut self) {
        self.pci.stop_dma();
        self.pages.abandon();
    }
}

impl<'bound> Run<'bound> {
    /// Starts the function from the first command on.
    ///
    /// `functions` is what is known of the e-switch functions from the run before, if there was
    /// one. Waits for firmware end when `canceled` fails, those for commands when the state gets
    /// worse.
    ///
    /// # Errors
    ///
    /// Whatever stops it from working; the log says which step failed, and what was expected.
    pub(super) fn start(
        common: &Common<'bound>,
        functions: Option<&Arc<esw::Record>>,
        canceled: &dyn Fn() -> Result,
    ) -> Result<Self> {
        let Common {
            scope,
            pci,
            init_segment,
            state,
            parameters,
            ..
        } = common;

        pci.start_dma();
        let no_dma = NoDma(pci);
        common.wait_for_firmware(canceled)?;
        let commands = cmd::Queue::new(
            *scope,
            init_segment.clone(),
            state.clone(),
            common.commands.clone(),
        )?;
        // Firmware may start anew when it learns of the queue.
        common.wait_for_firmware(canceled)?;
        let timeouts: iseg::Timeouts = init_segment.read();
        // What was set later holds.
        if let Some(limit) = timeouts
            .cmd_exec_to()
            .millis()
            .filter(|_| functions.is_none() && !parameters.command_timeout_is_chosen)
        {
            commands.set_timeout_ms(limit);
        }

        let embedded_cpu = init_segment.read::<iseg::State>().embedded_cpu();
        let pages = Arc::pin_init(
            Pages::new(commands.clone(), embedded_cpu, common.pages.clone()),
            GFP_KERNEL,
        )?;
        let cut_off = CutOff {
            pci: pci.clone(),
            pages: pages.clone(),
        };
        // From here on that ends it.
        core::mem::forget(no_dma);
        health::clear_leftover(*scope, init_segment, &common.health);
        let enabled = Enabled::new(&commands, embedded_cpu).inspect_err(|error| {
            let is_state = matches!(error.refused(), Some((Status::BAD_SYSTEM_STATE, _)));
            common.left_running.store(is_state, Relaxed);
        })?;
        let judging = Judging::begin(&common.health);
        let given_pages = GivenPages(pages.clone());
        let issi = start::set_issi(&commands)?;
        pages.satisfy(QueryPagesMod::BOOT)?;

        if !common.virtual_function {
            start::set_host_endianness(&commands)?;
        }
        caps::choose(&commands, parameters.checksum)?;
        pages.satisfy(QueryPagesMod::INIT)?;
        let initialized = Initialized::new(&commands)?;

        let caps = Arc::new(Caps::read(&commands)?, GFP_KERNEL)?;
        let general = caps.general();
        if general.driver_version() {
            start::set_driver_version(&commands)?;
        }
        if general.dtor() {
            let mut dtor = Dtor::new();
            access_reg::read(&commands, 0, &mut dtor)?;
            if let Some(limit) = dtor.reclaim_pages_to().millis() {
                pages.set_reclaim_ms(limit);
            }
        }

        let uar = Arc::new(Uar::new(&commands)?, GFP_KERNEL)?;
        let device: iseg::State = init_segment.read();
        let functions = match functions {
            Some(functions) => functions.clone(),
            None => Arc::pin_init(
                esw::Record::new(&caps, &device, state.clone(), commands.timeout_ms()),
                GFP_KERNEL,
            )?,
        };
        let fits = functions.fits(&caps, &device);
        if !fits {
            dev_warn!(
                scope.dev(),
                "the e-switch's capabilities have changed with the reset: its functions are asked \
                 for again when the driver is bound anew\n"
            );
        }
        let mut subscriptions = KVec::new();
        if let Some(subscription) = functions.subscription().filter(|_| fits) {
            subscriptions.push(subscription, GFP_KERNEL)?;
        }
        health::subscribe(*scope, &common.health, &general, &mut subscriptions)?;
        let events = Events::start(
            &commands,
            &uar,
            &pages,
            &general,
            &common.events,
            subscriptions,
        )?;
        let esw = if fits {
            Some(Esw::start(&commands, &functions)?)
        } else {
            None
        };

        let facts = Facts {
            firmware: firmware_version(init_segment),
            issi,
            embedded_cpu,
        };
        dev_info!(
            scope.dev(),
            "started: firmware {}, {} pages given\n",
            facts.firmware,
            common.pages.held()
        );
        Ok(Self {
            _esw: esw,
            _events: events,
            _uar: uar,
            _initialized: initialized,
            _given_pages: given_pages,
            _judging: judging,
            _enabled: enabled,
            _cut_off: cut_off,
            commands,
            facts,
            caps,
            functions,
        })
    }
}

/// Ends the function's access to memory when dropped, before there are pages.
struct NoDma<'a, 'bound>(&'a pci_ext::Enabled<'bound>);

impl Drop for NoDma<'_, '_> {
    fn drop(&mut self) {
        self.0.stop_dma();
    }
}

/// The version that the init segment tells.
fn firmware_version(init_segment: &InitSegment<'_>) -> FirmwareVersion {
    let revision: iseg::FirmwareRevision = init_segment.read();
    let interface: iseg::CommandInterface = init_segment.read();

    FirmwareVersion {
        major: revision.fw_rev_major(),
        minor: revision.fw_rev_minor(),
        subminor: interface.fw_rev_subminor(),
    }
}
