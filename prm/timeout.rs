// SPDX-License-Identifier: GPL-2.0

//! Default timeouts: how long firmware may take, as it says itself.
//!
//! Two words of the init segment and the register DTOR have them in one form. A value of zero
//! means that firmware says nothing; [`default`] has what mlx5_core then takes.

use crate::{
    codes,
    layout, //
};

layout! {
    /// A timeout: a number and its unit.
    pub struct DefaultTimeout: plain "default_timeout", 0x4 {
        0x00 [31:29] to_multiplier: RO, "Unit of the value.", names(Multiplier::name_of);
        0x00 [19:0] to_value: RO, "Number of units; 0: none given.";
    }

    /// Register DTOR: timeouts of firmware's own.
    pub struct Dtor: plain "dtor_reg", 0x40 {
        0x04 [DefaultTimeout] pcie_toggle_to: RO, "Until the PCI link is back after a toggle.";
        0x14 [DefaultTimeout] health_poll_to: RO, "From one look at the counter to the next.";
        0x18 [DefaultTimeout] full_crdump_to: RO, "A dump of the whole CR space.";
        0x1c [DefaultTimeout] fw_reset_to: RO, "A reset of firmware.";
        0x20 [DefaultTimeout] flush_on_err_to: RO, "Until queues in error are empty.";
        0x24 [DefaultTimeout] pci_sync_update_to: RO, "A step of a synchronized firmware reset.";
        0x28 [DefaultTimeout] tear_down_to: RO, "TEARDOWN_HCA.";
        0x2c [DefaultTimeout] fsm_reactivate_to: RO, "Until firmware's update can go on.";
        0x30 [DefaultTimeout] reclaim_pages_to: RO, "Until firmware gives pages back.";
        0x34 [DefaultTimeout] reclaim_vfs_pages_to: RO, "The same for pages of VFs.";
        0x38 [DefaultTimeout] reset_unload_to: RO, "Until drivers have unloaded for a reset.";
    }
}

codes! {
    /// Units of a default timeout.
    pub struct Multiplier(u8) {
        MILLISECONDS = 0 "ms",
        SECONDS = 1 "s",
        MINUTES = 2 "min",
        HOURS = 3 "h",
    }
}

impl DefaultTimeout {
    /// The timeout in milliseconds; [`None`] if firmware gives none, or in a unit that is unknown.
    pub fn millis(&self) -> Option<u64> {
        let unit = match Multiplier(self.to_multiplier()) {
            Multiplier::MILLISECONDS => 1,
            Multiplier::SECONDS => 1000,
            Multiplier::MINUTES => 60 * 1000,
            Multiplier::HOURS => 60 * 60 * 1000,
            _ => return None,
        };

        match u64::from(self.to_value()) {
            0 => None,
            value => value.checked_mul(unit),
        }
    }
}

/// What holds where firmware gives no timeout, in milliseconds (mlx5_core lib/tout.c).
pub mod default {
    /// Until `initializing` is clear for the first time.
    pub const FW_PRE_INIT: u64 = 120_000;
    /// The same after a reset by error recovery.
    pub const FW_PRE_INIT_ON_RECOVERY: u64 = 7_200_000;
    /// Until `initializing` is clear after the command queue was set up.
    pub const FW_INIT: u64 = 2_000;
    /// Execution of a command.
    pub const CMD: u64 = 60_000;
    /// `pcie_toggle_to`.
    pub const PCI_TOGGLE: u64 = 2_000;
    /// `health_poll_to`.
    pub const HEALTH_POLL_INTERVAL: u64 = 2_000;
    /// `full_crdump_to`.
    pub const FULL_CRDUMP: u64 = 60_000;
    /// `fw_reset_to`.
    pub const FW_RESET: u64 = 60_000;
    /// `flush_on_err_to`.
    pub const FLUSH_ON_ERROR: u64 = 2_000;
    /// `pci_sync_update_to`.
    pub const PCI_SYNC_UPDATE: u64 = 5_000;
    /// `tear_down_to`.
    pub const TEARDOWN: u64 = 3_000;
    /// `fsm_reactivate_to`.
    pub const FSM_REACTIVATE: u64 = 5_000;
    /// `reclaim_pages_to`.
    pub const RECLAIM_PAGES: u64 = 5_000;
    /// `reclaim_vfs_pages_to`.
    pub const RECLAIM_VFS_PAGES: u64 = 120_000;
    /// `reset_unload_to`.
    pub const RESET_UNLOAD: u64 = 300_000;
}
