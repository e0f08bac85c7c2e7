// SPDX-License-Identifier: GPL-2.0

//! Memory for firmware: 4 KiB pages that it asks for, keeps, and gives back.
//!
//! Firmware asks at boot and before INIT_HCA, and later by events, for itself and for other
//! functions. A page that it has may be written by the device at any time, so it is freed only when
//! firmware has given it back, or when the function cannot reach memory any more
//! ([`Pages::abandon`]).

use crate::{
    kernel_ext::{
        clock,
        dma::Page, //
    },
    prm::{
        layout::Layout,
        pages::{
            ManagePages,
            ManagePagesIn,
            ManagePagesMod,
            PageAddress,
            QueryPages,
            QueryPagesIn,
            QueryPagesMod,
            MAX_ENTRIES, //
        },
        timeout, //
    },
};
use kernel::{
    new_mutex,
    prelude::*,
    rbtree::RBTree,
    sync::{
        atomic::{
            Atomic,
            Relaxed, //
        },
        Arc,
        Mutex, //
    },
    time::{
        delay::fsleep,
        Delta, //
    }, //
};
use zerocopy::{
    FromBytes,
    IntoBytes, //
};

use super::{
    Cause,
    Queue, //
};

pub(crate) use super::accounts::{
    Accounts,
    Function, //
};

/// Pause before firmware that returned no page is asked again.
const ASK_AGAIN: Delta = Delta::from_millis(20);

/// A page that firmware has.
struct Held<'bound> {
    function: Function,
    _page: Page<'bound>,
}

/// All pages that firmware has.
#[pin_data]
pub(crate) struct Pages<'bound> {
    queue: Arc<Queue<'bound>>,
    own: Function,
    accounts: Arc<Accounts>,
    /// How long firmware may take to give pages back without giving one, in milliseconds.
    reclaim_ms: Atomic<u64>,
    /// The function is being stopped: a command that does not come back ends that.
    stopping: Atomic<bool>,
    #[pin]
    held: Mutex<RBTree<u64, Held<'bound>>>,
}

