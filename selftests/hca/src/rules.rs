// SPDX-License-Identifier: GPL-2.0

//! The rules that the model holds a driver to.
//!
//! Each rule has a number, which is also the low half of the syndrome in a refused command
//! (`00CAnnnnh`), a name for logs and tests, and the place where the rule is stated.

macro_rules! rules {
    ($($number:literal $rule:ident $name:literal, $source:literal;)*) => {
        /// A rule by its number.
        #[derive(Debug, Clone, Copy, PartialEq, Eq)]
        #[repr(u16)]
        pub enum Rule {
            $(#[doc = $source] $rule = $number,)*
        }

        /// All rules: itself, name, source.
        pub const RULES: &[(Rule, &str, &str)] = &[$((Rule::$rule, $name, $source),)*];
    };
}

rules! {
    // Command queue entry.
    0x01 EntryType "entry-type", "cmd_queue_entry.type is 7 (PCI command transport)";
    0x02 EntrySignature "entry-signature", "XOR over the 64 bytes of the entry is FFh";
    0x03 TokenZero "token-zero", "a command's token is not zero";
    0x04 EntryReserved "entry-reserved", "reserved bits of the entry are zero";
    0x05 InputLength "input-length", "input_length covers the command's layout and is at least 8";
    0x06 OutputLength "output-length", "output_length covers the command's output and is at least 8";
    0x07 InputPointer "input-pointer", "input mailbox pointer is 1 KiB aligned, and there when needed";
    0x08 OutputPointer "output-pointer", "output mailbox pointer is 1 KiB aligned, and there when needed";
    0x09 PointerUnused "pointer-unused", "a mailbox pointer that is not needed is zero";
    0x0a EntryChanged "entry-changed", "software leaves an entry alone while the device owns it";
    0x0b MailboxChanged "mailbox-changed", "software leaves input mailboxes alone while the device owns them";
    // Mailbox blocks.
    0x10 BlockToken "block-token", "each mailbox block carries the token of its entry";
    0x11 BlockNumber "block-number", "blocks of a chain are numbered from 0";
    0x12 BlockSignature "block-signature", "block signatures are right while cmdif_checksum is enabled";
    0x13 BlockReserved "block-reserved", "reserved bytes of a block are zero";
    0x14 BlockAlignment "block-alignment", "next pointers are 1 KiB aligned";
    0x15 ChainShort "chain-short", "a chain has blocks for its whole length";
    0x16 ChainLong "chain-long", "the last block of a chain has a next pointer of zero";
    // Doorbell and queue.
    0x20 DoorbellSlot "doorbell-slot", "doorbell bits lie within the number of slots";
    0x21 DoorbellBusy "doorbell-busy", "a slot is not rung again before its command completed";
    0x22 DoorbellOwnership "doorbell-ownership", "the ownership bit is set before the doorbell";
    0x23 DoorbellQueue "doorbell-queue", "the queue address is written before the first doorbell";
    0x24 QueueAddress "queue-address", "the queue is in mapped memory and 4 KiB aligned";
    0x25 QueueBusy "queue-busy", "the queue address does not change while commands are outstanding";
    0x26 DoorbellNotReady "doorbell-not-ready", "no doorbell while initializing is set";
    // MMIO and DMA.
    0x30 MmioReserved "mmio-reserved", "reserved and read-only registers are not written";
    0x31 MmioAccess "mmio-access", "registers are accessed aligned and in their size";
    0x32 Dma "dma", "addresses given to the device are mapped for it, in the right direction";
    0x34 Unmapped "unmapped", "memory is not unmapped while the device still owns it";
    0x33 Uar "uar", "doorbells go to an allocated UAR page";
    // Commands in general.
    0x40 UnknownOpcode "unknown-opcode", "only opcodes of the manual are sent";
    0x41 Unsupported "unsupported", "a command is sent only if its capability is set";
    0x42 OpMod "op-mod", "op_mod has a value that the command defines";
    0x43 CommandReserved "command-reserved", "reserved bits of a command's input are zero";
    0x44 Order "order", "commands come in the order of the start-up and teardown sequence";
    0x45 Value "value", "a field holds a value that the manual defines";
    0x46 Uid "uid", "a kernel driver leaves uid zero, except where shared objects are meant";
    // Objects.
    0x50 NoObject "no-object", "a command names an object that exists";
    0x51 ObjectBusy "object-busy", "an object is destroyed after all that refers to it";
    0x52 ObjectsLeft "objects-left", "all objects are destroyed before TEARDOWN_HCA";
    0x53 ObjectState "object-state", "an object is in the state that the command needs";
    0x54 Limit "limit", "sizes and numbers stay within the capabilities";
    // Pages.
    0x60 PageTwice "page-twice", "a page is given once";
    0x61 PageAddress "page-address", "a page is 4 KiB aligned, not at address 0, and in mapped memory";
    0x62 PagesMissing "pages-missing", "pages asked for are given before the sequence goes on";
    0x63 PagesHeld "pages-held", "all pages are taken back before DISABLE_HCA";
    0x64 PagesExcess "pages-excess", "not more pages are given than the device asked for";
    0x65 PagesTake "pages-take", "no more pages are taken than the function holds";
    // Event queues.
    0x70 EqIndex "eq-index", "an EQ's consumer index only moves forward, up to the producer";
    0x71 EqDoorbell "eq-doorbell", "an EQ doorbell names an EQ that exists, through its own UAR";
    0x72 EqBuffer "eq-buffer", "every EQE's ownership bit is set before CREATE_EQ";
    0x73 EqOverrun "eq-overrun", "the consumer index is written before the ring overruns";
    0x74 EqEvents "eq-events", "only events whose capability is set are asked for";
    // Completion queues and work queues.
    0x78 CqBuffer "cq-buffer", "no CQE looks valid before CREATE_CQ";
    0x79 CqDoorbell "cq-doorbell", "a CQ is armed through its own UAR, with the right sequence number, after its record";
    0x7a CqOverrun "cq-overrun", "the consumer counter is written before the ring overruns";
    0x7b SqDoorbell "sq-doorbell", "an SQ doorbell names an SQ that exists, through its own UAR, within its ring";
    0x7c Wqe "wqe", "work requests have the format of the manual and ask for what is announced";
    0x7d WqeKey "wqe-key", "work requests name memory by keys that allow it";
    0x7e RqRecord "rq-record", "an RQ's record runs ahead by at most the ring";
    0x7f Rqe "rqe", "a posted buffer can take a frame";
    // Capabilities.
    0x80 CapAboveMax "cap-above-max", "SET_HCA_CAP stays at or below the maximum";
    0x81 CapFixed "cap-fixed", "SET_HCA_CAP changes only what software may change";
    // Not violations: reasons of the device.
    0xe0 NoResource "no-resource", "the device has no more of what is asked for (no violation)";
    0xe1 Register "register", "the register does not exist on this device (no violation)";
    0xe2 Injected "injected", "the status was asked for on the control socket (no violation)";
    0xe3 NotPermitted "not-permitted", "the function may not do this (no violation)";
    // Errors of the model itself.
    0xf0 Model "model", "the model itself failed; please report it";
}

impl Rule {
    /// Name for logs and tests.
    pub fn name(self) -> &'static str {
        self.entry().1
    }

    /// What the rule says.
    pub fn text(self) -> &'static str {
        self.entry().2
    }

    /// Syndrome of a command that was refused for this rule.
    pub fn syndrome(self) -> u32 {
        0x00ca_0000 | u32::from(self as u16)
    }

    fn entry(self) -> (Rule, &'static str, &'static str) {
        RULES
            .iter()
            .find(|(r, _, _)| *r == self)
            .copied()
            .unwrap_or((self, "", ""))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_readme_explains_each_syndrome() {
        let readme = include_str!("../README.md");
        for (rule, name, _) in RULES {
            let line = format!("| {:08X}h | {name} |", rule.syndrome());
            assert!(readme.contains(&line), "README.md lacks: {line}");
        }
    }

    #[test]
    fn names_and_numbers_are_unique() {
        for (i, (rule, name, _)) in RULES.iter().enumerate() {
            assert!(RULES[i + 1..]
                .iter()
                .all(|(r, n, _)| r != rule && n != name));
        }
    }
}
