// SPDX-License-Identifier: GPL-2.0

//! When the functions of the hosts may be asked for, and how much is asked for.

use mlx5_prm_host::esw::support::Facts;
use mlx5_prm_host::prm::bits::Bits;
use mlx5_prm_host::prm::caps::{Eswitch, General};
use mlx5_prm_host::prm::esw::QueryEswFunctionsMod;
use mlx5_prm_host::prm::iseg;
use proptest::prelude::*;

const LEGACY: QueryEswFunctionsMod = QueryEswFunctionsMod::LEGACY;
const V1: QueryEswFunctionsMod = QueryEswFunctionsMod::V1;

fn facts(page: bool, bits: [bool; 4]) -> Facts {
    let mut general = General::new();
    general
        .set_host_net_functions_changed(bits[1])
        .set_eswitch_manager(bits[3]);
    let mut eswitch = Eswitch::new();
    eswitch.set_esw_functions_changed(bits[0]);
    let mut state = iseg::State::new();
    state.set_embedded_cpu(bits[2]);
    Facts::of(&general, page.then_some(&eswitch), &state)
}

#[test]
fn support_needs_one_announcement_and_the_manager() {
    for n in 0u8..16 {
        let bits = [0, 1, 2, 3].map(|bit| n & 1 << bit != 0);
        let facts = facts(true, bits);
        assert_eq!(
            facts.supported(),
            (bits[0] || bits[1] || bits[2]) && bits[3],
            "{bits:?}"
        );

        let mut reason = String::new();
        facts.write_reason(&mut reason).unwrap();
        assert_eq!(reason.is_empty(), facts.supported());
    }
}

#[test]
fn a_missing_capability_is_named() {
    for (bits, reason) in [
        (
            [false; 4],
            "esw_functions_changed=0 and embedded_cpu=0, and eswitch_manager=0",
        ),
        (
            [false, false, false, true],
            "esw_functions_changed=0 and embedded_cpu=0",
        ),
        ([true, false, true, false], "eswitch_manager=0"),
    ] {
        let mut text = String::new();
        facts(true, bits).write(&mut text).unwrap();
        assert!(
            text.starts_with(&format!("supported: 0 ({reason})\n")),
            "{text}"
        );
    }

    let mut text = String::new();
    facts(false, [false, false, true, true])
        .write(&mut text)
        .unwrap();
    for line in [
        "supported: 1\n",
        "esw_functions_changed: 0x0 (the function has no e-switch capabilities)\n",
        "embedded_cpu: 0x1 (init segment, 0x1fc [23])\n",
        "eswitch_manager: 0x1 (general capabilities, 0x034 [24])\n",
        "log_max_esw_sf: 0x0 (e-switch capabilities, 0x008 [20:16])\n",
    ] {
        assert!(text.contains(line), "no {line:?} in\n{text}");
    }
}

#[test]
fn output_lengths() {
    let mut facts = facts(true, [true; 4]);
    assert_eq!(facts.op_mod(), LEGACY);
    assert_eq!(facts.output_length(), 0x80);
    facts.log_max_esw_sf = 4;
    assert_eq!(facts.output_length(), 0x80 + 16 * 8);
    facts.log_max_esw_sf = 8;
    assert_eq!(facts.output_length(), 0x80 + 256 * 8);
    // From 512 on, what the mailboxes of a slot hold: 16 + 8 * 512 bytes. The module once asked for
    // more, and had the command refused by itself.
    for log in [9, 16, 31, u8::MAX] {
        facts.log_max_esw_sf = log;
        assert_eq!(facts.output_length(), 0x1010);
    }
    assert!(!facts.needs_list());
    facts.v1 = true;
    assert_eq!(facts.op_mod(), V1);
    assert_eq!(facts.output_length(), 0x80);
    assert_eq!(facts.list_length(), 0x1010);
    assert!(facts.needs_list());
    facts.log_max_esw_sf = 0;
    assert!(!facts.needs_list());
    facts.max_functions = 31;
    assert_eq!(facts.output_length(), 0x10 + 31 * 0x40);
    facts.max_functions = u8::MAX;
    assert_eq!(facts.output_length(), 0x10 + 64 * 0x40);
}

proptest! {
    /// Fields set by the declared layout are found again in the snapshot.
    #[test]
    fn facts_from_capabilities(log in 0u64..32, base: u16, max in 0u64..32) {
        let mut general = General::new();
        general.set_query_host_net_function_num_max(Bits::try_new(max).unwrap());
        let mut eswitch = Eswitch::new();
        eswitch
            .set_log_max_esw_sf(Bits::try_new(log).unwrap())
            .set_esw_sf_base_id(base);
        let facts = Facts::of(&general, Some(&eswitch), &iseg::State::new());
        prop_assert_eq!(u64::from(facts.log_max_esw_sf), log);
        prop_assert_eq!(facts.esw_sf_base_id, base);
        prop_assert_eq!(u64::from(facts.max_functions), max);
        prop_assert!(facts.output_length() >= 0x80 && facts.output_length() <= 0x80 + 4096);
    }
}
