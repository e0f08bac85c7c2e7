// SPDX-License-Identifier: GPL-2.0

//! Registers behind the command ACCESS_REG.

use crate::prm::access_reg::{
    AccessReg,
    AccessRegIn,
    AccessRegMod,
    Register, //
};

use super::{
    Error,
    Queue, //
};

/// Reads a register; `register` holds the fields that select what is read, and is overwritten.
///
/// # Errors
///
/// Those of the command. Whether the device has the register is for the caller to know first.
pub(crate) fn read<R: Register>(
    queue: &Queue<'_>,
    argument: u32,
    register: &mut R,
) -> Result<(), Error> {
    try_read(queue, argument, register).inspect_err(|error| queue.report(error))
}

/// Reads a register that the device may well refuse: a failure is counted, but not logged.
///
/// # Errors
///
/// As for [`read`].
pub(super) fn try_read<R: Register>(
    queue: &Queue<'_>,
    argument: u32,
    register: &mut R,
) -> Result<(), Error> {
    let select = *register;

    queue.try_exec_with::<AccessReg>(
        AccessRegMod::READ.0,
        input::<R>(argument),
        select.as_bytes(),
        register.as_mut_bytes(),
    )?;
    Ok(())
}

/// Writes a register.
///
/// # Errors
///
/// As for [`read`].
pub(crate) fn write<R: Register>(queue: &Queue<'_>, register: &R) -> Result<(), Error> {
    let mut written = *register;

    queue.exec_with::<AccessReg>(
        AccessRegMod::WRITE.0,
        input::<R>(0),
        register.as_bytes(),
        written.as_mut_bytes(),
    )?;
    Ok(())
}

fn input<R: Register>(argument: u32) -> AccessRegIn {
    *AccessRegIn::new()
        .set_register_id(R::ID.0)
        .set_argument(argument)
}
