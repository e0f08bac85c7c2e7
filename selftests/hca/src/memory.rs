// SPDX-License-Identifier: GPL-2.0

//! The guest's memory, as far as DMA mappings make it visible to the device.
//!
//! QEMU names each range with DMA_MAP and passes the file that holds it. Without a virtual IOMMU
//! a few ranges cover all of RAM; with one each mapping that a driver makes is a range of its own,
//! so an address that was never mapped, or was unmapped, or has the wrong direction is caught.

use std::collections::BTreeMap;
use std::fs::File;
use std::os::fd::AsRawFd;
use std::os::unix::fs::MetadataExt;
use std::ptr::NonNull;
use std::sync::atomic::{
    fence,
    AtomicU8,
    Ordering, //
};
use std::sync::{
    Arc,
    Weak, //
};

/// A refused access of the device to memory.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct DmaFault {
    /// First address that could not be accessed.
    pub address: u64,
    /// True if the device wanted to write.
    pub write: bool,
    /// What is wrong with it.
    pub reason: &'static str,
}

impl std::fmt::Display for DmaFault {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let what = if self.write { "write to" } else { "read from" };
        write!(f, "DMA {what} 0x{:x}: {}", self.address, self.reason)
    }
}

/// A file mapped once, shared by the ranges that lie in it.
struct Mapping {
    base: NonNull<u8>,
    length: usize,
}

// SAFETY: The mapping is plain shared memory; all access goes through raw pointers with bounds
// checks and needs no thread of its own.
unsafe impl Send for Mapping {}
// SAFETY: As above. Races with the guest are part of what shared memory is; no references into
// the mapping are ever made.
unsafe impl Sync for Mapping {}

impl Mapping {
    fn new(file: &File, length: usize) -> std::io::Result<Mapping> {
        // SAFETY: A new shared mapping of an open file; the kernel chooses the address.
        let base = unsafe {
            libc::mmap(
                std::ptr::null_mut(),
                length,
                libc::PROT_READ | libc::PROT_WRITE,
                libc::MAP_SHARED,
                file.as_raw_fd(),
                0,
            )
        };
        if base == libc::MAP_FAILED {
            return Err(std::io::Error::last_os_error());
        }
        match NonNull::new(base.cast()) {
            Some(base) => Ok(Mapping { base, length }),
            None => Err(std::io::Error::other("mapped at zero")),
        }
    }
}

impl Drop for Mapping {
    fn drop(&mut self) {
        // SAFETY: Base and length are those of the mapping made in `new`, unmapped only here.
        unsafe { libc::munmap(self.base.as_ptr().cast(), self.length) };
    }
}

#[derive(Clone)]
struct Range {
    size: u64,
    readable: bool,
    writable: bool,
    /// None for ranges that came without a file (ROM, other devices).
    memory: Option<(Arc<Mapping>, usize)>,
}

/// All ranges that the guest lets the device see.
#[derive(Default)]
pub struct GuestMemory {
    ranges: BTreeMap<u64, Range>,
    files: BTreeMap<(u64, u64), (u64, Weak<Mapping>)>,
}

impl GuestMemory {
    /// Adds a range.
    ///
    /// # Errors
    ///
    /// If the file cannot be mapped or does not hold the whole range.
    pub fn map(
        &mut self,
        address: u64,
        size: u64,
        (readable, writable): (bool, bool),
        file: Option<(File, u64)>,
    ) -> std::io::Result<()> {
        let memory = match file {
            Some((file, offset)) => Some(self.file(&file, offset, size)?),
            None => None,
        };
        let range = Range {
            size,
            readable,
            writable,
            memory,
        };
        self.ranges.insert(address, range);
        Ok(())
    }

