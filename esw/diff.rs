// SPDX-License-Identifier: GPL-2.0

//! What changed from one snapshot to the next.

use core::fmt;

use super::snapshot::{
    Function,
    Runs,
    Snapshot, //
};
use crate::prm::esw::{
    PfType,
    VhcaState, //
};

/// A change.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Change {
    /// A host's PF has appeared.
    Appeared,
    /// A host's PF has gone.
    Vanished,
    /// The PF was disabled: every vport of its host counts as disabled.
    PfDisabled,
    /// The PF was enabled.
    PfEnabled,
    /// The number of enabled VFs.
    Vfs {
        /// Before.
        from: u16,
        /// Now.
        to: u16,
    },
    /// The number of VFs that can be enabled.
    TotalVfs {
        /// Before.
        from: u16,
        /// Now.
        to: u16,
    },
    /// The PF's PCI address.
    Moved {
        /// Bus, device and function now.
        to: (Option<u16>, u16, u16),
    },
    /// The PF's number in the device.
    VhcaId {
        /// Before, if it was valid.
        from: Option<u16>,
        /// Now, if it is valid.
        to: Option<u16>,
    },
    /// The PF's state in the device.
    VhcaState {
        /// Now.
        to: VhcaState,
    },
    /// A run of SFs was enabled.
    SfsOn {
        /// Index of the first.
        first: u32,
        /// Index of the last.
        last: u32,
    },
    /// A run of SFs was disabled.
    SfsOff {
        /// Index of the first.
        first: u32,
        /// Index of the last.
        last: u32,
    },
}

impl Change {
    /// Whether the number of VFs changed without being zero in between.
    ///
    /// A host's PF cannot do that: it disables its VFs before it enables another number of them.
    /// Either the snapshot with zero was never taken, or the host side does what it must not.
    pub fn skips_zero(&self) -> bool {
        matches!(self, Change::Vfs { from, to } if *from != 0 && *to != 0)
    }
}

/// Whose change it is.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Subject {
    /// A PF of the host of that number.
    Host {
        /// Number of the host.
        number: u8,
        /// Whose PF it is.
        kind: PfType,
    },
    /// The switch itself.
    Switch,
}

/// Calls `each` for every change from `old` to `new`; without an old one, for all that is there.
pub fn compare(
    old: Option<&Snapshot<'_>>,
    new: &Snapshot<'_>,
    each: &mut dyn FnMut(Subject, Change),
) {
    let same_layout = old.filter(|old| old.is_v1() == new.is_v1());
    let before = || old.into_iter().flat_map(|old| old.functions());
    // Devices and functions tell the PFs of a host apart where there can be several.
    let by_address = new.is_v1() && same_layout.is_some();
    let same = |a: &Function, b: &Function| {
        (a.kind, a.host_number) == (b.kind, b.host_number)
            && (!by_address || (a.device, a.function) == (b.device, b.function))
    };

    for function in before().filter(|function| !function.pf_not_exist) {
        let still = |now: &Function| same(&function, now) && !now.pf_not_exist;
        if !new.functions().any(|now| still(&now)) {
            each(subject(&function), Change::Vanished);
        }
    }
    for function in new.functions().filter(|function| !function.pf_not_exist) {
        let was = before().find(|was| same(was, &function) && !was.pf_not_exist);
        compare_function(was.as_ref(), &function, each);
    }
    compare_sfs(old, new, each);
}

fn subject(function: &Function) -> Subject {
    Subject::Host {
        number: function.host_number,
        kind: function.kind,
    }
}

