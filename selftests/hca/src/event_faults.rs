// SPDX-License-Identifier: GPL-2.0

//! Faults of events: lost, late, doubled, out of order, without interrupt, or with wrong bytes.

use std::time::Duration;

use crate::eq::event;
use crate::faults::{
    number,
    replacement, //
};

/// An event on its way to an EQ.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Event {
    /// The EQ's number.
    pub queue: u8,
    pub kind: u8,
    pub sub_type: u8,
    pub data: Vec<u8>,
    /// Bytes of the EQE that are replaced after it was signed.
    pub replaced: Vec<(usize, Vec<u8>)>,
    /// It comes without an interrupt.
    pub silent: bool,
}

/// What happens to an event.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Effect {
    Drop,
    Double,
    Delay(Duration),
    /// It comes after the next event.
    Swap,
    NoInterrupt,
    Replace(usize, Vec<u8>),
}

/// A fault and the events that it is for.
#[derive(Debug, Clone)]
struct Fault {
    /// None for any type.
    kind: Option<u8>,
    skip: u32,
    /// Events left to hit; None is no end.
    times: Option<u32>,
    effect: Effect,
}

/// An event type by name or number.
///
/// # Errors
///
/// If it is neither.
pub fn event_type(text: &str) -> Result<u8, String> {
    match event::NAMES.iter().find(|(n, _)| *n == text) {
        Some((_, v)) => Ok(*v),
        None => number(text),
    }
}

/// The list of faults, and an event that waits for the next one.
#[derive(Debug, Default)]
pub struct EventFaults {
    list: Vec<Fault>,
    waiting: Option<Event>,
}

impl EventFaults {
    /// Adds `TYPE|any [skip=N] EFFECT [times N|forever]`.
    ///
    /// # Errors
    ///
    /// What is not understood.
    pub fn add(&mut self, words: &[&str]) -> Result<(), String> {
        let mut words = words.iter();
        let kind = match *words.next().ok_or("which events? name a type or `any`")? {
            "any" => None,
            name => Some(event_type(name)?),
        };
        let (mut skip, mut times, mut effect) = (0, Some(1), None);
        while let Some(word) = words.next() {
            match word.split_once('=').unwrap_or((word, "")) {
                ("skip", n) => skip = number(n)?,
                ("times", _) => {
                    times = match *words.next().ok_or("times needs a number")? {
                        "forever" => None,
                        n => Some(number(n)?),
                    }
                }
                ("drop", "") => effect = Some(Effect::Drop),
                ("double", "") => effect = Some(Effect::Double),
                ("swap", "") => effect = Some(Effect::Swap),
                ("no-interrupt", "") => effect = Some(Effect::NoInterrupt),
                ("delay", ms) => effect = Some(Effect::Delay(Duration::from_millis(number(ms)?))),
                ("set", "") => {
                    let (offset, bytes) = replacement(words.next())?;
                    effect = Some(Effect::Replace(offset, bytes));
                }
                _ => return Err(format!("`{word}` is not understood; see `help`")),
            }
        }
        self.list.push(Fault {
            kind,
            skip,
            times,
            effect: effect.ok_or("which effect? see `help`")?,
        });
        Ok(())
    }

    /// Removes all; an event that waits for the next one is lost.
    pub fn clear(&mut self) {
        *self = EventFaults::default();
    }

    /// An event that waits for the next one is lost: its queue is gone.
    pub fn forget_driver(&mut self) {
        self.waiting = None;
    }

    /// Those that have not hit as often as asked for, a line each.
    pub fn show(&self) -> Vec<String> {
        self.list
            .iter()
            .map(|f| {
                let kind = f.kind.map_or("any".into(), |k| format!("0x{k:02x}"));
                let times = f.times.map_or("forever".into(), |n| n.to_string());
                format!("eqe {kind} skip={} {:?} times {times}", f.skip, f.effect)
            })
            .collect()
    }

