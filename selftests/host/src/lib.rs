// SPDX-License-Identifier: GPL-2.0

//! The parts of the module that only compute, compiled for the host.
//!
//! The files are the module's own, included by path; what they need of the kernel crate is a macro
//! (`paste!`), which the crate of the same name offers here.

#![recursion_limit = "512"]

#[doc(hidden)]
pub use paste::paste;

#[path = "../../../prm/mod.rs"]
pub mod prm;

#[path = "../../../health"]
pub mod health {
    pub mod evidence;
    pub mod leftover;
    pub mod machine;
    pub mod modules;
    pub mod period;
    pub mod render;
    pub mod status;
}

#[path = "../../../device"]
pub mod device {
    pub mod change;
    pub mod condition;
    pub mod degradation;

    pub use self::{
        change::{Change, Overall, Status, What},
        condition::{Condition, Reason},
        degradation::{Degradation, Degradations},
    };
}

#[path = "../../../cmd"]
pub mod cmd {
    pub mod ledger;
    pub mod message;
    pub mod slots;
}

#[path = "../../../eq"]
pub mod eq {
    pub mod ring;
}

#[path = "../../../function/recovery"]
pub mod recovery {
    pub mod policy;
}

#[path = "../../../esw"]
pub mod esw {
    pub mod diff;
    pub mod render;
    pub mod snapshot;
    pub mod support;
}

#[path = "../../../kernel_ext"]
pub mod kernel_ext {
    pub mod date;
    pub mod ring;
}
