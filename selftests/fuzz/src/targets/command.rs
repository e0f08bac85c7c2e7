// SPDX-License-Identifier: GPL-2.0

//! Entries of the command queue, mailbox blocks, and messages in both.

use crate::input::Input;
use mlx5_prm_host::{
    cmd::message::{
        Checks,
        Flaw,
        Incoming,
        Request, //
    },
    prm::queue::{
        blocks,
        Entry,
        MailboxBlock, //
    },
};

/// Flips one bit of `bytes`.
fn flip<const N: usize>(mut bytes: [u8; N], bit: usize) -> [u8; N] {
    bytes[bit / 8] ^= 1 << (bit % 8);
    bytes
}

/// A signature fits what was signed, and nothing that differs from it by a bit.
pub fn entry(input: &mut Input<'_>) {
    let bit = input.below(64 * 8);
    let address = input.u64();
    let bytes: [u8; 64] = input.array();
    let mut entry = Entry::from(bytes);
    assert_eq!(
        entry.is_signed(),
        bytes.iter().fold(0, |sum, byte| sum ^ byte) == 0xff
    );

    let before = entry;
    entry
        .set_input_mailbox(address)
        .set_output_mailbox(!address);
    for (high, low, wanted) in [
        (
            entry.input_mailbox_pointer_63_32(),
            entry.input_mailbox_pointer_31_9(),
            address,
        ),
        (
            entry.output_mailbox_pointer_63_32(),
            entry.output_mailbox_pointer_31_9(),
            !address,
        ),
    ] {
        assert_eq!(u64::from(high) << 32 | u64::from(low) << 9, wanted & !0x1ff);
    }
    assert_eq!(entry.input_length(), before.input_length());
    assert_eq!(
        entry.command_output_inline_data(),
        before.command_output_inline_data()
    );
    assert_eq!(entry.status(), bytes[Entry::OWNERSHIP_BYTE] >> 1);
    assert_eq!(entry.ownership(), bytes[Entry::OWNERSHIP_BYTE] & 1 == 1);

    entry.sign();
    assert!(entry.is_signed());
    let once: [u8; 64] = entry.into();
    let twice: [u8; 64] = (*entry.sign()).into();
    assert_eq!(once, twice);
    assert!(!Entry::from(flip(once, bit)).is_signed());
}

/// The same for blocks, which have two signatures.
pub fn mailbox(input: &mut Input<'_>) {
    const SIZE: usize = 0x240;
    let bit = input.below(SIZE * 8);
    let address = input.u64();
    let bytes: [u8; SIZE] = input.array();
    let mut block = MailboxBlock::from(bytes);
    let xor = |bytes: &[u8]| bytes.iter().fold(0, |sum, byte| sum ^ byte);
    assert_eq!(
        block.is_signed(),
        xor(&bytes[0x200..0x23f]) == 0xff && xor(&bytes) == 0xff
    );

    let number = block.block_number();
    block.set_next(address);
    assert_eq!(
        u64::from(block.next_pointer_63_32()) << 32 | u64::from(block.next_pointer_31_10()) << 10,
        address & !0x3ff
    );
    assert_eq!(block.block_number(), number);
    assert_eq!(block.mailbox_data()[..], bytes[..512]);

    block.sign();
    assert!(block.is_signed());
    let once: [u8; SIZE] = block.into();
    let twice: [u8; SIZE] = (*block.sign()).into();
    assert_eq!(once, twice);
    assert!(!MailboxBlock::from(flip(once, bit)).is_signed());
}

/// A message goes into an entry and blocks, and comes out of them again as it was: whatever its
/// length, and wherever the fixed part ends. What is changed on the way is noticed, and an output
/// is copied as far as there is room.
pub fn message(input: &mut Input<'_>) {
    let checks = Checks {
        signatures: input.flag(),
    };
    let token = input.u8();
    let length = input.below(2048);
    let text = input.bytes(length);
    let split = input.below(text.len() + 1);
    let request = Request {
        input: &text[..split],
        tail: &text[split..],
        output_length: input.below(65536),
        token,
    };
    assert_eq!(request.input_length(), Some(text.len()));

    let mut data = request.data();
    let mut entry = request.entry(&mut data);
    assert_eq!(entry.input_length() as usize, text.len());
    assert_eq!(entry.output_length() as usize, request.output_length);
    let chain: Vec<MailboxBlock> = (0..blocks(text.len()) as u32)
        .map(|number| request.block(number, u64::from(number) << 10, &mut data))
        .collect();
    assert!(chain.iter().all(MailboxBlock::is_signed));
    let sent: Vec<u8> = entry
        .command_input_inline_data()
        .iter()
        .chain(chain.iter().flat_map(|block| block.mailbox_data()))
        .copied()
        .collect();
    assert_eq!(sent[..text.len()], *text);
    assert!(sent[text.len()..].iter().all(|byte| *byte == 0));

    // The device echoes it into a room of another size, and may change a byte.
    let inline = *entry.command_input_inline_data();
    entry.set_command_output_inline_data(&inline).sign();
    let mut bytes: Vec<u8> = <[u8; 64]>::from(entry).to_vec();
    for block in &chain {
        bytes.extend(<[u8; 0x240]>::from(*block));
    }
    let (at, change) = (input.below(bytes.len()), input.u8());
    bytes[at] ^= change;

    let room = input.below(2048);
    let mut output = vec![0xee; room];
    let split = input.below(room + 1);
    let (first, second) = output.split_at_mut(split);
    let mut incoming = Incoming::new(token, checks, first, second);
    let (head, rest) = bytes.split_at(64);
    incoming.entry(&Entry::from(<[u8; 64]>::try_from(head).expect("64 bytes")));
    for (number, block) in (0u32..).zip(rest.chunks_exact(0x240)) {
        let block = <[u8; 0x240]>::try_from(block).expect("a block");
        incoming.block(number, &MailboxBlock::from(block));
    }
    let expected = flaw(at, change, checks);
    assert_eq!(incoming.flaw(), expected);

    let mut arrived = sent;
    if let Some(place) = data_place(at) {
        arrived[place] ^= change;
    }
    let common = room.min(arrived.len());
    assert_eq!(output[..common], arrived[..common]);
    assert!(output[common..].iter().all(|byte| *byte == 0xee));
}

/// Where byte `at` of entry and blocks stands in the output, if it does.
fn data_place(at: usize) -> Option<usize> {
    match at.checked_sub(64) {
        None => at.checked_sub(0x20).filter(|place| *place < 16),
        Some(at) => {
            let (block, place) = (at / 0x240, at % 0x240);
            (place < 512).then_some(16 + block * 512 + place)
        }
    }
}

/// What a change of byte `at` must be called.
fn flaw(at: usize, change: u8, checks: Checks) -> Option<Flaw> {
    if change == 0 {
        return None;
    }
    let (token, number, signature) = match at.checked_sub(64) {
        None => (at == 0x3c, false, Flaw::EntrySignature),
        Some(at) => {
            let place = at % 0x240;
            let number = (0x238..0x23c).contains(&place);
            (place == 0x23d, number, Flaw::BlockSignature)
        }
    };
    match (token, number) {
        (true, _) if at < 64 => Some(Flaw::EntryToken),
        (true, _) => Some(Flaw::BlockToken),
        (_, true) => Some(Flaw::BlockNumber),
        _ => checks.signatures.then_some(signature),
    }
}
