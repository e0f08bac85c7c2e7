// SPDX-License-Identifier: GPL-2.0

//! Rings in guest memory: work queues and completion queues lie in pages that a command listed.

use crate::memory::{
    DmaFault,
    GuestMemory, //
};

/// Largest ring that the model takes: log2 of its bytes.
const MAX_LOG_BYTES: u32 = 28;

/// A ring of `1 << log_entries` entries of `1 << log_stride` bytes.
#[derive(Debug, Clone)]
pub struct Ring {
    pages: Vec<u64>,
    page_shift: u32,
    /// Offset of the ring in its first page.
    offset: u64,
    log_entries: u32,
    log_stride: u32,
}

impl Ring {
    /// Describes a ring.
    ///
    /// # Errors
    ///
    /// If the pages do not cover it exactly, or it is larger than any ring can be.
    pub fn new(
        pages: Vec<u64>,
        page_shift: u32,
        offset: u64,
        log_entries: u32,
        log_stride: u32,
    ) -> Result<Ring, String> {
        if log_entries + log_stride > MAX_LOG_BYTES || page_shift > 40 {
            return Err(format!(
                "a ring of 2^{log_entries} entries of 2^{log_stride} bytes in pages of 2^{page_shift}"
            ));
        }
        let ring = Ring {
            pages,
            page_shift,
            offset,
            log_entries,
            log_stride,
        };
        let wanted = Ring::pages_for(page_shift, offset, log_entries, log_stride);
        if wanted != ring.pages.len() as u64 {
            return Err(format!(
                "{} pages of 2^{page_shift} bytes for a ring of {} bytes, it needs {wanted}",
                ring.pages.len(),
                ring.bytes(),
            ));
        }
        Ok(ring)
    }

    /// Number of pages that a ring covers.
    pub fn pages_for(page_shift: u32, offset: u64, log_entries: u32, log_stride: u32) -> u64 {
        let bytes = 1u64
            .checked_shl(log_entries.saturating_add(log_stride))
            .unwrap_or(u64::MAX);
        let page = 1u64.checked_shl(page_shift).unwrap_or(u64::MAX).max(1);
        bytes.saturating_add(offset).div_ceil(page)
    }

    /// True if part of a range of memory belongs to the ring.
    pub fn uses(&self, address: u64, size: u64) -> bool {
        let end = address.saturating_add(size);
        let page = 1u64 << self.page_shift;
        self.pages
            .iter()
            .any(|p| *p < end && address < p.saturating_add(page))
    }

    /// Number of entries.
    pub fn entries(&self) -> u32 {
        1 << self.log_entries
    }

    /// Number of entries as a power of two.
    pub fn log_entries(&self) -> u32 {
        self.log_entries
    }

    /// Size of an entry in bytes.
    pub fn stride(&self) -> usize {
        1 << self.log_stride
    }

    /// Size of the ring in bytes.
    pub fn bytes(&self) -> u64 {
        1 << (self.log_entries + self.log_stride)
    }

    /// Offset of an entry; counters larger than the ring go round.
    pub fn position(&self, counter: u32) -> u64 {
        u64::from(counter & (self.entries() - 1)) << self.log_stride
    }

    /// Bus address behind an offset in the ring, and how many bytes follow in the same page and
    /// before the end of the ring.
    fn find(&self, position: u64) -> Option<(u64, u64)> {
        let position = position & (self.bytes() - 1);
        let at = position.checked_add(self.offset)?;
        let page_bytes = 1u64 << self.page_shift;
        let page = self
            .pages
            .get(usize::try_from(at >> self.page_shift).ok()?)?;
        let inside = at & (page_bytes - 1);
        let here = (page_bytes - inside).min(self.bytes() - position);
        Some((page.checked_add(inside)?, here))
    }

