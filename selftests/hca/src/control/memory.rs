// SPDX-License-Identifier: GPL-2.0

//! Requests about the guest's memory, as the device sees it.

use super::requests::Answer;
use crate::bits;
use crate::device::Device;
use crate::faults::number;

/// Most bytes of one access.
const MAX_ACCESS: usize = 4096;

/// Runs `memory ...`. An access that nobody but the test asked for is no violation of the driver's:
/// where it is refused the answer is an error with the reason.
pub fn run(d: &mut Device, words: &[&str]) -> Answer {
    match words {
        [] => Ok(d.memory.show()),
        ["read", address, length] => {
            let length: usize = number(length)?;
            if length > MAX_ACCESS {
                return Err(format!("one access has at most {MAX_ACCESS} bytes"));
            }
            let mut data = vec![0; length];
            d.memory
                .read(number(address)?, &mut data)
                .map_err(|fault| fault.to_string())?;
            let bytes: Vec<String> = data.iter().map(|b| format!("{b:02x}")).collect();
            Ok(vec![bytes.concat()])
        }
        ["write", address, hex @ ..] => {
            let data = bits::parse_hex(&hex.concat()).ok_or("data needs pairs of hex digits")?;
            d.memory
                .write(number(address)?, &data)
                .map_err(|fault| fault.to_string())?;
            Ok(Vec::new())
        }
        _ => Err("which? see `help`".into()),
    }
}
