// SPDX-License-Identifier: GPL-2.0

//! What [`kernel::pci`] and [`kernel::device`] lack: the way back to the C structures, and the end
//! of what a driver's `probe()` switched on.
//!
//! C header: [`include/linux/pci.h`](srctree/include/linux/pci.h)

use super::scope::Scope;
use kernel::{
    bindings,
    device::{
        self,
        Core,
        DeviceContext, //
    },
    pci,
    prelude::*, //
};

/// Returns the C structure of a PCI device; valid as long as the reference is.
pub(super) fn raw_pci<Ctx: DeviceContext>(pdev: &pci::Device<Ctx>) -> *mut bindings::pci_dev {
    // `pci::Device` is a transparent wrapper of an `Opaque<bindings::pci_dev>`, which allows that
    // the structure is changed behind the shared reference.
    core::ptr::from_ref(pdev)
        .cast::<bindings::pci_dev>()
        .cast_mut()
}

/// Returns the C structure of a device; valid as long as the reference is.
pub(super) fn raw_device<Ctx: DeviceContext>(dev: &device::Device<Ctx>) -> *mut bindings::device {
    // As above: `device::Device` is a transparent wrapper of an `Opaque<bindings::device>`.
    core::ptr::from_ref(dev)
        .cast::<bindings::device>()
        .cast_mut()
}

/// Returns whether the device is a virtual function of SR-IOV.
pub(crate) fn is_virtual_function<Ctx: DeviceContext>(pdev: &pci::Device<Ctx>) -> bool {
    // SAFETY: The pointer is valid, and the bit is set before the device is known to any driver.
    unsafe { bindings::pci_dev::is_virtfn_raw(raw_pci(pdev)) != 0 }
}

/// A PCI device whose memory BARs are enabled and which may be made bus master.
///
/// Dropping it ends both. It has to live longer than all mappings of BARs, and it shall be dropped
/// (or [`stop_dma`](Self::stop_dma) be called) before memory is freed that the device may still
/// write to.
///
/// # Invariants
///
/// The device was enabled once by this object.
pub(crate) struct Enabled<'bound> {
    scope: Scope<'bound>,
}

impl<'bound> Enabled<'bound> {
    /// Enables the device's memory BARs.
    ///
    /// `pdev` is the device of `scope`; it shows that this is called from `probe()`.
    ///
    /// # Errors
    ///
    /// Those of the PCI core, if the device cannot be powered up or its BARs have no addresses.
    pub(crate) fn new(scope: Scope<'bound>, pdev: &pci::Device<Core<'_>>) -> Result<Self> {
        if raw_pci(scope.pdev()) != raw_pci(pdev) {
            return Err(EINVAL);
        }

        pdev.enable_device_mem()?;

        // INVARIANT: Enabled by the line above.
        Ok(Self { scope })
    }

    /// Allows the device to access memory by itself, which MSI-X interrupts need as well.
    pub(crate) fn start_dma(&self) {
        // SAFETY: The device is valid and bound.
        unsafe { bindings::pci_set_master(raw_pci(self.scope.pdev())) };
    }

    /// Forbids the device to access memory by itself, which also ends its MSI-X interrupts.
    ///
    /// It can be called more than once. [`start_dma`](Self::start_dma) allows it again.
    pub(crate) fn stop_dma(&self) {
        // SAFETY: The device is valid and bound.
        unsafe { bindings::pci_clear_master(raw_pci(self.scope.pdev())) };
    }
}

impl Drop for Enabled<'_> {
    fn drop(&mut self) {
        // SAFETY: The device is valid and bound; by the type invariant it was enabled by us. The
        // last user's call also ends bus mastering.
        unsafe { bindings::pci_disable_device(raw_pci(self.scope.pdev())) };
    }
}
