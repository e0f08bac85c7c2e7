// SPDX-License-Identifier: GPL-2.0

//! Send work requests: control, Ethernet, data, inline and UMR segments.
//!
//! The layout header has no work requests. Sources: `struct mlx5_wqe_ctrl_seg`,
//! `mlx5_wqe_eth_seg`, `mlx5_wqe_data_seg`, `mlx5_wqe_umr_ctrl_seg` and `mlx5_mkey_seg` of the
//! kernel's `qp.h` and `device.h`; the manual's chapter on work queue elements.

/// Size of a basic block, the unit of the producer counter.
pub const BLOCK: usize = 64;

/// Size of a segment, the unit of the `ds` field.
pub const SEGMENT: usize = 16;

/// Opcodes. Source: `MLX5_OPCODE_*` of the kernel's `device.h`.
pub mod opcode {
    pub const NOP: u8 = 0x00;
    pub const SEND: u8 = 0x0a;
    pub const LSO: u8 = 0x0e;
    pub const UMR: u8 = 0x25;
    pub const ENHANCED_MULTI_PACKET: u8 = 0x29;
}

/// Bit 31 of a data segment's first word: data stand in the request itself.
const INLINE: u32 = 1 << 31;

/// Bit 15 of the inline header's size: insert a VLAN tag.
/// Source: `MLX5_ETH_WQE_INSERT_VLAN` of earlier kernels' `en.h`.
const INSERT_VLAN: u16 = 1 << 15;

fn be16(data: &[u8], at: usize) -> u16 {
    match data.get(at..at.saturating_add(2)) {
        Some(b) => u16::from_be_bytes([b[0], b[1]]),
        None => 0,
    }
}

fn be32(data: &[u8], at: usize) -> u32 {
    (u32::from(be16(data, at)) << 16) | u32::from(be16(data, at.saturating_add(2)))
}

fn be64(data: &[u8], at: usize) -> u64 {
    (u64::from(be32(data, at)) << 32) | u64::from(be32(data, at.saturating_add(4)))
}

/// The control segment.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Control {
    pub opmod: u8,
    /// Producer counter at which the request stands.
    pub index: u16,
    pub opcode: u8,
    pub qpn: u32,
    /// Size of the request in segments.
    pub segments: u8,
    /// `fm_ce_se`.
    pub flags: u8,
    /// Memory key of a UMR.
    pub general: u32,
}

impl Control {
    /// Reads the first segment of a request.
    pub fn parse(data: &[u8]) -> Control {
        let (first, second) = (be32(data, 0), be32(data, 4));
        Control {
            opmod: (first >> 24) as u8,
            index: (first >> 8) as u16,
            opcode: first as u8,
            qpn: second >> 8,
            segments: second as u8 & 0x3f,
            flags: data.get(0x0b).copied().unwrap_or(0),
            general: be32(data, 0x0c),
        }
    }

    /// Size of the request in bytes; the control segment itself is always there.
    pub fn bytes(&self) -> usize {
        usize::from(self.segments).max(1) * SEGMENT
    }

    /// Size of the request in basic blocks.
    pub fn blocks(&self) -> u16 {
        self.bytes().div_ceil(BLOCK) as u16
    }

    /// True if the request wants a completion entry.
    pub fn wants_completion(&self) -> bool {
        (self.flags >> 2) & 3 >= 2
    }

    /// True if the completion is a solicited event.
    pub fn solicited(&self) -> bool {
        (self.flags >> 1) & 1 != 0
    }
}

/// Checksum work that an Ethernet segment asks for. Source: `MLX5_ETH_WQE_*_CSUM`.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct ChecksumWork {
    pub network: bool,
    pub transport: bool,
    pub inner_network: bool,
    pub inner_transport: bool,
}

/// The Ethernet segment.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Ethernet {
    pub work: ChecksumWork,
    /// Largest segment of a large send.
    pub mss: u16,
    /// Metadata for the flow tables of the transmit side.
    pub metadata: u32,
    /// Software parser offsets in words: outer L4, outer L3, inner L4, inner L3.
    pub parser: [u8; 4],
    pub parser_flags: u8,
    /// Headers that stand in the request.
    pub inline: Vec<u8>,
    /// VLAN tag to insert.
    pub vlan: Option<u16>,
}

