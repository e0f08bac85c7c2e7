// SPDX-License-Identifier: GPL-2.0

//! Looking at the health buffer after a reset, before any command is sent (HEALTH-4).

use super::{
    leftover::{
        Leftover,
        Outcome,
        WORDS, //
    },
    render::Brief,
    Record, //
};
use crate::{
    device::InitSegment,
    kernel_ext::{
        clock,
        scope::Scope, //
    },
    prm::health::Buffer,
};
use kernel::prelude::*;

/// Reads the health buffer, keeps what it holds from before, and clears it.
///
/// To be called after each reset, once firmware has started, and before the first command.
pub(crate) fn clear_leftover(scope: Scope<'_>, init_segment: &InitSegment<'_>, record: &Record) {
    let read = || -> Buffer { init_segment.read_from(Buffer::BAR_OFFSET, 0) };
    let buffer = read();

    let outcome = Outcome::before(&buffer).unwrap_or_else(|| {
        for at in WORDS {
            // BAR 0 has the words, so this cannot fail.
            let _ = init_segment.write_word(Buffer::BAR_OFFSET + at, 0);
        }
        Outcome::after(&read())
    });
    record.keep_leftover(Leftover {
        at_us: clock::monotonic_us(),
        wall: clock::wall_seconds(),
        buffer,
        outcome,
        unchanged: true,
    });

    if matches!(outcome, Outcome::Cleared | Outcome::Kept) {
        let brief = Brief(&buffer);
        dev_warn!(
            scope.dev(),
            "health: the buffer has a failure {}: {}\n",
            outcome.sentence(),
            format_args!("{brief}")
        );
    }
}
