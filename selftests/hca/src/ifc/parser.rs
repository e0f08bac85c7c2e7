// SPDX-License-Identifier: GPL-2.0

//! Reader for the subset of C that the kernel's `mlx5_ifc.h` is written in.
//!
//! A layout is a `struct` or `union` whose members are arrays of `u8`, one element a bit, or
//! other layouts. Offsets follow from the order: bit 0 of a layout is the most significant bit
//! of its first byte.

use std::collections::BTreeMap;

/// All that one header text declares.
#[derive(Debug, Default)]
pub struct Header {
    /// Layouts in the order in which they become known; members refer to them by index.
    pub layouts: Vec<Layout>,
    /// `MLX5_CMD_OP_*` without the prefix, in the order of the header.
    pub opcodes: Vec<(String, u64)>,
}

/// A struct or union.
#[derive(Debug)]
pub struct Layout {
    /// Without the prefix `mlx5_ifc_` and the suffix `_bits`.
    pub name: String,
    /// Size without a variable tail.
    pub bits: u32,
    pub union: bool,
    /// Declared inside another layout.
    pub anonymous: bool,
    pub members: Vec<Member>,
}

/// A member of a layout.
#[derive(Debug)]
pub struct Member {
    /// Empty for a union without a name.
    pub name: String,
    /// Offset in the layout.
    pub bit: u32,
    /// Width of one element.
    pub width: u32,
    /// Number of elements; 0 is a variable tail.
    pub count: u32,
    pub kind: Kind,
}

/// What a member holds.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Kind {
    Reserved,
    Value,
    /// Index in [`Header::layouts`].
    Layout(usize),
}

/// Parses the text of one or more headers.
///
/// # Errors
///
/// The first construct that is not understood, with its line.
pub fn parse(text: &str) -> Result<Header, String> {
    let (tokens, defines) = tokenize(text);
    let mut p = Parser {
        tokens,
        at: 0,
        defines,
        header: Header::default(),
        by_name: BTreeMap::new(),
    };
    p.run()?;
    Ok(p.header)
}

struct Token {
    text: String,
    line: usize,
}

/// Splits into words, numbers and single signs; comments are dropped, simple `#define`s kept.
fn tokenize(text: &str) -> (Vec<Token>, BTreeMap<String, String>) {
    let mut tokens = Vec::new();
    let mut defines = BTreeMap::new();
    let joined = text.replace("\\\n", " \u{1}");
    let mut line = 1;
    let mut rest = joined.as_str();
    let mut fresh = true;
    while let Some(c) = rest.chars().next() {
        if rest.starts_with("/*") {
            let end = rest.find("*/").map_or(rest.len(), |e| e + 2);
            line += rest[..end].matches(['\n', '\u{1}']).count();
            rest = &rest[end..];
            continue;
        }
        if rest.starts_with("//") || (c == '#' && fresh) {
            let end = rest.find('\n').unwrap_or(rest.len());
            let words: Vec<&str> = rest[..end].split_whitespace().collect();
            if words.len() >= 3 && words[0] == "#define" && !words[1].contains('(') {
                defines.insert(words[1].to_string(), words[2..].join(" "));
            }
            line += rest[..end].matches('\u{1}').count();
            rest = &rest[end..];
            continue;
        }
        let word = rest
            .find(|c: char| !(c.is_alphanumeric() || c == '_'))
            .unwrap_or(rest.len());
        let length = if word > 0 { word } else { c.len_utf8() };
        if c == '\n' || c == '\u{1}' {
            line += 1;
            fresh = true;
        } else if !c.is_whitespace() {
            fresh = false;
            tokens.push(Token {
                text: rest[..length].to_string(),
                line,
            });
        }
        rest = &rest[length..];
    }
    (tokens, defines)
}

struct Parser {
    tokens: Vec<Token>,
    at: usize,
    defines: BTreeMap<String, String>,
    header: Header,
    by_name: BTreeMap<String, usize>,
}

