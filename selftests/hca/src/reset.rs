// SPDX-License-Identifier: GPL-2.0

//! Resets of the function, as tests have them; and a card that was left without one.

use std::time::{
    Duration,
    Instant, //
};

use crate::command::status;
use crate::control::Answer;
use crate::device::{
    Device,
    Stage, //
};
use crate::faults::{
    number,
    Effect, //
};
use crate::iseg::nic;
use crate::pci;
use crate::rules::Rule;

/// What `help` says.
pub const HELP: &str = "\
reset cures on|off | reset takes MS | reset works on|off|function|firmware | resets | dirty [quiet]";

/// What a reset does.
#[derive(Debug)]
pub struct Reset {
    /// It ends whatever was wrong before.
    cures: bool,
    /// That of the function resets anything at all; the function still answers.
    function_works: bool,
    /// That of firmware does.
    firmware_works: bool,
    /// Time for which the function answers nothing after it.
    takes: Duration,
    /// When that is over.
    absent_until: Option<Instant>,
    /// An earlier driver has left the function running, and it takes no new one.
    dirty: bool,
    functions: u64,
    firmwares: u64,
}

impl Default for Reset {
    fn default() -> Self {
        Reset {
            cures: true,
            function_works: true,
            firmware_works: true,
            takes: Duration::from_millis(20),
            absent_until: None,
            dirty: false,
            functions: 0,
            firmwares: 0,
        }
    }
}

impl Reset {
    /// Whether what an earlier driver left keeps the function from taking a new one.
    pub fn is_dirty(&self) -> bool {
        self.dirty
    }

    /// What happens to a command because of that.
    pub fn effect(&self) -> Option<Effect> {
        self.dirty.then_some(Effect::Status {
            status: status::BAD_SYS_STATE,
            syndrome: Rule::Injected.syndrome(),
        })
    }
}

impl Device {
    /// Whether the function answers on the bus.
    pub fn answers(&mut self) -> bool {
        if self
            .reset
            .absent_until
            .is_some_and(|end| Instant::now() >= end)
        {
            self.reset.absent_until = None;
        }
        self.pci_alive && self.reset.absent_until.is_none()
    }

    /// A function-level reset that came over the bus.
    pub fn function_level_reset(&mut self) {
        self.reset.functions += 1;
        self.reset.absent_until = Instant::now().checked_add(self.reset.takes);
        if !self.reset.function_works {
            pci::reset(&mut self.config);
            return;
        }
        self.reset.dirty = false;
        if self.reset.cures {
            self.faults.clear();
            self.function_reset();
            return;
        }
        // Firmware stays as ill as it was; what the driver had is gone all the same.
        let nic_interface = self.iseg.get(crate::iseg::NIC_INTERFACE);
        self.drop_driver_state();
        self.irqs.reset();
        pci::reset(&mut self.config);
        self.iseg.set_nic_interface(nic_interface);
    }

    /// The driver asked for a reset of firmware by `nic_interface`.
    pub fn firmware_reset(&mut self) {
        self.reset.firmwares += 1;
        if !self.reset.firmware_works {
            return;
        }
        self.reset.dirty = false;
        if self.reset.cures {
            self.faults.clear();
            self.software_reset();
        } else {
            self.drop_driver_state();
            self.iseg.set_nic_interface(nic::DISABLED);
        }
    }

    /// An earlier driver, or an earlier kernel, has left the function running.
    fn leave_dirty(&mut self, quiet: bool) -> Result<(), String> {
        if self.stage != Stage::Disabled {
            return Err("a driver has the function".into());
        }
        self.reset.dirty = true;
        if !quiet {
            pci::set_bus_master(&mut self.config);
        }
        Ok(())
    }
}

/// Which resets work: that of the function, that of firmware.
fn works(word: &str) -> Result<(bool, bool), String> {
    match word {
        "on" => Ok((true, true)),
        "off" => Ok((false, false)),
        "function" => Ok((true, false)),
        "firmware" => Ok((false, true)),
        _ => Err("on, off, function or firmware?".to_string()),
    }
}

/// Runs a request about resets; None if it is another one.
pub fn control(d: &mut Device, words: &[&str]) -> Option<Answer> {
    let on = |word: &str| match word {
        "on" => Ok(true),
        "off" => Ok(false),
        _ => Err("on or off?".to_string()),
    };
    let result = match words {
        ["reset", "cures", word] => on(word).map(|on| d.reset.cures = on),
        ["reset", "works", word] => works(word).map(|(function, firmware)| {
            d.reset.function_works = function;
            d.reset.firmware_works = firmware;
        }),
        ["reset", "takes", ms] => number(ms).map(|ms| d.reset.takes = Duration::from_millis(ms)),
        ["resets"] => {
            return Some(Ok(vec![
                format!("function: {}", d.reset.functions),
                format!("firmware: {}", d.reset.firmwares),
            ]))
        }
        ["dirty"] => d.leave_dirty(false),
        ["dirty", "quiet"] => d.leave_dirty(true),
        _ => return None,
    };
    Some(result.map(|()| Vec::new()))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::harness::Rig;
    use crate::ifc::fields::health_buffer;

    fn device() -> Device {
        Rig::new("cx6dx").device
    }

    fn ask(d: &mut Device, text: &str) {
        let words: Vec<&str> = text.split_whitespace().collect();
        control(d, &words).unwrap().unwrap();
    }

    #[test]
    fn a_reset_cures_unless_it_shall_not() {
        let mut d = device();
        let synd = |d: &Device| d.health.synd();
        ask(&mut d, "reset cures off");
        crate::bits::set(&mut d.health.buffer, health_buffer::SYND, 8);
        d.iseg.set_nic_interface(nic::DISABLED);
        d.function_level_reset();
        assert_eq!(synd(&d), 8);
        assert_eq!(d.iseg.get(crate::iseg::NIC_INTERFACE), nic::DISABLED);
        ask(&mut d, "reset cures on");
        d.function_level_reset();
        assert_eq!(synd(&d), 0);
        assert_eq!(d.iseg.get(crate::iseg::NIC_INTERFACE), nic::FULL);
        assert_eq!(d.reset.functions, 2);
    }

    #[test]
    fn one_kind_of_reset_can_work_without_the_other() {
        let mut d = device();
        let broken =
            |d: &mut Device| crate::bits::set(&mut d.health.buffer, health_buffer::SYND, 8);
        broken(&mut d);
        ask(&mut d, "reset works firmware");
        d.function_level_reset();
        assert_eq!(d.health.synd(), 8);
        d.firmware_reset();
        assert_eq!(d.health.synd(), 0);
        broken(&mut d);
        ask(&mut d, "reset works function");
        d.firmware_reset();
        assert_eq!(d.health.synd(), 8);
        d.function_level_reset();
        assert_eq!(d.health.synd(), 0);
    }

    #[test]
    fn it_answers_nothing_for_a_time() {
        let mut d = device();
        ask(&mut d, "reset takes 100000");
        d.function_level_reset();
        assert!(!d.answers());
        ask(&mut d, "reset takes 0");
        d.function_level_reset();
        assert!(d.answers());
    }

    #[test]
    fn a_dirty_card_takes_commands_after_a_reset_only() {
        let mut d = device();
        ask(&mut d, "dirty");
        assert!(pci::bus_master(&d.config));
        assert!(d.reset.effect().is_some());
        d.function_level_reset();
        assert!(!pci::bus_master(&d.config));
        assert!(d.reset.effect().is_none());
    }
}
