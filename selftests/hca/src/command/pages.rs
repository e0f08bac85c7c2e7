// SPDX-License-Identifier: GPL-2.0

//! Pages: QUERY_PAGES and MANAGE_PAGES.

use super::{
    general,
    status,
    Call,
    Outcome,
    Refusal,
    Spec, //
};
use crate::device::Stage;
use crate::ifc::fields::*;
use crate::ifc::{
    opcode,
    Field, //
};
use crate::pages::Function;
use crate::rules::Rule;

pub const COMMANDS: &[Spec] = &[
    Spec::new(
        opcode::QUERY_PAGES,
        "query_pages_in",
        "query_pages_out",
        query,
    )
    .from(Stage::Enabled)
    .op_mods(&[BOOT, INIT, REGULAR]),
    Spec::new(
        opcode::MANAGE_PAGES,
        "manage_pages_in",
        "manage_pages_out",
        manage,
    )
    .from(Stage::Enabled)
    .op_mods(&[CANNOT_GIVE, GIVE, TAKE]),
];

/// QUERY_PAGES op_mod. Source: `MLX5_QUERY_PAGES_IN_OP_MOD_*` of the kernel's header.
const BOOT: u16 = 1;
const INIT: u16 = 2;
const REGULAR: u16 = 3;

/// MANAGE_PAGES op_mod. Source: `MLX5_PAGES_*` of mlx5_core's `pagealloc.c`.
const CANNOT_GIVE: u16 = 0;
const GIVE: u16 = 1;
const TAKE: u16 = 2;

/// The device's page size, whatever the host's.
const PAGE: u64 = 4096;

fn function(call: &mut Call<'_>, ec: Field, id: Field) -> Result<Function, Refusal> {
    let f = Function {
        embedded_cpu: call.flag(ec),
        id: call.get(id) as u16,
    };
    let own = general::own_function(call);
    let manages = call.device.caps.get("cmd_hca_cap.vport_group_manager") != 0;
    if f != own && !manages {
        let text = format!(
            "function {} embedded_cpu {} is neither this one nor managed by it",
            f.id, f.embedded_cpu
        );
        return Err(call.refuse(status::BAD_PARAM, Rule::Value, text));
    }
    Ok(f)
}

fn query(call: &mut Call<'_>) -> Outcome {
    let f = function(
        call,
        query_pages_in::EMBEDDED_CPU_FUNCTION,
        query_pages_in::FUNCTION_ID,
    )?;
    let pages = &call.device.pages;
    let n = match call.op_mod {
        BOOT => i64::from(pages.boot_missing()),
        INIT => i64::from(pages.init_missing()),
        _ => pages.open(f),
    };
    if call.op_mod == INIT && pages.boot_missing() > 0 {
        let text = "init pages are asked for before the boot pages were given";
        call.note(Rule::Order, text);
    }
    call.set(query_pages_out::EMBEDDED_CPU_FUNCTION, f.embedded_cpu);
    call.set(query_pages_out::FUNCTION_ID, f.id);
    let n = n.clamp(i64::from(i32::MIN), i64::from(i32::MAX)) as i32;
    call.set(query_pages_out::NUM_PAGES, n as u32);
    Ok(())
}

fn manage(call: &mut Call<'_>) -> Outcome {
    let f = function(
        call,
        manage_pages_in::EMBEDDED_CPU_FUNCTION,
        manage_pages_in::FUNCTION_ID,
    )?;
    let n = call.get32(manage_pages_in::INPUT_NUM_ENTRIES);
    match call.op_mod {
        GIVE => give(call, f, n),
        TAKE => take(call, f, n),
        _ if n != 0 => {
            let text = format!("cannot give, with {n} entries");
            Err(call.refuse(status::BAD_PARAM, Rule::Value, text))
        }
        _ => {
            call.device.pages.refuse(f);
            Ok(())
        }
    }
}

fn give(call: &mut Call<'_>, f: Function, n: u32) -> Outcome {
    let bytes = call.tail(manage_pages_in::PAS);
    if n == 0 || (n as usize).saturating_mul(8) != bytes.len() {
        let text = format!("{n} entries in {} bytes", bytes.len());
        return Err(call.refuse(status::BAD_INPUT_LENGTH, Rule::InputLength, text));
    }
    let addresses: Vec<u64> = (0..n)
        .map(|i| call.get(manage_pages_in::PAS.index(i)))
        .collect();
    // Nothing is taken if one of them is wrong.
    for (i, &page) in addresses.iter().enumerate() {
        let problem = if page == 0 || page % PAGE != 0 {
            Some((Rule::PageAddress, "is not a page".to_string()))
        } else if let Err(fault) = call.device.memory.check(page, PAGE, true) {
            Some((Rule::PageAddress, fault.to_string()))
        } else if call.device.pages.holds(page) {
            Some((Rule::PageTwice, "is held already".to_string()))
        } else {
            None
        };
        if let Some((rule, what)) = problem {
            let text = format!("entry {i}, address {page:#x}: {what}");
            return Err(call.refuse(status::BAD_PARAM, rule, text));
        }
    }
    let mut seen = addresses.clone();
    seen.sort_unstable();
    if let Some(w) = seen.windows(2).find(|w| w[0] == w[1]) {
        let text = format!("address {:#x} stands twice in one command", w[0]);
        return Err(call.refuse(status::BAD_PARAM, Rule::PageTwice, text));
    }
    let mut excess = 0;
    for page in addresses {
        if !call.device.pages.give(f, page) {
            excess += 1;
        }
    }
    if excess > 0 {
        call.note(
            Rule::PagesExcess,
            format!("{excess} of {n} pages were not asked for"),
        );
    }
    Ok(())
}

fn take(call: &mut Call<'_>, f: Function, n: u32) -> Outcome {
    if call.input.len() > manage_pages_in::BYTES {
        call.note(
            Rule::InputLength,
            "taking pages needs no addresses in the input",
        );
    }
    let room = call.output.len().saturating_sub(manage_pages_out::BYTES) / 8;
    if room < n as usize {
        let text = format!("room for {room} addresses, {n} are asked for");
        return Err(call.refuse(status::BAD_OUTPUT_LENGTH, Rule::OutputLength, text));
    }
    let running = call.device.stage == Stage::Initialized;
    let held = call.device.pages.count(f);
    if !running && n as usize > held {
        // Harmless: a driver asks for full batches until nothing is left.
        let text = format!("{n} pages asked for, the function holds {held}");
        if held == 0 {
            call.note(Rule::PagesTake, text);
        }
    }
    let pages = call.device.pages.take(f, n, running);
    call.set(manage_pages_out::OUTPUT_NUM_ENTRIES, pages.len() as u64);
    for (i, page) in (0u32..).zip(&pages) {
        call.set(manage_pages_out::PAS.index(i), *page);
    }
    Ok(())
}
