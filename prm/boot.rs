// SPDX-License-Identifier: GPL-2.0

//! Start and stop of a function: ENABLE_HCA to TEARDOWN_HCA, and the interface version (ISSI).

use crate::{
    codes,
    commands,
    layout, //
};

layout! {
    /// Input of ENABLE_HCA.
    pub struct EnableHcaIn: input "enable_hca_in", 0x10 {
        0x08 [31:31] embedded_cpu_function: RW, "1: the function is an embedded CPU's.";
        0x08 [28:28] function_id_type: RW, "0: function_id counts functions; 1: it is a vhca_id.";
        0x08 [15:0] function_id: RW, "Function to enable; 0: the own one.";
    }

    /// Output of ENABLE_HCA.
    pub struct EnableHcaOut: output "enable_hca_out", 0xc {}

    /// Input of DISABLE_HCA.
    pub struct DisableHcaIn: input "disable_hca_in", 0x10 {
        0x08 [31:31] embedded_cpu_function: RW, "1: the function is an embedded CPU's.";
        0x08 [28:28] function_id_type: RW, "0: function_id counts functions; 1: it is a vhca_id.";
        0x08 [15:0] function_id: RW, "Function to disable; 0: the own one.";
    }

    /// Output of DISABLE_HCA.
    pub struct DisableHcaOut: output "disable_hca_out", 0xc {}

    /// Input of INIT_HCA.
    pub struct InitHcaIn: input "init_hca_in", 0x20 {
        0x0c [29:16] sw_vhca_id: RW, "Number of the function that software chooses.";
        0x10 [31:0; 4] sw_owner_id: RW, "Number of the driver instance that owns the ports.";
    }

    /// Output of INIT_HCA.
    pub struct InitHcaOut: output "init_hca_out", 0x10 {}

    /// Input of TEARDOWN_HCA.
    pub struct TeardownHcaIn: input "teardown_hca_in", 0x10 {
        0x08 [15:0] profile: RW, "How to stop.", names(TeardownProfile::name_of);
    }

    /// Output of TEARDOWN_HCA.
    pub struct TeardownHcaOut: output "teardown_hca_out", 0x10 {
        0x0c [0:0] state: RO, "1: a forced stop has failed.";
    }

    /// Input of QUERY_ISSI.
    pub struct QueryIssiIn: input "query_issi_in", 0x10 {}

    /// Output of QUERY_ISSI.
    ///
    /// The bitmap of supported versions is 640 bits long and ends in the last word.
    pub struct QueryIssiOut: output "query_issi_out", 0x70 {
        0x08 [15:0] current_issi: RO, "Version of the interface that is in use.";
        0x6c [31:0] supported_issi_dw0: RO, "Bit n: version n is supported, for 0 to 31.";
    }

    /// Input of SET_ISSI.
    pub struct SetIssiIn: input "set_issi_in", 0x10 {
        0x08 [15:0] current_issi: RW, "Version of the interface to use.";
    }

    /// Output of SET_ISSI.
    pub struct SetIssiOut: output "set_issi_out", 0x10 {}

    /// Input of SET_DRIVER_VERSION.
    pub struct SetDriverVersionIn: input "set_driver_version_in", 0x50 {
        0x10 [64 bytes] driver_version: RW, "Text `system,driver,version`, ended with a zero.";
    }

    /// Output of SET_DRIVER_VERSION.
    pub struct SetDriverVersionOut: output "set_driver_version_out", 0x10 {}

    /// Input of QUERY_ADAPTER.
    pub struct QueryAdapterIn: input "query_adapter_in", 0x10 {}

    /// Who made the card, and which it is.
    pub struct AdapterParameters: plain "query_adapter_param_block", 0x100 {
        0x18 [23:0] ieee_vendor_id: RO, "Vendor of the chip (IEEE).";
        0x1c [15:0] vsd_vendor_id: RO, "PCI vendor of the card, whose data follow.";
        0x20 [208 bytes] vsd: RO, "Data of the card's vendor.";
        0xf0 [16 bytes] vsd_contd_psid: RO, "Name of the card's parameter set (PSID), text.";
    }

    /// Output of QUERY_ADAPTER.
    pub struct QueryAdapterOut: output "query_adapter_out", 0x110 {
        0x10 [AdapterParameters] query_adapter_struct: RO, "Who made the card, and which it is.";
    }

    /// Input of NOP.
    pub struct NopIn: input "nop_in", 0x10 {}

    /// Output of NOP.
    pub struct NopOut: output "nop_out", 0x10 {}
}

commands! {
    /// Makes a function known to firmware; the first command of all.
    EnableHca = ENABLE_HCA: EnableHcaIn => EnableHcaOut;
    /// The opposite of [`EnableHca`]; the last command of all.
    DisableHca = DISABLE_HCA: DisableHcaIn => DisableHcaOut;
    /// Starts the function, after firmware has the pages that it asked for.
    InitHca = INIT_HCA: InitHcaIn => InitHcaOut;
    /// Stops the function.
    TeardownHca = TEARDOWN_HCA: TeardownHcaIn => TeardownHcaOut;
    /// Asks which versions of the interface there are.
    QueryIssi = QUERY_ISSI: QueryIssiIn => QueryIssiOut;
    /// Chooses the version of the interface.
    SetIssi = SET_ISSI: SetIssiIn => SetIssiOut;
    /// Tells firmware who drives it. Capability: `driver_version`.
    SetDriverVersion = SET_DRIVER_VERSION: SetDriverVersionIn => SetDriverVersionOut;
    /// Asks who made the card.
    QueryAdapter = QUERY_ADAPTER: QueryAdapterIn => QueryAdapterOut;
    /// Does nothing, by way of the whole command interface.
    Nop = NOP: NopIn => NopOut;
}

codes! {
    /// How TEARDOWN_HCA stops a function.
    pub struct TeardownProfile(u16) {
        GRACEFUL = 0 "graceful close",
        /// Capability: `force_teardown`.
        FORCE = 1 "force close",
        /// Capability: `fast_teardown`.
        PREPARE_FAST = 2 "prepare fast teardown",
    }
}

impl QueryIssiOut {
    /// Whether interface version `version` (0 to 31) is supported.
    pub fn supports(&self, version: u8) -> bool {
        super::bits::test(
            &self.supported_issi_dw0().to_be_bytes(),
            usize::from(version),
        )
    }
}
