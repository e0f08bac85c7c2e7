// SPDX-License-Identifier: GPL-2.0

//! The init segment: the registers at the start of BAR 0, and the doorbell pages behind them.

use crate::{
    kernel_ext::{
        mmio::BeBar,
        scope::Scope, //
    },
    prm::{
        iseg,
        layout::Layout, //
    },
};
use kernel::{
    io::poll::read_poll_timeout,
    prelude::*,
    time::Delta, //
};

/// Bytes of BAR 0 that every function has: the init segment with its real-time clock.
const SIZE: usize = 0x4010;

/// Size of a UAR page in BAR 0, in bytes.
const UAR_SIZE: usize = 4096;

/// BAR 0 of a function.
///
/// Words are big-endian there; a register is read and written as the layout of that part of the
/// init segment, so that the offset cannot be mistaken.
pub(crate) struct InitSegment<'bound> {
    bar: BeBar<'bound, SIZE>,
}

impl<'bound> InitSegment<'bound> {
    /// Maps BAR 0.
    ///
    /// # Errors
    ///
    /// Those of mapping a BAR: none there, too small, or claimed by somebody else.
    pub(crate) fn map(scope: Scope<'bound>) -> Result<Self> {
        Ok(Self {
            bar: BeBar::map(scope, 0, c"mlx5_prm_rs")?,
        })
    }

    /// Reads a part of the init segment.
    pub(crate) fn read<L: Layout>(&self) -> L {
        const { assert!(L::TABLE.base + L::TABLE.size <= SIZE) };
        self.read_from(L::TABLE.base, 0)
    }

    /// Reads a layout that lies at `offset` of the BAR, from its byte `from` on, word by word.
    ///
    /// The bytes before are zero; words that lie outside of the BAR are all ones, which is also
    /// what a device that does not answer gives.
    pub(crate) fn read_from<L: Layout>(&self, offset: usize, from: usize) -> L {
        let mut value = L::new_zeroed();
        let words = value.as_mut_bytes().chunks_exact_mut(4).enumerate();

        for (i, word) in words.skip(from / 4) {
            let read = self
                .bar
                .try_read_be32(offset.saturating_add(i * 4))
                .unwrap_or(u32::MAX);
            word.copy_from_slice(&read.to_be_bytes());
        }

        value
    }

    /// Writes a part of the init segment, lowest offset first.
    pub(crate) fn write<L: Layout>(&self, value: &L) -> Result {
        const { assert!(L::TABLE.base + L::TABLE.size <= SIZE) };

        for (i, word) in value.as_bytes().chunks_exact(4).enumerate() {
            if let Some(word) = word.first_chunk::<4>() {
                self.bar
                    .try_write_be32(L::TABLE.base + i * 4, u32::from_be_bytes(*word))?;
            }
        }
        Ok(())
    }

    /// Writes the word at `offset` of the init segment.
    ///
    /// # Errors
    ///
    /// [`EINVAL`] if BAR 0 has no such word.
    pub(crate) fn write_word(&self, offset: usize, value: u32) -> Result {
        self.bar.try_write_be32(offset, value)
    }

    /// Rings the doorbell of the command queue for the slots whose bits are set.
    #[inline]
    pub(crate) fn ring_doorbell(&self, slots: u32) {
        self.bar.write_be32(iseg::Doorbell::OFFSET, slots);
    }

    /// Writes a word at `offset` of UAR page `uar`.
    ///
    /// # Errors
    ///
    /// [`EINVAL`] if BAR 0 has no such page: the number came from the device.
    pub(crate) fn write_uar(&self, uar: u32, offset: usize, value: u32) -> Result {
        usize::try_from(uar)
            .ok()
            .and_then(|page| page.checked_mul(UAR_SIZE))
            .and_then(|page| page.checked_add(offset))
            .ok_or(EINVAL)
            .and_then(|at| self.bar.try_write_be32(at, value))
    }

    /// Whether BAR 0 has UAR page `uar`.
    pub(crate) fn has_uar(&self, uar: u32) -> bool {
        usize::try_from(uar)
            .ok()
            .and_then(|page| page.checked_add(1))
            .and_then(|pages| pages.checked_mul(UAR_SIZE))
            .is_some_and(|end| end <= self.bar.size())
    }

    /// Waits until firmware has started, at most as long as `limit`, or until `canceled` fails.
    ///
    /// # Errors
    ///
    /// [`ENODEV`] if reads are all ones, [`ETIMEDOUT`] if firmware is still initializing then; that
    /// of `canceled`.
    pub(crate) fn wait_until_initialized(
        &self,
        limit: Delta,
        canceled: &dyn Fn() -> Result,
    ) -> Result {
        let is_gone = |state: &iseg::State| state.as_bytes() == [0xff; 4];

        let state = read_poll_timeout(
            || {
                canceled()?;
                Ok(self.read::<iseg::State>())
            },
            |state| !state.initializing() || is_gone(state),
            Delta::from_millis(2),
            limit,
        )?;

        if is_gone(&state) {
            return Err(ENODEV);
        }
        Ok(())
    }
}
