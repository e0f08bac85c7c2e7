// SPDX-License-Identifier: GPL-2.0

//! The one place that knows how the manual numbers bits and how words lie in memory.
//!
//! The manual prints a structure as words of 32 bits. Bit 31 is the most significant bit of a word,
//! and words are big-endian in memory, so that bits 31:24 of the word at offset 04h are the byte at
//! offset 04h. A field of more than 32 bits spans two words, the one at the lower offset being the
//! more significant. Nothing outside this file shifts or masks.

/// A value of exactly `N` bits, 1 to 64.
///
/// A setter of an `N`-bit field takes a `Bits<N>`, so that a value too large for its field cannot
/// reach the neighbouring bits and cannot be cut silently either. Primitive types that always fit
/// convert by [`From`]; other values go through [`Bits::new`] or [`Bits::try_new`].
///
/// # Invariants
///
/// The value is less than 2^N.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Bits<const N: u32>(u64);

impl<const N: u32> Bits<N> {
    /// The largest value that fits.
    pub const MAX: u64 = u64::MAX >> (64 - N);

    /// Makes a value known at compile time; one that does not fit does not compile.
    pub const fn new<const V: u64>() -> Self {
        const { assert!(V <= Self::MAX, "value too large for its field") };
        // INVARIANT: Checked just above.
        Self(V)
    }

    /// Makes a value known at run time; [`None`] if it does not fit.
    pub const fn try_new(value: u64) -> Option<Self> {
        if value <= Self::MAX {
            // INVARIANT: Checked just above.
            Some(Self(value))
        } else {
            None
        }
    }

    /// Takes the low `N` bits of a free-running count, such as a consumer counter.
    pub const fn low(value: u64) -> Self {
        // INVARIANT: The mask leaves no other bits.
        Self(value & Self::MAX)
    }

    /// The value.
    pub const fn get(self) -> u64 {
        self.0
    }
}

/// Ties a number of bits to the smallest primitive type that holds them.
pub struct Width<const N: u32>;

/// What a getter of a field returns: `bool` for one bit, else the smallest unsigned type.
pub trait Value {
    /// The primitive type.
    type Type: Copy;

    /// Converts a raw value that is known to fit.
    fn from_raw(raw: u64) -> Self::Type;
}

macro_rules! widths {
    ($type:ty: $($n:literal)*) => {
        $(
            impl Value for Width<$n> {
                type Type = $type;

                fn from_raw(raw: u64) -> $type {
                    // CAST: The caller's value has at most `$n` bits.
                    raw as $type
                }
            }
        )*
    };
}

/// The primitive type of an `N`-bit field.
pub type ValueOf<const N: u32> = <Width<N> as Value>::Type;

/// Converts what [`get`] has read of an `N`-bit field.
#[inline(always)]
pub fn value<const N: u32>(raw: u64) -> ValueOf<N>
where
    Width<N>: Value,
{
    <Width<N>>::from_raw(raw)
}

impl Value for Width<1> {
    type Type = bool;

    fn from_raw(raw: u64) -> bool {
        raw != 0
    }
}

widths!(u8: 2 3 4 5 6 7 8);
widths!(u16: 9 10 11 12 13 14 15 16);
widths!(u32: 17 18 19 20 21 22 23 24 25 26 27 28 29 30 31 32);
widths!(u64: 33 34 35 36 37 38 39 40 41 42 43 44 45 46 47 48);
widths!(u64: 49 50 51 52 53 54 55 56 57 58 59 60 61 62 63 64);

macro_rules! fits {
    ($type:ty: $($n:literal)*) => {
        $(
            impl From<$type> for Bits<$n> {
                fn from(value: $type) -> Self {
                    // INVARIANT: Every value of the type fits in `$n` bits.
                    Self(u64::from(value))
                }
            }
        )*
    };
}

fits!(bool: 1);
fits!(u8: 8 9 10 11 12 13 14 15 16 17 18 19 20 21 22 23 24 25 26 27 28 29 30 31 32 64);
fits!(u16: 16 17 18 19 20 21 22 23 24 25 26 27 28 29 30 31 32 64);
fits!(u32: 32 64);

impl From<u64> for Bits<64> {
    fn from(value: u64) -> Self {
        // INVARIANT: Every value of the type fits in 64 bits.
        Self(value)
    }
}

/// Whether a field of the manual's bits `hi:lo` spans two words.
const fn spans_two_words(hi: u32) -> bool {
    hi > 31
}

/// Number of bits of the manual's `hi:lo`.
pub const fn width(hi: u32, lo: u32) -> u32 {
    hi - lo + 1
}

/// Bytes that the word, or pair of words, of bits up to `hi` takes.
pub const fn word_bytes(hi: u32) -> usize {
    if spans_two_words(hi) {
        8
    } else {
        4
    }
}

/// Reads bits `hi:lo` of the word (or pair of words, where `hi` is above 31) at `offset`.
///
/// Bytes beyond the end of `bytes` read as zero: an output shorter than its layout shows what is
/// there. Layouts themselves are checked at compile time to hold their fields.
#[inline(always)]
pub fn get(bytes: &[u8], offset: usize, hi: u32, lo: u32) -> u64 {
    let word = if spans_two_words(hi) {
        (u64::from(be32(bytes, offset)) << 32) | u64::from(be32(bytes, offset.wrapping_add(4)))
    } else {
        u64::from(be32(bytes, offset))
    };

    (word >> lo) & mask(hi, lo)
}

/// Writes bits `hi:lo` of the word (or pair of words) at `offset`, leaving the others as they are.
///
/// `value` has no bits above the field; [`Bits`] sees to that.
#[inline(always)]
pub fn set(bytes: &mut [u8], offset: usize, hi: u32, lo: u32, value: u64) {
    let mask = mask(hi, lo) << lo;
    let value = (value << lo) & mask;

    if spans_two_words(hi) {
        // CAST: The upper and the lower half are meant.
        update_be32(bytes, offset, (mask >> 32) as u32, (value >> 32) as u32);
        update_be32(bytes, offset.wrapping_add(4), mask as u32, value as u32);
    } else {
        // CAST: Fields of one word have their mask and value in the low half.
        update_be32(bytes, offset, mask as u32, value as u32);
    }
}

/// Whether bit `bit` of a mask is set, bit 0 being the least significant of its last word.
///
/// The manual's capability masks of 128 bits are printed so: bits 127:96 stand in the first word.
/// A bit beyond the mask reads as clear.
pub fn test(mask: &[u8], bit: usize) -> bool {
    match mask.len().checked_sub(bit / 8 + 1) {
        Some(at) => mask
            .get(at)
            .is_some_and(|byte| (byte >> (bit % 8)) & 1 != 0),
        None => false,
    }
}

/// The 64-bit word with only bit `bit` modulo 64 set.
pub const fn single(bit: u32) -> u64 {
    1 << (bit % 64)
}

const fn mask(hi: u32, lo: u32) -> u64 {
    u64::MAX >> (63 - (hi - lo))
}

fn be32(bytes: &[u8], offset: usize) -> u32 {
    match bytes.get(offset..).and_then(|rest| rest.first_chunk::<4>()) {
        Some(word) => u32::from_be_bytes(*word),
        None => 0,
    }
}

fn update_be32(bytes: &mut [u8], offset: usize, mask: u32, value: u32) {
    let word = bytes
        .get_mut(offset..)
        .and_then(|rest| rest.first_chunk_mut::<4>());

    if let Some(word) = word {
        *word = ((u32::from_be_bytes(*word) & !mask) | value).to_be_bytes();
    }
}
