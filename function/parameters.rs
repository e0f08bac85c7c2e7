// SPDX-License-Identifier: GPL-2.0

//! The module's parameters, and what values they may have.

use crate::{
    module_parameters,
    prm::timeout, //
};
use kernel::{
    prelude::*,
    time::Delta, //
};

/// The parameters, as the rest of the module uses them.
pub(super) struct Parameters {
    pub(super) command_timeout_ms: u32,
    /// Whether the user has chosen it, so that the device's own value does not count.
    pub(super) command_timeout_is_chosen: bool,
    pub(super) init_timeout: Delta,
    pub(super) max_pages: u64,
    pub(super) checksum: bool,
    pub(super) recovery_auto: bool,
}

impl Parameters {
    /// Reads the parameters, which [`check`] has found to be right.
    pub(super) fn read() -> Self {
        Self {
            command_timeout_ms: command_timeout_ms(),
            command_timeout_is_chosen: u64::from(command_timeout_ms()) != timeout::default::CMD,
            init_timeout: Delta::from_millis(i64::from(module_parameters::init_timeout_ms.value())),
            max_pages: u64::from(module_parameters::max_pages.value()),
            checksum: module_parameters::checksum.value() == 1,
            recovery_auto: module_parameters::recovery_auto.value() == 1,
        }
    }
}

fn command_timeout_ms() -> u32 {
    module_parameters::cmd_timeout_ms.value()
}

/// Checks all parameters, so that a wrong one keeps the module from loading.
///
/// # Errors
///
/// [`EINVAL`]; the log names the parameter, its value, and its range.
pub(crate) fn check() -> Result {
    check_range(
        "cmd_timeout_ms",
        module_parameters::cmd_timeout_ms.value(),
        10,
        600_000,
    )?;
    check_range(
        "init_timeout_ms",
        module_parameters::init_timeout_ms.value(),
        100,
        7_200_000,
    )?;
    check_range(
        "max_pages",
        module_parameters::max_pages.value(),
        1024,
        4_194_304,
    )?;
    check_range(
        "checksum",
        u32::from(module_parameters::checksum.value()),
        0,
        1,
    )?;
    check_range(
        "recovery_auto",
        u32::from(module_parameters::recovery_auto.value()),
        0,
        1,
    )
}

fn check_range(name: &str, value: u32, from: u32, to: u32) -> Result {
    if (from..=to).contains(&value) {
        return Ok(());
    }
    pr_err!("parameter {name} is {value}, expected {from} to {to}\n");
    Err(EINVAL)
}
