// SPDX-License-Identifier: GPL-2.0

//! The health buffer: what firmware leaves behind when it fails.
//!
//! It lies in the init segment and is shared by all functions of a card. The counter that tells
//! whether firmware still runs is [`super::iseg::Health`].

use crate::{
    codes,
    layout, //
};

layout! {
    /// Health buffer, at 200h of BAR0.
    pub struct Buffer: plain "health_buffer", 0x40 {
        0x00 [31:0; 6] assert_var: RO, "Values that the failed assertion looked at.",
            source("struct health_buffer in device.h");
        0x20 [31:0] assert_exit_ptr: RO, "Where the code was that gave up.", ifc("assert_existptr");
        0x24 [31:0] assert_callra: RO, "Return address of the caller.";
        0x2c [31:0] time: RO, "Seconds since 1970 if the device knows the time, else since start.";
        0x30 [31:0] fw_version: RO, "Firmware's version: 31:24 major, 23:16 minor, 15:0 subminor.";
        0x34 [31:0] hw_id: RO, "Which chip it is.";
        0x38 [31:31] rfr: RO, "1: not recoverable without a reset.";
        0x38 [30:30] crr: RO, "1: not recoverable without a cold reset.",
            source("mlx5_core health.c, MLX5_CRR_BIT_OFFSET");
        0x38 [27:27] valid: RO, "1: the severity is valid.";
        0x38 [26:24] severity: RO, "How severe it is, on the scale of syslog.",
            names(Severity::name_of);
        0x3c [31:24] irisc_index: RO, "Which embedded processor it was.";
        0x3c [23:16] synd: RO, "What failed.", names(synd_name);
        0x3c [15:0] ext_synd: RO, "Firmware's own number for the failure.";
    }
}

impl Buffer {
    /// Offset of the buffer in BAR0.
    pub const BAR_OFFSET: usize = 0x200;

    /// Severity of the failure; without a valid one it counts as an error, as in mlx5_core.
    pub fn effective_severity(&self) -> Severity {
        if self.valid() {
            Severity(self.severity())
        } else {
            Severity::ERROR
        }
    }

    /// Firmware's version as its three numbers.
    pub fn firmware(&self) -> FirmwareVersion {
        FirmwareVersion::from(self.fw_version().to_be_bytes())
    }
}

layout! {
    /// `fw_version` of the health buffer, taken apart.
    ///
    /// The place of the three numbers is read off from prints that have both forms.
    pub struct FirmwareVersion: plain "", 0x4 {
        0x00 [31:24] major: RO, "First number.",
            source("raw and printed versions of real cards agree");
        0x00 [23:16] minor: RO, "Second number.",
            source("raw and printed versions of real cards agree");
        0x00 [15:0] subminor: RO, "Third number.",
            source("raw and printed versions of real cards agree");
    }
}

codes! {
    /// Severity of a failure.
    pub struct Severity(u8) {
        EMERGENCY = 0 "EMERGENCY",
        ALERT = 1 "ALERT",
        CRITICAL = 2 "CRITICAL",
        ERROR = 3 "ERROR",
        WARNING = 4 "WARNING",
        NOTICE = 5 "NOTICE",
        INFO = 6 "INFO",
        DEBUG = 7 "DEBUG",
    }
}

codes! {
    /// What failed: the field `synd`.
    pub struct Synd(u8) {
        NONE = 0x00 "none",
        FW_INTERNAL = 0x01 "firmware internal error",
        DEAD_IRISC = 0x07 "embedded processor does not respond",
        HW_FATAL = 0x08 "unrecoverable hardware error",
        FW_CRC = 0x09 "firmware CRC error",
        ICM_FETCH_PCI = 0x0a "PCI error while fetching ICM",
        /// The sources disagree: mlx5_ifc.h names the code after an ICM page, while mlx5_core
        /// prints, and FreeBSD names it, a fatal hardware error.
        ICM_PAGE = 0x0b "ICM page error or fatal hardware error (sources disagree)",
        ASYNC_EQ_OVERRUN = 0x0c "asynchronous EQ overrun",
        EQ_IN = 0x0d "EQ error",
        EQ_INVALID = 0x0e "invalid EQ referenced",
        FFSER = 0x0f "FFSER error",
        HIGH_TEMPERATURE = 0x10 "high temperature",
        ICM_PCI_POISONED = 0x12 "poisoned data while fetching ICM",
        TRUST_LOCKDOWN = 0x13 "trust lockdown",
    }
}

/// The words for a value of `synd`.
pub fn synd_name(code: u64) -> Option<&'static str> {
    Synd::name_of(code)
}

/// The words for a value of `severity`.
pub fn severity_name(code: u64) -> Option<&'static str> {
    Severity::name_of(code)
}
