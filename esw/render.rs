// SPDX-License-Identifier: GPL-2.0

//! A snapshot in words, and as a dump to hold against the manual.

use core::fmt;

use super::{
    diff::{
        write_address,
        Change,
        Subject, //
    },
    snapshot::{
        Function,
        Snapshot, //
    }, //
};
use crate::{
    kernel_ext::date,
    prm::{
        dump,
        esw::{
            HostParamsContext,
            NetworkFunctionParams,
            PfType,
            QueryEswFunctionsOut,
            SfEnable, //
        },
        layout::Layout, //
    }, //
};

/// Prints a snapshot, a value a line; each function begins with a line `function`.
pub fn snapshot(w: &mut dyn fmt::Write, snapshot: &Snapshot<'_>) -> fmt::Result {
    let op_mod = snapshot.op_mod();

    writeln!(
        w,
        "layout: {} (op_mod {:#06x})",
        op_mod.name().unwrap_or("unknown"),
        op_mod.0
    )?;
    if snapshot.is_v1() {
        let shown = snapshot.functions().count();
        write!(w, "net_function_num: {}", snapshot.announced())?;
        if shown < snapshot.announced() {
            write!(w, " (only {shown} were asked for, and are shown)")?;
        }
        writeln!(w)?;
    }
    if !snapshot.has_host() {
        writeln!(
            w,
            "external_host: 0 (no external host PF: counts as disabled)"
        )?;
    }
    for (i, function) in snapshot.functions().enumerate() {
        write_function(w, i, &function)?;
    }
    write_sfs(w, snapshot)
}

fn write_function(w: &mut dyn fmt::Write, index: usize, function: &Function) -> fmt::Result {
    writeln!(
        w,
        "function: {index} ({})",
        function.kind.name().unwrap_or("PF of an unknown type")
    )?;
    writeln!(w, "host_number: {}", function.host_number)?;
    writeln!(w, "host_pf_not_exist: {}", u8::from(function.pf_not_exist))?;
    write!(w, "host_pf_disabled: {}", u8::from(function.pf_disabled))?;
    match function.vhca_state {
        Some(state) => writeln!(
            w,
            " (vhca_state {}: {})",
            state.0,
            state.name().unwrap_or("unknown")
        )?,
        None => writeln!(w)?,
    }
    writeln!(w, "host_num_of_vfs: {}", function.num_of_vfs)?;
    writeln!(w, "host_total_vfs: {}", function.total_vfs)?;
    match function.bus {
        Some(bus) => writeln!(w, "host_pci_bus: {bus:#04x}")?,
        None => writeln!(w, "host_pci_bus: not assigned")?,
    }
    writeln!(w, "host_pci_device: {:#04x}", function.device)?;
    writeln!(w, "host_pci_function: {:#x}", function.function)?;
    w.write_str("host_pci_address: ")?;
    write_address(w, (function.bus, function.device, function.function))?;
    writeln!(w)?;
    match function.vhca_id {
        Some(id) => writeln!(w, "host_pf_vhca_id: {id:#06x}")?,
        None => writeln!(w, "host_pf_vhca_id: not valid")?,
    }
    if let Some((offset, stride)) = function.vf_offset_and_stride {
        writeln!(w, "host_pci_first_vf_offset: {offset}")?;
        writeln!(w, "host_pci_vf_stride: {stride}")?;
    }
    write!(w, "effective_vfs: {}", function.effective_vfs())?;
    if function.pf_not_exist {
        w.write_str(" (host_pf_not_exist=1: there is no host PF)")?;
    } else if function.pf_disabled {
        w.write_str(" (host_pf_disabled=1: every external host vport counts as disabled)")?;
    }
    writeln!(w)
}

fn write_sfs(w: &mut dyn fmt::Write, snapshot: &Snapshot<'_>) -> fmt::Result {
    if !snapshot.has_list() {
        return writeln!(w, "sf_enable: not known (there is no output with the list)");
    }
    w.write_str("sf_enable:")?;
    for run in snapshot.sfs() {
        let (first, last) = run.into_inner();
        if first == last {
            write!(w, " {first}")?;
        } else {
            write!(w, " {first}-{last}")?;
        }
    }
    if snapshot.sf_words().all(|word| word == 0) {
        return writeln!(w, " none");
    }
    writeln!(
        w,
        "\nsf_enable_order: SF i is bit i mod 64, from the least significant, of word i / 64 (no \
         source confirms the order; the words that are not zero follow)"
    )?;
    for (i, word) in snapshot
        .sf_words()
        .enumerate()
        .filter(|(_, word)| *word != 0)
    {
        writeln!(w, "sf_enable[{i}]: {word:#018x}")?;
    }
    Ok(())
}

