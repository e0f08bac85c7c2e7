// SPDX-License-Identifier: GPL-2.0

//! Times as plain integers, for records that are kept and printed.
//!
//! C header: [`include/linux/timekeeping.h`](srctree/include/linux/timekeeping.h)

use kernel::{
    bindings,
    time::{
        msecs_to_jiffies,
        Delta,
        Jiffies, //
    },
};

/// Returns the nanoseconds since boot; time that the machine was suspended does not count.
pub(crate) fn monotonic_ns() -> u64 {
    // SAFETY: `ktime_get()` may be called from any context once timekeeping works, which is
    // before any module is loaded.
    let now = unsafe { bindings::ktime_get() };

    u64::try_from(now).unwrap_or(0)
}

/// Returns the microseconds since boot; time that the machine was suspended does not count.
pub(crate) fn monotonic_us() -> u64 {
    monotonic_ns() / 1_000
}

/// Returns the milliseconds since boot; time that the machine was suspended does not count.
pub(crate) fn monotonic_ms() -> u64 {
    monotonic_ns() / 1_000_000
}

/// Returns the wall clock as seconds since 1970-01-01 00:00:00 UTC.
pub(crate) fn wall_seconds() -> i64 {
    // SAFETY: `ktime_get_real_seconds()` may be called from any context.
    unsafe { bindings::ktime_get_real_seconds() }
}

/// Converts microseconds since boot, as [`monotonic_us`] has them, to the kernel's own form.
pub(super) fn to_ktime(at_us: u64) -> bindings::ktime_t {
    bindings::ktime_t::try_from(at_us.saturating_mul(1_000)).unwrap_or(bindings::ktime_t::MAX)
}

/// Converts a span of time to jiffies, rounded up.
///
/// Negative spans become 0, very long ones the longest wait that the kernel's timers know.
pub(super) fn to_jiffies(span: Delta) -> Jiffies {
    if span.is_zero() || span.is_negative() {
        return 0;
    }

    msecs_to_jiffies(u32::try_from(span.as_millis_ceil()).unwrap_or(u32::MAX))
}
