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
    error::to_result,
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

    /// Whether the device answers in configuration space.
    ///
    /// The answer can be outdated when it comes.
    pub(crate) fn answers(&self) -> bool {
        // SAFETY: The device is valid and bound.
        unsafe { bindings::pci_device_is_present(raw_pci(self.scope.pdev())) }
    }

    /// Resets the function, by the first method that it has (an FLR, where there is that), with its
    /// configuration space saved before and restored after; BARs stay mapped.
    ///
    /// Sleeps for at least 100 ms with an FLR, and as long as the device does not answer after it,
    /// up to 60 s. Interrupts have to be given back before.
    ///
    /// # Errors
    ///
    /// - [`EAGAIN`] if somebody else has the device's lock, such as one who unbinds the driver.
    /// - [`EOPNOTSUPP`] if the function has no method of reset, or did not come back from it.
    pub(crate) fn try_reset(&self) -> Result {
        // SAFETY:
        // - The device is valid and bound.
        // - The call only tries to take the device's lock, so that it can be used by a thread which
        //   the holder of the lock waits for.
        to_result(unsafe { bindings::pci_try_reset_function(raw_pci(self.scope.pdev())) })
            .map_err(no_method)
    }

    /// The same for `probe()`, which the driver core calls with the device's lock held.
    ///
    /// `pdev` is the device, and shows that this is called from there.
    ///
    /// # Errors
    ///
    /// [`EINVAL`] for another device; [`EOPNOTSUPP`] as above.
    pub(crate) fn reset_in_probe(&self, pdev: &pci::Device<Core<'_>>) -> Result {
        if raw_pci(self.scope.pdev()) != raw_pci(pdev) {
            return Err(EINVAL);
        }
        // SAFETY: The device is valid, and its lock is held, as `Core` shows.
        to_result(unsafe { bindings::pci_reset_function_locked(raw_pci(pdev)) }).map_err(no_method)
    }

    /// Forbids the device to access memory by itself, which also ends its MSI-X interrupts.
    ///
    /// It can be called more than once. [`start_dma`](Self::start_dma) allows it again.
    pub(crate) fn stop_dma(&self) {
        // SAFETY: The device is valid and bound.
        unsafe { bindings::pci_clear_master(raw_pci(self.scope.pdev())) };
    }
}

/// The PCI core has an errno for "no method of reset" that is meant for terminals.
fn no_method(error: Error) -> Error {
    if error == ENOTTY {
        EOPNOTSUPP
    } else {
        error
    }
}

/// Whether the device may access memory by itself; read from configuration space.
///
/// While no driver has the device, that is a sign of one that left it running.
///
/// # Errors
///
/// Those of the configuration space's access.
pub(crate) fn may_do_dma<Ctx: DeviceContext>(pdev: &pci::Device<Ctx>) -> Result<bool> {
    let mut command = 0;

    // SAFETY: The device is valid; the value is ours.
    let ret = unsafe {
        bindings::pci_read_config_word(
            raw_pci(pdev),
            bindings::PCI_COMMAND as c_int,
            &raw mut command,
        )
    };
    // Positive values are those of the PCI core itself, for a device that does not answer.
    if ret != 0 {
        return Err(EIO);
    }
    Ok(u32::from(command) & bindings::PCI_COMMAND_MASTER != 0)
}

impl Drop for Enabled<'_> {
    fn drop(&mut self) {
        // SAFETY: The device is valid and bound; by the type invariant it was enabled by us. The
        // last user's call also ends bus mastering.
        unsafe { bindings::pci_disable_device(raw_pci(self.scope.pdev())) };
    }
}