    /// Visits the pieces of a range that may go round the end.
    fn pieces(
        &self,
        position: u64,
        length: usize,
        mut visit: impl FnMut(u64, std::ops::Range<usize>) -> Result<(), DmaFault>,
    ) -> Result<(), DmaFault> {
        let mut done = 0;
        while done < length {
            let here = position.wrapping_add(done as u64);
            let (address, n) = self.find(here).ok_or(DmaFault {
                address: here,
                write: false,
                reason: "the ring has no page there",
            })?;
            let n = usize::try_from(n).unwrap_or(usize::MAX).min(length - done);
            visit(address, done..done + n)?;
            done += n;
        }
        Ok(())
    }

    /// Reads from the ring.
    ///
    /// # Errors
    ///
    /// The address that cannot be read.
    pub fn read(
        &self,
        memory: &GuestMemory,
        position: u64,
        out: &mut [u8],
    ) -> Result<(), DmaFault> {
        let length = out.len();
        self.pieces(position, length, |address, range| {
            memory.read(address, &mut out[range])
        })
    }

    /// Writes an entry whose last byte hands it over: that byte goes last.
    ///
    /// # Errors
    ///
    /// The address that cannot be written.
    pub fn hand_over(
        &self,
        memory: &GuestMemory,
        position: u64,
        data: &[u8],
    ) -> Result<(), DmaFault> {
        let Some((last, body)) = data.split_last() else {
            return Ok(());
        };
        self.pieces(position, body.len(), |address, range| {
            memory.write(address, &body[range])
        })?;
        self.pieces(position.wrapping_add(body.len() as u64), 1, |address, _| {
            memory.write_byte_release(address, *last)
        })
    }

    /// Checks that the device can access the whole ring.
    ///
    /// # Errors
    ///
    /// The first address that it cannot access.
    pub fn check(&self, memory: &GuestMemory, write: bool) -> Result<(), DmaFault> {
        let length = usize::try_from(self.bytes()).unwrap_or(usize::MAX);
        self.pieces(0, length, |address, range| {
            memory.check(address, range.len() as u64, write)
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::memory::fake::guest;

    #[test]
    fn pages_in_any_order() {
        let memory = guest(0x1_0000, 0x4000);
        let ring = Ring::new(vec![0x1_2000, 0x1_0000], 12, 0, 7, 6).unwrap();
        assert_eq!(
            (ring.entries(), ring.bytes(), ring.stride()),
            (128, 0x2000, 64)
        );
        ring.check(&memory, true).unwrap();
        ring.hand_over(&memory, ring.position(64), &[7; 64])
            .unwrap();
        let mut out = [0; 4];
        memory.read(0x1_003c, &mut out).unwrap();
        assert_eq!(out, [7; 4]);
        // A read across the end of the ring goes on at its start.
        memory.write(0x1_0fc0, &[1; 64]).unwrap();
        memory.write(0x1_2000, &[2; 64]).unwrap();
        let mut out = [0; 128];
        ring.read(&memory, ring.position(127), &mut out).unwrap();
        assert_eq!((out[0], out[63], out[64], out[127]), (1, 1, 2, 2));
        assert_eq!(ring.position(128), 0);
        assert!(ring.uses(0x1_0fff, 1) && ring.uses(0x1_1000, 0x1001));
        assert!(!ring.uses(0x1_1000, 0x1000));
    }

    #[test]
    fn pages_must_fit() {
        assert!(Ring::new(vec![0x1000], 12, 0, 7, 6).is_err());
        assert!(Ring::new(vec![0x1000, 0x2000], 12, 0, 6, 6).is_err());
        assert!(Ring::new(vec![0x1000, 0x2000], 12, 64, 6, 6).is_ok());
        assert!(Ring::new(vec![], 12, 0, 31, 15).is_err());
        assert!(Ring::new(vec![], 63, 0, 1, 6).is_err());
    }

    #[test]
    fn a_ring_outside_of_memory() {
        let memory = guest(0x1000, 0x1000);
        let ring = Ring::new(vec![0x1000, 0x2000], 12, 0, 7, 6).unwrap();
        assert_eq!(ring.check(&memory, true).unwrap_err().address, 0x2000);
        assert!(ring.read(&memory, 0x1000, &mut [0; 4]).is_err());
    }
}
