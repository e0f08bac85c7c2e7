// SPDX-License-Identifier: GPL-2.0

//! Receive queues whose requests take many frames: each frame takes whole strides.

use super::arrival::put32;
use super::cq::{
    self,
    at, //
};
use super::rq::{
    available,
    next,
    pieces,
    request,
    scatter_list,
    store,
    Placed,
    Rq,
    SEGMENT, //
};
use crate::device::Device;

/// Bit 31 of the byte count: the entry is a filler of the strides that a frame did not fit in.
const FILLER: u32 = 1 << 31;

/// Many frames a request: each takes whole strides and stays within a request.
pub fn place(device: &mut Device, rq: &mut Rq, data: &[u8]) -> Result<Placed, String> {
    let shift = if rq.two_byte_shift { 2 } else { 0 };
    let stride = 1usize << rq.log_stride;
    let wanted = (data.len() + shift).div_ceil(stride) as u32;
    if wanted > rq.strides {
        return Err(format!(
            "{} bytes do not fit {} strides",
            data.len(),
            rq.strides
        ));
    }
    if available(device, rq)? == 0 {
        super::out_of_buffer(device, rq.counter_set);
        return Ok(None);
    }
    let left = rq.strides.saturating_sub(rq.used);
    if left < wanted {
        let mut filler = rq.cqe(cq::opcode::RESPONSE_SEND);
        put32(&mut filler, at::BYTE_COUNT, FILLER | (left << 16));
        super::complete(device, rq.cq, filler);
        next(device, rq);
        if available(device, rq)? == 0 {
            super::out_of_buffer(device, rq.counter_set);
            return Ok(None);
        }
    }
    let request = request(device, rq)?;
    let start = if rq.is_list() { SEGMENT } else { 0 };
    let list = scatter_list(request.get(start..).unwrap_or(&[]));
    let Some((key, address, bytes)) = list.first().copied() else {
        return Err("a request without a buffer".into());
    };
    let offset = u64::from(rq.used) << rq.log_stride;
    let end = offset + data.len() as u64 + shift as u64;
    if end > u64::from(bytes) {
        return Err(format!(
            "the buffer has {bytes} bytes, the frame ends at {end}"
        ));
    }
    let to = address.saturating_add(offset).saturating_add(shift as u64);
    let to = pieces(device, rq, key, to, data.len() as u64)?;
    store(device, &to, data)?;
    let mut entry = rq.cqe(cq::opcode::RESPONSE_SEND);
    let count = (wanted << 16) | (data.len() as u32 & 0xffff);
    put32(&mut entry, at::BYTE_COUNT, count);
    rq.used += wanted;
    Ok(Some((entry, rq.used >= rq.strides)))
}
