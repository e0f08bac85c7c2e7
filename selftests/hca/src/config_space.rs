// SPDX-License-Identifier: GPL-2.0

//! PCI configuration space: values, and which bits of them can be written.

/// Size of the extended configuration space.
pub const SIZE: usize = 4096;

/// Configuration space with a mask of writable and of write-one-to-clear bits.
#[derive(Clone)]
pub struct ConfigSpace {
    data: Vec<u8>,
    rw: Vec<u8>,
    w1c: Vec<u8>,
}

impl Default for ConfigSpace {
    fn default() -> Self {
        ConfigSpace {
            data: vec![0; SIZE],
            rw: vec![0; SIZE],
            w1c: vec![0; SIZE],
        }
    }
}

impl ConfigSpace {
    /// Places a little-endian value of `width` bytes; builder style.
    pub fn value(mut self, offset: usize, width: usize, value: u32) -> Self {
        put(&mut self.data, offset, width, value);
        self
    }

    /// Makes bits writable.
    pub fn writable(mut self, offset: usize, width: usize, mask: u32) -> Self {
        put(&mut self.rw, offset, width, mask);
        self
    }

    /// Makes bits that a one clears.
    pub fn clears(mut self, offset: usize, width: usize, mask: u32) -> Self {
        put(&mut self.w1c, offset, width, mask);
        self
    }

    /// Adds a capability with its body behind the two header bytes.
    pub fn capability(mut self, offset: usize, id: u8, next: u8, body: &[u8]) -> Self {
        put(&mut self.data, offset, 1, u32::from(id));
        put(&mut self.data, offset + 1, 1, u32::from(next));
        for (i, b) in body.iter().enumerate() {
            put(&mut self.data, offset + 2 + i, 1, u32::from(*b));
        }
        self
    }

    /// Adds the header of an extended capability.
    pub fn extended(self, offset: usize, id: u16, version: u32, next: u32) -> Self {
        self.value(
            offset,
            4,
            u32::from(id) | ((version & 0xf) << 16) | (next << 20),
        )
    }

    /// Reads; bytes outside are ones.
    pub fn read(&self, offset: u64, out: &mut [u8]) {
        for (i, byte) in out.iter_mut().enumerate() {
            *byte = index(offset, i).map_or(0xff, |at| self.data[at]);
        }
    }

    /// Writes what can be written.
    pub fn write(&mut self, offset: u64, data: &[u8]) {
        for (i, &byte) in data.iter().enumerate() {
            let Some(at) = index(offset, i) else { continue };
            let rw = self.rw[at];
            let kept = self.data[at] & !rw & !(byte & self.w1c[at]);
            self.data[at] = kept | (byte & rw);
        }
    }

    /// A little-endian word of 16 bits.
    pub fn word16(&self, offset: usize) -> u16 {
        let byte = |at: usize| self.data.get(at).copied().unwrap_or(0);
        u16::from_le_bytes([byte(offset), byte(offset.saturating_add(1))])
    }

    /// Sets a byte, whatever the masks say.
    pub fn put(&mut self, offset: usize, value: u8) {
        if let Some(byte) = self.data.get_mut(offset) {
            *byte = value;
        }
    }

    /// Clears bits, whatever the masks say: for bits that read as zero.
    pub fn clear_bits(&mut self, offset: usize, mask: u8) {
        if let Some(byte) = self.data.get_mut(offset) {
            *byte &= !mask;
        }
    }
}

fn index(offset: u64, i: usize) -> Option<usize> {
    usize::try_from(offset)
        .ok()
        .and_then(|o| o.checked_add(i))
        .filter(|at| *at < SIZE)
}

fn put(data: &mut [u8], offset: usize, width: usize, value: u32) {
    for (i, byte) in value.to_le_bytes().iter().take(width).enumerate() {
        if let Some(slot) = data.get_mut(offset + i) {
            *slot = *byte;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn masks() {
        let mut c = ConfigSpace::default()
            .value(0, 4, 0x101d_15b3)
            .value(4, 2, 0)
            .writable(4, 2, 0x0546)
            .value(6, 2, 0xf010)
            .clears(6, 2, 0xf000);
        c.write(0, &[0; 4]);
        c.write(4, &[0xff, 0xff, 0x00, 0x50]);
        let mut out = [0; 8];
        c.read(0, &mut out);
        assert_eq!(out, [0xb3, 0x15, 0x1d, 0x10, 0x46, 0x05, 0x10, 0xa0]);
        assert_eq!(c.word16(0), 0x15b3);
    }

    #[test]
    fn outside_is_ones_and_not_written() {
        let mut c = ConfigSpace::default().writable(4092, 4, u32::MAX);
        c.write(4094, &[1, 2, 3, 4]);
        let mut out = [0; 4];
        c.read(4094, &mut out);
        assert_eq!(out, [1, 2, 0xff, 0xff]);
        c.write(u64::MAX, &[1; 8]);
        c.read(u64::MAX - 2, &mut out);
        assert_eq!(out, [0xff; 4]);
    }
}
