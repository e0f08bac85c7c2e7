// SPDX-License-Identifier: GPL-2.0

//! The commands that start a function, and those that stop it.
//!
//! Each step that must be undone is a value whose drop undoes it; the order of the steps is that of
//! the fields in which `probe()` keeps them. Nothing is sent to a function that is not alive.

use crate::prm::{
    access_reg::HostEndianness,
    boot::{
        DisableHca,
        DisableHcaIn,
        EnableHca,
        EnableHcaIn,
        InitHca,
        InitHcaIn,
        QueryIssi,
        QueryIssiIn,
        SetDriverVersion,
        SetDriverVersionIn,
        SetIssi,
        SetIssiIn,
        TeardownHca,
        TeardownHcaIn,
        TeardownProfile, //
    },
    status::Status, //
};
use core::fmt::Write;
use kernel::{
    prelude::*,
    str::Formatter,
    sync::Arc, //
};

use super::{
    access_reg,
    Error,
    Queue, //
};

/// A function that ENABLE_HCA has enabled; DISABLE_HCA when dropped.
pub(crate) struct Enabled<'bound> {
    queue: Arc<Queue<'bound>>,
    embedded_cpu: bool,
}

impl<'bound> Enabled<'bound> {
    /// Enables the own function, which is an embedded CPU's if `embedded_cpu`.
    ///
    /// # Errors
    ///
    /// Those of the command.
    pub(crate) fn new(queue: &Arc<Queue<'bound>>, embedded_cpu: bool) -> Result<Self, Error> {
        let mut input = EnableHcaIn::new();
        input.set_embedded_cpu_function(embedded_cpu);
        queue.exec::<EnableHca>(0, input)?;

        Ok(Self {
            queue: queue.clone(),
            embedded_cpu,
        })
    }
}

impl Drop for Enabled<'_> {
    fn drop(&mut self) {
        let mut input = DisableHcaIn::new();
        input.set_embedded_cpu_function(self.embedded_cpu);
        // A failure is in the log already, and there is nothing else to try.
        let _ = self.queue.undo::<DisableHca>(0, input);
    }
}

/// A function that INIT_HCA has initialized; TEARDOWN_HCA when dropped.
pub(crate) struct Initialized<'bound> {
    queue: Arc<Queue<'bound>>,
}

impl<'bound> Initialized<'bound> {
    /// Initializes the function.
    ///
    /// # Errors
    ///
    /// Those of the command.
    pub(crate) fn new(queue: &Arc<Queue<'bound>>) -> Result<Self> {
        queue.exec::<InitHca>(0, InitHcaIn::new())?;

        Ok(Self {
            queue: queue.clone(),
        })
    }
}

impl Drop for Initialized<'_> {
    fn drop(&mut self) {
        let mut input = TeardownHcaIn::new();
        input.set_profile(TeardownProfile::GRACEFUL.0);
        // A failure is in the log already. The pages are taken back all the same, and what firmware
        // does not give back is freed only when the function cannot write to memory any more.
        let _ = self.queue.undo::<TeardownHca>(0, input);
    }
}

/// Agrees with firmware on a version of the interface (ISSI), the newest that both know.
///
/// Firmware that does not know the question has version 0.
///
/// # Errors
///
/// [`EOPNOTSUPP`] if firmware knows neither version 0 nor 1; those of the commands.
pub(crate) fn set_issi(queue: &Queue<'_>) -> Result<u16> {
    let answer = match queue.try_exec::<QueryIssi>(0, QueryIssiIn::new()) {
        Ok(answer) => answer,
        Err(error) if matches!(error.refused(), Some((Status::BAD_OPERATION, _))) => return Ok(0),
        Err(error) => {
            dev_err!(queue.scope().dev(), "{error}\n");
            return Err(error.into());
        }
    };

    if answer.supports(1) {
        let mut input = SetIssiIn::new();
        input.set_current_issi(1u16);
        queue.exec::<SetIssi>(0, input)?;
        return Ok(1);
    }
    if answer.supports(0) || answer.supported_issi_dw0() == 0 {
        return Ok(0);
    }

    dev_err!(
        queue.scope().dev(),
        "firmware supports interface versions {:#x} (bit n: ISSI n), expected 0 or 1\n",
        answer.supported_issi_dw0()
    );
    Err(EOPNOTSUPP)
}

/// Tells the device the byte order of this machine, which extended atomics depend on.
///
/// # Errors
///
/// Those of the command.
pub(crate) fn set_host_endianness(queue: &Queue<'_>) -> Result {
    let mut register = HostEndianness::new();
    register.set_he(cfg!(target_endian = "big"));
    access_reg::write(queue, &register)?;
    Ok(())
}

/// Tells firmware who drives the function.
///
/// # Errors
///
/// Those of the command; a firmware that refuses it works all the same.
pub(crate) fn set_driver_version(queue: &Queue<'_>) -> Result {
    let mut text = [0; 64];
    // The last byte stays zero; a text that is too long is cut, which is as good.
    if let Some(room) = text.get_mut(..63) {
        let _ = write!(Formatter::new(room), "Linux,mlx5_prm_rs,{}", crate::VERSION);
    }

    let mut input = SetDriverVersionIn::new();
    input.set_driver_version(&text);
    queue.exec::<SetDriverVersion>(0, input)?;
    Ok(())
}
