// SPDX-License-Identifier: GPL-2.0

//! What the kernel crate lacks; the only place that calls the C side of the kernel.
//!
//! Every file is shaped like one under `rust/kernel/`, so that it could move there.
//!
//! | Module | What | Why the kernel crate is not enough |
//! |---|---|---|
//! | [`clock`] | times as integers | wall-clock seconds, times to keep in records |
//! | [`completion`] | completions with a limit | there is only an endless wait |
//! | [`date`] | dates in text | there is only the `%pt` of C formats |
//! | [`debugfs`] | files with an owner and errors | an open file does not keep the module |
//! | [`dma`] | memory shared with the device, lent pages | no raw access, no page mapping |
//! | [`fmt`] | our types in the kernel's formatting macros | they want a trait of the kernel's |
//! | [`irq`] | threaded handlers that own their vectors | registrations are unsafe and borrow |
//! | [`kthread`] | threads that are joined on drop | there are none |
//! | [`mmio`] | big-endian BARs | accesses are little-endian |
//! | [`pci`] | disabling, virtual function test | what `probe()` enabled stays enabled |
//! | [`ratelimit`] | a limit for log lines | there is none |
//! | [`request`] | asking a thread for something | there are no threads |
//! | [`ring`] | the last records of something | there is none |
//! | [`scope`] | things that must not outlive the binding | left to a promise of each caller |
//! | [`signal`] | wake-up reasons for a thread | lost wake-ups, no use from interrupts |
//! | [`uevent`] | events for udev | there are none |
//! | [`wait`] | wait queues with a condition and a limit | `CondVar` wants a lock |

pub(crate) mod clock;
pub(crate) mod completion;
pub(crate) mod date;
pub(crate) mod debugfs;
pub(crate) mod dma;
pub(crate) mod fmt;
pub(crate) mod irq;
pub(crate) mod kthread;
pub(crate) mod mmio;
pub(crate) mod pci;
pub(crate) mod ratelimit;
pub(crate) mod request;
pub(crate) mod ring;
pub(crate) mod scope;
pub(crate) mod signal;
#[cfg(CONFIG_KUNIT = "y")]
mod tests;
pub(crate) mod uevent;
pub(crate) mod wait;
