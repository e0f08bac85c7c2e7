// SPDX-License-Identifier: GPL-2.0

//! The health buffer, the verdict, and its history in words.
//!
//! Lines are `name: value` with the manual's names. The same sentence stands in the log and in
//! debugfs.

use core::fmt;

use super::machine::{
    Machine,
    State,
    Transition,
    Trouble, //
};
use crate::{
    kernel_ext::date,
    prm::{
        health::{
            Buffer,
            Synd, //
        },
        iseg::NicInterface, //
    },
};

/// Seconds below this (September 2001) cannot be a date: the device was not told the time.
const FIRST_DATE: u64 = 1_000_000_000;

/// What a health buffer says by itself.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Verdict {
    /// The reading is all ones where that cannot be: the device did not answer.
    NoAnswer,
    /// There is no syndrome.
    Nothing,
    /// Firmware reports a failure and does not ask for a reset.
    Reported,
    /// Firmware reports a failure and asks for a reset.
    NeedsReset,
    /// Firmware reports a failure and asks for a cold reset.
    NeedsColdReset,
}

impl Verdict {
    /// Judges a health buffer.
    pub fn of(buffer: &Buffer) -> Self {
        if buffer.fw_version() == u32::MAX {
            Self::NoAnswer
        } else if buffer.synd() == 0 {
            Self::Nothing
        } else if buffer.crr() {
            Self::NeedsColdReset
        } else if buffer.rfr() {
            Self::NeedsReset
        } else {
            Self::Reported
        }
    }

    /// The verdict as a sentence.
    pub const fn sentence(self) -> &'static str {
        match self {
            Self::NoAnswer => "all ones: the device did not answer the reads",
            Self::Nothing => "no failure is reported (synd=0)",
            Self::Reported => "firmware reports a failure, and does not ask for a reset (rfr=0)",
            Self::NeedsReset => "firmware reports a failure and needs a reset (rfr=1)",
            Self::NeedsColdReset => {
                "firmware reports a failure and needs a cold reset (crr=1): switch the power off"
            }
        }
    }
}

/// Prints a health buffer, a field a line, with the verdict at the end.
pub fn buffer(w: &mut dyn fmt::Write, buffer: &Buffer) -> fmt::Result {
    let version = buffer.firmware();
    let severity = buffer.effective_severity();

    for (i, value) in buffer.assert_var().iter().enumerate() {
        writeln!(w, "assert_var[{i}]: {value:#010x}")?;
    }
    writeln!(w, "assert_exit_ptr: {:#010x}", buffer.assert_exit_ptr())?;
    writeln!(w, "assert_callra: {:#010x}", buffer.assert_callra())?;
    write!(w, "time: {} ", buffer.time())?;
    device_time(w, u64::from(buffer.time()))?;
    writeln!(w)?;
    writeln!(
        w,
        "fw_version: {:#010x} ({}.{}.{})",
        buffer.fw_version(),
        version.major(),
        version.minor(),
        version.subminor(),
    )?;
    writeln!(w, "hw_id: {:#010x}", buffer.hw_id())?;
    writeln!(w, "rfr: {}", u8::from(buffer.rfr()))?;
    writeln!(w, "crr: {}", u8::from(buffer.crr()))?;
    writeln!(w, "valid: {}", u8::from(buffer.valid()))?;
    write!(w, "severity: {}", buffer.severity())?;
    if buffer.valid() {
        writeln!(w, " ({})", severity.name().unwrap_or("unknown"))?;
    } else {
        writeln!(
            w,
            " (not valid, counts as {} {})",
            severity.0,
            severity.name().unwrap_or("unknown"),
        )?;
    }
    writeln!(w, "irisc_index: {}", buffer.irisc_index())?;
    writeln!(w, "synd: {:#04x} ({})", buffer.synd(), synd(buffer.synd()))?;
    writeln!(w, "ext_synd: {:#06x}", buffer.ext_synd())?;
    writeln!(w, "verdict: {}", Verdict::of(buffer).sentence())
}

