// SPDX-License-Identifier: GPL-2.0

//! Dumps of every layout.

use super::print;
use crate::{
    input::Input,
    naive, //
};
use mlx5_prm_host::prm::{
    dump,
    layout::Table,
    registry, //
};

fn table(input: &mut Input<'_>) -> &'static Table {
    registry::ALL[input.below(registry::ALL.len())]
}

/// A dump shows each bit once, and nothing else: the bytes can be made of it again.
pub fn whole(input: &mut Input<'_>) {
    let table = table(input);
    let base = input.u64() as usize;
    let bytes = input.rest();
    let text = print(|w| dump::write(w, table, 0, bytes));

    if let Some(known) = bytes.get(..table.size) {
        assert_eq!(naive::undump(&text, table.size), known, "{text}");
    } else {
        // What there is not is not shown, and that is said.
        let shown = naive::undump(&text, table.size);
        assert!(shown[bytes.len()..].iter().all(|byte| *byte == 0), "{text}");
        let left_out = table
            .fields
            .iter()
            .any(|field| field.offset + field.kind.size() > bytes.len());
        assert_eq!(text.contains("lie beyond"), left_out, "{text}");
    }
    // Elsewhere it differs by the offsets only.
    let elsewhere = print(|w| dump::write(w, table, base, bytes));
    assert_eq!(text.lines().count(), elsewhere.lines().count());
}

/// A dump of two values side by side shows both.
pub fn pair(input: &mut Input<'_>) {
    let table = table(input);
    let length = input.below(0x1001);
    let (current, maximum) = (input.bytes(length), input.rest());
    let text = print(|w| dump::write_pair(w, table, current, maximum));

    let fields = |text: &str| -> Vec<(String, String, String)> {
        text.lines()
            .filter(|line| !line.contains("reserved: "))
            .map(|line| {
                let (place, values) = line.split_once(": ").expect("a place and values");
                let (current, maximum) = values.split_once(" max ").expect("two values");
                (place.into(), current.into(), maximum.into())
            })
            .collect()
    };
    let swapped = print(|w| dump::write_pair(w, table, maximum, current));
    let expected: Vec<_> = fields(&swapped)
        .into_iter()
        .map(|(place, maximum, current)| (place, current, maximum))
        .collect();
    assert_eq!(fields(&text), expected);
}
