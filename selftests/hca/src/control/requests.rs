// SPDX-License-Identifier: GPL-2.0

//! What the control socket understands.

use std::time::Duration;

use super::{
    memory,
    scribble,
    wait, //
};
use crate::bits;
use crate::counters::Counters;
use crate::device::{
    Device,
    Shared, //
};
use crate::eq::event;
use crate::event_faults::event_type;
use crate::faults::{
    number,
    Fault, //
};
use crate::health::Health;
use crate::later::Later;
use crate::pages::Function;

/// Payload lines, or the reason why not.
pub type Answer = Result<Vec<String>, String>;

/// Text of `help`. The README explains each request.
const HELP: &str = "\
help | variant | reset | exit
log [N] | log full [N] | log clear
counters | counters clear
pages | pages request [+-]N [host|FUNCTION] | pages release FUNCTION
pages limit N | pages boot N | pages init N
objects | eqs | jobs
conformance | conformance excepted | conformance clear | conformance expect [RULE ...]
event TYPE [SUBTYPE] [HEX]
esw | esw vfs N | esw total N | esw pf-disabled on|off | esw pf-not-exist on|off
  esw bdf BB:DD.F | esw vhca_id N | esw host-number N | esw sf N on|off   [quiet]
health | health freeze | health run | health period MS | health counter N
  health set FIELD=VALUE ... | health clear | health writable|readonly
stamp | stamp NAME
iseg set FIELD VALUE | iseg initializing on|off|MS
fault | fault add SELECTOR [op_mod=N] [skip=N] EFFECT [times N|forever] | fault clear
  SELECTOR: opcode name, number or any
  EFFECT: status=N [syndrome=N], delivery=N, drop, delay=MS, hold, noevent, duplicate-event,
          wrong-token, bad-signature, wrong-block, out OFFSET=HEX, entry OFFSET=HEX,
          block N OFFSET=HEX, again=MS, do REQUEST
release [N] [reverse]
irq drop N | irq spurious VECTOR
eqe fault TYPE|any [skip=N] EFFECT [times N|forever]
  EFFECT: drop, double, delay=MS, swap, no-interrupt, set OFFSET=HEX
eqe completion MASK | eqe type N [SUBTYPE] [HEX] | eqe burst N [TYPE] | eqe overrun EQN
memory | memory read ADDRESS LENGTH | memory write ADDRESS HEX
dma pages N SEED | dma slot N OFFSET=HEX | dma eqe EQN AHEAD OFFSET=HEX
pci dead [MS] | pci alive
cap list [TEXT] | cap get NAME | cap set NAME VALUE [MAX] | caps reduced
latency US
wait commands|completions|events|interrupts N [MS] | wait inflight|held N [MS]
wait idle [MS] | wait stage disabled|enabled|initialized [MS] | wait opcode NAME [MS]
driver | stage";

/// Runs a request.
pub fn run(shared: &Shared, words: &[&str]) -> Answer {
    if let ["wait", rest @ ..] = words {
        return wait::run(shared, rest);
    }
    let answer = perform(&mut shared.lock(), words);
    shared.kick();
    answer
}

