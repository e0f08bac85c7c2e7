// SPDX-License-Identifier: GPL-2.0

//! Reading what a user wrote to a file.

use kernel::prelude::*;

/// Returns the text without the white space around it, such as the line end that `echo` adds.
///
/// # Errors
///
/// [`EINVAL`] if it is not UTF-8.
pub(crate) fn text(bytes: &[u8]) -> Result<&str> {
    core::str::from_utf8(bytes)
        .map(str::trim)
        .map_err(|_| EINVAL)
}

/// Reads a truth value: `1`, `y`, `on`, `0`, `n`, `off`, in any case.
///
/// # Errors
///
/// [`EINVAL`] for anything else.
pub(crate) fn boolean(bytes: &[u8]) -> Result<bool> {
    let text = text(bytes)?;
    let is = |words: &[&str]| words.iter().any(|word| text.eq_ignore_ascii_case(word));

    if is(&["1", "y", "yes", "on"]) {
        Ok(true)
    } else if is(&["0", "n", "no", "off"]) {
        Ok(false)
    } else {
        Err(EINVAL)
    }
}

/// Reads a number: decimal, or hexadecimal after `0x`.
///
/// # Errors
///
/// [`EINVAL`] if it is no such number, [`ERANGE`] if it has more than 64 bits.
pub(crate) fn number(text: &str) -> Result<u64> {
    let text = text.trim();
    let (digits, radix) = match text.strip_prefix("0x").or_else(|| text.strip_prefix("0X")) {
        Some(digits) => (digits, 16),
        None => (text, 10),
    };

    if digits.is_empty() {
        return Err(EINVAL);
    }

    let mut value: u64 = 0;
    for character in digits.chars() {
        let digit = character.to_digit(radix).ok_or(EINVAL)?;
        value = value
            .checked_mul(u64::from(radix))
            .and_then(|value| value.checked_add(u64::from(digit)))
            .ok_or(ERANGE)?;
    }

    Ok(value)
}

/// Reads a number of at most 32 bits, as [`number`].
///
/// # Errors
///
/// [`EINVAL`] if it is no number, [`ERANGE`] if it has more than 32 bits.
pub(crate) fn u32(bytes: &[u8]) -> Result<u32> {
    u32::try_from(number(text(bytes)?)?).map_err(|_| ERANGE)
}
