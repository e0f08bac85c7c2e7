// SPDX-License-Identifier: GPL-2.0

//! How a command ended: the delivery status of the entry, and the command's own status.
//!
//! The two are different questions. Delivery says whether the device could read the entry and its
//! mailboxes at all; only when it could is there an output, whose first byte is the status.

use crate::codes;

codes! {
    /// Delivery status: bits 7:1 of the last byte of the command queue entry.
    pub struct Delivery(u8) {
        /// The device has read the whole command.
        OK = 0x00 "no errors",
        /// A signature does not fit its data.
        SIGNATURE = 0x01 "signature error",
        /// A mailbox block's token is not the entry's.
        TOKEN = 0x02 "token error",
        /// Block numbers do not count up from zero.
        BLOCK_NUMBER = 0x03 "bad block number",
        /// The output mailbox pointer is not aligned.
        OUTPUT_POINTER = 0x04 "output pointer not aligned",
        /// The input mailbox pointer is not aligned.
        INPUT_POINTER = 0x05 "input pointer not aligned",
        /// Firmware itself failed.
        INTERNAL = 0x06 "firmware internal error",
        /// The input length does not fit the command.
        INPUT_LENGTH = 0x07 "input length error",
        /// The output length does not fit the command.
        OUTPUT_LENGTH = 0x08 "output length error",
        /// A reserved field is not zero.
        RESERVED = 0x09 "reserved field not zero",
        /// The entry's type is none that the device knows.
        TYPE = 0x10 "bad command type",
    }
}

codes! {
    /// Status of a command: bits 31:24 of word 00h of every output.
    pub struct Status(u8) {
        /// Done.
        OK = 0x00 "ok",
        /// Firmware itself failed.
        INTERNAL = 0x01 "internal error",
        /// The device does not know, or does not allow, the operation.
        BAD_OPERATION = 0x02 "bad operation",
        /// A parameter is wrong.
        BAD_PARAMETER = 0x03 "bad parameter",
        /// The device is not in a state for it.
        BAD_SYSTEM_STATE = 0x04 "bad system state",
        /// An object that is named does not exist.
        BAD_RESOURCE = 0x05 "bad resource",
        /// The object is in use.
        RESOURCE_BUSY = 0x06 "resource busy",
        /// The device is not ready yet.
        NOT_READY = 0x07 "not ready",
        /// A limit is exceeded.
        LIMITS_EXCEEDED = 0x08 "limits exceeded",
        /// The object is not in a state for it.
        BAD_RESOURCE_STATE = 0x09 "bad resource state",
        /// An index is wrong.
        BAD_INDEX = 0x0a "bad index",
        /// The device has no more of the resource.
        NO_RESOURCES = 0x0f "no resources",
        /// The queue pair is not in a state for it.
        BAD_QP_STATE = 0x10 "bad QP state",
        /// A management packet is wrong.
        BAD_PACKET = 0x30 "bad management packet",
        /// More completions are outstanding than the new size holds.
        BAD_SIZE = 0x40 "too many outstanding CQEs",
        /// The input length is wrong.
        BAD_INPUT_LENGTH = 0x50 "bad input length",
        /// The output length is wrong.
        BAD_OUTPUT_LENGTH = 0x51 "bad output length",
    }
}

impl Delivery {
    /// Whether the device could read the whole command.
    pub const fn is_ok(self) -> bool {
        self.0 == Self::OK.0
    }
}

impl Status {
    /// Whether the command was done.
    pub const fn is_ok(self) -> bool {
        self.0 == Self::OK.0
    }
}

/// The words for a status code, for tables.
pub fn name_of(code: u64) -> Option<&'static str> {
    Status::name_of(code)
}

/// The words for a delivery status code, for tables.
pub fn delivery_name_of(code: u64) -> Option<&'static str> {
    Delivery::name_of(code)
}
