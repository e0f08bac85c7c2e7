// SPDX-License-Identifier: GPL-2.0

//! Memory that the device reads and writes while the driver does.
//!
//! [`Shared`] is memory that both use, such as a command mailbox or an event queue. [`Page`] is
//! memory that is lent to the device and that the driver does not look at.
//!
//! The device can change the memory at any time, hence no reference into it is ever formed: all
//! accesses are volatile or opaque copies into memory of the driver's own. The order of accesses
//! is up to the caller, with the barriers that are here under their C names:
//!
//! - [`dma_wmb`] after the last write of data and before the write that gives the data to the
//!   device (an ownership bit; a doorbell in a BAR is ordered by itself). Its partner is the
//!   device, which reads the data after it has seen the ownership.
//! - [`dma_rmb`] after the read that shows that the driver owns the data, and before the first
//!   read of it. Its partner is the device, which writes the ownership last.
//!
//! A DMA address of 0 is never given out: firmware takes it for "no address".
//!
//! C header: [`include/linux/dma-mapping.h`](srctree/include/linux/dma-mapping.h)

use super::{
    pci::raw_device,
    scope::Scope, //
};
use core::marker::PhantomData;
use kernel::{
    bindings,
    device::{
        self,
        Bound, //
    },
    dma::{
        Coherent,
        DmaAddress, //
    },
    page,
    prelude::*,
    sync::barrier, //
};

/// The device's unit of memory in bytes, whatever the processor's page size is.
pub(crate) const PAGE_SIZE: usize = 4096;

/// Keeps reads of shared memory before this call from being done after it, and the reverse.
#[inline]
pub(crate) fn dma_rmb() {
    barrier::dma_mb(barrier::Read);
}

/// Keeps writes of shared memory before this call from being seen after those that follow it.
#[inline]
pub(crate) fn dma_wmb() {
    barrier::dma_mb(barrier::Write);
}

/// Zeroed memory that driver and device use at the same time.
///
/// It starts on a page of the device and is contiguous in DMA addresses. Offsets and lengths are in
/// bytes. Shared by reference between threads: what is read while somebody else writes is any mix
/// of old and new bytes, but each `read_u8`, `read_be32`, `write_u8`, and `write_be32` is one
/// access.
///
/// Drop it only when the device does not use the memory any more.
pub(crate) struct Shared<'bound> {
    memory: Coherent<[u8]>,
    /// A mapping for DMA must not outlive the driver's binding to the device.
    _bound: PhantomData<&'bound device::Device<Bound>>,
}

impl<'bound> Shared<'bound> {
    /// Allocates `size` bytes, all 0.
    ///
    /// # Errors
    ///
    /// [`EINVAL`] if `size` is 0, [`ENOMEM`] without memory.
    pub(crate) fn zeroed(scope: Scope<'bound>, size: usize) -> Result<Self> {
        let allocate = || Coherent::<u8>::zeroed_slice(scope.dev(), size, GFP_KERNEL);
        let mut memory = allocate()?;

        if memory.dma_address() == 0 {
            // The first allocation holds address 0 until the second one has got another one.
            memory = allocate()?;
        }

        Ok(Self {
            memory,
            _bound: PhantomData,
        })
    }

    /// Returns the size in bytes.
    pub(crate) fn size(&self) -> usize {
        self.memory.len()
    }

    /// Returns the address under which the device sees the byte at `offset`.
    ///
    /// # Errors
    ///
    /// [`ERANGE`] if `offset` is outside of the memory.
    pub(crate) fn dma_address(&self, offset: usize) -> Result<DmaAddress> {
        self.at(offset, 1, 1)?;

        // CAST: An offset within an allocation; `DmaAddress` has at least the width of `usize`.
        self.memory
            .dma_address()
            .checked_add(offset as DmaAddress)
            .ok_or(ERANGE)
    }

    /// Copies the bytes from `offset` on to `out`.
    ///
    /// # Errors
    ///
    /// [`ERANGE`] if they are not all within the memory; nothing is copied then.
    pub(crate) fn read_bytes(&self, offset: usize, out: &mut [u8]) -> Result {
        let from = self.at(offset, out.len(), 1)?;

        // `memcpy()` of C rather than `copy_nonoverlapping()`: a copy that the Rust compiler knows
        // nothing about, so that a change by the device in the middle has a defined meaning.
        //
        // SAFETY: `from` is valid for `out.len()` bytes, `out` is ours alone, hence no overlap.
        unsafe { bindings::memcpy(out.as_mut_ptr().cast(), from.cast(), out.len()) };
        Ok(())
    }

