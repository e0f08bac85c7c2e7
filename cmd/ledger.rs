// SPDX-License-Identifier: GPL-2.0

//! Bookkeeping of pages, by function.
//!
//! The numbers come from the device: none of them makes a sum overflow, or a function hold less
//! than nothing. Nothing here knows the kernel: the file is compiled a second time for tests on the
//! host.

use core::fmt;

/// A function that pages are for.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub struct Function {
    /// Whether it is an embedded CPU's.
    pub embedded_cpu: bool,
    /// Its number; 0 is the function that is driven.
    pub id: u16,
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

/// Pages of one function.
#[derive(Clone, Copy)]
pub struct Account {
    /// Whose pages they are.
    pub function: Function,
    /// Pages that it has now.
    pub held: u64,
    given: u64,
    returned: u64,
}

impl Account {
    /// An account of a function without pages.
    pub const fn new(function: Function) -> Self {
        Self {
            function,
            held: 0,
            given: 0,
            returned: 0,
        }
    }
}

/// Pages that all functions have.
pub fn held(accounts: &[Account]) -> u64 {
    accounts
        .iter()
        .fold(0, |sum: u64, one| sum.saturating_add(one.held))
}

/// Books pages given to, and returned by, a function that has an account.
pub fn book(accounts: &mut [Account], function: Function, given: u64, returned: u64) {
    if let Some(one) = accounts.iter_mut().find(|one| one.function == function) {
        one.given = one.given.saturating_add(given);
        one.returned = one.returned.saturating_add(returned);
        one.held = one.held.saturating_add(given).saturating_sub(returned);
    }
}

/// Books all pages as returned.
pub fn close(accounts: &mut [Account]) {
    for one in accounts {
        one.returned = one.returned.saturating_add(one.held);
        one.held = 0;
    }
}

/// Prints totals and a line for each function.
pub fn write(w: &mut dyn fmt::Write, accounts: &[Account], limit: u64) -> fmt::Result {
    writeln!(w, "held: {}", held(accounts))?;
    writeln!(w, "limit: {limit}")?;
    for one in accounts {
        writeln!(
            w,
            "{}: held {} given {} returned {}",
            one.function, one.held, one.given, one.returned
        )?;
    }
    Ok(())
}