fn compare_function(old: Option<&Function>, new: &Function, each: &mut dyn FnMut(Subject, Change)) {
    let mut each = |change| each(subject(new), change);

    let Some(old) = old else {
        each(Change::Appeared);
        if new.pf_disabled {
            each(Change::PfDisabled);
        }
        if new.num_of_vfs != 0 {
            each(Change::Vfs {
                from: 0,
                to: new.num_of_vfs,
            });
        }
        return;
    };

    match (old.pf_disabled, new.pf_disabled) {
        (false, true) => each(Change::PfDisabled),
        (true, false) => each(Change::PfEnabled),
        _ => (),
    }
    if old.num_of_vfs != new.num_of_vfs {
        each(Change::Vfs {
            from: old.num_of_vfs,
            to: new.num_of_vfs,
        });
    }
    if old.total_vfs != new.total_vfs {
        each(Change::TotalVfs {
            from: old.total_vfs,
            to: new.total_vfs,
        });
    }
    let address = |function: &Function| (function.bus, function.device, function.function);
    if address(old) != address(new) {
        each(Change::Moved { to: address(new) });
    }
    if old.vhca_id != new.vhca_id {
        each(Change::VhcaId {
            from: old.vhca_id,
            to: new.vhca_id,
        });
    }
    if let Some(to) = new.vhca_state.filter(|_| old.vhca_state != new.vhca_state) {
        each(Change::VhcaState { to });
    }
}

fn compare_sfs(
    old: Option<&Snapshot<'_>>,
    new: &Snapshot<'_>,
    each: &mut dyn FnMut(Subject, Change),
) {
    // Without a list nothing is known about SFs, also not that they are off.
    if !new.has_list() || old.is_some_and(|old| !old.has_list()) {
        return;
    }
    let before = |index| old.map_or(0, |old| old.sf_word(index));
    let now = |index| new.sf_word(index);
    let count = old
        .map_or(0, |old| old.sf_words().count())
        .max(new.sf_words().count());

    for run in Runs::new(count, |index| now(index) & !before(index)) {
        let (first, last) = run.into_inner();
        each(Subject::Switch, Change::SfsOn { first, last });
    }
    for run in Runs::new(count, |index| before(index) & !now(index)) {
        let (first, last) = run.into_inner();
        each(Subject::Switch, Change::SfsOff { first, last });
    }
}

/// Prints whose change it is.
impl fmt::Display for Subject {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Subject::Host {
                number,
                kind: PfType::EXTERNAL_HOST,
            } => write!(f, "host {number}"),
            Subject::Host { number, kind } => write!(
                f,
                "host {number} ({})",
                kind.name().unwrap_or("PF of an unknown type")
            ),
            Subject::Switch => f.write_str("switch"),
        }
    }
}

/// Prints the change in words.
impl fmt::Display for Change {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match *self {
            Change::Appeared => f.write_str("PF appeared"),
            Change::Vanished => f.write_str("PF gone"),
            Change::PfDisabled => f.write_str("PF disabled, and every vport of the host with it"),
            Change::PfEnabled => f.write_str("PF enabled"),
            Change::Vfs { from, to } => {
                write!(f, "VFs {from} -> {to}")?;
                if self.skips_zero() {
                    f.write_str(" (not through 0: a change in between was not seen)")?;
                }
                Ok(())
            }
            Change::TotalVfs { from, to } => write!(f, "total VFs {from} -> {to}"),
            Change::Moved { to } => {
                f.write_str("PCI address is now ")?;
                write_address(f, to)
            }
            Change::VhcaId { from, to } => {
                f.write_str("vhca_id ")?;
                for (text, id) in [("", from), (" -> ", to)] {
                    f.write_str(text)?;
                    match id {
                        Some(id) => write!(f, "{id:#06x}")?,
                        None => f.write_str("not valid")?,
                    }
                }
                Ok(())
            }
            Change::VhcaState { to } => write!(
                f,
                "vhca_state is now {} ({})",
                to.0,
                to.name().unwrap_or("unknown")
            ),
            Change::SfsOn { first, last } => write_sfs(f, first, last, "on"),
            Change::SfsOff { first, last } => write_sfs(f, first, last, "off"),
        }
    }
}

/// Prints a PCI address as tools do, with `??` for a bus that is not assigned.
pub fn write_address(
    w: &mut dyn fmt::Write,
    (bus, device, function): (Option<u16>, u16, u16),
) -> fmt::Result {
    match bus {
        Some(bus) => write!(w, "{bus:02x}")?,
        None => w.write_str("??")?,
    }
    write!(w, ":{device:02x}.{function:x}")
}

fn write_sfs(f: &mut fmt::Formatter<'_>, first: u32, last: u32, what: &str) -> fmt::Result {
    if first == last {
        write!(f, "SF {first} {what}")
    } else {
        write!(f, "SFs {first}-{last} {what}")
    }
}
