// SPDX-License-Identifier: GPL-2.0

//! ACCESS_REG: registers of the device that are read and written by command.
//!
//! The registers that this file has are those that say which others there are (MCAM, PCAM, QCAM),
//! and HOST_ENDIANNESS. DTOR is in [`super::timeout`]. A register's data follow the fixed part of
//! input and output.

use super::{
    bits,
    layout::Layout, //
};
use crate::{
    codes,
    commands,
    layout, //
};

pub use super::timeout::Dtor;

layout! {
    /// Input of ACCESS_REG, fixed part; `op_mod` is an [`AccessRegMod`].
    pub struct AccessRegIn: input "access_register_in", 0x10 {
        0x08 [15:0] register_id: RW, "Register.", names(RegisterId::name_of);
        0x0c [31:0] argument: RW, "What of it, for registers that need more than their data.";
    }

    /// Output of ACCESS_REG, fixed part.
    pub struct AccessRegOut: output "access_register_out", 0x10 {}

    /// Register HOST_ENDIANNESS: how the host keeps numbers in memory.
    pub struct HostEndianness: plain "register_host_endianness", 0x10 {
        0x00 [31:31] he: RW, "0: little-endian; 1: big-endian.";
    }

    /// Register NODE_DESC: the node's description.
    pub struct NodeDescription: plain "", 0x40 {
        0x00 [64 bytes] node_description: RW, "Text, ended with a zero.",
            source("struct mlx5_reg_node_desc in mlx5_ib main.c");
    }

    /// Register MCAM: which management registers and features there are.
    pub struct Mcam: plain "mcam_reg", 0x48 {
        0x00 [23:16] feature_group: RW, "Group of features that is asked about.";
        0x00 [7:0] access_reg_group: RW, "Group of 128 registers that is asked about, from 9000h.";
        0x08 [16 bytes] mng_access_reg_cap_mask: RO, "Bit n: register n of the group.";
        0x28 [16 bytes] mng_feature_cap_mask: RO, "Bit n: feature n of the group.";
    }

    /// Register PCAM: which port registers and features there are.
    pub struct Pcam: plain "pcam_reg", 0x50 {
        0x00 [23:16] feature_group: RW, "Group of features that is asked about.";
        0x00 [7:0] access_reg_group: RW, "Group of 128 registers that is asked about, from 5000h.";
        0x08 [16 bytes] port_access_reg_cap_mask: RO, "Bit n: register n of the group.";
        0x28 [16 bytes] feature_cap_mask: RO, "Bit n: feature n of the group.";
    }

    /// Register QCAM: which quality of service registers and features there are.
    pub struct Qcam: plain "qcam_reg", 0x48 {
        0x00 [23:16] feature_group: RW, "Group of features that is asked about.";
        0x00 [7:0] access_reg_group: RW, "Group of 128 registers that is asked about, from 4000h.";
        0x08 [16 bytes] qos_access_reg_cap_mask: RO, "Bit n: register n of the group.";
        0x28 [16 bytes] qos_feature_cap_mask: RO, "Bit n: feature n of the group.";
    }

    /// MCAM's register mask of group 0: 9000h to 907Fh.
    pub struct McamRegs: plain "mcam_access_reg", 0x10 {
        0x00 [3:3] mcda: RO, "Component download: data.";
        0x00 [2:2] mcc: RO, "Component download: control.";
        0x00 [1:1] mcqi: RO, "Component download: information.";
        0x00 [0:0] mcqs: RO, "Component download: state.";
        0x04 [25:25] mpir: RO, "PCI information.";
        0x04 [22:22] mpegc: RO, "PCI general control.";
        0x04 [21:21] mtutc: RO, "Clock of the card.";
        0x04 [3:0] tracer_registers: RO, "MTRC_CAP, MTRC_CONF, MTRC_STDB, MTRC_CTRL (bits 0 to 3).";
        0x08 [13:13] mrtc: RO, "Time of day.";
        0x08 [8:8] mfrl: RO, "Firmware reset level.";
        0x0c [10:10] mtmp: RO, "Temperature.";
    }

    /// MCAM's register mask of group 2: 9100h to 917Fh.
    pub struct McamRegs2: plain "mcam_access_reg_bits2", 0x10 {
        0x00 [2:2] mirc: RO, "Firmware image reactivation.";
        0x04 [22:21] synce_registers: RO, "Synchronous Ethernet.";
    }

    /// MCAM's register mask of group 3: 9180h to 91FFh.
    pub struct McamRegs3: plain "mcam_access_reg_bits3", 0x10 {
        0x0c [2:2] mrtcq: RO, "Query of the time of day.";
        0x0c [1:1] mtctr: RO, "Translation between clocks.";
        0x0c [0:0] mtptm: RO, "Precision time measurement.";
    }

    /// MCAM's feature mask.
    pub struct McamFeatures: plain "mcam_enhanced_features", 0x10 {
        0x08 [15:15] mtutc_freq_adj_units: RO, "MTUTC knows units of frequency.";
        0x08 [14:14] mtutc_time_adjustment_extended_range: RO, "MTUTC takes large time steps.";
        0x08 [2:2] mcia_32dwords: RO, "MCIA reads 128 bytes at once.";
        0x08 [1:1] out_pulse_duration_ns: RO, "Length of output pulses in nanoseconds.";
        0x08 [0:0] npps_period: RO, "Period of output pulses in nanoseconds.";
        0x0c [21:21] reset_state: RO, "MFRL shows the state of a reset.";
        0x0c [20:20] ptpcyc2realtime_modify: RO, "The clock's mode can be changed.";
        0x0c [17:17] pci_status_and_power: RO, "MPEIN shows the slot's power.";
        0x0c [11:11] mark_tx_action_cnp: RO, "A mark in transmission can send a CNP.";
        0x0c [10:10] mark_tx_action_cqe: RO, "A mark in transmission can write a CQE.";
        0x0c [9:9] dynamic_tx_overflow: RO, "Threshold of transmission overflow adapts.";
        0x0c [4:4] pcie_outbound_stalled: RO, "Counters of stalled outbound PCI accesses.";
        0x0c [3:3] tx_overflow_buffer_pkt: RO, "Counter of packets that overflow in transmission.";
        0x0c [2:2] mtpps_enh_out_per_adj: RO, "Enhanced adjustment of output pulses.";
        0x0c [1:1] mtpps_fs: RO, "MTPPS has field select.";
        0x0c [0:0] pcie_performance_group: RO, "Counters of PCI performance.";
    }

    /// PCAM's register mask of group 0: 5000h to 507Fh.
    pub struct PcamRegs: plain "pcam_regs_5000_to_507f", 0x10 {
        0x08 [30:30] pphcr: RO, "Histograms of FEC errors.";
        0x08 [3:3] pplm: RO, "FEC mode.";
        0x0c [12:12] pbmc: RO, "Receive buffers.";
        0x0c [11:11] pptb: RO, "Priority to receive buffer.";
        0x0c [8:8] ppcnt: RO, "Port counters.";
    }

    /// PCAM's feature mask.
    pub struct PcamFeatures: plain "pcam_enhanced_features", 0x10 {
        0x00 [15:15] ppcnt_recovery_counters: RO, "Counters of link recovery.";
        0x00 [7:7] cable_length: RO, "Length of the cable.";
        0x00 [2:2] fec_200g_per_lane_in_pplm: RO, "PPLM knows 200G per lane.",
            ifc("fec_200G_per_lane_in_pplm");
        0x08 [23:23] fec_100g_per_lane_in_pplm: RO, "PPLM knows 100G per lane.",
            ifc("fec_100G_per_lane_in_pplm");
        0x08 [20:20] shp_pbmc_pbsr_support: RO, "Shared headroom in PBMC and PBSR.";
        0x08 [12:12] buffer_ownership: RO, "Who owns the receive buffers' settings.";
        0x0c [23:23] fec_50g_per_lane_in_pplm: RO, "PPLM knows 50G per lane.",
            ifc("fec_50G_per_lane_in_pplm");
        0x0c [18:18] rx_icrc_encapsulated_counter: RO, "Counter of bad ICRC in RoCE packets.";
        0x0c [13:13] ptys_extended_ethernet: RO, "PTYS has the extended Ethernet masks.";
        0x0c [9:9] pfcc_mask: RO, "PFCC has a mask for pause.";
        0x0c [5:5] per_lane_error_counters: RO, "Error counters per lane.";
        0x0c [4:4] rx_buffer_fullness_counters: RO, "Counters of full receive buffers.";
        0x0c [3:3] ptys_connector_type: RO, "PTYS has the connector's type.";
        0x0c [1:1] ppcnt_discard_group: RO, "Counters of discarded packets.";
        0x0c [0:0] ppcnt_statistical_group: RO, "Counters of the physical layer.";
    }

    /// QCAM's register mask of group 0: 4000h to 407Fh.
    pub struct QcamRegs: plain "qcam_access_reg_cap_mask", 0x10 {
        0x0c [19:19] qpdpm: RO, "DSCP to priority.";
        0x0c [3:3] qdpm: RO, "DSCP to priority, older form.";
        0x0c [2:2] qpts: RO, "What is trusted for the priority.";
        0x0c [1:1] qcap: RO, "Capabilities of quality of service.";
    }

    /// QCAM's feature mask.
    pub struct QcamFeatures: plain "qcam_qos_feature_cap_mask", 0x10 {
        0x0c [4:4] qetcr_qshr_max_bw_val_msb: RO, "Bandwidth limits have more bits.";
        0x0c [0:0] qpts_trust_both: RO, "DSCP and PCP can be trusted together.";
    }
}

