// SPDX-License-Identifier: GPL-2.0

//! The layout declaration: a structure of the manual, written down as the manual prints it.
//!
//! [`layout!`](crate::layout) takes one line a field: offset, bits, name, access, description. From
//! that one declaration come the type itself (big-endian bytes, as they lie in memory), a getter
//! and a setter for each field, and the table behind annotated dumps ([`super::dump`]) and behind
//! the comparison with the kernel's header. Bits that no line names are reserved: there is no way
//! to set them, and a new value has them zero.
//!
//! ```text
//! layout! {
//!     /// Input of QUERY_PAGES.
//!     pub struct QueryPagesIn: input "query_pages_in", 0x10 {
//!         0x08 [31:31] embedded_cpu_function: RW, "1: the function is an embedded CPU's.";
//!         0x08 [15:0] function_id: RW, "Function that is asked about; 0: the own one.";
//!     }
//! }
//! ```
//!
//! After the name of the type stands what it is: `input` and `output` of a command (the words that
//! all inputs or all outputs share are then declared by the macro), `plain`, or `part` of a larger
//! structure (`part "initial_seg" at 0x1fc, 0x4`; offsets in it count from the part's beginning).
//! The string is the structure's name in `include/linux/mlx5/mlx5_ifc.h` without prefix and suffix,
//! or empty where the header has none; `head` behind it says that the layout is the fixed part of a
//! longer structure. The forms of a field are
//!
//! | form | meaning |
//! |---|---|
//! | `OFFSET [HI:LO] name` | bits of the word at the offset; `[63:0]` for a pair of words |
//! | `OFFSET [HI:LO; N] name` | an array of N such words (or pairs of words) |
//! | `OFFSET [N bytes] name` | a run of bytes, such as text |
//! | `OFFSET [Layout] name` | another layout, placed here |
//!
//! and after the description may follow `names(FUNCTION)` (the meaning of a value in words),
//! `ifc("NAME")` (the header calls the field otherwise), `source("TEXT")` (the header lacks the
//! field: where it comes from) and `differs("TEXT")` (the header has it in another place: why it is
//! believed to be here).
//!
//! A name that is a word of the Rust language takes an underscore behind it, which the table leaves
//! out.

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

