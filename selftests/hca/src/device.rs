// SPDX-License-Identifier: GPL-2.0

//! The function as a whole: all state under one lock, and the threads that share it.

use std::collections::BTreeSet;
use std::sync::{
    Arc,
    Condvar,
    Mutex,
    MutexGuard,
    PoisonError, //
};
use std::time::{
    Duration,
    Instant, //
};

use crate::access_reg::Registers;
use crate::caps::Capabilities;
use crate::cmdq::{
    self,
    CommandQueue, //
};
use crate::config_space::ConfigSpace;
use crate::conformance::Conformance;
use crate::counters::Counters;
use crate::eq::{
    event,
    EventQueues,
    Posted, //
};
use crate::esw::EswState;
use crate::event_faults::{
    Event,
    EventFaults, //
};
use crate::faults::Faults;
use crate::health::Health;
use crate::ifc::fields::health_buffer;
use crate::irq::Interrupts;
use crate::iseg::{
    nic,
    InitSegment, //
};
use crate::later::{
    self,
    Agenda,
    Later, //
};
use crate::log::CommandLog;
use crate::memory::GuestMemory;
use crate::net::Net;
use crate::objects::{
    Kind,
    Objects, //
};
use crate::pages::Pages;
use crate::reset::Reset;
use crate::rules::Rule;
use crate::stamps::Stamps;
use crate::variants::Variant;
use crate::{
    bits,
    pci, //
};

/// How far the start-up sequence got.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Stage {
    /// Before ENABLE_HCA, and after DISABLE_HCA.
    Disabled,
    /// After ENABLE_HCA, and after TEARDOWN_HCA.
    Enabled,
    /// After INIT_HCA.
    Initialized,
}

/// `synd` of the health buffer after an EQ overran.
/// Source: `MLX5_INITIAL_SEG_HEALTH_SYNDROME_*` of the kernel's header.
const SYND_EQ_OVERRUN: u64 = 0x0c;

/// Severity "error" on the syslog scale.
const SEVERITY_ERROR: u64 = 3;

/// Largest range that is taken for a mapping of a driver.
const DRIVER_MAPPING: u64 = 2 << 20;

/// Everything that the function is.
pub struct Device {
    pub variant: Variant,
    pub conformance: Conformance,
    pub counters: Counters,
    pub memory: GuestMemory,
    pub irqs: Interrupts,
    pub config: ConfigSpace,
    pub iseg: InitSegment,
    pub cmdq: CommandQueue,
    pub stage: Stage,
    pub issi: u16,
    pub caps: Capabilities,
    pub pages: Pages,
    pub eqs: EventQueues,
    pub objects: Objects,
    pub registers: Registers,
    pub esw: EswState,
    pub health: Health,
    pub faults: Faults,
    pub event_faults: EventFaults,
    /// What the device does some time later.
    pub later: Agenda,
    pub log: CommandLog,
    pub net: Net,
    pub reset: Reset,
    /// False while the function answers nothing on the bus.
    pub pci_alive: bool,
    /// When the last fault of the health registers or the bus began, and what was said since.
    pub stamps: Stamps,
    /// UDP ports known as VXLAN.
    pub vxlan_ports: BTreeSet<u16>,
    /// Version string that the driver told.
    pub driver_version: String,
}

impl Device {
    /// A function of the given kind, just powered up.
    pub fn new(variant: Variant, conformance: Conformance, log: CommandLog) -> Device {
        Device {
            conformance,
            log,
            counters: Counters::default(),
            memory: GuestMemory::default(),
            irqs: Interrupts::new(variant.msix_vectors.into()),
            config: pci::config_space(&variant),
            iseg: InitSegment::new(&variant.iseg),
            cmdq: CommandQueue::default(),
            stage: Stage::Disabled,
            issi: 0,
            caps: variant.caps.clone(),
            pages: Pages::new(variant.boot_pages, variant.init_pages, 0),
            eqs: EventQueues::default(),
            objects: Objects::default(),
            registers: Registers::new(&variant),
            esw: EswState::new(&variant),
            health: Health::new(variant.fw_version_word(), variant.hw_id),
            faults: Faults::default(),
            event_faults: EventFaults::default(),
            later: Agenda::default(),
            net: Net::new(&variant),
            reset: Reset::default(),
            pci_alive: true,
            stamps: Stamps::default(),
            vxlan_ports: BTreeSet::new(),
            driver_version: String::new(),
            variant,
        }
    }

