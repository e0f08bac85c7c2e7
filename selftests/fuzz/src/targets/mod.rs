// SPDX-License-Identifier: GPL-2.0

//! The targets: one for each decoder, renderer and state machine that is fed by a device, or by a
//! guest.
//!
//! What a target checks is more than that nothing panics: that a value reads back as it was
//! written, that a dump loses no bit, that a state machine does what a naive one does.

mod accounts;
mod card;
mod codes;
mod command;
mod dump;
mod esw;
mod event;
mod findings;
mod health;
mod layout;
mod planted;
mod records;
mod slots;

use crate::input::Input;

/// A target.
#[derive(Clone, Copy)]
pub struct Target {
    /// Name, and that of its folder in corpus/.
    pub name: &'static str,
    /// What it does with the bytes of a run.
    pub run: fn(&mut Input<'_>),
}

macro_rules! targets {
    ($($name:ident = $run:path,)*) => {
        /// All targets.
        pub const ALL: &[Target] = &[$(Target {
            name: stringify!($name),
            run: $run,
        },)*];
    };
}

targets! {
    bits = layout::bits,
    dump = dump::whole,
    dump_pair = dump::pair,
    codes = codes::run,
    entry = command::entry,
    mailbox = command::mailbox,
    message = command::message,
    slots = slots::run,
    accounts = accounts::run,
    event = event::run,
    event_ring = event::ring,
    records = records::ring,
    date = records::date,
    degradations = health::degradations,
    health_buffer = health::buffer,
    health_machine = health::machine,
    leftover = findings::leftover,
    sensors = findings::sensors,
    status = findings::status,
    esw_snapshot = esw::snapshot_run,
    esw_diff = esw::diff,
    esw_support = esw::support,
    model_commands = card::commands,
    model_control = card::control,
}

/// A target with mistakes in it, which fuzzing has to find.
pub const PLANTED: Target = Target {
    name: "planted",
    run: planted::run,
};

/// What a printing function has printed; it does not fail, as the place for it does not.
fn print(what: impl FnOnce(&mut dyn std::fmt::Write) -> std::fmt::Result) -> String {
    let mut text = String::new();
    what(&mut text).expect("nothing fails in printing to memory");
    text
}

/// Checks that a text is lines of `name: value`, and gives the value of a name.
fn value<'a>(text: &'a str, name: &str) -> &'a str {
    text.lines()
        .filter_map(|line| line.split_once(": "))
        .find(|(this, _)| *this == name)
        .unwrap_or_else(|| panic!("no line {name} in {text}"))
        .1
}
