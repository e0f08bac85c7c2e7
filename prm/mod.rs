// SPDX-License-Identifier: GPL-2.0

//! The manual as code: what the *Mellanox Adapters Programmer's Reference Manual* (PRM) prints.
//!
//! A chapter of the manual is a file here, a table of it a [`layout`](declare) declaration, a list
//! of its codes a [`codes`] declaration, a command a [`command`] declaration. Nothing here knows
//! the kernel: the files are compiled a second time for tests on the host and for the comparison
//! with the kernel's header.
//!
//! # Conventions of the manual
//!
//! Offsets are in bytes, hexadecimal with an `h` behind in text and comments; bit 31 is the most
//! significant of a word; words are big-endian in memory ([`bits`]). "Reserved" bits of an input
//! are zero, since some firmware rejects anything else; no name reaches them.

#![allow(
    unreachable_pub,
    reason = "the files are public in the crates on the host that include them"
)]
#![allow(
    dead_code,
    reason = "a table or list of the manual is here as a whole, whatever part of it is used"
)]

pub mod access_reg;
pub mod bits;
pub mod boot;
pub mod caps;
pub mod codes;
pub mod command;
pub mod declare;
pub mod dump;
pub mod eq;
pub mod esw;
pub mod event;
pub mod health;
pub mod iseg;
pub mod layout;
pub mod opcode;
pub mod pages;
pub mod queue;
pub mod registry;
pub mod status;
pub mod timeout;
pub mod uar;
