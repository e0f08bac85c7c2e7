// SPDX-License-Identifier: GPL-2.0

//! Values of our own in the kernel's formatting macros.
//!
//! The kernel's macros want [`kernel::fmt::Display`], those of `core`, which also the parts that
//! are compiled for the host use, [`core::fmt::Display`].

/// Implements the kernel's trait by that of `core`.
macro_rules! kernel_display {
    ($($type:ty),* $(,)?) => {
        $(
            impl ::kernel::fmt::Display for $type {
                fn fmt(&self, f: &mut ::core::fmt::Formatter<'_>) -> ::core::fmt::Result {
                    ::core::fmt::Display::fmt(self, f)
                }
            }
        )*
    };
}

pub(crate) use kernel_display;