commands! {
    /// Reads or writes a register.
    AccessReg = ACCESS_REG: AccessRegIn => AccessRegOut;
}

codes! {
    /// `op_mod` of ACCESS_REG.
    pub struct AccessRegMod(u16) {
        WRITE = 0 "write",
        READ = 1 "read",
    }
}

codes! {
    /// Numbers of registers.
    pub struct RegisterId(u16) {
        QPTS = 0x4002 "QPTS",
        QETCR = 0x4005 "QETCR",
        QTCT = 0x400a "QTCT",
        QPDPM = 0x4013 "QPDPM",
        QCAM = 0x4019 "QCAM",
        DCBX_PARAM = 0x4020 "DCBX_PARAM",
        DCBX_APP = 0x4021 "DCBX_APP",
        FPGA_CAP = 0x4022 "FPGA_CAP",
        FPGA_CTRL = 0x4023 "FPGA_CTRL",
        FPGA_ACCESS_REG = 0x4024 "FPGA_ACCESS_REG",
        CORE_DUMP = 0x402e "CORE_DUMP",
        PCAP = 0x5001 "PCAP",
        PMLP = 0x5002 "PMLP",
        PMTU = 0x5003 "PMTU",
        PTYS = 0x5004 "PTYS",
        PAOS = 0x5006 "PAOS",
        PFCC = 0x5007 "PFCC",
        PPCNT = 0x5008 "PPCNT",
        PUDE = 0x5009 "PUDE",
        PPTB = 0x500b "PPTB",
        PBMC = 0x500c "PBMC",
        PELC = 0x500e "PELC",
        PVLC = 0x500f "PVLC",
        PMPE = 0x5010 "PMPE",
        PMAOS = 0x5012 "PMAOS",
        PPLM = 0x5023 "PPLM",
        PDDR = 0x5031 "PDDR",
        PCMR = 0x5041 "PCMR",
        PCAM = 0x507f "PCAM",
        NODE_DESC = 0x6001 "NODE_DESC",
        HOST_ENDIANNESS = 0x7004 "HOST_ENDIANNESS",
        MTCAP = 0x9009 "MTCAP",
        MTMP = 0x900a "MTMP",
        MCIA = 0x9014 "MCIA",
        MFRL = 0x9028 "MFRL",
        MLCR = 0x902b "MLCR",
        MRTC = 0x902d "MRTC",
        MTRC_CAP = 0x9040 "MTRC_CAP",
        MTRC_CONF = 0x9041 "MTRC_CONF",
        MTRC_STDB = 0x9042 "MTRC_STDB",
        MTRC_CTRL = 0x9043 "MTRC_CTRL",
        MPEIN = 0x9050 "MPEIN",
        MPCNT = 0x9051 "MPCNT",
        MTPPS = 0x9053 "MTPPS",
        MTPPSE = 0x9054 "MTPPSE",
        MTUTC = 0x9055 "MTUTC",
        MPEGC = 0x9056 "MPEGC",
        MCQS = 0x9060 "MCQS",
        MCQI = 0x9061 "MCQI",
        MCC = 0x9062 "MCC",
        MCDA = 0x9063 "MCDA",
        MCAM = 0x907f "MCAM",
        MIRC = 0x9162 "MIRC",
        SBPR = 0xb001 "SBPR",
        SBCM = 0xb002 "SBCM",
        SBCAM = 0xb01f "SBCAM",
        RESOURCE_DUMP = 0xc000 "RESOURCE_DUMP",
        DTOR = 0xc00e "DTOR",
        RCR = 0xc00f "RCR",
    }
}