    fn file(
        &mut self,
        file: &File,
        offset: u64,
        size: u64,
    ) -> std::io::Result<(Arc<Mapping>, usize)> {
        let meta = file.metadata()?;
        let short = || std::io::Error::other("the memory file is shorter than the DMA range");
        let end = offset.checked_add(size).ok_or_else(short)?;
        if end > meta.len() {
            return Err(short());
        }
        let key = (meta.dev(), meta.ino());
        let known = self
            .files
            .get(&key)
            .filter(|(length, _)| *length == meta.len())
            .and_then(|(_, m)| m.upgrade());
        let mapping = match known {
            Some(m) => m,
            None => {
                let length = usize::try_from(meta.len()).map_err(|_| short())?;
                let m = Arc::new(Mapping::new(file, length)?);
                self.files.insert(key, (meta.len(), Arc::downgrade(&m)));
                m
            }
        };
        let offset = usize::try_from(offset).map_err(|_| short())?;
        Ok((mapping, offset))
    }

    /// Removes all ranges that lie inside the given one.
    pub fn unmap(&mut self, address: u64, size: u64) {
        let end = address.saturating_add(size);
        self.ranges
            .retain(|a, r| *a < address || a.saturating_add(r.size) > end);
    }

    /// Removes everything.
    pub fn clear(&mut self) {
        self.ranges.clear();
    }

    /// All ranges, a line each: first address, size, and what the device may do there.
    pub fn show(&self) -> Vec<String> {
        let may = |allowed, letter| if allowed { letter } else { '-' };
        self.ranges
            .iter()
            .map(|(address, r)| {
                let (read, write) = (may(r.readable, 'r'), may(r.writable, 'w'));
                format!("{address:#x} {:#x} {read}{write}", r.size)
            })
            .collect()
    }

    /// Number of ranges.
    #[cfg(test)]
    pub fn ranges(&self) -> usize {
        self.ranges.len()
    }

    /// Finds the bytes behind `address`, at most `length` of them and all in one range.
    fn find(
        &self,
        address: u64,
        length: usize,
        write: bool,
    ) -> Result<(NonNull<u8>, usize), DmaFault> {
        let fault = |reason| DmaFault {
            address,
            write,
            reason,
        };
        let (start, range) = self
            .ranges
            .range(..=address)
            .next_back()
            .filter(|(start, r)| address - **start < r.size)
            .ok_or_else(|| fault("the address is not mapped for the device"))?;
        if write && !range.writable {
            return Err(fault("the address is mapped, but not for writing"));
        }
        if !write && !range.readable {
            return Err(fault("the address is mapped, but not for reading"));
        }
        let (mapping, base) = range
            .memory
            .as_ref()
            .ok_or_else(|| fault("the address is not in RAM"))?;
        let inside = address - start;
        let here = usize::try_from(range.size - inside)
            .unwrap_or(usize::MAX)
            .min(length);
        let offset = usize::try_from(inside)
            .ok()
            .and_then(|i| base.checked_add(i))
            .filter(|o| o.checked_add(here).is_some_and(|end| end <= mapping.length))
            .ok_or_else(|| fault("the address is outside of the memory file"))?;
        // SAFETY: `offset + here` was checked against the length of the mapping.
        Ok((unsafe { mapping.base.add(offset) }, here))
    }

    /// Reads guest memory.
    ///
    /// # Errors
    ///
    /// The first address that the device may not read.
    pub fn read(&self, address: u64, out: &mut [u8]) -> Result<(), DmaFault> {
        let mut done = 0;
        while done < out.len() {
            let at = offset_address(address, done, false)?;
            let (from, n) = self.find(at, out.len() - done, false)?;
            // SAFETY: `find` vouches for `n` bytes at `from`; `out` is not guest memory.
            unsafe { std::ptr::copy_nonoverlapping(from.as_ptr(), out[done..].as_mut_ptr(), n) };
            done += n;
        }
        fence(Ordering::Acquire);
        Ok(())
    }

    /// Writes guest memory.
    ///
    /// # Errors
    ///
    /// The first address that the device may not write; what lies before it is written.
    pub fn write(&self, address: u64, data: &[u8]) -> Result<(), DmaFault> {
        let mut done = 0;
        while done < data.len() {
            let at = offset_address(address, done, true)?;
            let (to, n) = self.find(at, data.len() - done, true)?;
            // SAFETY: `find` vouches for `n` bytes at `to`; `data` is not guest memory.
            unsafe { std::ptr::copy_nonoverlapping(data[done..].as_ptr(), to.as_ptr(), n) };
            done += n;
        }
        Ok(())
    }

