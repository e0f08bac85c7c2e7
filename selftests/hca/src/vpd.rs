// SPDX-License-Identifier: GPL-2.0

//! Vital product data: what the card says about itself over configuration space.

use crate::config_space::ConfigSpace;

/// Offset of the capability.
pub const AT: usize = 0x48;

/// Flag beside the address: set by the device when data is there to read.
const DONE: u8 = 0x80;

/// Tags of the PCI specification.
const IDENTIFIER: u8 = 0x82;
const READ_ONLY: u8 = 0x90;
const END: u8 = 0x78;

/// Contents: product name, then the read-only fields.
pub fn contents(name: &str, fields: &[(&str, &str)]) -> Vec<u8> {
    let mut out = vec![IDENTIFIER];
    out.extend((name.len() as u16).to_le_bytes());
    out.extend(name.bytes());
    let mut body = Vec::new();
    for (key, value) in fields {
        body.extend(key.bytes().take(2));
        body.push(value.len().min(255) as u8);
        body.extend(value.bytes().take(255));
    }
    // RV: its one byte makes the sum over everything up to it zero.
    body.extend([b'R', b'V', 1]);
    out.push(READ_ONLY);
    out.extend((body.len() as u16 + 1).to_le_bytes());
    out.extend(body);
    let sum = out.iter().fold(0u8, |s, b| s.wrapping_add(*b));
    out.push(sum.wrapping_neg());
    out.push(END);
    out
}

/// Called after a write to configuration space: answers a read that was asked for.
pub fn after_write(c: &mut ConfigSpace, offset: u64, length: usize, data: &[u8]) {
    let flag = (AT + 3) as u64;
    let touched = offset <= flag && flag < offset.saturating_add(length as u64);
    let address = c.word16(AT + 2);
    if !touched || address & 0x8000 != 0 {
        // Writes to the data are not stored: all of it is read-only.
        return;
    }
    let start = usize::from(address & 0x7ffc);
    for i in 0..4 {
        c.put(AT + 4 + i, data.get(start + i).copied().unwrap_or(0));
    }
    c.put(AT + 3, (address >> 8) as u8 | DONE);
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_read() {
        let data = contents("Card", &[("PN", "X1"), ("SN", "0")]);
        assert_eq!(&data[..7], b"\x82\x04\0Card");
        let sum = data[..data.len() - 1]
            .iter()
            .fold(0u8, |s, b| s.wrapping_add(*b));
        assert_eq!(sum, 0, "the checksum covers all but the end tag");
        let mut c = ConfigSpace::default().writable(AT + 2, 2, 0xffff);
        c.write(0x4a, &[0, 0]);
        after_write(&mut c, 0x4a, 2, &data);
        let mut out = [0; 4];
        c.read(0x4c, &mut out);
        assert_eq!(&out, b"\x82\x04\0C");
        assert_eq!(c.word16(0x4a), 0x8000);
        c.write(0x4a, &[0xfc, 0x7f]);
        after_write(&mut c, 0x4a, 2, &data);
        c.read(0x4c, &mut out);
        assert_eq!(out, [0; 4]);
    }
}
