// SPDX-License-Identifier: GPL-2.0

//! Big-endian access to a PCI BAR.
//!
//! [`pci::Bar`] assumes a little-endian device: every access of its is right in the bus order and
//! wrong in the value. A [`BeBar`] owns the BAR and lets only big-endian accesses through.
//!
//! C header: [`include/asm-generic/io.h`](srctree/include/asm-generic/io.h)

use super::scope::Scope;
use kernel::{
    io::Io,
    pci,
    prelude::*, //
};

/// A mapped BAR of at least `MIN` bytes whose registers are big-endian.
///
/// Offsets are in bytes. Each access happens once, in program order with the other accesses of
/// this BAR, and after all earlier writes to memory (writes), before all later reads from memory
/// (reads). Offsets below `MIN` are checked when the module is compiled; the `try_` variants check
/// against the real length when they are called.
///
/// Shared by reference between threads; an access takes no lock.
pub(crate) struct BeBar<'bound, const MIN: usize> {
    bar: pci::Bar<'bound, MIN>,
}

impl<'bound, const MIN: usize> BeBar<'bound, MIN> {
    /// Reserves and maps BAR number `index`; `name` appears in `/proc/iomem`.
    ///
    /// # Errors
    ///
    /// - [`EINVAL`] if the BAR has less than `MIN` bytes or the device has no such BAR.
    /// - [`EBUSY`] if another driver has the BAR.
    /// - [`ENOMEM`] if the BAR has no address or there is no memory for the mapping.
    pub(crate) fn map(scope: Scope<'bound>, index: u32, name: &'static CStr) -> Result<Self> {
        Ok(Self {
            bar: scope.pdev().iomap_region_sized::<MIN>(index, name)?,
        })
    }

    /// Returns the length of the BAR in bytes.
    pub(crate) fn size(&self) -> usize {
        (&self.bar).size()
    }

    /// Writes the register at the constant `offset`.
    #[inline(always)]
    pub(crate) fn write_be32(&self, offset: usize, value: u32) {
        self.bar.write32(to_device(value), offset);
    }

    /// Reads the register at `offset`.
    ///
    /// # Errors
    ///
    /// [`EINVAL`] if the offset is not a multiple of 4 or not within the BAR.
    pub(crate) fn try_read_be32(&self, offset: usize) -> Result<u32> {
        self.bar.try_read32(offset).map(from_device)
    }

    /// Writes the register at `offset`.
    ///
    /// # Errors
    ///
    /// [`EINVAL`] if the offset is not a multiple of 4 or not within the BAR.
    pub(crate) fn try_write_be32(&self, offset: usize, value: u32) -> Result {
        self.bar.try_write32(to_device(value), offset)
    }
}

/// Turns what the little-endian accessor made of four big-endian bytes into their value.
const fn from_device(value: u32) -> u32 {
    value.swap_bytes()
}

/// Turns a value into what the little-endian accessor writes as four big-endian bytes.
const fn to_device(value: u32) -> u32 {
    value.swap_bytes()
}
