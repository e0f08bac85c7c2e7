// SPDX-License-Identifier: GPL-2.0

//! What the device does some time later, as a fault asked for.

use std::time::{
    Duration,
    Instant, //
};

use crate::cmdq;
use crate::device::Device;
use crate::event_faults::Event;

/// Something to be done.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Later {
    /// An event that was held up goes to its EQ.
    Event(Event),
    /// A command completes a second time.
    Completion {
        slot: u32,
        /// The entry as it was given back the first time.
        entry: Vec<u8>,
        event_queue: Option<u8>,
    },
    /// The function answers on the bus again.
    Alive,
}

/// All of it, with the time when it is due.
#[derive(Debug, Default)]
pub struct Agenda {
    list: Vec<(Instant, Later)>,
}

impl Agenda {
    /// Adds something to be done after a time.
    pub fn add(&mut self, after: Duration, what: Later) {
        if let Some(at) = Instant::now().checked_add(after) {
            self.list.push((at, what));
        }
    }

    /// When the next of them is due.
    pub fn next_due(&self) -> Option<Instant> {
        self.list.iter().map(|(at, _)| *at).min()
    }

    /// Forgets what concerns the driver: its queues are gone.
    pub fn forget_driver(&mut self) {
        self.list.retain(|(_, what)| *what == Later::Alive);
    }

    /// Forgets that the function is to come back.
    pub fn forget_alive(&mut self) {
        self.list.retain(|(_, what)| *what != Later::Alive);
    }

    /// Takes what is due, in order.
    fn take(&mut self, now: Instant) -> Vec<Later> {
        self.list.sort_by_key(|(at, _)| *at);
        let n = self.list.iter().take_while(|(at, _)| *at <= now).count();
        self.list.drain(..n).map(|(_, what)| what).collect()
    }
}

/// Does what is due.
pub fn run_due(device: &mut Device, now: Instant) {
    for what in device.later.take(now) {
        match what {
            Later::Event(event) => {
                device.write_event(&event);
            }
            Later::Completion {
                slot,
                entry,
                event_queue,
            } => cmdq::complete_again(device, slot, &entry, event_queue),
            Later::Alive => device.pci_alive = true,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn in_order_of_time() {
        let mut agenda = Agenda::default();
        let completion = Later::Completion {
            slot: 3,
            entry: vec![],
            event_queue: None,
        };
        agenda.add(Duration::from_secs(60), Later::Alive);
        agenda.add(Duration::ZERO, completion.clone());
        let now = Instant::now();
        assert!(agenda.next_due().is_some_and(|t| t <= now));
        assert_eq!(agenda.take(now), [completion.clone()]);
        agenda.add(Duration::from_secs(1), completion);
        agenda.forget_driver();
        assert_eq!(agenda.take(now + Duration::from_secs(61)), [Later::Alive]);
        agenda.add(Duration::ZERO, Later::Alive);
        agenda.forget_alive();
        assert_eq!(agenda.next_due(), None);
    }
}
