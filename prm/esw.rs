// SPDX-License-Identifier: GPL-2.0

//! E-switch functions: what the manager of an embedded switch learns about the hosts behind it.
//!
//! The newer manual calls the command QUERY_HOST_NET_FUNCTIONS. Its output has two layouts. The
//! legacy one has a context for one host, and a list of enabled SFs behind it; V1 has a list of
//! functions. Which one it is follows from `op_mod` ([`QueryEswFunctionsMod`]).
//!
//! Sources disagree on the element of `host_sf_enable`: the out-of-tree header and older kernels
//! declare words of 64 bits, one bit an SF by its name; rdma-core counts one word an SF; which bit
//! of a word is the first SF is not known, since nobody reads it. The header of Linux 7.x dropped
//! it.

use crate::{
    codes,
    commands,
    layout, //
};

layout! {
    /// Input of QUERY_ESW_FUNCTIONS; `op_mod` is a [`QueryEswFunctionsMod`].
    pub struct QueryEswFunctionsIn: input "query_esw_functions_in", 0x10 {}

    /// Output of QUERY_ESW_FUNCTIONS, the part that both layouts have.
    ///
    /// From 10h on follows [`HostParamsContext`] (legacy), or a list of [`NetworkFunctionParams`]
    /// (V1).
    pub struct QueryEswFunctionsOut: output "query_esw_functions_out" head, 0x10 {
        0x0c [31:24] net_function_num: RO, "V1: number of functions that follow.";
    }

    /// The host behind the switch, legacy layout.
    pub struct HostParamsContext: plain "host_params_context", 0x40 {
        0x00 [31:24] host_number: RO, "Number of the host.";
        0x00 [19:19] host_pci_vf_info_valid: RO, "1: VF stride and first VF offset are valid.",
            source("NVIDIA-generated PRM header");
        0x00 [18:18] host_pf_not_exist: RO, "1: the host has no PF.";
        0x00 [17:17] host_pf_vhca_id_valid: RO, "1: the PF's vhca_id is valid.",
            source("NVIDIA-generated PRM header, rdma-core mlx5_ifc.h");
        0x00 [16:16] host_pf_disabled: RO, "1: the host's PF is disabled, and its VFs with it.";
        0x00 [15:0] host_num_of_vfs: RO, "VFs that the host has enabled.";
        0x04 [31:16] host_total_vfs: RO, "VFs that the host can enable.";
        0x04 [15:0] host_pci_bus: RO, "PCI bus of the host's PF.";
        0x08 [31:16] host_pf_vhca_id: RO, "The PF's vhca_id.",
            source("NVIDIA-generated PRM header, rdma-core mlx5_ifc.h");
        0x08 [15:0] host_pci_device: RO, "PCI device of the host's PF.";
        0x0c [15:0] host_pci_function: RO, "PCI function of the host's PF.";
        0x10 [31:16] host_pci_vf_stride: RO, "From one VF's PCI function to the next.",
            source("NVIDIA-generated PRM header");
        0x10 [15:0] host_pci_first_vf_offset: RO, "From the PF's PCI function to the first VF's.",
            source("NVIDIA-generated PRM header");
    }

    /// A word of the list of enabled SFs, legacy layout.
    pub struct SfEnable: plain "", 0x8 {
        0x00 [63:0] host_sf_enable: RO, "Enabled SFs, a bit each; the order is not known.",
            source("MLNX_OFED 24.07 mlx5_ifc.h; in Linux until commit e2337517e127");
    }

    /// A function behind the switch, V1 layout.
    pub struct NetworkFunctionParams: plain "network_function_params", 0x40 {
        0x00 [31:24] host_number: RO, "Number of the host.";
        0x00 [23:20] pci_pf_type: RO, "Whose PF it is.", names(PfType::name_of);
        0x00 [15:0] pci_num_vfs: RO, "VFs that are enabled.";
        0x04 [31:16] pci_total_vfs: RO, "VFs that can be enabled.";
        0x04 [15:8] pci_bus: RO, "PCI bus of the PF.";
        0x04 [7:0] pci_device_function: RO, "PCI device (7:3) and function (2:0) of the PF.";
        0x08 [31:16] vhca_id: RO, "Number of the function in the device.";
        0x08 [15:12] vhca_state: RO, "State of the function.", names(VhcaState::name_of);
        0x0c [21:21] esw_vport_manual: RO, "1: its vport is enabled by hand.";
        0x0c [20:20] pci_bus_assigned: RO, "1: the PCI bus is valid.";
        0x0c [19:19] pci_vf_info_valid: RO, "1: VF stride and first VF offset are valid.";
        0x10 [31:16] pci_vf_stride: RO, "From one VF's PCI function to the next.";
        0x10 [15:0] pci_first_vf_offset: RO, "From the PF's PCI function to the first VF's.";
    }

    /// `pci_device_function`, taken apart.
    pub struct PciDeviceFunction: plain "", 0x4 {
        0x00 [7:3] device: RO, "PCI device.", source("PCI: devfn");
        0x00 [2:0] function: RO, "PCI function.", source("PCI: devfn");
    }
}

commands! {
    /// Asks for the functions of the hosts behind the switch.
    QueryEswFunctions = QUERY_ESW_FUNCTIONS: QueryEswFunctionsIn => QueryEswFunctionsOut;
}

codes! {
    /// `op_mod` of QUERY_ESW_FUNCTIONS: the layout of the output.
    pub struct QueryEswFunctionsMod(u16) {
        LEGACY = 0x0000 "legacy layout",
        /// Capability: `query_host_net_function_v1`.
        V1 = 0x4000 "V1 layout",
    }
}

codes! {
    /// Whose a physical function is.
    pub struct PfType(u8) {
        EXTERNAL_HOST = 0 "external host PF",
        SATELLITE = 1 "satellite PF",
    }
}

codes! {
    /// State of a function in the device.
    pub struct VhcaState(u8) {
        INVALID = 0 "invalid",
        ALLOCATED = 1 "allocated",
        ACTIVE = 2 "active",
        IN_USE = 3 "in use",
        TEARDOWN_REQUEST = 4 "teardown request",
    }
}

impl QueryEswFunctionsOut {
    /// Shortest output that firmware is asked for, in bytes: header and context of one host.
    pub const MIN_LENGTH: usize = 0x80;

    /// Offset of the first context in the output.
    pub const CONTEXT: usize = 0x10;

    /// Offset of the list of enabled SFs in the output, legacy layout.
    pub const SF_ENABLE: usize = 0x80;
}

impl NetworkFunctionParams {
    /// PCI device and function of the PF.
    pub fn pci(&self) -> PciDeviceFunction {
        PciDeviceFunction::from(u32::from(self.pci_device_function()).to_be_bytes())
    }
}
