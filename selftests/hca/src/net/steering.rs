// SPDX-License-Identifier: GPL-2.0

//! Flow tables: groups of entries, roots, counters, and a packet's way through them.

use std::collections::{
    BTreeMap,
    BTreeSet, //
};

use super::frame::Headers;
use super::matching::{
    self,
    Origin, //
};

/// Kinds of flow tables. Source: `MLX5_FLOW_TABLE_TYPE_*` of the kernel's header.
pub mod kind {
    pub const NIC_RX: u8 = 0x0;
    pub const NIC_TX: u8 = 0x1;
}

/// Actions of an entry. Source: `MLX5_FLOW_CONTEXT_ACTION_*` of the kernel's header.
pub mod action {
    pub const ALLOW: u16 = 0x1;
    pub const DROP: u16 = 0x2;
    pub const FORWARD: u16 = 0x4;
    pub const COUNT: u16 = 0x8;
    /// What the model can do.
    pub const KNOWN: u16 = ALLOW | DROP | FORWARD | COUNT;
}

/// `table_miss_action`. Source: `enum mlx5_flow_table_miss_action` of the kernel's header.
pub mod miss {
    pub const DEFAULT: u8 = 0;
    pub const FORWARD: u8 = 1;
}

/// Tables that a packet may pass; each forwards to a higher level, so it is a bound for mistakes.
const MAX_TABLES: usize = 256;

/// Where an entry sends a packet.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Destination {
    Table(u32),
    Tir(u32),
}

/// A group: entries of a range of indexes that share their criteria.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Group {
    pub start: u32,
    pub end: u32,
    pub criteria: Vec<u8>,
}

/// An entry.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Entry {
    /// Its number among all objects, which hold the references.
    pub object: u32,
    pub group: u32,
    pub actions: u16,
    pub tag: u32,
    pub value: Vec<u8>,
    pub destinations: Vec<Destination>,
    pub counters: Vec<u32>,
}

/// A table.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Table {
    pub kind: u8,
    pub level: u8,
    pub log_size: u8,
    pub miss_action: u8,
    pub miss_table: u32,
    pub groups: BTreeMap<u32, Group>,
    pub entries: BTreeMap<u32, Entry>,
}

/// Packets and bytes that passed.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Traffic {
    pub packets: u64,
    pub bytes: u64,
}

impl Traffic {
    /// Counts a frame.
    pub fn count(&mut self, bytes: usize) {
        self.packets = self.packets.wrapping_add(1);
        self.bytes = self.bytes.wrapping_add(bytes as u64);
    }
}

/// What the tables say about a packet.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Verdict {
    /// TIRs that get it, with the flow tag.
    pub tirs: Vec<(u32, u32)>,
    /// An entry lets it pass to where it would go without tables.
    pub allowed: bool,
    pub dropped: bool,
    /// It left the tables without a match.
    pub missed: bool,
}

/// All tables of the function.
#[derive(Debug, Clone, Default)]
pub struct Steering {
    pub tables: BTreeMap<u32, Table>,
    /// First table of each kind.
    pub roots: BTreeMap<u8, u32>,
    pub counters: BTreeMap<u32, Traffic>,
}

impl Steering {
    /// Sends a packet through the tables of a kind.
    pub fn walk(&mut self, kind: u8, headers: &Headers, origin: Origin, bytes: usize) -> Verdict {
        let mut verdict = Verdict::default();
        let Some(root) = self.roots.get(&kind) else {
            verdict.missed = true;
            return verdict;
        };
        let image = matching::image(headers, origin);
        let mut todo = vec![(*root, 0)];
        let mut seen = BTreeSet::new();
        while let Some((number, tag)) = todo.pop() {
            let Some(table) = self.tables.get(&number) else {
                verdict.missed = true;
                continue;
            };
            if !seen.insert(number) || seen.len() > MAX_TABLES {
                continue;
            }
            let Some(entry) = table.find(&image) else {
                match table.miss_action {
                    miss::FORWARD => todo.push((table.miss_table, tag)),
                    _ => verdict.missed = true,
                }
                continue;
            };
            let tag = if entry.tag != 0 { entry.tag } else { tag };
            if entry.actions & action::COUNT != 0 {
                for c in &entry.counters {
                    if let Some(traffic) = self.counters.get_mut(c) {
                        traffic.count(bytes);
                    }
                }
            }
            verdict.dropped |= entry.actions & action::DROP != 0;
            verdict.allowed |= entry.actions & action::ALLOW != 0;
            if entry.actions & action::FORWARD != 0 {
                for d in &entry.destinations {
                    match d {
                        Destination::Table(t) => todo.push((*t, tag)),
                        Destination::Tir(t) => verdict.tirs.push((*t, tag)),
                    }
                }
            }
        }
        verdict
    }
}

