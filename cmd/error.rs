// SPDX-License-Identifier: GPL-2.0

//! Why a command failed.
//!
//! A syndrome means little without its command (CMD-5), so an error keeps both until it leaves the
//! module, where it becomes an errno.

use crate::{
    device::Condition,
    kernel_ext::fmt::kernel_display,
    prm::{
        command::Command,
        opcode::Opcode,
        status::{
            Delivery,
            Status, //
        },
    },
};
use core::fmt;
use kernel::{
    error::code::EBADMSG,
    prelude::*, //
};

use super::message::Flaw;

/// A command that failed.
#[derive(Clone, Copy)]
pub(crate) struct Error {
    /// The command.
    pub(crate) opcode: Opcode,
    /// Its modifier.
    pub(crate) op_mod: u16,
    /// What went wrong.
    pub(crate) cause: Cause,
}

/// What went wrong with a command.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) enum Cause {
    /// The device executed it and refused.
    Refused {
        /// The command's status.
        status: Status,
        /// Firmware's number for the failure.
        syndrome: u32,
    },
    /// The device could not read the command.
    NotDelivered(Delivery),
    /// The output does not have what it must have.
    BadOutput(Flaw),
    /// The device did not complete it in time; its slot is quarantined.
    TimedOut {
        /// How long it was waited for, in milliseconds.
        after_ms: u64,
    },
    /// No slot became free in time.
    NoSlot,
    /// The function is not alive, so that the command was not sent, or is not waited for any more.
    Dead(Condition),
    /// Input or output is larger than what a slot has mailboxes for.
    TooLarge,
    /// There is no memory for the command's data.
    NoMemory,
    /// Memory shared with the device could not be used as asked: a fault of the module itself.
    Internal,
}

impl Error {
    /// The errno that stands for the error at the module's edge.
    ///
    /// For a status and a delivery status it is mlx5_core's.
    pub(crate) fn errno(&self) -> kernel::error::Error {
        match self.cause {
            Cause::Refused { status, .. } => status_errno(status),
            Cause::NotDelivered(delivery) => delivery_errno(delivery),
            Cause::BadOutput(_) => EBADMSG,
            Cause::TimedOut { .. } => ETIMEDOUT,
            Cause::NoSlot => EBUSY,
            Cause::Dead(Condition::Gone) => ENODEV,
            Cause::Dead(_) => EIO,
            Cause::TooLarge => E2BIG,
            Cause::NoMemory => ENOMEM,
            Cause::Internal => EFAULT,
        }
    }

    /// A command that was not sent for want of memory.
    pub(crate) const fn no_memory<C: Command>(op_mod: u16) -> Self {
        Self {
            opcode: C::OPCODE,
            op_mod,
            cause: Cause::NoMemory,
        }
    }

    /// Status and syndrome, if the device executed the command.
    pub(crate) fn refused(&self) -> Option<(Status, u32)> {
        match self.cause {
            Cause::Refused { status, syndrome } => Some((status, syndrome)),
            _ => None,
        }
    }
}

fn status_errno(status: Status) -> kernel::error::Error {
    match status {
        Status::BAD_OPERATION
        | Status::BAD_PARAMETER
        | Status::BAD_RESOURCE
        | Status::BAD_RESOURCE_STATE
        | Status::BAD_INDEX
        | Status::BAD_QP_STATE
        | Status::BAD_PACKET
        | Status::BAD_SIZE => EINVAL,
        Status::RESOURCE_BUSY => EBUSY,
        Status::NOT_READY | Status::NO_RESOURCES => EAGAIN,
        Status::LIMITS_EXCEEDED => ENOMEM,
        _ => EIO,
    }
}

fn delivery_errno(delivery: Delivery) -> kernel::error::Error {
    match delivery {
        Delivery::SIGNATURE | Delivery::TOKEN => EBADR,
        Delivery::BLOCK_NUMBER | Delivery::OUTPUT_POINTER | Delivery::INPUT_POINTER => EFAULT,
        Delivery::INTERNAL => EIO,
        Delivery::INPUT_LENGTH | Delivery::OUTPUT_LENGTH | Delivery::RESERVED | Delivery::TYPE => {
            ENOMSG
        }
        _ => EINVAL,
    }
}

impl From<Error> for kernel::error::Error {
    fn from(error: Error) -> Self {
        error.errno()
    }
}

/// Prints the line that users know from mlx5_core, with the syndrome's two parts behind it.
impl fmt::Display for Error {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} op_mod({:#x}) failed, ", self.opcode, self.op_mod)?;
        self.cause.fmt(f)
    }
}

impl fmt::Display for Cause {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match *self {
            Cause::Refused { status, syndrome } => write!(
                f,
                "status {}({:#x}), syndrome ({syndrome:#x}: high 24 bits {:#x}, low 8 bits {:#x})",
                status.name().unwrap_or("unknown status"),
                status.0,
                syndrome >> 8,
                syndrome & 0xff,
            ),
            Cause::NotDelivered(delivery) => write!(
                f,
                "delivery status {}({:#x}): the device could not read the command",
                delivery.name().unwrap_or("unknown delivery status"),
                delivery.0,
            ),
            Cause::BadOutput(flaw) => write!(f, "bad output: {}", flaw.name()),
            Cause::TimedOut { after_ms } => write!(
                f,
                "no completion after {after_ms} ms: its slot stays reserved until one comes",
            ),
            Cause::NoSlot => f.write_str("no slot of the command queue became free in time"),
            Cause::Dead(condition) => write!(f, "the device is {condition}"),
            Cause::NoMemory => f.write_str("no memory for its data"),
            Cause::TooLarge => f.write_str("input or output exceeds the mailboxes of a slot"),
            Cause::Internal => f.write_str("shared memory was used out of its bounds"),
        }
    }
}

kernel_display!(Error, Opcode);
