// SPDX-License-Identifier: GPL-2.0

//! Every layout, by its table: what `bits` reads and writes is held against a reader that knows
//! nothing but the manual's convention, bit by bit.

use std::collections::BTreeSet;
use std::path::Path;

use mlx5_prm_host::prm::bits;
use mlx5_prm_host::prm::boot::SetDriverVersionIn;
use mlx5_prm_host::prm::eq::{CreateEqIn, EqState, Eqc, EventMask, EventType, QueryEqOut};
use mlx5_prm_host::prm::layout::{Extent, Field, Kind, Layout, Table};
use mlx5_prm_host::prm::registry;
use proptest::prelude::*;
use zerocopy::IntoBytes;

/// A value of a layout: the positions of its bits in memory, most significant first.
///
/// Position 0 is the most significant bit of the first byte.
struct Element {
    field: &'static Field,
    bits: Vec<usize>,
    /// Offset, high and low bit for the functions under test.
    place: (usize, u32, u32),
}

/// The elements of a table, those of nested layouts included.
fn elements(table: &'static Table) -> Vec<Element> {
    let mut all = Vec::new();
    for field in table.fields {
        match field.kind {
            Kind::Bits { hi, lo } => all.push(element(field, field.offset, hi, lo)),
            Kind::Array { hi, lo, count } => {
                let stride = if hi > 31 { 8 } else { 4 };
                all.extend((0..count).map(|i| element(field, field.offset + i * stride, hi, lo)));
            }
            // A run of bytes is no number; its place is that of as many bytes.
            Kind::Bytes(count) => all.push(Element {
                field,
                bits: (8 * field.offset..8 * (field.offset + count)).collect(),
                place: (0, 0, 0),
            }),
            Kind::Nested(inner) => all.extend(elements(inner).into_iter().map(|mut element| {
                element
                    .bits
                    .iter_mut()
                    .for_each(|bit| *bit += 8 * field.offset);
                element.place.0 += field.offset;
                element
            })),
        }
    }
    all
}

/// Bit n of a word at an offset is n bits above the word's last bit in memory, since words are
/// big-endian; a pair of words is a word of 64 bits.
fn element(field: &'static Field, offset: usize, hi: u32, lo: u32) -> Element {
    let last = 8 * offset + if hi > 31 { 63 } else { 31 };
    Element {
        field,
        bits: (lo..=hi).rev().map(|bit| last - bit as usize).collect(),
        place: (offset, hi, lo),
    }
}

fn is_number(element: &Element) -> bool {
    !matches!(element.field.kind, Kind::Bytes(_))
}

fn bit(bytes: &[u8], position: usize) -> bool {
    bytes[position / 8] & (0x80 >> (position % 8)) != 0
}

fn read(bytes: &[u8], element: &Element) -> u64 {
    element.bits.iter().fold(0, |value, position| {
        2 * value + u64::from(bit(bytes, *position))
    })
}

fn bytes_strategy() -> impl Strategy<Value = Vec<u8>> {
    let largest = registry::ALL.iter().map(|table| table.size).max().unwrap();
    proptest::collection::vec(any::<u8>(), largest)
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(16))]

    #[test]
    fn every_field_reads_as_the_manual_counts(bytes in bytes_strategy()) {
        for table in registry::ALL {
            for element in elements(table).iter().filter(|element| is_number(element)) {
                let (offset, hi, lo) = element.place;
                prop_assert_eq!(
                    bits::get(&bytes[..table.size], offset, hi, lo),
                    read(&bytes, element),
                    "{}.{}", table.name, element.field.name()
                );
            }
        }
    }

    #[test]
    fn setting_a_field_changes_its_bits_and_no_other(bytes in bytes_strategy(), seed: u64) {
        for table in registry::ALL {
            for element in elements(table).iter().filter(|element| is_number(element)) {
                let (offset, hi, lo) = element.place;
                let value = seed & (u64::MAX >> (64 - element.bits.len()));
                let mut changed = bytes[..table.size].to_vec();
                bits::set(&mut changed, offset, hi, lo, value);

                prop_assert_eq!(read(&changed, element), value);
                let own: BTreeSet<_> = element.bits.iter().collect();
                for position in (0..8 * table.size).filter(|position| !own.contains(position)) {
                    prop_assert_eq!(bit(&changed, position), bit(&bytes, position));
                }
            }
        }
    }
}

#[test]
fn no_field_reaches_a_reserved_bit() {
    for table in registry::ALL {
        let all = elements(table);
        let mut bytes = vec![0; table.size];
        for element in all.iter().filter(|element| is_number(element)) {
            let (offset, hi, lo) = element.place;
            bits::set(&mut bytes, offset, hi, lo, u64::MAX >> (63 - (hi - lo)));
        }

        let named: BTreeSet<_> = all
            .iter()
            .filter(|e| is_number(e))
            .flat_map(|e| e.bits.clone())
            .collect();
        let set: BTreeSet<_> = (0..8 * table.size).filter(|at| bit(&bytes, *at)).collect();
        assert_eq!(set, named, "{}", table.name);
    }
}

#[test]
fn no_bit_has_two_names() {
    for table in registry::ALL {
        let mut seen = BTreeSet::new();
        for element in elements(table) {
            for position in element.bits {
                assert!(
                    position < 8 * table.size,
                    "{}.{}",
                    table.name,
                    element.field.name()
                );
                assert!(
                    seen.insert(position),
                    "{}.{}",
                    table.name,
                    element.field.name()
                );
            }
        }
    }
}