/// Prints the state of the machine, a value a line, as of `now_us`.
pub fn state(w: &mut dyn fmt::Write, machine: &Machine, now_us: u64) -> fmt::Result {
    let now = machine.now(now_us);

    writeln!(
        w,
        "state: {} ({})",
        machine.state.name(),
        machine.state.number()
    )?;
    writeln!(
        w,
        "state_age_ms: {}",
        now_us.saturating_sub(machine.since_us) / 1000
    )?;
    write!(w, "verdict: ")?;
    sentence(w, &now)?;
    writeln!(w)?;
    writeln!(w, "counter: {:#08x}", now.counter)?;
    writeln!(w, "misses: {}", machine.misses)?;
    writeln!(w, "misses_total: {}", machine.misses_total)?;
    writeln!(w, "threshold: {}", machine.threshold)?;
    match machine.period.get() {
        Some(period) => writeln!(w, "period_us: {period}")?,
        None => writeln!(w, "period_us: 0 (not known yet)")?,
    }
    writeln!(w, "stall_us: {}", machine.stall_us())?;
    writeln!(w, "gap_ms: {}", now.gap_us / 1000)?;
    writeln!(w, "longest_gap_ms: {}", machine.longest_gap_us / 1000)?;
    writeln!(w, "stalls: {}", machine.stalls)?;
    writeln!(w, "jumps: {}", machine.jumps)?;
    writeln!(w, "ticks: {}", machine.reads)?;
    writeln!(w, "dead_reads: {}", machine.dead_reads)?;
    writeln!(w, "dead_reads_total: {}", machine.dead_total)?;
    writeln!(
        w,
        "nic_interface: {:#x} ({})",
        machine.nic_interface,
        NicInterface(machine.nic_interface)
            .name()
            .unwrap_or("unknown"),
    )?;
    let trouble = machine.trouble;
    writeln!(w, "synd: {:#04x} ({})", trouble.synd, synd(trouble.synd))?;
    writeln!(w, "ext_synd: {:#06x}", trouble.ext_synd)?;
    writeln!(w, "rfr: {}", u8::from(trouble.rfr))
}

/// Prints what a transition means: what was seen, what was expected, and what can be done.
pub fn sentence(w: &mut dyn fmt::Write, transition: &Transition) -> fmt::Result {
    meaning(w, transition)?;
    if transition.from.is_fatal() && !transition.to.is_fatal() {
        w.write_str("; commands are refused until the driver is bound again")?;
    }
    Ok(())
}

fn meaning(w: &mut dyn fmt::Write, transition: &Transition) -> fmt::Result {
    match transition.to {
        State::Measuring => w.write_str("the period of the health counter is being measured"),
        State::Healthy => w.write_str("the health counter advances and no failure is reported"),
        State::Suspect if transition.dead_reads > 0 => write!(
            w,
            "{} reading(s) of all ones; a few are not held against the device",
            transition.dead_reads,
        ),
        State::Suspect => {
            standstill(w, transition)?;
            w.write_str("; it should have advanced several times")
        }
        State::Syndrome => {
            failure(w, &transition.trouble)?;
            w.write_str(" and goes on without a reset (rfr=0); see health/buffer")
        }
        State::Stalled if transition.trouble.synd == 0 => {
            standstill(w, transition)?;
            w.write_str(
                ", and synd is 0: firmware cannot answer reads, the health buffer is not read; \
                 commands will not come back, reset the card",
            )
        }
        State::Stalled => {
            standstill(w, transition)?;
            w.write_str(", and ")?;
            failure(w, &transition.trouble)?;
            w.write_str("; keep health/buffer, then reset the card")
        }
        State::Failed => {
            failure(w, &transition.trouble)?;
            w.write_str(" and cannot go on (rfr=1); keep health/buffer, then reset the card")
        }
        State::Disabled => {
            w.write_str("nic_interface is 1, expected 0: the function is disabled; reset the card")
        }
        State::Reset => w.write_str(
            "nic_interface is 7, expected 0: a reset of firmware was asked for; load the driver \
             again after it",
        ),
        State::Gone => write!(
            w,
            "{} readings of all ones in a row: the device has left the bus or its link is down; \
             check slot and power",
            transition.dead_reads,
        ),
    }
}

