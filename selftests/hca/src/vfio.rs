// SPDX-License-Identifier: GPL-2.0

//! The vfio-user side: QEMU's requests, and dispatch of register accesses.

use std::fs::File;
use std::io::Error;
use std::sync::Arc;

use vfio_bindings::bindings::vfio::{
    vfio_region_info,
    VFIO_IRQ_INFO_EVENTFD,
    VFIO_PCI_BAR0_REGION_INDEX,
    VFIO_PCI_CONFIG_REGION_INDEX,
    VFIO_PCI_MSIX_IRQ_INDEX,
    VFIO_PCI_NUM_IRQS,
    VFIO_PCI_NUM_REGIONS,
    VFIO_REGION_INFO_FLAG_READ,
    VFIO_REGION_INFO_FLAG_WRITE, //
};
use vfio_user::{
    DmaMapFlags,
    DmaUnmapFlags,
    IrqInfo,
    ServerBackend,
    ServerRegion, //
};

use crate::config_space;
use crate::device::Shared;
use crate::mmio;
use crate::pci;
use crate::vpd;

/// The device as QEMU's client sees it.
pub struct Backend {
    shared: Arc<Shared>,
    bar0_bytes: u64,
}

impl Backend {
    /// Serves a function.
    pub fn new(shared: Arc<Shared>) -> Backend {
        let bar0_bytes = shared.lock().variant.bar0_bytes;
        Backend { shared, bar0_bytes }
    }

    /// All regions: BAR0 and configuration space, the others without size.
    pub fn regions(&self) -> Vec<ServerRegion> {
        (0..VFIO_PCI_NUM_REGIONS)
            .map(|index| {
                let size = match index {
                    VFIO_PCI_BAR0_REGION_INDEX => self.bar0_bytes,
                    VFIO_PCI_CONFIG_REGION_INDEX => config_space::SIZE as u64,
                    _ => 0,
                };
                let flags = if size > 0 {
                    VFIO_REGION_INFO_FLAG_READ | VFIO_REGION_INFO_FLAG_WRITE
                } else {
                    0
                };
                ServerRegion {
                    region_info: vfio_region_info {
                        argsz: std::mem::size_of::<vfio_region_info>() as u32,
                        flags,
                        index,
                        cap_offset: 0,
                        size,
                        offset: 0,
                    },
                    sparse_areas: Vec::new(),
                    mmap_fd: None,
                }
            })
            .collect()
    }

    /// All interrupt indexes: MSI-X, the others without vectors.
    pub fn irqs(&self) -> Vec<IrqInfo> {
        let vectors = self.shared.lock().variant.msix_vectors;
        (0..VFIO_PCI_NUM_IRQS)
            .map(|index| {
                let msix = index == VFIO_PCI_MSIX_IRQ_INDEX;
                IrqInfo {
                    index,
                    // Without NORESIZE: with it, QEMU takes all vectors down for each new one.
                    flags: if msix { VFIO_IRQ_INFO_EVENTFD } else { 0 },
                    count: if msix { vectors.into() } else { 0 },
                }
            })
            .collect()
    }
}

/// True if an access lies inside a region.
fn inside(offset: u64, length: usize, size: u64) -> bool {
    offset
        .checked_add(length as u64)
        .is_some_and(|end| end <= size)
}

impl ServerBackend for Backend {
    fn region_read(&mut self, region: u32, offset: u64, data: &mut [u8]) -> Result<(), Error> {
        let mut device = self.shared.lock();
        data.fill(0xff);
        if !device.answers() {
            return Ok(());
        }
        match region {
            VFIO_PCI_CONFIG_REGION_INDEX => device.config.read(offset, data),
            VFIO_PCI_BAR0_REGION_INDEX if inside(offset, data.len(), self.bar0_bytes) => {
                mmio::read(&mut device, offset, data);
            }
            // What does not exist reads as ones.
            _ => {}
        }
        Ok(())
    }

    fn region_write(&mut self, region: u32, offset: u64, data: &[u8]) -> Result<(), Error> {
        let mut device = self.shared.lock();
        if !device.answers() {
            return Ok(());
        }
        match region {
            VFIO_PCI_CONFIG_REGION_INDEX => {
                let device = &mut *device;
                device.config.write(offset, data);
                let vpd = &device.variant.vpd;
                vpd::after_write(&mut device.config, offset, data.len(), vpd);
                if pci::take_flr(&mut device.config) {
                    device.function_level_reset();
                }
            }
            VFIO_PCI_BAR0_REGION_INDEX if inside(offset, data.len(), self.bar0_bytes) => {
                mmio::write(&mut device, offset, data);
            }
            _ => {}
        }
        drop(device);
        self.shared.kick();
        Ok(())
    }

    fn dma_map(
        &mut self,
        flags: DmaMapFlags,
        offset: u64,
        address: u64,
        size: u64,
        fd: Option<File>,
    ) -> Result<(), Error> {
        let rights = (
            flags.contains(DmaMapFlags::READ),
            flags.contains(DmaMapFlags::WRITE),
        );
        let file = fd.map(|f| (f, offset));
        self.shared.lock().memory.map(address, size, rights, file)
    }

    fn dma_unmap(&mut self, flags: DmaUnmapFlags, address: u64, size: u64) -> Result<(), Error> {
        let mut device = self.shared.lock();
        device.check_unmap(address, size);
        let memory = &mut device.memory;
        if flags.contains(DmaUnmapFlags::UNMAP_ALL) {
            memory.clear();
        } else {
            memory.unmap(address, size);
        }
        Ok(())
    }

    fn reset(&mut self) -> Result<(), Error> {
        self.shared.lock().function_reset();
        self.shared.kick();
        Ok(())
    }

    fn set_irqs(
        &mut self,
        index: u32,
        flags: u32,
        start: u32,
        count: u32,
        fds: Vec<File>,
    ) -> Result<(), Error> {
        if index != VFIO_PCI_MSIX_IRQ_INDEX {
            return Ok(());
        }
        self.shared.lock().irqs.set(flags, start, count, fds)
    }
}
