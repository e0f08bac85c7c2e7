// SPDX-License-Identifier: GPL-2.0

//! Completion queues: writing of CQEs, ownership, doorbell records, arming.

use std::collections::VecDeque;
use std::time::{
    Duration,
    Instant, //
};

use super::ring::Ring;
use crate::bits;
use crate::ifc::fields::cqc;
use crate::memory::{
    DmaFault,
    GuestMemory, //
};

/// Size of a completion entry; in queues of 128-byte entries it is the second half.
pub const CQE_BYTES: usize = 64;

/// Counters of a completion queue have 24 bits.
pub const COUNTER_MASK: u32 = 0x00ff_ffff;

/// `cqc.st`. Source: `MLX5_CQC_ST_*` of the kernel's header.
pub mod st {
    pub const SOLICITED_ARMED: u8 = 0x6;
    pub const ARMED: u8 = 0x9;
    pub const FIRED: u8 = 0xa;
}

/// `cqc.cq_period_mode`: each entry starts the time anew; otherwise the first one does.
/// Source: `DIM_CQ_PERIOD_MODE_START_FROM_CQE` of the kernel's `dim.h`.
pub const START_FROM_CQE: u64 = 1;

/// `cqc.status`. Source: `MLX5_CQC_STATUS_*` of the kernel's header.
pub mod status {
    pub const OK: u8 = 0x0;
    pub const OVERFLOW: u8 = 0x9;
    pub const WRITE_FAIL: u8 = 0xa;
}

/// Completion opcodes, bits 7:4 of the last byte. Source: `MLX5_CQE_*` of the kernel's `device.h`.
pub mod opcode {
    pub const REQUEST: u8 = 0x0;
    pub const RESPONSE_SEND: u8 = 0x2;
    pub const REQUEST_ERROR: u8 = 0xd;
    pub const RESPONSE_ERROR: u8 = 0xe;
    pub const INVALID: u8 = 0xf;
}

/// Error syndromes. Source: `MLX5_CQE_SYNDROME_*` of the kernel's `device.h`.
pub mod syndrome {
    pub const LOCAL_LENGTH: u8 = 0x01;
    pub const LOCAL_QP_OPERATION: u8 = 0x02;
    pub const LOCAL_PROTECTION: u8 = 0x04;
    pub const FLUSHED: u8 = 0x05;
}

/// A completion entry. Offsets: `struct mlx5_cqe64` and `struct mlx5_err_cqe` of `device.h`.
pub type Cqe = [u8; CQE_BYTES];

/// Places in a completion entry.
pub mod at {
    pub const WQE_ID: usize = 0x02;
    pub const RSS_HASH: usize = 0x0c;
    pub const RSS_HASH_TYPE: usize = 0x10;
    pub const CHECKSUM: usize = 0x14;
    pub const HEADERS_OK: usize = 0x1c;
    pub const HEADER_TYPES: usize = 0x1d;
    pub const VLAN: usize = 0x1e;
    pub const USER_INDEX: usize = 0x20;
    pub const BYTE_COUNT: usize = 0x2c;
    pub const TIMESTAMP: usize = 0x30;
    pub const VENDOR_SYNDROME: usize = 0x36;
    pub const SYNDROME: usize = 0x37;
    pub const OPCODE_QPN: usize = 0x38;
    pub const WQE_COUNTER: usize = 0x3c;
    pub const OPCODE_OWNER: usize = 0x3f;
}

/// Sets the "solicited" bit of the last byte.
pub const SOLICITED: u8 = 1 << 1;

/// A completion queue.
#[derive(Debug, Clone)]
pub struct Cq {
    pub number: u32,
    pub ring: Ring,
    pub eq: u8,
    pub uar: u32,
    /// Bus address of the doorbell record: consumer counter, then arm word.
    pub record: u64,
    pub st: u8,
    pub status: u8,
    /// Free-running producer counter.
    pub pi: u32,
    pub overrun_ignore: bool,
    pub collapse: bool,
    /// Events raised so far; the low two bits are the sequence number that an arm must carry.
    pub events: u32,
    /// The context as commands had it.
    pub context: Vec<u8>,
    /// When the event for entries already written is due, while more are waited for.
    pub due: Option<Instant>,
    /// Counters of solicited entries that no event told of.
    solicited: VecDeque<u32>,
}

/// What came of writing an entry.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Written {
    /// Written; true if the queue was armed and an event is due.
    Ok(bool),
    /// Full: the queue has failed now.
    Overrun {
        consumer: u32,
    },
    /// The queue failed earlier.
    Dead,
    Fault(DmaFault),
}

/// What is wrong with an arm doorbell.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum ArmError {
    Sequence {
        got: u32,
        want: u32,
    },
    PastProducer {
        ci: u32,
        producer: u32,
    },
    /// The record is older than the doorbell: it is to be written first.
    Record {
        record: u32,
    },
    Fault(DmaFault),
}

impl std::fmt::Display for ArmError {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            ArmError::Sequence { got, want } => write!(f, "arm sequence number {got}, not {want}"),
            ArmError::PastProducer { ci, producer } => {
                write!(f, "consumer counter {ci} is past the producer {producer}")
            }
            ArmError::Record { record } => write!(f, "the doorbell record says {record:#010x}"),
            ArmError::Fault(fault) => write!(f, "doorbell record: {fault}"),
        }
    }
}

impl Cq {
    /// A queue from its context; the rest is as after CREATE_CQ.
    pub fn new(number: u32, ring: Ring, context: &[u8]) -> Cq {
        Cq {
            number,
            ring,
            eq: bits::get(context, cqc::C_EQN_OR_APU_ELEMENT) as u8,
            uar: bits::get32(context, cqc::UAR_PAGE),
            record: bits::get(context, cqc::DBR_ADDR),
            st: st::FIRED,
            status: status::OK,
            pi: 0,
            overrun_ignore: bits::flag(context, cqc::OI),
            collapse: bits::flag(context, cqc::CC),
            events: 0,
            context: context.to_vec(),
            due: None,
            solicited: VecDeque::new(),
        }
    }

