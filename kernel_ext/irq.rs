// SPDX-License-Identifier: GPL-2.0

//! Interrupt handlers that own what they use.
//!
//! [`kernel::irq::ThreadedRegistration`] borrows the allocation of vectors, must not be leaked, and
//! has a static name. A [`Line`] shares the ownership of the vectors, so that no structure has to
//! refer to itself, is freed at the latest when the driver is unbound, and has a name per device.
//!
//! C header: [`include/linux/interrupt.h`](srctree/include/linux/interrupt.h)

use super::scope::{
    Managed,
    Scope, //
};
use kernel::{
    fmt,
    irq::{
        Flags,
        IrqRequest,
        IrqReturn,
        ThreadedHandler,
        ThreadedIrqReturn,
        ThreadedRegistration, //
    },
    pci::{
        IrqType,
        IrqTypes,
        IrqVectorRegistration, //
    },
    prelude::*,
    str::CString,
    sync::Arc, //
};

/// The MSI-X vectors of a device.
///
/// They are given back when this object and all lines of it are gone.
pub(crate) struct Vectors<'bound> {
    scope: Scope<'bound>,
    vectors: Arc<IrqVectorRegistration<'bound>>,
}

impl<'bound> Vectors<'bound> {
    /// Allocates at least `min` and at most `max` MSI-X vectors.
    ///
    /// # Errors
    ///
    /// [`ENOSPC`] if the device has fewer than `min`, or those of the PCI core.
    pub(crate) fn new(scope: Scope<'bound>, min: u32, max: u32) -> Result<Self> {
        let types = IrqTypes::default().with(IrqType::MsiX);

        Ok(Self {
            scope,
            vectors: Arc::new(scope.pdev().alloc_irq_vectors(min, max, types)?, GFP_KERNEL)?,
        })
    }

    /// Returns the number of vectors.
    pub(crate) fn count(&self) -> usize {
        self.vectors.len()
    }

    /// Installs `handler` for vector `index`; `name` appears in `/proc/interrupts`.
    ///
    /// The handler can be called before this function returns.
    ///
    /// # Errors
    ///
    /// [`EINVAL`] if there is no such vector, [`EBUSY`] if it is in use, [`ENOMEM`] without memory.
    pub(crate) fn line<H>(
        &self,
        index: usize,
        name: fmt::Arguments<'_>,
        handler: Arc<H>,
    ) -> Result<Line<'bound, H>>
    where
        H: ThreadedHandler + Send + 'bound,
    {
        // SAFETY: The allocation lives on the heap, does not move, and is kept by `vectors` in
        // `Installed`, which is dropped after the only user of this reference, the registration.
        // Nothing else gets hold of the reference: the request is consumed below.
        let vectors: &'bound IrqVectorRegistration<'bound> =
            unsafe { &*Arc::as_ptr(&self.vectors) };
        let request: IrqRequest<'bound> = vectors.index(index)?.into();

        let name = CString::try_from_fmt(name)?;
        let text: *const CStr = &*name;
        // SAFETY: The text lives on the heap, does not move with `name`, and is not changed. `name`
        // is dropped after the registration, whose drop removes the name from all places where
        // the kernel shows it: the reference is not used any more then.
        let text: &'static CStr = unsafe { &*text };

        // SAFETY: The registration is put into a `Managed`, which runs its `Drop` before
        // `'bound` ends, also when the `Line` is forgotten.
        let registration = unsafe {
            ThreadedRegistration::new(request, Flags::TRIGGER_NONE, text, Ok(Shared(handler)))
        };
        let installed = try_pin_init!(Installed {
            registration <- registration,
            _name: name,
            _vectors: self.vectors.clone(),
        }? Error);

        Ok(Line {
            _installed: Managed::new(self.scope, installed)?,
        })
    }
}

/// An installed interrupt handler.
///
/// When the drop returns, the handler is not running and will not run again. It must not be
/// dropped by the handler itself.
pub(crate) struct Line<'bound, H: ThreadedHandler + Send> {
    _installed: Managed<'bound, Installed<'bound, H>>,
}

/// A registration and what it uses; fields are dropped in the order of their declaration.
#[pin_data]
struct Installed<'bound, H: ThreadedHandler + Send> {
    #[pin]
    registration: ThreadedRegistration<'bound, Shared<H>>,
    /// After the registration, which refers to it.
    _name: CString,
    /// After the registration, whose vector it keeps allocated.
    _vectors: Arc<IrqVectorRegistration<'bound>>,
}

/// A handler that others use too.
struct Shared<H>(Arc<H>);

impl<H: ThreadedHandler + Send> ThreadedHandler for Shared<H> {
    fn handle(&self) -> ThreadedIrqReturn {
        self.0.handle()
    }

    fn handle_threaded(&self) -> IrqReturn {
        self.0.handle_threaded()
    }
}