    /// Notes a violation.
    pub fn violation(&mut self, rule: Rule, subject: &str, text: impl Into<String>) {
        self.conformance.report(rule, subject, text);
    }

    /// Drops what a driver set up: on FLR and when the command interface is started anew.
    pub fn drop_driver_state(&mut self) {
        self.cmdq.clear();
        self.stage = Stage::Disabled;
        self.issi = 0;
        self.caps.reset();
        self.pages.reset();
        self.eqs.clear();
        self.later.forget_driver();
        self.event_faults.forget_driver();
        self.objects.clear();
        self.vxlan_ports.clear();
        self.registers.reset(&self.variant);
        self.net.reset(&self.variant);
        self.driver_version.clear();
    }

    /// Function-level reset: everything but what the slot itself remembers.
    pub fn function_reset(&mut self) {
        self.drop_driver_state();
        self.iseg = InitSegment::new(&self.variant.iseg);
        self.irqs.reset();
        let (version, id) = (self.variant.fw_version_word(), self.variant.hw_id);
        self.health.clear(version, id);
        self.health.run();
        pci::reset(&mut self.config);
    }

    /// The driver asked for a software reset by `nic_interface`.
    pub fn software_reset(&mut self) {
        self.drop_driver_state();
        let (version, id) = (self.variant.fw_version_word(), self.variant.hw_id);
        self.health.clear(version, id);
        self.health.run();
        self.iseg.set_nic_interface(nic::DISABLED);
    }

    /// Raises an event; returns false if no EQ wants it.
    pub fn post_event(&mut self, kind: u8, sub_type: u8, data: &[u8]) -> bool {
        match self.eqs.target(kind) {
            Some(number) => self.post_to(number, kind, sub_type, data),
            None => {
                self.counters.events_unmapped += 1;
                false
            }
        }
    }

    /// Sends an event to a given EQ, unless a fault holds it up; true if it was written, or if a
    /// fault has taken it.
    pub fn post_to(&mut self, number: u8, kind: u8, sub_type: u8, data: &[u8]) -> bool {
        let (now, later) = self.event_faults.pass(Event {
            queue: number,
            kind,
            sub_type,
            data: data.to_vec(),
            ..Event::default()
        });
        if let Some((after, event)) = later {
            self.later.add(after, Later::Event(event));
        }
        now.iter().fold(true, |all, e| self.write_event(e) && all)
    }

    /// Writes an event to its EQ and raises the interrupt.
    pub fn write_event(&mut self, event: &Event) -> bool {
        let (number, kind) = (event.queue, event.kind);
        if !pci::bus_master(&self.config) || !self.pci_alive {
            return false;
        }
        let Some(eq) = self.eqs.get_mut(number) else {
            return false;
        };
        match eq.post(&self.memory, event) {
            Posted::Written(vector) => {
                self.counters.events += 1;
                self.counters.command_events += u64::from(kind == event::COMMAND);
                if let Some(v) = vector {
                    self.interrupt(v);
                }
                true
            }
            Posted::Overrun => {
                let text = format!("EQ {number} is full ({} entries)", eq.entries());
                self.violation(Rule::EqOverrun, "EQ", text);
                self.net.diagnostics.count_eq_overrun(kind);
                self.eq_failed();
                false
            }
            Posted::Dead => false,
            Posted::Fault(fault) => {
                self.violation(Rule::Dma, "EQ", format!("EQ {number}: {fault}"));
                false
            }
        }
    }

    /// An EQ went to its error state: the health buffer says so.
    pub fn eq_failed(&mut self) {
        let b = &mut self.health.buffer;
        bits::set(b, health_buffer::SYND, SYND_EQ_OVERRUN);
        bits::set(b, health_buffer::VALID, 1);
        bits::set(b, health_buffer::SEVERITY, SEVERITY_ERROR);
    }

