// SPDX-License-Identifier: GPL-2.0

//! Command-line options.

use std::time::Duration;

use crate::device::Device;
use crate::faults::number;
use crate::variants;

/// What `--help` prints.
const USAGE: &str = "\
usage: hca --socket PATH --variant NAME [options]

  --socket PATH        vfio-user socket for QEMU's vfio-user-pci
  --variant NAME       which card to be; `--variant help` lists them
  --control PATH       control socket
  --conformance PATH   file for the conformance log
  --log PATH           file for the command log
  --exceptions NAME    driver whose named exceptions are not violations, such as mlx5_core
  --boot-pages N       pages that QUERY_PAGES boot asks for
  --init-pages N       pages that QUERY_PAGES init asks for
  --initializing MS    time after reset during which `initializing` is set
  --latency US         time from doorbell to completion
  --cap NAME=VALUE     capability, such as cmd_hca_cap.log_max_eq=4
  --help               this text
";

/// Options after parsing.
#[derive(Debug, Default, Clone, PartialEq, Eq)]
pub struct Options {
    pub socket: String,
    pub control: Option<String>,
    pub variant: String,
    pub conformance: Option<String>,
    pub log: Option<String>,
    pub exceptions: String,
    settings: Vec<(String, String)>,
}

/// Parses arguments; None if only a text was asked for.
///
/// # Errors
///
/// What is missing or not understood.
pub fn parse(mut args: impl Iterator<Item = String>) -> Result<Option<Options>, String> {
    let mut o = Options::default();
    while let Some(arg) = args.next() {
        if arg == "--help" || arg == "-h" {
            print!("{USAGE}");
            return Ok(None);
        }
        let mut value = || args.next().ok_or_else(|| format!("{arg} needs a value"));
        match arg.as_str() {
            "--socket" => o.socket = value()?,
            "--control" => o.control = Some(value()?),
            "--variant" => o.variant = value()?,
            "--conformance" => o.conformance = Some(value()?),
            "--log" => o.log = Some(value()?),
            "--exceptions" => o.exceptions = value()?,
            "--boot-pages" | "--init-pages" | "--initializing" | "--latency" | "--cap" => {
                let v = value()?;
                o.settings.push((arg, v));
            }
            _ => return Err(format!("`{arg}` is not understood; see --help")),
        }
    }
    if o.variant == "help" {
        println!("{}", variants::names().join("\n"));
        return Ok(None);
    }
    if o.socket.is_empty() || o.variant.is_empty() {
        return Err("--socket and --variant are needed; see --help".into());
    }
    Ok(Some(o))
}

impl Options {
    /// Applies the settings to a function that was not used yet.
    ///
    /// # Errors
    ///
    /// The setting that is not understood.
    pub fn apply(&self, d: &mut Device) -> Result<(), String> {
        for (name, value) in &self.settings {
            let at = |e: String| format!("{name}: {e}");
            match name.as_str() {
                "--boot-pages" => d.pages.boot = number(value).map_err(at)?,
                "--init-pages" => d.pages.init = number(value).map_err(at)?,
                "--initializing" => {
                    d.variant.iseg.initializing = Duration::from_millis(number(value).map_err(at)?);
                    d.iseg.initialize_for(d.variant.iseg.initializing);
                }
                "--latency" => d.cmdq.delay = Duration::from_micros(number(value).map_err(at)?),
                _ => {
                    let (cap, v) = value
                        .split_once('=')
                        .ok_or_else(|| at("needs NAME=VALUE".into()))?;
                    let v = number(v).map_err(at)?;
                    d.caps.define(cap, v, v).map_err(at)?;
                }
            }
        }
        d.pages.reset();
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn parsed(text: &str) -> Result<Option<Options>, String> {
        parse(text.split_whitespace().map(String::from))
    }

    #[test]
    fn arguments() {
        let o = parsed("--socket s --variant cx5 --log l --cap a=1")
            .unwrap()
            .unwrap();
        assert_eq!((o.socket.as_str(), o.variant.as_str()), ("s", "cx5"));
        assert_eq!(o.log.as_deref(), Some("l"));
        for bad in ["", "--socket", "--socket s", "--nonsense"] {
            assert!(parsed(bad).is_err(), "{bad}");
        }
    }
}
