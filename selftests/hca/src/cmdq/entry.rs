// SPDX-License-Identifier: GPL-2.0

//! A command queue entry and the checks that the firmware makes before it runs a command.

use super::signature;
use crate::bits;
use crate::ifc::fields::cmd_queue_entry as e;
use crate::ifc::nonzero_reserved;
use crate::rules::Rule;

/// `type` of a command that comes over PCI.
const PCI_TRANSPORT: u64 = 7;

/// Bytes of a command that stand in the entry itself.
pub const INLINE: usize = 16;

/// Longest input or output that the model takes, in bytes.
pub const MAX_LENGTH: u32 = 1 << 20;

/// Delivery status of an entry. Source: `MLX5_CMD_DELIVERY_STAT_*` of mlx5_core's `cmd.c`.
pub mod delivery {
    pub const OK: u8 = 0x0;
    pub const SIGNATURE: u8 = 0x1;
    pub const TOKEN: u8 = 0x2;
    pub const BLOCK_NUMBER: u8 = 0x3;
    pub const OUTPUT_POINTER: u8 = 0x4;
    pub const INPUT_POINTER: u8 = 0x5;
    pub const FIRMWARE: u8 = 0x6;
    pub const INPUT_LENGTH: u8 = 0x7;
    pub const OUTPUT_LENGTH: u8 = 0x8;
    pub const RESERVED: u8 = 0x9;
    pub const DESCRIPTOR_TYPE: u8 = 0x10;
}

/// A command that is not run: its delivery status and the rule that it breaks.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Undelivered {
    pub status: u8,
    pub rule: Rule,
    pub text: String,
}

impl Undelivered {
    /// A refusal with its reason.
    pub fn new(status: u8, rule: Rule, text: impl Into<String>) -> Undelivered {
        Undelivered {
            status,
            rule,
            text: text.into(),
        }
    }
}

/// An entry as it was when its doorbell came.
#[derive(Debug, Clone)]
pub struct Entry {
    pub raw: [u8; e::BYTES],
}

impl Entry {
    pub fn token(&self) -> u8 {
        bits::get(&self.raw, e::TOKEN) as u8
    }

    pub fn input_length(&self) -> u32 {
        bits::get32(&self.raw, e::INPUT_LENGTH)
    }

    pub fn output_length(&self) -> u32 {
        bits::get32(&self.raw, e::OUTPUT_LENGTH)
    }

    pub fn owned_by_device(&self) -> bool {
        bits::flag(&self.raw, e::OWNERSHIP)
    }

    pub fn input_inline(&self) -> &[u8] {
        bits::bytes(&self.raw, e::COMMAND_INPUT_INLINE_DATA)
    }

    /// Pointer to the first input block, with its low bits.
    pub fn input_pointer(&self) -> u64 {
        let low = bits::word(&self.raw, e::INPUT_MAILBOX_POINTER_31_9.byte());
        (bits::get(&self.raw, e::INPUT_MAILBOX_POINTER_63_32) << 32) | u64::from(low)
    }

    /// Pointer to the first output block, with its low bits.
    pub fn output_pointer(&self) -> u64 {
        let low = bits::word(&self.raw, e::OUTPUT_MAILBOX_POINTER_31_9.byte());
        (bits::get(&self.raw, e::OUTPUT_MAILBOX_POINTER_63_32) << 32) | u64::from(low)
    }

    /// Everything that can be told from the entry alone. `notes` takes what is wrong but does
    /// not stop the command.
    ///
    /// # Errors
    ///
    /// The first reason for which the firmware would not run the command.
    pub fn check(&self, notes: &mut Vec<(Rule, String)>) -> Result<(), Undelivered> {
        let fail = |status, rule, text: String| Err(Undelivered::new(status, rule, text));
        if !signature::entry_is_signed(&self.raw) {
            let sum = signature::xor(&self.raw);
            let text = format!("XOR over the entry is {sum:02x}h");
            return fail(delivery::SIGNATURE, Rule::EntrySignature, text);
        }
        let kind = bits::get(&self.raw, e::TYPE);
        if kind != PCI_TRANSPORT {
            let text = format!("type is {kind:x}h");
            return fail(delivery::DESCRIPTOR_TYPE, Rule::EntryType, text);
        }
        if self.token() == 0 {
            let text = "the entry's token is 0".to_string();
            return fail(delivery::TOKEN, Rule::TokenZero, text);
        }
        let (input, output) = (self.input_length(), self.output_length());
        if !(8..=MAX_LENGTH).contains(&input) {
            let text = format!("input_length is {input}");
            return fail(delivery::INPUT_LENGTH, Rule::InputLength, text);
        }
        if !(8..=MAX_LENGTH).contains(&output) {
            let text = format!("output_length is {output}");
            return fail(delivery::OUTPUT_LENGTH, Rule::OutputLength, text);
        }
        check_pointer(
            self.input_pointer(),
            input,
            (delivery::INPUT_POINTER, Rule::InputPointer),
            notes,
        )?;
        check_pointer(
            self.output_pointer(),
            output,
            (delivery::OUTPUT_POINTER, Rule::OutputPointer),
            notes,
        )?;
        let mut rest = self.raw;
        // The low bits of pointers were looked at above.
        for at in [
            e::INPUT_MAILBOX_POINTER_31_9.byte(),
            e::OUTPUT_MAILBOX_POINTER_31_9.byte(),
        ] {
            rest[at..at + 4].fill(0);
        }
        let status = bits::get(&rest, e::STATUS);
        let reserved = nonzero_reserved("cmd_queue_entry", &rest, None);
        if reserved.is_some() || status != 0 {
            let text = match reserved {
                Some(at) => format!("reserved byte {at:02x}h is {:02x}h", self.raw[at]),
                None => format!("status is {status:x}h when the command is given"),
            };
            return fail(delivery::RESERVED, Rule::EntryReserved, text);
        }
        Ok(())
    }
}

