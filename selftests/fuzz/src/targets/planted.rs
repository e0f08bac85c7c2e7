// SPDX-License-Identifier: GPL-2.0

//! Mistakes that fuzzing has to find: who cannot find these proves nothing with the others.

use crate::input::Input;

/// A sum that overflows, behind a word that only coverage leads to: four bytes at random would take
/// billions of runs.
pub fn run(input: &mut Input<'_>) {
    for letter in *b"PRM!" {
        if input.u8() != letter {
            return;
        }
    }
    let [a, b] = input.array();
    std::hint::black_box::<u8>(a + b);
}