/// Carries out a request that does not wait.
///
/// # Errors
///
/// What is not understood, or cannot be done now.
pub fn perform(d: &mut Device, words: &[&str]) -> Answer {
    let none = Vec::new();
    if let Some(answer) = crate::net::control(d, words) {
        return answer;
    }
    if let Some(answer) = crate::reset::control(d, words) {
        return answer;
    }
    match words {
        ["help"] => {
            let lines = HELP
                .lines()
                .chain(crate::reset::HELP.lines())
                .chain(crate::net::HELP.lines());
            return Ok(lines.map(String::from).collect());
        }
        ["variant"] => return Ok(vec![d.variant.name.to_string()]),
        ["driver"] => return Ok(vec![d.driver_version.clone()]),
        ["stage"] => return Ok(vec![format!("{:?}", d.stage).to_lowercase()]),
        ["reset"] => d.function_reset(),
        ["log", "clear"] => d.log.clear(),
        ["log", "full"] => return Ok(d.log.show(20, true)),
        ["log", "full", n] => return Ok(d.log.show(number(n)?, true)),
        ["log"] => return Ok(d.log.show(20, false)),
        ["log", n] => return Ok(d.log.show(number(n)?, false)),
        ["counters"] => {
            let list = d.counters.list();
            return Ok(list.iter().map(|(n, v)| format!("{n}: {v}")).collect());
        }
        ["counters", "clear"] => d.counters = Counters::default(),
        ["pages", rest @ ..] => return pages(d, rest),
        ["objects"] => {
            return Ok(d
                .objects
                .iter()
                .map(|(k, n, o)| format!("{k:?} 0x{n:x} users {}", o.users))
                .collect())
        }
        ["eqs"] => return Ok(eqs(d)),
        ["jobs"] => {
            return Ok(d
                .cmdq
                .jobs()
                .map(|(slot, j)| {
                    let (code, op_mod) = j.command();
                    let name = crate::command::subject(code);
                    let state = match (j.held, j.dropped()) {
                        (true, _) => "held",
                        (_, true) => "dropped",
                        _ => "running",
                    };
                    format!("slot {slot} {name} op_mod 0x{op_mod:x} {state}")
                })
                .collect())
        }
        ["conformance"] => {
            return Ok(d
                .conformance
                .violations()
                .iter()
                .map(|v| v.to_string())
                .collect())
        }
        ["conformance", "excepted"] => {
            return Ok(d
                .conformance
                .excepted()
                .iter()
                .map(|v| v.to_string())
                .collect())
        }
        ["conformance", "clear"] => d.conformance.clear(),
        ["conformance", "expect", rules @ ..] => d.conformance.expect(rules)?,
        ["event", kind, rest @ ..] => {
            let kind = event_type(kind)?;
            let (sub, data) = sub_type_and_data(rest)?;
            if !d.post_event(kind, sub, &data) {
                return Err(format!("no EQ took event 0x{kind:02x}"));
            }
        }
        ["esw"] => return Ok(d.esw.show()),
        ["esw", rest @ ..] => {
            let (rest, quiet) = match rest {
                [r @ .., "quiet"] => (r, true),
                r => (r, false),
            };
            if d.esw.change(rest)? && !quiet {
                d.post_event(event::ESW_FUNCTIONS_CHANGED, 0, &[]);
            }
        }
        ["health", rest @ ..] => return health(d, rest),
        ["iseg", "initializing", "on"] => d.iseg.set_initializing(true),
        ["iseg", "initializing", "off"] => d.iseg.set_initializing(false),
        ["iseg", "initializing", ms] => d.iseg.initialize_for(Duration::from_millis(number(ms)?)),
        ["iseg", "set", field, value] => {
            d.iseg.set_by_name(field, number(value)?)?;
            d.stamps.fault();
        }
        ["stamp"] => return Ok(d.stamps.show()),
        ["stamp", name] => d.stamps.add(name)?,
        ["fault"] => {
            let commands = d.faults.iter().map(|f| f.to_string());
            return Ok(commands.chain(d.event_faults.show()).collect());
        }
        ["fault", "add", rest @ ..] => d.faults.add(Fault::parse(rest)?),
        ["fault", "clear"] => {
            d.faults.clear();
            d.event_faults.clear();
        }
        ["eqe", "fault", rest @ ..] => d.event_faults.add(rest)?,
        ["dma", rest @ ..] => return scribble::run(d, rest),
        ["release", rest @ ..] => return release(d, rest),
        ["irq", "drop", n] => d.irqs.drop = number(n)?,
        ["irq", "spurious", v] => d.interrupt(number(v)?),
        ["eqe", rest @ ..] => return eqe(d, rest),
        ["memory", rest @ ..] => return memory::run(d, rest),
        ["pci", "dead", rest @ ..] if rest.len() < 2 => {
            d.later.forget_alive();
            if let Some(ms) = rest.first() {
                d.later
                    .add(Duration::from_millis(number(ms)?), Later::Alive);
            }
            d.pci_alive = false;
            d.stamps.fault();
        }
        ["pci", "alive"] => {
            d.later.forget_alive();
            d.pci_alive = true;
        }
        ["cap" | "caps", rest @ ..] => return caps(d, rest),
        ["latency", us] => d.cmdq.delay = Duration::from_micros(number(us)?),
        ["exit"] => std::process::exit(0),
        _ => {
            return Err(format!(
                "`{}` is not understood; see `help`",
                words.join(" ")
            ))
        }
    }
    Ok(none)
}

fn sub_type_and_data(rest: &[&str]) -> Result<(u8, Vec<u8>), String> {
    let sub = rest.first().map_or(Ok(0), |t| number(t))?;
    let hex = rest.get(1..).unwrap_or(&[]).concat();
    let data = bits::parse_hex(&hex).ok_or("data needs pairs of hex digits")?;
    if data.len() > 28 {
        return Err("an EQE has 28 bytes of data".into());
    }
    Ok((sub, data))
}

fn pages(d: &mut Device, rest: &[&str]) -> Answer {
    match rest {
        [] => return Ok(d.pages.show()),
        ["limit", n] => d.pages.give_back_limit = number(n)?,
        ["boot", n] => d.pages.boot = number(n)?,
        ["init", n] => d.pages.init = number(n)?,
        ["request", n, function @ ..] => {
            let n: i32 = number(n)?;
            let (id, host) = match function {
                [] => (0, false),
                ["host"] => (0, true),
                [id] => (number(id)?, true),
                _ => return Err("which function? see `help`".into()),
            };
            let f = Function {
                embedded_cpu: d.variant.iseg.embedded_cpu && !host,
                id,
            };
            d.pages.request(f, n.into());
            let mut data = [0u8; 8];
            data[0] = if f.embedded_cpu { 0x80 } else { 0 };
            data[2..4].copy_from_slice(&id.to_be_bytes());
            data[4..8].copy_from_slice(&n.to_be_bytes());
            if !d.post_event(event::PAGE_REQUEST, 0, &data) {
                return Err("no EQ takes page requests".into());
            }
        }
        ["release", id] => {
            let id: u16 = number(id)?;
            let f = Function {
                embedded_cpu: false,
                id,
            };
            d.pages.release(f);
            // RELEASE_ALL_PAGES of mlx5_core's `pagealloc.c`, in the upper half of the word.
            let mut data = [0x40, 0, 0, 0];
            data[2..4].copy_from_slice(&id.to_be_bytes());
            if !d.post_event(event::PAGE_REQUEST, 0, &data) {
                return Err("no EQ takes page requests".into());
            }
        }
        _ => return Err("which? see `help`".into()),
    }
    if d.stage == crate::device::Stage::Disabled {
        d.pages.reset();
    }
    Ok(Vec::new())
}

