// SPDX-License-Identifier: GPL-2.0

//! What the driver cost: accesses by class, commands, events, interrupts.

macro_rules! counters {
    ($($(#[$doc:meta])* $name:ident,)*) => {
        /// Counts since the start or the last `counters clear`.
        #[derive(Debug, Default, Clone)]
        pub struct Counters {
            $($(#[$doc])* pub $name: u64,)*
        }

        impl Counters {
            /// Names and values in the order of declaration.
            pub fn list(&self) -> Vec<(&'static str, u64)> {
                vec![$((stringify!($name), self.$name),)*]
            }
        }
    };
}

counters! {
    /// Reads of the initialization segment other than the health buffer and counter.
    mmio_read_iseg,
    /// Reads of the health buffer and the health counter.
    mmio_read_health,
    /// Reads of UAR pages and of everything else.
    mmio_read_other,
    /// Writes to the initialization segment other than the command doorbell.
    mmio_write_iseg,
    /// Writes of the command doorbell.
    mmio_write_doorbell,
    /// Writes of EQ doorbells.
    mmio_write_eq_doorbell,
    /// Writes of other UAR registers and everywhere else.
    mmio_write_other,
    /// Commands taken from the queue.
    commands,
    /// Commands completed.
    completions,
    /// EQEs written, command completions among them.
    events,
    /// EQEs of command completions.
    command_events,
    /// Interrupts that went out.
    interrupts,
    /// Events for which no EQ had its bit set.
    events_unmapped,
}
