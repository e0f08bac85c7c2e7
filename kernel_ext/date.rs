// SPDX-License-Identifier: GPL-2.0

//! Dates in text.
//!
//! The kernel's own conversion (`%pt`) is for the formats of C. Nothing here knows the kernel: the
//! file is compiled a second time for tests on the host.

#![allow(
    unreachable_pub,
    reason = "the file is public in the crate on the host that includes it"
)]

use core::fmt;

/// Prints seconds since 1970 as a date, in UTC.
pub fn write(w: &mut dyn fmt::Write, seconds: u64) -> fmt::Result {
    let (day, second) = (seconds / 86_400, seconds % 86_400);

    // Days are counted from 1 March of year 0, so that a leap day is the last of its year, and
    // taken apart into the 400 years after which the calendar repeats.
    let day = day.saturating_add(719_468);
    let (era, day) = (day / 146_097, day % 146_097);
    let year = (day - day / 1_460 + day / 36_524 - day / 146_096) / 365;
    let day = day - (365 * year + year / 4 - year / 100);
    let month = (5 * day + 2) / 153;
    let day = day - (153 * month + 2) / 5 + 1;
    let (month, next) = if month < 10 {
        (month + 3, 0)
    } else {
        (month - 9, 1)
    };
    let year = era.saturating_mul(400).saturating_add(year + next);

    write!(
        w,
        "{year:04}-{month:02}-{day:02}T{:02}:{:02}:{:02}Z",
        second / 3600,
        second / 60 % 60,
        second % 60
    )
}
