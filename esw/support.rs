// SPDX-License-Identifier: GPL-2.0

//! Whether QUERY_ESW_FUNCTIONS and its event may be used, and if not, why.
//!
//! Sources place the capability differently: the kernel's header in the e-switch page, as
//! esw_functions_changed, newer manuals in the general page, as host_net_functions_changed. The
//! kernel's driver looks at neither, and takes embedded_cpu of the init segment for it. Each place
//! that the device has is looked at. Besides, the function has to be the e-switch's manager.

use core::fmt;

use crate::{
    cmd::message::CAPACITY,
    prm::{
        caps::{
            Eswitch,
            General, //
        },
        esw::{
            NetworkFunctionParams,
            QueryEswFunctionsMod,
            QueryEswFunctionsOut,
            SfEnable, //
        },
        iseg,
        layout::{
            Field,
            Kind,
            Layout,
            Table, //
        },
    },
};

/// What the device says about itself in this matter.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Facts {
    /// `esw_functions_changed` of the e-switch page; [`None`] if the device has no such page.
    pub esw_functions_changed: Option<bool>,
    /// `host_net_functions_changed` of the general page.
    pub host_net_functions_changed: bool,
    /// `embedded_cpu` of the init segment.
    pub embedded_cpu: bool,
    /// `eswitch_manager` of the general page.
    pub eswitch_manager: bool,
    /// `query_host_net_function_v1` of the general page.
    pub v1: bool,
    /// `query_host_net_function_num_max` of the general page.
    pub max_functions: u8,
    /// `log_max_esw_sf` of the e-switch page.
    pub log_max_esw_sf: u8,
    /// `esw_sf_base_id` of the e-switch page.
    pub esw_sf_base_id: u16,
}

impl Facts {
    /// Takes them out of where they stand.
    pub fn of(general: &General, eswitch: Option<&Eswitch>, state: &iseg::State) -> Self {
        Self {
            esw_functions_changed: eswitch.map(Eswitch::esw_functions_changed),
            host_net_functions_changed: general.host_net_functions_changed(),
            embedded_cpu: state.embedded_cpu(),
            eswitch_manager: general.eswitch_manager(),
            v1: general.query_host_net_function_v1(),
            max_functions: general.query_host_net_function_num_max(),
            log_max_esw_sf: eswitch.map_or(0, Eswitch::log_max_esw_sf),
            esw_sf_base_id: eswitch.map_or(0, Eswitch::esw_sf_base_id),
        }
    }

    /// Whether command and event may be used.
    pub fn supported(&self) -> bool {
        self.announced() && self.eswitch_manager
    }

    /// Which layout the output has.
    pub fn op_mod(&self) -> QueryEswFunctionsMod {
        if self.v1 {
            QueryEswFunctionsMod::V1
        } else {
            QueryEswFunctionsMod::LEGACY
        }
    }

    /// Whether the list of enabled SFs takes a query of its own, in the legacy layout.
    pub fn needs_list(&self) -> bool {
        self.v1 && self.log_max_esw_sf > 0
    }

    /// Bytes of output to ask for; at most what a command can have, enough for 64 functions.
    pub fn output_length(&self) -> usize {
        if !self.v1 {
            return self.list_length();
        }
        usize::from(self.max_functions.max(1))
            .saturating_mul(NetworkFunctionParams::TABLE.size)
            .saturating_add(QueryEswFunctionsOut::CONTEXT)
            .clamp(QueryEswFunctionsOut::MIN_LENGTH, CAPACITY)
    }

    /// Bytes of output to ask for in the legacy layout.
    ///
    /// Whether the list of enabled SFs has a bit or a word for each is not certain: there is room
    /// for the longer of the two, as far as a command can have it.
    pub fn list_length(&self) -> usize {
        let sfs = match self.log_max_esw_sf {
            0 => 0,
            log => 1usize.checked_shl(u32::from(log)).unwrap_or(usize::MAX),
        };

        sfs.saturating_mul(SfEnable::TABLE.size)
            .saturating_add(QueryEswFunctionsOut::SF_ENABLE)
            .min(CAPACITY)
    }

    /// Prints each fact with its place, and the verdict.
    pub fn write(&self, w: &mut dyn fmt::Write) -> fmt::Result {
        write!(w, "supported: {}", u8::from(self.supported()))?;
        if !self.supported() {
            w.write_str(" (")?;
            self.write_reason(w)?;
            w.write_char(')')?;
        }
        writeln!(w)?;
        let place = |w: &mut dyn fmt::Write, (table, title): (&Table, &str), name, value: u64| {
            write!(w, "{name}: {value:#x} ({title}")?;
            write_place(w, table, name)?;
            writeln!(w, ")")
        };
        let general = (General::TABLE, "general capabilities");
        let eswitch = (Eswitch::TABLE, "e-switch capabilities");
        let segment = (iseg::State::TABLE, "init segment");

        match self.esw_functions_changed {
            Some(value) => place(w, eswitch, "esw_functions_changed", value.into())?,
            None => writeln!(
                w,
                "esw_functions_changed: 0x0 (the function has no e-switch capabilities)"
            )?,
        }
        place(
            w,
            general,
            "host_net_functions_changed",
            self.host_net_functions_changed.into(),
        )?;
        place(w, segment, "embedded_cpu", self.embedded_cpu.into())?;
        place(w, general, "eswitch_manager", self.eswitch_manager.into())?;
        place(w, general, "query_host_net_function_v1", self.v1.into())?;
        place(
            w,
            general,
            "query_host_net_function_num_max",
            self.max_functions.into(),
        )?;
        place(w, eswitch, "log_max_esw_sf", self.log_max_esw_sf.into())?;
        place(w, eswitch, "esw_sf_base_id", self.esw_sf_base_id.into())
    }

    /// Prints what is missing; nothing if nothing is.
    pub fn write_reason(&self, w: &mut dyn fmt::Write) -> fmt::Result {
        if !self.announced() {
            w.write_str("esw_functions_changed=0 and embedded_cpu=0")?;
        }
        if !self.eswitch_manager {
            if !self.announced() {
                w.write_str(", and ")?;
            }
            w.write_str("eswitch_manager=0")?;
        }
        Ok(())
    }

    /// Whether any of the places says that there is such a command.
    fn announced(&self) -> bool {
        self.esw_functions_changed == Some(true)
            || self.host_net_functions_changed
            || self.embedded_cpu
    }
}

/// Prints where a field stands.
fn write_place(w: &mut dyn fmt::Write, table: &Table, name: &str) -> fmt::Result {
    match table.fields.iter().find(|field| field.name() == name) {
        Some(Field {
            offset,
            kind: Kind::Bits { hi, lo },
            ..
        }) => {
            let offset = table.base.saturating_add(*offset);
            if hi == lo {
                write!(w, ", {offset:#05x} [{hi}]")
            } else {
                write!(w, ", {offset:#05x} [{hi}:{lo}]")
            }
        }
        _ => Ok(()),
    }
}
