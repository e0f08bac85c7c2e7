// SPDX-License-Identifier: GPL-2.0

//! What modules and sensors tell, and that it degrades the function.

use super::modules::Sensors;
use crate::{
    device::{
        Degradation,
        State, //
    },
    prm::event::{
        PortModule,
        TemperatureWarning, //
    },
};
use core::fmt;
use kernel::{
    new_spinlock,
    prelude::*,
    sync::{
        Arc,
        SpinLock, //
    }, //
};

/// What is known of modules and sensors, in step with the function's status.
#[pin_data]
pub(super) struct Alarms {
    state: Arc<State>,
    /// The status is changed under this lock, so that two events cannot overtake each other.
    #[pin]
    sensors: SpinLock<Sensors>,
}

impl Alarms {
    pub(super) fn new(state: Arc<State>) -> impl PinInit<Self> {
        pin_init!(Self {
            state,
            sensors <- new_spinlock!(Sensors::default()),
        })
    }

    /// Takes in what happened to a module.
    pub(super) fn module(&self, event: &PortModule) {
        self.update(|sensors| sensors.module(event));
    }

    /// Takes in which sensors are too hot.
    pub(super) fn temperature(&self, event: &TemperatureWarning) {
        self.update(|sensors| sensors.temperature(event));
    }

    /// Forgets what was told: the device may not tell when it is over.
    pub(super) fn clear(&self) {
        self.update(|sensors| *sensors = Sensors::default());
    }

    /// Forgets what was told before a reset, of which the status knows already.
    pub(super) fn forget(&self) {
        *self.sensors.lock() = Sensors::default();
    }

    fn update(&self, change: impl FnOnce(&mut Sensors)) {
        let mut sensors = self.sensors.lock();

        change(&mut sensors);
        for (which, holds) in [
            (Degradation::PortModule, sensors.has_module_error()),
            (Degradation::Temperature, sensors.is_hot()),
        ] {
            if holds {
                self.state.degrade(which);
            } else {
                self.state.mend(which);
            }
        }
    }

    /// Prints what is known, a value a line.
    pub(super) fn show(&self, w: &mut dyn fmt::Write) -> fmt::Result {
        let sensors = *self.sensors.lock();

        sensors.show(w)
    }
}
