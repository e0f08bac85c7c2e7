// SPDX-License-Identifier: GPL-2.0

//! Compares the layouts of the module, field by field, with the kernel's `mlx5_ifc.h`.
//!
//! The header is not parsed. A C program asks the compiler for the place of every field that the
//! module declares, so that the answer is what a C driver would use:
//!
//! 1. [`header`] writes the questions, has the compiler say which of them name something that the
//!    header lacks, and runs the rest;
//! 2. [`check`] holds the answers against the tables.
//!
//! A field that the header lacks has to say where it comes from, and a field that stands elsewhere
//! why; one that says so without need is a difference as well. The header is found by
//! `MLX5_IFC_DIR` (`include/linux/mlx5` of a kernel tree) or `KSRC` (the tree).

#![recursion_limit = "512"]

#[doc(hidden)]
pub use paste::paste;

#[path = "../../../prm/mod.rs"]
pub mod prm;

pub mod check;
pub mod header;
