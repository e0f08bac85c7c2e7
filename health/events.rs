// SPDX-License-Identifier: GPL-2.0

//! Events that tell of the card's health: temperatures, and modules in the ports.

use super::{
    modules::Module,
    Record, //
};
use crate::{
    eq::{
        Subscriber,
        Subscription, //
    },
    kernel_ext::{
        fmt::kernel_display,
        ratelimit::RateLimit,
        scope::Scope, //
    },
    prm::{
        caps::General,
        event::{
            Eqe,
            EventType,
            PortModule,
            TemperatureWarning, //
        }, //
    },
};
use kernel::{
    prelude::*,
    sync::Arc, //
};

kernel_display!(Module);

/// Takes the events; they come in the interrupt thread of their queue.
struct Listener<'bound> {
    scope: Scope<'bound>,
    record: Arc<Record>,
    log: RateLimit,
}

impl Listener<'_> {
    fn module(&self, event: &PortModule) {
        let module = Module::of(event);

        self.record.alarms().module(event);
        if self.log.pass().is_none() {
            return;
        }
        if module.has_error() {
            dev_err!(
                self.scope.dev(),
                "health: module {}: {module}\n",
                event.module()
            );
        } else {
            dev_info!(
                self.scope.dev(),
                "health: module {}: {module}\n",
                event.module()
            );
        }
    }

    fn temperature(&self, event: &TemperatureWarning) {
        self.record.alarms().temperature(event);
        if self.log.pass().is_some() {
            dev_warn!(
                self.scope.dev(),
                "health: sensors above their threshold: {:#x} {:#x}\n",
                event.sensor_warning_msb(),
                event.sensor_warning_lsb()
            );
        }
    }
}

impl Subscriber for Listener<'_> {
    fn event(&self, eqe: &Eqe) {
        match eqe.kind() {
            EventType::PORT_MODULE => self.module(&eqe.payload()),
            EventType::TEMP_WARN => self.temperature(&eqe.payload()),
            _ => (),
        }
    }
}

/// Adds the wishes to know of such events, as far as the device has them.
///
/// # Errors
///
/// [`ENOMEM`] without memory.
pub(crate) fn subscribe<'bound>(
    scope: Scope<'bound>,
    record: &Arc<Record>,
    general: &General,
    subscriptions: &mut KVec<Subscription<'bound>>,
) -> Result {
    let listener = Arc::new(
        Listener {
            scope,
            record: record.clone(),
            log: RateLimit::new(10, 60_000),
        },
        GFP_KERNEL,
    )?;

    for (event, has) in [
        (EventType::PORT_MODULE, general.port_module_event()),
        (EventType::TEMP_WARN, general.temp_warn_event()),
    ] {
        if has {
            subscriptions.push(
                Subscription {
                    event,
                    subscriber: listener.clone(),
                },
                GFP_KERNEL,
            )?;
        }
    }
    Ok(())
}
