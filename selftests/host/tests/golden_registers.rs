// SPDX-License-Identifier: GPL-2.0

//! Registers of a ConnectX-6 Dx as ACCESS_REG has read them, and events that drivers have logged.

use mlx5_prm_host::prm::access_reg::{
    CapabilityBit, HostEndianness, Mcam, McamFeatures, McamRegs, NodeDescription, Pcam, PcamRegs,
    Qcam, QcamRegs, Register, RegisterId,
};
use mlx5_prm_host::prm::bits;
use mlx5_prm_host::prm::dump;
use mlx5_prm_host::prm::event::{
    CommandCompletion, Eqe, EventType, GeneralEvent, PageRequest, PortModule, SyncFwUpdate,
    SyncReset, TemperatureWarning,
};
use mlx5_prm_host::prm::layout::{Kind, Layout};
use mlx5_prm_host::prm::timeout::{DefaultTimeout, Dtor};
use zerocopy::{FromBytes, IntoBytes};

/// DTOR (C00Eh), its 64 bytes.
const DTOR: [u32; 16] = [
    0x00000000, 0x20000002, 0x00000000, 0x00000000, 0x00000000, 0x20000002, 0x2000003c, 0x2000003c,
    0x20000002, 0x20000002, 0x2000000a, 0x20000005, 0x20000005, 0x20000078, 0x00000000, 0x00000000,
];

/// NODE_DESC (6001h), its 64 bytes.
const NODE_DESC: [u32; 16] = [
    0x4d543431, 0x32352043, 0x6f6e6e65, 0x63745836, 0x4478204d, 0x656c6c61, 0x6e6f7820, 0x54656368,
    0x6e6f6c6f, 0x67696573, 0, 0, 0, 0, 0, 0,
];

fn bytes(words: &[u32]) -> Vec<u8> {
    words.iter().flat_map(|word| word.to_be_bytes()).collect()
}

#[test]
fn default_timeouts_read_as_printed() {
    let dtor = Dtor::read_from_bytes(&bytes(&DTOR)).unwrap();
    assert_eq!(<Dtor as Register>::ID, RegisterId::DTOR);

    let printed = [
        (dtor.pcie_toggle_to(), 2),
        (dtor.health_poll_to(), 2),
        (dtor.full_crdump_to(), 60),
        (dtor.fw_reset_to(), 60),
        (dtor.flush_on_err_to(), 2),
        (dtor.pci_sync_update_to(), 2),
        (dtor.tear_down_to(), 10),
        (dtor.fsm_reactivate_to(), 5),
        (dtor.reclaim_pages_to(), 5),
        (dtor.reclaim_vfs_pages_to(), 120),
    ];
    for (timeout, seconds) in printed {
        assert_eq!(timeout.to_multiplier(), 1);
        assert_eq!(u64::from(timeout.to_value()), seconds);
        assert_eq!(timeout.millis(), Some(1000 * seconds));
    }
    assert_eq!(
        dtor.reset_unload_to().millis(),
        None,
        "this card says nothing"
    );

    let mut text = String::new();
    dump::write(&mut text, Dtor::TABLE, 0, dtor.as_bytes()).unwrap();
    assert!(text.contains("0x034 [31:29] to_multiplier: 0x1 (s)\n"));
    assert!(text.contains("0x034 [19:0] to_value: 0x78\n"));
    assert!(
        !text.contains("reserved"),
        "a word that the layout does not name: {text}"
    );
}

#[test]
fn units_of_timeouts() {
    let millis = |word: u32| DefaultTimeout::from(word.to_be_bytes()).millis();

    assert_eq!(millis(0x00000007), Some(7));
    assert_eq!(millis(0x40000007), Some(7 * 60_000));
    assert_eq!(millis(0x600fffff), Some(0xfffff * 3_600_000));
    assert_eq!(millis(0x60000000), None);
    assert_eq!(millis(0x80000001), None, "a unit that is not known");
}

#[test]
fn the_node_describes_itself() {
    let register = NodeDescription::read_from_bytes(&bytes(&NODE_DESC)).unwrap();
    let text = String::from_utf8_lossy(register.node_description());

    assert_eq!(<NodeDescription as Register>::ID.name(), Some("NODE_DESC"));
    assert_eq!(
        text.trim_end_matches('\0'),
        "MT4125 ConnectX6Dx Mellanox Technologies"
    );
}

#[test]
fn registers_know_their_capability_bit() {
    let at = |id: RegisterId| {
        id.capability().map(
            |CapabilityBit {
                 register,
                 group,
                 bit,
             }| { (register, group, bit) },
        )
    };

    assert_eq!(at(RegisterId::MTRC_CAP), Some((RegisterId::MCAM, 0, 64)));
    assert_eq!(at(RegisterId::MRTC), Some((RegisterId::MCAM, 0, 45)));
    assert_eq!(at(RegisterId::MIRC), Some((RegisterId::MCAM, 2, 98)));
    assert_eq!(at(RegisterId::PPCNT), Some((RegisterId::PCAM, 0, 8)));
    assert_eq!(at(RegisterId::QPDPM), Some((RegisterId::QCAM, 0, 0x13)));
    assert_eq!(at(RegisterId::DTOR), None);
    assert_eq!(at(RegisterId(0x9200)), None);
}

