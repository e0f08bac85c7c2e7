// SPDX-License-Identifier: GPL-2.0

//! The ways of resetting a function, and the waits for what comes after.

use super::{
    super::run::Common,
    policy::Way, //
};
use crate::{
    kernel_ext::clock,
    prm::{
        bits::Bits,
        iseg::{
            self,
            CommandQueueAddress,
            NicInterface, //
        }, //
    }, //
};
use kernel::{
    prelude::*,
    time::Delta, //
};
use zerocopy::IntoBytes;

/// Pause between two looks.
const LOOK: Delta = Delta::from_millis(10);

/// How long configuration space may take to answer after a reset, in milliseconds. After a reset of
/// the PCI function the kernel has waited already.
const ANSWER_MS: u64 = 10_000;

/// How long firmware may take to say that it has begun to reset itself, in milliseconds, as in
/// mlx5_core.
const TOGGLE_MS: u64 = 2_000;

/// How long somebody else may be using the PCI function, in milliseconds.
const BUSY_MS: u64 = 10_000;

/// Sleeps for a time; fails with [`ECANCELED`] when the driver is being unbound.
pub(super) type Pause<'a> = &'a dyn Fn(Delta) -> Result;

/// Resets the function.
///
/// # Errors
///
/// - [`ENODEV`] if the device does not answer, so that it cannot be told.
/// - [`EOPNOTSUPP`] if it cannot be reset in this way.
/// - [`ETIMEDOUT`] if firmware does not say that it resets itself.
/// - [`EBUSY`] if somebody else is using the PCI function for long.
/// - Those of the PCI core, and of `pause`.
pub(super) fn reset(common: &Common<'_>, way: Way, pause: Pause<'_>) -> Result {
    if !common.pci.answers() {
        return Err(ENODEV);
    }
    match way {
        Way::Function => function_reset(common, pause),
        Way::Firmware => firmware_reset(common, pause),
    }
}

/// Whether the device resets its firmware when it is told so by nic_interface.
pub(super) fn is_firmware_reset_offered(common: &Common<'_>) -> bool {
    let state: iseg::State = common.init_segment.read();

    // All ones are no offer.
    !is_dead(&state) && state.nic_interface_reset()
}

fn function_reset(common: &Common<'_>, pause: Pause<'_>) -> Result {
    let start = clock::monotonic_ms();

    loop {
        // Who unbinds the driver has the device's lock already, and waits for this thread.
        match common.pci.try_reset() {
            Err(error) if error == EAGAIN => (),
            result => return result,
        }
        if clock::monotonic_ms().saturating_sub(start) > BUSY_MS {
            return Err(EBUSY);
        }
        pause(LOOK)?;
    }
}

fn firmware_reset(common: &Common<'_>, pause: Pause<'_>) -> Result {
    if !is_firmware_reset_offered(common) {
        return Err(EOPNOTSUPP);
    }

    // The address is left as it is, size and stride are read-only.
    let mut register: CommandQueueAddress = common.init_segment.read();
    register
        .set_nic_interface(Bits::low(u64::from(NicInterface::SW_RESET.0)))
        .set_log_cmdq_size(Bits::low(0))
        .set_log_cmdq_stride(Bits::low(0));
    common.init_segment.write(&register)?;

    let start = clock::monotonic_ms();
    loop {
        let register: CommandQueueAddress = common.init_segment.read();
        if NicInterface(register.nic_interface()) == NicInterface::DISABLED {
            return Ok(());
        }
        if clock::monotonic_ms().saturating_sub(start) > TOGGLE_MS {
            return Err(ETIMEDOUT);
        }
        pause(LOOK)?;
    }
}

/// Waits until configuration space answers, and BAR 0.
///
/// # Errors
///
/// [`ENODEV`] if it does not in time; that of `pause`.
pub(super) fn wait_for_answer(common: &Common<'_>, pause: Pause<'_>) -> Result {
    let start = clock::monotonic_ms();

    while !common.pci.answers() || is_dead(&common.init_segment.read()) {
        if clock::monotonic_ms().saturating_sub(start) > ANSWER_MS {
            return Err(ENODEV);
        }
        pause(LOOK)?;
    }
    Ok(())
}

fn is_dead(state: &iseg::State) -> bool {
    state.as_bytes() == [0xff; 4]
}
