// SPDX-License-Identifier: GPL-2.0

//! Changes of memory keys by a send queue (UMR).

use super::mkey::TRANSLATIONS;
use super::wqe::{
    umr_flag,
    Umr, //
};
use crate::bits;
use crate::ifc::fields::mkc;
use crate::ifc::Field;
use crate::objects::{
    Kind,
    Objects, //
};

/// Bytes of translations that a key can have.
const MAX_TRANSLATIONS: usize = 1 << 24;

/// Fields that a UMR can change, by their bit in `mkey_mask`.
/// Source: `MLX5_MKEY_MASK_*` of the kernel's `device.h`.
const UMR_FIELDS: &[(u32, &[Field])] = &[
    (0, &[mkc::LEN]),
    (1, &[mkc::LOG_PAGE_SIZE]),
    (6, &[mkc::START_ADDR]),
    (7, &[mkc::PD]),
    (13, &[mkc::MKEY_7_0]),
    (14, &[mkc::QPN]),
    (17, &[mkc::LR]),
    (18, &[mkc::LW]),
    (19, &[mkc::RR]),
    (20, &[mkc::RW]),
    (21, &[mkc::A]),
    (25, &[mkc::RELAXED_ORDERING_WRITE]),
    (29, &[mkc::FREE]),
    (42, &[mkc::LOG_PAGE_SIZE]),
    (47, &[mkc::RELAXED_ORDERING_READ]),
];

/// Carries out a UMR on a key; `translations` are those of the request or of what it points to.
///
/// # Errors
///
/// Why it is not possible; the key is left as it was.
pub fn update(
    objects: &mut Objects,
    key: u32,
    pd: u32,
    umr: &Umr,
    translations: &[u8],
) -> Result<(), String> {
    let object = objects
        .get_mut(Kind::Mkey, key >> 8)
        .map_err(|_| format!("there is no memory key 0x{key:x}"))?;
    let c = &mut object.context;
    if !bits::flag(c, mkc::UMR_EN) {
        return Err(format!("memory key 0x{key:x} is not made for UMR"));
    }
    if bits::get32(c, mkc::PD) != pd {
        return Err(format!("memory key 0x{key:x} is not of PD 0x{pd:x}"));
    }
    let free = bits::flag(c, mkc::FREE);
    if free && umr.flags & umr_flag::CHECK_NOT_FREE != 0 {
        return Err(format!("memory key 0x{key:x} is free"));
    }
    if !free && umr.flags & umr_flag::CHECK_FREE != 0 {
        return Err(format!("memory key 0x{key:x} is not free"));
    }
    let known = UMR_FIELDS.iter().fold(0u64, |m, (bit, _)| m | (1 << bit));
    if umr.mask & !known != 0 {
        return Err(format!(
            "mkey_mask 0x{:x} has bits that the model does not know",
            umr.mask
        ));
    }
    let wanted = usize::try_from(umr.octwords)
        .unwrap_or(usize::MAX)
        .saturating_mul(16);
    if translations.len() < wanted {
        let n = translations.len();
        return Err(format!("{n} bytes of translations, {wanted} are announced"));
    }
    let last = umr.offset.saturating_add(umr.octwords.into());
    let size = bits::get(c, mkc::TRANSLATIONS_OCTWORD_SIZE);
    if umr.octwords > 0 && last > size {
        return Err(format!("translations up to octword {last} of {size}"));
    }
    for (_, fields) in UMR_FIELDS
        .iter()
        .filter(|(bit, _)| (umr.mask >> bit) & 1 != 0)
    {
        for field in *fields {
            let value = bits::get(&umr.key, *field);
            bits::set(c, *field, value);
        }
    }
    let start = usize::try_from(umr.offset)
        .ok()
        .and_then(|o| o.checked_mul(16))
        .filter(|o| *o < MAX_TRANSLATIONS)
        .ok_or("translations beyond what a key can have")?
        + TRANSLATIONS;
    let end = start + wanted;
    if c.len() < end {
        c.resize(end, 0);
    }
    c[start..end].copy_from_slice(&translations[..wanted]);
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::super::mkey::tests::{
        access,
        key,
        words, //
    };
    use super::super::mkey::{
        mode,
        translate, //
    };
    use super::*;

    #[test]
    fn umr() {
        let mut o = Objects::default();
        let set = [
            (mkc::FREE, 1),
            (mkc::UMR_EN, 1),
            (mkc::LOG_PAGE_SIZE, 12),
            (mkc::LEN, 0x4000),
            (mkc::TRANSLATIONS_OCTWORD_SIZE, 2),
        ];
        let k = key(&mut o, mode::MTT, &set, &[]);
        assert!(translate(&o, access(k, 0x2000, 1)).is_err());
        let mut u = Umr {
            flags: umr_flag::INLINE | umr_flag::TRANSLATION_OFFSET,
            octwords: 1,
            offset: 1,
            mask: 1 << 29,
            key: vec![0; 64],
            inline: vec![],
            pointer: None,
        };
        update(&mut o, k, 1, &u, &words(&[0xa002, 0xb002])).unwrap();
        assert_eq!(
            translate(&o, access(k, 0x3000, 1)).unwrap()[0].address,
            0xb000
        );
        u.offset = 2;
        assert!(update(&mut o, k, 1, &u, &words(&[0, 0])).is_err());
        u.octwords = 0;
        u.mask = 1 << 3;
        assert!(update(&mut o, k, 1, &u, &[]).is_err());
    }
}