    /// Moderation: an event waits for this many entries, and no longer than this time. None if
    /// events are not to wait.
    fn moderation(&self) -> Option<(u32, Duration)> {
        let count = bits::get32(&self.context, cqc::CQ_MAX_COUNT);
        let period = bits::get(&self.context, cqc::CQ_PERIOD);
        (count > 1 && period > 0).then_some((count, Duration::from_micros(period)))
    }

    /// Decides about the event for entries of which the driver knows those before `ci`. Returns
    /// true if it is raised now.
    fn want_event(&mut self, ci: u32, now: Instant) -> bool {
        let waiting = self.pi.wrapping_sub(ci) & COUNTER_MASK;
        if let Some((count, period)) = self.moderation().filter(|(count, _)| waiting < *count) {
            debug_assert!(count > 0);
            let from_entry = bits::get(&self.context, cqc::CQ_PERIOD_MODE) == START_FROM_CQE;
            if from_entry || self.due.is_none() {
                self.due = now.checked_add(period);
            }
            return false;
        }
        self.fire();
        true
    }

    /// The consumer counter as the doorbell record has it.
    ///
    /// # Errors
    ///
    /// If the record cannot be read.
    pub fn consumer(&self, memory: &GuestMemory) -> Result<u32, DmaFault> {
        let mut word = [0; 4];
        memory.read(self.record, &mut word)?;
        Ok(u32::from_be_bytes(word) & COUNTER_MASK)
    }

    /// Ownership bit of entries that the device writes now.
    fn owner(&self) -> u8 {
        ((self.pi >> self.ring.log_entries()) & 1) as u8
    }

    /// Writes an entry and hands it over. The last byte of `cqe` has opcode and flags; the
    /// ownership bit is set here.
    pub fn write(&mut self, memory: &GuestMemory, cqe: &Cqe, now: Instant) -> Written {
        if self.status != status::OK {
            return Written::Dead;
        }
        let consumer = match self.consumer(memory) {
            Ok(ci) => ci,
            Err(fault) => return Written::Fault(fault),
        };
        let waiting = self.pi.wrapping_sub(consumer) & COUNTER_MASK;
        if waiting >= self.ring.entries() && !self.overrun_ignore && !self.collapse {
            self.status = status::OVERFLOW;
            return Written::Overrun { consumer };
        }
        let mut entry = *cqe;
        let last = &mut entry[at::OPCODE_OWNER];
        *last = *last & !1 | self.owner();
        let is_solicited = *last & SOLICITED != 0;
        let index = if self.collapse { 0 } else { self.pi };
        let inside = (self.ring.stride() - CQE_BYTES) as u64;
        let position = self.ring.position(index).wrapping_add(inside);
        if let Err(fault) = self.ring.hand_over(memory, position, &entry) {
            self.status = status::WRITE_FAIL;
            return Written::Fault(fault);
        }
        if is_solicited {
            self.solicited.push_back(self.pi);
            if self.solicited.len() > self.ring.entries() as usize {
                self.solicited.pop_front();
            }
        }
        self.pi = self.pi.wrapping_add(1) & COUNTER_MASK;
        let due = self.st == st::ARMED || self.st == st::SOLICITED_ARMED && is_solicited;
        let at_once = is_solicited && bits::flag(&self.context, cqc::SCQE_BREAK_MODERATION_EN);
        if due && at_once {
            self.fire();
            return Written::Ok(true);
        }
        Written::Ok(due && self.want_event(consumer, now))
    }

    /// Notes that an event is raised.
    pub fn fire(&mut self) {
        self.st = st::FIRED;
        self.due = None;
        self.events = self.events.wrapping_add(1);
        self.solicited.clear();
    }

    /// Takes an arm doorbell. Returns true if an event is due at once, because entries wait that
    /// the driver had not seen.
    ///
    /// # Errors
    ///
    /// What does not fit; the queue is left as it was.
    pub fn arm(&mut self, memory: &GuestMemory, word: u32, now: Instant) -> Result<bool, ArmError> {
        let mut record = [0; 4];
        memory
            .read(self.record.saturating_add(4), &mut record)
            .map_err(ArmError::Fault)?;
        let record = u32::from_be_bytes(record);
        // The record may be newer: the driver can have armed again before the doorbell came.
        if record.wrapping_sub(word) & COUNTER_MASK > COUNTER_MASK / 2 {
            return Err(ArmError::Record { record });
        }
        let (got, want) = ((word >> 28) & 3, self.events & 3);
        if got == self.events.wrapping_sub(1) & 3 {
            // The event that this asks for is on its way already; the driver has not seen it yet.
            return Ok(false);
        }
        if got != want {
            return Err(ArmError::Sequence { got, want });
        }
        let ci = word & COUNTER_MASK;
        let waiting = self.pi.wrapping_sub(ci) & COUNTER_MASK;
        if waiting > COUNTER_MASK / 2 {
            let producer = self.pi;
            return Err(ArmError::PastProducer { ci, producer });
        }
        let only_solicited = (word >> 24) & 1 != 0;
        let newer = |n: &u32| n.wrapping_sub(ci) & COUNTER_MASK < waiting;
        let due = if only_solicited {
            self.st = st::SOLICITED_ARMED;
            self.solicited.iter().any(newer)
        } else {
            self.st = st::ARMED;
            waiting > 0
        };
        Ok(due && self.want_event(ci, now))
    }
}
