// SPDX-License-Identifier: GPL-2.0

//! How long it took until something was noticed, by the model's clock.
//!
//! The clock starts when a fault is set in, in the model itself. What the guest notices it tells by
//! a request, so that a time includes the guest's way to the control line: it is never too short.

use std::time::Instant;

/// Most stamps that are kept.
const KEPT: usize = 256;

/// The stamps since the last fault.
#[derive(Default)]
pub struct Stamps {
    fault: Option<Instant>,
    list: Vec<(String, u128)>,
}

impl Stamps {
    /// A fault begins now; what was said before is forgotten.
    pub fn fault(&mut self) {
        self.fault = Some(Instant::now());
        self.list.clear();
    }

    /// Something was noticed.
    ///
    /// # Errors
    ///
    /// If there was no fault, or there are too many stamps.
    pub fn add(&mut self, name: &str) -> Result<(), String> {
        let since = self.fault.ok_or("no fault was set in yet")?;
        if self.list.len() >= KEPT {
            return Err("too many stamps since the last fault".into());
        }
        self.list.push((name.into(), since.elapsed().as_micros()));
        Ok(())
    }

    /// A line for each stamp, in the order in which they came.
    pub fn show(&self) -> Vec<String> {
        self.list
            .iter()
            .map(|(name, us)| format!("{name}: {us}"))
            .collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_fault_starts_the_clock() {
        let mut stamps = Stamps::default();
        assert!(stamps.add("noticed").is_err());
        stamps.fault();
        std::thread::sleep(std::time::Duration::from_millis(5));
        stamps.add("noticed").unwrap();
        let lines = stamps.show();
        let (name, us) = lines[0].split_once(": ").unwrap();
        assert_eq!((lines.len(), name), (1, "noticed"));
        assert!(us.parse::<u64>().unwrap() >= 5_000);
        stamps.fault();
        assert!(stamps.show().is_empty());
    }
}