    /// Copies `bytes` to `offset`.
    ///
    /// # Errors
    ///
    /// [`ERANGE`] if they do not fit into the memory; nothing is copied then.
    pub(crate) fn write_bytes(&self, offset: usize, bytes: &[u8]) -> Result {
        let to = self.at(offset, bytes.len(), 1)?;

        // SAFETY: As in `read_bytes()`, with the directions exchanged.
        unsafe { bindings::memcpy(to.cast(), bytes.as_ptr().cast(), bytes.len()) };
        Ok(())
    }

    /// Reads the byte at `offset`, for instance one with an ownership bit.
    ///
    /// # Errors
    ///
    /// [`ERANGE`] if it is outside of the memory.
    pub(crate) fn read_u8(&self, offset: usize) -> Result<u8> {
        let from = self.at(offset, 1, 1)?;

        // SAFETY: `from` is valid; a volatile access may race with the device.
        Ok(unsafe { from.read_volatile() })
    }

    /// Writes the byte at `offset`, for instance one with an ownership bit.
    ///
    /// # Errors
    ///
    /// [`ERANGE`] if it is outside of the memory.
    pub(crate) fn write_u8(&self, offset: usize, value: u8) -> Result {
        let to = self.at(offset, 1, 1)?;

        // SAFETY: `to` is valid; a volatile access may race with the device.
        unsafe { to.write_volatile(value) };
        Ok(())
    }

    /// Returns a pointer to `offset` that is valid for `length` bytes and aligned to `align`, which
    /// is at most the alignment of a page.
    fn at(&self, offset: usize, length: usize, align: usize) -> Result<*mut u8> {
        match offset.checked_add(length) {
            Some(end) if end <= self.size() => (),
            _ => return Err(ERANGE),
        }
        if offset % align != 0 {
            return Err(EINVAL);
        }

        // The base is aligned to a page, so the alignment of the offset is that of the pointer.
        Ok(self.memory.as_mut_ptr().cast::<u8>().wrapping_add(offset))
    }
}

/// A page of 4 KiB, all 0, that is lent to the device; the driver does not look at it.
///
/// A single page with a streaming mapping: devices ask for thousands of them, and a coherent
/// allocation costs more in time and, with an IOMMU, in addresses.
///
/// Drop it only when the device has given it back, or cannot access memory any more.
///
/// # Invariants
///
/// `address` is a mapping for DMA of the first [`PAGE_SIZE`] bytes of `page`.
pub(crate) struct Page<'bound> {
    dev: &'bound device::Device<Bound>,
    address: DmaAddress,
    /// Freed after the mapping was undone in `drop()`.
    _page: page::Page,
}

impl<'bound> Page<'bound> {
    /// Allocates a page and maps it.
    ///
    /// # Errors
    ///
    /// [`ENOMEM`] if there is no page, or no DMA address for it.
    pub(crate) fn new(scope: Scope<'bound>) -> Result<Self> {
        let page = Self::map(scope)?;

        if page.address == 0 {
            // The first page holds address 0 until the second one has got another one.
            return Self::map(scope);
        }

        Ok(page)
    }

    /// Returns the address under which the device sees the page; not 0, a multiple of 4096.
    pub(crate) fn dma_address(&self) -> DmaAddress {
        self.address
    }

    fn map(scope: Scope<'bound>) -> Result<Self> {
        const_assert!(PAGE_SIZE <= page::PAGE_SIZE);

        let page = page::Page::alloc_page(GFP_KERNEL | __GFP_ZERO)?;

        // SAFETY: Device and page are valid, the range is within the page, and the mapping is
        // undone in `drop()`, before the page is freed.
        let address = unsafe {
            bindings::dma_map_page_attrs(
                raw_device(scope.dev()),
                page.as_ptr(),
                0,
                PAGE_SIZE,
                bindings::dma_data_direction::DMA_BIDIRECTIONAL,
                0,
            )
        };

        // The C function `dma_mapping_error()` is inline: it tells the debugging code that the
        // driver looked, and compares with the value of all ones.
        #[cfg(CONFIG_DMA_API_DEBUG)]
        // SAFETY: Only looks up the address in the debugging code's own tables.
        unsafe {
            bindings::debug_dma_mapping_error(raw_device(scope.dev()), address)
        };

        if address == DmaAddress::MAX {
            return Err(ENOMEM);
        }

        // INVARIANT: The mapping was made above.
        Ok(Self {
            dev: scope.dev(),
            address,
            _page: page,
        })
    }
}

impl Drop for Page<'_> {
    fn drop(&mut self) {
        // SAFETY: By the type invariant this is the mapping made in `map()`, with the same size
        // and direction; the device is still bound.
        unsafe {
            bindings::dma_unmap_page_attrs(
                raw_device(self.dev),
                self.address,
                PAGE_SIZE,
                bindings::dma_data_direction::DMA_BIDIRECTIONAL,
                0,
            )
        };
    }
}
