// SPDX-License-Identifier: GPL-2.0

//! Single numbers from the device: registers, time-outs, addresses, versions.

use super::print;
use crate::input::Input;
use mlx5_prm_host::prm::{
    access_reg::{
        Mcam,
        RegisterId, //
    },
    boot::QueryIssiOut,
    caps::{
        CapMode,
        CapType, //
    },
    iseg::CommandQueueAddress,
    opcode::Opcode,
    pages::{
        PageAddress,
        QueryPagesOut, //
    },
    timeout::DefaultTimeout, //
};

/// Any number is taken, and read back as it was.
pub fn run(input: &mut Input<'_>) {
    let number = input.u64();
    let short = input.u16();

    let timeout = DefaultTimeout::from((number as u32).to_be_bytes());
    match timeout.millis() {
        Some(ms) => assert!((1..=0xf_ffff * 3_600_000).contains(&ms)),
        None => assert!(timeout.to_value() == 0 || timeout.to_multiplier() > 3),
    }

    let page = PageAddress::from(number.to_be_bytes());
    assert_eq!(page.address(), number & !0xfff);
    assert_eq!(PageAddress::of(page.address()).address(), page.address());

    let (page, mode) = CapType::from_op_mod(short);
    assert_eq!(page.op_mod(mode), short);
    assert_eq!(mode == CapMode::Current, short % 2 == 1);

    // The registers of a group are numbered without a gap, in the order of its mask.
    let id = RegisterId(short);
    if let Some(place) = id.capability() {
        let first = match place.register {
            RegisterId::QCAM => 0x4000,
            RegisterId::PCAM => 0x5000,
            RegisterId::MCAM => 0x9000,
            other => panic!("{other:?} has no mask"),
        };
        assert_eq!(
            first + u16::from(place.group) * 0x80 + u16::from(place.bit),
            short
        );
        let bytes = input.array::<0x48>();
        let mcam = Mcam::from(bytes);
        // Bytes 08h to 17h are the mask, bit 0 being the lowest of the last.
        let byte = bytes[0x17 - usize::from(place.bit / 8)];
        assert_eq!(
            mcam.has_register(place.bit),
            byte & (1 << (place.bit % 8)) != 0
        );
    }

    let issi = QueryIssiOut::from(input.array());
    for version in 0..=u8::MAX {
        let naive = version < 32 && issi.supported_issi_dw0() & (1 << (version % 32)) != 0;
        assert_eq!(issi.supports(version), naive);
    }

    let mut register = CommandQueueAddress::from(input.array());
    let before = register;
    register.set_address(number & !0xfff);
    let raw = u64::from_be_bytes(register.into());
    assert_eq!(raw & !0xfff, number & !0xfff);
    assert_eq!(register.nic_interface(), before.nic_interface());
    assert_eq!(register.log_cmdq_size(), before.log_cmdq_size());

    let pages = QueryPagesOut::from(input.array());
    assert_eq!(pages.pages() as u32, pages.num_pages());

    let text = print(|w| write!(w, "{}", Opcode(short)));
    assert!(text.contains(&format!("{short:#x}")), "{text}");
}