impl Parser {
    fn peek(&self) -> &str {
        self.peek_at(0)
    }

    fn peek_at(&self, ahead: usize) -> &str {
        self.tokens.get(self.at + ahead).map_or("", |t| &t.text)
    }

    fn next(&mut self) -> String {
        let text = self.peek().to_string();
        self.at += 1;
        text
    }

    fn expect(&mut self, sign: &str) -> Result<(), String> {
        let got = self.next();
        if got == sign {
            Ok(())
        } else {
            self.at -= 1;
            Err(self.error(&format!("expected `{sign}`, found `{got}`")))
        }
    }

    fn error(&self, what: &str) -> String {
        let line = self.tokens.get(self.at).map_or(0, |t| t.line);
        format!("line {line}: {what}")
    }

    fn run(&mut self) -> Result<(), String> {
        while self.at < self.tokens.len() {
            match self.peek() {
                "enum" => self.enumeration()?,
                "struct" | "union" if self.peek_at(2) == "{" => {
                    let union = self.next() == "union";
                    let tag = self.next();
                    let index = self.body(&bare_name(&tag), union, false)?;
                    self.by_name.insert(tag, index);
                    self.expect(";")?;
                }
                // Inline functions and forward declarations do not occur as layouts.
                _ => self.at += 1,
            }
        }
        Ok(())
    }

    fn enumeration(&mut self) -> Result<(), String> {
        while !matches!(self.peek(), "{" | ";" | "") {
            self.at += 1;
        }
        let mut depth = 0;
        loop {
            match self.peek() {
                "{" => depth += 1,
                "}" => depth -= 1,
                "" => return Err(self.error("enum without an end")),
                name if name.starts_with("MLX5_CMD_OP_") && self.peek_at(1) == "=" => {
                    let name = name["MLX5_CMD_OP_".len()..].to_string();
                    if let Some(value) = number(self.peek_at(2)) {
                        if name != "MAX" {
                            self.header.opcodes.push((name, value));
                        }
                    }
                }
                _ => {}
            }
            self.at += 1;
            if depth == 0 {
                return Ok(());
            }
        }
    }

    /// Parses `{ members }` and returns the new layout's index.
    fn body(&mut self, name: &str, union: bool, anonymous: bool) -> Result<usize, String> {
        self.expect("{")?;
        let mut members = Vec::new();
        let mut offset = 0;
        let mut bits = 0;
        while self.peek() != "}" {
            if self.peek().is_empty() {
                return Err(self.error(&format!("no end of {name}")));
            }
            let mut member = self.member(name)?;
            member.bit = offset;
            let size = member.width.saturating_mul(member.count);
            if union {
                bits = bits.max(size);
            } else {
                offset += size;
                bits = offset;
            }
            members.push(member);
        }
        self.expect("}")?;
        self.header.layouts.push(Layout {
            name: name.to_string(),
            bits,
            union,
            anonymous,
            members,
        });
        Ok(self.header.layouts.len() - 1)
    }

