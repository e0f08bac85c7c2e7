// SPDX-License-Identifier: GPL-2.0

//! Operation codes and other codes against the constants of the kernel's header.

use std::collections::BTreeMap;
use std::path::Path;

use mlx5_prm_layout::header::Header;
use mlx5_prm_layout::prm::access_reg::AccessRegMod;
use mlx5_prm_layout::prm::boot::TeardownProfile;
use mlx5_prm_layout::prm::caps::general::{CmdifChecksum, PortType};
use mlx5_prm_layout::prm::eq::{CqErrorSyndrome, EqState, EqStatus};
use mlx5_prm_layout::prm::esw::{PfType, QueryEswFunctionsMod, VhcaState};
use mlx5_prm_layout::prm::health::Synd;
use mlx5_prm_layout::prm::iseg::NicInterface;
use mlx5_prm_layout::prm::opcode::Opcode;
use mlx5_prm_layout::prm::pages::{ManagePagesMod, QueryPagesMod};
use mlx5_prm_layout::prm::queue::Entry;

const OPCODE: &str = "MLX5_CMD_OP_";

/// Operation codes that the header lacks; they are the vendor's out-of-tree header's.
const OUT_OF_TREE: [u16; 7] = [0x715, 0x720, 0x721, 0x722, 0x723, 0x724, 0x728];

/// Marks of ranges and the number of codes, which no command has.
const NO_COMMANDS: [&str; 3] = ["MAX", "GENERAL_START", "GENERAL_END"];

fn header() -> Header {
    Header::from_env(Path::new(env!("CARGO_TARGET_TMPDIR"))).unwrap()
}

fn values(header: &Header, names: &[String]) -> Vec<Option<usize>> {
    header.constants(names).unwrap()
}

#[test]
fn operation_codes_are_those_of_the_header() {
    let header = header();
    let codes: Vec<_> = Opcode::all().collect();
    let names: Vec<_> = codes
        .iter()
        .map(|code| format!("{OPCODE}{}", code.name().unwrap()))
        .collect();

    for (code, value) in codes.iter().zip(values(&header, &names)) {
        let expected = (!OUT_OF_TREE.contains(&code.0)).then_some(usize::from(code.0));
        assert_eq!(value, expected, "{code}");
    }
}

/// The list is complete: the codes that the header names have a name here.
#[test]
fn no_operation_code_of_the_header_is_missing() {
    let header = header();
    let all = header.constants_with(OPCODE).unwrap();
    let names: Vec<_> = all.iter().map(|name| format!("{OPCODE}{name}")).collect();
    assert!(
        all.len() > 150,
        "the search in the header finds {} codes",
        all.len()
    );

    let mut by_value: BTreeMap<usize, Vec<&str>> = BTreeMap::new();
    for (name, value) in all.iter().zip(values(&header, &names)) {
        // MLX5_CMD_OP_MOD_ is the prefix of operation modifiers.
        if !NO_COMMANDS.contains(&name.as_str()) && !name.starts_with("MOD_") {
            by_value.entry(value.unwrap()).or_default().push(name);
        }
    }
    for (value, names) in by_value {
        let ours = u16::try_from(value)
            .ok()
            .and_then(|code| Opcode(code).name());
        assert!(
            ours.is_some_and(|name| names.contains(&name)),
            "{value:#x} {names:?} {ours:?}"
        );
    }
}