/// Where a register's capability bit is.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct CapabilityBit {
    /// The register with the mask: QCAM, PCAM or MCAM.
    pub register: RegisterId,
    /// Its `access_reg_group`.
    pub group: u8,
    /// The bit of the mask.
    pub bit: u8,
}

impl RegisterId {
    /// Registers that one mask covers.
    const GROUP: u16 = 0x80;

    /// Where the register's capability bit is; [`None`] where no mask covers it.
    pub fn capability(self) -> Option<CapabilityBit> {
        let (register, first) = match self.0 {
            0x4000..=0x407f => (Self::QCAM, 0x4000),
            0x5000..=0x507f => (Self::PCAM, 0x5000),
            0x9000..=0x91ff => (Self::MCAM, 0x9000),
            _ => return None,
        };
        let index = self.0.checked_sub(first)?;

        Some(CapabilityBit {
            register,
            group: u8::try_from(index / Self::GROUP).ok()?,
            bit: u8::try_from(index % Self::GROUP).ok()?,
        })
    }
}

/// The two questions that the three capability registers answer in the same way.
macro_rules! masks {
    ($type:ident, $registers:ident, $features:ident) => {
        impl $type {
            /// Whether the group that was asked about has register `bit`.
            pub fn has_register(&self, bit: u8) -> bool {
                bits::test(self.$registers(), usize::from(bit))
            }

            /// Whether the group that was asked about has feature `bit`.
            pub fn has_feature(&self, bit: u8) -> bool {
                bits::test(self.$features(), usize::from(bit))
            }
        }
    };
}

masks!(Mcam, mng_access_reg_cap_mask, mng_feature_cap_mask);
masks!(Pcam, port_access_reg_cap_mask, feature_cap_mask);
masks!(Qcam, qos_access_reg_cap_mask, qos_feature_cap_mask);

impl Mcam {
    /// Features that others look for by number.
    pub const FEATURE_MCIA_32DWORDS: u8 = 34;
}

/// A register: a layout that ACCESS_REG reads and writes under a number.
pub trait Register: Layout {
    /// Number of the register.
    const ID: RegisterId;
}

macro_rules! registers {
    ($($layout:ident = $id:ident;)*) => {
        $(
            impl Register for $layout {
                const ID: RegisterId = RegisterId::$id;
            }
        )*
    };
}

registers! {
    HostEndianness = HOST_ENDIANNESS;
    Mcam = MCAM;
    Pcam = PCAM;
    Qcam = QCAM;
    Dtor = DTOR;
    NodeDescription = NODE_DESC;
}
