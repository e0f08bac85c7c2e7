// SPDX-License-Identifier: GPL-2.0

//! Capabilities of the function: what it can do, and what it was told to do of that.
//!
//! A command or event is used only after its capability was read (CMD-6); who finds one missing
//! says which.

use crate::{
    kernel_ext::debugfs::Dir,
    prm::{
        bits::Bits,
        caps::{
            Atomic,
            CapMode,
            CapType,
            Eswitch,
            General,
            General2,
            QueryHcaCap,
            QueryHcaCapIn,
            SetHcaCap,
            SetHcaCapIn,
            PAGE_SIZE, //
        },
        dump,
        layout::Layout, //
    },
};
use kernel::{
    new_mutex,
    prelude::*,
    sync::{
        Arc,
        Mutex, //
    }, //
};
use zerocopy::FromBytes;

use super::{
    registers::Registers,
    Error,
    Queue, //
};

/// Value of cmdif_checksum that switches signatures of mailboxes on.
const CHECKSUM_ON: u8 = 3;

/// One page of capabilities, as the device gave it.
struct Page {
    current: KVec<u8>,
    maximum: KVec<u8>,
}

impl Page {
    fn query(queue: &Queue<'_>, kind: CapType) -> Result<Self, Error> {
        Ok(Self {
            current: query(queue, kind, CapMode::Current)?,
            maximum: query(queue, kind, CapMode::Maximum)?,
        })
    }
}

/// The capabilities of a function, read once in a run.
pub(crate) struct Caps {
    general: Page,
    general_2: Option<Page>,
    atomic: Option<Page>,
    eswitch: Option<Page>,
    registers: Registers,
}

/// The capabilities that are shown: those that were read last.
#[pin_data]
pub(crate) struct Shown {
    #[pin]
    caps: Mutex<Arc<Caps>>,
}

impl Shown {
    /// Shows `caps`.
    pub(crate) fn new(caps: Arc<Caps>) -> impl PinInit<Self> {
        pin_init!(Self {
            caps <- new_mutex!(caps),
        })
    }

    /// Shows `caps` from now on.
    pub(crate) fn replace(&self, caps: Arc<Caps>) {
        let old = core::mem::replace(&mut *self.caps.lock(), caps);
        drop(old);
    }

    /// What is shown now.
    pub(crate) fn get(&self) -> Arc<Caps> {
        self.caps.lock().clone()
    }

    /// Makes a file for each page in `dir`.
    pub(crate) fn files(self: &Arc<Self>, dir: &Dir) -> Result {
        fn show<L: Layout>(w: &mut dyn core::fmt::Write, page: Option<&Page>) -> Result {
            match page {
                Some(page) => Ok(dump::write_pair(w, L::TABLE, &page.current, &page.maximum)?),
                None => Ok(()),
            }
        }

        let caps = self.get();
        Registers::files(self, dir)?;
        dir.read_file(c"general", self.clone(), |shown, w| {
            show::<General>(w, Some(&shown.get().general))
        })?;
        if caps.general_2.is_some() {
            dir.read_file(c"general_2", self.clone(), |shown, w| {
                show::<General2>(w, shown.get().general_2.as_ref())
            })?;
        }
        if caps.atomic.is_some() {
            dir.read_file(c"atomic", self.clone(), |shown, w| {
                show::<Atomic>(w, shown.get().atomic.as_ref())
            })?;
        }
        if caps.eswitch.is_some() {
            dir.read_file(c"eswitch", self.clone(), |shown, w| {
                show::<Eswitch>(w, shown.get().eswitch.as_ref())
            })?;
        }
        Ok(())
    }
}

/// A view of a page as its layout.
///
/// The page is longer than any layout of it; should it ever not be, what is missing reads as zero,
/// which for a capability means "no".
fn view<L: Layout>(bytes: &[u8]) -> L {
    L::read_from_prefix(bytes).map_or_else(|_| L::new_zeroed(), |(value, _)| value)
}

