// SPDX-License-Identifier: GPL-2.0

//! The command queue: its entries and mailbox blocks, and the signatures over both.

use crate::layout;
use crate::prm::status;

layout! {
    /// Command queue entry: one slot of the command queue.
    ///
    /// The first 16 bytes of input and output stand in the entry itself; the rest is in mailbox
    /// blocks. The last byte is the ownership byte: software sets bit 0 to hand the entry over, the
    /// device clears it when the command is done.
    pub struct Entry: plain "cmd_queue_entry", 0x40 {
        0x00 [31:24] type_: RW, "Transport; 7: PCI command.";
        0x04 [31:0] input_length: RW, "Bytes of input, those in the entry included.";
        0x08 [31:0] input_mailbox_pointer_63_32: RW, "Address of the first input block.";
        0x0c [31:9] input_mailbox_pointer_31_9: RW, "Low part; 0: no block.";
        0x10 [16 bytes] command_input_inline_data: RW, "First 16 bytes of the input.";
        0x20 [16 bytes] command_output_inline_data: RO, "First 16 bytes of the output.";
        0x30 [31:0] output_mailbox_pointer_63_32: RW, "Address of the first output block.";
        0x34 [31:9] output_mailbox_pointer_31_9: RW, "Low part; 0: no block.";
        0x38 [31:0] output_length: RW, "Bytes of output that there is room for.";
        0x3c [31:24] token: RW, "Ties the entry to its blocks; not 0.";
        0x3c [23:16] signature: RW, "Makes the XOR of all 64 bytes FFh.";
        0x3c [7:1] status: RO, "Delivery status.", names(status::delivery_name_of);
        0x3c [0:0] ownership: RW, "1: the device's.";
    }

    /// Mailbox block: 512 bytes of a command's input or output, and the link to the next block.
    pub struct MailboxBlock: plain "cmd_if_box", 0x240 {
        0x000 [512 bytes] mailbox_data: RW, "Part of the input or output.";
        0x230 [31:0] next_pointer_63_32: RW, "Address of the next block.";
        0x234 [31:10] next_pointer_31_10: RW, "Low part; 0: last block.";
        0x238 [31:0] block_number: RW, "Counts up from 0 along the chain.";
        0x23c [23:16] token: RW, "The entry's token.";
        0x23c [15:8] ctrl_signature: RW, "Makes the XOR of bytes 200h to 23Eh FFh.";
        0x23c [7:0] signature: RW, "Makes the XOR of all 576 bytes FFh.";
    }
}

impl Entry {
    /// Type of a command that comes over PCI.
    pub const TYPE_PCI: u8 = 7;

    /// Bytes of input or output that stand in the entry itself.
    pub const INLINE: usize = 16;

    /// Offset of the byte with delivery status and ownership.
    pub const OWNERSHIP_BYTE: usize = 0x3f;

    /// Points to the first input block; 0 if there is none.
    pub fn set_input_mailbox(&mut self, address: u64) -> &mut Self {
        self.set_input_mailbox_pointer_63_32(high(address))
            .set_input_mailbox_pointer_31_9(super::bits::Bits::low(address >> 9))
    }

    /// Points to the first output block; 0 if there is none.
    pub fn set_output_mailbox(&mut self, address: u64) -> &mut Self {
        self.set_output_mailbox_pointer_63_32(high(address))
            .set_output_mailbox_pointer_31_9(super::bits::Bits::low(address >> 9))
    }

    /// Signs the entry as it is now: the last thing to do before it is handed over.
    pub fn sign(&mut self) -> &mut Self {
        self.set_signature(0u8);
        let signature = !xor(&self.0);
        self.set_signature(signature)
    }

    /// Whether the signature fits the entry.
    pub fn is_signed(&self) -> bool {
        xor(&self.0) == 0xff
    }
}

impl MailboxBlock {
    /// Bytes of input or output in one block.
    pub const DATA: usize = 512;

    /// Blocks are aligned to this many bytes.
    ///
    /// Real firmware refuses a smaller alignment, such as the size of the block.
    pub const ALIGNMENT: usize = 1024;

    /// First byte that the control signature covers.
    const CONTROL: usize = 0x200;

    /// Offset of the control signature.
    const CONTROL_SIGNATURE: usize = 0x23e;

    /// Offset of the signature over the whole block.
    const SIGNATURE: usize = 0x23f;

    /// Points to the next block; 0 if this is the last.
    pub fn set_next(&mut self, address: u64) -> &mut Self {
        self.set_next_pointer_63_32(high(address))
            .set_next_pointer_31_10(super::bits::Bits::low(address >> 10))
    }

    /// Signs the block as it is now.
    pub fn sign(&mut self) -> &mut Self {
        let control = !xor(range(&self.0, Self::CONTROL, Self::CONTROL_SIGNATURE));
        self.set_ctrl_signature(control);
        let whole = !xor(range(&self.0, 0, Self::SIGNATURE));
        self.set_signature(whole)
    }

    /// Whether both signatures fit the block.
    pub fn is_signed(&self) -> bool {
        xor(range(&self.0, Self::CONTROL, Self::SIGNATURE)) == 0xff && xor(&self.0) == 0xff
    }
}

/// Number of mailbox blocks for `length` bytes of input or output.
pub const fn blocks(length: usize) -> usize {
    length
        .saturating_sub(Entry::INLINE)
        .div_ceil(MailboxBlock::DATA)
}

fn high(address: u64) -> u32 {
    // CAST: The upper half of the address is meant.
    (address >> 32) as u32
}

fn xor(bytes: &[u8]) -> u8 {
    bytes.iter().fold(0, |sum, byte| sum ^ byte)
}

fn range(bytes: &[u8], from: usize, to: usize) -> &[u8] {
    bytes.get(from..to).unwrap_or_default()
}
