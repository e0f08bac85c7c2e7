// SPDX-License-Identifier: GPL-2.0

//! Fuzzing of all that takes apart what a device, or a guest, has written.
//!
//! The parts of the module that only compute come from the crate of the host tests, the model from
//! its own. A target is a function that takes bytes, and panics when a promise is broken: see
//! [`targets`]. All of them are in one program; the environment variable FUZZ_TARGET says which one
//! runs, or `list`, which prints their names. tools/fuzz builds the program with coverage, and runs
//! it.

#![no_main]

mod input;
mod naive;
mod targets;

use input::Input;
use std::sync::OnceLock;
use targets::Target;

static TARGET: OnceLock<Target> = OnceLock::new();

libfuzzer_sys::fuzz_target!(
    init: choose(),
    |data: &[u8]| {
        if let Some(target) = TARGET.get() {
            (target.run)(&mut Input::new(data));
        }
    }
);

/// Takes the target that the environment names; ends the program if there is none of that name.
fn choose() {
    let wanted = std::env::var("FUZZ_TARGET").unwrap_or_default();
    if wanted == "list" {
        for target in targets::ALL {
            println!("{}", target.name);
        }
        std::process::exit(0);
    }
    match targets::ALL
        .iter()
        .chain([&targets::PLANTED])
        .find(|target| target.name == wanted)
    {
        Some(target) => {
            let _ = TARGET.set(*target);
        }
        None => {
            eprintln!("FUZZ_TARGET='{wanted}' is no target; FUZZ_TARGET=list prints them");
            std::process::exit(2);
        }
    }
}
