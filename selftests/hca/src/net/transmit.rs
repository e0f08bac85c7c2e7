// SPDX-License-Identifier: GPL-2.0

//! A frame's way out of the function and back in: vport, flow tables, wire.

use super::arrival::Arrival;
use super::frame::Headers;
use super::matching::Origin;
use super::offload;
use super::rq;
use super::rss;
use super::steering::kind;
use super::vport::{
    Direction,
    OWN, //
};
use crate::bits;
use crate::device::Device;
use crate::ifc::fields::{
    rq_num,
    rqtc,
    tirc, //
};
use crate::ifc::Field;

/// `tirc.disp_type`: the TIR names a table of queues.
/// Source: `MLX5_TIRC_DISP_TYPE_INDIRECT` of the kernel's header.
const INDIRECT: u64 = 1;

/// Sends a frame that a queue gave.
pub fn send(device: &mut Device, sq: u32, metadata: u32, mut frame: Vec<u8>) {
    if device.caps.get("cmd_hca_cap.pad_tx_eth_packet") != 0 {
        offload::pad(&mut frame);
    }
    let Some(headers) = Headers::parse(&frame) else {
        device.net.diagnostics.too_small = device.net.diagnostics.too_small.wrapping_add(1);
        return;
    };
    if let Some(vport) = device.net.vports.get_mut(OWN) {
        vport.count(Direction::Out, &headers, frame.len());
    }
    let origin = Origin { sq, metadata };
    let verdict = device
        .net
        .steering
        .walk(kind::NIC_TX, &headers, origin, frame.len());
    if verdict.dropped {
        return;
    }
    if is_for_itself(device, &headers) {
        receive(device, &frame, true);
        if !headers.to_group() {
            return;
        }
    }
    if !super::link_is_up(device) {
        let d = &mut device.net.diagnostics;
        d.transmit_down = d.transmit_down.wrapping_add(1);
        return;
    }
    if is_too_long(device, &frame) {
        device.net.port.out_errors = device.net.port.out_errors.wrapping_add(1);
        return;
    }
    device.net.port.count(Direction::Out, &headers, frame.len());
    if let Some(answer) = device.net.wire.take(&frame) {
        from_wire(device, &answer);
    }
}

/// Bytes of the frame check sequence, which the MTU of the port counts.
const FCS: usize = 4;

fn is_too_long(device: &Device, frame: &[u8]) -> bool {
    frame.len().saturating_add(FCS) > usize::from(device.registers.mtu)
}

/// True if the function's own vport wants the frame.
fn is_for_itself(device: &Device, headers: &Headers) -> bool {
    device
        .net
        .vports
        .get(OWN)
        .is_some_and(|v| v.loops_back(headers))
}

/// Takes a frame from the wire.
pub fn from_wire(device: &mut Device, frame: &[u8]) {
    let Some(headers) = Headers::parse(frame) else {
        return;
    };
    if !super::link_is_up(device) {
        let d = &mut device.net.diagnostics;
        d.receive_down = d.receive_down.wrapping_add(1);
        return;
    }
    if is_too_long(device, frame) {
        device.net.port.in_too_long = device.net.port.in_too_long.wrapping_add(1);
        return;
    }
    device.net.port.count(Direction::In, &headers, frame.len());
    let in_table = device
        .net
        .l2_table
        .values()
        .any(|m| *m == headers.destination);
    let wanted = device
        .net
        .vports
        .get(OWN)
        .is_some_and(|v| v.wants(&headers, in_table));
    if wanted {
        receive(device, frame, false);
    }
}

/// Gives a frame to the queues that the flow tables name. `looped`: the function sent it itself.
fn receive(device: &mut Device, frame: &[u8], looped: bool) {
    let Some(headers) = Headers::parse(frame) else {
        return;
    };
    if let Some(vport) = device.net.vports.get_mut(OWN) {
        vport.count(Direction::In, &headers, frame.len());
    }
    let verdict = device
        .net
        .steering
        .walk(kind::NIC_RX, &headers, Origin::default(), frame.len());
    if verdict.tirs.is_empty() {
        let d = &mut device.net.diagnostics;
        d.steering_discard = d.steering_discard.wrapping_add(1);
        return;
    }
    for (tir, tag) in verdict.tirs {
        dispatch(device, tir, tag, frame, &headers, looped);
    }
}

fn dispatch(
    device: &mut Device,
    tir: u32,
    tag: u32,
    frame: &[u8],
    headers: &Headers,
    looped: bool,
) {
    let Some(context) = device.net.tirs.get(&tir) else {
        return;
    };
    let blocked = bits::get(context, tirc::SELF_LB_BLOCK);
    let bit = if headers.to_group() { 1 } else { 0 };
    if looped && (blocked >> bit) & 1 != 0 {
        return;
    }
    let hash = rss::hash(context, headers);
    let queue = if bits::get(context, tirc::DISP_TYPE) == INDIRECT {
        let table = bits::get32(context, tirc::INDIRECT_TABLE);
        device
            .net
            .rqts
            .get(&table)
            .and_then(|t| queue_of(t, hash.value))
    } else {
        Some(bits::get32(context, tirc::INLINE_RQN))
    };
    let Some(queue) = queue else { return };
    let arrival = Arrival {
        frame,
        headers,
        hash,
        tag,
    };
    rq::deliver(device, queue, &arrival);
}

/// The queue that a table has for a hash.
fn queue_of(table: &[u8], hash: u32) -> Option<u32> {
    let size = bits::get32(table, rqtc::RQT_ACTUAL_SIZE);
    let index = hash.checked_rem(size)?;
    Some(bits::get32(table, rq_num(index)))
}

/// Entry of a table of queues.
pub fn rq_num(index: u32) -> Field {
    rqtc::RQ_NUM.index(index) / rq_num::RQ_NUM
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn tables_of_queues() {
        let mut t = vec![0; rqtc::BYTES + 16];
        bits::set(&mut t, rqtc::RQT_ACTUAL_SIZE, 4);
        for i in 0..4 {
            bits::set(&mut t, rq_num(i), 0x10 + u64::from(i));
        }
        assert_eq!(queue_of(&t, 6), Some(0x12));
        assert_eq!(t[rqtc::BYTES + 11], 0x12);
        assert_eq!(queue_of(&vec![0; rqtc::BYTES], 6), None);
    }
}
