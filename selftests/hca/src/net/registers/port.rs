// SPDX-License-Identifier: GPL-2.0

//! Flow control, forward error correction, buffers and checks of the port.

use super::{
    answer,
    contents,
    copy,
    keep,
    register, //
};
use crate::access_reg::{
    port,
    Register, //
};
use crate::bits;
use crate::command::{
    status,
    Call,
    Outcome, //
};
use crate::ifc::fields::*;
use crate::ifc::Field;
use crate::rules::Rule;

/// Numbers. Source: `MLX5_REG_*` of the kernel's `driver.h`.
mod id {
    pub const PFCC: u16 = 0x5007;
    pub const PPTB: u16 = 0x500b;
    pub const PBMC: u16 = 0x500c;
    pub const PPLM: u16 = 0x5023;
    pub const PCMR: u16 = 0x5041;
    pub const MLCR: u16 = 0x902b;
}

pub const REGISTERS: &[Register] = &[
    register(id::PFCC, "PFCC", "pfcc_reg", pfcc),
    register(id::PPTB, "PPTB", "pptb_reg", pptb),
    register(id::PBMC, "PBMC", "pbmc_reg", pbmc),
    register(id::PPLM, "PPLM", "pplm_reg", pplm),
    register(id::PCMR, "PCMR", "pcmr_reg", pcmr),
    register(id::MLCR, "MLCR", "mlcr_reg", mlcr),
];

/// Pause frames in both directions after power-up.
fn pfcc(call: &mut Call<'_>, data: &mut [u8], write: bool) -> Outcome {
    port(call, data, pfcc_reg::LOCAL_PORT)?;
    let key = (id::PFCC, 0);
    let mut is = contents(call, key, pfcc_reg::BYTES, |d| {
        bits::set(d, pfcc_reg::PPTX, 1);
        bits::set(d, pfcc_reg::PPRX, 1);
    });
    if write {
        // A field counts where its mask says so.
        for (mask_n, field) in [
            (pfcc_reg::PPTX_MASK_N, pfcc_reg::PPTX),
            (pfcc_reg::PPRX_MASK_N, pfcc_reg::PPRX),
            (pfcc_reg::PPAN_MASK_N, pfcc_reg::PPAN),
        ] {
            if !bits::flag(data, mask_n) {
                copy(&mut is, data, field);
            }
        }
        for (mask, field) in [
            (pfcc_reg::PRIO_MASK_TX, pfcc_reg::PFCTX),
            (pfcc_reg::PRIO_MASK_RX, pfcc_reg::PFCRX),
        ] {
            let mask = bits::get(data, mask);
            let new = bits::get(&is, field) & !mask | bits::get(data, field) & mask;
            bits::set(&mut is, field, new);
        }
        for (mask, field) in [
            (
                pfcc_reg::MINOR_STALL_MASK,
                pfcc_reg::DEVICE_STALL_MINOR_WATERMARK,
            ),
            (
                pfcc_reg::CRITICAL_STALL_MASK,
                pfcc_reg::DEVICE_STALL_CRITICAL_WATERMARK,
            ),
            (pfcc_reg::CABLE_LENGTH_MASK, pfcc_reg::CABLE_LENGTH),
        ] {
            if bits::flag(data, mask) {
                copy(&mut is, data, field);
            }
        }
        keep(call, key, is.clone());
    }
    // What is active follows what is asked for: the other end agrees to all.
    for (admin, active) in [
        (pfcc_reg::PPTX, pfcc_reg::APTX),
        (pfcc_reg::PPRX, pfcc_reg::APRX),
    ] {
        let value = bits::get(&is, admin);
        bits::set(&mut is, active, value);
    }
    answer(data, &is, &[pfcc_reg::LOCAL_PORT]);
    Ok(())
}

/// Which buffer each priority goes to: all to buffer 0.
fn pptb(call: &mut Call<'_>, data: &mut [u8], write: bool) -> Outcome {
    port(call, data, pptb_reg::LOCAL_PORT)?;
    let key = (id::PPTB, 0);
    let mut is = contents(call, key, pptb_reg::BYTES, |_| {});
    if write {
        let mask = bits::get(data, pptb_reg::PM);
        for prio in (0..8u32).filter(|p| (mask >> p) & 1 != 0) {
            // Four bits a priority, the lowest at the end.
            let mut nibble = pptb_reg::PRIO_X_BUFF;
            nibble.bit += 28 - 4 * prio;
            nibble.width = 4;
            copy(&mut is, data, nibble);
        }
        if bits::flag(data, pptb_reg::UM) {
            copy(&mut is, data, pptb_reg::UNTAGGED_BUFF);
        }
        if bits::flag(data, pptb_reg::CM) {
            copy(&mut is, data, pptb_reg::CTRL_BUFF);
        }
        keep(call, key, is.clone());
    }
    let selectors = [pptb_reg::LOCAL_PORT, pptb_reg::MM, pptb_reg::PM];
    answer(data, &is, &selectors);
    Ok(())
}

/// Cells of the port's receive buffer, and of buffer 0 after power-up.
const BUFFER_CELLS: u64 = 0x0800;
const BUFFER_0_CELLS: u64 = 0x0400;