/// A piece of what to send.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Data {
    Pointer { bytes: u32, key: u32, address: u64 },
    Inline(Vec<u8>),
}

/// Position of the Ethernet segment and of its inline headers.
const ETHERNET: usize = 16;
const INLINE_HEADER: usize = ETHERNET + 14;

/// Reads the Ethernet segment of a request; also the byte at which the data segments start.
///
/// # Errors
///
/// What is wrong with it.
pub fn ethernet(request: &[u8]) -> Result<(Ethernet, usize), String> {
    let e = request
        .get(ETHERNET..ETHERNET + SEGMENT)
        .ok_or("there is no Ethernet segment")?;
    let flags = e[4];
    let size = be16(e, 12);
    let (length, vlan) = if size & INSERT_VLAN != 0 {
        (0, Some(be16(e, 14)))
    } else {
        (usize::from(size & 0x3ff), None)
    };
    let inline = request
        .get(INLINE_HEADER..INLINE_HEADER + length)
        .ok_or_else(|| {
            format!(
                "{length} inline bytes in a request of {} bytes",
                request.len()
            )
        })?;
    let start = (INLINE_HEADER + length).max(ETHERNET + SEGMENT);
    let work = ChecksumWork {
        inner_network: flags & (1 << 4) != 0,
        inner_transport: flags & (1 << 5) != 0,
        network: flags & (1 << 6) != 0,
        transport: flags & (1 << 7) != 0,
    };
    let ethernet = Ethernet {
        work,
        mss: be16(e, 6) & 0x3fff,
        metadata: be32(e, 8),
        parser: [e[0], e[1], e[2], e[3]],
        parser_flags: e[5],
        inline: inline.to_vec(),
        vlan,
    };
    Ok((ethernet, start.next_multiple_of(SEGMENT)))
}

/// Reads the data segments of a request from a byte on.
///
/// # Errors
///
/// If inline data leave the request.
pub fn data(request: &[u8], start: usize) -> Result<Vec<Data>, String> {
    let mut list = Vec::new();
    let mut at = start;
    // Each round takes a segment at least.
    while let Some(s) = request.get(at..at.saturating_add(SEGMENT)) {
        let first = be32(s, 0);
        if first & INLINE != 0 {
            let length = (first & !INLINE) as usize;
            let bytes = request
                .get(at + 4..(at + 4).saturating_add(length))
                .ok_or_else(|| format!("{length} inline bytes at byte {at} of the request"))?;
            list.push(Data::Inline(bytes.to_vec()));
            at += (4 + length).next_multiple_of(SEGMENT);
        } else {
            list.push(Data::Pointer {
                bytes: first,
                key: be32(s, 4),
                address: be64(s, 8),
            });
            at += SEGMENT;
        }
    }
    Ok(list)
}

/// UMR control flags. Source: `MLX5_UMR_*` of the kernel's `qp.h`.
pub mod umr_flag {
    pub const TRANSLATION_OFFSET: u8 = 1 << 4;
    pub const CHECK_NOT_FREE: u8 = 1 << 5;
    pub const CHECK_FREE: u8 = 2 << 5;
    pub const INLINE: u8 = 1 << 7;
}

/// Sizes of the UMR control segment and of the memory key segment behind it.
const UMR_CONTROL: usize = 48;
const KEY_SEGMENT: usize = 64;

/// A request to change a memory key.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Umr {
    pub flags: u8,
    /// Translations in units of 16 bytes.
    pub octwords: u32,
    /// First translation to change, in units of 16 bytes.
    pub offset: u64,
    pub mask: u64,
    /// A memory key context; `mask` says which fields count.
    pub key: Vec<u8>,
    /// Translations that stand in the request.
    pub inline: Vec<u8>,
    /// Where the translations are otherwise.
    pub pointer: Option<Data>,
}

