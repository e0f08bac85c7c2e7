// SPDX-License-Identifier: GPL-2.0

//! How many pages firmware has, by function.

use crate::kernel_ext::fmt::kernel_display;
use core::fmt;
use kernel::{
    new_mutex,
    prelude::*,
    sync::Mutex, //
};

use super::ledger::{
    self,
    Account, //
};

pub(crate) use super::ledger::Function;

kernel_display!(Function);

/// How many pages firmware has, by function; shown in debugfs.
#[pin_data]
pub(crate) struct Accounts {
    #[pin]
    accounts: Mutex<KVec<Account>>,
    limit: u64,
}

impl Accounts {
    /// Makes accounts without pages; firmware may have `limit` at most.
    pub(crate) fn new(limit: u64) -> impl PinInit<Self> {
        pin_init!(Self {
            accounts <- new_mutex!(KVec::new()),
            limit,
        })
    }

    /// Pages that firmware has, for all functions.
    pub(crate) fn held(&self) -> u64 {
        ledger::held(&self.accounts.lock())
    }

    /// Most pages that firmware may have.
    pub(crate) fn limit(&self) -> u64 {
        self.limit
    }

    /// Makes sure that there is an account, so that booking cannot fail.
    pub(super) fn open(&self, function: Function) -> Result {
        let mut accounts = self.accounts.lock();

        if !accounts.iter().any(|one| one.function == function) {
            accounts.push(Account::new(function), GFP_KERNEL)?;
        }
        Ok(())
    }

    pub(super) fn book(&self, function: Function, given: u64, returned: u64) {
        ledger::book(&mut self.accounts.lock(), function, given, returned);
    }

    /// Books all pages as returned: they were freed without firmware.
    pub(super) fn close(&self) {
        ledger::close(&mut self.accounts.lock());
    }

    /// Number `index` of the functions that have been given pages, with the pages it has now.
    pub(super) fn function(&self, index: usize) -> Option<(Function, u64)> {
        self.accounts
            .lock()
            .get(index)
            .map(|one| (one.function, one.held))
    }

    /// Prints totals and a line for each function.
    pub(crate) fn show(&self, w: &mut dyn fmt::Write) -> fmt::Result {
        ledger::write(w, &self.accounts.lock(), self.limit)
    }
}
