// SPDX-License-Identifier: GPL-2.0

//! `dma`: the device writes what it should not, where it may.

use super::requests::Answer;
use crate::device::Device;
use crate::eq::EQE_BYTES;
use crate::faults::{
    number,
    replacement, //
};
use crate::pci;

/// Bytes of a page that a driver gives.
const PAGE: usize = 4096;

/// Runs `dma ...`.
pub fn run(d: &mut Device, words: &[&str]) -> Answer {
    if !pci::bus_master(&d.config) || !d.pci_alive {
        return Err("the function cannot reach memory now".into());
    }
    let (address, bytes) = match words {
        ["pages", n, seed] => return pages(d, number(n)?, number(seed)?),
        ["slot", n, what] => {
            let n: u32 = number(n)?;
            let (offset, bytes) = replacement(Some(what))?;
            let queue = d.cmdq.address.ok_or("there is no command queue")?;
            inside(offset, &bytes, d.iseg.stride())?;
            if n >= d.iseg.slots() {
                return Err(format!("there are {} slots", d.iseg.slots()));
            }
            let entry = queue.saturating_add(u64::from(n) * d.iseg.stride());
            (entry.saturating_add(offset as u64), bytes)
        }
        ["eqe", eqn, ahead, what] => {
            let eq = d.eqs.get(number(eqn)?).ok_or("there is no such EQ")?;
            let (offset, bytes) = replacement(Some(what))?;
            inside(offset, &bytes, EQE_BYTES)?;
            let index = eq.pi.wrapping_add(number(ahead)?) & (eq.entries() - 1);
            let entry = eq.address(index).ok_or("the EQ has no memory")?;
            (entry.saturating_add(offset as u64), bytes)
        }
        _ => return Err("which? see `help`".into()),
    };
    let written = d.memory.write(address, &bytes);
    written.map_err(|fault| fault.to_string())?;
    Ok(Vec::new())
}

fn inside(offset: usize, bytes: &[u8], size: u64) -> Result<(), String> {
    match offset.checked_add(bytes.len()) {
        Some(end) if end as u64 <= size => Ok(()),
        _ => Err(format!("there are {size} bytes")),
    }
}

/// Fills pages that the driver has given with numbers made from a seed: they are the device's.
fn pages(d: &mut Device, n: usize, seed: u64) -> Answer {
    let addresses = d.pages.first(n);
    let mut state = seed | 1;
    for address in &addresses {
        let mut page = Vec::with_capacity(PAGE);
        while page.len() < PAGE {
            state ^= state << 13;
            state ^= state >> 7;
            state ^= state << 17;
            page.extend(state.to_be_bytes());
        }
        let written = d.memory.write(*address, &page);
        written.map_err(|fault| fault.to_string())?;
    }
    Ok(vec![format!("written: {}", addresses.len())])
}
