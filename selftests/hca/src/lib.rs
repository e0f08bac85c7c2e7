// SPDX-License-Identifier: GPL-2.0

//! `hca`: a strict device model of a ConnectX adapter, served over vfio-user.
//!
//! See README.md beside this crate for options, control requests and rules.

mod access_reg;
mod bits;
mod caps;
mod cmdq;
mod command;
mod config_space;
mod conformance;
#[cfg(test)]
mod conformance_tests;
mod control;
mod counters;
mod device;
mod eq;
mod esw;
mod event_faults;
mod faults;
#[cfg(test)]
mod faults_tests;
#[cfg(feature = "fuzz")]
pub mod fuzz;
#[cfg(any(test, feature = "fuzz"))]
#[cfg_attr(not(test), allow(dead_code, reason = "fuzzing needs but a part of it"))]
mod harness;
mod health;
mod ifc;
mod irq;
mod iseg;
mod later;
mod log;
mod memory;
mod mmio;
mod net;
mod objects;
mod options;
mod pages;
mod pci;
mod reset;
mod rules;
mod stamps;
mod variants;
mod vfio;
mod vpd;

use std::path::Path;
use std::process::ExitCode;

use conformance::Conformance;
use device::{
    Device,
    Shared, //
};
use log::CommandLog;
use options::Options;

/// The program: serves a device as the command line says, and ends.
pub fn run() -> ExitCode {
    match options::parse(std::env::args().skip(1)).and_then(|o| match o {
        Some(options) => serve(&options),
        None => Ok(()),
    }) {
        Ok(()) => ExitCode::SUCCESS,
        Err(reason) => {
            eprintln!("hca: {reason}");
            ExitCode::FAILURE
        }
    }
}

/// Serves one vfio-user client until it has gone.
fn serve(o: &Options) -> Result<(), String> {
    let variant = variants::load(&o.variant)?;
    let file = |what: &str, path: Option<&str>, e: std::io::Error| {
        format!("cannot create the {what} {}: {e}", path.unwrap_or(""))
    };
    let conformance = Conformance::new(o.conformance.as_deref(), &o.exceptions)
        .map_err(|e| file("conformance log", o.conformance.as_deref(), e))?;
    let log =
        CommandLog::new(o.log.as_deref()).map_err(|e| file("command log", o.log.as_deref(), e))?;
    let mut device = Device::new(variant, conformance, log);
    o.apply(&mut device)?;
    let shared = Shared::new(device);

    let firmware = shared.clone();
    std::thread::spawn(move || firmware.firmware_thread());
    if let Some(path) = &o.control {
        let path = Path::new(path);
        // A socket left behind by an earlier run is in the way.
        let _ = std::fs::remove_file(path);
        control::serve(path, shared.clone())
            .map_err(|e| format!("cannot listen at {}: {e}", path.display()))?;
    }
    let socket = Path::new(&o.socket);
    let _ = std::fs::remove_file(socket);
    let mut backend = vfio::Backend::new(shared.clone());
    let server = vfio_user::Server::new(socket, true, backend.irqs(), backend.regions())
        .map_err(|e| format!("cannot listen at {}: {e}", socket.display()))?;
    let served = server.run(&mut backend);
    shared.lock().log.flush();
    if let Some(path) = &o.control {
        let _ = std::fs::remove_file(path);
    }
    served.map_err(|e| format!("the vfio-user connection failed: {e}"))
}
