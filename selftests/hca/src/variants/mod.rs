// SPDX-License-Identifier: GPL-2.0

//! The cards that the model can be, each a table of capabilities and facts.
//!
//! A table is a text file of `name = value` lines. `include FILE` takes another one first,
//! `[layout]` names the capability page for the lines that follow, `value max VALUE` gives the
//! maximum where it differs, and `reduced.caps` has what the model cannot keep, with the reason.

use std::time::Duration;

use crate::caps::{
    Capabilities,
    TYPES, //
};
use crate::faults::number;
use crate::iseg::Defaults;
use crate::vpd;

/// Facts and capabilities of a card.
#[derive(Clone)]
pub struct Variant {
    pub name: &'static str,
    pub pci_device_id: u16,
    pub pci_subsystem_id: u16,
    pub pci_revision: u8,
    /// `Max Link Speed` of the PCI Express capability: 3 is 8 GT/s, 4 is 16, 5 is 32.
    pub link_speed: u8,
    pub bar0_bytes: u64,
    pub msix_vectors: u8,
    pub is_vf: bool,
    pub ethernet: bool,
    /// Board id.
    pub psid: &'static str,
    pub hw_id: u32,
    /// Text of the NODE_DESC register.
    pub node_description: &'static str,
    pub iseg: Defaults,
    pub boot_pages: u32,
    pub init_pages: u32,
    /// Vital product data.
    pub vpd: Vec<u8>,
    pub caps: Capabilities,
    /// Capabilities that are lower than on the real card, with the reason.
    pub reduced: Vec<(String, String)>,
}

impl Variant {
    /// Version word of the health buffer: as the driver prints it, major.minor.subminor.
    pub fn fw_version_word(&self) -> u32 {
        let (major, minor, sub) = self.iseg.fw_rev;
        (u32::from(major & 0xff) << 24) | (u32::from(minor & 0xff) << 16) | u32::from(sub)
    }

    /// Free-running timer in kHz.
    pub fn timer_khz(&self) -> u64 {
        self.caps.get("cmd_hca_cap.device_frequency_khz").max(1)
    }
}

/// Facts that are not capabilities.
struct Facts {
    name: &'static str,
    table: &'static str,
    device_id: u16,
    subsystem_id: u16,
    revision: u8,
    link_speed: u8,
    vf: bool,
    vectors: u8,
    psid: &'static str,
    hw_id: u32,
    node_description: &'static str,
    fw_rev: (u16, u16, u16),
    embedded_cpu: bool,
    /// Product name, part number and slot in the vital product data.
    product: &'static str,
    part_number: &'static str,
    link_name: &'static str,
}

/// Size of BAR0 of a physical and of a virtual function.
const PF_BAR0: u64 = 32 << 20;
const VF_BAR0: u64 = 1 << 20;

/// Sources: listings and prints of real cards; see the README.
const CARDS: &[Facts] = &[
    Facts {
        name: "cx5",
        table: include_str!("cx5.caps"),
        device_id: 0x1017,
        subsystem_id: 0x0008,
        revision: 0,
        link_speed: 3,
        vf: false,
        vectors: 64,
        psid: "MT_0000000008",
        hw_id: 0x20d,
        node_description: "MT4119 ConnectX5 Mellanox Technologies",
        fw_rev: (16, 27, 1016),
        embedded_cpu: false,
        product: "CX515A - ConnectX-5 QSFP28",
        part_number: "MCX515A-CCAT",
        link_name: "PCIeGen3 x16",
    },
    Facts {
        name: "cx6dx",
        table: include_str!("cx6dx.caps"),
        device_id: 0x101d,
        subsystem_id: 0x0016,
        revision: 0,
        link_speed: 4,
        vf: false,
        vectors: 64,
        psid: "MT_0000000359",
        hw_id: 0x212,
        node_description: "MT4125 ConnectX6Dx Mellanox Technologies",
        fw_rev: (22, 36, 1010),
        embedded_cpu: false,
        product: "ConnectX-6 Dx EN adapter card",
        part_number: "MCX623106AN-CDAT",
        link_name: "PCIeGen4 x16",
    },
    Facts {
        name: "cx7",
        table: include_str!("cx7.caps"),
        device_id: 0x1021,
        subsystem_id: 0x0026,
        revision: 0,
        link_speed: 5,
        vf: false,
        vectors: 64,
        psid: "MT_0000000838",
        hw_id: 0x218,
        node_description: "MT4129 ConnectX7 Mellanox Technologies",
        fw_rev: (28, 40, 1000),
        embedded_cpu: false,
        product: "NVIDIA ConnectX-7 Ethernet adapter card, 200 GbE , Dual-port QSFP112, PCIe 5.0 x16, Crypto and Secure Boot",
        part_number: "MCX713106AC-VEAT",
        link_name: "PCIeGen5 x16",
    },
    Facts {
        name: "cx7vf",
        table: include_str!("cx7vf.caps"),
        device_id: 0x101e,
        subsystem_id: 0x0026,
        revision: 0,
        link_speed: 5,
        vf: true,
        vectors: 12,
        psid: "MT_0000000838",
        hw_id: 0x218,
        node_description: "MT4129 ConnectX7 Mellanox Technologies",
        fw_rev: (28, 40, 1000),
        embedded_cpu: false,
        product: "",
        part_number: "",
        link_name: "",
    },
    Facts {
        name: "bf2",
        table: include_str!("bf2.caps"),
        device_id: 0xa2d6,
        subsystem_id: 0x0003,
        revision: 1,
        link_speed: 4,
        vf: false,
        vectors: 64,
        psid: "MT_0000000375",
        hw_id: 0x214,
        node_description: "MT41686 BlueField2 Mellanox Technologies",
        fw_rev: (24, 41, 1000),
        embedded_cpu: true,
        product: "BlueField-2 DPU 100GbE Dual-Port QSFP56",
        part_number: "MBF2M516A-CECOT",
        link_name: "PCIeGen4 x16",
    },
];

