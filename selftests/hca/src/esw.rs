// SPDX-License-Identifier: GPL-2.0

//! What the device knows about the functions of external hosts, for an e-switch manager.

use std::collections::BTreeSet;

use crate::bits;
use crate::faults::number;
use crate::ifc::fields::{
    host_params_context as host,
    network_function_params as params, //
};
use crate::ifc::Field;
use crate::variants::Variant;

/// `vhca_state`: allocated and in use. Source: `MLX5_VHCA_STATE_*` of the kernel's header.
const VHCA_ALLOCATED: u64 = 1;
const VHCA_IN_USE: u64 = 3;

/// Fields of `host_params_context` that the kernel's header lacks.
/// Source: an NVIDIA-generated PRM header, and rdma-core.
const HOST_PF_VHCA_ID_VALID: Field = Field {
    bit: 31 - 17,
    width: 1,
    count: 1,
};
const HOST_PF_VHCA_ID: Field = Field {
    bit: 0x08 * 8,
    width: 16,
    count: 1,
};

/// State of the external host's physical function.
#[derive(Debug, Clone)]
pub struct EswState {
    pub host_number: u8,
    pub pf_not_exist: bool,
    pub pf_disabled: bool,
    pub num_vfs: u16,
    pub total_vfs: u16,
    pub bus: u8,
    pub device: u8,
    pub function: u8,
    pub vhca_id: u16,
    /// Indexes of scalable functions that are enabled.
    pub sfs: BTreeSet<u16>,
    /// Whether the manager enabled the host's function by ENABLE_HCA.
    pub host_enabled: bool,
    manages: bool,
}

impl EswState {
    /// A host with an idle function.
    pub fn new(variant: &Variant) -> EswState {
        EswState {
            host_number: 1,
            pf_not_exist: false,
            pf_disabled: false,
            num_vfs: 0,
            total_vfs: 16,
            bus: 0x3b,
            device: 0,
            function: 0,
            vhca_id: 2,
            sfs: BTreeSet::new(),
            host_enabled: false,
            manages: variant.iseg.embedded_cpu,
        }
    }

    /// ENABLE_HCA or DISABLE_HCA of the host's function.
    ///
    /// # Errors
    ///
    /// If there is no such function, or it is in that state already.
    pub fn enable_host(&mut self, on: bool) -> Result<(), ()> {
        if !self.manages || self.pf_not_exist || self.host_enabled == on {
            return Err(());
        }
        self.host_enabled = on;
        Ok(())
    }

    /// `host_params_context` of the legacy output.
    pub fn put_legacy(&self, out: &mut [u8], at: Field) {
        let mut set = |f: Field, v: u64| bits::set(out, at / f, v);
        set(host::HOST_NUMBER, self.host_number.into());
        set(host::HOST_PF_NOT_EXIST, self.pf_not_exist.into());
        set(host::HOST_PF_DISABLED, self.pf_disabled.into());
        set(host::HOST_NUM_OF_VFS, self.num_vfs.into());
        set(host::HOST_TOTAL_VFS, self.total_vfs.into());
        set(host::HOST_PCI_BUS, self.bus.into());
        set(host::HOST_PCI_DEVICE, self.device.into());
        set(host::HOST_PCI_FUNCTION, self.function.into());
        set(HOST_PF_VHCA_ID_VALID, (!self.pf_not_exist).into());
        set(HOST_PF_VHCA_ID, self.vhca_id.into());
    }

    /// `network_function_params` of the V1 output. Returns the number of entries.
    pub fn put_v1(&self, out: &mut [u8], at: Field) -> u64 {
        if self.pf_not_exist {
            return 0;
        }
        let mut set = |f: Field, v: u64| bits::set(out, at / f, v);
        let state = if self.pf_disabled {
            VHCA_ALLOCATED
        } else {
            VHCA_IN_USE
        };
        set(params::HOST_NUMBER, self.host_number.into());
        set(params::PCI_NUM_VFS, self.num_vfs.into());
        set(params::PCI_TOTAL_VFS, self.total_vfs.into());
        set(params::PCI_BUS, self.bus.into());
        let devfn = (u64::from(self.device) << 3) | u64::from(self.function);
        set(params::PCI_DEVICE_FUNCTION, devfn);
        set(params::VHCA_ID, self.vhca_id.into());
        set(params::VHCA_STATE, state);
        set(params::PCI_BUS_ASSIGNED, 1);
        1
    }

    /// The bitmap of enabled SFs, as 64-bit words: SF i is bit i mod 64 of word i / 64, counted
    /// from the least significant bit.
    pub fn put_sfs(&self, out: &mut [u8]) {
        for sf in &self.sfs {
            let word = usize::from(sf / 64);
            let bit = usize::from(sf % 64);
            if let Some(byte) = out.get_mut(word * 8 + 7 - bit / 8) {
                *byte |= 1 << (bit % 8);
            }
        }
    }

    /// Changes the state as a control request says. Returns true if something changed.
    ///
    /// # Errors
    ///
    /// What is not understood.
    pub fn change(&mut self, words: &[&str]) -> Result<bool, String> {
        let on = |text: &str| match text {
            "on" | "1" => Ok(true),
            "off" | "0" => Ok(false),
            other => Err(format!("`{other}` is neither on nor off")),
        };
        let old = format!("{self:?}");
        match words {
            ["vfs", n] => self.num_vfs = number(n)?,
            ["total", n] => self.total_vfs = number(n)?,
            ["host-number", n] => self.host_number = number(n)?,
            ["pf-disabled", v] => self.pf_disabled = on(v)?,
            ["pf-not-exist", v] => self.pf_not_exist = on(v)?,
            ["vhca_id", n] => self.vhca_id = number(n)?,
            ["bdf", text] => {
                let parse = |t: &str| u8::from_str_radix(t, 16).ok();
                let parts = text.split_once(':').and_then(|(b, rest)| {
                    let (d, f) = rest.split_once('.')?;
                    Some((parse(b)?, parse(d)?, parse(f)?))
                });
                (self.bus, self.device, self.function) = parts
                    .filter(|(_, d, f)| *d < 32 && *f < 8)
                    .ok_or("bdf needs BB:DD.F")?;
            }
            ["sf", n, v] => {
                let n: u16 = number(n)?;
                if on(v)? {
                    self.sfs.insert(n);
                } else {
                    self.sfs.remove(&n);
                }
            }
            _ => return Err("which change? see `help`".into()),
        }
        Ok(old != format!("{self:?}"))
    }

    /// Lines for the control socket.
    pub fn show(&self) -> Vec<String> {
        let sfs: Vec<String> = self.sfs.iter().map(u16::to_string).collect();
        vec![
            format!("host_number: {}", self.host_number),
            format!("pf_not_exist: {}", u8::from(self.pf_not_exist)),
            format!("pf_disabled: {}", u8::from(self.pf_disabled)),
            format!("num_vfs: {}", self.num_vfs),
            format!("total_vfs: {}", self.total_vfs),
            format!(
                "bdf: {:02x}:{:02x}.{:x}",
                self.bus, self.device, self.function
            ),
            format!("vhca_id: {}", self.vhca_id),
            format!("host_enabled: {}", u8::from(self.host_enabled)),
            format!("sfs: {}", sfs.join(" ")),
        ]
    }
}
