// SPDX-License-Identifier: GPL-2.0

//! Faults asked for on the control socket: which commands they hit, and what they do.

use std::time::Duration;

use crate::bits;
use crate::ifc::opcode;

/// What happens to a command.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Effect {
    /// It is not run and ends with this status.
    Status { status: u8, syndrome: u32 },
    /// It is not run and ends with this delivery status.
    Delivery(u8),
    /// It never completes.
    Drop,
    /// It is run and completes later.
    Delay(Duration),
    /// It completes without an EQE.
    NoEvent,
    /// It completes with two EQEs.
    DuplicateEvent,
    /// Its output carries a wrong token.
    WrongToken,
    /// Its output carries a wrong signature.
    BadSignature,
    /// Its output blocks carry wrong numbers.
    WrongBlock,
    /// Bytes of its output are replaced.
    Output(usize, Vec<u8>),
    /// Bytes of the entry that is given back are replaced, after it was signed.
    Entry(usize, Vec<u8>),
    /// Bytes of an output block are replaced, after it was signed.
    Block(usize, usize, Vec<u8>),
    /// It completes a second time after this time: entry and event are written again.
    Again(Duration),
    /// A request is carried out as soon as the device has taken the command.
    Do(Vec<String>),
    /// It waits for `release`.
    Hold,
}

/// Requests that a command cannot start: they wait, or end the model.
const NOT_BY_COMMAND: &[&str] = &["wait", "exit", ""];

impl Effect {
    /// True if output blocks are not written as they should be.
    pub fn damages_blocks(&self) -> bool {
        matches!(
            self,
            Effect::WrongToken | Effect::BadSignature | Effect::WrongBlock | Effect::Block(..)
        )
    }
}

/// A fault and the commands that it is for.
#[derive(Debug, Clone)]
pub struct Fault {
    /// None for any opcode.
    pub opcode: Option<u16>,
    pub op_mod: Option<u16>,
    /// Matching commands to let pass first.
    pub skip: u32,
    /// Commands left to hit; None is no end.
    pub times: Option<u32>,
    pub effect: Effect,
}

impl std::fmt::Display for Fault {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self.opcode {
            Some(o) => write!(f, "{}", opcode::name(o).unwrap_or("?"))?,
            None => write!(f, "any")?,
        }
        if let Some(m) = self.op_mod {
            write!(f, " op_mod=0x{m:x}")?;
        }
        write!(f, " skip={} {:?}", self.skip, self.effect)?;
        match self.times {
            Some(n) => write!(f, " times {n}"),
            None => write!(f, " times forever"),
        }
    }
}

impl Fault {
    /// Parses `SELECTOR [op_mod=N] [skip=N] EFFECT [times N|forever]`; the effect `do REQUEST` takes
    /// all words up to the end.
    ///
    /// # Errors
    ///
    /// What is not understood.
    pub fn parse(words: &[&str]) -> Result<Fault, String> {
        let mut words = words.iter();
        let selector = *words
            .next()
            .ok_or("which command? name an opcode or `any`")?;
        let opcode = match selector {
            "any" => None,
            name => Some(opcode_named(name)?),
        };
        let mut fault = Fault {
            opcode,
            op_mod: None,
            skip: 0,
            times: Some(1),
            effect: Effect::Drop,
        };
        let mut effect = None;
        let mut status: Option<u8> = None;
        let mut syndrome = crate::rules::Rule::Injected.syndrome();
        while let Some(word) = words.next() {
            let (key, value) = match word.split_once('=') {
                Some((k, v)) => (k, Some(v)),
                None => (*word, None),
            };
            match (key, value) {
                ("op_mod", Some(v)) => fault.op_mod = Some(number(v)?),
                ("skip", Some(v)) => fault.skip = number(v)?,
                ("times", v) => {
                    let v = v
                        .or_else(|| words.next().copied())
                        .ok_or("times needs a number")?;
                    fault.times = match v {
                        "forever" => None,
                        n => Some(number(n)?),
                    };
                }
                ("status", Some(v)) => status = Some(number(v)?),
                ("syndrome", Some(v)) => syndrome = number(v)?,
                ("delivery", Some(v)) => effect = Some(Effect::Delivery(number(v)?)),
                ("delay", Some(v)) => {
                    effect = Some(Effect::Delay(Duration::from_millis(number(v)?)));
                }
                ("drop", None) => effect = Some(Effect::Drop),
                ("hold", None) => effect = Some(Effect::Hold),
                ("noevent", None) => effect = Some(Effect::NoEvent),
                ("duplicate-event", None) => effect = Some(Effect::DuplicateEvent),
                ("wrong-token", None) => effect = Some(Effect::WrongToken),
                ("bad-signature", None) => effect = Some(Effect::BadSignature),
                ("wrong-block", None) => effect = Some(Effect::WrongBlock),
                ("out", None) => {
                    let (offset, bytes) = replacement(words.next())?;
                    effect = Some(Effect::Output(offset, bytes));
                }
                ("entry", None) => {
                    let (offset, bytes) = replacement(words.next())?;
                    effect = Some(Effect::Entry(offset, bytes));
                }
                ("block", None) => {
                    let n = number(words.next().ok_or("block needs N OFFSET=HEX")?)?;
                    let (offset, bytes) = replacement(words.next())?;
                    effect = Some(Effect::Block(n, offset, bytes));
                }
                ("again", Some(v)) => {
                    effect = Some(Effect::Again(Duration::from_millis(number(v)?)));
                }
                ("do", None) => {
                    let request: Vec<String> = words.by_ref().map(|w| w.to_string()).collect();
                    if NOT_BY_COMMAND.contains(&request.first().map_or("", String::as_str)) {
                        return Err("do needs a request, other than wait and exit".into());
                    }
                    effect = Some(Effect::Do(request));
                }
                _ => return Err(format!("`{word}` is not understood; see `help`")),
            }
        }
        if let Some(status) = status {
            effect = Some(Effect::Status { status, syndrome });
        }
        fault.effect = effect.ok_or("which effect? see `help`")?;
        Ok(fault)
    }

