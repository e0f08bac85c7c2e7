// SPDX-License-Identifier: GPL-2.0

//! What events tell of the modules in the ports, and of temperatures.

use core::fmt;

use crate::prm::event::{
    ModuleError,
    ModuleStatus,
    PortModule,
    TemperatureWarning, //
};

/// Modules that are told apart; a card has a few.
pub const MODULES: usize = 16;

/// What is known of one module.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Module {
    /// Its state.
    pub status: ModuleStatus,
    /// What is wrong, if its state is an error.
    pub error: ModuleError,
}

impl Module {
    /// Takes it from an event.
    pub fn of(event: &PortModule) -> Self {
        Self {
            status: ModuleStatus(event.module_status()),
            error: ModuleError(event.error_type()),
        }
    }

    /// Whether the module reports an error.
    pub fn has_error(&self) -> bool {
        self.status == ModuleStatus::ERROR
    }
}

/// Prints the state, and what is wrong with a module that has an error.
impl fmt::Display for Module {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(
            f,
            "{} ({})",
            self.status.name().unwrap_or("unknown state"),
            self.status.0
        )?;
        if self.has_error() {
            write!(
                f,
                ", {} ({:#x})",
                self.error.name().unwrap_or("unknown error"),
                self.error.0
            )?;
        }
        Ok(())
    }
}

/// What events have told so far.
#[derive(Clone, Copy, Default)]
pub struct Sensors {
    modules: [Option<Module>; MODULES],
    /// Modules beyond those told apart that have an error; one bit for all.
    others: bool,
    /// Sensors that are too hot: bits 127:64, and 63:0.
    hot: (u64, u64),
}

impl Sensors {
    /// Takes in what happened to a module.
    pub fn module(&mut self, event: &PortModule) {
        let module = Module::of(event);

        match self.modules.get_mut(usize::from(event.module())) {
            Some(place) => *place = Some(module),
            None => self.others = module.has_error(),
        }
    }

    /// Takes in which sensors are too hot.
    pub fn temperature(&mut self, event: &TemperatureWarning) {
        self.hot = (event.sensor_warning_msb(), event.sensor_warning_lsb());
    }

    /// Whether a module has an error.
    pub fn has_module_error(&self) -> bool {
        self.others || self.modules.iter().flatten().any(Module::has_error)
    }

    /// Whether a sensor is too hot.
    pub fn is_hot(&self) -> bool {
        self.hot != (0, 0)
    }

    /// Prints what is known, a value a line.
    pub fn show(&self, w: &mut dyn fmt::Write) -> fmt::Result {
        writeln!(w, "hot_sensors: {:#x} {:#x}", self.hot.0, self.hot.1)?;
        for (i, module) in self.modules.iter().enumerate() {
            if let Some(module) = module {
                writeln!(w, "module[{i}]: {module}")?;
            }
        }
        Ok(())
    }
}
