// SPDX-License-Identifier: GPL-2.0

//! How many pages firmware has, by function.

use crate::kernel_ext::fmt::kernel_display;
use core::fmt;
use kernel::{
    new_mutex,
    prelude::*,
    sync::Mutex, //
};

/// A function that pages are for.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct Function {
    /// Whether it is an embedded CPU's.
    pub(crate) embedded_cpu: bool,
    /// Its number; 0 is the function that is driven.
    pub(crate) id: u16,
}

impl fmt::Display for Function {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if self.embedded_cpu {
            write!(f, "embedded CPU function {}", self.id)
        } else {
            write!(f, "function {}", self.id)
        }
    }
}

kernel_display!(Function);

/// Pages of one function.
#[derive(Clone, Copy)]
struct Account {
    function: Function,
    held: u64,
    given: u64,
    returned: u64,
}

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
        self.accounts.lock().iter().map(|one| one.held).sum()
    }

    /// Most pages that firmware may have.
    pub(crate) fn limit(&self) -> u64 {
        self.limit
    }

    /// Makes sure that there is an account, so that booking cannot fail.
    pub(super) fn open(&self, function: Function) -> Result {
        let mut accounts = self.accounts.lock();

        if !accounts.iter().any(|one| one.function == function) {
            let account = Account {
                function,
                held: 0,
                given: 0,
                returned: 0,
            };
            accounts.push(account, GFP_KERNEL)?;
        }
        Ok(())
    }

    pub(super) fn book(&self, function: Function, given: u64, returned: u64) {
        let mut accounts = self.accounts.lock();

        if let Some(one) = accounts.iter_mut().find(|one| one.function == function) {
            one.given = one.given.saturating_add(given);
            one.returned = one.returned.saturating_add(returned);
            one.held = one.held.saturating_add(given).saturating_sub(returned);
        }
    }

    /// Books all pages as returned: they were freed without firmware.
    pub(super) fn close(&self) {
        for one in self.accounts.lock().iter_mut() {
            one.returned = one.returned.saturating_add(one.held);
            one.held = 0;
        }
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
        let accounts = self.accounts.lock();

        writeln!(
            w,
            "held: {}",
            accounts.iter().map(|one| one.held).sum::<u64>()
        )?;
        writeln!(w, "limit: {}", self.limit)?;
        for one in accounts.iter() {
            writeln!(
                w,
                "{}: held {} given {} returned {}",
                one.function, one.held, one.given, one.returned
            )?;
        }
        Ok(())
    }
}
