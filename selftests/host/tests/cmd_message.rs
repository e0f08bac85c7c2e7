// SPDX-License-Identifier: GPL-2.0

//! Messages in entry and mailbox blocks, and what is noticed when they come back.

use mlx5_prm_host::cmd::message::{Checks, Flaw, Incoming, Parts, Request};
use mlx5_prm_host::prm::queue::{Entry, MailboxBlock};

const SIGNED: Checks = Checks { signatures: true };
const UNSIGNED: Checks = Checks { signatures: false };

/// A message of 16 + 512 + 3 bytes, in two parts that meet in the middle of a block.
fn message() -> Vec<u8> {
    (0..531u32).map(|i| (i * 7 + i / 256) as u8).collect()
}

#[test]
fn an_input_is_spread_over_entry_and_blocks() {
    let text = message();
    let request = Request {
        input: &text[..20],
        tail: &text[20..],
        output_length: 0x1010,
        token: 0x5a,
    };
    let mut data = request.data();
    let entry = request.entry(&mut data);
    assert_eq!(entry.type_(), 7);
    assert_eq!((entry.input_length(), entry.output_length()), (531, 0x1010));
    assert_eq!(entry.token(), 0x5a);
    assert_eq!(entry.command_input_inline_data()[..], text[..16]);
    assert!(!entry.ownership());

    let first = request.block(0, 0x1_2345_6400, &mut data);
    assert_eq!(first.mailbox_data()[..], text[16..528]);
    assert_eq!(first.next_pointer_63_32(), 1);
    assert_eq!(first.next_pointer_31_10() << 10, 0x2345_6400);
    assert_eq!((first.block_number(), first.token()), (0, 0x5a));
    assert!(first.is_signed());

    let last = request.block(1, 0, &mut data);
    assert_eq!(last.mailbox_data()[..3], text[528..]);
    assert!(last.mailbox_data()[3..].iter().all(|byte| *byte == 0));
    assert_eq!(last.next_pointer_31_10(), 0);
    assert_eq!(last.block_number(), 1);
    assert!(last.is_signed());
}

/// Takes in an entry and a block as given; the output, and the flaw that was noticed.
fn arrive(checks: Checks, entry: &Entry, block: &MailboxBlock) -> (Vec<u8>, Option<Flaw>) {
    let mut output = vec![0; 40];
    let (head, tail) = output.split_at_mut(8);
    let mut incoming = Incoming::new(0x5a, checks, head, tail);
    incoming.entry(entry);
    incoming.block(0, block);
    let flaw = incoming.flaw();
    (output, flaw)
}

fn good() -> (Entry, MailboxBlock) {
    let mut entry = Entry::new();
    entry
        .set_token(0x5au8)
        .set_command_output_inline_data(&[1; 16])
        .sign();
    let request = Request {
        input: &[2; 24],
        tail: &[],
        output_length: 40,
        token: 0x5a,
    };
    (entry, request.block(0, 0, &mut request.data()))
}

#[test]
fn an_output_is_put_together_and_each_flaw_is_named() {
    let (entry, block) = good();
    let (output, flaw) = arrive(SIGNED, &entry, &block);
    assert_eq!(flaw, None);
    assert_eq!(output, [[1; 16].as_slice(), &[2; 24]].concat());

    let mut other = entry;
    other.set_token(1u8).sign();
    assert_eq!(arrive(SIGNED, &other, &block).1, Some(Flaw::EntryToken));
    let mut other = entry;
    other.set_status(mlx5_prm_host::prm::bits::Bits::low(1));
    assert_eq!(arrive(SIGNED, &other, &block).1, Some(Flaw::EntrySignature));
    assert_eq!(arrive(UNSIGNED, &other, &block).1, None);

    let mut other = block;
    other.set_token(1u8).sign();
    assert_eq!(arrive(SIGNED, &entry, &other).1, Some(Flaw::BlockToken));
    let mut other = block;
    other.set_block_number(1u32).sign();
    assert_eq!(arrive(SIGNED, &entry, &other).1, Some(Flaw::BlockNumber));
    let mut other = block;
    other.set_signature(!block.signature());
    assert_eq!(arrive(SIGNED, &entry, &other).1, Some(Flaw::BlockSignature));
    assert_eq!(arrive(UNSIGNED, &entry, &other).1, None);
    // The data are there all the same.
    assert_eq!(arrive(SIGNED, &entry, &other).0[16..], [2; 24]);
}

#[test]
fn the_length_is_that_of_both_parts() {
    let request = Request {
        input: &[1; 8],
        tail: &[2; 8],
        output_length: 0,
        token: 1,
    };
    assert_eq!(request.input_length(), Some(16));
    let empty = Request {
        input: &[],
        tail: &[],
        ..request
    };
    assert_eq!(empty.input_length(), Some(0));
    assert_eq!(empty.entry(&mut Parts::none()).input_length(), 0);
}
