// SPDX-License-Identifier: GPL-2.0

//! The conformance log: each violation of a rule by the driver.

use std::fs::File;
use std::io::Write;

use crate::rules::{
    Rule,
    RULES, //
};

/// A known behaviour of a driver that is not counted as a violation.
pub struct Exception {
    /// Name under which the README lists it.
    pub name: &'static str,
    /// Value of `--exceptions`.
    pub driver: &'static str,
    pub rule: Rule,
    /// Command, register or event that it is about; empty for any.
    pub subject: &'static str,
    /// Part of the violation's text; empty for any.
    pub text: &'static str,
}

/// All named exceptions. The README says why each is there.
pub const EXCEPTIONS: &[Exception] = &[Exception {
    name: "cached-chains",
    driver: "mlx5_core",
    rule: Rule::ChainLong,
    subject: "",
    text: "",
}];

/// One violation.
#[derive(Debug, Clone)]
pub struct Violation {
    pub sequence: u64,
    pub rule: Rule,
    /// Command or register that it is about.
    pub subject: String,
    pub text: String,
    /// Name of the exception that covers it.
    pub exception: Option<&'static str>,
}

/// Stands for the name of an exception where a test expects a violation.
const EXPECTED: &str = "expected";

impl std::fmt::Display for Violation {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(
            f,
            "{} {} {}: {} (rule: {})",
            self.sequence,
            self.rule.name(),
            self.subject,
            self.text,
            self.rule.text()
        )?;
        match self.exception {
            Some(name) => write!(f, " [exception {name}]"),
            None => Ok(()),
        }
    }
}

/// Number of violations kept for the control socket; the file has all.
const KEPT: usize = 10_000;

/// Collects violations and writes them to the file at once.
#[derive(Default)]
pub struct Conformance {
    file: Option<File>,
    driver: String,
    /// Rules that a test makes the driver violate, as by a command that it cannot end properly.
    expected: Vec<Rule>,
    sequence: u64,
    violations: Vec<Violation>,
    excepted: Vec<Violation>,
}

impl Conformance {
    /// Creates the log.
    ///
    /// # Errors
    ///
    /// If the file cannot be created.
    pub fn new(path: Option<&str>, driver: &str) -> std::io::Result<Conformance> {
        Ok(Conformance {
            file: path.map(File::create).transpose()?,
            driver: driver.to_string(),
            ..Conformance::default()
        })
    }

    /// Notes a violation.
    pub fn report(&mut self, rule: Rule, subject: &str, text: impl Into<String>) {
        let text = text.into();
        let exception = EXCEPTIONS.iter().find(|e| {
            e.driver == self.driver
                && e.rule == rule
                && (e.subject.is_empty() || e.subject == subject)
                && text.contains(e.text)
        });
        let exception = exception
            .map(|e| e.name)
            .or_else(|| self.expected.contains(&rule).then_some(EXPECTED));
        self.sequence += 1;
        let violation = Violation {
            sequence: self.sequence,
            rule,
            subject: subject.to_string(),
            text,
            exception,
        };
        let list = if exception.is_some() {
            &mut self.excepted
        } else {
            if let Some(file) = &mut self.file {
                // The list still has it if the disk is full.
                let _ = writeln!(file, "{violation}");
            }
            &mut self.violations
        };
        if list.len() < KEPT {
            list.push(violation);
        }
    }

    /// Takes violations of these rules for what a test wants, until it is called again.
    ///
    /// # Errors
    ///
    /// The name that no rule has.
    pub fn expect(&mut self, names: &[&str]) -> Result<(), String> {
        self.expected = names
            .iter()
            .map(|name| {
                RULES
                    .iter()
                    .find(|(_, n, _)| n == name)
                    .map(|(rule, _, _)| *rule)
                    .ok_or_else(|| format!("there is no rule {name}"))
            })
            .collect::<Result<_, _>>()?;
        Ok(())
    }

    /// Violations that no exception covers.
    pub fn violations(&self) -> &[Violation] {
        &self.violations
    }

    /// Violations that a named exception covers.
    pub fn excepted(&self) -> &[Violation] {
        &self.excepted
    }

    /// Forgets all, for the next test; the file keeps its lines.
    pub fn clear(&mut self) {
        self.violations.clear();
        self.excepted.clear();
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn expected_violations_are_kept_apart() {
        let mut c = Conformance::default();
        assert!(c.expect(&["nonsense"]).is_err());
        c.expect(&["objects-left"]).unwrap();
        c.report(Rule::ObjectsLeft, "TEARDOWN_HCA", "an EQ");
        c.report(Rule::PagesHeld, "DISABLE_HCA", "one page");
        c.expect(&[]).unwrap();
        c.report(Rule::ObjectsLeft, "TEARDOWN_HCA", "another EQ");
        assert_eq!(c.excepted().len(), 1);
        assert_eq!(c.excepted()[0].exception, Some("expected"));
        assert_eq!(c.violations().len(), 2);
    }
}
