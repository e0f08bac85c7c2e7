// SPDX-License-Identifier: GPL-2.0

//! Event queues: contexts, writing of EQEs, consumer doorbells.

use std::collections::BTreeMap;

use crate::event_faults::Event;
use crate::faults;
use crate::memory::{
    DmaFault,
    GuestMemory, //
};

/// Size of an event queue entry.
pub const EQE_BYTES: u64 = 64;

/// The consumer index is a counter of 24 bits.
const CI_MASK: u32 = 0x00ff_ffff;

/// Event types that the model itself raises. Source: `enum mlx5_event` of the kernel's `device.h`.
pub mod event {
    pub const COMPLETION: u8 = 0x00;
    pub const PORT_CHANGE: u8 = 0x09;
    pub const COMMAND: u8 = 0x0a;
    pub const PAGE_REQUEST: u8 = 0x0b;
    pub const NIC_VPORT_CHANGE: u8 = 0x0d;
    pub const ESW_FUNCTIONS_CHANGED: u8 = 0x0e;

    /// Types by name for the control socket.
    pub const NAMES: &[(&str, u8)] = &[
        ("COMP", 0x00),
        ("PATH_MIG", 0x01),
        ("COMM_EST", 0x02),
        ("SQ_DRAINED", 0x03),
        ("CQ_ERROR", 0x04),
        ("WQ_CATAS", 0x05),
        ("PATH_MIG_FAILED", 0x07),
        ("INTERNAL_ERROR", 0x08),
        ("PORT_CHANGE", PORT_CHANGE),
        ("CMD", COMMAND),
        ("PAGE_REQUEST", PAGE_REQUEST),
        ("PAGE_FAULT", 0x0c),
        ("NIC_VPORT_CHANGE", NIC_VPORT_CHANGE),
        ("ESW_FUNCTIONS_CHANGED", ESW_FUNCTIONS_CHANGED),
        ("VHCA_STATE_CHANGE", 0x0f),
        ("WQ_INVAL_REQ", 0x10),
        ("WQ_ACCESS", 0x11),
        ("SRQ_CATAS", 0x12),
        ("SRQ_LAST_WQE", 0x13),
        ("SRQ_RQ_LIMIT", 0x14),
        ("GPIO", 0x15),
        ("PORT_MODULE", 0x16),
        ("TEMP_WARN", 0x17),
        ("XRQ_ERROR", 0x18),
        ("REMOTE_CONFIG", 0x19),
        ("DB_BF_CONGESTION", 0x1a),
        ("STALL", 0x1b),
        ("DCT_DRAINED", 0x1c),
        ("DCT_KEY_VIOLATION", 0x1d),
        ("FPGA_ERROR", 0x20),
        ("FPGA_QP_ERROR", 0x21),
        ("GENERAL", 0x22),
        ("MONITOR_COUNTER", 0x24),
        ("PPS", 0x25),
        ("DEVICE_TRACER", 0x26),
        ("OBJECT_CHANGE", 0x27),
    ];
}

/// `eqc.status`.
pub mod status {
    pub const OK: u8 = 0x0;
    pub const WRITE_FAILURE: u8 = 0xa;
}

/// `eqc.st`.
pub mod st {
    pub const ARMED: u8 = 0x9;
    pub const FIRED: u8 = 0xa;
    pub const ALWAYS_ARMED: u8 = 0xb;
}

/// An event queue.
#[derive(Debug, Clone)]
pub struct Eq {
    pub number: u8,
    /// Page addresses of the ring.
    pub pages: Vec<u64>,
    /// log2 of the page size.
    pub page_shift: u32,
    /// Offset of the ring in the first page, in bytes.
    pub offset: u64,
    pub log_size: u32,
    pub mask: [u64; 4],
    pub vector: u16,
    pub uar: u32,
    pub st: u8,
    pub status: u8,
    /// Free-running consumer counter of 24 bits.
    pub ci: u32,
    /// Free-running producer counter of 24 bits.
    pub pi: u32,
    pub overrun_ignore: bool,
    pub collapse: bool,
    /// The context as CREATE_EQ had it, for QUERY_EQ.
    pub context: Vec<u8>,
    /// Events lost to an overrun.
    pub lost: u64,
}

/// What came of posting an event to a queue.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Posted {
    /// Written; the vector to raise, if the queue was armed.
    Written(Option<u16>),
    /// The ring is full: the queue has failed now.
    Overrun,
    /// The queue failed earlier.
    Dead,
    /// The ring cannot be written.
    Fault(DmaFault),
}

/// What is wrong with a consumer doorbell.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum CiError {
    Backwards { old: u32, new: u32 },
    PastProducer { new: u32, producer: u32 },
}

impl Eq {
    /// Entries in the ring.
    pub fn entries(&self) -> u32 {
        1u32.checked_shl(self.log_size).unwrap_or(u32::MAX)
    }

    /// Entries written and not yet consumed.
    pub fn outstanding(&self) -> u32 {
        self.pi.wrapping_sub(self.ci) & CI_MASK
    }

