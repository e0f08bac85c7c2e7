// SPDX-License-Identifier: GPL-2.0

//! Holds the answers of the header against the tables.

use crate::header::{Header, Place, Question};
use crate::prm::layout::{Extent, Field, Kind, Table};

/// What was found out about a field.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum Verdict {
    /// It stands where the header has it.
    Same,
    /// The header lacks it; the text says where it comes from.
    Lacking(&'static str),
    /// It stands elsewhere, knowingly; the first text says how, the second why.
    Known(String, &'static str),
    /// It is wrong.
    Wrong(String),
}

/// What was found out about a layout.
#[derive(Debug)]
pub struct Report {
    /// Name of the type.
    pub name: &'static str,
    /// Name of the structure in the header, empty where there is none.
    pub structure: &'static str,
    /// Each field by its name; the layout's own size has none.
    pub fields: Vec<(&'static str, Verdict)>,
}

impl Report {
    /// Number of fields that stand where the header has them.
    pub fn compared(&self) -> usize {
        let same = |(name, verdict): &&(&str, Verdict)| {
            !name.is_empty() && matches!(verdict, Verdict::Same | Verdict::Known(..))
        };
        self.fields.iter().filter(same).count()
    }

    /// What is wrong, a line each.
    pub fn wrong(&self) -> Vec<String> {
        self.fields
            .iter()
            .filter_map(|(name, verdict)| match verdict {
                Verdict::Wrong(text) if name.is_empty() => Some(text.clone()),
                Verdict::Wrong(text) => Some(format!("{name}: {text}")),
                _ => None,
            })
            .collect()
    }
}

/// Compares all fields of the tables with the header.
///
/// # Errors
///
/// If the header cannot be asked. Differences are no error but part of the reports.
pub fn check(header: &Header, tables: &[&'static Table]) -> Result<Vec<Report>, String> {
    let names = structures(header, tables)?;
    let mut questions = Vec::new();
    for (table, structure) in tables.iter().zip(&names) {
        let Some(structure) = structure else { continue };
        questions.push(Question {
            structure: structure.clone(),
            member: None,
            types: Vec::new(),
        });
        questions.extend(table.fields.iter().map(|field| Question {
            structure: structure.clone(),
            member: Some(field.ifc.unwrap_or(field.name()).to_string()),
            types: types(field),
        }));
    }
    let mut answers = header.ask(&questions)?.into_iter();

    Ok(tables
        .iter()
        .zip(&names)
        .map(|(table, structure)| {
            let mut fields = Vec::new();
            if structure.is_some() {
                fields.push(("", size(table, answers.next().flatten())));
            } else if !table.ifc.is_empty() {
                let text = format!("the header has no structure {}", table.ifc);
                fields.push(("", Verdict::Wrong(text)));
            }
            fields.extend(table.fields.iter().map(|field| {
                let place = structure.as_ref().and_then(|_| answers.next().flatten());
                (field.name(), verdict(table, field, place))
            }));
            Report {
                name: table.name,
                structure: table.ifc,
                fields,
            }
        })
        .collect())
}

/// The C name of each table's structure: most end in `_bits`, a few do not.
fn structures(header: &Header, tables: &[&Table]) -> Result<Vec<Option<String>>, String> {
    let candidates =
        |table: &Table| ["_bits", ""].map(|end| format!("struct mlx5_ifc_{}{end}", table.ifc));
    let named: Vec<_> = tables
        .iter()
        .filter(|table| !table.ifc.is_empty())
        .collect();
    let questions: Vec<_> = named
        .iter()
        .flat_map(|table| candidates(table))
        .map(|structure| Question {
            structure,
            member: None,
            types: Vec::new(),
        })
        .collect();
    let answers = header.ask(&questions)?;

    let mut found = answers
        .chunks(2)
        .zip(questions.chunks(2))
        .map(|(places, questions)| {
            places
                .iter()
                .zip(questions)
                .find(|(place, _)| place.is_some())
                .map(|(_, question)| question.structure.clone())
        });
    Ok(tables
        .iter()
        .map(|table| {
            if table.ifc.is_empty() {
                None
            } else {
                found.next().flatten()
            }
        })
        .collect())
}

/// The C types that a field may have.
fn types(field: &Field) -> Vec<String> {
    match field.kind {
        Kind::Bits { hi, lo } => vec![format!("u8[{}]", hi - lo + 1)],
        Kind::Array { hi, lo, count } => vec![format!("u8[{count}][{}]", hi - lo + 1)],
        // A run of bytes stands for whatever is there: text, a mask, a union of structures.
        Kind::Bytes(_) => Vec::new(),
        Kind::Nested(table) if table.ifc.is_empty() => Vec::new(),
        Kind::Nested(table) => vec![
            format!("struct mlx5_ifc_{}_bits", table.ifc),
            format!("u8[{}][8]", table.size),
        ],
    }
}

fn size(table: &Table, answer: Option<Place>) -> Verdict {
    let Some(Place { size, .. }) = answer else {
        return Verdict::Wrong(format!("the header has no structure {}", table.ifc));
    };
    let end = 8 * (table.base + table.size);

    match table.extent {
        Extent::Whole if end == size => Verdict::Same,
        Extent::Part if end <= size => Verdict::Same,
        Extent::Head if end < size => Verdict::Same,
        _ => Verdict::Wrong(format!(
            "declared as {:?} to {:#x}, while the header's structure ends at {:#x}",
            table.extent,
            end / 8,
            size / 8
        )),
    }
}

fn verdict(table: &Table, field: &Field, answer: Option<Place>) -> Verdict {
    let Some(place) = answer else {
        return match (field.source.or(field.varies), field.differs) {
            (Some(source), None) => Verdict::Lacking(source),
            _ => Verdict::Wrong("the header lacks it, and no source is given".to_string()),
        };
    };
    if field.source.is_some() {
        let text = format!(
            "said to be lacking, but the header has it at {}",
            show(place)
        );
        return Verdict::Wrong(text);
    }

    let declared = declared(table, field);
    let same = (declared.offset, declared.size) == (place.offset, place.size);
    let text = match (same, place.type_fits) {
        (true, true) => None,
        (true, false) => Some("of another type in the header".to_string()),
        (false, _) => Some(format!(
            "declared at {}, while the header has it at {}",
            show(declared),
            show(place)
        )),
    };
    match (text, field.differs) {
        (None, None) => Verdict::Same,
        (None, Some(_)) => Verdict::Wrong("said to differ, but it does not".to_string()),
        (Some(text), Some(reason)) => Verdict::Known(text, reason),
        (Some(text), None) => Verdict::Wrong(text),
    }
}

/// Where a table has a field, counted in bits from the most significant as the header does.
fn declared(table: &Table, field: &Field) -> Place {
    let (first, size) = match field.kind {
        Kind::Bits { hi, lo } => (top(hi) - hi, hi - lo + 1),
        Kind::Array { hi, lo, count } => {
            // The header has arrays without gaps only.
            let width = hi - lo + 1;
            (
                top(hi) - hi,
                width * u32::try_from(count).unwrap_or(u32::MAX),
            )
        }
        Kind::Bytes(count) => (0, bits(count)),
        Kind::Nested(table) => (0, bits(table.size)),
    };

    Place {
        offset: 8 * (table.base + field.offset) + first as usize,
        size: size as usize,
        type_fits: true,
    }
}

fn bits(bytes: usize) -> u32 {
    u32::try_from(8 * bytes).unwrap_or(u32::MAX)
}

/// The most significant bit of the word or pair of words that a field of bits up to `hi` is in.
fn top(hi: u32) -> u32 {
    if hi > 31 {
        63
    } else {
        31
    }
}

/// A place as the manual writes it.
fn show(place: Place) -> String {
    let word = place.offset / 32 * 4;
    let hi = 31 - place.offset % 32;
    match place.size {
        0 => format!("{word:#04x}, without bits"),
        size if size <= hi + 1 => format!("{word:#04x} [{hi}:{}]", hi + 1 - size),
        size => format!("{word:#04x} [{hi}...], {size} bits"),
    }
}
