// SPDX-License-Identifier: GPL-2.0

//! Generates the layout tables of the model from the kernel's `mlx5_ifc.h`.
//!
//! The folder with the header is named by the environment variable `MLX5_IFC_DIR` (in a kernel
//! tree: `include/linux/mlx5`). The model's offsets come from there and from nowhere else, so
//! that one wrong offset in a driver cannot satisfy both sides.

#[path = "src/ifc/parser.rs"]
mod parser;

use std::fmt::Write as _;
use std::path::{
    Path,
    PathBuf, //
};

use parser::{
    Kind,
    Layout, //
};

/// Parsed in this order; each builds on the ones before it.
const HEADERS: [&str; 3] = ["mlx5_ifc_fpga.h", "mlx5_ifc.h", "mlx5_ifc_vdpa.h"];

fn main() {
    println!("cargo:rerun-if-env-changed=MLX5_IFC_DIR");
    println!("cargo:rerun-if-changed=build.rs");
    println!("cargo:rerun-if-changed=src/ifc/parser.rs");
    if let Err(reason) = generate() {
        eprintln!("hca: cannot generate the layout tables: {reason}");
        std::process::exit(1);
    }
}

fn generate() -> Result<(), String> {
    let dir = std::env::var("MLX5_IFC_DIR").map_err(|_| {
        "MLX5_IFC_DIR is not set; point it at include/linux/mlx5 of a kernel tree".to_string()
    })?;
    let mut text = String::new();
    for name in HEADERS {
        let path = Path::new(&dir).join(name);
        println!("cargo:rerun-if-changed={}", path.display());
        let part = std::fs::read_to_string(&path)
            .map_err(|e| format!("cannot read {}: {e}", path.display()))?;
        text.push_str(&part);
        text.push('\n');
    }
    let header = parser::parse(&text)?;
    let out = PathBuf::from(std::env::var("OUT_DIR").map_err(|e| e.to_string())?);
    write_file(&out.join("structs.rs"), &structs(&header))?;
    write_file(&out.join("fields.rs"), &fields(&header))?;
    write_file(&out.join("opcodes.rs"), &opcodes(&header))
}

fn write_file(path: &Path, text: &str) -> Result<(), String> {
    std::fs::write(path, text).map_err(|e| format!("cannot write {}: {e}", path.display()))
}

/// The table of all layouts, for checks and for access by name.
fn structs(header: &parser::Header) -> String {
    let mut s = String::new();
    let _ = writeln!(
        s,
        "pub static LAYOUTS: [Layout; {}] = [",
        header.layouts.len()
    );
    for layout in &header.layouts {
        let _ = writeln!(
            s,
            "Layout {{ name: {:?}, bits: {}, union: {}, members: &[",
            layout.name, layout.bits, layout.union
        );
        for m in &layout.members {
            let kind = match m.kind {
                Kind::Reserved => "Kind::Reserved".to_string(),
                Kind::Value => "Kind::Value".to_string(),
                Kind::Layout(i) => format!("Kind::Layout({i})"),
            };
            let _ = writeln!(
                s,
                "Member {{ name: {:?}, bit: {}, width: {}, count: {}, kind: {kind} }},",
                m.name, m.bit, m.width, m.count
            );
        }
        s.push_str("] },\n");
    }
    s.push_str("];\n");
    s
}

/// One module a layout with one constant a member, for access that the compiler checks.
fn fields(header: &parser::Header) -> String {
    let mut s = String::new();
    for layout in header.layouts.iter().filter(|l| !l.anonymous) {
        let _ = writeln!(
            s,
            "#[allow(unused_imports)] pub mod {} {{ use super::Field;",
            layout.name
        );
        let _ = writeln!(s, "pub const BYTES: usize = {};", layout.bits / 8);
        let mut seen = std::collections::BTreeSet::new();
        constants(header, layout, 0, &mut seen, &mut s);
        s.push_str("}\n");
    }
    s
}

fn constants(
    header: &parser::Header,
    layout: &Layout,
    base: u32,
    seen: &mut std::collections::BTreeSet<String>,
    s: &mut String,
) {
    for m in &layout.members {
        // The members of a union without a name belong to the layout around it.
        if let Kind::Layout(i) = m.kind {
            if m.name.is_empty() {
                constants(header, &header.layouts[i], base + m.bit, seen, s);
                continue;
            }
        }
        let name = m.name.to_uppercase();
        if matches!(m.kind, Kind::Reserved) || name == "BYTES" || !seen.insert(name.clone()) {
            continue;
        }
        let _ = writeln!(
            s,
            "pub const {name}: Field = Field {{ bit: {}, width: {}, count: {} }};",
            base + m.bit,
            m.width,
            m.count
        );
    }
}

/// `MLX5_CMD_OP_*`: a constant each, and a table of names.
fn opcodes(header: &parser::Header) -> String {
    let mut s = String::new();
    for (name, value) in &header.opcodes {
        let _ = writeln!(s, "pub const {}: u16 = 0x{value:X};", constant_name(name));
    }
    let _ = writeln!(
        s,
        "pub static NAMES: [(u16, &str); {}] = [",
        header.opcodes.len()
    );
    for (name, value) in &header.opcodes {
        let _ = writeln!(s, "(0x{value:X}, {name:?}),");
    }
    s.push_str("];\n");
    s
}

/// An identifier cannot start with a digit: 2ERR_QP becomes TO_ERR_QP.
fn constant_name(name: &str) -> String {
    match name.strip_prefix('2') {
        Some(rest) => format!("TO_{rest}"),
        None => name.to_string(),
    }
}
