// SPDX-License-Identifier: GPL-2.0

//! What is made of the health buffer, of events, and of the state of a function.

use super::{
    print,
    value, //
};
use crate::input::Input;
use mlx5_prm_host::{
    device::{
        Condition,
        Degradations,
        Overall,
        Status, //
    },
    health::{
        leftover::{
            Leftover,
            Outcome,
            WORDS, //
        },
        modules::{
            Sensors,
            MODULES, //
        },
        status::{
            self,
            Commands, //
        },
    },
    prm::{
        event::{
            ModuleStatus,
            PortModule,
            TemperatureWarning, //
        },
        health::Buffer,
        opcode::Opcode, //
    },
};

/// What an earlier failure left behind is told from what is new by any word that differs.
pub fn leftover(input: &mut Input<'_>) {
    let bytes: [u8; 0x40] = input.array();
    let buffer = Buffer::from(bytes);
    let named = |at: usize| WORDS.contains(&(at / 4 * 4));
    let empty = (0..0x40).all(|at| !named(at) || bytes[at] == 0);

    let outcome = match Outcome::before(&buffer) {
        Some(Outcome::Empty) => {
            assert!(empty);
            Outcome::Empty
        }
        Some(outcome) => {
            assert_eq!(outcome, Outcome::NoAnswer);
            assert_eq!(buffer.fw_version(), u32::MAX);
            outcome
        }
        None => {
            assert!(!empty);
            Outcome::after(&buffer)
        }
    };
    assert_eq!(Outcome::after(&buffer) == Outcome::Cleared, empty);

    let mut leftover = Leftover {
        unchanged: true,
        at_us: input.u64(),
        wall: input.u64() as i64,
        buffer,
        outcome,
    };
    let remembered = outcome == Outcome::Kept;
    assert_eq!(leftover.is_remembered(), remembered);
    assert_eq!(leftover.is_still(&buffer), remembered);
    let (at, change) = (input.below(0x40), input.u8());
    let mut other = bytes;
    other[at] ^= change;
    assert_eq!(
        leftover.is_still(&Buffer::from(other)),
        remembered && (change == 0 || !named(at))
    );
    let text = print(|w| leftover.show(w));
    assert_eq!(value(&text, "leftover"), outcome.sentence());
    assert_eq!(value(&text, "at_us"), leftover.at_us.to_string());
    leftover.differs();
    assert!(!leftover.is_still(&buffer));
}

/// The last word on each module counts, and any sensor that is hot.
pub fn sensors(input: &mut Input<'_>) {
    let mut sensors = Sensors::default();
    let mut last = [None; MODULES];
    let (mut others, mut hot) = (false, (0, 0));

    while !input.is_empty() {
        if input.flag() {
            let event = PortModule::from(input.array());
            sensors.module(&event);
            let status = event.module_status();
            match last.get_mut(usize::from(event.module())) {
                Some(place) => *place = Some(status),
                None => others = ModuleStatus(status) == ModuleStatus::ERROR,
            }
        } else {
            let event = TemperatureWarning::from(input.array());
            sensors.temperature(&event);
            hot = (event.sensor_warning_msb(), event.sensor_warning_lsb());
        }
    }
    let error = |status: &u8| ModuleStatus(*status) == ModuleStatus::ERROR;
    assert_eq!(
        sensors.has_module_error(),
        others || last.iter().flatten().any(error)
    );
    assert_eq!(sensors.is_hot(), hot != (0, 0));

    let text = print(|w| sensors.show(w));
    assert_eq!(
        value(&text, "hot_sensors"),
        format!("{:#x} {:#x}", hot.0, hot.1)
    );
    assert_eq!(text.lines().count(), 1 + last.iter().flatten().count());
    for (i, status) in last.iter().enumerate() {
        if let Some(status) = status {
            let shown = value(&text, &format!("module[{i}]"));
            assert!(shown.contains(&format!("({status})")), "{shown}");
        }
    }
}

/// A status is shown with the words and numbers that monitors compare.
pub fn status(input: &mut Input<'_>) {
    let raw = input.u32() >> (input.u8() % 32);
    let condition = Condition::from_raw(raw);
    assert_eq!(Condition::from_raw(condition.into_raw()), condition);
    assert!(condition.into_raw() == raw || condition == Condition::Gone);
    let status = Status {
        condition,
        degradations: Degradations::from_bits(input.u32()),
        recovering: input.flag(),
    };
    let overall = status.overall();
    assert_eq!(overall == Overall::Recovering, status.recovering);
    if !status.recovering {
        let alive = condition == Condition::Alive;
        assert_eq!(matches!(overall, Overall::Ok | Overall::Degraded), alive);
        assert!(overall != Overall::Ok || status.degradations.is_empty());
    }

    let commands = Commands {
        waiting: usize::from(input.u8()),
        given_up: usize::from(input.u8()),
        oldest: input.flag().then(|| (Opcode(input.u16()), input.u64())),
    };
    let sequence = input.u64();
    let text = print(|w| status::status(w, &status, sequence, &commands));
    assert_eq!(
        value(&text, "state"),
        format!("{} ({})", overall.name(), overall.number())
    );
    let (word, number) = condition.reason();
    assert_eq!(value(&text, "reason"), format!("{word} ({number})"));
    assert_eq!(
        value(&text, "degradation_bits"),
        format!("{:#x}", status.degradations.bits())
    );
    assert_eq!(value(&text, "sequence"), sequence.to_string());
    let age = commands.oldest.map_or(0, |(_, age)| age);
    assert_eq!(value(&text, "oldest_command_us"), age.to_string());
}
