// SPDX-License-Identifier: GPL-2.0

//! One screen that tells what the card is and whether it is well.

use super::recovery;
use crate::{
    cmd::{
        self,
        caps::Shown,
        pages::Accounts, //
    },
    device::State,
    esw,
    health,
    kernel_ext::fmt::kernel_display,
    prm::caps::PortType, //
};
use core::fmt;
use kernel::{
    new_mutex,
    prelude::*,
    sync::{
        Arc,
        Mutex, //
    }, //
};

/// Firmware's version, as the init segment has it.
#[derive(Clone, Copy)]
pub(super) struct FirmwareVersion {
    pub(super) major: u16,
    pub(super) minor: u16,
    pub(super) subminor: u16,
}

/// Prints it in the vendor's form: the last number has four digits.
impl fmt::Display for FirmwareVersion {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}.{}.{:04}", self.major, self.minor, self.subminor)
    }
}

kernel_display!(FirmwareVersion);

/// What the device said about itself in one run.
#[derive(Clone, Copy)]
pub(super) struct Facts {
    pub(super) firmware: FirmwareVersion,
    pub(super) issi: u16,
    pub(super) embedded_cpu: bool,
}

/// What the device said last.
#[pin_data]
pub(super) struct LastFacts {
    #[pin]
    facts: Mutex<Facts>,
}

impl LastFacts {
    pub(super) fn new(facts: Facts) -> impl PinInit<Self> {
        pin_init!(Self {
            facts <- new_mutex!(facts),
        })
    }

    pub(super) fn replace(&self, facts: Facts) {
        *self.facts.lock() = facts;
    }

    pub(super) fn get(&self) -> Facts {
        *self.facts.lock()
    }
}

/// What the summary is made of.
pub(super) struct Summary {
    pub(super) virtual_function: bool,
    pub(super) facts: Arc<LastFacts>,
    pub(super) state: Arc<State>,
    pub(super) caps: Arc<Shown>,
    pub(super) pages: Arc<Accounts>,
    pub(super) commands: Arc<cmd::Log>,
    pub(super) health: Arc<health::Record>,
    pub(super) functions: Arc<esw::Record>,
    pub(super) recovery: Arc<recovery::Record>,
}

impl Summary {
    /// Prints the summary, as `name: value` lines.
    pub(super) fn show(&self, w: &mut dyn fmt::Write) -> fmt::Result {
        let general = self.caps.get().general();
        let facts = self.facts.get();
        let kind = match (facts.embedded_cpu, self.virtual_function) {
            (true, _) => "embedded CPU function",
            (false, true) => "virtual function",
            (false, false) => "physical function",
        };
        let port_type = PortType(general.port_type());

        writeln!(w, "state: {}", self.state.condition())?;
        writeln!(w, "module_version: {}", crate::VERSION)?;
        writeln!(w, "firmware: {}", facts.firmware)?;
        writeln!(w, "function: {kind}, vhca_id {:#x}", general.vhca_id())?;
        writeln!(w, "issi: {}", facts.issi)?;
        writeln!(
            w,
            "ports: {} ({})",
            general.num_ports(),
            port_type.name().unwrap_or("unknown type")
        )?;
        writeln!(
            w,
            "eswitch_manager: {}",
            u8::from(general.eswitch_manager())
        )?;
        self.commands.summary(w)?;
        writeln!(w, "pages: {} held by firmware", self.pages.held())?;
        self.health.summary(w)?;
        self.recovery.summary(w)?;
        self.functions.summary(w)
    }
}
