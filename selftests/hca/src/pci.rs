// SPDX-License-Identifier: GPL-2.0

//! The PCI function: which configuration space each variant has.
//!
//! The order and the places of the capabilities are those of real cards.

use crate::config_space::ConfigSpace;
use crate::variants::Variant;
use crate::vpd;

/// Offsets of capabilities that the model itself looks at.
const EXPRESS: usize = 0x60;
const DEVICE_CONTROL: usize = EXPRESS + 8;
const MSIX: usize = 0x9c;
const VPD: usize = vpd::AT;
const VENDOR: usize = 0xc0;
const POWER: usize = 0x40;

/// MSI-X table and pending bits in BAR0.
pub const MSIX_TABLE: u32 = 0x2000;
pub const MSIX_PBA: u32 = 0x3000;

/// `Initiate Function Level Reset` in the high byte of device control.
const FLR: u8 = 0x80;

/// Bits of the command register that software can write: memory, bus master, parity, SERR, INTx.
const COMMAND_WRITABLE: u32 = 0x0546;

/// Builds the configuration space of a variant.
pub fn config_space(v: &Variant) -> ConfigSpace {
    let class = if v.ethernet { 0x0200_0000 } else { 0x0207_0000 };
    let mut c = ConfigSpace::default()
        .value(0x00, 4, 0x15b3 | (u32::from(v.pci_device_id) << 16))
        .writable(0x04, 2, COMMAND_WRITABLE)
        .value(0x06, 2, 0x0010)
        .clears(0x06, 2, 0xf900)
        .value(0x08, 4, class | u32::from(v.pci_revision))
        .value(0x0c, 1, 0x08)
        .writable(0x0c, 1, 0xff)
        // BAR0: memory, 64 bits, prefetchable.
        .value(0x10, 4, 0x0c)
        .writable(0x10, 4, !(v.bar0_bytes as u32 - 1))
        .writable(0x14, 4, u32::MAX)
        .value(0x2c, 4, 0x15b3 | (u32::from(v.pci_subsystem_id) << 16))
        .value(0x34, 1, EXPRESS as u32)
        .writable(0x3c, 1, 0xff);
    c = express(c, v);
    let table_size = u16::from(v.msix_vectors).saturating_sub(1).to_le_bytes();
    let mut body = table_size.to_vec();
    body.extend(MSIX_TABLE.to_le_bytes());
    body.extend(MSIX_PBA.to_le_bytes());
    if v.is_vf {
        c = c.capability(MSIX, 0x11, 0, &body);
        return msix_writable(c)
            .extended(0x100, 0x000b, 1, 0x150)
            .value(0x104, 4, 0x00c0_0000)
            .extended(0x150, 0x000e, 1, 0);
    }
    c = c
        .capability(VPD, 0x03, MSIX as u8, &[0, 0, 0, 0, 0, 0])
        .writable(VPD + 2, 2, 0xffff)
        .capability(MSIX, 0x11, VENDOR as u8, &body)
        .capability(VENDOR, 0x09, POWER as u8, &[0x18])
        // Version 3, PME from D3cold.
        .capability(POWER, 0x01, 0, &[0x03, 0x80, 0, 0, 0, 0])
        .writable(POWER + 4, 2, 0x0103);
    msix_writable(c)
        .extended(0x100, 0x0001, 2, 0x150)
        .value(0x10c, 4, 0x0046_2030)
        .writable(0x108, 4, 0x07ff_f030)
        .writable(0x10c, 4, 0x07ff_f030)
        .writable(0x114, 4, 0x0000_f1c1)
        .value(0x114, 4, 0x0000_2000)
        .extended(0x150, 0x000e, 1, 0x1c0)
        .extended(0x1c0, 0x0019, 1, 0x230)
        .extended(0x230, 0x000d, 1, 0)
}

