// SPDX-License-Identifier: GPL-2.0

//! The bytes of one run, taken apart from front to back.

/// What is left of the bytes; numbers behind their end are zero.
pub struct Input<'a>(&'a [u8]);

impl<'a> Input<'a> {
    /// Begins with the first byte.
    pub fn new(bytes: &'a [u8]) -> Self {
        Input(bytes)
    }

    /// Whether nothing is left.
    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// The next `length` bytes, or as many as there are.
    pub fn bytes(&mut self, length: usize) -> &'a [u8] {
        let (now, later) = self.0.split_at(length.min(self.0.len()));
        self.0 = later;
        now
    }

    /// All that is left.
    pub fn rest(&mut self) -> &'a [u8] {
        self.bytes(usize::MAX)
    }

    /// The next `N` bytes.
    pub fn array<const N: usize>(&mut self) -> [u8; N] {
        let mut array = [0; N];
        let bytes = self.bytes(N);
        array[..bytes.len()].copy_from_slice(bytes);
        array
    }

    pub fn u8(&mut self) -> u8 {
        u8::from_be_bytes(self.array())
    }

    pub fn u16(&mut self) -> u16 {
        u16::from_be_bytes(self.array())
    }

    pub fn u32(&mut self) -> u32 {
        u32::from_be_bytes(self.array())
    }

    pub fn u64(&mut self) -> u64 {
        u64::from_be_bytes(self.array())
    }

    pub fn flag(&mut self) -> bool {
        self.u8() & 1 != 0
    }

    /// A number below `end`, which is not 0 and at most 65536.
    pub fn below(&mut self, end: usize) -> usize {
        usize::from(self.u16()) % end
    }
}
