// SPDX-License-Identifier: GPL-2.0

//! Command queue entries and mailbox blocks, with entries that real cards and drivers exchanged.

use mlx5_prm_host::prm::layout::Layout;
use mlx5_prm_host::prm::opcode::Opcode;
use mlx5_prm_host::prm::queue::{blocks, Entry, MailboxBlock};
use proptest::prelude::*;
use zerocopy::{FromBytes, IntoBytes};

/// Turns the words of a printed dump into bytes.
fn bytes(words: &[u32]) -> Vec<u8> {
    words.iter().flat_map(|word| word.to_be_bytes()).collect()
}

fn entry(words: &[u32; 16]) -> Entry {
    Entry::read_from_bytes(&bytes(words)).unwrap()
}

/// TEARDOWN_HCA as a driver handed it to a card (netdev, July 2021).
const TEARDOWN_INPUT: [u32; 16] = [
    0x07000000, 0x00000010, 0, 0, 0x01030000, 0, 0x00000001, 0, 0, 0, 0, 0, 0, 0, 0x00000010,
    0x3fc50001,
];

/// DESTROY_FLOW_TABLE of the same log, with an input mailbox.
const DESTROY_INPUT: [u32; 16] = [
    0x07000000, 0x00000040, 0x00000001, 0x347e4400, 0x09310000, 0, 0, 0, 0, 0, 0, 0, 0, 0,
    0x00000010, 0x40de0001,
];

#[test]
fn real_entries_decode() {
    let teardown = entry(&TEARDOWN_INPUT);
    assert_eq!(teardown.type_(), 7);
    assert_eq!(teardown.input_length(), 0x10);
    assert_eq!(teardown.output_length(), 0x10);
    assert_eq!(teardown.token(), 0x3f);
    assert_eq!(teardown.signature(), 0xc5);
    assert!(teardown.ownership());
    assert_eq!(
        teardown.command_input_inline_data()[..2],
        0x0103u16.to_be_bytes()
    );
    assert!(teardown.is_signed());

    let destroy = entry(&DESTROY_INPUT);
    assert_eq!(destroy.input_length(), 0x40);
    assert_eq!(destroy.input_mailbox_pointer_63_32(), 1);
    assert_eq!(destroy.input_mailbox_pointer_31_9() << 9, 0x347e4400);
    assert!(destroy.is_signed());
}

#[test]
fn our_entries_equal_the_real_ones() {
    let mut teardown = Entry::new();
    let mut inline = [0; 16];
    inline[..2].copy_from_slice(&0x0103u16.to_be_bytes());
    inline[11] = 1;
    teardown
        .set_type_(7u8)
        .set_input_length(0x10u32)
        .set_output_length(0x10u32)
        .set_command_input_inline_data(&inline)
        .set_token(0x3fu8)
        .set_ownership(true)
        .sign();
    assert_eq!(teardown.as_bytes(), bytes(&TEARDOWN_INPUT));

    let mut destroy = Entry::new();
    let mut inline = [0; 16];
    inline[..2].copy_from_slice(&0x0931u16.to_be_bytes());
    destroy
        .set_type_(7u8)
        .set_input_length(0x40u32)
        .set_input_mailbox(0x1_347e_4400)
        .set_command_input_inline_data(&inline)
        .set_output_length(0x10u32)
        .set_token(0x40u8)
        .set_ownership(true)
        .sign();
    assert_eq!(destroy.as_bytes(), bytes(&DESTROY_INPUT));
}

#[test]
fn block_counts() {
    assert_eq!(blocks(8), 0);
    assert_eq!(blocks(16), 0);
    assert_eq!(blocks(17), 1);
    assert_eq!(blocks(16 + 512), 1);
    assert_eq!(blocks(16 + 513), 2);
    // SET_HCA_CAP and MANAGE_PAGES with 768 entries.
    assert_eq!(blocks(0x1010), 8);
    assert_eq!(blocks(16 + 768 * 8), 12);
}

#[test]
fn opcodes_have_the_manuals_names() {
    assert_eq!(Opcode::QUERY_ESW_FUNCTIONS.0, 0x740);
    assert_eq!(Opcode(0x740).to_string(), "QUERY_ESW_FUNCTIONS(0x740)");
    assert_eq!(Opcode(0x50a).to_string(), "2RST_QP(0x50a)");
    assert_eq!(Opcode(0x728).name(), Some("QUERY_NVMF_NAMESPACE_CONTEXT"));
    assert_eq!(Opcode(0xffff).to_string(), "unknown(0xffff)");
    let codes: Vec<_> = Opcode::all().map(|code| code.0).collect();
    assert!(
        codes.windows(2).all(|pair| pair[0] < pair[1]),
        "the table must ascend"
    );
}

proptest! {
    #[test]
    fn a_changed_byte_breaks_the_block_signature(
        at in 0usize..MailboxBlock::TABLE.size,
        flip in 1u8..,
        token in 1u8..,
        data in any::<[u8; 32]>(),
    ) {
        let mut block = MailboxBlock::new();
        let mut whole = [0; 512];
        whole[..32].copy_from_slice(&data);
        block.set_mailbox_data(&whole).set_token(token).set_next(0x1234_5678_9c00).sign();
        prop_assert!(block.is_signed());
        block.as_mut_bytes()[at] ^= flip;
        prop_assert!(!block.is_signed());
    }

    #[test]
    fn setting_a_field_changes_no_other(value in any::<u8>(), fill in any::<u8>()) {
        let mut entry = Entry::read_from_bytes(&[fill; 64]).unwrap();
        let before = entry;
        entry.set_token(value);
        prop_assert_eq!(entry.token(), value);
        prop_assert_eq!(entry.signature(), before.signature());
        prop_assert_eq!(entry.status(), before.status());
        prop_assert_eq!(entry.ownership(), before.ownership());
        prop_assert_eq!(&entry.as_bytes()[..0x3c], &before.as_bytes()[..0x3c]);
    }
}
