// SPDX-License-Identifier: GPL-2.0

//! The capabilities of a real card: every value that was printed of it goes into a page by its
//! name, and comes out of the page by getter and dump.

use std::collections::BTreeMap;

use mlx5_prm_host::prm::bits;
use mlx5_prm_host::prm::caps::general::PortType;
use mlx5_prm_host::prm::caps::{CapMode, CapType, Debug, General, General2, PAGE_SIZE};
use mlx5_prm_host::prm::dump;
use mlx5_prm_host::prm::layout::{Kind, Layout, Table};
use zerocopy::FromBytes;

const CARD: &str = include_str!("data/cx6dx.caps");

/// Tables of the pages that the print has, by their heading there.
const PAGES: [(&str, &Table, usize); 3] = [
    ("General", General::TABLE, 220),
    ("General2", General2::TABLE, 8),
    ("Debug", Debug::TABLE, 11),
];

/// The printed values of a page, in their order.
fn printed(page: &str) -> Vec<(&'static str, u64)> {
    CARD.lines()
        .skip_while(|line| *line != format!("[{page}]"))
        .skip(1)
        .take_while(|line| !line.starts_with('['))
        .filter(|line| !line.is_empty())
        .map(|line| {
            let (name, value) = line.split_once(": ").unwrap();
            let value = match value.strip_prefix("0x") {
                Some(digits) => u64::from_str_radix(digits, 16),
                None => value.parse(),
            };
            (name, value.unwrap())
        })
        .collect()
}

/// The place of a field that a table has by this name.
fn place(table: &Table, name: &str) -> (usize, u32, u32) {
    let field = table.fields.iter().find(|field| field.name() == name);
    match field.map(|field| (field.offset, field.kind)) {
        Some((offset, Kind::Bits { hi, lo })) => (offset, hi, lo),
        _ => panic!("{} has no number {name}", table.name),
    }
}

fn filled(table: &Table, values: &[(&str, u64)]) -> Vec<u8> {
    let mut page = vec![0; PAGE_SIZE];
    for (name, value) in values {
        let (offset, hi, lo) = place(table, name);
        assert!(
            *value <= u64::MAX >> (63 - (hi - lo)),
            "{name} has no room for {value}"
        );
        bits::set(&mut page, offset, hi, lo, *value);
    }
    page
}

#[test]
fn every_printed_value_is_read_back() {
    for (heading, table, count) in PAGES {
        let values = printed(heading);
        assert_eq!(values.len(), count);
        let page = filled(table, &values);

        let mut text = String::new();
        dump::write(&mut text, table, 0, &page[..table.size]).unwrap();
        assert!(!text.contains("reserved"), "{text}");
        // A line of the dump: offset, bits, `name:`, value, and perhaps its meaning.
        let shown: BTreeMap<_, _> = text
            .lines()
            .map(|line| {
                let words: Vec<_> = line.split(' ').collect();
                (words[2].trim_end_matches(':'), words[3])
            })
            .collect();
        for (name, value) in &values {
            let (offset, hi, lo) = place(table, name);
            assert_eq!(bits::get(&page, offset, hi, lo), *value, "{name}");
            assert_eq!(shown[name], format!("{value:#x}"));
        }
        // What the print does not have was left at zero.
        let set = shown.values().filter(|value| **value != "0x0").count();
        assert_eq!(set, values.iter().filter(|(_, value)| *value != 0).count());
    }
}

#[test]
fn getters_agree_with_the_print() {
    let page = filled(General::TABLE, &printed("General"));
    let (general, _) = General::ref_from_prefix(&page).unwrap();

    assert!(general.hca_cap_2() && general.dtor() && general.event_cap());
    assert!(general.mcam_reg() && general.pcam_reg() && general.qcam_reg());
    assert!(general.eswitch_manager() && general.vport_group_manager());
    assert!(general.dct() && general.atomic() && general.roce());
    assert!(!general.uar_4k() && !general.page_request_disable());
    assert_eq!(PortType(general.port_type()), PortType::ETHERNET);
    assert_eq!(general.num_ports(), 1);
    assert_eq!(general.log_max_mrw_sz(), 64);
    assert_eq!(general.max_qp_mcg(), 240);
    assert_eq!(general.match_definer_format_supported(), 0x80000003ffc9e7ff);

    // The same kind of card has printed what ibverbs derives from these.
    assert_eq!(1u32 << general.log_max_qp(), 131072);
    assert_eq!((1u32 << general.log_max_cq_sz()) - 1, 4194303);
    assert_eq!(1u32 << general.log_max_cq(), 16777216);
    assert_eq!(1u32 << general.log_max_pd(), 8388608);
    assert_eq!(1u32 << general.log_max_srq(), 8388608);
    assert_eq!(1u32 << general.log_max_mkey(), 16777216);
    assert_eq!(1u32 << general.log_max_qp_sz(), 32768);
    assert_eq!(1u32 << general.log_max_mcg(), 2097152);
    assert_eq!(1u32 << general.log_max_ra_req_qp(), 16);
    assert_eq!(general.local_ca_ack_delay(), 16);

    let page = filled(Debug::TABLE, &printed("Debug"));
    let (debug, _) = Debug::ref_from_prefix(&page).unwrap();
    assert!(debug.resource_dump() && debug.health_mon_rx_activity());
    assert_eq!(debug.log_max_samples(), 14);
}

/// QUERY_HCA_CAP failed on real cards with op_mod 40h and 0: which pages were those?
#[test]
fn op_mods_name_their_page() {
    assert_eq!(
        CapType::from_op_mod(0x40),
        (CapType::GENERAL_2, CapMode::Maximum)
    );
    assert_eq!(
        CapType::from_op_mod(0x00),
        (CapType::GENERAL, CapMode::Maximum)
    );
    assert_eq!(
        CapType::from_op_mod(0x13),
        (CapType::ESWITCH, CapMode::Current)
    );
    for page in CapType::ALL {
        for mode in [CapMode::Maximum, CapMode::Current] {
            assert_eq!(CapType::from_op_mod(page.op_mod(mode)), (*page, mode));
        }
    }
}
