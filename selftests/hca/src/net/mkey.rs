// SPDX-License-Identifier: GPL-2.0

//! Memory keys: from a key and an address to bus addresses.
//!
//! CREATE_MKEY keeps the context of a key with its translations behind it, as they stand in the
//! command: see [`TRANSLATIONS`].

use crate::bits;
use crate::command::RESERVED_LKEY;
use crate::ifc::fields::{
    create_mkey_in,
    mkc, //
};
use crate::ifc::Field;
use crate::objects::{
    Kind,
    Objects, //
};

/// Where the translations start in the bytes that the object keeps.
pub const TRANSLATIONS: usize =
    create_mkey_in::KLM_PAS_MTT.byte() - create_mkey_in::MEMORY_KEY_MKEY_ENTRY.byte();

/// Keys can point to keys; how deep the device follows. Source: capability `max_indirection`.
const MAX_DEPTH: u32 = 4;

/// Pieces of memory that one access may fall into.
const MAX_PIECES: usize = 4096;

/// `mkc.access_mode`. Source: `MLX5_MKC_ACCESS_MODE_*` of the kernel's header.
pub mod mode {
    pub const PA: u64 = 0;
    pub const MTT: u64 = 1;
    pub const KLM: u64 = 2;
    pub const KSM: u64 = 3;
}

/// A piece of guest memory.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Piece {
    pub address: u64,
    pub bytes: u64,
}

/// An access through a key.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Access {
    pub key: u32,
    pub address: u64,
    pub bytes: u64,
    pub write: bool,
    /// Protection domain of the queue.
    pub pd: u32,
    /// The queue may use the reserved key (`rlky`).
    pub reserved: bool,
}

fn entry(context: &[u8], index: u64, field: Field) -> u64 {
    let bytes = u64::from(field.bit / 8);
    let at = index
        .checked_mul(16)
        .and_then(|i| i.checked_add(TRANSLATIONS as u64 + bytes))
        .and_then(|i| u32::try_from(i).ok())
        .and_then(|i| i.checked_mul(8));
    match at {
        Some(bit) => bits::get(context, Field { bit, ..field }),
        None => 0,
    }
}

const fn part(bit: u32, width: u32) -> Field {
    Field {
        bit,
        width,
        count: 1,
    }
}

/// Translates an access to pieces of guest memory.
///
/// # Errors
///
/// Why the key does not allow it.
pub fn translate(objects: &Objects, access: Access) -> Result<Vec<Piece>, String> {
    let mut pieces = Vec::new();
    if access.key == RESERVED_LKEY && access.reserved {
        // Any bus address.
        push(&mut pieces, access.address, access.bytes)?;
        return Ok(pieces);
    }
    follow(objects, access, 0, &mut pieces)?;
    Ok(pieces)
}

fn push(pieces: &mut Vec<Piece>, address: u64, bytes: u64) -> Result<(), String> {
    if pieces.len() >= MAX_PIECES {
        return Err(format!("more than {MAX_PIECES} pieces of memory"));
    }
    pieces.push(Piece { address, bytes });
    Ok(())
}

fn follow(objects: &Objects, a: Access, depth: u32, pieces: &mut Vec<Piece>) -> Result<(), String> {
    let key = a.key;
    if depth > MAX_DEPTH {
        return Err(format!(
            "key 0x{key:x} is indirect beyond {MAX_DEPTH} steps"
        ));
    }
    let object = objects
        .get(Kind::Mkey, key >> 8)
        .map_err(|_| format!("there is no memory key 0x{key:x}"))?;
    let c = &object.context[..];
    if bits::get32(c, mkc::MKEY_7_0) != key & 0xff {
        let is = key & !0xff | bits::get32(c, mkc::MKEY_7_0);
        return Err(format!("memory key 0x{key:x} is 0x{is:x} now"));
    }
    if bits::flag(c, mkc::FREE) {
        return Err(format!("memory key 0x{key:x} is free"));
    }
    let pd = bits::get32(c, mkc::PD);
    if pd != a.pd {
        return Err(format!(
            "memory key 0x{key:x} is of PD 0x{pd:x}, not 0x{:x}",
            a.pd
        ));
    }
    if a.write && !bits::flag(c, mkc::LW) {
        return Err(format!("memory key 0x{key:x} has no local write"));
    }
    if !a.write && !bits::flag(c, mkc::LR) {
        return Err(format!("memory key 0x{key:x} has no local read"));
    }
    let beyond = || {
        format!(
            "memory key 0x{key:x} ends before 0x{:x}+{}",
            a.address, a.bytes
        )
    };
    let end = a.address.checked_add(a.bytes).ok_or_else(beyond)?;
    let start = bits::get(c, mkc::START_ADDR);
    if !bits::flag(c, mkc::LENGTH64) {
        let last = start
            .checked_add(bits::get(c, mkc::LEN))
            .ok_or_else(beyond)?;
        if a.address < start || end > last {
            return Err(beyond());
        }
    }
    let access = (bits::get(c, mkc::ACCESS_MODE_4_2) << 2) | bits::get(c, mkc::ACCESS_MODE_1_0);
    match access {
        mode::PA => push(pieces, a.address, a.bytes),
        mode::MTT => mtt(c, a, start, pieces),
        mode::KLM => klm(objects, c, a, start, depth, pieces),
        mode::KSM => ksm(objects, c, a, start, depth, pieces),
        other => Err(format!("memory key 0x{key:x} has access mode {other}")),
    }
}