fn eqs(d: &Device) -> Vec<String> {
    d.eqs
        .iter()
        .map(|e| {
            format!(
                "eq {} vector {} uar 0x{:x} entries {} st 0x{:x} status 0x{:x} ci {} pi {} lost {} \
                 mask 0x{:x}",
                e.number,
                e.vector,
                e.uar,
                e.entries(),
                e.st,
                e.status,
                e.ci,
                e.pi,
                e.lost,
                e.mask[0]
            )
        })
        .collect()
}

fn health(d: &mut Device, rest: &[&str]) -> Answer {
    match rest {
        [] => return Ok(d.health.show()),
        ["freeze"] => {
            d.health.freeze();
            d.stamps.fault();
        }
        ["run"] => d.health.run(),
        ["writable"] => d.health.writable = true,
        ["readonly"] => d.health.writable = false,
        ["period", ms] => d.health.set_period(Duration::from_millis(number(ms)?)),
        ["counter", n] => d.health.set_counter(number(n)?),
        ["clear"] => {
            let (version, id) = (d.variant.fw_version_word(), d.variant.hw_id);
            d.health.clear(version, id);
        }
        ["set", pairs @ ..] if !pairs.is_empty() => {
            for pair in pairs {
                let (name, value) = pair.split_once('=').ok_or("set needs FIELD=VALUE")?;
                let field = Health::field(name)
                    .ok_or_else(|| format!("the health buffer has no field {name}"))?;
                bits::set(&mut d.health.buffer, field, number(value)?);
            }
            d.stamps.fault();
        }
        _ => return Err("which? see `help`".into()),
    }
    Ok(Vec::new())
}

fn release(d: &mut Device, rest: &[&str]) -> Answer {
    let (n, reverse) = match rest {
        [] => (usize::MAX, false),
        ["reverse"] => (usize::MAX, true),
        [n] => (number(n)?, false),
        [n, "reverse"] => (number(n)?, true),
        _ => return Err("which? see `help`".into()),
    };
    Ok(vec![format!("released: {}", d.cmdq.release(n, reverse))])
}

fn eqe(d: &mut Device, rest: &[&str]) -> Answer {
    match rest {
        ["completion", mask] => {
            let mask: u32 = number(mask)?;
            if !d.post_event(event::COMMAND, 0, &mask.to_be_bytes()) {
                return Err("no EQ takes command completions".into());
            }
        }
        ["type", kind, more @ ..] => {
            let kind = event_type(kind)?;
            let (sub, data) = sub_type_and_data(more)?;
            // Types that nobody asked for go where the asynchronous events go.
            let target = d
                .eqs
                .target(kind)
                .or_else(|| d.eqs.target(event::PORT_CHANGE))
                .ok_or("there is no EQ for asynchronous events")?;
            d.post_to(target, kind, sub, &data);
        }
        ["burst", n, more @ ..] => {
            let n: u32 = number(n)?;
            let kind = more
                .first()
                .map_or(Ok(event::PORT_CHANGE), |t| event_type(t))?;
            let mut written = 0;
            for _ in 0..n.min(1 << 20) {
                written += u32::from(d.post_event(kind, 0, &[]));
            }
            return Ok(vec![format!("written: {written}")]);
        }
        ["overrun", eqn] => {
            let eq = d.eqs.get_mut(number(eqn)?).ok_or("there is no such EQ")?;
            eq.status = crate::eq::status::WRITE_FAILURE;
            d.eq_failed();
        }
        _ => return Err("which? see `help`".into()),
    }
    Ok(Vec::new())
}

fn caps(d: &mut Device, rest: &[&str]) -> Answer {
    match rest {
        ["list"] => return Ok(d.caps.list()),
        ["list", text] => {
            let mut lines = d.caps.list();
            lines.retain(|l| l.contains(text));
            return Ok(lines);
        }
        ["reduced"] => {
            let list = &d.variant.reduced;
            return Ok(list.iter().map(|(n, why)| format!("{n}: {why}")).collect());
        }
        ["get", name] if crate::caps::Capabilities::known(name) => {
            return Ok(vec![format!(
                "{} max {}",
                d.caps.get(name),
                d.caps.get_max(name)
            )]);
        }
        ["set", name, value] => {
            let v = number(value)?;
            d.caps.define(name, v, v)?;
        }
        ["set", name, value, max] => d.caps.define(name, number(value)?, number(max)?)?,
        _ => return Err("which? see `help`".into()),
    }
    Ok(Vec::new())
}
