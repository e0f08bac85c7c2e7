// SPDX-License-Identifier: GPL-2.0

//! Requests of the control socket about the Ethernet side.

use super::{
    set_cable,
    transmit,
    wire, //
};
use crate::bits;
use crate::device::Device;
use crate::faults::number;

/// Text for `help`.
pub const HELP: &str = "\
wire | wire last [N] | wire send HEX | cable in|out
queues | vport";

/// Runs a request. None if it is not one of these.
pub fn run(d: &mut Device, words: &[&str]) -> Option<Result<Vec<String>, String>> {
    Some(match words {
        ["wire"] => Ok(wire_state(&d.net.wire)),
        ["wire", "last"] => Ok(last(&d.net.wire, 1)),
        ["wire", "last", n] => number(n).map(|n| last(&d.net.wire, n)),
        ["wire", "send", hex @ ..] => send(d, &hex.concat()),
        ["cable", "in"] => {
            set_cable(d, true);
            Ok(Vec::new())
        }
        ["cable", "out"] => {
            set_cable(d, false);
            Ok(Vec::new())
        }
        ["queues"] => Ok(queues(d)),
        ["vport"] => Ok(vport(d)),
        _ => return None,
    })
}

fn wire_state(w: &wire::Wire) -> Vec<String> {
    vec![
        format!("received: {}", w.received),
        format!("sent: {}", w.sent),
        format!("bad: {}", w.bad),
        format!("tcp_bytes: {}", w.tcp.bytes),
        format!("tcp_crc32: {:08x}", w.tcp.crc32()),
        format!("tcp_out_of_order: {}", w.tcp.out_of_order),
    ]
}

/// The last frames that the card sent, oldest first, a line each.
fn last(w: &wire::Wire, n: usize) -> Vec<String> {
    let skip = w.last.len().saturating_sub(n);
    let line = |f: &Vec<u8>| {
        let bytes: Vec<String> = f.iter().map(|b| format!("{b:02x}")).collect();
        bytes.concat()
    };
    w.last.iter().skip(skip).map(line).collect()
}

fn send(d: &mut Device, hex: &str) -> Result<Vec<String>, String> {
    let frame = bits::parse_hex(hex).ok_or("a frame is pairs of hexadecimal digits")?;
    if frame.len() < super::frame::ETHERNET {
        return Err(format!(
            "a frame of {} bytes has no Ethernet header",
            frame.len()
        ));
    }
    d.net.wire.sent += 1;
    transmit::from_wire(d, &frame);
    Ok(Vec::new())
}

/// A line for each queue.
fn queues(d: &Device) -> Vec<String> {
    let n = &d.net;
    let cqs = n.cqs.values().map(|q| {
        format!(
            "CQ 0x{:x} eq {} st 0x{:x} status {} producer {} events {}",
            q.number, q.eq, q.st, q.status, q.pi, q.events
        )
    });
    let sqs = n.sqs.values().map(|q| {
        format!(
            "SQ 0x{:x} cq 0x{:x} state {} counter {}",
            q.number, q.cq, q.state, q.counter
        )
    });
    let rqs = n.rqs.values().map(|q| {
        format!(
            "RQ 0x{:x} cq 0x{:x} state {} type {} counter {}",
            q.number, q.cq, q.state, q.kind, q.counter
        )
    });
    cqs.chain(sqs).chain(rqs).collect()
}

/// The function's own vport and what went wrong on it.
fn vport(d: &Device) -> Vec<String> {
    let mut lines = d
        .net
        .vports
        .get(super::vport::OWN)
        .map_or(Vec::new(), |v| v.show());
    let x = &d.net.diagnostics;
    lines.extend([
        format!("steering_discard: {}", x.steering_discard),
        format!("receive_down: {}", x.receive_down),
        format!("transmit_down: {}", x.transmit_down),
        format!("cq_overruns: {}", x.cq_overruns),
        format!("out_of_buffer: {}", x.out_of_buffer),
        format!("too_small: {}", x.too_small),
    ]);
    lines
}
