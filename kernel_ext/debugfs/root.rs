// SPDX-License-Identifier: GPL-2.0

//! The module's own directory, under which each device has one.
//!
//! There is no data of a module that its drivers' `probe()` could reach, so the directory is kept
//! in a static here, for as long as the module holds its [`Root`].

use super::Dir;
use kernel::{
    prelude::*,
    sync::global_lock, //
};

global_lock! {
    // SAFETY: Initialized in `Root::new()`; nobody gets past it without a `Root`, see `subdir()`.
    unsafe(uninit) static ROOT: Mutex<Option<Dir>> = None;
}

/// The module's directory; removed when dropped.
///
/// # Invariants
///
/// `ROOT` is initialized, and there is one value of this type at most.
pub(crate) struct Root(());

impl Root {
    /// Makes the directory.
    ///
    /// # Errors
    ///
    /// [`EEXIST`] if there is one of that name; those of debugfs.
    ///
    /// # Safety
    ///
    /// Must be called once only, in the module's `init()`, before a driver is registered.
    pub(crate) unsafe fn new(name: &CStr) -> Result<Self> {
        let dir = Dir::root(name)?;

        // SAFETY: By the safety requirement, this is called exactly once, before `subdir()` can be.
        unsafe { ROOT.init() };
        *ROOT.lock() = Some(dir);

        // INVARIANT: Just initialized, and called once only.
        Ok(Self(()))
    }

    /// Makes a directory in the module's directory.
    ///
    /// # Errors
    ///
    /// [`ENODEV`] if the module is going; those of debugfs.
    pub(crate) fn subdir(name: &CStr) -> Result<Dir> {
        match &*ROOT.lock() {
            Some(root) => root.subdir(name),
            None => Err(ENODEV),
        }
    }
}

impl Drop for Root {
    fn drop(&mut self) {
        let dir = ROOT.lock().take();
        drop(dir);
    }
}