    /// Bus address of an entry, None if no page covers it.
    pub fn address(&self, index: u32) -> Option<u64> {
        let byte = u64::from(index)
            .checked_mul(EQE_BYTES)?
            .checked_add(self.offset)?;
        let page = self
            .pages
            .get(usize::try_from(byte.checked_shr(self.page_shift)?).ok()?)?;
        page.checked_add(byte & ((1u64.checked_shl(self.page_shift)?) - 1))
    }

    /// True if the ring uses memory in the range.
    pub fn uses(&self, address: u64, size: u64) -> bool {
        let page = 1u64.checked_shl(self.page_shift).unwrap_or(u64::MAX);
        let end = address.saturating_add(size);
        self.pages
            .iter()
            .any(|p| *p < end && p.saturating_add(page) > address)
    }

    /// Ownership bit of entries that the device writes now.
    fn owner(&self) -> u8 {
        ((self.pi >> self.log_size) & 1) as u8
    }

    /// True if the event type is in the queue's mask.
    pub fn wants(&self, event: u8) -> bool {
        self.mask
            .get(usize::from(event / 64))
            .is_some_and(|m| (m >> (event % 64)) & 1 != 0)
    }

    /// Writes an EQE and hands it over.
    pub fn post(&mut self, memory: &GuestMemory, event: &Event) -> Posted {
        if self.status != status::OK {
            self.lost += 1;
            return Posted::Dead;
        }
        let full = self.outstanding() >= self.entries();
        if full && !self.overrun_ignore {
            self.status = status::WRITE_FAILURE;
            self.lost += 1;
            return Posted::Overrun;
        }
        let mut eqe = [0u8; EQE_BYTES as usize];
        eqe[1] = event.kind;
        eqe[3] = event.sub_type;
        for (to, from) in eqe[0x20..0x3c].iter_mut().zip(&event.data) {
            *to = *from;
        }
        let owner = self.owner();
        eqe[0x3e] = !eqe.iter().fold(owner, |x, b| x ^ b);
        eqe[0x3f] = owner;
        for (offset, bytes) in &event.replaced {
            faults::replace(&mut eqe, *offset, bytes);
        }
        let index = if self.collapse {
            0
        } else {
            self.pi & (self.entries() - 1)
        };
        let Some(address) = self.address(index) else {
            self.status = status::WRITE_FAILURE;
            return Posted::Dead;
        };
        let written = memory
            .write(address, &eqe[..0x3f])
            .and_then(|()| memory.write_byte_release(address + 0x3f, eqe[0x3f]));
        if let Err(fault) = written {
            self.status = status::WRITE_FAILURE;
            return Posted::Fault(fault);
        }
        self.pi = self.pi.wrapping_add(1) & CI_MASK;
        let vector = self.interrupt();
        Posted::Written(vector.filter(|_| !event.silent))
    }

    fn interrupt(&mut self) -> Option<u16> {
        match self.st {
            st::ARMED => {
                self.st = st::FIRED;
                Some(self.vector)
            }
            st::ALWAYS_ARMED => Some(self.vector),
            _ => None,
        }
    }

    /// Takes a doorbell. Returns the vector to raise if entries are waiting while it arms.
    ///
    /// # Errors
    ///
    /// If the index moved backwards or past what was written; the queue is left as it was.
    pub fn update(&mut self, ci: u32, arm: bool) -> Result<Option<u16>, CiError> {
        let step = ci.wrapping_sub(self.ci) & CI_MASK;
        if step > self.outstanding() {
            return Err(if step > CI_MASK / 2 {
                CiError::Backwards {
                    old: self.ci,
                    new: ci,
                }
            } else {
                CiError::PastProducer {
                    new: ci,
                    producer: self.pi,
                }
            });
        }
        self.ci = ci;
        if !arm || self.st == st::ALWAYS_ARMED {
            return Ok(None);
        }
        self.st = st::ARMED;
        Ok(if self.outstanding() > 0 {
            self.interrupt()
        } else {
            None
        })
    }
}

/// All event queues of the function.
#[derive(Debug, Default)]
pub struct EventQueues {
    eqs: BTreeMap<u8, Eq>,
    /// In order of creation: the newest queue that wants an event gets it.
    order: Vec<u8>,
}

impl EventQueues {
    /// A number that is free, counted from `first`.
    pub fn free_number(&self, first: u8) -> Option<u8> {
        (first..=u8::MAX).find(|n| !self.eqs.contains_key(n))
    }

    /// Adds a queue.
    pub fn insert(&mut self, eq: Eq) {
        self.order.push(eq.number);
        self.eqs.insert(eq.number, eq);
    }

    /// Removes a queue.
    pub fn remove(&mut self, number: u8) -> Option<Eq> {
        self.order.retain(|n| *n != number);
        self.eqs.remove(&number)
    }

    /// A queue by number.
    pub fn get(&self, number: u8) -> Option<&Eq> {
        self.eqs.get(&number)
    }

