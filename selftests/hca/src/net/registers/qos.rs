// SPDX-License-Identifier: GPL-2.0

//! Priorities and traffic classes of the port: trust, mapping, bandwidth.
//!
//! The registers keep what a driver wrote; the wire has no congestion on which it would show.

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
    pub const QPTS: u16 = 0x4002;
    pub const QETCR: u16 = 0x4005;
    pub const QTCT: u16 = 0x400a;
    pub const QPDPM: u16 = 0x4013;
}

pub const REGISTERS: &[Register] = &[
    register(id::QPTS, "QPTS", "qpts_reg", qpts),
    register(id::QETCR, "QETCR", "qetc_reg", qetcr),
    register(id::QTCT, "QTCT", "qtct_reg", qtct),
    register(id::QPDPM, "QPDPM", "qpdpm_reg", qpdpm),
];

/// `trust_state`. Source: `MLX5_QPTS_TRUST_*` of mlx5_core's `port.h`.
const TRUST_PCP: u64 = 1;
const TRUST_DSCP: u64 = 2;

fn qpts(call: &mut Call<'_>, data: &mut [u8], write: bool) -> Outcome {
    port(call, data, qpts_reg::LOCAL_PORT)?;
    let key = (id::QPTS, 0);
    let mut is = contents(call, key, qpts_reg::BYTES, |d| {
        bits::set(d, qpts_reg::TRUST_STATE, TRUST_PCP);
    });
    if write {
        let state = bits::get(data, qpts_reg::TRUST_STATE);
        if state != TRUST_PCP && state != TRUST_DSCP {
            let text = format!("trust_state is {state}");
            return Err(call.refuse(status::BAD_PARAM, Rule::Value, text));
        }
        copy(&mut is, data, qpts_reg::TRUST_STATE);
        keep(call, key, is.clone());
    }
    answer(data, &is, &[qpts_reg::LOCAL_PORT]);
    Ok(())
}

/// These two registers take port 0 for the function's own: mlx5_core never fills it in.
fn own_port(call: &mut Call<'_>, data: &[u8], field: Field) -> Outcome {
    if bits::get(data, field) == 0 {
        return Ok(());
    }
    port(call, data, field).map(|_| ())
}

/// Bandwidth of all groups together, in percent.
const WHOLE: u64 = 100;

fn qetcr(call: &mut Call<'_>, data: &mut [u8], write: bool) -> Outcome {
    own_port(call, data, qetc_reg::PORT_NUMBER)?;
    let key = (id::QETCR, 0);
    let tc = |i: u32| qetc_reg::TC_CONFIGURATION.index(i);
    let mut is = contents(call, key, qetc_reg::BYTES, |d| {
        // Each class is a group of its own, served in order.
        for i in 0..qetc_reg::TC_CONFIGURATION.count {
            bits::set(d, tc(i) / ets_tcn_config_reg::GROUP, i.into());
            bits::set(d, tc(i) / ets_tcn_config_reg::BW_ALLOCATION, WHOLE);
        }
    });
    if write {
        for i in 0..qetc_reg::TC_CONFIGURATION.count {
            let share = bits::get(data, tc(i) / ets_tcn_config_reg::BW_ALLOCATION);
            if share > WHOLE {
                let text = format!("bw_allocation of class {i} is {share}");
                return Err(call.refuse(status::BAD_PARAM, Rule::Limit, text));
            }
            // Three flags say which of the values count.
            for (flag, fields) in [
                (ets_tcn_config_reg::G, &[ets_tcn_config_reg::GROUP][..]),
                (ets_tcn_config_reg::B, &[ets_tcn_config_reg::BW_ALLOCATION]),
                (
                    ets_tcn_config_reg::R,
                    &[
                        ets_tcn_config_reg::MAX_BW_UNITS,
                        ets_tcn_config_reg::MAX_BW_VALUE,
                    ],
                ),
            ] {
                if bits::flag(data, tc(i) / flag) {
                    fields.iter().for_each(|f| copy(&mut is, data, tc(i) / *f));
                }
            }
        }
        keep(call, key, is.clone());
    }
    answer(data, &is, &[qetc_reg::PORT_NUMBER]);
    Ok(())
}

/// Traffic class of a priority; the register has one priority at a time.
fn qtct(call: &mut Call<'_>, data: &mut [u8], write: bool) -> Outcome {
    own_port(call, data, qtct_reg::PORT_NUMBER)?;
    let prio = bits::get(data, qtct_reg::PRIO) as u8;
    let key = (id::QTCT, prio);
    let mut is = contents(call, key, qtct_reg::BYTES, |d| {
        bits::set(d, qtct_reg::TCLASS, prio.into());
    });
    if write {
        copy(&mut is, data, qtct_reg::TCLASS);
        keep(call, key, is.clone());
    }
    answer(data, &is, &[qtct_reg::PORT_NUMBER, qtct_reg::PRIO]);
    Ok(())
}

/// Priority of each DSCP: its high three bits.
fn qpdpm(call: &mut Call<'_>, data: &mut [u8], write: bool) -> Outcome {
    port(call, data, qpdpm_reg::LOCAL_PORT)?;
    let key = (id::QPDPM, 0);
    let dscp = |i: u32| qpdpm_reg::DSCP.index(i);
    let mut is = contents(call, key, qpdpm_reg::BYTES, |d| {
        for i in 0..qpdpm_reg::DSCP.count {
            bits::set(d, dscp(i) / qpdpm_dscp_reg::PRIO, (i >> 3).into());
        }
    });
    if write {
        for i in
            (0..qpdpm_reg::DSCP.count).filter(|i| bits::flag(data, dscp(*i) / qpdpm_dscp_reg::E))
        {
            copy(&mut is, data, dscp(i) / qpdpm_dscp_reg::PRIO);
        }
        keep(call, key, is.clone());
    }
    answer(data, &is, &[qpdpm_reg::LOCAL_PORT]);
    Ok(())
}