impl Caps {
    /// Reads the pages that the general page says there are.
    ///
    /// # Errors
    ///
    /// Those of the commands.
    pub(crate) fn read(queue: &Queue<'_>) -> Result<Self> {
        let general = Page::query(queue, CapType::GENERAL)?;
        let flags: General = view(&general.current);
        let page = |has: bool, kind| {
            if !has {
                return Ok(None);
            }
            // Some firmware says that it has a page and refuses it all the same: go on without.
            match Page::query(queue, kind) {
                Ok(page) => Ok(Some(page)),
                Err(error) if error.refused().is_some() => Ok(None),
                Err(error) => Err(error),
            }
        };

        Ok(Self {
            general_2: page(flags.hca_cap_2(), CapType::GENERAL_2)?,
            atomic: page(flags.atomic(), CapType::ATOMIC)?,
            eswitch: page(flags.eswitch_manager(), CapType::ESWITCH)?,
            registers: Registers::read(queue, &flags)?,
            general,
        })
    }

    /// The general page, current values.
    pub(crate) fn general(&self) -> General {
        view(&self.general.current)
    }

    /// The e-switch page, current values; only an e-switch manager has it.
    pub(crate) fn eswitch(&self) -> Option<Eswitch> {
        self.eswitch.as_ref().map(|page| view(&page.current))
    }

    /// Which registers the device has.
    pub(super) fn registers(&self) -> &Registers {
        &self.registers
    }
}

fn query(queue: &Queue<'_>, kind: CapType, mode: CapMode) -> Result<KVec<u8>, Error> {
    let op_mod = kind.op_mod(mode);
    let mut page = KVec::from_elem(0, PAGE_SIZE, GFP_KERNEL)
        .map_err(|_| Error::no_memory::<QueryHcaCap>(op_mod))?;

    queue.exec_with::<QueryHcaCap>(op_mod, QueryHcaCapIn::new(), &[], &mut page)?;
    Ok(page)
}

/// Chooses the general capabilities: what the device offers, with what this module needs changed.
///
/// - cmdif_checksum: off, or on if `checksum` and the device can; then outputs are verified.
/// - log_uar_page_sz: UAR pages of 4 KiB.
///
/// # Errors
///
/// Those of the commands. If the device refuses, the log says what was asked for, and what the
/// device has now and could have.
pub(crate) fn choose(queue: &Queue<'_>, checksum: bool) -> Result {
    let maximum: General = view(&query(queue, CapType::GENERAL, CapMode::Maximum)?);
    let mut page = query(queue, CapType::GENERAL, CapMode::Current)?;
    let before: General = view(&page);

    let wanted = if checksum { CHECKSUM_ON } else { 0 };
    let wanted = wanted.min(maximum.cmdif_checksum());
    let Ok((general, _)) = General::mut_from_prefix(&mut page) else {
        return Err(EINVAL);
    };
    general
        .set_cmdif_checksum(Bits::low(u64::from(wanted)))
        .set_log_uar_page_sz(0u16);

    queue
        .exec_with::<SetHcaCap>(
            CapType::GENERAL.op_mod(CapMode::Maximum),
            SetHcaCapIn::new(),
            &page,
            &mut [],
        )
        .inspect_err(|_| {
            dev_err!(
                queue.scope().dev(),
                "the device refuses its general capabilities with cmdif_checksum={wanted} \
                 (it has {}, at most {}) and log_uar_page_sz=0 (it has {}, at most {})\n",
                before.cmdif_checksum(),
                maximum.cmdif_checksum(),
                before.log_uar_page_sz(),
                maximum.log_uar_page_sz()
            );
        })?;

    if checksum && wanted != CHECKSUM_ON {
        dev_warn!(
            queue.scope().dev(),
            "parameter checksum is set, but the device cannot sign mailboxes: cmdif_checksum is at \
             most {}, expected {CHECKSUM_ON}\n",
            maximum.cmdif_checksum()
        );
    }
    queue.set_signatures(wanted == CHECKSUM_ON);
    Ok(())
}
