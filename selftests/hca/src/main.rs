// SPDX-License-Identifier: GPL-2.0

//! The program around the library, which tests and fuzzing share.

fn main() -> std::process::ExitCode {
    hca::run()
}
