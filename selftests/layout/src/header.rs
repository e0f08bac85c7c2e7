// SPDX-License-Identifier: GPL-2.0

//! Questions about the header, answered by the C compiler.

use std::collections::BTreeSet;
use std::ffi::OsString;
use std::fmt::Write as _;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::atomic::{AtomicUsize, Ordering};

/// What the header needs that a user space program does not have.
const PRELUDE: &str = r#"
#include <stddef.h>
#include <stdio.h>
typedef unsigned char u8;
#define BIT(n) (1ul << (n))
#define BIT_ULL(n) (1ull << (n))
#define DECLARE_FLEX_ARRAY(type, name) struct { struct {} empty_ ## name; type name[]; }
#define SAME(a, b) __builtin_types_compatible_p(a, b)
#include "mlx5_ifc.h"
"#;

/// Under this name the compiler reports the lines that are questions.
const QUESTIONS: &str = "questions";

/// A member of a structure of the header.
#[derive(Debug)]
pub struct Question {
    /// The structure as C names it, such as `struct mlx5_ifc_eqe_bits`.
    pub structure: String,
    /// The member; [`None`] asks for the structure itself.
    pub member: Option<String>,
    /// C types of which the member's has to be one; none: any.
    pub types: Vec<String>,
}

/// Where a member stands, in bits.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Place {
    /// From the structure's beginning.
    pub offset: usize,
    /// Its size.
    pub size: usize,
    /// Whether it has one of the types that were asked for.
    pub type_fits: bool,
}

/// A header, and the means to ask about it.
pub struct Header {
    folder: PathBuf,
    compiler: OsString,
    scratch: PathBuf,
}

impl Header {
    /// Finds the header by the environment; questions are compiled in the folder `scratch`.
    ///
    /// # Errors
    ///
    /// What is missing, and what to set.
    pub fn from_env(scratch: &Path) -> Result<Self, String> {
        let folder = std::env::var_os("MLX5_IFC_DIR")
            .map(PathBuf::from)
            .or_else(|| {
                let tree = std::env::var_os("KSRC").or_else(|| std::env::var_os("KERNEL_DIR"))?;
                Some(Path::new(&tree).join("include/linux/mlx5"))
            })
            .ok_or("neither MLX5_IFC_DIR nor KSRC is set; set KSRC to a kernel tree")?;
        if !folder.join("mlx5_ifc.h").is_file() {
            return Err(format!(
                "there is no mlx5_ifc.h in {}; set KSRC to a kernel tree",
                folder.display()
            ));
        }

        Ok(Self {
            folder,
            compiler: std::env::var_os("CC").unwrap_or_else(|| "gcc".into()),
            scratch: scratch.to_path_buf(),
        })
    }

    /// Answers the questions in their order; [`None`] where the header lacks the member, or the
    /// structure where that is asked for.
    ///
    /// # Errors
    ///
    /// If the compiler complains of anything else, or cannot be run.
    pub fn ask(&self, questions: &[Question]) -> Result<Vec<Option<Place>>, String> {
        let lines: Vec<_> = questions.iter().map(line).collect();
        let answers = self.evaluate(&lines)?;

        Ok(answers
            .into_iter()
            .map(|answer| {
                answer.map(|[offset, size, fits]| Place {
                    offset,
                    size,
                    type_fits: fits != 0,
                })
            })
            .collect())
    }

    /// The values of constants, by their C names; [`None`] where the header lacks one.
    ///
    /// # Errors
    ///
    /// As for [`Header::ask`].
    pub fn constants(&self, names: &[String]) -> Result<Vec<Option<usize>>, String> {
        let lines: Vec<_> = names
            .iter()
            .map(|name| format!("(unsigned long)({name}), 0ul, 0"))
            .collect();
        let answers = self.evaluate(&lines)?;

        Ok(answers
            .into_iter()
            .map(|answer| answer.map(|[value, _, _]| value))
            .collect())
    }

    /// Names of the header's constants that begin with `prefix`, which is left out.
    ///
    /// # Errors
    ///
    /// If the header cannot be read.
    pub fn constants_with(&self, prefix: &str) -> Result<Vec<String>, String> {
        let path = self.folder.join("mlx5_ifc.h");
        let text = std::fs::read_to_string(&path)
            .map_err(|e| format!("cannot read {}: {e}", path.display()))?;

        Ok(text
            .lines()
            .filter_map(|line| {
                let (name, value) = line.split_once('=')?;
                let name = name.trim().strip_prefix(prefix)?;
                (!value.contains("MLX5_")).then(|| name.to_string())
            })
            .collect())
    }

