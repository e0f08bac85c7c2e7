// SPDX-License-Identifier: GPL-2.0

//! E-switch functions: both output layouts, and what changed.

use mlx5_prm_host::esw::diff::{compare, Change, Subject};
use mlx5_prm_host::esw::render::{self, Entry};
use mlx5_prm_host::esw::snapshot::{Function, Runs, Snapshot};
use mlx5_prm_host::prm::esw::{PfType, QueryEswFunctionsMod, VhcaState};
use proptest::prelude::*;

const LEGACY: QueryEswFunctionsMod = QueryEswFunctionsMod::LEGACY;
const V1: QueryEswFunctionsMod = QueryEswFunctionsMod::V1;

/// Bytes typed from the tables of the manual, not made by the layouts under test: host 1, 3b:02.1,
/// vhca_id 3, 4 of 16 VFs.
fn legacy() -> Vec<u8> {
    let mut out = vec![0; 0x90];
    out[0x10] = 1;
    out[0x11] = 0x02;
    out[0x12..0x14].copy_from_slice(&4u16.to_be_bytes());
    out[0x14..0x16].copy_from_slice(&16u16.to_be_bytes());
    out[0x16..0x18].copy_from_slice(&0x3bu16.to_be_bytes());
    out[0x18..0x1a].copy_from_slice(&3u16.to_be_bytes());
    out[0x1a..0x1c].copy_from_slice(&2u16.to_be_bytes());
    out[0x1e..0x20].copy_from_slice(&1u16.to_be_bytes());
    out
}

/// Two functions: an external host's, in use, and a satellite one.
fn v1() -> Vec<u8> {
    let mut out = vec![0; 0x90];
    out[0x0c] = 2;
    out[0x10] = 1;
    out[0x12..0x14].copy_from_slice(&4u16.to_be_bytes());
    out[0x14..0x16].copy_from_slice(&16u16.to_be_bytes());
    out[0x16] = 0x3b;
    out[0x17] = 2 << 3 | 1;
    out[0x18..0x1a].copy_from_slice(&3u16.to_be_bytes());
    out[0x1a] = 3 << 4;
    out[0x1d] = 1 << 4 | 1 << 3;
    out[0x20..0x22].copy_from_slice(&1u16.to_be_bytes());
    out[0x22..0x24].copy_from_slice(&2u16.to_be_bytes());
    out[0x50] = 2;
    out[0x51] = 1 << 4;
    out[0x57] = 1 << 3;
    out[0x58..0x5a].copy_from_slice(&9u16.to_be_bytes());
    out[0x5a] = 1 << 4;
    out
}

fn view(op_mod: QueryEswFunctionsMod, output: &[u8]) -> Snapshot<'_> {
    Snapshot::new(op_mod, output)
}

fn text(op_mod: QueryEswFunctionsMod, output: &[u8]) -> String {
    let mut text = String::new();
    render::snapshot(&mut text, &view(op_mod, output)).unwrap();
    text
}

fn changes(old: Option<&[u8]>, new: &[u8], op_mod: QueryEswFunctionsMod) -> Vec<Change> {
    let mut seen = Vec::new();
    let old = old.map(|old| view(op_mod, old));
    compare(old.as_ref(), &view(op_mod, new), &mut |_, change| {
        seen.push(change)
    });
    seen
}

#[test]
fn legacy_layout() {
    let functions: Vec<_> = view(LEGACY, &legacy()).functions().collect();
    assert_eq!(
        functions,
        [Function {
            kind: PfType::EXTERNAL_HOST,
            host_number: 1,
            pf_not_exist: false,
            pf_disabled: false,
            num_of_vfs: 4,
            total_vfs: 16,
            bus: Some(0x3b),
            device: 2,
            function: 1,
            vhca_id: Some(3),
            vhca_state: None,
            vf_offset_and_stride: None,
        }]
    );
    let text = text(LEGACY, &legacy());
    for line in [
        "layout: legacy layout (op_mod 0x0000)\n",
        "host_number: 1\n",
        "host_pf_not_exist: 0\n",
        "host_pf_disabled: 0\n",
        "host_num_of_vfs: 4\n",
        "host_total_vfs: 16\n",
        "host_pci_bus: 0x3b\n",
        "host_pci_device: 0x02\n",
        "host_pci_function: 0x1\n",
        "host_pci_address: 3b:02.1\n",
        "host_pf_vhca_id: 0x0003\n",
        "effective_vfs: 4\n",
        "sf_enable: none\n",
    ] {
        assert!(text.contains(line), "no {line:?} in\n{text}");
    }
}

