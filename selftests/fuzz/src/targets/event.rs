// SPDX-License-Identifier: GPL-2.0

//! Event queue entries, and the ring they lie in.

use super::print;
use crate::{
    input::Input,
    naive, //
};
use mlx5_prm_host::{
    eq::ring::Ring,
    prm::{
        dump,
        eq::{
            Doorbell,
            Eqe,
            EventMask,
            EventType,
            PageRequest, //
        },
        layout::Layout, //
    }, //
};

/// An entry and its payload are shown whole, whatever type it says.
pub fn run(input: &mut Input<'_>) {
    let bytes: [u8; 0x40] = input.array();
    let eqe = Eqe::from(bytes);
    assert_eq!(eqe.kind().0, bytes[1]);
    assert_eq!(eqe.event_sub_type(), bytes[3]);
    assert_eq!(eqe.owner(), bytes[Eqe::OWNER_BYTE] & 1 == 1);
    let data = &bytes[Eqe::DATA..][..28];
    assert_eq!(eqe.event_data(), data);
    let text = print(|w| dump::write(w, Eqe::TABLE, 0, &bytes));
    assert_eq!(naive::undump(&text, 0x40), bytes);

    if let Some(name) = eqe.sub_type_name() {
        assert!(!name.is_empty());
    }
    if let Some(table) = eqe.payload_table() {
        assert!(table.size <= data.len(), "{} is too long", table.name);
        let text = print(|w| dump::write(w, table, Eqe::DATA, data));
        let shown = naive::undump(&text, 0x40);
        assert_eq!(shown[Eqe::DATA..][..table.size], data[..table.size]);
    }

    let request: PageRequest = eqe.data();
    assert_eq!(request.function_id().to_be_bytes(), data[2..4]);
    assert_eq!(request.pages().to_be_bytes(), data[4..8]);
    let again: PageRequest = eqe.payload();
    assert_eq!(<[u8; 28]>::from(request), <[u8; 28]>::from(again));

    let (mut mask, mut wanted) = (EventMask::EMPTY, [false; 256]);
    for event in input.rest() {
        mask = mask.with(EventType(*event));
        wanted[usize::from(*event)] = true;
    }
    for event in 0..=u8::MAX {
        assert_eq!(mask.contains(EventType(event)), wanted[usize::from(event)]);
    }
}

/// A device that writes and a driver that takes, in any order: each entry is taken once, in order.
pub fn ring(input: &mut Input<'_>) {
    let log_size = input.u8();
    let Some(mut ring) = Ring::new(log_size) else {
        assert!(log_size > 22);
        return;
    };
    assert_eq!((ring.size(), ring.log_size()), (1 << log_size, log_size));
    if log_size > 6 {
        return;
    }
    // What the device has written: the owner bit as the manual has it, and a number.
    let size = 1usize << log_size;
    let mut memory = vec![(true, None); size];
    let mut written = 0u64;
    let eqn = input.u8();

    for step in input.rest() {
        let count = u64::from(step >> 1);
        if step & 1 == 0 {
            // A device stops at a full ring.
            for _ in 0..count.min(ring.taken() + size as u64 - written) {
                let pass = written / size as u64;
                memory[(written % size as u64) as usize] = (pass % 2 == 1, Some(written));
                written += 1;
            }
        } else {
            for _ in 0..count {
                let (owner, number) = memory[ring.index()];
                if !ring.is_new(owner) {
                    assert_eq!(ring.taken(), written, "an entry is not seen");
                    break;
                }
                assert_eq!(number, Some(ring.taken()), "an entry is taken twice");
                ring.advance();
            }
        }
        let doorbell = Doorbell::of(eqn, ring.taken()).word();
        assert_eq!(u64::from(doorbell & 0xff_ffff), ring.taken() % (1 << 24));
        assert_eq!(doorbell >> 24, u32::from(eqn));
    }
}
