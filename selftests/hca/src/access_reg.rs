// SPDX-License-Identifier: GPL-2.0

//! Registers behind ACCESS_REG.
//!
//! [`REGISTERS`] lists those that the device has. Which of them the MCAM, PCAM and QCAM registers
//! announce follows from that list, so that no mask promises what is not there.

use crate::bits;
use crate::command::{
    status,
    Call,
    Outcome,
    Refusal,
    Spec, //
};
use crate::device::Stage;
use crate::ifc::fields::*;
use crate::ifc::{
    self,
    opcode,
    Field,
    Override, //
};
use crate::rules::Rule;
use crate::variants::Variant;

pub const COMMANDS: &[Spec] = &[Spec::new(
    opcode::ACCESS_REG,
    "access_register_in",
    "access_register_out",
    access,
)
.from(Stage::Enabled)
.op_mods(&[WRITE, READ])
.inner(register_layout)];

/// ACCESS_REG op_mod. Source: mlx5_core's `port.c`.
const WRITE: u16 = 0;
const READ: u16 = 1;

/// Who may do what to a register.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Access {
    ReadOnly,
    WriteOnly,
    ReadWrite,
}

/// A register of the device.
pub struct Register {
    pub id: u16,
    pub name: &'static str,
    /// Layout of its data; empty if the header has none.
    pub layout: &'static str,
    /// Size of its data in bytes, if the layout does not say.
    pub bytes: usize,
    pub access: Access,
    /// Only the physical function has it.
    pub pf_only: bool,
    /// Reads or writes: `data` comes in as the driver sent it and goes out as the answer.
    pub run: fn(&mut Call<'_>, data: &mut [u8], write: bool) -> Outcome,
}

impl Register {
    const fn new(
        id: u16,
        name: &'static str,
        layout: &'static str,
        access: Access,
        run: fn(&mut Call<'_>, &mut [u8], bool) -> Outcome,
    ) -> Register {
        Register {
            id,
            name,
            layout,
            bytes: 0,
            access,
            pf_only: false,
            run,
        }
    }

    const fn sized(mut self, bytes: usize) -> Register {
        self.bytes = bytes;
        self
    }

    const fn pf_only(mut self) -> Register {
        self.pf_only = true;
        self
    }

    fn size(&self) -> usize {
        match self.bytes {
            0 => ifc::layout(self.layout).map_or(0, ifc::Layout::bytes),
            n => n,
        }
    }
}

/// Register numbers. Source: `MLX5_REG_*` of the kernel's `driver.h`.
pub mod id {
    pub const QCAM: u16 = 0x4019;
    pub const PMLP: u16 = 0x5002;
    pub const PMTU: u16 = 0x5003;
    pub const PTYS: u16 = 0x5004;
    pub const PAOS: u16 = 0x5006;
    pub const PPCNT: u16 = 0x5008;
    pub const PVLC: u16 = 0x500f;
    pub const PCAM: u16 = 0x507f;
    pub const NODE_DESC: u16 = 0x6001;
    pub const HOST_ENDIANNESS: u16 = 0x7004;
    pub const MCAM: u16 = 0x907f;
    pub const DTOR: u16 = 0xc00e;
}

/// All registers, those of the Ethernet side aside.
pub const REGISTERS: &[Register] = &[
    Register::new(id::QCAM, "QCAM", "qcam_reg", Access::ReadOnly, qcam),
    Register::new(id::PMLP, "PMLP", "pmlp_reg", Access::ReadOnly, pmlp),
    Register::new(id::PMTU, "PMTU", "pmtu_reg", Access::ReadWrite, pmtu),
    Register::new(id::PTYS, "PTYS", "ptys_reg", Access::ReadWrite, ptys),
    Register::new(id::PAOS, "PAOS", "paos_reg", Access::ReadWrite, paos),
    Register::new(id::PPCNT, "PPCNT", "ppcnt_reg", Access::ReadOnly, ppcnt),
    Register::new(id::PVLC, "PVLC", "pvlc_reg", Access::ReadWrite, pvlc),
    Register::new(id::PCAM, "PCAM", "pcam_reg", Access::ReadOnly, pcam),
    Register::new(id::NODE_DESC, "NODE_DESC", "", Access::ReadOnly, node_desc).sized(64),
    Register::new(
        id::HOST_ENDIANNESS,
        "HOST_ENDIANNESS",
        "register_host_endianness",
        Access::ReadWrite,
        host_endianness,
    )
    .pf_only(),
    Register::new(id::MCAM, "MCAM", "mcam_reg", Access::ReadOnly, mcam),
    Register::new(id::DTOR, "DTOR", "dtor_reg", Access::ReadOnly, dtor),
];

/// Contents of registers that a driver can write.
#[derive(Debug, Clone)]
pub struct Registers {
    pub host_is_big_endian: bool,
    /// PAOS `admin_status` and `oper_status`: 1 up, 2 down.
    pub port_admin_up: bool,
    pub mtu: u16,
    pub vl_admin: u8,
    /// PTYS `ext_eth_proto_admin`: the speeds that the port may take.
    pub speeds: u32,
    pub ethernet: bool,
    /// Words of DTOR.
    pub dtor: Vec<u8>,
}

/// DTOR of a ConnectX-6 Dx.
const DTOR_DATA: &str = "00000000 20000002 00000000 00000000 00000000 20000002 2000003c 2000003c \
                         20000002 20000002 2000000a 20000005 20000005 20000078 00000000 00000000";

/// Largest MTU of a port, with the Ethernet header.
const MAX_MTU: u16 = 9978;

/// Speeds of the port in ascending order, 1G to 100G on four lanes: bit in `ext_eth_proto_*`, bit
/// in `eth_proto_*`. These are what a copper cable of 100G gives a ConnectX-6 Dx; bits: `enum
/// mlx5e_ext_link_mode` and `enum mlx5e_link_mode` of the kernel's `port.h`.
const SPEEDS: &[(u32, u32)] = &[(1, 0), (4, 12), (5, 6), (6, 27), (7, 30), (9, 20)];

/// The speeds of a mask of `ext_eth_proto_*` that the port has.
fn speeds(ext: u32) -> u32 {
    SPEEDS.iter().fold(0, |m, (e, _)| m | ext & (1 << e))
}

/// The same speeds as a mask of `eth_proto_*`.
fn legacy(ext: u32) -> u32 {
    let bit = |(e, l): &(u32, u32)| ((ext >> e) & 1) << l;
    SPEEDS.iter().map(bit).fold(0, |m, b| m | b)
}

/// The speeds of a mask of `eth_proto_*`, as one of `ext_eth_proto_*`.
fn extended(eth: u32) -> u32 {
    let bit = |(e, l): &(u32, u32)| ((eth >> l) & 1) << e;
    SPEEDS.iter().map(bit).fold(0, |m, b| m | b)
}

impl Registers {
    /// Registers after power-up.
    pub fn new(variant: &Variant) -> Registers {
        Registers {
            host_is_big_endian: false,
            port_admin_up: true,
            mtu: 1522,
            vl_admin: 0,
            speeds: speeds(u32::MAX),
            ethernet: variant.ethernet,
            dtor: bits::parse_hex(DTOR_DATA).unwrap_or_default(),
        }
    }

