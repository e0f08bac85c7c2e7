// SPDX-License-Identifier: GPL-2.0

//! User access regions: pages of BAR 0 with doorbells.

use crate::{
    cmd::Queue,
    prm::{
        bits::Bits,
        uar::{
            AllocUar,
            AllocUarIn,
            DeallocUar,
            DeallocUarIn, //
        },
    },
};
use kernel::{
    prelude::*,
    sync::Arc, //
};

/// A UAR; DEALLOC_UAR when dropped.
pub(crate) struct Uar<'bound> {
    queue: Arc<Queue<'bound>>,
    number: u32,
}

impl<'bound> Uar<'bound> {
    /// Takes a UAR.
    ///
    /// # Errors
    ///
    /// Those of the command; [`EPROTO`] if the device names one that BAR 0 does not reach.
    pub(crate) fn new(queue: &Arc<Queue<'bound>>) -> Result<Self> {
        let number = queue.exec::<AllocUar>(0, AllocUarIn::new())?.uar();
        let uar = Self {
            queue: queue.clone(),
            number,
        };

        if !queue.init_segment().has_uar(number) {
            dev_err!(
                queue.scope().dev(),
                "the device gives UAR {number:#x}, which lies beyond the end of BAR 0\n"
            );
            return Err(EPROTO);
        }
        Ok(uar)
    }

    /// Number of the region, which is that of its page in BAR 0.
    pub(crate) fn number(&self) -> u32 {
        self.number
    }

    /// Writes a doorbell in the region.
    ///
    /// # Errors
    ///
    /// [`EINVAL`] if `offset` is not that of a word in BAR 0.
    pub(crate) fn write(&self, offset: usize, value: u32) -> Result {
        self.queue
            .init_segment()
            .write_uar(self.number, offset, value)
    }
}

impl Drop for Uar<'_> {
    fn drop(&mut self) {
        let mut input = DeallocUarIn::new();
        input.set_uar(Bits::low(u64::from(self.number)));
        // A failure is in the log already, and there is nothing else to try.
        let _ = self.queue.undo::<DeallocUar>(0, input);
    }
}
