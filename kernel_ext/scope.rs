// SPDX-License-Identifier: GPL-2.0

//! The time for which a driver is bound to its device, and things that must not outlive it.
//!
//! A thread or an interrupt handler that borrows something for `'bound` has to be stopped before
//! `'bound` ends, even when its owner is leaked by [`core::mem::forget`], which is safe code.
//! [`kernel::irq::Registration`] leaves this to a promise of each caller. Here the thing is also
//! handed to the device's list of managed resources, which the driver core releases when the
//! driver is unbound, so that no promise is needed: see [`Managed`].
//!
//! C header: [`include/linux/device/devres.h`](srctree/include/linux/device/devres.h)

use super::pci::raw_device;
use core::{
    marker::PhantomData,
    ops::Deref,
    ptr::NonNull, //
};
use kernel::{
    bindings,
    device::{
        self,
        Bound,
        Core, //
    },
    dma::{
        Device as _,
        DmaMask, //
    },
    error::to_result,
    pci,
    prelude::*, //
};

/// Proof that `'bound` is exactly the time for which the driver is bound to a PCI device.
///
/// An ordinary `&'a pci::Device<Bound>` does not prove that: `'a` can be any part of that time.
///
/// # Invariants
///
/// `'bound` does not end before the driver core has released the device's managed resources. The
/// lifetime is invariant, so that it cannot be shortened later.
#[derive(Clone, Copy)]
pub(crate) struct Scope<'bound> {
    pdev: &'bound pci::Device<Bound>,
    _invariant: PhantomData<fn(&'bound ()) -> &'bound ()>,
}

impl<'bound> Scope<'bound> {
    /// Makes the proof, once, at the beginning of the driver's `probe()`, and lets the device use
    /// DMA addresses of 64 bits, or of 32 where the platform has no others.
    ///
    /// # Errors
    ///
    /// [`EIO`] if the platform can do neither.
    ///
    /// # Safety
    ///
    /// - `'bound` must be the lifetime parameter of [`pci::Driver::probe`] itself, not a shorter
    ///   one: a value of type `&'bound T` must stay valid until the driver is unbound and the
    ///   device's managed resources are released.
    /// - No memory for DMA by the device may be allocated or mapped at the same time.
    pub(crate) unsafe fn new(pdev: &'bound pci::Device<Core<'_>>) -> Result<Self> {
        // SAFETY: By the second safety requirement.
        unsafe { pdev.dma_set_mask_and_coherent(DmaMask::new::<64>()) }.or_else(|_| {
            // SAFETY: By the second safety requirement.
            unsafe { pdev.dma_set_mask_and_coherent(DmaMask::new::<32>()) }
        })?;

        // INVARIANT: By the first safety requirement.
        Ok(Self {
            pdev,
            _invariant: PhantomData,
        })
    }

    /// Returns the PCI device.
    pub(crate) fn pdev(self) -> &'bound pci::Device<Bound> {
        self.pdev
    }

    /// Returns the device as the driver core knows it, for log lines and DMA.
    pub(crate) fn dev(self) -> &'bound device::Device<Bound> {
        self.pdev.as_ref()
    }
}

/// A value that is dropped when its owner drops it, and at the latest when the driver is unbound.
///
/// # Invariants
///
/// - `value` came from [`KBox::into_raw`] and is owned by this object.
/// - The pair of `release` and `value` is registered as an action of `dev`, for as long as this
///   object lives; when the action has run, the value is gone, but then `'bound` is over too.
pub(crate) struct Managed<'bound, T: Send + 'bound> {
    dev: &'bound device::Device<Bound>,
    value: NonNull<T>,
    release: unsafe extern "C" fn(*mut c_void),
    _owns: PhantomData<T>,
}

// SAFETY: `Managed` owns a `T`, which is `Send`; devices may be used from any thread.
unsafe impl<T: Send> Send for Managed<'_, T> {}

// SAFETY: A shared `Managed` only gives out `&T`.
unsafe impl<T: Send + Sync> Sync for Managed<'_, T> {}

impl<'bound, T: Send + 'bound> Managed<'bound, T> {
    /// Puts `init` on the heap, pinned, and registers it with the device of `scope`.
    ///
    /// # Errors
    ///
    /// Those of `init`; [`ENOMEM`] without memory.
    pub(crate) fn new(scope: Scope<'bound>, init: impl PinInit<T, Error>) -> Result<Self> {
        let value = KBox::pin_init(init, GFP_KERNEL)?;

        // SAFETY: The value is not moved out of its place: it is only turned back into a pinned
        // box, and dropped, in `release()`.
        let value = KBox::into_raw(unsafe { Pin::into_inner_unchecked(value) });
        let release: unsafe extern "C" fn(*mut c_void) = release::<T>;

        // SAFETY:
        // - The device is valid and bound.
        // - `release` may be called from the unbind of the device with `value`, as `T` is `Send`
        //   and everything that `T` borrows lives for `'bound`, which by the invariant of `Scope`
        //   is not over then.
        let ret = unsafe {
            bindings::devm_add_action(raw_device(scope.dev()), Some(release), value.cast())
        };

        if let Err(error) = to_result(ret) {
            // SAFETY: The value came from `KBox::into_raw()`, and the device does not have it.
            unsafe { release(value.cast()) };
            return Err(error);
        }

        // INVARIANT: The action was registered above.
        Ok(Self {
            dev: scope.dev(),
            // SAFETY: `KBox::into_raw()` returns no null pointer.
            value: unsafe { NonNull::new_unchecked(value) },
            release,
            _owns: PhantomData,
        })
    }
}

impl<T: Send> Deref for Managed<'_, T> {
    type Target = T;

    fn deref(&self) -> &T {
        // SAFETY: By the type invariant, the value lives as long as `self` can be used.
        unsafe { self.value.as_ref() }
    }
}

impl<T: Send> Drop for Managed<'_, T> {
    fn drop(&mut self) {
        // SAFETY: The device is valid and bound.
        let ret = unsafe {
            bindings::devm_remove_action_nowarn(
                raw_device(self.dev),
                Some(self.release),
                self.value.as_ptr().cast(),
            )
        };

        // An error means that the action has already run, so that there is nothing to drop.
        if ret == 0 {
            // SAFETY: By the type invariant this object owns the value, and the action that could
            // have released it was taken back just now.
            unsafe { (self.release)(self.value.as_ptr().cast()) };
        }
    }
}

/// Drops the value.
///
/// # Safety
///
/// `value` must be a pinned `T` from [`KBox::into_raw`], and nobody may use it afterwards.
unsafe extern "C" fn release<T>(value: *mut c_void) {
    // SAFETY: By the safety requirement.
    drop(unsafe { Pin::new_unchecked(KBox::from_raw(value.cast::<T>())) });
}