    /// The numbers that each line's three C expressions have.
    fn evaluate(&self, lines: &[String]) -> Result<Vec<Option<[usize; 3]>>, String> {
        static RUNS: AtomicUsize = AtomicUsize::new(0);
        let run = RUNS.fetch_add(1, Ordering::Relaxed);
        let name = format!("probe-{}-{run}.c", std::process::id());
        let source = self.scratch.join(name);
        let program = source.with_extension("");

        let lacking = self.lacking(&source, lines)?;
        let kept: Vec<_> = lines
            .iter()
            .enumerate()
            .map(|(i, line)| {
                if lacking.contains(&i) {
                    ""
                } else {
                    line.as_str()
                }
            })
            .collect();
        write(&source, &kept)?;
        let (ok, messages) = self.compile(&source, &["-o".into(), program.clone().into()])?;
        if !ok {
            return Err(messages);
        }
        let output = Command::new(&program)
            .output()
            .map_err(|e| format!("cannot run {}: {e}", program.display()))?;

        let answers = parse(&String::from_utf8_lossy(&output.stdout), lines.len())?;
        for file in [&source, &program] {
            std::fs::remove_file(file).map_err(|e| format!("{}: {e}", file.display()))?;
        }
        match (0..lines.len()).find(|i| answers[*i].is_none() != lacking.contains(i)) {
            Some(i) => Err(format!("the C program has not answered '{}'", lines[i])),
            None => Ok(answers),
        }
    }

    /// Numbers of the lines that name something that the header lacks.
    fn lacking(&self, source: &Path, lines: &[String]) -> Result<BTreeSet<usize>, String> {
        let kept: Vec<_> = lines.iter().map(String::as_str).collect();
        write(source, &kept)?;
        let (ok, messages) = self.compile(source, &["-fsyntax-only".into()])?;
        let mut lacking = BTreeSet::new();
        if ok {
            return Ok(lacking);
        }

        for message in messages.lines().filter(|line| line.contains("error:")) {
            let known = [
                "has no member named",
                "incomplete type",
                "undefined type",
                "undeclared",
            ];
            let number = message
                .strip_prefix(QUESTIONS)
                .and_then(|rest| rest.strip_prefix(':')?.split(':').next()?.parse().ok())
                .filter(|_| known.iter().any(|text| message.contains(text)));
            match number {
                Some(1usize..) => lacking.extend(number.map(|number| number - 1)),
                _ => return Err(messages),
            }
        }
        Ok(lacking)
    }

    /// Runs the compiler; whether it was content, and what it said.
    fn compile(&self, source: &Path, arguments: &[OsString]) -> Result<(bool, String), String> {
        let output = Command::new(&self.compiler)
            .env("LC_ALL", "C")
            .args([
                "-std=gnu11",
                "-w",
                "-fmax-errors=0",
                "-fdiagnostics-color=never",
                "-I",
            ])
            .arg(&self.folder)
            .args(arguments)
            .arg(source)
            .output()
            .map_err(|e| {
                let name = self.compiler.to_string_lossy();
                format!("cannot run the C compiler {name}: {e}; set CC to another")
            })?;

        Ok((
            output.status.success(),
            String::from_utf8_lossy(&output.stderr).into_owned(),
        ))
    }
}

/// The statement that prints a question's answer.
fn line(question: &Question) -> String {
    let structure = &question.structure;
    let Some(member) = &question.member else {
        return format!("0ul, sizeof({structure}), 1");
    };
    let place = format!("(({structure} *)0)->{member}");
    let fits = match question.types.as_slice() {
        [] => "1".to_string(),
        types => types
            .iter()
            .map(|name| format!("SAME(__typeof__({place}), {name})"))
            .collect::<Vec<_>>()
            .join(" || "),
    };

    format!("__builtin_offsetof({structure}, {member}), sizeof({place}), {fits}")
}

/// Writes the program; an empty line asks nothing.
fn write(source: &Path, lines: &[&str]) -> Result<(), String> {
    let mut text = format!("{PRELUDE}int main(void) {{\n#line 1 \"{QUESTIONS}\"\n");
    for (i, line) in lines.iter().enumerate() {
        if !line.is_empty() {
            let _ = write!(text, "printf(\"{i} %lu %lu %d\\n\", {line});");
        }
        text.push('\n');
    }
    text.push_str("return 0; }\n");

    std::fs::write(source, text).map_err(|e| format!("cannot write {}: {e}", source.display()))
}

/// Reads lines of a question's number and its three answers.
fn parse(text: &str, count: usize) -> Result<Vec<Option<[usize; 3]>>, String> {
    let mut answers = vec![None; count];
    for line in text.lines() {
        let numbers: Option<Vec<usize>> = line.split(' ').map(|n| n.parse().ok()).collect();
        let Some(&[number, first, second, third]) = numbers.as_deref() else {
            return Err(format!("the C program printed '{line}'"));
        };
        let answer = answers
            .get_mut(number)
            .ok_or(format!("answer {number} was not asked for"))?;
        *answer = Some([first, second, third]);
    }
    Ok(answers)
}
