// SPDX-License-Identifier: GPL-2.0

//! A driver for NVIDIA/Mellanox ConnectX cards by their Programmer's Reference Manual (PRM).
//!
//! It shows in debugfs what a card says, with the manual's names, so that an engineer can hold the
//! card's behaviour against the manual's tables. It is no network driver.
//!
//! # Rooms
//!
//! | module | what | knows |
//! |---|---|---|
//! | [`prm`] | the manual as code: layouts, codes, names | nobody |
//! | [`kernel_ext`] | what the kernel crate lacks | nobody |
//! | [`device`] | the init segment, and whether the function is alive | the two above |
//! | [`cmd`] | the command interface | those above |
//! | [`objects`] | what commands make and destroy | those above |
//! | [`eq`] | event queues | those above |
//! | [`esw`], [`health`] | a subsystem each | those above, never each other |
//!
//! `health` does not use `cmd`: it must see that commands hang. This file knows everybody.
//!
//! # Start and stop
//!
//! [`Function`] is what is there as long as the driver is bound to a function; a *run* of it is
//! what goes from the first command to the last, and shows what starts and stops when.
//!
//! # Lock order
//!
//! A lock may be taken while one above it is held, never the other way round.
//!
//! ```text
//! function::Place::run             (mutex)     nothing under it
//! health::Record::judging         (mutex)     health thread, start and stop of a run
//! eq::Vector::queues              (mutex)     interrupt thread, watchdog
//!   eq::Seen::last                (mutex)
//!   eq::Requests::waiting         (spinlock)
//!   cmd::Book::slots              (spinlock)
//! cmd::Gate::queue                (spinlock)
//! cmd::Pages::held                (mutex)
//! cmd::Accounts::accounts         (mutex)
//! cmd::History::*                 (mutex)
//! cmd::Queue::buried              (mutex)
//! cmd::caps::Shown::caps          (mutex)
//! function::LastFacts::facts      (mutex)
//! esw::Record::inner              (mutex)
//! recovery::Record::inner         (mutex)
//! health::Record::inner           (spinlock)
//! health::Record::evidence        (spinlock)
//! health::Record::sensors         (spinlock)
//!   device::State::changes        (spinlock)
//! device::State::waiters          (spinlock)  whoever finds a change; wakes only
//!   cmd::Book::done, freed        (lock-free towards the waiters)
//! ```
//!
//! No lock is held while a command is sent or waited for.

#![recursion_limit = "512"]

mod cmd;
mod device;
mod eq;
mod esw;
mod function;
mod health;
mod kernel_ext;
mod objects;
mod prm;

use crate::{
    function::{
        Function,
        Kind, //
    },
    kernel_ext::debugfs, //
};
use kernel::{
    device::Core,
    device_id::IdArray,
    driver::Registration,
    macros::paste,
    pci,
    prelude::*,
    InPlaceModule, //
};

/// Name of the module: of the driver, the debugfs directory, and in log lines.
pub(crate) const NAME: &CStr = <LocalModule as kernel::ModuleMetadata>::NAME;

/// Version of the module, as the device and debugfs are told.
pub(crate) const VERSION: &str = "0.1.0";

/// The functions that the driver knows.
///
/// The table is not exported to depmod: installing the module must not make a machine load it at
/// boot and take a card from the driver that users expect (USE-3).
static IDS: IdArray<pci::DeviceId, Kind, 18> = IdArray::new([
    (connectx(0x1013), &Kind::Physical), // ConnectX-4
    (connectx(0x1014), &Kind::Virtual),  // ConnectX-4 VF
    (connectx(0x1015), &Kind::Physical), // ConnectX-4 Lx
    (connectx(0x1016), &Kind::Virtual),  // ConnectX-4 Lx VF
    (connectx(0x1017), &Kind::Physical), // ConnectX-5
    (connectx(0x1018), &Kind::Virtual),  // ConnectX-5 VF
    (connectx(0x1019), &Kind::Physical), // ConnectX-5 Ex
    (connectx(0x101a), &Kind::Virtual),  // ConnectX-5 Ex VF
    (connectx(0x101b), &Kind::Physical), // ConnectX-6
    (connectx(0x101c), &Kind::Virtual),  // ConnectX-6 VF
    (connectx(0x101d), &Kind::Physical), // ConnectX-6 Dx
    (connectx(0x101e), &Kind::Virtual),  // VF from ConnectX-6 Dx on
    (connectx(0x101f), &Kind::Physical), // ConnectX-6 Lx
    (connectx(0x1021), &Kind::Physical), // ConnectX-7
    (connectx(0x1023), &Kind::Physical), // ConnectX-8
    (connectx(0xa2d6), &Kind::Physical), // BlueField-2
    (connectx(0xa2dc), &Kind::Physical), // BlueField-3
    (connectx(0xa2df), &Kind::Physical), // BlueField-4
]);

const fn connectx(device: u32) -> pci::DeviceId {
    pci::DeviceId::from_id(pci::Vendor::MELLANOX, device)
}

/// The driver.
struct Driver;

impl pci::Driver for Driver {
    type IdInfo = Kind;
    type Data<'bound> = Function<'bound>;
    const ID_TABLE: pci::IdTable<Self::IdInfo> = &IDS;

    fn probe<'bound>(
        pdev: &'bound pci::Device<Core<'_>>,
        info: Option<&'bound Self::IdInfo>,
    ) -> impl PinInit<Self::Data<'bound>, Error> + 'bound {
        Function::start(pdev, info)
    }
}

/// The module.
#[pin_data]
struct Module {
    // Dropped first: no function is left when the directory above them goes.
    #[pin]
    _driver: Registration<pci::Adapter<Driver>>,
    _root: debugfs::Root,
}

impl InPlaceModule for Module {
    fn init(module: &'static ThisModule) -> impl PinInit<Self, Error> {
        pin_init::pin_init_scope(move || {
            function::check_parameters()?;
            // SAFETY: This is the module's `init()`, and the driver is registered below.
            let root = unsafe { debugfs::Root::new(NAME)? };

            Ok(try_pin_init!(Self {
                _driver <- Registration::new(NAME, module),
                _root: root,
            }))
        })
    }
}

module! {
    type: Module,
    name: "mlx5_prm_rs",
    authors: ["The mlx5_prm_rs developers"],
    description: "Shows what a ConnectX card says, by its Programmer's Reference Manual",
    license: "GPL",
    params: {
        cmd_timeout_ms: u32 {
            default: 60_000,
            description: "Time that a command may take (10 to 600000 ms)",
        },
        init_timeout_ms: u32 {
            default: 120_000,
            description: "Time that firmware may take to start (100 to 7200000 ms)",
        },
        max_pages: u32 {
            default: 262_144,
            description: "Most 4 KiB pages that firmware may have (1024 to 4194304)",
        },
        checksum: u8 {
            default: 0,
            description: "1: let the device sign mailboxes, and verify outputs",
        },
        recovery_auto: u8 {
            default: 0,
            description: "1: reset and restart a function that died, without being asked",
        },
    },
}
