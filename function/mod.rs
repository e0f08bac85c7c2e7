// SPDX-License-Identifier: GPL-2.0

//! One function of a card: what is started for it, and in which order it is stopped.

mod parameters;
mod summary;

pub(crate) use parameters::check as check_parameters;

use self::{
    parameters::Parameters,
    summary::{
        FirmwareVersion,
        Summary, //
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
        pages::Pages,
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
        Health, //
    },
    kernel_ext::{
        debugfs::{
            Dir,
            Root, //
        },
        pci::{
            self as pci_ext,
            is_virtual_function, //
        },
        scope::Scope, //
    },
    objects::Uar,
    prm::{
        access_reg::Dtor,
        iseg,
        layout::Layout,
        pages::QueryPagesMod, //
    },
};
use kernel::{
    device::Core,
    pci,
    prelude::*,
    sync::Arc,
    time::Delta, //
};
use zerocopy::IntoBytes;

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
/// The fields stand in the reverse order of the start, and are dropped from the first to the last:
/// each undoes what its making did. A start that fails half-way drops what it has made in the same
/// order. So this is the one place that says what stops when.
pub(crate) struct Function<'bound> {
    /// Nobody reads or writes a file any more once these are gone.
    _files: Option<Files<'bound>>,
    /// The thread that asks for the functions of the hosts.
    _esw: Esw<'bound>,
    /// DESTROY_EQ for each queue; commands are polled again after that.
    _events: Events<'bound>,
    /// DEALLOC_UAR.
    _uar: Arc<Uar<'bound>>,
    /// TEARDOWN_HCA.
    _initialized: Initialized<'bound>,
    /// MANAGE_PAGES until firmware has no page left.
    _given_pages: GivenPages<'bound>,
    /// The watch over firmware's health: until here a firmware that dies ends all waits.
    _health: Health<'bound>,
    /// DISABLE_HCA.
    _enabled: Enabled<'bound>,
    /// No access to memory from here on; what firmware kept of it is freed.
    _cut_off: CutOff<'bound>,
    /// The command queue's memory.
    _commands: Arc<cmd::Queue<'bound>>,
    /// BAR 0.
    _init_segment: Arc<InitSegment<'bound>>,
    /// The PCI function.
    _pci: Arc<pci_ext::Enabled<'bound>>,
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

/// The function's directory in debugfs, with one directory a chapter.
struct Files<'bound> {
    _cmd: cmd::Files<'bound>,
    _eq: eq::Files,
    _esw: esw::Files,
    _health: health::Files,
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
        let dev = scope.dev();
        let parameters = Parameters::read();
        let virtual_function = kind == Some(&Kind::Virtual) || is_virtual_function(pdev);

        let pci = Arc::new(pci_ext::Enabled::new(scope, pdev)?, GFP_KERNEL)?;
        pdev.set_master();
        let init_segment = Arc::new(InitSegment::map(scope)?, GFP_KERNEL)?;
        let state = Arc::pin_init(State::new(), GFP_KERNEL)?;

        wait_for_firmware(scope, &init_segment, parameters.init_timeout)?;
        let commands = cmd::Queue::new(
            scope,
            init_segment.clone(),
            state.clone(),
            parameters.command_timeout_ms,
        )?;
        // Firmware may start anew when it learns of the queue.
        wait_for_firmware(scope, &init_segment, parameters.init_timeout)?;
        let timeouts: iseg::Timeouts = init_segment.read();
        if let Some(limit) = timeouts
            .cmd_exec_to()
            .millis()
            .filter(|_| !parameters.command_timeout_is_chosen)
        {
            commands.set_timeout_ms(limit);
        }

        let embedded_cpu = init_segment.read::<iseg::State>().embedded_cpu();
        let pages = Arc::pin_init(
            Pages::new(commands.clone(), embedded_cpu, parameters.max_pages),
            GFP_KERNEL,
        )?;
        let cut_off = CutOff {
            pci: pci.clone(),
            pages: pages.clone(),
        };
        let enabled = Enabled::new(&commands, embedded_cpu)?;
        let health = Health::start(scope, &init_segment, &state)?;
        let given_pages = GivenPages(pages.clone());
        let issi = start::set_issi(&commands)?;
        pages.satisfy(QueryPagesMod::BOOT)?;

        if !virtual_function {
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
        let functions = Arc::pin_init(
            esw::Record::new(&caps, &init_segment.read(), commands.timeout_ms()),
            GFP_KERNEL,
        )?;
        let mut subscriptions = KVec::new();
        if let Some(subscription) = functions.subscription() {
            subscriptions.push(subscription, GFP_KERNEL)?;
        }
        let events = Events::start(&commands, &uar, &pages, &general, subscriptions)?;
        let esw = Esw::start(&commands, &functions)?;

        let summary = Summary {
            firmware: firmware_version(&init_segment),
            issi,
            embedded_cpu,
            virtual_function,
            state,
            caps: caps.clone(),
            pages: pages.accounts().clone(),
            commands: commands.log().clone(),
            health: health.record().clone(),
            functions,
        };
        // A driver works without debugfs, though this one has little else to offer.
        let files = Files::new(scope, summary, &caps, &commands, &events)
            .inspect_err(|error| {
                dev_err!(dev, "no debugfs files: {}\n", error.to_errno());
            })
            .ok();

        dev_info!(
            dev,
            "started: firmware {}, {} pages given\n",
            firmware_version(&init_segment),
            pages.accounts().held()
        );
        Ok(Self {
            _files: files,
            _esw: esw,
            _events: events,
            _uar: uar,
            _initialized: initialized,
            _given_pages: given_pages,
            _health: health,
            _enabled: enabled,
            _cut_off: cut_off,
            _commands: commands,
            _init_segment: init_segment,
            _pci: pci,
        })
    }
}

