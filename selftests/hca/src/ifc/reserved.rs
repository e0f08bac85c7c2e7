// SPDX-License-Identifier: GPL-2.0

//! Which bits of a command belong to no named field.

use super::{
    layout,
    Kind,
    Layout,
    LAYOUTS, //
};

/// Replaces the layout of a member where the header has only raw words or a union.
#[derive(Debug, Clone, Copy)]
pub struct Override<'a> {
    /// Member of the outer layout.
    pub member: &'a str,
    /// Layout to use for it.
    pub layout: &'a str,
}

/// Returns the byte offset of the first byte of `data` that has a reserved bit set.
///
/// In a union every bit that one of its members names counts as named. A variable tail takes
/// what is left of `data`.
pub fn nonzero_reserved(name: &str, data: &[u8], with: Option<Override<'_>>) -> Option<usize> {
    let l = layout(name)?;
    let mut named = vec![0u8; data.len()];
    mark(l, 0, &mut named, with);
    (0..data.len()).find(|&i| data[i] & !named[i] != 0)
}

/// Sets the bits of `named` that belong to named fields of `l`, which stands at bit `base`.
fn mark(l: &Layout, base: usize, named: &mut [u8], with: Option<Override<'_>>) {
    let total = named.len().saturating_mul(8);
    for m in l.members {
        let start = base.saturating_add(m.bit as usize);
        let width = m.width as usize;
        if start >= total {
            continue;
        }
        if width == 0 {
            // A union without a name whose members are all lists without an end.
            if let Kind::Layout(inner) = m.kind {
                if let Some(inner) = LAYOUTS.get(inner) {
                    mark(inner, start, named, None);
                }
            }
            continue;
        }
        let count = if m.count == 0 {
            (total - start).div_ceil(width)
        } else {
            m.count as usize
        };
        let replaced = with
            .filter(|o| o.member == m.name)
            .and_then(|o| layout(o.layout));
        for i in 0..count {
            let at = start.saturating_add(i.saturating_mul(width));
            match (m.kind, replaced) {
                (_, Some(inner)) => mark(inner, at, named, None),
                (Kind::Reserved, None) => {}
                (Kind::Value, None) => set(named, at, width),
                (Kind::Layout(index), None) => {
                    if let Some(inner) = LAYOUTS.get(index) {
                        mark(inner, at, named, None);
                    }
                }
            }
        }
    }
}

fn set(named: &mut [u8], at: usize, width: usize) {
    for bit in at..at.saturating_add(width) {
        match named.get_mut(bit / 8) {
            Some(byte) => *byte |= 0x80 >> (bit % 8),
            None => return,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn reserved_bits_of_a_nested_layout() {
        let mut data = vec![0u8; 0x110 + 16];
        data[0] = 0x03;
        data[1] = 0x01;
        data[0x110 + 3] = 0xff;
        data[0x110 + 12] = 0xff;
        assert_eq!(nonzero_reserved("create_eq_in", &data, None), None);
        // Bits 5:0 of the word with page_offset are reserved in the EQ context.
        data[0x10 + 0x0b] = 0x01;
        assert_eq!(nonzero_reserved("create_eq_in", &data, None), Some(0x1b));
    }

    #[test]
    fn a_list_in_a_union_without_a_name() {
        let list = super::super::fields::rqtc::BYTES;
        let mut data = vec![0u8; list + 8];
        data[list + 5..].fill(0xff);
        assert_eq!(nonzero_reserved("rqtc", &data, None), None);
        data[list - 1] = 1;
        assert_eq!(nonzero_reserved("rqtc", &data, None), Some(list - 1));
    }

    #[test]
    fn an_override_sees_through_raw_words() {
        let mut data = vec![0u8; 0x10 + 0x40];
        data[0x10] = 1;
        let with = Some(Override {
            member: "register_data",
            layout: "dtor_reg",
        });
        assert_eq!(nonzero_reserved("access_register_in", &data, None), None);
        assert_eq!(
            nonzero_reserved("access_register_in", &data, with),
            Some(0x10)
        );
    }
}