#[test]
fn v1_layout() {
    let out = v1();
    let functions: Vec<_> = view(V1, &out).functions().collect();
    assert_eq!(functions.len(), 2);
    assert_eq!(
        functions[0],
        Function {
            kind: PfType::EXTERNAL_HOST,
            host_number: 1,
            pf_not_exist: false,
            pf_disabled: false,
            num_of_vfs: 4,
            total_vfs: 16,
            bus: Some(0x3b),
            device: 2,
            function: 1,
            vhca_id: Some(3),
            vhca_state: Some(VhcaState::IN_USE),
            vf_offset_and_stride: Some((2, 1)),
        }
    );
    assert_eq!(functions[1].kind, PfType::SATELLITE);
    assert_eq!(functions[1].bus, None);
    assert!(functions[1].pf_disabled);
    let text = text(V1, &out);
    for line in [
        "net_function_num: 2\n",
        "function: 1 (satellite PF)\n",
        "host_pf_disabled: 1 (vhca_state 1: allocated)\n",
        "host_pci_bus: not assigned\n",
        "host_pci_first_vf_offset: 2\n",
        "sf_enable: not known (there is no output with the list)\n",
    ] {
        assert!(text.contains(line), "no {line:?} in\n{text}");
    }
}

#[test]
fn v1_without_an_external_host() {
    let mut out = v1();
    out[0x0c] = 0;
    assert!(!view(V1, &out).has_host());
    assert!(text(V1, &out).contains("external_host: 0"));
    out[0x0c] = 1;
    out[0x11] = 1 << 4;
    assert!(!view(V1, &out).has_host());
}

#[test]
fn more_functions_than_were_asked_for() {
    let mut out = v1();
    out[0x0c] = 200;
    assert_eq!(view(V1, &out).functions().count(), 2);
    assert!(text(V1, &out).contains("net_function_num: 200 (only 2 were asked for"));
}

#[test]
fn a_disabled_pf_disables_its_vfs() {
    let mut out = legacy();
    out[0x11] |= 1;
    let text = text(LEGACY, &out);
    assert!(text.contains("host_num_of_vfs: 4\n"));
    assert!(text.contains("effective_vfs: 0 (host_pf_disabled=1: every external host vport"));

    out[0x11] = 1 << 2;
    let function = view(LEGACY, &out).functions().next().unwrap();
    assert!(function.pf_not_exist && function.effective_vfs() == 0);
    assert_eq!(function.vhca_id, None);
}

/// SF i is bit i mod 64 of big-endian word i / 64, counted from the least significant.
#[test]
fn enabled_sfs() {
    let mut out = legacy();
    out[0x87] = 0b1110_0001;
    out[0x80] = 0x80;
    out[0x8f] = 1;
    let text = text(LEGACY, &out);
    for line in [
        "sf_enable: 0 5-7 63-64\n",
        "sf_enable[0]: 0x80000000000000e1\n",
        "sf_enable[1]: 0x0000000000000001\n",
        "no source confirms the order",
    ] {
        assert!(text.contains(line), "no {line:?} in\n{text}");
    }
}

#[test]
fn the_dump_shows_places() {
    let mut out = legacy();
    out[0x8f] = 1;
    let mut text = String::new();
    render::layout(&mut text, &view(LEGACY, &out)).unwrap();
    for line in [
        "0x010 [31:24] host_number: 0x1\n",
        "0x010 [15:0] host_num_of_vfs: 0x4\n",
        "0x014 [15:0] host_pci_bus: 0x3b\n",
        "0x088 [63:0] host_sf_enable: 0x1\n",
    ] {
        assert!(text.contains(line), "no {line:?} in\n{text}");
    }

    let mut text = String::new();
    render::layout(&mut text, &view(V1, &v1())).unwrap();
    for line in [
        "0x00c [31:24] net_function_num: 0x2\n",
        "0x018 [15:12] vhca_state: 0x3 (in use)\n",
        "0x050 [23:20] pci_pf_type: 0x1 (satellite PF)\n",
    ] {
        assert!(text.contains(line), "no {line:?} in\n{text}");
    }
}

#[test]
fn the_first_snapshot_is_news() {
    assert_eq!(
        changes(None, &legacy(), LEGACY),
        [Change::Appeared, Change::Vfs { from: 0, to: 4 }]
    );
    let mut out = legacy();
    out[0x11] |= 1 << 2;
    assert_eq!(changes(None, &out, LEGACY), []);
}

