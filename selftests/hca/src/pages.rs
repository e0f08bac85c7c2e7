// SPDX-License-Identifier: GPL-2.0

//! Pages that functions gave to the device, and how many it still wants.

use std::collections::{
    BTreeMap,
    BTreeSet, //
};

/// A function as page commands name it.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub struct Function {
    pub embedded_cpu: bool,
    pub id: u16,
}

/// Page accounts of all functions.
#[derive(Debug, Clone)]
pub struct Pages {
    /// Pages asked for by QUERY_PAGES boot.
    pub boot: u32,
    /// Pages asked for by QUERY_PAGES init.
    pub init: u32,
    /// Most pages that one MANAGE_PAGES gives back; 0 is no limit.
    pub give_back_limit: u32,
    held: BTreeMap<Function, BTreeSet<u64>>,
    /// Run-time requests not yet answered: above zero wanted, below zero to be taken back.
    open: BTreeMap<Function, i64>,
    /// Boot and init pages not yet given.
    boot_missing: u32,
    init_missing: u32,
}

impl Pages {
    /// Accounts of a function that was just reset.
    pub fn new(boot: u32, init: u32, give_back_limit: u32) -> Pages {
        Pages {
            boot,
            init,
            give_back_limit,
            held: BTreeMap::new(),
            open: BTreeMap::new(),
            boot_missing: boot,
            init_missing: init,
        }
    }

    /// The same settings, nothing held.
    pub fn reset(&mut self) {
        *self = Pages::new(self.boot, self.init, self.give_back_limit);
    }

    /// After TEARDOWN_HCA the init pages have to be given again.
    pub fn teardown(&mut self) {
        self.open.clear();
    }

    /// Boot pages that are still missing.
    pub fn boot_missing(&self) -> u32 {
        self.boot_missing
    }

    /// Init pages that are still missing.
    pub fn init_missing(&self) -> u32 {
        self.init_missing
    }

    /// The open run-time request of a function.
    pub fn open(&self, f: Function) -> i64 {
        self.open.get(&f).copied().unwrap_or(0)
    }

    /// Opens a run-time request.
    pub fn request(&mut self, f: Function, pages: i64) {
        let open = self.open.entry(f).or_insert(0);
        *open = open.saturating_add(pages);
    }

    /// The driver cannot give what was asked for.
    pub fn refuse(&mut self, f: Function) {
        self.open.remove(&f);
    }

    /// The function is gone: none of its pages is used any more.
    pub fn release(&mut self, f: Function) {
        self.held.remove(&f);
        self.open.remove(&f);
    }

    /// Whether any function holds the page at this address.
    pub fn holds(&self, page: u64) -> bool {
        self.held.values().any(|s| s.contains(&page))
    }

    /// A page in the range that any function holds.
    pub fn any_in(&self, address: u64, size: u64) -> Option<u64> {
        let range = address..address.saturating_add(size);
        self.held
            .values()
            .find_map(|s| s.range(range.clone()).next().copied())
    }

    /// The first pages of all functions, at most so many.
    pub fn first(&self, n: usize) -> Vec<u64> {
        self.held.values().flatten().copied().take(n).collect()
    }

    /// Number of pages of a function.
    pub fn count(&self, f: Function) -> usize {
        self.held.get(&f).map_or(0, BTreeSet::len)
    }

    /// Number of pages of all functions.
    pub fn total(&self) -> usize {
        self.held.values().map(BTreeSet::len).sum()
    }

    /// Takes a page into the account. Returns false if nobody asked for it.
    pub fn give(&mut self, f: Function, page: u64) -> bool {
        self.held.entry(f).or_default().insert(page);
        if self.boot_missing > 0 {
            self.boot_missing -= 1;
        } else if let Some(open) = self.open.get_mut(&f).filter(|o| **o > 0) {
            *open -= 1;
        } else if self.init_missing > 0 {
            self.init_missing -= 1;
        } else {
            return false;
        }
        true
    }

    /// Gives pages back, at most `asked`. While the function runs only what the device itself
    /// wanted to get rid of.
    pub fn take(&mut self, f: Function, asked: u32, running: bool) -> Vec<u64> {
        let mut n = asked as usize;
        if running {
            let surplus = self.open.get(&f).map_or(0, |o| o.min(&0).unsigned_abs());
            n = n.min(usize::try_from(surplus).unwrap_or(usize::MAX));
        }
        if self.give_back_limit > 0 {
            n = n.min(self.give_back_limit as usize);
        }
        let set = self.held.entry(f).or_default();
        let pages: Vec<u64> = set.iter().rev().take(n).copied().collect();
        for p in &pages {
            set.remove(p);
        }
        if running {
            if let Some(open) = self.open.get_mut(&f) {
                *open = open.saturating_add(pages.len() as i64).min(0);
            }
        }
        pages
    }

    /// One line a function.
    pub fn show(&self) -> Vec<String> {
        let mut lines = vec![
            format!("boot: {} missing {}", self.boot, self.boot_missing),
            format!("init: {} missing {}", self.init, self.init_missing),
            format!("total: {}", self.total()),
        ];
        let mut functions: BTreeSet<Function> = self.held.keys().copied().collect();
        functions.extend(self.open.keys());
        for f in functions {
            lines.push(format!(
                "function: {} embedded_cpu {} held {} open {}",
                f.id,
                u8::from(f.embedded_cpu),
                self.count(f),
                self.open(f)
            ));
        }
        lines
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const F: Function = Function {
        embedded_cpu: false,
        id: 0,
    };

    #[test]
    fn accounts() {
        let mut p = Pages::new(2, 3, 0);
        for page in 1..=5 {
            assert!(p.give(F, page << 12));
        }
        assert!(!p.give(F, 6 << 12));
        assert_eq!((p.boot_missing(), p.init_missing(), p.total()), (0, 0, 6));
        assert!(p.holds(0x1000) && !p.holds(0x7000));
        assert!(p.take(F, 4, true).is_empty());
        p.request(F, -2);
        assert_eq!(p.take(F, 4, true).len(), 2);
        assert_eq!(p.open(F), 0);
        p.give_back_limit = 3;
        assert_eq!(p.take(F, 100, false).len(), 3);
        assert_eq!(p.take(F, 100, false).len(), 1);
        assert_eq!(p.total(), 0);
    }
}
