// SPDX-License-Identifier: GPL-2.0

//! Vports: contexts and states as far as every probe needs them.

use super::Spec;

pub const COMMANDS: &[Spec] = &[];