#[test]
fn what_changed() {
    let old = legacy();
    assert_eq!(changes(Some(&old), &old, LEGACY), []);

    let change = |edit: fn(&mut Vec<u8>)| {
        let mut new = legacy();
        edit(&mut new);
        (
            changes(Some(&old), &new, LEGACY),
            changes(Some(&new), &old, LEGACY),
        )
    };

    assert_eq!(
        change(|out| out[0x11] |= 1),
        (vec![Change::PfDisabled], vec![Change::PfEnabled])
    );
    assert_eq!(
        change(|out| out[0x13] = 0),
        (
            vec![Change::Vfs { from: 4, to: 0 }],
            vec![Change::Vfs { from: 0, to: 4 }]
        )
    );
    assert_eq!(
        change(|out| out[0x11] |= 1 << 2),
        (
            vec![Change::Vanished],
            vec![Change::Appeared, Change::Vfs { from: 0, to: 4 }]
        )
    );
    assert_eq!(
        change(|out| out[0x10] = 2).0,
        vec![
            Change::Vanished,
            Change::Appeared,
            Change::Vfs { from: 0, to: 4 }
        ]
    );
    assert_eq!(
        change(|out| {
            out[0x86] = 0xff;
            out[0x87] = 0x09;
        }),
        (
            vec![
                Change::SfsOn { first: 0, last: 0 },
                Change::SfsOn { first: 3, last: 3 },
                Change::SfsOn { first: 8, last: 15 },
            ],
            vec![
                Change::SfsOff { first: 0, last: 0 },
                Change::SfsOff { first: 3, last: 3 },
                Change::SfsOff { first: 8, last: 15 },
            ]
        )
    );
    assert_eq!(
        change(|out| out[0x17] = 0x3c).0,
        [Change::Moved {
            to: (Some(0x3c), 2, 1)
        }]
    );
    assert_eq!(
        change(|out| out[0x11] &= !2).0,
        [Change::VhcaId {
            from: Some(3),
            to: None
        }]
    );
    assert_eq!(
        change(|out| out[0x15] = 8).0,
        [Change::TotalVfs { from: 16, to: 8 }]
    );
}

#[test]
fn vf_counts_that_do_not_pass_zero_are_flagged() {
    let mut new = legacy();
    new[0x13] = 6;
    let seen = changes(Some(&legacy()), &new, LEGACY);
    assert_eq!(seen, [Change::Vfs { from: 4, to: 6 }]);
    assert!(seen[0].skips_zero());
    assert!(seen[0].to_string().contains("not through 0"));
    for (from, to) in [(0, 4), (4, 0)] {
        let change = Change::Vfs { from, to };
        assert!(!change.skips_zero());
        assert_eq!(change.to_string(), format!("VFs {from} -> {to}"));
    }
}

#[test]
fn v1_functions_are_told_apart_by_their_address() {
    let old = v1();
    let mut new = v1();
    new[0x5a] = 3 << 4;
    assert_eq!(
        changes(Some(&old), &new, V1),
        [
            Change::PfEnabled,
            Change::VhcaState {
                to: VhcaState::IN_USE
            }
        ]
    );
    let mut swapped = v1();
    let (first, second) = swapped[0x10..].split_at_mut(0x40);
    first.swap_with_slice(&mut second[..0x40]);
    assert_eq!(changes(Some(&old), &swapped, V1), []);
}

/// A host can have a PF on each port; only the address tells them apart.
#[test]
fn two_pfs_of_one_host() {
    let mut old = v1();
    let first: Vec<u8> = old[0x10..0x50].to_vec();
    old[0x50..0x90].copy_from_slice(&first);
    old[0x57] += 1;
    assert_eq!(changes(Some(&old), &old, V1), []);

    let mut new = old.clone();
    new[0x53] = 0;
    assert_eq!(
        changes(Some(&old), &new, V1),
        [Change::Vfs { from: 4, to: 0 }]
    );
    new[0x0c] = 1;
    assert_eq!(changes(Some(&old), &new, V1), [Change::Vanished]);
}

/// V1 has no list of SFs: it comes from a second output, in the legacy layout.
#[test]
fn a_list_from_another_output() {
    let (out, mut old) = (v1(), legacy());
    old[0x87] = 0b11;
    let without = view(V1, &out);
    let with = without.with_list_of(Some(&old));
    assert!(!without.has_list() && with.has_list());
    assert_eq!(with.functions().count(), 2);
    assert_eq!(with.sfs().collect::<Vec<_>>(), [0..=1]);

    let mut text = String::new();
    render::snapshot(&mut text, &with).unwrap();
    render::layout(&mut text, &with).unwrap();
    assert!(text.contains("sf_enable: 0-1\n"), "{text}");
    assert!(
        text.contains("0x080 [63:0] host_sf_enable: 0x3\n"),
        "{text}"
    );
    assert!(text.contains("0x058 [31:16] vhca_id: 0x9\n"), "{text}");

    // A list that could not be had says nothing about SFs.
    let changes = |old: &Snapshot<'_>, new: &Snapshot<'_>| {
        let mut seen = Vec::new();
        compare(Some(old), new, &mut |_, change| seen.push(change));
        seen
    };
    assert_eq!(changes(&with, &without), []);
    assert_eq!(changes(&without, &with), []);
    let none = legacy();
    assert_eq!(
        changes(&with, &without.with_list_of(Some(&none))),
        [Change::SfsOff { first: 0, last: 1 }]
    );
}

