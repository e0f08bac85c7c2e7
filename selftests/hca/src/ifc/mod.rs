// SPDX-License-Identifier: GPL-2.0

//! Layouts of the manual, generated at build time from the kernel's `mlx5_ifc.h`.
//!
//! `fields::eqc::INTR` is the place of a field in its own layout; `outer / inner` is the place of
//! a field in a layout that stands inside another. [`layout`] finds one by name, for data files
//! and for the checks of reserved bits.

#[cfg(test)]
#[allow(dead_code)]
mod parser;
mod reserved;

pub use reserved::{
    nonzero_reserved,
    Override, //
};

/// Place of a field, counted in bits from the start of its layout.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Field {
    /// Offset of the most significant bit.
    pub bit: u32,
    /// Width of one element in bits.
    pub width: u32,
    /// Number of elements; 0 is a variable tail.
    pub count: u32,
}

impl Field {
    /// Offset in whole bytes.
    pub const fn byte(self) -> usize {
        (self.bit / 8) as usize
    }

    /// Element `n` of an array.
    pub const fn index(self, n: u32) -> Field {
        Field {
            bit: self.bit.saturating_add(self.width.saturating_mul(n)),
            width: self.width,
            count: 1,
        }
    }
}

impl std::ops::Div for Field {
    type Output = Field;

    /// `outer / inner`: the place of `inner` seen from the layout that holds `outer`.
    fn div(self, inner: Field) -> Field {
        Field {
            bit: self.bit.saturating_add(inner.bit),
            ..inner
        }
    }
}

/// A struct or union of the header.
#[derive(Debug)]
pub struct Layout {
    pub name: &'static str,
    /// Size without the variable tail.
    pub bits: u32,
    /// Which it is matters to tests alone: in both, members carry their offset.
    #[cfg_attr(not(test), allow(dead_code))]
    pub union: bool,
    pub members: &'static [Member],
}

/// A member of a layout.
#[derive(Debug)]
pub struct Member {
    pub name: &'static str,
    pub bit: u32,
    pub width: u32,
    pub count: u32,
    pub kind: Kind,
}

/// What a member holds.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Kind {
    Reserved,
    Value,
    /// Index in [`LAYOUTS`].
    Layout(usize),
}

include!(concat!(env!("OUT_DIR"), "/structs.rs"));

/// One module a layout, one constant a field.
#[allow(dead_code)]
pub mod fields {
    use super::Field;
    include!(concat!(env!("OUT_DIR"), "/fields.rs"));
}

/// Opcodes by name.
#[allow(dead_code)]
pub mod opcode {
    include!(concat!(env!("OUT_DIR"), "/opcodes.rs"));

    /// Name of an opcode as the header has it.
    pub fn name(opcode: u16) -> Option<&'static str> {
        NAMES.iter().find(|(v, _)| *v == opcode).map(|(_, n)| *n)
    }

    /// Opcode of a name.
    pub fn by_name(name: &str) -> Option<u16> {
        NAMES.iter().find(|(_, n)| *n == name).map(|(v, _)| *v)
    }
}

/// Finds a layout by its name.
pub fn layout(name: &str) -> Option<&'static Layout> {
    use std::collections::HashMap;
    use std::sync::OnceLock;
    static INDEX: OnceLock<HashMap<&'static str, &'static Layout>> = OnceLock::new();
    INDEX
        .get_or_init(|| LAYOUTS.iter().map(|l| (l.name, l)).collect())
        .get(name)
        .copied()
}

impl Layout {
    /// Size in bytes without the variable tail.
    pub fn bytes(&self) -> usize {
        (self.bits / 8) as usize
    }

    /// Finds a field by a path such as `eq_context_entry.intr` or `lro_timer[2]`.
    pub fn field(&self, path: &str) -> Option<Field> {
        let (head, rest) = match path.split_once('.') {
            Some((h, r)) => (h, Some(r)),
            None => (path, None),
        };
        let (name, index) = match head.split_once('[') {
            Some((n, i)) => (n, i.strip_suffix(']')?.parse().ok()?),
            None => (head, 0),
        };
        for m in self.members {
            if let (Kind::Layout(i), true) = (m.kind, m.name.is_empty()) {
                let inner = LAYOUTS.get(i)?.field(path);
                if let Some(f) = inner {
                    return Some(Field {
                        bit: f.bit.saturating_add(m.bit),
                        ..f
                    });
                }
                continue;
            }
            if m.name != name {
                continue;
            }
            if index > 0 && index >= m.count {
                return None;
            }
            let here = Field {
                bit: m.bit,
                width: m.width,
                count: m.count,
            };
            let here = if head.contains('[') {
                here.index(index)
            } else {
                here
            };
            return match (rest, m.kind) {
                (None, _) => Some(here),
                (Some(rest), Kind::Layout(i)) => LAYOUTS.get(i)?.field(rest).map(|f| here / f),
                _ => None,
            };
        }
        None
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn known_offsets() {
        // Offsets as several drivers have them; see also the real entries in cmdq/signature.rs.
        use fields::*;
        assert_eq!(cmd_queue_entry::TOKEN.bit, 0x3c * 8);
        assert_eq!(cmd_queue_entry::BYTES, 64);
        assert_eq!(create_eq_in::EVENT_BITMASK.byte(), 0x58);
        assert_eq!(create_eq_in::PAS.byte(), 0x110);
        assert_eq!(
            (create_eq_in::EQ_CONTEXT_ENTRY / eqc::INTR).byte(),
            0x10 + 0x16
        );
        assert_eq!(cmd_hca_cap::LOG_MAX_EQ.bit, 0x1f * 8 + 4);
        assert_eq!(initial_seg::INITIALIZING.bit, 0x1fc * 8);
        assert_eq!(initial_seg::HEALTH_BUFFER.byte(), 0x200);
        assert_eq!(initial_seg::BYTES, 0x400c);
        assert_eq!(opcode::CREATE_EQ, 0x301);
        assert_eq!(opcode::name(0x740), Some("QUERY_ESW_FUNCTIONS"));
    }

    #[test]
    fn reserved_members_carry_their_offset() {
        // Names such as reserved_at_58 state the offset: a parser error would shift them all.
        // Within the header itself a handful is misnamed.
        let (mut right, mut wrong) = (0, 0);
        for l in LAYOUTS.iter().filter(|l| !l.union) {
            for m in l.members {
                let Some(hex) = m.name.strip_prefix("reserved_at_") else {
                    continue;
                };
                match u32::from_str_radix(hex, 16) {
                    Ok(at) if at == m.bit => right += 1,
                    _ => wrong += 1,
                }
            }
        }
        assert!(right > 2000, "{right}");
        assert!(wrong * 20 < right, "{wrong} of {right}");
    }

    #[test]
    fn paths() {
        let l = layout("create_eq_in").unwrap();
        let f = l.field("eq_context_entry.log_eq_size").unwrap();
        assert_eq!((f.bit, f.width), ((0x10 + 0xc) * 8 + 3, 5));
        assert_eq!(l.field("event_bitmask[2]").unwrap().byte(), 0x68);
        assert!(l.field("event_bitmask[4]").is_none());
        assert!(l.field("nonsense").is_none());
    }
}
