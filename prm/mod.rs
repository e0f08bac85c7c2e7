// SPDX-License-Identifier: GPL-2.0

//! The manual as code: what the *Mellanox Adapters Programmer's Reference Manual* (PRM) prints.
//!
//! A chapter of the manual is a file here, a table of it a [`layout`] declaration, a list of codes a
//! function that names them. Nothing here knows the kernel: the files are compiled a second time for
//! tests on the host and for the comparison with the kernel's header.
//!
//! # Conventions of the manual
//!
//! Offsets are in bytes, hexadecimal with an `h` behind in text and comments; bit 31 is the most
//! significant of a word; words are big-endian in memory ([`bits`]). "Reserved" bits of an input are
//! zero, since some firmware rejects anything else; no name reaches them.

#![allow(
    unreachable_pub,
    reason = "the files are public in the crates on the host that include them"
)]

pub mod bits;
pub mod command;
pub mod dump;
pub mod layout;
pub mod opcode;
pub mod queue;
pub mod status;