fn page_shift(context: &[u8]) -> Result<u32, String> {
    let shift = bits::get32(context, mkc::LOG_PAGE_SIZE);
    if shift > 48 {
        return Err(format!("pages of 2^{shift} bytes"));
    }
    Ok(shift)
}

/// Pages of equal size, eight bytes a translation; the low three bits are not of the address.
fn mtt(c: &[u8], a: Access, start: u64, pieces: &mut Vec<Piece>) -> Result<(), String> {
    let shift = page_shift(c)?;
    let page = 1u64 << shift;
    let base = start & !(page - 1);
    let mut done = 0;
    while done < a.bytes {
        let offset = (a.address - base).saturating_add(done);
        let (index, inside) = (offset >> shift, offset & (page - 1));
        let translation = entry(c, index / 2, part((index % 2) as u32 * 64, 64)) & !7;
        if translation == 0 {
            return Err(format!(
                "page {index} of memory key 0x{:x} has no address",
                a.key
            ));
        }
        let here = (page - inside).min(a.bytes - done);
        push(pieces, translation.saturating_add(inside), here)?;
        done += here;
    }
    Ok(())
}

/// Pieces of one size behind other keys. Source: `struct mlx5_ksm` of the kernel's `device.h`.
fn ksm(
    objects: &Objects,
    c: &[u8],
    a: Access,
    start: u64,
    depth: u32,
    pieces: &mut Vec<Piece>,
) -> Result<(), String> {
    let shift = page_shift(c)?;
    let page = 1u64 << shift;
    let mut done = 0;
    while done < a.bytes {
        let offset = (a.address - start).saturating_add(done);
        let (index, inside) = (offset >> shift, offset & (page - 1));
        let here = (page - inside).min(a.bytes - done);
        let next = Access {
            key: entry(c, index, part(32, 32)) as u32,
            address: entry(c, index, part(64, 64)).saturating_add(inside),
            bytes: here,
            ..a
        };
        follow(objects, next, depth + 1, pieces)?;
        done += here;
    }
    Ok(())
}

/// Pieces of any size behind other keys. Source: `struct mlx5_klm` of the kernel's `device.h`.
fn klm(
    objects: &Objects,
    c: &[u8],
    a: Access,
    start: u64,
    depth: u32,
    pieces: &mut Vec<Piece>,
) -> Result<(), String> {
    let entries = bits::get(c, mkc::TRANSLATIONS_OCTWORD_SIZE);
    let mut skip = a.address - start;
    let mut left = a.bytes;
    for index in 0..entries {
        if left == 0 {
            return Ok(());
        }
        let size = entry(c, index, part(0, 32));
        if skip >= size {
            skip -= size;
            continue;
        }
        let here = (size - skip).min(left);
        let next = Access {
            key: entry(c, index, part(32, 32)) as u32,
            address: entry(c, index, part(64, 64)).saturating_add(skip),
            bytes: here,
            ..a
        };
        follow(objects, next, depth + 1, pieces)?;
        (skip, left) = (0, left - here);
    }
    if left == 0 {
        Ok(())
    } else {
        Err(format!("the list of memory key 0x{:x} is too short", a.key))
    }
}

#[cfg(test)]
pub mod tests {
    use super::*;