    /// A queue by number, to change.
    pub fn get_mut(&mut self, number: u8) -> Option<&mut Eq> {
        self.eqs.get_mut(&number)
    }

    /// The queue to which an event goes.
    pub fn target(&self, event: u8) -> Option<u8> {
        self.order
            .iter()
            .rev()
            .copied()
            .find(|n| self.eqs.get(n).is_some_and(|eq| eq.wants(event)))
    }

    /// All queues.
    pub fn iter(&self) -> impl Iterator<Item = &Eq> {
        self.eqs.values()
    }

    /// Number of queues.
    pub fn len(&self) -> usize {
        self.eqs.len()
    }

    /// Drops all queues.
    pub fn clear(&mut self) {
        self.eqs.clear();
        self.order.clear();
    }
}

#[cfg(test)]
pub mod tests {
    use super::*;
    use crate::memory::fake::guest;

    /// A queue of four entries at 1000h.
    pub fn small() -> Eq {
        Eq {
            number: 4,
            pages: vec![0x1000],
            page_shift: 12,
            offset: 0,
            log_size: 2,
            mask: [1 << 0x0a, 0, 0, 0],
            vector: 1,
            uar: 0x10,
            st: st::FIRED,
            status: status::OK,
            ci: 0,
            pi: 0,
            overrun_ignore: false,
            collapse: false,
            context: vec![],
            lost: 0,
        }
    }

    fn completion() -> Event {
        Event {
            kind: event::COMMAND,
            ..Event::default()
        }
    }

    fn owner(memory: &GuestMemory, index: u64) -> u8 {
        let mut b = [0];
        memory.read(0x1000 + index * 64 + 0x3f, &mut b).unwrap();
        b[0] & 1
    }

    #[test]
    fn ownership_changes_with_each_pass() {
        let memory = guest(0x1000, 0x1000);
        let mut eq = small();
        for pass in 0..5u32 {
            for i in 0..4 {
                assert_eq!(eq.post(&memory, &completion()), Posted::Written(None));
                assert_eq!(u32::from(owner(&memory, i)), pass & 1);
                assert_eq!(eq.update(eq.pi, false), Ok(None));
            }
        }
        // The counter's 24 bits wrap without a break in the phase.
        (eq.ci, eq.pi) = (CI_MASK, CI_MASK);
        assert_eq!(eq.owner(), 1);
        assert_eq!(eq.post(&memory, &completion()), Posted::Written(None));
        assert_eq!((eq.pi, eq.owner()), (0, 0));
        assert_eq!(eq.update(0, false), Ok(None));
    }

    #[test]
    fn overrun_fails_the_queue() {
        let memory = guest(0x1000, 0x1000);
        let mut eq = small();
        for _ in 0..4 {
            assert_eq!(eq.post(&memory, &completion()), Posted::Written(None));
        }
        assert_eq!(eq.post(&memory, &completion()), Posted::Overrun);
        assert_eq!(eq.status, status::WRITE_FAILURE);
        assert_eq!(eq.post(&memory, &completion()), Posted::Dead);
        assert_eq!(eq.lost, 2);
        let mut ignoring = Eq {
            overrun_ignore: true,
            ..small()
        };
        for _ in 0..9 {
            assert_eq!(ignoring.post(&memory, &completion()), Posted::Written(None));
        }
    }

    #[test]
    fn arming() {
        let memory = guest(0x1000, 0x1000);
        let mut eq = small();
        assert_eq!(eq.update(0, true), Ok(None));
        assert_eq!(eq.post(&memory, &completion()), Posted::Written(Some(1)));
        assert_eq!(eq.post(&memory, &completion()), Posted::Written(None));
        assert_eq!(eq.update(1, true), Ok(Some(1)), "one entry still waits");
        assert_eq!(eq.update(2, true), Ok(None));
        assert_eq!(
            eq.update(1, true),
            Err(CiError::Backwards { old: 2, new: 1 })
        );
        assert_eq!(
            eq.update(3, true),
            Err(CiError::PastProducer {
                new: 3,
                producer: 2
            })
        );
    }

    #[test]
    fn the_newest_queue_gets_the_event() {
        let mut eqs = EventQueues::default();
        eqs.insert(small());
        eqs.insert(Eq {
            number: 7,
            ..small()
        });
        assert_eq!(eqs.target(0x0a), Some(7));
        assert_eq!(eqs.target(0x0b), None);
        assert_eq!(eqs.target(0xff), None);
        eqs.remove(7);
        assert_eq!(eqs.target(0x0a), Some(4));
        assert_eq!(eqs.free_number(4), Some(5));
    }

    #[test]
    fn a_ring_without_memory() {
        let memory = guest(0x8000, 0x1000);
        let mut eq = small();
        assert!(matches!(eq.post(&memory, &completion()), Posted::Fault(_)));
        let mut eq = Eq {
            pages: vec![],
            ..small()
        };
        assert_eq!(eq.post(&memory, &completion()), Posted::Dead);
    }
}
