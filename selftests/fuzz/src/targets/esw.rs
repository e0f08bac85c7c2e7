// SPDX-License-Identifier: GPL-2.0

//! What QUERY_ESW_FUNCTIONS answers, in both layouts.

use super::{
    print,
    value, //
};
use crate::input::Input;
use mlx5_prm_host::{
    cmd::message::CAPACITY,
    esw::{
        diff::{
            self,
            Change,
            Subject, //
        },
        render,
        snapshot::{
            Function,
            Snapshot, //
        },
        support::Facts, //
    },
    prm::{
        caps::{
            Eswitch,
            General, //
        },
        esw::QueryEswFunctionsMod,
        iseg::State,
        layout::Layout, //
    }, //
};
use std::collections::BTreeSet;

/// An output with its layout, and perhaps another one with a list.
fn snapshot<'a>(input: &mut Input<'a>) -> Snapshot<'a> {
    let kind = input.u8();
    let op_mod = match kind & 3 {
        0 => QueryEswFunctionsMod(input.u16()),
        1 => QueryEswFunctionsMod::V1,
        _ => QueryEswFunctionsMod::LEGACY,
    };
    let length = input.below(CAPACITY + 1);
    let output = input.bytes(length);
    let length = input.below(CAPACITY + 1);
    let list = (kind & 4 != 0).then(|| input.bytes(length));
    Snapshot::new(op_mod, output).with_list_of(list)
}

/// The enabled SFs, counted one by one.
fn sfs(snapshot: &Snapshot<'_>) -> BTreeSet<u32> {
    (0u32..)
        .zip(snapshot.sf_words())
        .flat_map(|(i, word)| {
            (0..64)
                .filter(move |bit| word >> bit & 1 != 0)
                .map(move |bit| i * 64 + bit)
        })
        .collect()
}

/// Whatever the device says of the number of functions, only what there is is shown, and all of it.
pub fn snapshot_of(snapshot: &Snapshot<'_>) {
    let functions: Vec<Function> = snapshot.functions().collect();
    let room = snapshot.output().len().saturating_sub(0x10) / 0x40;
    assert_eq!(functions.len(), room.min(snapshot.announced()));

    let mut last = None;
    let mut listed = BTreeSet::new();
    for run in snapshot.sfs() {
        assert!(run.start() <= run.end());
        assert!(
            last.is_none_or(|last| last + 1 < *run.start()),
            "runs touch"
        );
        last = Some(*run.end());
        listed.extend(run);
    }
    assert_eq!(listed, sfs(snapshot));

    let text = print(|w| render::snapshot(w, snapshot));
    let hosts = text.lines().filter(|line| line.starts_with("function: "));
    assert_eq!(hosts.count(), functions.len());
    let brief = print(|w| render::brief(w, snapshot));
    assert!(!brief.contains('\n'), "{brief}");
    if snapshot.has_list() {
        assert!(brief.ends_with(&format!("{} SFs", listed.len())), "{brief}");
    }
    for function in &functions {
        assert!(function.effective_vfs() <= function.num_of_vfs);
    }
    print(|w| render::layout(w, snapshot));
}

pub fn snapshot_run(input: &mut Input<'_>) {
    snapshot_of(&snapshot(input));
}

/// What tells a function from the others.
fn key(function: &Function) -> (u8, u8, u16, u16) {
    (
        function.kind.0,
        function.host_number,
        function.device,
        function.function,
    )
}

/// The changes from one snapshot to another lead from the one to the other.
pub fn diff(input: &mut Input<'_>) {
    let old = input.flag().then(|| snapshot(input));
    let new = snapshot(input);
    let mut changes = Vec::new();
    diff::compare(old.as_ref(), &new, &mut |subject, change| {
        changes.push((subject, change));
    });
    for (i, (subject, change)) in changes.iter().enumerate() {
        let entry = render::Entry {
            at_us: i as u64,
            wall: -1,
            events: u64::MAX,
            subject: *subject,
            change: *change,
        };
        let line = print(|w| render::line(w, u64::MAX, &entry));
        assert_eq!(line.lines().count(), 1, "{line}");
    }

    // SFs: those that were there, with those that came and without those that went.
    let mut now = old.as_ref().map(sfs).unwrap_or_default();
    for (subject, change) in &changes {
        match change {
            Change::SfsOn { first, last } => {
                assert_eq!(*subject, Subject::Switch);
                assert!(
                    (*first..=*last).all(|sf| now.insert(sf)),
                    "{change:?} twice"
                );
            }
            Change::SfsOff { first, last } => {
                assert_eq!(*subject, Subject::Switch);
                assert!(
                    (*first..=*last).all(|sf| now.remove(&sf)),
                    "{change:?} twice"
                );
            }
            _ => (),
        }
    }
    if new.has_list() && old.is_none_or(|old| old.has_list()) {
        assert_eq!(now, sfs(&new));
    }

    // Functions that can be told apart: nothing changes from a snapshot to itself, and who appears
    // was not there.
    let keys: BTreeSet<_> = new.functions().map(|function| key(&function)).collect();
    if keys.len() == new.functions().count() {
        diff::compare(Some(&new), &new, &mut |subject, change| {
            panic!("{subject}: {change}, but nothing has changed");
        });
    }
    if old.is_none() {
        let appeared = changes.iter().filter(|(_, c)| *c == Change::Appeared);
        let there = new.functions().filter(|function| !function.pf_not_exist);
        assert_eq!(appeared.count(), there.count());
    }
}

/// Whatever capabilities say, the output that is asked for has a bound.
pub fn support(input: &mut Input<'_>) {
    let state = State::from(input.array());
    let has_page = input.flag();
    let length = input.below(0x1001);
    let (general, eswitch) = (read::<General>(input.bytes(length)), read(input.rest()));
    let facts = Facts::of(&general, has_page.then_some(&eswitch), &state);

    let list = facts.list_length();
    assert!((0x80..=CAPACITY).contains(&list) && list % 8 == 0);
    let output = facts.output_length();
    assert!((0x80..=CAPACITY).contains(&output));

    let text = print(|w| facts.write(w));
    let supported = value(&text, "supported");
    assert_eq!(supported == "1", facts.supported());
    let reason = print(|w| facts.write_reason(w));
    assert_eq!(reason.is_empty(), facts.supported());
    let sf = if has_page {
        Eswitch::log_max_esw_sf(&eswitch)
    } else {
        0
    };
    assert!(value(&text, "log_max_esw_sf").starts_with(&format!("{sf:#x} ")));
}

/// As the module looks at a page: what is missing is zero.
fn read<L: Layout>(bytes: &[u8]) -> L {
    let mut page = bytes.to_vec();
    page.resize(L::TABLE.size.max(bytes.len()), 0);
    L::read_from_prefix(&page).map_or_else(|_| L::new_zeroed(), |(value, _)| value)
}
