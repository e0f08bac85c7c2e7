// SPDX-License-Identifier: GPL-2.0

//! Annotated dumps: the text of known bytes, and what is shown of bytes that no name covers.

use mlx5_prm_host::prm::boot::QueryIssiOut;
use mlx5_prm_host::prm::dump;
use mlx5_prm_host::prm::eq::{CreateEqIn, Eqe};
use mlx5_prm_host::prm::iseg::State;
use mlx5_prm_host::prm::layout::{Layout, Table};
use mlx5_prm_host::prm::pages::QueryPagesOut;
use mlx5_prm_host::prm::registry;
use proptest::prelude::*;

fn dump(table: &Table, base: usize, bytes: &[u8]) -> String {
    let mut text = String::new();
    dump::write(&mut text, table, base, bytes).unwrap();
    text
}

#[test]
fn values_stand_beside_their_place_and_meaning() {
    let output = [
        0x09, 0, 0, 0, 0x00, 0x56, 0x3e, 0x2f, 0x80, 0, 0x12, 0x34, 0xff, 0xff, 0xff, 0xfe,
    ];
    assert_eq!(
        dump(QueryPagesOut::TABLE, 0, &output),
        "0x000 [31:24] status: 0x9 (bad resource state)\n\
         0x004 [31:0] syndrome: 0x563e2f\n\
         0x008 [31] embedded_cpu_function: 0x1\n\
         0x008 [15:0] function_id: 0x1234\n\
         0x00c [31:0] num_pages: 0xfffffffe\n"
    );
}

#[test]
fn offsets_count_from_the_base_and_reserved_bits_are_shown() {
    assert_eq!(
        dump(State::TABLE, State::OFFSET, &0x40804001u32.to_be_bytes()),
        "0x1fc [31] initializing: 0x0\n\
         0x1fc [30] nic_interface_reset: 0x1\n\
         0x1fc [26:24] nic_interface_supported: 0x0\n\
         0x1fc [23] embedded_cpu: 0x1\n\
         0x1fc [15:12] fw_rst_state: 0x4 (toggle requested)\n\
         0x1fc reserved: 0x00000001\n"
    );
}

#[test]
fn an_output_that_is_too_short_says_so() {
    let text = dump(QueryIssiOut::TABLE, 0, &[0; 16]);

    assert!(text.contains("0x008 [15:0] current_issi: 0x0\n"));
    assert!(!text.contains("supported_issi_dw0"));
    assert!(text.ends_with("# 1 fields lie beyond the 16 bytes that there are\n"));
}

#[test]
fn arrays_bytes_and_nested_layouts_are_spelled_out() {
    let mut bytes = [0; 0x110];
    bytes[0x1c..0x20].copy_from_slice(&[0x07, 0, 0, 3]);
    bytes[0x5f] = 0x12;
    let text = dump(CreateEqIn::TABLE, 0, &bytes);
    assert!(text.contains("0x01c [28:24] log_eq_size: 0x7\n"));
    assert!(text.contains("0x01c [23:0] uar_page: 0x3\n"));
    assert!(text.contains("0x058 [63:0] event_bitmask[0]: 0x12\n"));
    assert!(text.contains("0x070 [63:0] event_bitmask[3]: 0x0\n"));
    assert!(!text.contains("reserved"));

    let mut entry = [0; 64];
    entry[1] = 0x0a;
    entry[0x23] = 0x11;
    let text = dump(Eqe::TABLE, 0, &entry);
    assert!(text.starts_with("0x000 [23:16] event_type: 0xa (CMD)\n"));
    assert!(text.contains("0x020 [28 bytes] event_data: 00 00 00 11 00"));
}

proptest! {
    #[test]
    fn whatever_the_device_sends_can_be_shown(bytes: Vec<u8>, base: usize) {
        for table in registry::ALL {
            let text = dump(table, base, &bytes);
            prop_assert!(text.lines().all(|line| line.starts_with("0x") || line.starts_with("# ")));
        }
    }

    /// No set bit is lost: it is in a value, or in a line about reserved bits.
    #[test]
    fn a_single_set_bit_is_seen(table in 0..registry::ALL.len(), position: prop::sample::Index) {
        let table = registry::ALL[table];
        let position = position.index(8 * table.size);
        let mut bytes = vec![0; table.size];
        bytes[position / 8] = 0x80 >> (position % 8);

        let zero = dump(table, 0, &vec![0; table.size]);
        prop_assert_ne!(dump(table, 0, &bytes), zero);
    }
}