    pub fn key(objects: &mut Objects, mode: u64, set: &[(Field, u64)], list: &[u8]) -> u32 {
        let mut c = vec![0; TRANSLATIONS];
        bits::set(&mut c, mkc::ACCESS_MODE_1_0, mode);
        for f in [mkc::LR, mkc::LW] {
            bits::set(&mut c, f, 1);
        }
        bits::set(&mut c, mkc::PD, 1);
        bits::set(&mut c, mkc::MKEY_7_0, 0x42);
        for (f, v) in set {
            bits::set(&mut c, *f, *v);
        }
        c.extend(list);
        (objects.create(Kind::Mkey, (1, 99), &[], c).unwrap() << 8) | 0x42
    }

    pub fn access(key: u32, address: u64, bytes: u64) -> Access {
        Access {
            key,
            address,
            bytes,
            write: true,
            pd: 1,
            reserved: false,
        }
    }

    pub fn words(list: &[u64]) -> Vec<u8> {
        list.iter().flat_map(|w| w.to_be_bytes()).collect()
    }

    #[test]
    fn physical_addresses() {
        let mut o = Objects::default();
        let all = key(&mut o, mode::PA, &[(mkc::LENGTH64, 1)], &[]);
        let whole = Piece {
            address: 0x1234,
            bytes: 100,
        };
        assert_eq!(translate(&o, access(all, 0x1234, 100)), Ok(vec![whole]));
        assert!(translate(&o, access(all + 1, 0x1234, 100)).is_err());
        assert!(translate(&o, access(all, u64::MAX, 2)).is_err());
        let other = Access {
            pd: 2,
            ..access(all, 0, 1)
        };
        assert!(translate(&o, other).is_err());
        let reserved = Access {
            reserved: true,
            ..access(RESERVED_LKEY, 0x1234, 100)
        };
        assert_eq!(translate(&o, reserved), Ok(vec![whole]));
        assert!(translate(&o, access(RESERVED_LKEY, 0x1234, 100)).is_err());
        let read_only = key(&mut o, mode::PA, &[(mkc::LENGTH64, 1), (mkc::LW, 0)], &[]);
        assert!(translate(&o, access(read_only, 0, 1)).is_err());
    }

    #[test]
    fn pages() {
        let mut o = Objects::default();
        let set = [(mkc::LOG_PAGE_SIZE, 12), (mkc::LEN, 0x3000)];
        let k = key(&mut o, mode::MTT, &set, &words(&[0x9003, 0x5003, 0, 0]));
        let pieces = translate(&o, access(k, 0xff0, 0x20)).unwrap();
        let addresses: Vec<_> = pieces.iter().map(|p| (p.address, p.bytes)).collect();
        assert_eq!(addresses, [(0x9ff0, 0x10), (0x5000, 0x10)]);
        assert!(translate(&o, access(k, 0x2000, 1)).is_err(), "a hole");
        assert!(translate(&o, access(k, 0x2fff, 2)).is_err(), "the end");
    }

    #[test]
    fn keys_behind_keys() {
        let mut o = Objects::default();
        let all = key(&mut o, mode::PA, &[(mkc::LENGTH64, 1)], &[]);
        let list = words(&[u64::from(all), 0x7000, u64::from(all), 0x3000]);
        let set = [(mkc::LOG_PAGE_SIZE, 12), (mkc::LEN, 0x2000)];
        let k = key(&mut o, mode::KSM, &set, &list);
        let pieces = translate(&o, access(k, 0xfff, 2)).unwrap();
        assert_eq!((pieces[0].address, pieces[1].address), (0x7fff, 0x3000));
        let list = words(&[
            (8 << 32) | u64::from(all),
            0x100,
            (8 << 32) | u64::from(k),
            0,
        ]);
        let set = [(mkc::LEN, 16), (mkc::TRANSLATIONS_OCTWORD_SIZE, 2)];
        let k = key(&mut o, mode::KLM, &set, &list);
        let pieces = translate(&o, access(k, 4, 8)).unwrap();
        assert_eq!((pieces[0].address, pieces[1].address), (0x104, 0x7000));
    }

    #[test]
    fn a_loop_of_keys_ends() {
        let mut o = Objects::default();
        let list = words(&[u64::from((1u32 << 8) | 0x42), 0]);
        let set = [(mkc::LOG_PAGE_SIZE, 12), (mkc::LENGTH64, 1)];
        let k = key(&mut o, mode::KSM, &set, &list);
        assert!(translate(&o, access(k, 0, 1)).is_err());
    }
}
