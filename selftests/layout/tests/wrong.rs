// SPDX-License-Identifier: GPL-2.0

//! The check can fail: layouts with one mistake each, and what it says of them.

use std::path::Path;

use mlx5_prm_layout::check::{check, Report, Verdict};
use mlx5_prm_layout::header::Header;
use mlx5_prm_layout::layout;
use mlx5_prm_layout::prm::layout::{Layout, Table};

layout! {
    pub struct Right: plain "host_params_context", 0x40 {
        0x00 [15:0] host_num_of_vfs: RO, "Right.";
        0x04 [31:16] host_total_vfs: RO, "Right.";
    }
    pub struct Offset: plain "host_params_context", 0x40 {
        0x04 [15:0] host_num_of_vfs: RO, "Another word.";
    }
    pub struct Neighbour: plain "host_params_context", 0x40 {
        0x00 [17:17] host_pf_disabled: RO, "The bit above.";
    }
    pub struct Width: plain "host_params_context", 0x40 {
        0x00 [31:25] host_number: RO, "A bit too few.";
    }
    pub struct Count: plain "init_hca_in", 0x20 {
        0x10 [31:0; 3] sw_owner_id: RW, "An element too few.";
    }
    pub struct Pair: plain "init_hca_in", 0x20 {
        0x10 [63:0; 2] sw_owner_id: RW, "As many bits, but other elements.";
    }
    pub struct Short: plain "host_params_context", 0x3c {
        0x00 [15:0] host_num_of_vfs: RO, "Right.";
    }
    pub struct NoHead: plain "host_params_context" head, 0x40 {
        0x00 [15:0] host_num_of_vfs: RO, "Right.";
    }
    pub struct Beyond: part "host_params_context" at 0x20, 0x40 {}
    pub struct NoSource: plain "host_params_context", 0x40 {
        0x00 [15:0] host_no_such_field: RO, "The header lacks it.";
    }
    pub struct NeedlessSource: plain "host_params_context", 0x40 {
        0x00 [15:0] host_num_of_vfs: RO, "The header has it.", source("imagination");
    }
    pub struct NeedlessDiffers: plain "host_params_context", 0x40 {
        0x00 [15:0] host_num_of_vfs: RO, "As in the header.", differs("imagination");
    }
    pub struct NoStructure: plain "no_such_structure", 0x10 {
        0x00 [15:0] field: RO, "Of a structure that there is not.";
    }
    pub struct NoSourceAtAll: plain "", 0x10 {
        0x00 [15:0] field: RO, "Of no structure, without a source.";
    }
    pub struct OtherNested: plain "query_eq_out", 0x110 {
        0x10 [Right] eq_context_entry: RO, "As large, but another layout.";
    }
    pub struct Excused: plain "host_params_context", 0x40 {
        0x00 [15:0] host_no_such_field: RO, "The header lacks it.", source("imagination");
        0x04 [31:15] host_total_vfs: RO, "A bit too many.", differs("imagination");
    }
}

fn reports_of(tables: &[&'static Table]) -> Vec<Report> {
    let header = Header::from_env(Path::new(env!("CARGO_TARGET_TMPDIR"))).unwrap();
    check(&header, tables).unwrap()
}

#[test]
fn every_mistake_is_reported() {
    let elsewhere = [
        (
            Offset::TABLE,
            "host_num_of_vfs",
            "0x04 [15:0]",
            "0x00 [15:0]",
        ),
        (
            Neighbour::TABLE,
            "host_pf_disabled",
            "0x00 [17:17]",
            "0x00 [16:16]",
        ),
        (Width::TABLE, "host_number", "0x00 [31:25]", "0x00 [31:24]"),
        (
            Count::TABLE,
            "sw_owner_id",
            "0x10 [31...], 96 bits",
            "0x10 [31...], 128 bits",
        ),
    ]
    .map(|(table, field, ours, theirs)| {
        (
            table,
            format!("{field}: declared at {ours}, while the header has it at {theirs}"),
        )
    });
    let too_long = [
        (Short::TABLE, "Whole to 0x3c"),
        (NoHead::TABLE, "Head to 0x40"),
        (Beyond::TABLE, "Part to 0x60"),
    ]
    .map(|(table, ours)| {
        (
            table,
            format!("declared as {ours}, while the header's structure ends at 0x40"),
        )
    });
    let others = [
        (Pair::TABLE, "sw_owner_id: of another type in the header"),
        (
            OtherNested::TABLE,
            "eq_context_entry: of another type in the header",
        ),
        (
            NoSource::TABLE,
            "host_no_such_field: the header lacks it, and no source is given",
        ),
        (
            NoSourceAtAll::TABLE,
            "field: the header lacks it, and no source is given",
        ),
        (
            NeedlessDiffers::TABLE,
            "host_num_of_vfs: said to differ, but it does not",
        ),
        (
            NeedlessSource::TABLE,
            "host_num_of_vfs: said to be lacking, but the header has it at 0x00 [15:0]",
        ),
    ]
    .map(|(table, text)| (table, text.to_string()));

    let cases: Vec<_> = elsewhere
        .into_iter()
        .chain(too_long)
        .chain(others)
        .collect();
    let tables: Vec<_> = cases.iter().map(|(table, _)| *table).collect();
    let reports = reports_of(&tables);
    assert_eq!(reports.len(), cases.len());
    for (report, (table, expected)) in reports.iter().zip(&cases) {
        assert_eq!(report.wrong(), [expected.as_str()], "{}", table.name);
    }

    let missing = &reports_of(&[NoStructure::TABLE])[0];
    assert_eq!(
        missing.wrong()[0],
        "the header has no structure no_such_structure"
    );
}

#[test]
fn what_is_right_or_excused_is_not() {
    let reports = reports_of(&[Right::TABLE, Excused::TABLE]);

    assert!(reports.iter().all(|report| report.wrong().is_empty()));
    assert_eq!(reports[0].compared(), 2);
    assert_eq!(reports[1].compared(), 1);
    assert_eq!(reports[1].fields[1].1, Verdict::Lacking("imagination"));
    assert!(matches!(
        reports[1].fields[2].1,
        Verdict::Known(_, "imagination")
    ));
}