    fn matches(&self, opcode: u16, op_mod: u16) -> bool {
        self.opcode.is_none_or(|o| o == opcode) && self.op_mod.is_none_or(|m| m == op_mod)
    }
}

/// `OFFSET=HEX`: bytes that replace others.
///
/// # Errors
///
/// What is missing or not understood.
pub fn replacement(word: Option<&&str>) -> Result<(usize, Vec<u8>), String> {
    let (offset, hex) = word
        .and_then(|w| w.split_once('='))
        .ok_or("which bytes? OFFSET=HEX is needed")?;
    let bytes = bits::parse_hex(hex).ok_or("bytes are pairs of hex digits")?;
    Ok((number(offset)?, bytes))
}

/// Puts bytes into others, as far as these reach.
pub fn replace(target: &mut [u8], offset: usize, bytes: &[u8]) {
    for (i, b) in bytes.iter().enumerate() {
        if let Some(to) = offset.checked_add(i).and_then(|at| target.get_mut(at)) {
            *to = *b;
        }
    }
}

/// An opcode by name or number.
///
/// # Errors
///
/// If the header has no such opcode.
pub fn opcode_named(text: &str) -> Result<u16, String> {
    match opcode::by_name(text) {
        Some(o) => Ok(o),
        None => number(text).map_err(|_| format!("there is no opcode {text}")),
    }
}

/// Parses a number, decimal, or hexadecimal with 0x.
///
/// # Errors
///
/// If it is none or does not fit.
pub fn number<T: TryFrom<i128>>(text: &str) -> Result<T, String> {
    let (negative, digits) = match text.strip_prefix('-') {
        Some(d) => (true, d),
        None => (false, text.strip_prefix('+').unwrap_or(text)),
    };
    let value = match digits.strip_prefix("0x") {
        Some(hex) => i128::from_str_radix(hex, 16),
        None => digits.parse(),
    };
    value
        .ok()
        .map(|v: i128| if negative { v.saturating_neg() } else { v })
        .and_then(|v| T::try_from(v).ok())
        .ok_or_else(|| format!("`{text}` is not a number of the right size"))
}

/// The list of faults.
#[derive(Debug, Default)]
pub struct Faults {
    list: Vec<Fault>,
}

impl Faults {
    /// Adds a fault.
    pub fn add(&mut self, fault: Fault) {
        self.list.push(fault);
    }

    /// Removes all.
    pub fn clear(&mut self) {
        self.list.clear();
    }

    /// Those that have not hit as often as asked for.
    pub fn iter(&self) -> impl Iterator<Item = &Fault> {
        self.list.iter()
    }

    /// Effects on a command that was just taken from the queue; each match counts.
    pub fn select(&mut self, opcode: u16, op_mod: u16) -> Vec<Effect> {
        let mut effects = Vec::new();
        for fault in &mut self.list {
            if !fault.matches(opcode, op_mod) {
                continue;
            }
            if fault.skip > 0 {
                fault.skip -= 1;
                continue;
            }
            match &mut fault.times {
                Some(0) => continue,
                Some(n) => *n -= 1,
                None => {}
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

    fn fault(text: &str) -> Result<Fault, String> {
        Fault::parse(&text.split_whitespace().collect::<Vec<_>>())
    }

    #[test]
    fn selection() {
        let mut faults = Faults::default();
        faults.add(fault("QUERY_EQ op_mod=1 skip=1 status=5 syndrome=0x12 times 2").unwrap());
        faults.add(fault("any noevent times forever").unwrap());
        let only = vec![Effect::NoEvent];
        let both = vec![
            Effect::Status {
                status: 5,
                syndrome: 0x12,
            },
            Effect::NoEvent,
        ];
        assert_eq!(faults.select(opcode::QUERY_EQ, 0), only);
        assert_eq!(faults.select(opcode::QUERY_EQ, 1), only);
        assert_eq!(faults.select(opcode::QUERY_EQ, 1), both);
        assert_eq!(faults.select(opcode::QUERY_EQ, 1), both);
        assert_eq!(faults.select(opcode::QUERY_EQ, 1), only);
        assert_eq!(faults.iter().count(), 1);
        faults.clear();
        assert!(faults.select(opcode::QUERY_EQ, 1).is_empty());
    }

    #[test]
    fn parsing() {
        let f = fault("any out 0x8=0102 times 3").unwrap();
        assert_eq!(f.effect, Effect::Output(8, vec![1, 2]));
        assert_eq!(f.times, Some(3));
        assert_eq!(
            fault("CREATE_EQ delay=20").unwrap().effect,
            Effect::Delay(Duration::from_millis(20))
        );
        assert_eq!(
            fault("any block 1 0x23f=00 times forever").unwrap().effect,
            Effect::Block(1, 0x23f, vec![0])
        );
        let f = fault("NOP times 2 do pci dead 30").unwrap();
        assert_eq!(f.times, Some(2));
        assert_eq!(
            f.effect,
            Effect::Do(["pci", "dead", "30"].map(String::from).to_vec())
        );
        for bad in [
            "",
            "any",
            "any do",
            "any do wait idle",
            "any do exit",
            "any entry 0",
            "any block 0=00",
            "NO_SUCH drop",
            "any nonsense",
            "any delay=x",
            "any times",
        ] {
            assert!(fault(bad).is_err(), "{bad}");
        }
        assert_eq!(number::<i64>("-5"), Ok(-5));
        assert!(number::<u8>("256").is_err());
    }
}