/// A name in a mask and a number of a register are two ways to the same bit.
#[test]
fn bits_of_masks_have_the_registers_names() {
    let masks: [(&_, _, _); 3] = [
        (McamRegs::TABLE, RegisterId::MCAM, 0x9000u16),
        (PcamRegs::TABLE, RegisterId::PCAM, 0x5000),
        (QcamRegs::TABLE, RegisterId::QCAM, 0x4000),
    ];
    let mut compared = 0;
    for (table, register, first) in masks {
        for field in table.fields {
            let name = field.name().to_uppercase();
            let Some(id) = RegisterId::ALL.iter().find(|id| id.name() == Some(&name)) else {
                continue;
            };
            let Kind::Bits { hi, lo } = field.kind else {
                panic!("{name}")
            };
            let bit = u8::try_from(96 - 8 * field.offset).unwrap() + u8::try_from(lo).unwrap();
            assert_eq!(hi, lo);
            assert_eq!(
                id.capability(),
                Some(CapabilityBit {
                    register,
                    group: 0,
                    bit
                }),
                "{name}"
            );
            assert_eq!(id.0, first + u16::from(bit));
            compared += 1;
        }
    }
    assert_eq!(compared, 15);
}

#[test]
fn masks_are_read_bit_by_bit() {
    let mut regs = McamRegs::new();
    regs.set_tracer_registers(bits::Bits::new::<15>())
        .set_mrtc(true);
    let mut features = McamFeatures::new();
    features.set_mcia_32dwords(true);
    let mut mcam = Mcam::new();
    mcam.set_mng_access_reg_cap_mask(&regs.into())
        .set_mng_feature_cap_mask(&features.into());

    let set: Vec<_> = (0..=u8::MAX)
        .filter(|bit| mcam.has_register(*bit))
        .collect();
    assert_eq!(set, [45, 64, 65, 66, 67]);
    let set: Vec<_> = (0..=u8::MAX).filter(|bit| mcam.has_feature(*bit)).collect();
    assert_eq!(set, [Mcam::FEATURE_MCIA_32DWORDS]);
    // The masks are at 08h and 28h; tracer_registers is in bits 3:0 of 0Ch.
    assert_eq!(mcam.as_bytes()[0x0f], 0x0f);
    assert_eq!(mcam.as_bytes()[0x33], 0x04);

    let mut qcam = Qcam::new();
    qcam.set_qos_access_reg_cap_mask(&[0xff; 16]);
    assert!(qcam.has_register(0x13) && !qcam.has_feature(0));
    let mut pcam = Pcam::new();
    pcam.set_feature_cap_mask(&[0x01; 16]);
    assert!(pcam.has_feature(0) && pcam.has_feature(120) && !pcam.has_feature(121));

    let mut endianness = HostEndianness::new();
    endianness.set_he(true);
    assert_eq!(endianness.as_bytes()[0], 0x80);
}

/// `temp_warn: High temperature on sensors with bit set 0 1`, and the same with two sensors.
#[test]
fn temperature_warnings_as_they_were_logged() {
    for (msb, lsb) in [(0u64, 1u64), (0, 0x8000000000000001)] {
        let mut data = [0; 28];
        data[..8].copy_from_slice(&msb.to_be_bytes());
        data[8..16].copy_from_slice(&lsb.to_be_bytes());
        let mut eqe = Eqe::new();
        eqe.set_event_type(EventType::TEMP_WARN.0)
            .set_event_data(&data);

        let warning: TemperatureWarning = eqe.payload();
        assert_eq!(
            (warning.sensor_warning_msb(), warning.sensor_warning_lsb()),
            (msb, lsb)
        );
        assert_eq!(
            eqe.payload_table().map(|table| table.name),
            Some("TemperatureWarning")
        );
    }
}

#[test]
fn payloads_stand_where_the_c_structures_have_them() {
    let mut eqe = Eqe::new();
    let mut data = [0; 28];
    data[..8].copy_from_slice(&[0x80, 0, 0x00, 0x03, 0xff, 0xff, 0xff, 0xf6]);
    eqe.set_event_type(EventType::PAGE_REQUEST.0)
        .set_event_data(&data);
    let request: PageRequest = eqe.payload();
    assert!(request.ec_function() && !request.release_all());
    assert_eq!((request.function_id(), request.pages()), (3, -10));

    data = [0; 28];
    data[..7].copy_from_slice(&[0, 1, 0, 3, 0, 0, 6]);
    eqe.set_event_type(EventType::PORT_MODULE.0)
        .set_event_data(&data);
    let module: PortModule = eqe.payload();
    assert_eq!(
        (module.module(), module.module_status(), module.error_type()),
        (1, 3, 6)
    );

    data = [0; 28];
    data[3] = 1;
    eqe.set_event_type(EventType::GENERAL.0)
        .set_event_sub_type(GeneralEvent::PCI_SYNC_FOR_FW_UPDATE.0)
        .set_event_data(&data);
    let sync: SyncFwUpdate = eqe.payload();
    assert_eq!(SyncReset(sync.sync_rst_state()), SyncReset::NOW);
    assert_eq!(
        eqe.payload_table().map(|table| table.name),
        Some("SyncFwUpdate")
    );
    assert!(eqe
        .sub_type_name()
        .is_some_and(|name| name.contains("firmware update")));

    eqe.set_event_type(EventType::CMD.0);
    let completion: CommandCompletion = eqe.payload();
    assert_eq!(completion.command_completion_vector(), 1);
    assert_eq!(eqe.as_bytes()[0x23], 1);
}