#[test]
fn history_lines() {
    let mut text = String::new();
    let entry = Entry {
        at_us: 1_500_000,
        wall: 1_634_819_758,
        events: 7,
        subject: Subject::Host {
            number: 1,
            kind: PfType::EXTERNAL_HOST,
        },
        change: Change::Vfs { from: 0, to: 4 },
    };
    render::line(&mut text, 12, &entry).unwrap();
    assert_eq!(
        text,
        "12 1500000 2021-10-21T12:35:58Z events=7 host 1: VFs 0 -> 4\n"
    );
}

#[test]
fn a_summary_in_one_line() {
    let mut text = String::new();
    render::brief(&mut text, &view(LEGACY, &legacy())).unwrap();
    assert_eq!(text, "host 1 PF enabled, 4 of 16 VFs, 0 SFs");
    let mut text = String::new();
    render::brief(&mut text, &view(V1, &v1())).unwrap();
    assert_eq!(
        text,
        "host 1 PF enabled, 4 of 16 VFs; host 2 (satellite PF) PF disabled, 0 of 0 VFs"
    );
}

#[test]
fn runs_join_neighbours() {
    let list = |words: &[u64]| Runs::new(words.len(), |i| words[i]).collect::<Vec<_>>();
    assert_eq!(list(&[]), []);
    assert_eq!(list(&[0, 0]), []);
    assert_eq!(list(&[8]), [3..=3]);
    assert_eq!(list(&[0b1101_0111]), [0..=2, 4..=4, 6..=7]);
    assert_eq!(list(&[1 << 63, 1, u64::MAX]), [63..=64, 128..=191]);
    assert_eq!(list(&[u64::MAX; 3]), [0..=191]);
}

proptest! {
    /// Whatever a device sends: no panic, and what is shown follows from the bytes.
    #[test]
    fn any_output(
        output in prop::collection::vec(any::<u8>(), 0..600),
        other in prop::collection::vec(prop_oneof![3 => Just(0u8), 1 => any::<u8>()], 0..600),
        v1_first: bool,
        v1_second: bool,
    ) {
        let op_mod = |v1| if v1 { V1 } else { LEGACY };
        let (a, b) = (view(op_mod(v1_first), &output), view(op_mod(v1_second), &other));
        let mut text = String::new();
        for snapshot in [&a, &b] {
            render::snapshot(&mut text, snapshot).unwrap();
            render::layout(&mut text, snapshot).unwrap();
            render::brief(&mut text, snapshot).unwrap();
        }
        compare(Some(&a), &b, &mut |subject, change| {
            text.push_str(&subject.to_string());
            text.push_str(&change.to_string());
        });
        let mut count = 0;
        compare(Some(&a), &a, &mut |_, _| count += 1);
        // Functions that cannot be told apart are compared with the first of them.
        if !v1_first {
            prop_assert_eq!(count, 0);
        }
        let indexes: Vec<u32> = a
            .sf_words()
            .enumerate()
            .flat_map(|(i, word)| (0..64).filter(move |bit| word >> bit & 1 != 0).map(move |bit| i as u32 * 64 + bit))
            .collect();
        let from_runs: Vec<u32> = a.sfs().flatten().collect();
        prop_assert_eq!(indexes, from_runs);
    }

    /// Switching SFs from one set to another reports exactly the difference.
    #[test]
    fn sf_changes_are_exact(before in any::<[u8; 16]>(), after in any::<[u8; 16]>()) {
        let (mut old, mut new) = (legacy(), legacy());
        old[0x80..].copy_from_slice(&before);
        new[0x80..].copy_from_slice(&after);
        let mut sfs: std::collections::BTreeSet<u32> = view(LEGACY, &old).sfs().flatten().collect();
        for change in changes(Some(&old), &new, LEGACY) {
            match change {
                Change::SfsOn { first, last } => {
                    for sf in first..=last {
                        prop_assert!(sfs.insert(sf));
                    }
                }
                Change::SfsOff { first, last } => {
                    for sf in first..=last {
                        prop_assert!(sfs.remove(&sf));
                    }
                }
                other => prop_assert!(false, "{other:?}"),
            }
        }
        prop_assert_eq!(sfs, view(LEGACY, &new).sfs().flatten().collect());
    }
}
