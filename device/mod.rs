// SPDX-License-Identifier: GPL-2.0

//! The function itself: its init segment, and whether it is alive and well.
//!
//! These are the two things that everything else stands on. The health thread must not depend on
//! the command interface, nor the other way round; what both need to know of each other is
//! [`State`]: the condition, what the function suffers from, the last changes of both, and which
//! commands the device has.

mod init_segment;
mod outstanding;
mod state;
#[cfg(CONFIG_KUNIT = "y")]
mod tests;

#[allow(unreachable_pub, reason = "the file is public in the host's tests")]
mod change;
#[allow(unreachable_pub, reason = "the file is public in the host's tests")]
mod condition;
#[allow(unreachable_pub, reason = "the file is public in the host's tests")]
mod degradation;

pub(crate) use change::{
    Change,
    Status,
    What, //
};
pub(crate) use condition::{
    Condition,
    Reason, //
};
pub(crate) use degradation::{
    Degradation,
    Degradations, //
};
pub(crate) use init_segment::InitSegment;
pub(crate) use state::{
    Registration,
    State,
    Waiter, //
};