    /// Raises an interrupt.
    pub fn interrupt(&mut self, vector: u16) {
        if self.irqs.fire(vector) {
            self.counters.interrupts += 1;
        }
    }

    /// Notes memory that a driver unmaps although the device still owns it. Only mappings of a
    /// driver are looked at, as there are with a virtual IOMMU; larger ones are the machine's own.
    /// Without bus mastering the device cannot reach what it owns, whatever its firmware does.
    pub fn check_unmap(&mut self, address: u64, size: u64) {
        if size > DRIVER_MAPPING || !self.pci_alive || !pci::bus_master(&self.config) {
            return;
        }
        let inside = |a: u64| a >= address && a < address.saturating_add(size);
        let owner = if let Some(page) = self.pages.any_in(address, size) {
            Some(format!("page {page:#x} was given and not taken back"))
        } else if let Some(eq) = self.eqs.iter().find(|eq| eq.uses(address, size)) {
            Some(format!("it is the ring of EQ {}", eq.number))
        } else if let Some(queue) = self.net.owner_in(address, size) {
            Some(format!("it belongs to {queue}"))
        } else if self.cmdq.in_flight() > 0 && self.cmdq.address.is_some_and(inside) {
            Some("commands are outstanding in the queue".to_string())
        } else {
            None
        };
        if let Some(owner) = owner {
            let text = format!("{size:#x} bytes at {address:#x} are unmapped: {owner}");
            self.violation(Rule::Unmapped, "DMA", text);
        }
    }

    /// Free-running timer, in units of 1/`device_frequency_khz` ms.
    pub fn timer(&self) -> u64 {
        self.iseg.timer(self.variant.timer_khz())
    }

    /// True if the UAR page exists.
    pub fn has_uar(&self, index: u32) -> bool {
        self.objects.exists(Kind::Uar, index)
    }
}

/// The function, shared by the vfio-user thread, the firmware thread and the control clients.
pub struct Shared {
    device: Mutex<Device>,
    /// Wakes the firmware thread.
    firmware: Condvar,
    /// Wakes whoever waits for a change of state.
    changed: Condvar,
}

impl Shared {
    /// Shares a function.
    pub fn new(device: Device) -> Arc<Shared> {
        Arc::new(Shared {
            device: Mutex::new(device),
            firmware: Condvar::new(),
            changed: Condvar::new(),
        })
    }

    /// Takes the lock. A thread that failed while it held it is no reason to stop.
    pub fn lock(&self) -> MutexGuard<'_, Device> {
        self.device.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Tells the firmware thread that there is work, and waiting clients that something changed.
    pub fn kick(&self) {
        self.firmware.notify_one();
        self.changed.notify_all();
    }

    /// Waits until `done` holds, at most for `limit`. Returns false on time-out.
    pub fn wait(&self, limit: Duration, mut done: impl FnMut(&mut Device) -> bool) -> bool {
        let end = Instant::now().checked_add(limit);
        let mut device = self.lock();
        loop {
            if done(&mut device) {
                return true;
            }
            let now = Instant::now();
            let Some(left) = end.and_then(|e| e.checked_duration_since(now)) else {
                return false;
            };
            // Some state changes by time alone, so look again now and then.
            device = self
                .changed
                .wait_timeout(device, left.min(Duration::from_millis(20)))
                .unwrap_or_else(PoisonError::into_inner)
                .0;
        }
    }

    /// The firmware: runs commands as they become due. Never returns.
    pub fn firmware_thread(&self) {
        let mut device = self.lock();
        loop {
            let now = Instant::now();
            if let Some(slot) = device.cmdq.due(now) {
                cmdq::complete(&mut device, slot);
                drop(device);
                self.changed.notify_all();
                device = self.lock();
                continue;
            }
            later::run_due(&mut device, now);
            crate::net::run_due(&mut device, now);
            let next = device
                .cmdq
                .next_due()
                .into_iter()
                .chain(device.net.next_due())
                .chain(device.later.next_due())
                .min();
            let left = next.map_or(Duration::from_secs(1), |t| t.saturating_duration_since(now));
            device = self
                .firmware
                .wait_timeout(device, left)
                .unwrap_or_else(PoisonError::into_inner)
                .0;
        }
    }
}