#[test]
fn names_and_descriptions_are_fit_to_be_shown() {
    for table in registry::ALL {
        let mut names = BTreeSet::new();
        for field in table.fields {
            let place = format!("{}.{}", table.name, field.name());
            assert!(names.insert(field.name()), "{place} stands twice");
            assert!(
                field.description.ends_with('.'),
                "{place}: {}",
                field.description
            );
            assert!(
                field.description.len() <= 90,
                "{place} has no line but a paragraph"
            );
            assert!(!field.name().ends_with('_'), "{place}");
            assert!(!field.access.name().is_empty());
        }
    }
}

#[test]
fn inputs_and_outputs_begin_alike() {
    for table in registry::ALL {
        let names: Vec<_> = table.fields.iter().map(Field::name).collect();
        if table.ifc.ends_with("_in") {
            assert_eq!(names[..3], ["opcode", "uid", "op_mod"], "{}", table.name);
        } else if table.ifc.ends_with("_out") {
            assert_eq!(names[..2], ["status", "syndrome"], "{}", table.name);
        } else {
            assert!(
                !names.contains(&"opcode") && !names.contains(&"syndrome")
                    || names == ["cqn", "syndrome"]
            );
        }
    }
}

/// Declarations in the files of prm/, by what stands before their colon.
fn declared(folder: &Path, names: &mut Vec<String>) {
    for entry in std::fs::read_dir(folder).unwrap() {
        let path = entry.unwrap().path();
        if path.is_dir() {
            declared(&path, names);
        } else if path.file_name().is_some_and(|name| name != "declare.rs") {
            let text = std::fs::read_to_string(&path).unwrap();
            names.extend(text.lines().filter_map(|line| {
                let (name, rest) = line
                    .trim_start()
                    .strip_prefix("pub struct ")?
                    .split_once(": ")?;
                let kind = rest.split(' ').next()?;
                ["input", "output", "plain", "part"]
                    .contains(&kind)
                    .then(|| name.to_string())
            }));
        }
    }
}

#[test]
fn the_registry_has_every_declaration() {
    let mut names = Vec::new();
    declared(
        &Path::new(env!("CARGO_MANIFEST_DIR")).join("../../prm"),
        &mut names,
    );
    let mut registered: Vec<_> = registry::ALL.iter().map(|t| t.name.to_string()).collect();
    names.sort();
    registered.sort();

    assert!(
        names.len() > 90,
        "the search for declarations finds too few: {}",
        names.len()
    );
    assert_eq!(registered, names);
}

#[test]
fn parts_know_where_they_begin() {
    use mlx5_prm_host::prm::iseg;

    assert_eq!(iseg::State::OFFSET, 0x1fc);
    assert_eq!(iseg::Health::OFFSET, 0x1010);
    assert_eq!(iseg::CommandQueueAddress::SIZE, 8);
    assert_eq!(iseg::State::TABLE.extent, Extent::Part);

    let state = iseg::State::from(0x80808000u32.to_be_bytes());
    assert!(state.initializing() && state.embedded_cpu());
    assert_eq!(state.fw_rst_state(), 8);
    let mut doorbell = iseg::Doorbell::new();
    doorbell.set_command_doorbell_vector(5u32);
    assert_eq!(u32::from_be_bytes(doorbell.into()), 5);
}

#[test]
fn runs_of_bytes_and_nested_layouts_are_set_in_place() {
    let mut input = SetDriverVersionIn::new();
    input.set_driver_version(&[0x5a; 64]);
    assert_eq!(input.as_bytes()[..16], [0; 16]);
    assert_eq!(input.as_bytes()[16..], [0x5a; 64]);
    assert_eq!(input.driver_version(), &[0x5a; 64]);

    let mut context = Eqc::new();
    context.set_intr(bits::Bits::new::<5>());
    let mut output = QueryEqOut::new();
    output.set_eq_context_entry(&context);
    assert_eq!(output.as_bytes()[0x27], 5);
    assert_eq!(output.eq_context_entry().intr(), 5);
    assert_eq!(EqState::ARMED.name(), Some("armed"));
}

proptest! {
    #[test]
    fn an_event_is_asked_for_by_its_bit(events: Vec<u8>) {
        let mask = events.iter().fold(EventMask::EMPTY, |mask, e| mask.with(EventType(*e)));
        let mut input = CreateEqIn::new();
        input.set_events(mask);

        for event in 0..=u8::MAX {
            let asked = events.contains(&event);
            prop_assert_eq!(input.events().contains(EventType(event)), asked);
            // Word n / 64 of four at 58h, bit n modulo 64 from the least significant.
            let word = 0x58 + usize::from(event / 64) * 8;
            let position = 8 * word + 63 - usize::from(event % 64);
            prop_assert_eq!(bit(input.as_bytes(), position), asked);
        }
    }

    #[test]
    fn a_mask_counts_from_its_end(mask: [u8; 16], at in 0usize..200) {
        let expected = at < 128 && (u128::from_be_bytes(mask) >> at.min(127)) & 1 != 0;
        prop_assert_eq!(bits::test(&mask, at), expected);
    }

    #[test]
    fn a_value_too_large_is_refused(value: u64) {
        prop_assert_eq!(bits::Bits::<24>::try_new(value).is_some(), value < 1 << 24);
        prop_assert_eq!(bits::Bits::<24>::low(value).get(), value % (1 << 24));
        prop_assert_eq!(bits::Bits::<64>::try_new(value).map(bits::Bits::get), Some(value));
    }
}
