// SPDX-License-Identifier: GPL-2.0

//! HCA capabilities: pages of 4096 bytes, each with its maximum and its current values.

use std::collections::BTreeMap;

use crate::bits;
use crate::ifc::{
    self,
    Field,
    Kind,
    Layout, //
};

/// Size of a capability page.
pub const PAGE_BYTES: usize = 4096;

/// Capability type of QUERY_HCA_CAP and the layout of its page.
/// Source: `enum mlx5_cap_type` of the kernel's `device.h`, for types of which the model has data.
pub const TYPES: &[(u16, &str)] = &[
    (0x00, "cmd_hca_cap"),
    (0x01, "per_protocol_networking_offload_caps"),
    (0x02, "odp_cap"),
    (0x03, "atomic_caps"),
    (0x04, "roce_cap"),
    (0x05, "per_protocol_networking_offload_caps@ipoib"),
    (0x06, "per_protocol_networking_offload_caps@ipoib_enhanced"),
    (0x07, "flow_table_nic_cap"),
    (0x08, "flow_table_eswitch_cap"),
    (0x09, "e_switch_cap"),
    (0x0c, "qos_cap"),
    (0x0d, "debug_cap"),
    (0x0f, "device_mem_cap"),
    (0x11, "tls_cap"),
    (0x13, "virtio_emulation_cap"),
    (0x14, "device_event_cap"),
    (0x15, "ipsec_cap"),
    (0x1a, "crypto_cap"),
    (0x1d, "shampo_cap"),
    (0x1e, "psp_cap"),
    (0x1f, "macsec_cap"),
    (0x20, "cmd_hca_cap_2"),
    (0x25, "port_selection_cap"),
    (0x26, "adv_virtualization_cap"),
    (0x28, "adv_rdma_cap"),
    (0x2a, "tlp_dev_emu_capabilities"),
];

/// Fields that the header lacks. Source: an NVIDIA-generated PRM header.
const EXTRA: &[(&str, &str, Field)] = &[
    ("cmd_hca_cap", "host_net_functions_changed", one(0xe8, 14)),
    (
        "cmd_hca_cap",
        "driver_version_before_init_hca",
        one(0xac, 7),
    ),
];

const fn one(byte: u32, from_low: u32) -> Field {
    Field {
        bit: byte * 8 + 31 - from_low,
        width: 1,
        count: 1,
    }
}

/// Fields that SET_HCA_CAP may change, by page; all others are fixed.
const SETTABLE: &[(&str, &[&str])] = &[
    (
        "cmd_hca_cap",
        &[
            "pkey_table_size",
            "log_max_qp",
            "cmdif_checksum",
            "uar_4k",
            "log_uar_page_sz",
            "cache_line_128byte",
            "dct",
            "pci_sync_for_fw_update_event",
            "pci_sync_for_fw_update_with_driver_unload",
            "pcie_reset_using_hotreset_method",
            "num_vhca_ports",
            "release_all_pages",
            "icm_mng_function_id_mode",
            "mkey_by_name",
            "vhca_state",
            "event_on_vhca_state_invalid",
            "event_on_vhca_state_allocated",
            "event_on_vhca_state_active",
            "event_on_vhca_state_in_use",
            "event_on_vhca_state_teardown_request",
            "num_total_dynamic_vf_msix",
            "roce",
            "log_max_current_uc_list",
            "abs_native_port_num",
        ],
    ),
    ("atomic_caps", &["atomic_req_8B_endianness_mode"]),
    (
        "odp_cap",
        &[
            "mem_page_fault",
            "transport_page_fault_scheme_cap",
            "memory_page_fault_scheme_cap",
        ],
    ),
    (
        "roce_cap",
        &["sw_r_roce_src_udp_port", "qp_ooo_transmit_default"],
    ),
    (
        "cmd_hca_cap_2",
        &["sw_vhca_id_valid", "sw_vhca_id", "lag_per_mp_group"],
    ),
    ("port_selection_cap", &["port_select_flow_table_bypass"]),
];

/// Fields whose smaller values are not "less": the maximum is no bound for them.
const UNBOUNDED: &[&str] = &["pkey_table_size"];

/// A capability page.
#[derive(Clone)]
pub struct Page {
    pub max: Vec<u8>,
    pub current: Vec<u8>,
}

impl Default for Page {
    fn default() -> Self {
        Page {
            max: vec![0; PAGE_BYTES],
            current: vec![0; PAGE_BYTES],
        }
    }
}