    /// What a reset of the function sets back; the port keeps its settings.
    pub fn reset(&mut self, _: &Variant) {
        self.host_is_big_endian = false;
    }
}

/// Finds a register by number, in all chapters.
pub fn register(id: u16) -> Option<&'static Register> {
    REGISTERS
        .iter()
        .chain(crate::net::REGISTERS.iter().flat_map(|c| c.iter()))
        .find(|r| r.id == id)
}

fn register_layout(input: &[u8]) -> Option<Override<'static>> {
    let r = register(bits::get(input, access_register_in::REGISTER_ID) as u16)?;
    (!r.layout.is_empty()).then_some(Override {
        member: "register_data",
        layout: r.layout,
    })
}

fn access(call: &mut Call<'_>) -> Outcome {
    let number = call.get(access_register_in::REGISTER_ID) as u16;
    let write = call.op_mod == WRITE;
    let found = register(number).filter(|r| !(r.pf_only && call.device.variant.is_vf));
    let Some(r) = found else {
        return Err(call.decline(status::BAD_PARAM, Rule::Register));
    };
    if (write && r.access == Access::ReadOnly) || (!write && r.access == Access::WriteOnly) {
        let text = format!("{} is {:?}", r.name, r.access);
        return Err(call.refuse(status::BAD_PARAM, Rule::Value, text));
    }
    let have = call.tail(access_register_in::REGISTER_DATA).len();
    let room = call.output.len().saturating_sub(access_register_out::BYTES);
    if have < r.size() {
        let text = format!("{} has {} bytes, the input {have}", r.name, r.size());
        call.note(Rule::InputLength, text);
    }
    if room < r.size() {
        let text = format!(
            "{} has {} bytes, the output has room for {room}",
            r.name,
            r.size()
        );
        call.note(Rule::OutputLength, text);
    }
    let mut data = call.tail(access_register_in::REGISTER_DATA).to_vec();
    data.resize(r.size().max(have), 0);
    (r.run)(call, &mut data, write)?;
    call.set_bytes(
        access_register_out::REGISTER_DATA,
        &data[..data.len().min(room)],
    );
    // A field without an end takes the whole rest.
    let start = access_register_out::REGISTER_DATA.byte();
    if let Some(out) = call.output.get_mut(start..) {
        let n = out.len().min(data.len());
        out[..n].copy_from_slice(&data[..n]);
    }
    Ok(())
}

