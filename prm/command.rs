// SPDX-License-Identifier: GPL-2.0

//! What a command is: an operation code with the layouts of its input and its output.

use super::layout::{
    Input,
    Output, //
};
use super::opcode::Opcode;

/// A command of the manual.
///
/// Input and output belong to the operation code by type, and their lengths follow from the types,
/// so that neither can be mistaken for another's. A type that implements this has no value; it is
/// the name of a command.
pub trait Command {
    /// The operation code.
    const OPCODE: Opcode;

    /// The input's fixed part. A list of variable length, such as page addresses, follows it.
    type In: Input;

    /// The output's fixed part. A list of variable length may follow it.
    type Out: Output;
}

/// Declares commands: `Name = OPCODE: Input => Output;`.
#[macro_export]
macro_rules! commands {
    ($($(#[$doc:meta])* $name:ident = $opcode:ident: $input:ty => $output:ty;)*) => {
        $(
            $(#[$doc])*
            pub enum $name {}

            impl $crate::prm::command::Command for $name {
                const OPCODE: $crate::prm::opcode::Opcode =
                    $crate::prm::opcode::Opcode::$opcode;
                type In = $input;
                type Out = $output;
            }
        )*
    };
}