/// Reads a UMR request.
///
/// # Errors
///
/// If it is too short.
pub fn umr(request: &[u8]) -> Result<Umr, String> {
    let short = || format!("a UMR of {} bytes", request.len());
    let c = request
        .get(SEGMENT..SEGMENT + UMR_CONTROL)
        .ok_or_else(short)?;
    let at = SEGMENT + UMR_CONTROL;
    let key = request.get(at..at + KEY_SEGMENT).ok_or_else(short)?;
    let rest = &request[at + KEY_SEGMENT..];
    let flags = c[0];
    let with_offset = flags & umr_flag::TRANSLATION_OFFSET != 0;
    let offset = (u64::from(be32(c, 0x10)) << 16) | u64::from(be16(c, 6));
    let is_inline = flags & umr_flag::INLINE != 0;
    Ok(Umr {
        flags,
        octwords: be16(c, 4).into(),
        offset: if with_offset { offset } else { 0 },
        mask: be64(c, 8),
        key: key.to_vec(),
        inline: if is_inline { rest.to_vec() } else { Vec::new() },
        pointer: if is_inline {
            None
        } else {
            data(rest, 0)?.into_iter().next()
        },
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn control_segment() {
        let mut w = vec![0; 64];
        w[..8].copy_from_slice(&[0, 0x12, 0x34, 0x0e, 0, 0x10, 0x05, 0x07]);
        w[0x0b] = 0x0a;
        let c = Control::parse(&w);
        assert_eq!(
            (c.index, c.opcode, c.qpn, c.segments),
            (0x1234, 0x0e, 0x1005, 7)
        );
        assert_eq!((c.bytes(), c.blocks()), (112, 2));
        assert!(c.wants_completion() && c.solicited());
        // A size of zero still moves on.
        assert_eq!(Control::parse(&[0; 16]).blocks(), 1);
    }

    #[test]
    fn send_with_inline_headers() {
        let mut w = vec![0; 96];
        w[16 + 4] = 0xc0;
        w[16 + 6..16 + 8].copy_from_slice(&[0x05, 0xb4]);
        w[16 + 12..16 + 14].copy_from_slice(&18u16.to_be_bytes());
        for (i, b) in w[30..48].iter_mut().enumerate() {
            *b = i as u8;
        }
        w[48..64].copy_from_slice(&[0, 0, 0, 9, 0, 0, 1, 2, 0, 0, 0, 0, 0, 0, 0x10, 0]);
        w[64..68].copy_from_slice(&(INLINE | 20).to_be_bytes());
        let (e, start) = ethernet(&w).unwrap();
        assert!(e.work.network && e.work.transport && !e.work.inner_network);
        assert_eq!(
            (e.mss, e.inline.len(), e.inline[17], start),
            (1460, 18, 17, 48)
        );
        let d = data(&w, start).unwrap();
        let pointer = Data::Pointer {
            bytes: 9,
            key: 0x102,
            address: 0x1000,
        };
        assert_eq!(d, [pointer, Data::Inline(vec![0; 20])]);
    }

    #[test]
    fn inline_data_stay_inside() {
        let mut w = vec![0; 64];
        w[28..30].copy_from_slice(&40u16.to_be_bytes());
        assert!(ethernet(&w).is_err());
        w[28..30].fill(0);
        assert_eq!(ethernet(&w).unwrap().1, 32);
        w[32..36].copy_from_slice(&(INLINE | 0x7fff_ffff).to_be_bytes());
        assert!(data(&w, 32).is_err());
        assert!(ethernet(&w[..16]).is_err());
    }

    #[test]
    fn umr_with_inline_translations() {
        let mut w = vec![0; 192];
        w[16] = umr_flag::INLINE | umr_flag::TRANSLATION_OFFSET;
        w[20..22].copy_from_slice(&4u16.to_be_bytes());
        w[22..24].copy_from_slice(&0x24u16.to_be_bytes());
        w[24..32].copy_from_slice(&(1u64 << 29).to_be_bytes());
        w[35] = 1;
        let u = umr(&w).unwrap();
        assert_eq!((u.octwords, u.offset, u.mask), (4, 0x1_0024, 1 << 29));
        assert_eq!((u.key.len(), u.inline.len()), (64, 64));
        assert!(umr(&w[..127]).is_err());
    }
}