    fn member(&mut self, owner: &str) -> Result<Member, String> {
        let flexible = self.peek() == "DECLARE_FLEX_ARRAY";
        if flexible {
            self.at += 1;
            self.expect("(")?;
        }
        let word = self.next();
        let (kind, width) = match word.as_str() {
            "u8" => (Kind::Value, 1),
            "struct" | "union" => {
                let index = if self.peek() == "{" {
                    let name = format!("{owner}__{}", self.at);
                    self.body(&name, word == "union", true)?
                } else {
                    let tag = self.next();
                    *self
                        .by_name
                        .get(&tag)
                        .ok_or_else(|| self.error(&format!("{tag} is not known yet")))?
                };
                (Kind::Layout(index), self.header.layouts[index].bits)
            }
            other => return Err(self.error(&format!("a member of {owner} starts with `{other}`"))),
        };
        if flexible {
            self.expect(",")?;
        }
        let name = if self.peek() == ";" {
            String::new()
        } else {
            self.next()
        };
        let mut sizes = Vec::new();
        if flexible {
            self.expect(")")?;
            sizes.push(0);
        }
        while self.peek() == "[" {
            self.at += 1;
            let mut text = String::new();
            while self.peek() != "]" {
                text.push_str(&self.next());
                text.push(' ');
            }
            self.expect("]")?;
            sizes.push(if text.is_empty() {
                0
            } else {
                self.evaluate(&text)?
            });
        }
        self.expect(";")?;
        let (width, count) = match (kind, sizes.as_slice()) {
            // One dimension of `u8` is a width in bits, two are a count and a width.
            (Kind::Value, []) => (1, 1),
            (Kind::Value, [0]) => (8, 0),
            (Kind::Value, [w]) => (*w, 1),
            (Kind::Value, [n, w]) => (*w, *n),
            (_, []) => (width, 1),
            (_, [n]) => (width, *n),
            _ => return Err(self.error(&format!("{owner}.{name} has too many dimensions"))),
        };
        let reserved = name.starts_with("reserved") && kind == Kind::Value;
        Ok(Member {
            name,
            bit: 0,
            width,
            count,
            kind: if reserved { Kind::Reserved } else { kind },
        })
    }

    /// Sums of numbers and of macros that stand for such.
    fn evaluate(&self, text: &str) -> Result<u32, String> {
        let clean = text.replace(['(', ')', '\u{1}'], " ");
        let mut sum: u32 = 0;
        for part in clean.split('+') {
            let part = part.trim();
            let value = match (number(part), self.defines.get(part)) {
                (Some(v), _) => u32::try_from(v).map_err(|_| self.error("size too large"))?,
                (None, Some(text)) => self.evaluate(text)?,
                _ => return Err(self.error(&format!("`{part}` is no size"))),
            };
            sum = sum.saturating_add(value);
        }
        Ok(sum)
    }
}

fn bare_name(tag: &str) -> String {
    let s = tag.strip_prefix("mlx5_ifc_").unwrap_or(tag);
    s.strip_suffix("_bits").unwrap_or(s).to_string()
}

fn number(text: &str) -> Option<u64> {
    let text = text.trim_end_matches(['U', 'L', 'u', 'l']);
    match text.strip_prefix("0x").or_else(|| text.strip_prefix("0X")) {
        Some(hex) => u64::from_str_radix(hex, 16).ok(),
        None => text.parse().ok(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn offsets_follow_from_the_order() {
        let h = parse(
            "#define N (2)\n#define M (1) + \\\n N\nstruct mlx5_ifc_in_bits { u8 a[0x4]; u8 reserved_at_4[0x1c]; };\n\
             struct mlx5_ifc_out_bits { u8 x[0x10]; /* c */ struct mlx5_ifc_in_bits e[M];\n\
             union { u8 p[0x20]; struct { u8 q[0x8]; u8 r[0x8]; }; }; u8 pas[][0x40]; };",
        )
        .unwrap();
        let out = h.layouts.iter().find(|l| l.name == "out").unwrap();
        let at: Vec<_> = out
            .members
            .iter()
            .map(|m| (m.name.as_str(), m.bit, m.width, m.count))
            .collect();
        assert_eq!(
            at,
            [
                ("x", 0, 16, 1),
                ("e", 16, 32, 3),
                ("", 112, 32, 1),
                ("pas", 144, 64, 0)
            ]
        );
        assert_eq!(out.bits, 144);
    }

    #[test]
    fn opcodes_are_found() {
        let h = parse("enum { MLX5_CMD_OP_QUERY_EQ = 0x303, MLX5_CMD_OP_MAX };").unwrap();
        assert_eq!(h.opcodes, [("QUERY_EQ".to_string(), 0x303)]);
    }

    #[test]
    fn what_is_not_understood_names_its_line() {
        let e = parse("\nstruct mlx5_ifc_x_bits {\n u16 a; };").unwrap_err();
        assert!(e.starts_with("line 3:"), "{e}");
    }
}
