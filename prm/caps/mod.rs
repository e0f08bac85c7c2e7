// SPDX-License-Identifier: GPL-2.0

//! Capabilities: what a device can do, page by page, and the commands that read and choose.
//!
//! A page has 1000h bytes and follows the fixed part of QUERY_HCA_CAP's output and of SET_HCA_CAP's
//! input; the layouts here name its beginning. Each page exists twice, as what the device could do
//! at most and as what it does now. `op_mod` says which page and which of the two is meant.

mod atomic;
mod debug;
mod eswitch;
pub mod general;
mod general_2;

pub use self::{
    atomic::Atomic,
    debug::Debug,
    eswitch::Eswitch,
    general::{
        General,
        PortType, //
    },
    general_2::General2, //
};

use crate::{
    codes,
    commands,
    layout, //
};

layout! {
    /// Input of QUERY_HCA_CAP; `op_mod` is made by [`CapType::op_mod`].
    pub struct QueryHcaCapIn: input "query_hca_cap_in", 0x10 {
        0x08 [31:31] other_function: RW, "1: function_id counts; 0: the own function is meant.";
        0x08 [30:30] ec_vf_function: RW, "1: the function is a VF of an embedded CPU.";
        0x08 [28:28] function_id_type: RW, "0: function_id counts functions; 1: it is a vhca_id.";
        0x08 [15:0] function_id: RW, "Function that is asked about.";
    }

    /// Output of QUERY_HCA_CAP, fixed part; the page follows.
    pub struct QueryHcaCapOut: output "query_hca_cap_out" head, 0x10 {}

    /// Input of SET_HCA_CAP, fixed part; the page follows. `op_mod` is made by
    /// [`CapType::op_mod`] for the maximum.
    pub struct SetHcaCapIn: input "set_hca_cap_in" head, 0x10 {
        0x08 [31:31] other_function: RW, "1: function_id counts; 0: the own function is meant.";
        0x08 [30:30] ec_vf_function: RW, "1: the function is a VF of an embedded CPU.";
        0x08 [28:28] function_id_type: RW, "0: function_id counts functions; 1: it is a vhca_id.";
        0x08 [15:0] function_id: RW, "Function whose capabilities are chosen.";
    }

    /// Output of SET_HCA_CAP.
    pub struct SetHcaCapOut: output "set_hca_cap_out", 0x10 {}
}

commands! {
    /// Reads a page of capabilities.
    QueryHcaCap = QUERY_HCA_CAP: QueryHcaCapIn => QueryHcaCapOut;
    /// Chooses what the function will use, between ENABLE_HCA and INIT_HCA.
    SetHcaCap = SET_HCA_CAP: SetHcaCapIn => SetHcaCapOut;
}

/// Bytes of a page of capabilities.
pub const PAGE_SIZE: usize = 0x1000;

codes! {
    /// Pages of capabilities.
    pub struct CapType(u16) {
        GENERAL = 0x00 "general",
        ETHERNET_OFFLOADS = 0x01 "Ethernet offloads",
        ODP = 0x02 "on-demand paging",
        ATOMIC = 0x03 "atomic",
        ROCE = 0x04 "RoCE",
        IPOIB = 0x05 "IPoIB",
        IPOIB_ENHANCED = 0x06 "IPoIB enhanced",
        FLOW_TABLE = 0x07 "flow table",
        ESWITCH_FLOW_TABLE = 0x08 "e-switch flow table",
        ESWITCH = 0x09 "e-switch",
        QOS = 0x0c "quality of service",
        DEBUG = 0x0d "debug",
        NVMF = 0x0e "NVMe-oF",
        DEVICE_MEMORY = 0x0f "device memory",
        TLS = 0x11 "TLS",
        VDPA_EMULATION = 0x13 "vDPA emulation",
        DEVICE_EVENT = 0x14 "device event",
        IPSEC = 0x15 "IPsec",
        CRYPTO = 0x1a "crypto",
        SHAMPO = 0x1d "SHAMPO",
        PSP = 0x1e "PSP",
        MACSEC = 0x1f "MACsec",
        GENERAL_2 = 0x20 "general 2",
        PORT_SELECTION = 0x25 "port selection",
        ADV_VIRTUALIZATION = 0x26 "advanced virtualization",
        ADV_RDMA = 0x28 "advanced RDMA",
        TLP_EMULATION = 0x2a "TLP emulation",
    }
}

/// Which of the two forms of a page.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum CapMode {
    /// What the device could do.
    Maximum,
    /// What the device does, as it was chosen.
    Current,
}

impl CapType {
    /// `op_mod` of QUERY_HCA_CAP: the page in bits 15:1, 1 in bit 0 for the current values.
    pub const fn op_mod(self, mode: CapMode) -> u16 {
        let maximum = self.0.saturating_mul(2);

        match mode {
            CapMode::Maximum => maximum,
            CapMode::Current => maximum.saturating_add(1),
        }
    }

    /// The page and mode that an `op_mod` means.
    pub const fn from_op_mod(op_mod: u16) -> (Self, CapMode) {
        let mode = if op_mod % 2 == 0 {
            CapMode::Maximum
        } else {
            CapMode::Current
        };

        (Self(op_mod / 2), mode)
    }
}