/// The [`sentence`] of a transition, for a log line.
pub struct Sentence<'a>(pub &'a Transition);

impl fmt::Display for Sentence<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        sentence(f, self.0)
    }
}

/// A health buffer in one line, for the log.
pub struct Brief<'a>(pub &'a Buffer);

impl fmt::Display for Brief<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let buffer = self.0;

        f.write_str("assert_var")?;
        for value in buffer.assert_var() {
            write!(f, " {value:#010x}")?;
        }
        write!(
            f,
            ", assert_exit_ptr {:#010x}, assert_callra {:#010x}, fw_version {:#010x}, \
             hw_id {:#010x}, time {}, rfr {}, crr {}, severity {} ({}), irisc_index {}, \
             synd {:#04x} ({}), ext_synd {:#06x}",
            buffer.assert_exit_ptr(),
            buffer.assert_callra(),
            buffer.fw_version(),
            buffer.hw_id(),
            buffer.time(),
            u8::from(buffer.rfr()),
            u8::from(buffer.crr()),
            buffer.effective_severity().0,
            buffer.effective_severity().name().unwrap_or("unknown"),
            buffer.irisc_index(),
            buffer.synd(),
            synd(buffer.synd()),
            buffer.ext_synd(),
        )
    }
}

/// Prints a transition with its number and the time of day (seconds since 1970), as one line.
pub fn line(
    w: &mut dyn fmt::Write,
    number: u64,
    wall: i64,
    transition: &Transition,
) -> fmt::Result {
    let Transition { from, to, .. } = *transition;

    write!(w, "{number} {} ", transition.at_us)?;
    date::write(w, u64::try_from(wall).unwrap_or(0))?;
    write!(
        w,
        " {}({}) -> {}({}) counter={:#08x} misses={} gap_ms={} dead_reads={} ",
        from.name(),
        from.number(),
        to.name(),
        to.number(),
        transition.counter,
        transition.misses,
        transition.gap_us / 1000,
        transition.dead_reads,
    )?;
    let Trouble {
        synd,
        ext_synd,
        rfr,
    } = transition.trouble;
    write!(
        w,
        "synd={synd:#04x} ext_synd={ext_synd:#06x} rfr={}: ",
        u8::from(rfr)
    )?;
    sentence(w, transition)?;
    writeln!(w)
}

/// Says what the field `time` means: a date, or seconds of the device's own.
fn device_time(w: &mut dyn fmt::Write, seconds: u64) -> fmt::Result {
    if seconds >= FIRST_DATE {
        w.write_char('(')?;
        date::write(w, seconds)?;
        w.write_char(')')
    } else {
        w.write_str("(the device's own time: it was not told the date)")
    }
}

fn synd(code: u8) -> &'static str {
    Synd(code).name().unwrap_or("unknown")
}

fn failure(w: &mut dyn fmt::Write, trouble: &Trouble) -> fmt::Result {
    write!(
        w,
        "firmware reports: {} (synd={:#04x}, ext_synd={:#06x})",
        synd(trouble.synd),
        trouble.synd,
        trouble.ext_synd,
    )
}

fn standstill(w: &mut dyn fmt::Write, transition: &Transition) -> fmt::Result {
    write!(
        w,
        "the health counter stands at {:#08x} for {} ms ({} readings)",
        transition.counter,
        transition.gap_us / 1000,
        transition.misses,
    )
}