/// PCI Express capability, version 2, endpoint.
fn express(c: ConfigSpace, v: &Variant) -> ConfigSpace {
    let next = if v.is_vf { MSIX } else { VPD };
    let speed = u32::from(v.link_speed);
    let link = if v.is_vf { 0 } else { speed | (16 << 4) };
    c.capability(EXPRESS, 0x10, next as u8, &[0x02, 0x00])
        // 512 bytes, extended tag, role-based errors, function-level reset.
        .value(EXPRESS + 4, 4, 0x1000_8fe2)
        .value(DEVICE_CONTROL, 2, 0x2910)
        .writable(DEVICE_CONTROL, 2, 0xffff)
        .clears(DEVICE_CONTROL + 2, 2, 0x000f)
        .value(EXPRESS + 0x0c, 4, speed | (16 << 4) | 0x0040_0000)
        .writable(EXPRESS + 0x10, 2, 0x01fb)
        .value(EXPRESS + 0x12, 2, link)
        // Completion time-out ranges ABC, 32 and 64-bit atomics, 128-bit CAS.
        .value(EXPRESS + 0x24, 4, 0x0000_0397)
        .writable(EXPRESS + 0x28, 2, 0x04ff)
        .value(EXPRESS + 0x2c, 4, ((1u32 << speed) - 1) << 1)
        .value(EXPRESS + 0x30, 2, speed)
        .writable(EXPRESS + 0x30, 2, 0x000f)
}

fn msix_writable(c: ConfigSpace) -> ConfigSpace {
    c.writable(MSIX + 2, 2, 0xc000)
}

/// Looks for a function-level reset in a write that was just done; the bit reads as zero.
pub fn take_flr(c: &mut ConfigSpace) -> bool {
    let asked = (c.word16(DEVICE_CONTROL) >> 8) & u16::from(FLR) != 0;
    c.clear_bits(DEVICE_CONTROL + 1, FLR);
    asked
}

/// What a function-level reset does to the configuration space.
pub fn reset(c: &mut ConfigSpace) {
    // Memory decoding and bus mastering stop; QEMU keeps the BARs itself.
    c.clear_bits(0x04, 0x46);
    c.clear_bits(0x05, 0x05);
    c.clear_bits(MSIX + 3, 0xc0);
}

/// Makes it bus master, as a driver does.
pub fn set_bus_master(c: &mut ConfigSpace) {
    let command = c.word16(0x04) | 0x4;
    c.put(0x04, command as u8);
}

/// True if the function may do DMA and interrupts.
pub fn bus_master(c: &ConfigSpace) -> bool {
    c.word16(0x04) & 0x4 != 0
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::variants;

    #[test]
    fn as_on_real_cards() {
        let v = variants::load("cx6dx").unwrap();
        let c = config_space(&v);
        assert_eq!((c.word16(0), c.word16(2)), (0x15b3, 0x101d));
        // The chain of capabilities in the order that lspci shows.
        let mut seen = vec![];
        let mut at = usize::from(c.word16(0x34) & 0xff);
        while at != 0 && seen.len() < 10 {
            seen.push((at, c.word16(at) & 0xff));
            at = usize::from(c.word16(at) >> 8);
        }
        assert_eq!(
            seen,
            [
                (0x60, 0x10),
                (0x48, 0x03),
                (0x9c, 0x11),
                (0xc0, 0x09),
                (0x40, 0x01)
            ]
        );
        assert_eq!(c.word16(0x9e), 63, "64 vectors");
        assert_eq!((c.word16(0xa0), c.word16(0xa4)), (0x2000, 0x3000));
        assert_eq!(c.word16(0x10), 0x0c);
    }

    #[test]
    fn flr() {
        let v = variants::load("cx7vf").unwrap();
        let mut c = config_space(&v);
        assert!(!take_flr(&mut c));
        c.write(0x68, &[0x10, 0xa9]);
        assert!(take_flr(&mut c));
        assert!(!take_flr(&mut c));
        c.write(0x04, &[0x06]);
        assert!(bus_master(&c));
        reset(&mut c);
        assert!(!bus_master(&c));
    }
}