fn pbmc(call: &mut Call<'_>, data: &mut [u8], write: bool) -> Outcome {
    port(call, data, pbmc_reg::LOCAL_PORT)?;
    let key = (id::PBMC, 0);
    let mut is = contents(call, key, pbmc_reg::BYTES, |d| {
        bits::set(d, pbmc_reg::PORT_BUFFER_SIZE, BUFFER_CELLS);
        bits::set(d, pbmc_reg::XOFF_TIMER_VALUE, 0xffff);
        bits::set(d, pbmc_reg::XOFF_REFRESH, 0x7fff);
        bits::set(
            d,
            pbmc_reg::BUFFER.index(0) / bufferx_reg::SIZE,
            BUFFER_0_CELLS,
        );
        bits::set(d, pbmc_reg::BUFFER.index(0) / bufferx_reg::LOSSY, 1);
    });
    if write {
        let size = |i| bits::get(data, pbmc_reg::BUFFER.index(i) / bufferx_reg::SIZE);
        let total: u64 = (0..pbmc_reg::BUFFER.count).map(size).sum();
        if total > BUFFER_CELLS {
            let text = format!("buffers of {total} cells, the port has {BUFFER_CELLS}");
            return Err(call.refuse(status::BAD_PARAM, Rule::Limit, text));
        }
        copy(&mut is, data, pbmc_reg::BUFFER);
        keep(call, key, is.clone());
    }
    answer(data, &is, &[pbmc_reg::LOCAL_PORT]);
    Ok(())
}

/// Bit of 100G in `ext_eth_proto_*`.
const SPEED_100G: u32 = 9;

/// Modes of error correction as a mask: none, FireCode, Reed-Solomon (528,514).
/// Source: `enum` of `MLX5E_FEC_*` of mlx5_core's `en/port.h`.
const FEC_NONE: u64 = 1 << 0;
const FEC_REED_SOLOMON: u64 = 1 << 2;

/// Fields of the speeds that have a choice: modes, what a driver asked for.
const FEC_FIELDS: &[(u64, Field, Field)] = &[
    (
        0x7,
        pplm_reg::FEC_OVERRIDE_CAP_25G,
        pplm_reg::FEC_OVERRIDE_ADMIN_25G,
    ),
    (
        0x5,
        pplm_reg::FEC_OVERRIDE_CAP_100G,
        pplm_reg::FEC_OVERRIDE_ADMIN_100G,
    ),
];

fn pplm(call: &mut Call<'_>, data: &mut [u8], write: bool) -> Outcome {
    port(call, data, pplm_reg::LOCAL_PORT)?;
    let key = (id::PPLM, 0);
    let mut is = contents(call, key, pplm_reg::BYTES, |d| {
        FEC_FIELDS
            .iter()
            .for_each(|(modes, cap, _)| bits::set(d, *cap, *modes));
    });
    if write {
        for (modes, _, admin) in FEC_FIELDS {
            let asked = bits::get(data, *admin);
            if asked & !modes != 0 {
                let text = format!("fec_override_admin 0x{asked:x}, of 0x{modes:x}");
                return Err(call.refuse(status::BAD_PARAM, Rule::Value, text));
            }
            copy(&mut is, data, *admin);
        }
        keep(call, key, is.clone());
    }
    // The port runs at 100G unless it is held to less.
    let slow = call.device.registers.speeds >> SPEED_100G == 0;
    let (_, _, admin) = FEC_FIELDS[usize::from(!slow)];
    let admin = bits::get(&is, admin);
    let active = match admin {
        _ if !crate::net::link_is_up(call.device) => 0,
        0 => FEC_REED_SOLOMON,
        a if a & FEC_REED_SOLOMON != 0 => FEC_REED_SOLOMON,
        a if a & FEC_NONE != 0 => FEC_NONE,
        a => a,
    };
    bits::set(&mut is, pplm_reg::FEC_MODE_ACTIVE, active);
    answer(data, &is, &[pplm_reg::LOCAL_PORT]);
    Ok(())
}

/// Checks of the port: only that of the frame check sequence can be switched.
fn pcmr(call: &mut Call<'_>, data: &mut [u8], write: bool) -> Outcome {
    port(call, data, pcmr_reg::LOCAL_PORT)?;
    let key = (id::PCMR, 0);
    let mut is = contents(call, key, pcmr_reg::BYTES, |d| {
        bits::set(d, pcmr_reg::FCS_CAP, 1);
        bits::set(d, pcmr_reg::FCS_CHK, 1);
    });
    if write {
        copy(&mut is, data, pcmr_reg::FCS_CHK);
        keep(call, key, is.clone());
    }
    answer(data, &is, &[pcmr_reg::LOCAL_PORT]);
    Ok(())
}

/// Duration that lets the port's light blink until it is told to stop.
const BEACON_FOREVER: u64 = 0xffff;

/// The light by which somebody finds the port: duration in seconds, and what is left of it.
fn mlcr(call: &mut Call<'_>, data: &mut [u8], write: bool) -> Outcome {
    port(call, data, mlcr_reg::LOCAL_PORT)?;
    let key = (id::MLCR, 0);
    let mut is = contents(call, key, mlcr_reg::BYTES, |_| {});
    let now = call.device.timer() / (call.device.variant.timer_khz() * 1000);
    if write {
        let duration = bits::get(data, mlcr_reg::BEACON_DURATION);
        copy(&mut is, data, mlcr_reg::BEACON_DURATION);
        keep(call, key, is.clone());
        call.device.net.registers.beacon_end = now.saturating_add(duration);
    }
    let left = match bits::get(&is, mlcr_reg::BEACON_DURATION) {
        BEACON_FOREVER => BEACON_FOREVER,
        _ => call.device.net.registers.beacon_end.saturating_sub(now),
    };
    bits::set(&mut is, mlcr_reg::BEACON_REMAIN, left);
    answer(data, &is, &[mlcr_reg::LOCAL_PORT]);
    Ok(())
}
