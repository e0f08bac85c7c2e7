// SPDX-License-Identifier: GPL-2.0

//! What a layout is: a type made of bytes, and the table of its fields.
//!
//! Layouts are declared by [`layout!`](crate::layout), whose notation is in [`super::declare`].

use zerocopy::{
    FromBytes,
    Immutable,
    IntoBytes,
    KnownLayout,
    Unaligned, //
};

/// Who may write a field, as the manual's access column says.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Access {
    /// Read only: written by the device.
    RO,
    /// Read and write.
    RW,
    /// Write only.
    WO,
}

impl Access {
    /// The manual's abbreviation.
    pub const fn name(self) -> &'static str {
        match self {
            Access::RO => "RO",
            Access::RW => "RW",
            Access::WO => "WO",
        }
    }
}

/// What stands at a field's place.
#[derive(Clone, Copy)]
pub enum Kind {
    /// Bits `hi:lo` of the word, or pair of words, at the offset.
    Bits {
        /// Most significant bit, 0 to 63.
        hi: u32,
        /// Least significant bit, not above `hi`.
        lo: u32,
    },
    /// An array of words, or pairs of words, of which bits `hi:lo` are the field.
    Array {
        /// Most significant bit of each element.
        hi: u32,
        /// Least significant bit of each element.
        lo: u32,
        /// Number of elements.
        count: usize,
    },
    /// A run of bytes.
    Bytes(usize),
    /// Another layout.
    Nested(&'static Table),
}

impl Kind {
    /// Bytes from the field's offset to its end.
    pub const fn size(&self) -> usize {
        match *self {
            Kind::Bits { hi, .. } => super::bits::word_bytes(hi),
            Kind::Array { hi, count, .. } => super::bits::word_bytes(hi) * count,
            Kind::Bytes(count) => count,
            Kind::Nested(table) => table.size,
        }
    }
}

/// One line of a layout.
#[derive(Clone, Copy)]
pub struct Field {
    /// Offset of the field's word from the start of the layout, in bytes.
    pub offset: usize,
    /// What stands there.
    pub kind: Kind,
    /// The declared identifier; [`Field::name`] is the manual's name.
    pub ident: &'static str,
    /// Who may write it.
    pub access: Access,
    /// One line for a reader who holds the dump against the manual.
    pub description: &'static str,
    /// The meaning of a value in words, where the manual has a list.
    pub names: Option<fn(u64) -> Option<&'static str>>,
    /// The name in the kernel's header, where that differs.
    pub ifc: Option<&'static str>,
    /// Where the field comes from, if the kernel's header lacks it.
    pub source: Option<&'static str>,
    /// The same for a field that the header has in some structures and lacks in others.
    pub varies: Option<&'static str>,
    /// Why the field stands elsewhere than in the kernel's header, if it does.
    pub differs: Option<&'static str>,
}

impl Field {
    /// What a field is whose line says nothing more; the macro fills in the rest.
    pub const PLAIN: Self = Self {
        offset: 0,
        kind: Kind::Bytes(0),
        ident: "",
        access: Access::RO,
        description: "",
        names: None,
        ifc: None,
        source: None,
        varies: None,
        differs: None,
    };

    /// The manual's name of the field.
    pub fn name(&self) -> &'static str {
        self.ident.strip_suffix('_').unwrap_or(self.ident)
    }
}

/// How much of the structure in the kernel's header a layout is.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Extent {
    /// All of it.
    Whole,
    /// A few words of it, such as a register.
    Part,
    /// The fixed part that a part of variable or great length follows.
    Head,
}

/// A whole layout as a table.
pub struct Table {
    /// Name of the structure in the kernel's header, empty where it has none.
    pub ifc: &'static str,
    /// Offset in the header's structure at which this layout begins, in bytes.
    pub base: usize,
    /// Name of the type.
    pub name: &'static str,
    /// Size in bytes.
    pub size: usize,
    /// How much of the structure in the kernel's header it is.
    pub extent: Extent,
    /// The fields, in the order of the declaration.
    pub fields: &'static [Field],
}

/// A type that [`layout!`](crate::layout) has made.
///
/// It converts from and into its bytes, so that a register of one word is read and written as
/// `State::from(word.to_be_bytes())` and `u32::from_be_bytes(doorbell.into())`.
pub trait Layout:
    FromBytes + IntoBytes + Immutable + KnownLayout + Unaligned + Copy + Sized + 'static
{
    /// The table of its fields.
    const TABLE: &'static Table;

    /// Where a part of a larger structure begins in it, in bytes; 0 for a whole structure.
    const OFFSET: usize = Self::TABLE.base;

    /// Size in bytes.
    const SIZE: usize = Self::TABLE.size;
}

/// An input of a command: begins with opcode, uid and op_mod.
pub trait Input: Layout {
    /// Writes the words that all inputs begin with.
    fn set_header(&mut self, opcode: u16, op_mod: u16);
}

/// An output of a command: begins with status and syndrome.
pub trait Output: Layout {
    /// How the command ended, and firmware's number for the failure.
    fn outcome(&self) -> (super::status::Status, u32);
}

/// Checks a table at compile time: fields lie within the layout, in words, and do not overlap.
pub const fn check(table: &Table) {
    let Table { size, fields, .. } = *table;
    assert!(size % 4 == 0, "a layout is a number of whole words");

    let mut i = 0;
    while i < fields.len() {
        let field = &fields[i];
        assert!(
            field.offset % 4 == 0,
            "the offset of a field is that of its word"
        );
        assert!(
            field.offset + field.kind.size() <= size,
            "a field lies outside of its layout"
        );
        if let Kind::Bits { hi, lo } | Kind::Array { hi, lo, .. } = field.kind {
            assert!(lo <= hi && hi < 64, "bits are written HI:LO");
        }

        let mut k = 0;
        while k < i {
            assert!(!overlap(&fields[k], field), "two fields overlap");
            k += 1;
        }
        i += 1;
    }
}

/// The `N` bytes at `offset` of a layout that is known to hold them.
///
/// [`check`] has seen at compile time that they do; zeros stand in for the case that cannot be.
#[inline(always)]
pub fn part<const N: usize>(bytes: &[u8], offset: usize) -> &[u8; N] {
    match bytes.get(offset..).and_then(|rest| rest.first_chunk::<N>()) {
        Some(part) => part,
        None => const { &[0; N] },
    }
}

/// Writes `value` over the bytes at `offset`.
#[inline(always)]
pub fn set_part(bytes: &mut [u8], offset: usize, value: &[u8]) {
    if let Some((part, value)) = bytes
        .get_mut(offset..)
        .map(|rest| (rest, value))
        .filter(|(rest, value)| rest.len() >= value.len())
    {
        for (to, from) in part.iter_mut().zip(value) {
            *to = *from;
        }
    }
}

const fn overlap(a: &Field, b: &Field) -> bool {
    if a.offset + a.kind.size() <= b.offset || b.offset + b.kind.size() <= a.offset {
        return false;
    }
    // Two fields of one word may share it; anything else that shares bytes overlaps.
    match (a.kind, b.kind) {
        (Kind::Bits { hi: a_hi, lo: a_lo }, Kind::Bits { hi: b_hi, lo: b_lo })
            if a.offset == b.offset && (a_hi > 31) == (b_hi > 31) =>
        {
            a_lo <= b_hi && b_lo <= a_hi
        }
        _ => true,
    }
}
