// SPDX-License-Identifier: GPL-2.0

//! Commands: one module a chapter of the manual, one [`Spec`] a command.
//!
//! What all commands share is checked here, before a handler runs: that the opcode exists, that
//! the device has its capability, that the order of commands is kept, lengths, op_mod, and that
//! reserved bits are zero.

mod caps;
mod eq;
mod esw;
mod general;
mod objects;
mod pages;
mod tunnel;
mod vport;

pub use objects::RESERVED_LKEY;

use std::collections::HashMap;
use std::sync::OnceLock;

use crate::bits;
use crate::device::{
    Device,
    Stage, //
};
use crate::ifc::{
    self,
    opcode,
    Field,
    Override, //
};
use crate::objects::ObjectError;
use crate::rules::Rule;

/// Command status. Source: `MLX5_CMD_STAT_*` of the kernel's `device.h`.
#[allow(dead_code)]
pub mod status {
    pub const OK: u8 = 0x00;
    pub const INTERNAL: u8 = 0x01;
    pub const BAD_OP: u8 = 0x02;
    pub const BAD_PARAM: u8 = 0x03;
    pub const BAD_SYS_STATE: u8 = 0x04;
    pub const BAD_RESOURCE: u8 = 0x05;
    pub const RESOURCE_BUSY: u8 = 0x06;
    pub const LIMIT: u8 = 0x08;
    pub const BAD_RES_STATE: u8 = 0x09;
    pub const BAD_INDEX: u8 = 0x0a;
    pub const NO_RESOURCES: u8 = 0x0f;
    pub const BAD_INPUT_LENGTH: u8 = 0x50;
    pub const BAD_OUTPUT_LENGTH: u8 = 0x51;
}

/// A command that was refused.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Refusal {
    pub status: u8,
    pub syndrome: u32,
}

/// Result of a handler; what it answers is in [`Call::output`].
pub type Outcome = Result<(), Refusal>;

/// Finds the layout of a part of an input that is raw words in the header.
pub type Inner = fn(&[u8]) -> Option<Override<'static>>;

/// A command that the model knows.
pub struct Spec {
    pub opcode: u16,
    /// Layout of the input.
    pub input: &'static str,
    /// Layout of the output.
    pub output: &'static str,
    /// Least stage of the start-up sequence.
    pub stage: Stage,
    /// Values of op_mod; empty if the handler looks at it itself.
    pub op_mods: &'static [u16],
    /// Capability, by name, that must not be zero.
    pub capability: Option<&'static str>,
    /// Layouts that replace raw words of the input.
    pub inner: Option<Inner>,
    pub run: fn(&mut Call<'_>) -> Outcome,
}

impl Spec {
    /// A command that needs INIT_HCA, no capability, and op_mod 0.
    pub const fn new(
        opcode: u16,
        input: &'static str,
        output: &'static str,
        run: fn(&mut Call<'_>) -> Outcome,
    ) -> Spec {
        Spec {
            opcode,
            input,
            output,
            stage: Stage::Initialized,
            op_mods: &[0],
            capability: None,
            inner: None,
            run,
        }
    }

    /// The command may come earlier.
    pub const fn from(mut self, stage: Stage) -> Spec {
        self.stage = stage;
        self
    }

    /// op_mod may be one of these; an empty list leaves it to the handler.
    pub const fn op_mods(mut self, values: &'static [u16]) -> Spec {
        self.op_mods = values;
        self
    }

    /// The command needs a capability, such as `cmd_hca_cap.dct`.
    pub const fn needs(mut self, capability: &'static str) -> Spec {
        self.capability = Some(capability);
        self
    }

    /// The layout of a part of the input follows from the input.
    pub const fn inner(mut self, f: Inner) -> Spec {
        self.inner = Some(f);
        self
    }
}

/// All chapters.
const CHAPTERS: &[&[Spec]] = &[
    general::COMMANDS,
    caps::COMMANDS,
    pages::COMMANDS,
    eq::COMMANDS,
    crate::access_reg::COMMANDS,
    esw::COMMANDS,
    objects::COMMANDS,
    tunnel::COMMANDS,
    vport::COMMANDS,
];

/// Finds the specification of an opcode.
pub fn spec(opcode: u16) -> Option<&'static Spec> {
    static INDEX: OnceLock<HashMap<u16, &'static Spec>> = OnceLock::new();
    INDEX
        .get_or_init(|| {
            CHAPTERS
                .iter()
                .chain(crate::net::CHAPTERS)
                .flat_map(|c| c.iter())
                .map(|s| (s.opcode, s))
                .collect()
        })
        .get(&opcode)
        .copied()
}

/// Name of a command for logs.
pub fn subject(code: u16) -> String {
    match opcode::name(code) {
        Some(name) => name.to_string(),
        None => format!("opcode 0x{code:x}"),
    }
}

/// An output with a status and nothing else.
pub fn failure(status: u8, syndrome: u32, length: usize) -> Vec<u8> {
    let mut out = vec![0; length];
    put_status(&mut out, status, syndrome);
    out
}

fn put_status(out: &mut [u8], status: u8, syndrome: u32) {
    if let Some(head) = out.get_mut(..8) {
        head[0] = status;
        head[4..8].copy_from_slice(&syndrome.to_be_bytes());
    }
}

/// A command on its way through a handler.
pub struct Call<'a> {
    pub device: &'a mut Device,
    pub opcode: u16,
    pub op_mod: u16,
    pub input: &'a [u8],
    /// As long as the driver asked for; status and syndrome are filled in later.
    pub output: Vec<u8>,
    name: String,
}

