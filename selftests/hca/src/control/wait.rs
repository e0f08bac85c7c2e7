// SPDX-License-Identifier: GPL-2.0

//! `wait`: requests that end when something has happened, so that tests need no sleep.

use std::time::Duration;

use super::requests::Answer;
use crate::device::{
    Device,
    Shared,
    Stage, //
};
use crate::faults::{
    number,
    opcode_named, //
};

/// Time limit if none is given, in milliseconds.
const DEFAULT_MS: u64 = 10_000;

/// Runs `wait ...`.
pub fn run(shared: &Shared, words: &[&str]) -> Answer {
    let (what, rest) = words.split_first().ok_or("wait for what? see `help`")?;
    // What is waited for is counted from the last `counters clear`.
    let counter: Option<fn(&Device) -> u64> = match *what {
        "commands" => Some(|d| d.counters.commands),
        "completions" => Some(|d| d.counters.completions),
        "events" => Some(|d| d.counters.events),
        "interrupts" => Some(|d| d.counters.interrupts),
        "inflight" => Some(|d| d.cmdq.in_flight() as u64),
        "held" => Some(|d| d.cmdq.held() as u64),
        _ => None,
    };
    let done = match (counter, *what, rest) {
        (Some(get), _, [n, more @ ..]) => {
            let n: u64 = number(n)?;
            let ms = limit(more)?;
            shared.wait(ms, |d| get(d) >= n)
        }
        (None, "idle", more) => {
            let ms = limit(more)?;
            shared.wait(ms, |d| d.cmdq.in_flight() == 0)
        }
        (None, "stage", [name, more @ ..]) => {
            let stage = match *name {
                "disabled" => Stage::Disabled,
                "enabled" => Stage::Enabled,
                "initialized" => Stage::Initialized,
                _ => return Err("stages are disabled, enabled, initialized".into()),
            };
            let ms = limit(more)?;
            shared.wait(ms, |d| d.stage == stage)
        }
        (None, "opcode", [name, more @ ..]) => {
            let code = opcode_named(name)?;
            let ms = limit(more)?;
            shared.wait(ms, |d| d.log.last(usize::MAX).any(|r| r.opcode == code))
        }
        _ => return Err("wait for what? see `help`".into()),
    };
    if done {
        Ok(Vec::new())
    } else {
        Err(format!(
            "`wait {}` did not come true in time",
            words.join(" ")
        ))
    }
}

fn limit(words: &[&str]) -> Result<Duration, String> {
    let ms = words.first().map_or(Ok(DEFAULT_MS), |t| number(t))?;
    Ok(Duration::from_millis(ms))
}