impl Table {
    /// The entry that matches; the lowest index comes first.
    fn find(&self, image: &[u8]) -> Option<&Entry> {
        self.entries.values().find(|e| {
            self.groups
                .get(&e.group)
                .is_some_and(|g| matching::agrees(image, &g.criteria, &e.value))
        })
    }

    /// Number of entries that the table has room for.
    pub fn size(&self) -> u32 {
        1u32.checked_shl(self.log_size.into()).unwrap_or(u32::MAX)
    }
}

#[cfg(test)]
mod tests {
    use super::super::frame::tests::{
        ipv4_frame,
        udp, //
    };
    use super::*;
    use crate::bits;
    use crate::ifc::fields::{
        fte_match_param,
        fte_match_set_lyr_2_4, //
    };

    fn entry(port: u64, actions: u16, destinations: &[Destination]) -> Entry {
        let mut value = vec![0; matching::BYTES];
        let f = fte_match_param::OUTER_HEADERS / fte_match_set_lyr_2_4::UDP_DPORT;
        bits::set(&mut value, f, port);
        Entry {
            object: 0,
            group: 1,
            actions,
            tag: 0,
            value,
            destinations: destinations.to_vec(),
            counters: vec![9],
        }
    }

    fn table(entries: &[Entry]) -> Table {
        let mut criteria = vec![0; matching::BYTES];
        let f = fte_match_param::OUTER_HEADERS / fte_match_set_lyr_2_4::UDP_DPORT;
        bits::set(&mut criteria, f, 0xffff);
        let group = Group {
            start: 0,
            end: 7,
            criteria,
        };
        Table {
            log_size: 3,
            groups: [(1, group)].into(),
            entries: (0..).zip(entries.iter().cloned()).collect(),
            ..Table::default()
        }
    }

    fn walk(s: &mut Steering, port: u16) -> Verdict {
        let f = ipv4_frame(17, &udp(1, port, &[]));
        s.walk(
            kind::NIC_RX,
            &Headers::parse(&f).unwrap(),
            Origin::default(),
            f.len(),
        )
    }

    #[test]
    fn forward_count_drop_miss() {
        let mut s = Steering::default();
        assert!(walk(&mut s, 1).missed);
        s.counters.insert(9, Traffic::default());
        let tagged = Entry {
            tag: 5,
            ..entry(1, action::FORWARD | action::COUNT, &[Destination::Table(2)])
        };
        s.tables
            .insert(1, table(&[tagged, entry(2, action::DROP, &[])]));
        let to_both = [Destination::Tir(7), Destination::Tir(8)];
        s.tables
            .insert(2, table(&[entry(1, action::FORWARD, &to_both)]));
        s.roots.insert(kind::NIC_RX, 1);
        assert_eq!(walk(&mut s, 1).tirs, [(7, 5), (8, 5)]);
        assert_eq!(
            s.counters[&9],
            Traffic {
                packets: 1,
                bytes: 42
            }
        );
        assert!(walk(&mut s, 2).dropped);
        assert!(walk(&mut s, 3).missed);
        let t = s.tables.get_mut(&1).unwrap();
        (t.miss_action, t.miss_table) = (miss::FORWARD, 2);
        assert!(walk(&mut s, 3).missed);
        let t = s.tables.get_mut(&2).unwrap();
        t.entries.insert(1, entry(3, action::ALLOW, &[]));
        assert!(walk(&mut s, 3).allowed);
    }

    #[test]
    fn a_loop_of_tables_ends() {
        let mut s = Steering::default();
        s.tables.insert(
            1,
            table(&[entry(1, action::FORWARD, &[Destination::Table(1)])]),
        );
        s.roots.insert(kind::NIC_RX, 1);
        assert_eq!(walk(&mut s, 1), Verdict::default());
    }
}