impl<'bound> Pages<'bound> {
    /// Starts with no page given; `accounts` goes on.
    pub(crate) fn new(
        queue: Arc<Queue<'bound>>,
        embedded_cpu: bool,
        accounts: Arc<Accounts>,
    ) -> impl PinInit<Self> + use<'bound> {
        pin_init!(Self {
            queue,
            own: Function {
                embedded_cpu,
                id: 0,
            },
            accounts,
            reclaim_ms: Atomic::new(timeout::default::RECLAIM_PAGES),
            stopping: Atomic::new(false),
            held <- new_mutex!(RBTree::new()),
        })
    }

    /// Sets the time that firmware may take to give pages back without giving one.
    pub(crate) fn set_reclaim_ms(&self, ms: u64) {
        self.reclaim_ms.store(ms, Relaxed);
    }

    /// Asks how many pages firmware wants at this point, and gives them.
    ///
    /// # Errors
    ///
    /// Those of the commands; [`EPROTO`] if firmware offers pages back that it never got; as for
    /// [`give`](Self::give).
    pub(crate) fn satisfy(&self, when: QueryPagesMod) -> Result {
        let mut input = QueryPagesIn::new();
        input.set_embedded_cpu_function(self.own.embedded_cpu);
        let answer = self.queue.exec::<QueryPages>(when.0, input)?;

        let function = Function {
            embedded_cpu: answer.embedded_cpu_function(),
            id: answer.function_id(),
        };
        match u32::try_from(answer.pages()) {
            Ok(0) => Ok(()),
            Ok(wanted) => self.give(function, wanted),
            Err(_) => {
                dev_err!(
                    self.queue.scope().dev(),
                    "firmware asks for {} {} pages for {function}: expected a number from 0\n",
                    answer.pages(),
                    when.name().unwrap_or("unknown")
                );
                Err(EPROTO)
            }
        }
    }

    /// Gives `count` pages to a function.
    ///
    /// If it cannot be done, firmware is told so.
    ///
    /// # Errors
    ///
    /// [`ENOSPC`] if firmware would have more pages than the limit, [`ENOMEM`] without memory;
    /// those of the command.
    pub(crate) fn give(&self, function: Function, count: u32) -> Result {
        let held = self.accounts.held();
        let result = if held.saturating_add(u64::from(count)) > self.accounts.limit() {
            dev_err!(
                self.queue.scope().dev(),
                "firmware asks for {count} pages for {function} and has {held} already: the limit \
                 is {} (parameter max_pages)\n",
                self.accounts.limit()
            );
            Err(ENOSPC)
        } else {
            self.accounts
                .open(function)
                .and_then(|()| self.give_batches(function, count))
        };

        if result.is_err() {
            // A refusal is in the log already, and firmware that does not take it has been asked.
            let _ = self.queue.exec_pages::<ManagePages>(
                ManagePagesMod::CANNOT_GIVE.0,
                manage(function, 0),
                &[],
                &mut [],
            );
        }
        result
    }

    /// Notes in the log that requests came faster than they could be served.
    pub(crate) fn report_lost_requests(&self, count: u64) {
        dev_err!(
            self.queue.scope().dev(),
            "{count} page requests of firmware were lost: too many at once\n"
        );
    }

    fn give_batches(&self, function: Function, count: u32) -> Result {
        let mut left = usize::try_from(count).map_err(|_| EINVAL)?;

        while left > 0 {
            let batch = left.min(MAX_ENTRIES);
            self.give_batch(function, batch)?;
            left -= batch;
        }
        Ok(())
    }

    fn give_batch(&self, function: Function, count: usize) -> Result {
        let mut addresses = KVec::with_capacity(count * PageAddress::TABLE.size, GFP_KERNEL)?;
        let mut keys = KVec::with_capacity(count, GFP_KERNEL)?;
        let mut failed = Ok(());

        for _ in 0..count {
            match self.hold_new(function) {
                Ok(address) => {
                    addresses.extend_from_slice(PageAddress::of(address).as_bytes(), GFP_KERNEL)?;
                    keys.push(address, GFP_KERNEL)?;
                }
                Err(error) => {
                    failed = Err(error);
                    break;
                }
            }
        }
        if let Err(error) = failed {
            self.forget(&keys);
            return Err(error);
        }

        // CAST: At most 768.
        let input = manage(function, count as u32);
        match self.queue.exec_pages::<ManagePages>(
            ManagePagesMod::GIVE.0,
            input,
            &addresses,
            &mut [],
        ) {
            Ok(_) => {
                self.accounts.book(function, count as u64, 0);
                Ok(())
            }
            Err(error) => {
                // Pages that firmware has refused are ours again. After any other failure it may
                // have taken them.
                if matches!(error.cause, Cause::Refused { .. } | Cause::NotDelivered(_)) {
                    self.forget(&keys);
                } else {
                    self.accounts.book(function, count as u64, 0);
                }
                Err(error.into())
            }
        }
    }

    /// Allocates a page and keeps it under its address.
    fn hold_new(&self, function: Function) -> Result<u64> {
        let page = Page::new(self.queue.scope())?;
        let address = page.dma_address();
        let held = Held {
            function,
            _page: page,
        };

        self.held
            .lock()
            .try_create_and_insert(address, held, GFP_KERNEL)?;
        Ok(address)
    }

    fn forget(&self, addresses: &[u64]) {
        for address in addresses {
            let page = self.held.lock().remove(address);
            drop(page);
        }
    }

    /// Asks a function to return up to `count` pages, in one command; how many it has returned.
    ///
    /// # Errors
    ///
    /// Those of the command; [`EBADMSG`] if firmware returns more than was asked for.
    pub(crate) fn take(&self, function: Function, count: usize) -> Result<usize> {
        let count = count.min(MAX_ENTRIES);
        let mut addresses = KVec::from_elem(0u8, count * PageAddress::TABLE.size, GFP_KERNEL)?;

        // CAST: At most 768.
        let input = manage(function, count as u32);
        let output = self
            .queue
            .exec_pages::<ManagePages>(ManagePagesMod::RETURN.0, input, &[], &mut addresses)
            .inspect_err(|error| {
                if self.stopping.load(Relaxed) {
                    self.queue.note_silence(error);
                }
            })?;

        let returned = usize::try_from(output.output_num_entries()).unwrap_or(usize::MAX);
        if returned > count {
            dev_err!(
                self.queue.scope().dev(),
                "firmware returns {returned} pages of {function}: it was asked for {count}\n"
            );
            return Err(EBADMSG);
        }

        let mut known = 0;
        for address in addresses
            .chunks_exact(PageAddress::TABLE.size)
            .take(returned)
        {
            let address = PageAddress::read_from_bytes(address)
                .map_err(|_| EBADMSG)?
                .address();
            let page = self.held.lock().remove(&address);
            match page {
                Some(page) => {
                    known += 1;
                    self.accounts.book(page.function, 0, 1);
                }
                None => dev_err!(
                    self.queue.scope().dev(),
                    "firmware returns the page at {address:#x} of {function}, which it does not \
                     have\n"
                ),
            }
        }
        Ok(known)
    }

    /// Takes all pages of all functions back.
    ///
    /// Gives up on a function that returns none for a time that the device may set; what is left
    /// then is freed by [`abandon`](Self::abandon).
    pub(crate) fn reclaim(&self) {
        self.stopping.store(true, Relaxed);
        for index in 0.. {
            let Some((function, held)) = self.accounts.function(index) else {
                return;
            };
            if !self.queue.state().is_alive() {
                return;
            }
            // What failed, and for which function, is in the log already; the next one may do
            // better.
            let _ = self.reclaim_from(function, held);
        }
    }

    fn reclaim_from(&self, function: Function, mut held: u64) -> Result {
        let mut progress = clock::monotonic_ms();
        let limit = self.reclaim_ms.load(Relaxed);

        while held > 0 {
            let asked = usize::try_from(held).unwrap_or(usize::MAX);
            let taken = self.take(function, asked)?;
            held = held.saturating_sub(taken as u64);

            let now = clock::monotonic_ms();
            if taken > 0 {
                progress = now;
                continue;
            }
            if now.saturating_sub(progress) > limit {
                dev_err!(
                    self.queue.scope().dev(),
                    "firmware keeps {held} pages of {function}: it has returned none for \
                     {limit} ms\n"
                );
                return Err(ETIMEDOUT);
            }
            // There is no event for "a page is free now".
            fsleep(ASK_AGAIN);
        }
        Ok(())
    }

    /// Forgets the pages of a function that firmware says is gone.
    ///
    /// # Errors
    ///
    /// [`ENOMEM`] without memory.
    pub(crate) fn release_all(&self, function: Function) -> Result<u64> {
        let mut addresses = KVec::new();
        for (address, held) in self.held.lock().iter() {
            if held.function == function {
                addresses.push(*address, GFP_KERNEL)?;
            }
        }

        self.forget(&addresses);
        let count = addresses.len() as u64;
        self.accounts.book(function, 0, count);
        Ok(count)
    }

    /// Frees what firmware has not given back.
    ///
    /// The function must not be able to write to memory any more: bus mastering is off.
    pub(crate) fn abandon(&self) {
        let left = self.accounts.held();

        if left > 0 {
            dev_warn!(
                self.queue.scope().dev(),
                "{left} pages were not returned by firmware; they are freed now that the function \
                 cannot reach memory\n"
            );
        }
        let pages = core::mem::replace(&mut *self.held.lock(), RBTree::new());
        drop(pages);
        self.accounts.close();
    }
}

fn manage(function: Function, entries: u32) -> ManagePagesIn {
    *ManagePagesIn::new()
        .set_embedded_cpu_function(function.embedded_cpu)
        .set_function_id(function.id)
        .set_input_num_entries(entries)
}