fn check_pointer(
    pointer: u64,
    length: u32,
    (status, rule): (u8, Rule),
    notes: &mut Vec<(Rule, String)>,
) -> Result<(), Undelivered> {
    if length as usize <= INLINE {
        if pointer != 0 {
            let text = format!("the pointer is {pointer:#x} with {length} bytes, all in the entry");
            notes.push((Rule::PointerUnused, text));
        }
        return Ok(());
    }
    if pointer == 0 || pointer % super::mailbox::ALIGNMENT != 0 {
        let text = format!("the pointer is {pointer:#x} with {length} bytes");
        return Err(Undelivered::new(status, rule, text));
    }
    Ok(())
}

#[cfg(test)]
pub mod tests {
    use super::*;

    /// A good entry: ENABLE_HCA without mailboxes.
    pub fn good() -> Entry {
        let mut raw = [0u8; 64];
        raw[0] = 7;
        raw[7] = 16;
        raw[0x10] = 1;
        raw[0x11] = 4;
        raw[0x3b] = 12;
        raw[0x3c] = 5;
        raw[0x3f] = 1;
        signed(raw)
    }

    pub fn signed(mut raw: [u8; 64]) -> Entry {
        signature::sign_entry(&mut raw);
        Entry { raw }
    }

    fn verdict(change: impl Fn(&mut [u8; 64])) -> Result<(), (u8, Rule)> {
        let mut raw = good().raw;
        change(&mut raw);
        signed(raw)
            .check(&mut vec![])
            .map_err(|u| (u.status, u.rule))
    }

    #[test]
    fn each_check() {
        assert_eq!(verdict(|_| ()), Ok(()));
        assert_eq!(verdict(|r| r[0] = 6), Err((0x10, Rule::EntryType)));
        assert_eq!(verdict(|r| r[0x3c] = 0), Err((2, Rule::TokenZero)));
        assert_eq!(verdict(|r| r[7] = 7), Err((7, Rule::InputLength)));
        assert_eq!(verdict(|r| r[4] = 1), Err((7, Rule::InputLength)));
        assert_eq!(verdict(|r| r[0x3b] = 4), Err((8, Rule::OutputLength)));
        assert_eq!(verdict(|r| r[7] = 17), Err((5, Rule::InputPointer)));
        assert_eq!(
            verdict(|r| (r[7], r[0x0e]) = (17, 2)),
            Err((5, Rule::InputPointer))
        );
        assert_eq!(verdict(|r| (r[7], r[0x0e]) = (17, 4)), Ok(()));
        assert_eq!(verdict(|r| r[0x3b] = 32), Err((4, Rule::OutputPointer)));
        assert_eq!(verdict(|r| r[1] = 1), Err((9, Rule::EntryReserved)));
        assert_eq!(verdict(|r| r[0x3e] = 1), Err((9, Rule::EntryReserved)));
        assert_eq!(verdict(|r| r[0x3f] = 3), Err((9, Rule::EntryReserved)));
        let mut unsigned = good();
        unsigned.raw[0x3d] ^= 0x10;
        let e = unsigned.check(&mut vec![]).unwrap_err();
        assert_eq!((e.status, e.rule), (1, Rule::EntrySignature));
    }

    #[test]
    fn a_pointer_without_use_is_noted() {
        let mut raw = good().raw;
        raw[0x0e] = 4;
        let mut notes = vec![];
        signed(raw).check(&mut notes).unwrap();
        assert_eq!(notes[0].0, Rule::PointerUnused);
    }
}