/// Declares layouts; see the [module](self) for the notation.
#[macro_export]
macro_rules! layout {
    () => {};
    (
        $(#[$doc:meta])*
        $vis:vis struct $name:ident: input $ifc:literal $($head:ident)?, $size:literal {
            $($fields:tt)*
        }
        $($rest:tt)*
    ) => {
        $crate::layout! { @layout [$(#[$doc])*] [$vis] $name $ifc [$($head)?] 0 $size
            0x00 [31:16] opcode: RW, "Operation code.", names($crate::prm::opcode::name_of);
            0x00 [15:0] uid: RW, "User context that the command is for; 0: the kernel's.",
                varies("word 00h of every input is opcode and uid (CMD-3)");
            0x04 [15:0] op_mod: RW, "Operation modifier.";
            $($fields)*
        }
        impl $crate::prm::layout::Input for $name {
            fn set_header(&mut self, opcode: u16, op_mod: u16) {
                self.set_opcode(opcode).set_op_mod(op_mod);
            }
        }
        $crate::layout! { $($rest)* }
    };
    (
        $(#[$doc:meta])*
        $vis:vis struct $name:ident: output $ifc:literal $($head:ident)?, $size:literal {
            $($fields:tt)*
        }
        $($rest:tt)*
    ) => {
        $crate::layout! { @layout [$(#[$doc])*] [$vis] $name $ifc [$($head)?] 0 $size
            0x00 [31:24] status: RO, "How the command ended.", names($crate::prm::status::name_of);
            0x04 [31:0] syndrome: RO, "Firmware's own number for the failure.";
            $($fields)*
        }
        impl $crate::prm::layout::Output for $name {
            fn outcome(&self) -> ($crate::prm::status::Status, u32) {
                ($crate::prm::status::Status(self.status()), self.syndrome())
            }
        }
        $crate::layout! { $($rest)* }
    };
    (
        $(#[$doc:meta])*
        $vis:vis struct $name:ident: plain $ifc:literal $($head:ident)?, $size:literal {
            $($fields:tt)*
        }
        $($rest:tt)*
    ) => {
        $crate::layout! { @layout [$(#[$doc])*] [$vis] $name $ifc [$($head)?] 0 $size $($fields)* }
        $crate::layout! { $($rest)* }
    };
    (
        $(#[$doc:meta])*
        $vis:vis struct $name:ident: part $ifc:literal at $base:literal, $size:literal {
            $($fields:tt)*
        }
        $($rest:tt)*
    ) => {
        $crate::layout! { @layout [$(#[$doc])*] [$vis] $name $ifc [part] $base $size $($fields)* }
        $crate::layout! { $($rest)* }
    };

    (
        @layout [$($doc:tt)*] [$vis:vis] $name:ident $ifc:literal $extent:tt $base:literal
        $size:literal
        $(
            $offset:literal $place:tt $field:ident: $access:ident, $text:literal
            $(, $option:ident $value:tt)*;
        )*
    ) => {
        $($doc)*
        #[derive(
            Clone,
            Copy,
            ::zerocopy_derive::FromBytes,
            ::zerocopy_derive::IntoBytes,
            ::zerocopy_derive::Immutable,
            ::zerocopy_derive::KnownLayout,
            ::zerocopy_derive::Unaligned,
        )]
        #[repr(transparent)]
        $vis struct $name([u8; $size]);

        impl $name {
            /// A value with every field, and every reserved bit, zero.
            $vis const fn new() -> Self {
                Self([0; $size])
            }
        }

        impl Default for $name {
            fn default() -> Self {
                Self::new()
            }
        }

        impl From<[u8; $size]> for $name {
            fn from(bytes: [u8; $size]) -> Self {
                Self(bytes)
            }
        }

        impl From<$name> for [u8; $size] {
            fn from(value: $name) -> Self {
                value.0
            }
        }

        impl $crate::prm::layout::Layout for $name {
            const TABLE: &'static $crate::prm::layout::Table = &$crate::prm::layout::Table {
                ifc: $ifc,
                base: $base,
                name: stringify!($name),
                size: $size,
                extent: $crate::layout!(@extent $extent),
                fields: &[$(
                    $crate::prm::layout::Field {
                        offset: $offset,
                        kind: $crate::layout!(@kind $place),
                        ident: stringify!($field),
                        access: $crate::prm::layout::Access::$access,
                        description: $text,
                        $($option: $crate::layout!(@option $option $value),)*
                        ..$crate::prm::layout::Field::PLAIN
                    },
                )*],
            };
        }

        const _: () = $crate::prm::layout::check(
            <$name as $crate::prm::layout::Layout>::TABLE,
        );

        #[allow(
            clippy::wrong_self_convention,
            reason = "getters have the manual's names, some of which begin with `to_`"
        )]
        impl $name {
            $( $crate::layout! { @access $vis $place $offset $field $text } )*
        }
    };

    (@extent []) => { $crate::prm::layout::Extent::Whole };
    (@extent [head]) => { $crate::prm::layout::Extent::Head };
    (@extent [part]) => { $crate::prm::layout::Extent::Part };

    (@kind [$hi:literal : $lo:literal]) => {
        $crate::prm::layout::Kind::Bits { hi: $hi, lo: $lo }
    };
    (@kind [$hi:literal : $lo:literal; $count:literal]) => {
        $crate::prm::layout::Kind::Array { hi: $hi, lo: $lo, count: $count }
    };
    (@kind [$count:literal bytes]) => { $crate::prm::layout::Kind::Bytes($count) };
    (@kind [$nested:ident]) => {
        $crate::prm::layout::Kind::Nested(<$nested as $crate::prm::layout::Layout>::TABLE)
    };

    (@option names ($names:path)) => { Some($names) };
    (@option ifc ($name:literal)) => { Some($name) };
    (@option source ($text:literal)) => { Some($text) };
    (@option varies ($text:literal)) => { Some($text) };
    (@option differs ($text:literal)) => { Some($text) };

    (@access $vis:vis [$hi:literal : $lo:literal] $offset:literal $field:ident $text:literal) => {
        #[doc = $text]
        #[inline]
        $vis fn $field(
            &self,
        ) -> $crate::prm::bits::ValueOf<{ $crate::prm::bits::width($hi, $lo) }> {
            $crate::prm::bits::value::<{ $crate::prm::bits::width($hi, $lo) }>(
                $crate::prm::bits::get(&self.0, $offset, $hi, $lo),
            )
        }

        $crate::paste! {
            #[doc = $text]
            #[inline]
            $vis fn [<set_ $field>](
                &mut self,
                value: impl Into<$crate::prm::bits::Bits<{ $crate::prm::bits::width($hi, $lo) }>>,
            ) -> &mut Self {
                $crate::prm::bits::set(&mut self.0, $offset, $hi, $lo, value.into().get());
                self
            }
        }
    };
    (
        @access $vis:vis [$hi:literal : $lo:literal; $count:literal]
        $offset:literal $field:ident $text:literal
    ) => {
        #[doc = $text]
        #[inline]
        $vis fn $field(
            &self,
        ) -> [$crate::prm::bits::ValueOf<{ $crate::prm::bits::width($hi, $lo) }>; $count] {
            ::core::array::from_fn(|i| {
                $crate::prm::bits::value::<{ $crate::prm::bits::width($hi, $lo) }>(
                    $crate::prm::bits::get(
                        &self.0,
                        $offset + i * $crate::prm::bits::word_bytes($hi),
                        $hi,
                        $lo,
                    ),
                )
            })
        }

        $crate::paste! {
            #[doc = $text]
            #[inline]
            $vis fn [<set_ $field>](
                &mut self,
                values: [
                    impl Into<$crate::prm::bits::Bits<{ $crate::prm::bits::width($hi, $lo) }>>;
                    $count
                ],
            ) -> &mut Self {
                for (i, value) in values.into_iter().enumerate() {
                    $crate::prm::bits::set(
                        &mut self.0,
                        $offset + i * $crate::prm::bits::word_bytes($hi),
                        $hi,
                        $lo,
                        value.into().get(),
                    );
                }
                self
            }
        }
    };
    (@access $vis:vis [$count:literal bytes] $offset:literal $field:ident $text:literal) => {
        #[doc = $text]
        #[inline]
        $vis fn $field(&self) -> &[u8; $count] {
            $crate::prm::layout::part(&self.0, $offset)
        }

        $crate::paste! {
            #[doc = $text]
            #[inline]
            $vis fn [<set_ $field>](&mut self, value: &[u8; $count]) -> &mut Self {
                $crate::prm::layout::set_part(&mut self.0, $offset, value);
                self
            }
        }
    };
    (@access $vis:vis [$nested:ident] $offset:literal $field:ident $text:literal) => {
        #[doc = $text]
        #[inline]
        $vis fn $field(&self) -> &$nested {
            ::zerocopy::transmute_ref!($crate::prm::layout::part::<
                { ::core::mem::size_of::<$nested>() },
            >(&self.0, $offset))
        }

        $crate::paste! {
            #[doc = $text]
            #[inline]
            $vis fn [<set_ $field>](&mut self, value: &$nested) -> &mut Self {
                $crate::prm::layout::set_part(
                    &mut self.0,
                    $offset,
                    ::zerocopy::IntoBytes::as_bytes(value),
                );
                self
            }
        }
    };
}