/// Checks `local_port`.
pub fn port(call: &mut Call<'_>, data: &[u8], field: Field) -> Result<u8, Refusal> {
    let port = bits::get(data, field);
    let ports = call.device.caps.get("cmd_hca_cap.num_ports").max(1);
    if port == 0 || port > ports {
        let text = format!("local_port is {port}, there are {ports}");
        return Err(call.refuse(status::BAD_PARAM, Rule::Value, text));
    }
    Ok(port as u8)
}

/// Sets the bit of each register that exists in a mask of 128 registers, which counts down.
fn announce(data: &mut [u8], mask: Field, first: u16) {
    for n in 0..128u16 {
        if register(first.saturating_add(n)).is_some() {
            let bit = Field {
                bit: mask.bit + 127 - u32::from(n),
                width: 1,
                count: 1,
            };
            bits::set(data, bit, 1);
        }
    }
}

/// Keeps the two group selectors and clears the rest.
fn group(data: &mut [u8], access: Field) -> u64 {
    let group = bits::get(data, access);
    data[4..].fill(0);
    group
}

fn mcam(_: &mut Call<'_>, data: &mut [u8], _: bool) -> Outcome {
    let first = match group(data, mcam_reg::ACCESS_REG_GROUP) {
        0 => 0x9000,
        1 => 0x9080,
        2 => 0x9100,
        3 => 0x9180,
        _ => return Ok(()),
    };
    announce(data, mcam_reg::MNG_ACCESS_REG_CAP_MASK, first);
    Ok(())
}

fn pcam(_: &mut Call<'_>, data: &mut [u8], _: bool) -> Outcome {
    if group(data, pcam_reg::ACCESS_REG_GROUP) == 0 {
        announce(data, pcam_reg::PORT_ACCESS_REG_CAP_MASK, 0x5000);
    }
    if bits::get(data, pcam_reg::FEATURE_GROUP) == 0 {
        let at = pcam_reg::FEATURE_CAP_MASK;
        bits::set(data, at / pcam_enhanced_features::PTYS_EXTENDED_ETHERNET, 1);
    }
    Ok(())
}