/// Tables that others include.
const TABLES: &[(&str, &str)] = &[
    ("cx6dx.caps", include_str!("cx6dx.caps")),
    ("cx7.caps", include_str!("cx7.caps")),
    ("ethernet.caps", include_str!("ethernet.caps")),
    ("reduced.caps", include_str!("reduced.caps")),
];

/// Names of all variants.
pub fn names() -> Vec<&'static str> {
    CARDS.iter().map(|f| f.name).collect()
}

/// Builds a variant by name.
///
/// # Errors
///
/// If there is none of that name, or its table has a mistake.
pub fn load(name: &str) -> Result<Variant, String> {
    let f = CARDS.iter().find(|f| f.name == name).ok_or_else(|| {
        format!(
            "there is no variant `{name}`; choose one of {}",
            names().join(", ")
        )
    })?;
    let mut caps = Capabilities::default();
    let mut reduced = Vec::new();
    apply(f.table, &mut caps, &mut reduced).map_err(|e| format!("variant {name}: {e}"))?;
    Ok(Variant {
        name: f.name,
        pci_device_id: f.device_id,
        pci_subsystem_id: f.subsystem_id,
        pci_revision: f.revision,
        link_speed: f.link_speed,
        bar0_bytes: if f.vf { VF_BAR0 } else { PF_BAR0 },
        msix_vectors: f.vectors,
        is_vf: f.vf,
        ethernet: caps.get("cmd_hca_cap.port_type") == 1,
        psid: f.psid,
        hw_id: f.hw_id,
        node_description: f.node_description,
        iseg: Defaults {
            fw_rev: f.fw_rev,
            cmd_interface_rev: 5,
            log_cmdq_size: 5,
            log_cmdq_stride: 6,
            embedded_cpu: f.embedded_cpu,
            initializing: Duration::from_millis(20),
        },
        boot_pages: if f.vf { 20 } else { 300 },
        init_pages: if f.vf { 150 } else { 1500 },
        vpd: vpd::contents(
            f.product,
            &[
                ("PN", f.part_number),
                ("SN", "MT0000X00000"),
                ("V0", f.link_name),
            ],
        ),
        caps,
        reduced,
    })
}

/// Applies a table.
fn apply(
    text: &str,
    caps: &mut Capabilities,
    reduced: &mut Vec<(String, String)>,
) -> Result<(), String> {
    let mut page = String::new();
    for (n, line) in (1..).zip(text.lines()) {
        let at = |e: String| format!("line {n}: {e}");
        let (line, reason) = match line.split_once('#') {
            Some((l, r)) => (l.trim(), r.trim()),
            None => (line.trim(), ""),
        };
        if line.is_empty() {
            continue;
        }
        if let Some(file) = line.strip_prefix("include ") {
            let table = TABLES
                .iter()
                .find(|(name, _)| *name == file.trim())
                .ok_or_else(|| at(format!("no table {file}")))?;
            apply(table.1, caps, reduced).map_err(|e| at(format!("{file}: {e}")))?;
            continue;
        }
        if let Some(name) = line.strip_prefix('[').and_then(|l| l.strip_suffix(']')) {
            page = name.to_string();
            let kind = TYPES.iter().find(|(_, n)| *n == name);
            caps.add_page(kind.ok_or_else(|| at(format!("no page {name}")))?.0);
            continue;
        }
        let (name, value) = line.split_once('=').ok_or_else(|| at("no `=`".into()))?;
        let (current, max) = match value.split_once("max") {
            Some((c, m)) => (c.trim(), m.trim()),
            None => (value.trim(), value.trim()),
        };
        let full = format!("{page}.{}", name.trim());
        let (current, max) = (number(current).map_err(at)?, number(max).map_err(at)?);
        if let Some(reason) = reason.strip_prefix("reduced: ") {
            if caps.get_max(&full) != max {
                let was = caps.get_max(&full);
                reduced.push((format!("{full} {was} -> {max}"), reason.to_string()));
            }
        }
        caps.define(&full, current, max).map_err(at)?;
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn all_tables_are_right() {
        for name in names() {
            let v = load(name).unwrap();
            assert!(v.caps.get("cmd_hca_cap.log_max_eq") >= 3, "{name}");
            assert_eq!(v.iseg.embedded_cpu, name == "bf2");
        }
        assert!(load("nonsense").is_err());
    }

    #[test]
    fn mistakes_are_found() {
        let mut c = Capabilities::default();
        let mut r = vec![];
        for bad in [
            "[nonsense]",
            "x = 1",
            "[cmd_hca_cap]\nlog_max_eq = 99",
            "[cmd_hca_cap]\nrc",
        ] {
            assert!(apply(bad, &mut c, &mut r).is_err(), "{bad}");
        }
    }
}
