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

/// Declares layouts; see the module [`declare`](crate::prm::declare) for the notation.
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