fn qcam(_: &mut Call<'_>, data: &mut [u8], _: bool) -> Outcome {
    if group(data, qcam_reg::ACCESS_REG_GROUP) == 0 {
        announce(data, qcam_reg::QOS_ACCESS_REG_CAP_MASK, 0x4000);
    }
    Ok(())
}

fn dtor(call: &mut Call<'_>, data: &mut [u8], _: bool) -> Outcome {
    for (to, from) in data.iter_mut().zip(&call.device.registers.dtor) {
        *to = *from;
    }
    Ok(())
}

fn node_desc(call: &mut Call<'_>, data: &mut [u8], _: bool) -> Outcome {
    data.fill(0);
    let text = call.device.variant.node_description;
    for (to, from) in data.iter_mut().zip(text.bytes()) {
        *to = from;
    }
    Ok(())
}

fn host_endianness(call: &mut Call<'_>, data: &mut [u8], write: bool) -> Outcome {
    let regs = &mut call.device.registers;
    if write {
        regs.host_is_big_endian = bits::flag(data, register_host_endianness::HE);
    } else {
        bits::set(
            data,
            register_host_endianness::HE,
            regs.host_is_big_endian.into(),
        );
    }
    Ok(())
}

fn pmlp(call: &mut Call<'_>, data: &mut [u8], _: bool) -> Outcome {
    port(call, data, pmlp_reg::LOCAL_PORT)?;
    data[3..].fill(0);
    bits::set(data, pmlp_reg::WIDTH, 4);
    for lane in 0..4u32 {
        // Module 0, the lane's own number in bits 23:16 and 31:24.
        bits::set(
            data,
            pmlp_reg::LANE0_MODULE_MAPPING.index(lane),
            ((lane << 24) | (lane << 16)).into(),
        );
    }
    Ok(())
}

fn pmtu(call: &mut Call<'_>, data: &mut [u8], write: bool) -> Outcome {
    port(call, data, pmtu_reg::LOCAL_PORT)?;
    if write {
        let mtu = bits::get(data, pmtu_reg::ADMIN_MTU) as u16;
        if mtu > MAX_MTU {
            let text = format!("admin_mtu is {mtu}, the limit {MAX_MTU}");
            return Err(call.refuse(status::BAD_PARAM, Rule::Limit, text));
        }
        call.device.registers.mtu = mtu;
    }
    bits::set(data, pmtu_reg::MAX_MTU, MAX_MTU.into());
    bits::set(data, pmtu_reg::ADMIN_MTU, call.device.registers.mtu.into());
    bits::set(data, pmtu_reg::OPER_MTU, call.device.registers.mtu.into());
    Ok(())
}

/// PTYS `proto_mask`.
const PROTO_IB: u64 = 1;
const PROTO_ETH: u64 = 4;