    /// What becomes of an event: those to be written now, and one to be written later.
    pub fn pass(&mut self, event: Event) -> (Vec<Event>, Option<(Duration, Event)>) {
        let mut event = event;
        let (mut copies, mut delay, mut swap) = (1, None, false);
        for effect in self.select(event.kind) {
            match effect {
                Effect::Drop => copies = 0,
                Effect::Double => copies *= 2,
                Effect::Delay(d) => delay = Some(d),
                Effect::Swap => swap = true,
                Effect::NoInterrupt => event.silent = true,
                Effect::Replace(offset, bytes) => event.replaced.push((offset, bytes)),
            }
        }
        if copies > 0 && swap && self.waiting.is_none() {
            self.waiting = Some(event);
            return (Vec::new(), None);
        }
        if let (Some(after), true) = (delay, copies > 0) {
            return (Vec::new(), Some((after, event)));
        }
        let mut now = vec![event; copies];
        now.extend(self.waiting.take());
        (now, None)
    }

    fn select(&mut self, kind: u8) -> Vec<Effect> {
        let mut effects = Vec::new();
        for fault in &mut self.list {
            if fault.kind.is_some_and(|k| k != kind) {
                continue;
            }
            if fault.skip > 0 {
                fault.skip -= 1;
                continue;
            }
            if let Some(n) = &mut fault.times {
                *n = n.saturating_sub(1);
            }
            effects.push(fault.effect.clone());
        }
        self.list.retain(|f| f.times != Some(0));
        effects
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn faults(text: &[&str]) -> EventFaults {
        let mut faults = EventFaults::default();
        for t in text {
            let words: Vec<&str> = t.split_whitespace().collect();
            faults.add(&words).unwrap();
        }
        faults
    }

    fn event(kind: u8) -> Event {
        Event {
            kind,
            ..Event::default()
        }
    }

    #[test]
    fn selection() {
        let mut f = faults(&["CMD skip=1 drop times 2"]);
        assert_eq!(f.pass(event(0x09)).0.len(), 1);
        assert_eq!(f.pass(event(0x0a)).0.len(), 1, "the first is let pass");
        assert_eq!(f.show(), ["eqe 0x0a skip=0 Drop times 2"]);
        assert_eq!(f.pass(event(0x0a)).0.len(), 0);
        assert_eq!(f.pass(event(0x0a)).0.len(), 0);
        assert_eq!(f.pass(event(0x0a)).0.len(), 1);
        assert!(f.show().is_empty());
    }

    #[test]
    fn effects() {
        let mut f = faults(&[
            "any double",
            "any set 1=0b0c",
            "any no-interrupt times forever",
        ]);
        let (now, later) = f.pass(event(0x09));
        assert_eq!((now.len(), later), (2, None));
        assert_eq!(now[1].replaced, [(1, vec![0x0b, 0x0c])]);
        assert!(now[0].silent);
        let mut f = faults(&["0x09 delay=30"]);
        let (now, later) = f.pass(event(0x09));
        assert!(now.is_empty());
        assert_eq!(later, Some((Duration::from_millis(30), event(0x09))));
        let mut f = faults(&["0x09 swap"]);
        assert!(f.pass(event(0x09)).0.is_empty());
        assert_eq!(f.pass(event(0x0a)).0, [event(0x0a), event(0x09)]);
        f = faults(&["0x09 swap"]);
        f.pass(event(0x09));
        f.forget_driver();
        assert_eq!(f.pass(event(0x0a)).0, [event(0x0a)]);
    }

    #[test]
    fn nonsense() {
        for bad in [
            "",
            "CMD",
            "NO_SUCH drop",
            "any times",
            "any set 1",
            "any delay=x",
        ] {
            let words: Vec<&str> = bad.split_whitespace().collect();
            assert!(EventFaults::default().add(&words).is_err(), "{bad}");
        }
    }
}
