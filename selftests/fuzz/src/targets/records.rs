// SPDX-License-Identifier: GPL-2.0

//! Records of what has been, and dates.

use super::print;
use crate::input::Input;
use mlx5_prm_host::kernel_ext::{
    date,
    ring::Ring, //
};

/// The last records, and no others, are kept.
pub fn ring(input: &mut Input<'_>) {
    let room = usize::from(input.u8() % 17);
    let mut ring = Ring::new(vec![0u16; room]);
    let mut all = Vec::new();

    while !input.is_empty() {
        let record = input.u16();
        assert_eq!(ring.add(record), all.len() as u64);
        all.push(record);
        assert_eq!(ring.added(), all.len() as u64);

        let first = all.len().saturating_sub(room);
        assert_eq!(ring.numbers(), first as u64..all.len() as u64);
        let asked = usize::from(record) % (all.len() + 2);
        assert_eq!(
            ring.get(asked as u64),
            all.get(asked).copied().filter(|_| asked >= first)
        );
    }
    assert_eq!(ring.get(u64::MAX), None);
}

/// A date is the one that counting year by year gives.
pub fn date(input: &mut Input<'_>) {
    let seconds = input.u64();
    let text = print(|w| date::write(w, seconds));
    assert!(text.ends_with('Z'), "{text}");

    // Enough for all that a clock of 40 bits says; far more would take long to count.
    let seconds = seconds % (1 << 37);
    let text = print(|w| date::write(w, seconds));
    let leap = |year: u64| year % 4 == 0 && (year % 100 != 0 || year % 400 == 0);
    let (mut days, mut year) = (seconds / 86_400, 1970);
    loop {
        let length = 365 + u64::from(leap(year));
        if days < length {
            break;
        }
        days -= length;
        year += 1;
    }
    let mut month = 1;
    for length in [
        31,
        28 + u64::from(leap(year)),
        31,
        30,
        31,
        30,
        31,
        31,
        30,
        31,
        30,
    ] {
        if days < length {
            break;
        }
        days -= length;
        month += 1;
    }
    let (hour, minute) = (seconds / 3600 % 24, seconds / 60 % 60);
    assert_eq!(
        text,
        format!(
            "{year:04}-{month:02}-{:02}T{hour:02}:{minute:02}:{:02}Z",
            days + 1,
            seconds % 60
        )
    );
}