impl Call<'_> {
    /// A field of the input.
    pub fn get(&self, f: Field) -> u64 {
        bits::get(self.input, f)
    }

    /// The low 32 bits of a field of the input.
    pub fn get32(&self, f: Field) -> u32 {
        bits::get32(self.input, f)
    }

    /// A bit of the input.
    pub fn flag(&self, f: Field) -> bool {
        bits::flag(self.input, f)
    }

    /// Sets a field of the output.
    pub fn set(&mut self, f: Field, value: impl Into<u64>) {
        bits::set(&mut self.output, f, value.into());
    }

    /// Sets bytes of the output.
    pub fn set_bytes(&mut self, f: Field, data: &[u8]) {
        bits::set_bytes(&mut self.output, f, data);
    }

    /// The part of the input from a field on.
    pub fn tail(&self, f: Field) -> &[u8] {
        self.input.get(f.byte()..).unwrap_or(&[])
    }

    /// Notes a violation that does not stop the command.
    pub fn note(&mut self, rule: Rule, text: impl Into<String>) {
        self.device.violation(rule, &self.name, text);
    }

    /// Notes a violation and refuses the command.
    pub fn refuse(&mut self, status: u8, rule: Rule, text: impl Into<String>) -> Refusal {
        self.note(rule, text);
        self.decline(status, rule)
    }

    /// Refuses the command for a reason that is not the driver's fault.
    pub fn decline(&self, status: u8, rule: Rule) -> Refusal {
        Refusal {
            status,
            syndrome: rule.syndrome(),
        }
    }

    /// Refuses for what the object table said.
    pub fn object_error(&mut self, e: &ObjectError) -> Refusal {
        match e {
            ObjectError::None(..) => {
                self.refuse(status::BAD_RESOURCE, Rule::NoObject, e.to_string())
            }
            ObjectError::Busy(..) => {
                self.refuse(status::RESOURCE_BUSY, Rule::ObjectBusy, e.to_string())
            }
            ObjectError::Exhausted(..) => self.decline(status::NO_RESOURCES, Rule::NoResource),
        }
    }
}