/// Prints the output as the manual's tables: offset, bits, name, value.
pub fn layout(w: &mut dyn fmt::Write, snapshot: &Snapshot<'_>) -> fmt::Result {
    let output = snapshot.output();
    let head = output
        .get(..QueryEswFunctionsOut::TABLE.size)
        .unwrap_or(output);
    dump::write(w, QueryEswFunctionsOut::TABLE, 0, head)?;

    let table = if snapshot.is_v1() {
        NetworkFunctionParams::TABLE
    } else {
        HostParamsContext::TABLE
    };
    for (i, context) in snapshot.contexts().enumerate() {
        let base = QueryEswFunctionsOut::CONTEXT.saturating_add(i.saturating_mul(table.size));
        dump::write(w, table, base, context)?;
    }
    if let Some(other) = snapshot.other_output() {
        writeln!(
            w,
            "# the list of SFs is of another output, with op_mod 0x0000"
        )?;
        let head = other
            .get(..QueryEswFunctionsOut::TABLE.size)
            .unwrap_or(other);
        dump::write(w, QueryEswFunctionsOut::TABLE, 0, head)?;
    }

    // A list of some hundred words, nearly all zero, would hide those that are not.
    for (i, word) in snapshot
        .sf_words()
        .enumerate()
        .filter(|(_, word)| *word != 0)
    {
        let base =
            QueryEswFunctionsOut::SF_ENABLE.saturating_add(i.saturating_mul(SfEnable::TABLE.size));
        dump::write(w, SfEnable::TABLE, base, &word.to_be_bytes())?;
    }
    Ok(())
}

/// A change with its circumstances, for the history.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Entry {
    /// When the snapshot that shows it was taken, in microseconds of the monotonic clock.
    pub at_us: u64,
    /// The same in seconds since 1970.
    pub wall: i64,
    /// Events that had come by then.
    pub events: u64,
    /// Whose change it is.
    pub subject: Subject,
    /// The change.
    pub change: Change,
}

impl Entry {
    /// Fills the places of a history before there is anything.
    pub const EMPTY: Self = Self {
        at_us: 0,
        wall: 0,
        events: 0,
        subject: Subject::Switch,
        change: Change::Appeared,
    };
}

/// Prints an entry of the history with its number, as one line.
pub fn line(w: &mut dyn fmt::Write, number: u64, entry: &Entry) -> fmt::Result {
    write!(w, "{number} {} ", entry.at_us)?;
    date::write(w, u64::try_from(entry.wall).unwrap_or(0))?;
    writeln!(
        w,
        " events={} {}: {}",
        entry.events, entry.subject, entry.change
    )
}

/// Prints the hosts and their VFs in one line, for a summary.
pub fn brief(w: &mut dyn fmt::Write, snapshot: &Snapshot<'_>) -> fmt::Result {
    let mut first = true;

    for function in snapshot.functions() {
        if !first {
            w.write_str("; ")?;
        }
        first = false;
        write!(w, "host {}", function.host_number)?;
        if function.kind != PfType::EXTERNAL_HOST {
            write!(w, " ({})", function.kind.name().unwrap_or("unknown type"))?;
        }
        if function.pf_not_exist {
            w.write_str(" has no PF")?;
        } else {
            let state = if function.pf_disabled {
                "disabled"
            } else {
                "enabled"
            };
            write!(
                w,
                " PF {state}, {} of {} VFs",
                function.effective_vfs(),
                function.total_vfs
            )?;
        }
    }
    if first {
        w.write_str("no host")?;
    }
    let sfs: u64 = snapshot
        .sf_words()
        .map(|word| u64::from(word.count_ones()))
        .fold(0, u64::saturating_add);
    if snapshot.has_list() {
        write!(w, ", {sfs} SFs")?;
    }
    Ok(())
}
