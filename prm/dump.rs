// SPDX-License-Identifier: GPL-2.0

//! Annotated dumps: each value beside its place in the manual.
//!
//! A line reads `offset [bits] name value meaning`. Bits that no field names and that are not zero
//! are shown as well: they are what tells a newer layout, or a wrong read path, from a wrong value.

use core::fmt;

use super::bits;
use super::layout::{
    Field,
    Kind,
    Table, //
};

/// Prints `bytes` by the table, one field a line, with offsets counted from `base`.
///
/// Fields that lie beyond the end of `bytes` are left out, and a last line says so.
pub fn write(w: &mut dyn fmt::Write, table: &Table, base: usize, bytes: &[u8]) -> fmt::Result {
    let mut left_out = 0usize;

    for field in table.fields {
        let end = field.offset.saturating_add(field.kind.size());
        if end > bytes.len() {
            left_out = left_out.saturating_add(1);
            continue;
        }
        write_field(w, field, base, bytes)?;
    }
    write_reserved(w, table, base, bytes)?;
    if left_out > 0 {
        writeln!(
            w,
            "# {left_out} fields lie beyond the {} bytes that there are",
            bytes.len()
        )?;
    }

    Ok(())
}

/// Prints the fields of a page of capabilities with the current and the maximum value of each.
pub fn write_pair(
    w: &mut dyn fmt::Write,
    table: &Table,
    current: &[u8],
    maximum: &[u8],
) -> fmt::Result {
    for field in table.fields {
        if let Kind::Bits { hi, lo } = field.kind {
            let value = |bytes| bits::get(bytes, field.offset, hi, lo);
            write_place(w, field.offset, hi, lo)?;
            writeln!(
                w,
                "{}: {:#x} max {:#x}",
                field.name(),
                value(current),
                value(maximum)
            )?;
        }
    }

    write_reserved(w, table, 0, current)
}

fn write_field(w: &mut dyn fmt::Write, field: &Field, base: usize, bytes: &[u8]) -> fmt::Result {
    let offset = base.saturating_add(field.offset);

    match field.kind {
        Kind::Bits { hi, lo } => {
            write_place(w, offset, hi, lo)?;
            write!(w, "{}: ", field.name())?;
            write_value(w, field, bits::get(bytes, field.offset, hi, lo))
        }
        Kind::Array { hi, lo, count } => {
            let stride = bits::word_bytes(hi);
            for i in 0..count {
                let at = i.saturating_mul(stride);
                write_place(w, offset.saturating_add(at), hi, lo)?;
                write!(w, "{}[{i}]: ", field.name())?;
                write_value(
                    w,
                    field,
                    bits::get(bytes, field.offset.saturating_add(at), hi, lo),
                )?;
            }
            Ok(())
        }
        Kind::Bytes(count) => {
            write!(w, "{offset:#05x} [{count} bytes] {}:", field.name())?;
            for byte in bytes.iter().skip(field.offset).take(count) {
                write!(w, " {byte:02x}")?;
            }
            writeln!(w)
        }
        Kind::Nested(table) => {
            let inner = bytes
                .get(field.offset..)
                .and_then(|rest| rest.get(..table.size))
                .unwrap_or_default();
            write(w, table, offset, inner)
        }
    }
}

fn write_place(w: &mut dyn fmt::Write, offset: usize, hi: u32, lo: u32) -> fmt::Result {
    if hi == lo {
        write!(w, "{offset:#05x} [{hi}] ")
    } else {
        write!(w, "{offset:#05x} [{hi}:{lo}] ")
    }
}

fn write_value(w: &mut dyn fmt::Write, field: &Field, value: u64) -> fmt::Result {
    match field.names.and_then(|names| names(value)) {
        Some(meaning) => writeln!(w, "{value:#x} ({meaning})"),
        None => writeln!(w, "{value:#x}"),
    }
}

/// Shows the words in which bits are set that no field names.
fn write_reserved(w: &mut dyn fmt::Write, table: &Table, base: usize, bytes: &[u8]) -> fmt::Result {
    for offset in (0..table.size.min(bytes.len())).step_by(4) {
        let named = table
            .fields
            .iter()
            .fold(0, |mask, field| mask | named_bits(field, offset));
        let rest = bits::get(bytes, offset, 31, 0) & !named;

        if rest != 0 {
            writeln!(
                w,
                "{:#05x} reserved: {rest:#010x}",
                base.saturating_add(offset)
            )?;
        }
    }

    Ok(())
}

/// The bits of the word at `offset` that a field names.
fn named_bits(field: &Field, offset: usize) -> u64 {
    let start = field.offset;
    let end = start.saturating_add(field.kind.size());
    if offset < start || offset >= end {
        return 0;
    }

    match field.kind {
        Kind::Bits { hi, lo } | Kind::Array { hi, lo, .. } => {
            let stride = bits::word_bytes(hi);
            // Of a pair of words the first holds bits 63:32.
            let shift = if stride == 8 && (offset - start) % 8 == 0 {
                32
            } else {
                0
            };
            let field = (u64::MAX >> (63 - (hi - lo))) << lo;
            (field >> shift) & u64::from(u32::MAX)
        }
        Kind::Bytes(_) | Kind::Nested(_) => u64::from(u32::MAX),
    }
}