/// Runs a command: the output, `length` bytes with status and syndrome.
pub fn run(device: &mut Device, input: &[u8], length: usize) -> Vec<u8> {
    let code = (bits::word(input, 0) >> 16) as u16;
    let mut call = Call {
        op_mod: (bits::word(input, 4) & 0xffff) as u16,
        opcode: code,
        name: subject(code),
        output: vec![0; length],
        device,
        input,
    };
    let outcome = match check(&mut call) {
        Ok(spec) => (spec.run)(&mut call),
        Err(r) => Err(r),
    };
    match outcome {
        Ok(()) => {
            let mut out = call.output;
            put_status(&mut out, status::OK, 0);
            out
        }
        Err(r) => {
            let d = &mut call.device.net.diagnostics;
            d.invalid_commands = d.invalid_commands.wrapping_add(1);
            failure(r.status, r.syndrome, length)
        }
    }
}

/// What holds for every command.
fn check(call: &mut Call<'_>) -> Result<&'static Spec, Refusal> {
    let Some(spec) = spec(call.opcode) else {
        return Err(match opcode::name(call.opcode) {
            Some(_) => {
                let text = "this device has no such command";
                call.refuse(status::BAD_OP, Rule::Unsupported, text)
            }
            None => call.refuse(status::BAD_OP, Rule::UnknownOpcode, "no such opcode"),
        });
    };
    if let Some(name) = spec.capability {
        if call.device.caps.get(name) == 0 {
            let text = format!("capability {name} is 0");
            return Err(call.refuse(status::BAD_OP, Rule::Unsupported, text));
        }
    }
    if call.device.stage < spec.stage {
        let text = format!(
            "needs stage {:?}, it is {:?}",
            spec.stage, call.device.stage
        );
        return Err(call.refuse(status::BAD_SYS_STATE, Rule::Order, text));
    }
    let least = ifc::layout(spec.input).map_or(8, ifc::Layout::bytes);
    if call.input.len() < least {
        let text = format!(
            "input_length is {}, the layout has {least}",
            call.input.len()
        );
        return Err(call.refuse(status::BAD_INPUT_LENGTH, Rule::InputLength, text));
    }
    let least = ifc::layout(spec.output).map_or(8, ifc::Layout::bytes);
    if call.output.len() < least {
        let text = format!(
            "output_length is {}, the layout has {least}",
            call.output.len()
        );
        return Err(call.refuse(status::BAD_OUTPUT_LENGTH, Rule::OutputLength, text));
    }
    if !spec.op_mods.is_empty() && !spec.op_mods.contains(&call.op_mod) {
        let text = format!("op_mod is 0x{:x}", call.op_mod);
        return Err(call.refuse(status::BAD_PARAM, Rule::OpMod, text));
    }
    let uid = (bits::word(call.input, 0) & 0xffff) as u16;
    if uid != 0 && call.device.caps.get("cmd_hca_cap.log_max_uctx") == 0 {
        let text = format!("uid is 0x{uid:x}, but log_max_uctx is 0");
        return Err(call.refuse(status::BAD_PARAM, Rule::Uid, text));
    }
    let inner = spec.inner.and_then(|f| f(call.input));
    if let Some(at) = ifc::nonzero_reserved(spec.input, call.input, inner) {
        let text = format!(
            "reserved bits at {at:03x}h: byte is {:02x}h",
            call.input[at]
        );
        return Err(call.refuse(status::BAD_PARAM, Rule::CommandReserved, text));
    }
    Ok(spec)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_spec_is_sound() {
        let mut seen = std::collections::BTreeSet::new();
        for s in CHAPTERS
            .iter()
            .chain(crate::net::CHAPTERS)
            .flat_map(|c| c.iter())
        {
            assert!(seen.insert(s.opcode), "0x{:x} twice", s.opcode);
            assert!(opcode::name(s.opcode).is_some(), "0x{:x}", s.opcode);
            assert!(ifc::layout(s.input).is_some(), "{}", s.input);
            assert!(ifc::layout(s.output).is_some(), "{}", s.output);
            if let Some(c) = s.capability {
                assert!(crate::caps::Capabilities::known(c), "{c}");
            }
        }
    }
}
