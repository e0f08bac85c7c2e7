// SPDX-License-Identifier: GPL-2.0

//! Events that user space (udev) sees.
//!
//! C header: [`include/linux/kobject.h`](srctree/include/linux/kobject.h)

use super::pci::raw_device;
use kernel::{
    bindings,
    device::{
        Bound,
        Device, //
    },
    error::to_result,
    fmt,
    prelude::*,
    str::CString, //
};

/// Tells user space that the state of `dev` has changed, with `variables` of the form `NAME=value`.
///
/// Sleeps. User space splits events at line ends, so the values must not have any.
///
/// # Errors
///
/// [`EINVAL`] if a variable contains a NUL character, [`ENOMEM`] without memory or if the variables
/// have more than about 2,000 characters in all or are more than about 60.
pub(crate) fn change(dev: &Device<Bound>, variables: &[fmt::Arguments<'_>]) -> Result {
    let mut strings = KVec::with_capacity(variables.len(), GFP_KERNEL)?;
    for variable in variables {
        strings.push(CString::try_from_fmt(*variable)?, GFP_KERNEL)?;
    }

    let mut pointers: KVec<*mut c_char> =
        KVec::with_capacity(strings.len().saturating_add(1), GFP_KERNEL)?;
    for string in &strings {
        pointers.push(string.as_char_ptr().cast_mut(), GFP_KERNEL)?;
    }
    pointers.push(core::ptr::null_mut(), GFP_KERNEL)?;

    // SAFETY:
    // - The device is valid and registered, as it is bound.
    // - The array ends with a null pointer; it and the strings live until the call returns, which
    //   only reads and copies them.
    to_result(unsafe {
        bindings::kobject_uevent_env(
            &raw mut (*raw_device(dev)).kobj,
            bindings::kobject_action_KOBJ_CHANGE,
            pointers.as_mut_ptr(),
        )
    })
}