fn ptys(call: &mut Call<'_>, data: &mut [u8], write: bool) -> Outcome {
    port(call, data, ptys_reg::LOCAL_PORT)?;
    let proto = bits::get(data, ptys_reg::PROTO_MASK);
    if proto != PROTO_IB && proto != PROTO_ETH {
        let text = format!("proto_mask is {proto}");
        return Err(call.refuse(status::BAD_PARAM, Rule::Value, text));
    }
    let up = crate::net::link_is_up(call.device);
    let regs = &mut call.device.registers;
    if write {
        let ext = speeds(bits::get32(data, ptys_reg::EXT_ETH_PROTO_ADMIN));
        let asked = ext | extended(bits::get32(data, ptys_reg::ETH_PROTO_ADMIN));
        regs.speeds = if asked == 0 { speeds(u32::MAX) } else { asked };
        return Ok(());
    }
    data[4..].fill(0);
    if proto == PROTO_ETH && regs.ethernet {
        let all = speeds(u32::MAX);
        // The fastest of those allowed.
        let oper = match regs.speeds.checked_ilog2() {
            Some(n) if up => 1 << n,
            _ => 0,
        };
        for (cap, admin, is, form) in [
            (
                ptys_reg::EXT_ETH_PROTO_CAPABILITY,
                ptys_reg::EXT_ETH_PROTO_ADMIN,
                ptys_reg::EXT_ETH_PROTO_OPER,
                speeds as fn(u32) -> u32,
            ),
            (
                ptys_reg::ETH_PROTO_CAPABILITY,
                ptys_reg::ETH_PROTO_ADMIN,
                ptys_reg::ETH_PROTO_OPER,
                legacy,
            ),
        ] {
            bits::set(data, cap, form(all).into());
            bits::set(data, admin, form(regs.speeds).into());
            bits::set(data, is, form(oper).into());
        }
    } else if proto == PROTO_IB && !regs.ethernet {
        // Widths 1X, 2X and 4X, speeds up to EDR.
        bits::set(data, ptys_reg::IB_LINK_WIDTH_CAPABILITY, 0x7);
        bits::set(data, ptys_reg::IB_PROTO_CAPABILITY, 0x3f);
        bits::set(data, ptys_reg::IB_LINK_WIDTH_ADMIN, 0x7);
        bits::set(data, ptys_reg::IB_PROTO_ADMIN, 0x3f);
        bits::set(data, ptys_reg::IB_LINK_WIDTH_OPER, 0x4);
        bits::set(data, ptys_reg::IB_PROTO_OPER, 0x20);
    }
    Ok(())
}

/// PAOS states.
const PORT_UP: u64 = 1;
const PORT_DOWN: u64 = 2;

fn paos(call: &mut Call<'_>, data: &mut [u8], write: bool) -> Outcome {
    port(call, data, paos_reg::LOCAL_PORT)?;
    if write {
        let admin = bits::get(data, paos_reg::ADMIN_STATUS);
        if bits::flag(data, paos_reg::ASE) {
            if admin != PORT_UP && admin != PORT_DOWN {
                let text = format!("admin_status is {admin}");
                return Err(call.refuse(status::BAD_PARAM, Rule::Value, text));
            }
            crate::net::set_port(call.device, admin == PORT_UP);
        }
    }
    let state = if call.device.registers.port_admin_up {
        PORT_UP
    } else {
        PORT_DOWN
    };
    bits::set(data, paos_reg::ADMIN_STATUS, state);
    let up = crate::net::link_is_up(call.device);
    let state = if up { PORT_UP } else { PORT_DOWN };
    bits::set(data, paos_reg::OPER_STATUS, state);
    Ok(())
}

fn pvlc(call: &mut Call<'_>, data: &mut [u8], write: bool) -> Outcome {
    port(call, data, pvlc_reg::LOCAL_PORT)?;
    if write {
        call.device.registers.vl_admin = bits::get(data, pvlc_reg::VL_ADMIN) as u8;
    }
    bits::set(data, pvlc_reg::VL_HW_CAP, 4);
    bits::set(
        data,
        pvlc_reg::VL_ADMIN,
        call.device.registers.vl_admin.into(),
    );
    bits::set(data, pvlc_reg::VL_OPERATIONAL, 4);
    Ok(())
}

fn ppcnt(call: &mut Call<'_>, data: &mut [u8], _: bool) -> Outcome {
    port(call, data, ppcnt_reg::LOCAL_PORT)?;
    let group = bits::get(data, ppcnt_reg::GRP);
    let at = ppcnt_reg::COUNTER_SET.byte();
    data[at..].fill(0);
    let prio = bits::get(data, ppcnt_reg::PRIO_TC);
    crate::net::port_counters(call.device, group, prio, &mut data[at..]);
    Ok(())
}