#[test]
fn other_codes_are_those_of_the_header() {
    let expected: Vec<(&str, u16)> = [
        (
            "INITIAL_SEG_NIC_INTERFACE_FULL_DRIVER",
            NicInterface::FULL_DRIVER.0,
        ),
        (
            "INITIAL_SEG_NIC_INTERFACE_DISABLED",
            NicInterface::DISABLED.0,
        ),
        (
            "INITIAL_SEG_NIC_INTERFACE_NO_DRAM_NIC",
            NicInterface::NO_DRAM.0,
        ),
        (
            "INITIAL_SEG_NIC_INTERFACE_SW_RESET",
            NicInterface::SW_RESET.0,
        ),
        (
            "INITIAL_SEG_HEALTH_SYNDROME_FW_INTERNAL_ERR",
            Synd::FW_INTERNAL.0,
        ),
        ("INITIAL_SEG_HEALTH_SYNDROME_DEAD_IRISC", Synd::DEAD_IRISC.0),
        ("INITIAL_SEG_HEALTH_SYNDROME_HW_FATAL_ERR", Synd::HW_FATAL.0),
        ("INITIAL_SEG_HEALTH_SYNDROME_FW_CRC_ERR", Synd::FW_CRC.0),
        (
            "INITIAL_SEG_HEALTH_SYNDROME_ICM_FETCH_PCI_ERR",
            Synd::ICM_FETCH_PCI.0,
        ),
        ("INITIAL_SEG_HEALTH_SYNDROME_ICM_PAGE_ERR", Synd::ICM_PAGE.0),
        (
            "INITIAL_SEG_HEALTH_SYNDROME_ASYNCHRONOUS_EQ_BUF_OVERRUN",
            Synd::ASYNC_EQ_OVERRUN.0,
        ),
        ("INITIAL_SEG_HEALTH_SYNDROME_EQ_IN_ERR", Synd::EQ_IN.0),
        ("INITIAL_SEG_HEALTH_SYNDROME_EQ_INV", Synd::EQ_INVALID.0),
        ("INITIAL_SEG_HEALTH_SYNDROME_FFSER_ERR", Synd::FFSER.0),
        (
            "INITIAL_SEG_HEALTH_SYNDROME_HIGH_TEMP_ERR",
            Synd::HIGH_TEMPERATURE.0,
        ),
        (
            "INITIAL_SEG_HEALTH_SYNDROME_ICM_PCI_POISONED_ERR",
            Synd::ICM_PCI_POISONED.0,
        ),
        (
            "INITIAL_SEG_HEALTH_SYNDROME_TRUST_LOCKDOWN_ERR",
            Synd::TRUST_LOCKDOWN.0,
        ),
        ("EQC_STATUS_OK", EqStatus::OK.0),
        ("EQC_STATUS_EQ_WRITE_FAILURE", EqStatus::WRITE_FAILURE.0),
        ("EQC_ST_ARMED", EqState::ARMED.0),
        ("EQC_ST_FIRED", EqState::FIRED.0),
        ("CQ_ERROR_SYNDROME_CQ_OVERRUN", CqErrorSyndrome::OVERRUN.0),
        (
            "CQ_ERROR_SYNDROME_CQ_ACCESS_VIOLATION_ERROR",
            CqErrorSyndrome::ACCESS_VIOLATION.0,
        ),
        ("VHCA_STATE_INVALID", VhcaState::INVALID.0),
        ("VHCA_STATE_ALLOCATED", VhcaState::ALLOCATED.0),
        ("VHCA_STATE_ACTIVE", VhcaState::ACTIVE.0),
        ("VHCA_STATE_IN_USE", VhcaState::IN_USE.0),
        ("VHCA_STATE_TEARDOWN_REQUEST", VhcaState::TEARDOWN_REQUEST.0),
        ("PCI_PF_TYPE_EXTERNAL_HOST_PF", PfType::EXTERNAL_HOST.0),
        ("PCI_PF_TYPE_SATELLITE_PF", PfType::SATELLITE.0),
        ("CMD_HCA_CAP_PORT_TYPE_IB", PortType::INFINIBAND.0),
        ("CMD_HCA_CAP_PORT_TYPE_ETHERNET", PortType::ETHERNET.0),
        (
            "CMD_HCA_CAP_CMDIF_CHECKSUM_DISABLED",
            CmdifChecksum::DISABLED.0,
        ),
        (
            "CMD_HCA_CAP_CMDIF_CHECKSUM_INITIAL_STATE",
            CmdifChecksum::INITIAL.0,
        ),
        (
            "CMD_HCA_CAP_CMDIF_CHECKSUM_ENABLED",
            CmdifChecksum::ENABLED.0,
        ),
        (
            "CMD_QUEUE_ENTRY_TYPE_PCIE_CMD_IF_TRANSPORT",
            Entry::TYPE_PCI,
        ),
    ]
    .into_iter()
    .map(|(name, code)| (name, u16::from(code)))
    .chain([
        (
            "TEARDOWN_HCA_IN_PROFILE_GRACEFUL_CLOSE",
            TeardownProfile::GRACEFUL.0,
        ),
        (
            "TEARDOWN_HCA_IN_PROFILE_FORCE_CLOSE",
            TeardownProfile::FORCE.0,
        ),
        (
            "TEARDOWN_HCA_IN_PROFILE_PREPARE_FAST_TEARDOWN",
            TeardownProfile::PREPARE_FAST.0,
        ),
        ("QUERY_PAGES_IN_OP_MOD_BOOT_PAGES", QueryPagesMod::BOOT.0),
        ("QUERY_PAGES_IN_OP_MOD_INIT_PAGES", QueryPagesMod::INIT.0),
        (
            "QUERY_PAGES_IN_OP_MOD_REGULAR_PAGES",
            QueryPagesMod::REGULAR.0,
        ),
        (
            "MANAGE_PAGES_IN_OP_MOD_ALLOCATION_FAIL",
            ManagePagesMod::CANNOT_GIVE.0,
        ),
        (
            "MANAGE_PAGES_IN_OP_MOD_ALLOCATION_SUCCESS",
            ManagePagesMod::GIVE.0,
        ),
        (
            "MANAGE_PAGES_IN_OP_MOD_HCA_RETURN_PAGES",
            ManagePagesMod::RETURN.0,
        ),
        ("ACCESS_REGISTER_IN_OP_MOD_WRITE", AccessRegMod::WRITE.0),
        ("ACCESS_REGISTER_IN_OP_MOD_READ", AccessRegMod::READ.0),
        (
            "QUERY_ESW_FUNC_OP_MOD_LAYOUT_V1",
            QueryEswFunctionsMod::V1.0,
        ),
    ])
    .collect();
    let names: Vec<_> = expected
        .iter()
        .map(|(name, _)| format!("MLX5_{name}"))
        .collect();

    for ((name, code), value) in expected.iter().zip(values(&header(), &names)) {
        assert_eq!(value, Some(usize::from(*code)), "{name}");
    }
}

#[test]
fn a_constant_that_the_header_lacks_is_noticed() {
    let names = [
        "MLX5_CMD_OP_NOP".to_string(),
        "MLX5_NO_SUCH_CONSTANT".to_string(),
    ];

    assert_eq!(values(&header(), &names), [Some(0x80d), None]);
}