    /// Writes one byte after everything that was written before: for ownership bits.
    ///
    /// # Errors
    ///
    /// As [`GuestMemory::write`].
    pub fn write_byte_release(&self, address: u64, value: u8) -> Result<(), DmaFault> {
        let (to, _) = self.find(address, 1, true)?;
        // SAFETY: `find` vouches for the byte, which lives as long as the mapping held by `self`;
        // an atomic of one byte has no alignment.
        unsafe { AtomicU8::from_ptr(to.as_ptr()) }.store(value, Ordering::Release);
        Ok(())
    }

    /// The first address in the range that the device may not access.
    ///
    /// # Errors
    ///
    /// That address and why.
    pub fn check(&self, address: u64, length: u64, write: bool) -> Result<(), DmaFault> {
        let mut done = 0u64;
        while done < length {
            let at = address.checked_add(done).ok_or(DmaFault {
                address,
                write,
                reason: "the range ends beyond 64 bits",
            })?;
            let want = usize::try_from(length - done).unwrap_or(usize::MAX);
            let (_, n) = self.find(at, want, write)?;
            done = done.saturating_add(n as u64);
        }
        Ok(())
    }
}

fn offset_address(address: u64, offset: usize, write: bool) -> Result<u64, DmaFault> {
    address.checked_add(offset as u64).ok_or(DmaFault {
        address,
        write,
        reason: "the range ends beyond 64 bits",
    })
}

/// Guest memory without a guest, for tests and fuzzing.
#[cfg(any(test, feature = "fuzz"))]
pub mod fake {
    use super::*;
    use std::os::fd::FromRawFd;

    /// Memory of `size` bytes, mapped for the device at `address`.
    pub fn guest(address: u64, size: u64) -> GuestMemory {
        let mut m = GuestMemory::default();
        let file = memfd(size);
        m.map(address, size, (true, true), Some((file, 0))).unwrap();
        m
    }

    pub fn memfd(size: u64) -> File {
        // SAFETY: A fresh descriptor that nobody else owns.
        let file = unsafe { File::from_raw_fd(libc::memfd_create(c"guest".as_ptr(), 0)) };
        file.set_len(size).unwrap();
        file
    }
}

#[cfg(test)]
mod tests {
    use super::fake::{
        guest,
        memfd, //
    };
    use super::*;

    #[test]
    fn access_across_two_ranges_of_one_file() {
        let mut m = GuestMemory::default();
        let file = memfd(0x3000);
        let again = file.try_clone().unwrap();
        m.map(0x1000, 0x1000, (true, true), Some((file, 0x2000)))
            .unwrap();
        m.map(0x2000, 0x1000, (true, false), Some((again, 0)))
            .unwrap();
        m.write(0x1ff8, &[7; 8]).unwrap();
        let mut out = [1; 16];
        m.read(0x1ff8, &mut out).unwrap();
        assert_eq!(out, [7, 7, 7, 7, 7, 7, 7, 7, 0, 0, 0, 0, 0, 0, 0, 0]);
        let e = m.write(0x1ffc, &[1; 8]).unwrap_err();
        assert_eq!((e.address, e.write), (0x2000, true));
    }

    #[test]
    fn unmapped_addresses_are_faults() {
        let mut m = guest(0x1000, 0x1000);
        assert!(m.read(0xfff, &mut [0; 1]).is_err());
        assert_eq!(m.read(0x1ff0, &mut [0; 32]).unwrap_err().address, 0x2000);
        assert!(m.check(0x1000, 0x1000, true).is_ok());
        assert!(m.check(0x1000, 0x1001, true).is_err());
        assert!(m.read(u64::MAX, &mut [0; 4]).is_err());
        m.unmap(0, u64::MAX);
        assert_eq!(m.ranges(), 0);
        assert!(m.read(0x1000, &mut [0; 1]).is_err());
    }
}