impl<'bound> Files<'bound> {
    fn new(
        scope: Scope<'bound>,
        summary: Summary,
        caps: &Arc<Caps>,
        commands: &Arc<cmd::Queue<'bound>>,
        events: &Events<'_>,
    ) -> Result<Self> {
        let top = Root::subdir(scope.dev().name())?;

        let health = health::Files::new(&top, &summary.health)?;
        let esw = esw::Files::new(&top, &summary.functions)?;
        top.read_file(c"pages", summary.pages.clone(), |pages, w| {
            Ok(pages.show(w)?)
        })?;
        top.read_file(c"summary", Arc::new(summary, GFP_KERNEL)?, |summary, w| {
            Ok(summary.show(w)?)
        })?;
        let caps_dir = top.subdir(c"caps")?;
        caps.files(&caps_dir)?;

        Ok(Self {
            _cmd: cmd::Files::new(&top, commands)?,
            _eq: eq::Files::new(&top, events)?,
            _esw: esw,
            _health: health,
            _caps: caps_dir,
            _top: top,
        })
    }
}

/// Waits until firmware has started.
fn wait_for_firmware(scope: Scope<'_>, init_segment: &InitSegment<'_>, limit: Delta) -> Result {
    init_segment
        .wait_until_initialized(limit)
        .inspect_err(|error| {
            let state: iseg::State = init_segment.read();
            // CAST: The last word of the value is the register itself.
            let word = u32::from_be_bytes(*state.as_bytes().first_chunk().unwrap_or(&[0; 4]));

            if *error == ENODEV {
                dev_err!(
                    scope.dev(),
                    "the device does not answer: all reads of BAR 0 are ones; \
                     is it in reset, or has it fallen off the bus?\n"
                );
            } else if *error == EINTR {
                dev_err!(
                    scope.dev(),
                    "stopped by a signal while waiting for firmware to start \
                     (register {:#x} is {word:#x})\n",
                    iseg::State::TABLE.base
                );
            } else {
                dev_err!(
                    scope.dev(),
                    "firmware is still initializing after {} ms (register {:#x} is {word:#x}, \
                     expected bit 31 to be 0): look at the firmware's own log, or give it more \
                     time by the parameter init_timeout_ms\n",
                    limit.as_millis_ceil(),
                    iseg::State::TABLE.base
                );
            }
        })
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