/// A change that SET_HCA_CAP may not make.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum SetError {
    AboveMax { field: String, asked: u64, max: u64 },
    Fixed { field: String, asked: u64, is: u64 },
}

impl std::fmt::Display for SetError {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            SetError::AboveMax { field, asked, max } => {
                write!(f, "{field} = 0x{asked:x} is above its maximum 0x{max:x}")
            }
            SetError::Fixed { field, asked, is } => {
                write!(f, "{field} = 0x{asked:x}, but it is fixed at 0x{is:x}")
            }
        }
    }
}

/// All capability pages of a function.
#[derive(Clone, Default)]
pub struct Capabilities {
    pages: BTreeMap<u16, Page>,
    /// What the function has after a reset.
    initial: BTreeMap<u16, Page>,
}

/// Type and field of a name such as `cmd_hca_cap.log_max_eq`.
fn resolve(name: &str) -> Option<(u16, Field)> {
    let (page, path) = name.split_once('.')?;
    let kind = TYPES.iter().find(|(_, n)| *n == page)?.0;
    let plain = page.split('@').next()?;
    let field = EXTRA
        .iter()
        .find(|(p, n, _)| *p == plain && *n == path)
        .map(|(_, _, f)| *f)
        .or_else(|| ifc::layout(plain)?.field(path))?;
    // A layout without parts of its own: wider fields have no single value.
    (field.width <= 64 && field.count <= 1).then_some((kind, field))
}

impl Capabilities {
    /// Sets a field by name in its maximum, its current value, or both; also after a reset.
    ///
    /// # Errors
    ///
    /// If there is no such field or the value does not fit.
    pub fn define(&mut self, name: &str, current: u64, max: u64) -> Result<(), String> {
        let (kind, field) =
            resolve(name).ok_or_else(|| format!("there is no capability {name}"))?;
        for value in [current, max] {
            if field.width < 64 && value >> field.width != 0 {
                return Err(format!(
                    "{name} has {} bits, too few for {value}",
                    field.width
                ));
            }
        }
        for pages in [&mut self.pages, &mut self.initial] {
            let page = pages.entry(kind).or_default();
            bits::set(&mut page.max, field, max);
            bits::set(&mut page.current, field, current);
        }
        Ok(())
    }

    /// Adds a page without any value, so that its type can be queried.
    pub fn add_page(&mut self, kind: u16) {
        self.pages.entry(kind).or_default();
        self.initial.entry(kind).or_default();
    }

    /// Current value of a field by name; 0 if the function has none.
    pub fn get(&self, name: &str) -> u64 {
        self.value(name, false)
    }

    /// Maximum of a field by name.
    pub fn get_max(&self, name: &str) -> u64 {
        self.value(name, true)
    }

    fn value(&self, name: &str, max: bool) -> u64 {
        let Some((kind, field)) = resolve(name) else {
            debug_assert!(false, "no capability {name}");
            return 0;
        };
        self.pages.get(&kind).map_or(0, |p| {
            bits::get(if max { &p.max } else { &p.current }, field)
        })
    }

    /// True if a name is one of a capability.
    pub fn known(name: &str) -> bool {
        resolve(name).is_some()
    }

    /// A page by its type.
    pub fn page(&self, kind: u16) -> Option<&Page> {
        self.pages.get(&kind)
    }

    /// Back to what the function has after a reset.
    pub fn reset(&mut self) {
        self.pages = self.initial.clone();
    }

    /// SET_HCA_CAP: stores what may be changed.
    ///
    /// # Errors
    ///
    /// All changes that are not allowed; nothing is stored then.
    pub fn set_page(&mut self, kind: u16, asked: &[u8]) -> Result<(), Vec<SetError>> {
        let name = TYPES
            .iter()
            .find(|(k, _)| *k == kind)
            .map_or("", |(_, n)| n);
        let (Some(page), Some(layout)) = (self.pages.get_mut(&kind), ifc::layout(name)) else {
            return Ok(());
        };
        let settable = SETTABLE
            .iter()
            .find(|(n, _)| *n == name)
            .map_or(&[][..], |(_, f)| f);
        let mut errors = Vec::new();
        let mut stored = page.current.clone();
        let mut compare = |path: &str, field: Field, may_set: bool| {
            let (want, max, is) = (
                bits::get(asked, field),
                bits::get(&page.max, field),
                bits::get(&page.current, field),
            );
            let field_name = path.to_string();
            if may_set && want > max && !UNBOUNDED.contains(&path) {
                errors.push(SetError::AboveMax {
                    field: field_name,
                    asked: want,
                    max,
                });
            } else if may_set {
                bits::set(&mut stored, field, want);
            } else if want != is && want != 0 {
                errors.push(SetError::Fixed {
                    field: field_name,
                    asked: want,
                    is,
                });
            }
        };
        walk(layout, 0, "", false, settable, &mut compare);
        if errors.is_empty() {
            page.current = stored;
            Ok(())
        } else {
            Err(errors)
        }
    }

