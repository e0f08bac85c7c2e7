// SPDX-License-Identifier: GPL-2.0

//! Objects of the device: owned values that give their number back when dropped.

mod uar;

pub(crate) use uar::Uar;
