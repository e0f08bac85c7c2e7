// SPDX-License-Identifier: GPL-2.0

//! The function itself: its init segment, and whether it is alive.
//!
//! These are the two things that everything else stands on. The health thread must not depend on
//! the command interface, nor the other way round; what both need to know of each other is
//! [`State`].

mod init_segment;
mod state;

pub(crate) use init_segment::InitSegment;
pub(crate) use state::{
    Condition,
    Reason,
    State,
    Waiter, //
};