    /// `name = current max` for all fields with a value.
    pub fn list(&self) -> Vec<String> {
        let mut lines = Vec::new();
        for (kind, name) in TYPES {
            let plain = name.split('@').next().unwrap_or("");
            let (Some(page), Some(layout)) = (self.pages.get(kind), ifc::layout(plain)) else {
                continue;
            };
            let mut show = |path: &str, field: Field, _: bool| {
                let (current, max) = (bits::get(&page.current, field), bits::get(&page.max, field));
                if current != 0 || max != 0 {
                    lines.push(format!("{name}.{path} = 0x{current:x} max 0x{max:x}"));
                }
            };
            walk(layout, 0, "", false, &[], &mut show);
        }
        lines
    }
}

/// Visits all named fields of at most 64 bits, one element at a time.
fn walk(
    layout: &Layout,
    base: u32,
    prefix: &str,
    may_set: bool,
    settable: &[&str],
    visit: &mut impl FnMut(&str, Field, bool),
) {
    for m in layout.members {
        for i in 0..m.count {
            let mut path = match (prefix.is_empty(), m.name.is_empty()) {
                (true, _) => m.name.to_string(),
                (false, true) => prefix.to_string(),
                (false, false) => format!("{prefix}.{}", m.name),
            };
            let may_set = may_set || settable.contains(&path.as_str());
            if m.count > 1 {
                path.push_str(&format!("[{i}]"));
            }
            let bit = base
                .saturating_add(m.bit)
                .saturating_add(m.width.saturating_mul(i));
            match m.kind {
                Kind::Reserved => {}
                Kind::Value => {
                    let field = Field {
                        bit,
                        width: m.width.min(64),
                        count: 1,
                    };
                    visit(&path, field, may_set);
                }
                Kind::Layout(index) => {
                    if let Some(inner) = ifc::LAYOUTS.get(index) {
                        walk(inner, bit, &path, may_set, settable, visit);
                    }
                }
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn caps() -> Capabilities {
        let mut c = Capabilities::default();
        c.define("cmd_hca_cap.log_max_qp", 17, 18).unwrap();
        c.define("cmd_hca_cap.log_max_eq", 7, 7).unwrap();
        c
    }

    #[test]
    fn every_name_in_the_tables_exists() {
        for (_, name) in TYPES {
            let plain = name.split('@').next().unwrap();
            assert!(ifc::layout(plain).is_some(), "{name}");
        }
        for (page, fields) in SETTABLE {
            for f in *fields {
                assert!(ifc::layout(page).unwrap().field(f).is_some(), "{page}.{f}");
            }
        }
        for (page, name, _) in EXTRA {
            assert!(ifc::layout(page).unwrap().field(name).is_none(), "{name}");
        }
    }

    #[test]
    fn set_hca_cap_stores_and_refuses() {
        let mut c = caps();
        let mut page = c.page(0).unwrap().current.clone();
        let l = ifc::layout("cmd_hca_cap").unwrap();
        bits::set(&mut page, l.field("log_max_qp").unwrap(), 18);
        c.set_page(0, &page).unwrap();
        assert_eq!(c.get("cmd_hca_cap.log_max_qp"), 18);
        bits::set(&mut page, l.field("log_max_qp").unwrap(), 19);
        bits::set(&mut page, l.field("log_max_eq").unwrap(), 5);
        let errors = c.set_page(0, &page).unwrap_err();
        assert_eq!(errors.len(), 2, "{errors:?}");
        assert_eq!(c.get("cmd_hca_cap.log_max_qp"), 18);
        c.reset();
        assert_eq!(c.get("cmd_hca_cap.log_max_qp"), 17);
    }

    #[test]
    fn define_checks() {
        let mut c = caps();
        assert!(c.define("cmd_hca_cap.log_max_qp", 32, 32).is_err());
        assert!(c.define("cmd_hca_cap.nonsense", 0, 0).is_err());
        assert!(c.define("nonsense.x", 0, 0).is_err());
        assert!(Capabilities::known("roce_cap.roce_version"));
        assert!(c
            .list()
            .iter()
            .any(|l| l == "cmd_hca_cap.log_max_eq = 0x7 max 0x7"));
    }
}
