// SPDX-License-Identifier: GPL-2.0

//! Vports: contexts, address lists, traffic counters; and the counters of the port.

use std::collections::BTreeMap;

use super::frame::Headers;
use super::steering::Traffic;
use crate::bits;
use crate::ifc::fields::{
    mac_address_layout,
    nic_vport_context as ctx, //
};
use crate::variants::Variant;

/// Address of an Ethernet station.
pub type Mac = [u8; 6];

/// The vport of the function itself.
pub const OWN: u16 = 0;

/// The uplink. Source: `MLX5_VPORT_UPLINK` of the kernel's `vport.h`.
pub const UPLINK: u16 = 0xffff;

/// Types of `allowed_list_type`. Source: `MLX5_NVPRT_LIST_TYPE_*` of the kernel's `device.h`.
pub mod list {
    pub const UNICAST: u64 = 0;
    pub const MULTICAST: u64 = 1;
    pub const VLAN: u64 = 2;
}

/// Administrative states. Source: `enum mlx5_vport_admin_state` and `MLX5_VPORT_ADMIN_STATE_*`
/// of the kernel's `vport.h`.
pub mod admin {
    pub const DOWN: u8 = 0;
    pub const UP: u8 = 1;
    pub const AUTO: u8 = 2;
}

/// Way of a frame, seen from the vport.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Direction {
    In,
    Out,
}

/// Traffic by kind of destination.
#[derive(Debug, Clone, Copy, Default)]
pub struct Kinds {
    pub unicast: Traffic,
    pub multicast: Traffic,
    pub broadcast: Traffic,
}

impl Kinds {
    fn count(&mut self, h: &Headers, bytes: usize) {
        let kind = if h.to_all() {
            &mut self.broadcast
        } else if h.to_group() {
            &mut self.multicast
        } else {
            &mut self.unicast
        };
        kind.count(bytes);
    }

    /// All kinds together.
    pub fn total(&self) -> Traffic {
        let all = [self.unicast, self.multicast, self.broadcast];
        all.iter().fold(Traffic::default(), |sum, t| Traffic {
            packets: sum.packets.wrapping_add(t.packets),
            bytes: sum.bytes.wrapping_add(t.bytes),
        })
    }
}

/// Largest frames, with their check sequence, of the counters by size (RFC 2819 and beyond).
const SIZES: [usize; 10] = [64, 127, 255, 511, 1023, 1518, 2047, 4095, 8191, 10239];

/// Bytes of the frame check sequence.
const FCS: usize = 4;

/// Counters of the port.
#[derive(Debug, Clone, Copy, Default)]
pub struct Port {
    pub received: Kinds,
    pub transmitted: Kinds,
    /// Received frames by size.
    pub sizes: [u64; SIZES.len()],
    /// Received and transmitted frames by the priority of their tag, 0 without a tag.
    pub priorities: [(Traffic, Traffic); 8],
    pub out_errors: u64,
    /// Received frames that the MTU did not allow.
    pub in_too_long: u64,
    /// How often the link went down.
    pub downs: u32,
    /// True while no cable is in.
    pub unplugged: bool,
}

impl Port {
    /// Counts a frame.
    pub fn count(&mut self, way: Direction, h: &Headers, bytes: usize) {
        let prio = h.tags.first().map_or(0, |(_, tci)| tci >> 13);
        if let Some((rx, tx)) = self.priorities.get_mut(usize::from(prio)) {
            match way {
                Direction::In => rx.count(bytes),
                Direction::Out => tx.count(bytes),
            }
        }
        match way {
            Direction::In => {
                self.received.count(h, bytes);
                let size = bytes.saturating_add(FCS);
                let class = SIZES.iter().position(|most| size <= *most);
                if let Some(n) = class.and_then(|c| self.sizes.get_mut(c)) {
                    *n = n.wrapping_add(1);
                }
            }
            Direction::Out => self.transmitted.count(h, bytes),
        }
    }
}

/// A vport.
#[derive(Debug, Clone)]
pub struct Vport {
    /// NIC vport context without the address list.
    pub context: Vec<u8>,
    pub unicast: Vec<Mac>,
    pub multicast: Vec<Mac>,
    pub vlans: Vec<u16>,
    pub admin_state: u8,
    pub max_tx_speed: u16,
    /// E-switch vport context.
    pub eswitch: Vec<u8>,
    pub received: Kinds,
    pub transmitted: Kinds,
}

/// Organizationally unique identifier of the manufacturer.
const OUI: [u8; 3] = [0x00, 0x02, 0xc9];

/// MTU of a vport context after power-up.
const DEFAULT_MTU: u64 = 1500;

impl Vport {
    /// A vport after power-up; `n` tells the addresses of several apart.
    pub fn new(n: u8) -> Vport {
        let mut context = vec![0; ctx::BYTES];
        let guid = u64::from_be_bytes([OUI[0], OUI[1], OUI[2], 3, 0, 0, 0, n]);
        bits::set(&mut context, ctx::SYSTEM_IMAGE_GUID, guid & !0xff);
        bits::set(&mut context, ctx::NODE_GUID, guid);
        bits::set(&mut context, ctx::PORT_GUID, guid);
        bits::set(&mut context, ctx::MTU, DEFAULT_MTU);
        let mut vport = Vport {
            context,
            unicast: Vec::new(),
            multicast: Vec::new(),
            vlans: Vec::new(),
            admin_state: admin::UP,
            max_tx_speed: 0,
            eswitch: vec![0; crate::ifc::fields::esw_vport_context::BYTES],
            received: Kinds::default(),
            transmitted: Kinds::default(),
        };
        vport.set_address([OUI[0], OUI[1], OUI[2], 0, 0, n]);
        vport
    }

    /// Sets the permanent address.
    pub fn set_address(&mut self, address: Mac) {
        let at = ctx::PERMANENT_ADDRESS / mac_address_layout::MAC_ADDR_47_32;
        bits::set_bytes(&mut self.context, at, &address);
    }

    /// A line for each fact.
    pub fn show(&self) -> Vec<String> {
        let hex = |m: &Mac| {
            let bytes: Vec<String> = m.iter().map(|b| format!("{b:02x}")).collect();
            bytes.join(":")
        };
        let list = |macs: &[Mac]| macs.iter().map(hex).collect::<Vec<_>>().join(" ");
        let mut lines = vec![
            format!("unicast: {}", list(&self.unicast)),
            format!("multicast: {}", list(&self.multicast)),
            format!("vlans: {:?}", self.vlans),
        ];
        for (name, field) in [
            ("promisc_all", ctx::PROMISC_ALL),
            ("promisc_mc", ctx::PROMISC_MC),
            ("mtu", ctx::MTU),
        ] {
            lines.push(format!("{name}: {}", bits::get(&self.context, field)));
        }
        let (rx, tx) = (self.received.total(), self.transmitted.total());
        lines.push(format!(
            "received: {} frames, {} bytes",
            rx.packets, rx.bytes
        ));
        lines.push(format!(
            "transmitted: {} frames, {} bytes",
            tx.packets, tx.bytes
        ));
        lines
    }

    fn promiscuous(&self) -> bool {
        bits::flag(&self.context, ctx::PROMISC_ALL)
    }

    fn listed(&self, h: &Headers) -> bool {
        let list = if h.to_group() {
            &self.multicast
        } else {
            &self.unicast
        };
        list.contains(&h.destination)
    }

    /// True if a frame from the wire is for this vport. `in_table`: its destination stands in the
    /// table of addresses by which the card sorts unicast frames.
    pub fn wants(&self, h: &Headers, in_table: bool) -> bool {
        if self.promiscuous() || h.to_all() {
            return true;
        }
        if h.to_group() {
            bits::flag(&self.context, ctx::PROMISC_MC) || self.listed(h)
        } else {
            bits::flag(&self.context, ctx::PROMISC_UC) || in_table || self.listed(h)
        }
    }

    /// True if a frame that the vport sends comes back to it.
    pub fn loops_back(&self, h: &Headers) -> bool {
        let off = if h.to_group() {
            ctx::DISABLE_MC_LOCAL_LB
        } else {
            ctx::DISABLE_UC_LOCAL_LB
        };
        !bits::flag(&self.context, off) && (self.listed(h) || h.to_all())
    }

    /// Counts a frame.
    pub fn count(&mut self, way: Direction, h: &Headers, bytes: usize) {
        match way {
            Direction::In => self.received.count(h, bytes),
            Direction::Out => self.transmitted.count(h, bytes),
        }
    }
}

/// An address in a `mac_address_layout` at a byte offset.
pub fn mac(data: &[u8], at: usize) -> Mac {
    let start = at.saturating_add(2);
    data.get(start..start.saturating_add(6))
        .and_then(|b| b.try_into().ok())
        .unwrap_or_default()
}

/// All vports that the function may ask about.
#[derive(Debug, Clone)]
pub struct Vports {
    map: BTreeMap<u16, Vport>,
}

/// The vport of the host's function, seen from the embedded processor. It stands beside the own
/// one under a number that no command can name, as both are vport 0 to their drivers.
const HOST: u16 = 0xfff0;

impl Vports {
    /// Vports after power-up.
    pub fn new(variant: &Variant) -> Vports {
        let mut map = BTreeMap::from([(OWN, Vport::new(1))]);
        if !variant.is_vf {
            map.insert(UPLINK, Vport::new(2));
        }
        if variant.iseg.embedded_cpu {
            map.insert(HOST, Vport::new(3));
        }
        Vports { map }
    }

    /// Key of a vport that a command names.
    pub fn key(&self, variant: &Variant, other: bool, number: u16) -> Option<u16> {
        const ECPF: u16 = 0xfffe;
        let key = match (other, number, variant.iseg.embedded_cpu) {
            (false, 0, _) | (true, ECPF, true) | (true, 0, false) => OWN,
            (true, 0, true) => HOST,
            (true, n, _) => n,
            (false, ..) => return None,
        };
        self.map.contains_key(&key).then_some(key)
    }

    /// A vport by key.
    pub fn get(&self, key: u16) -> Option<&Vport> {
        self.map.get(&key)
    }

    /// A vport by key, to change.
    pub fn get_mut(&mut self, key: u16) -> Option<&mut Vport> {
        self.map.get_mut(&key)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn to(destination: Mac) -> Headers {
        let mut f = destination.to_vec();
        f.extend([0; 8]);
        Headers::parse(&f).unwrap()
    }

    #[test]
    fn what_a_vport_wants() {
        let mut v = Vport::new(1);
        assert_eq!(
            mac(&v.context, ctx::PERMANENT_ADDRESS.byte()),
            [0, 2, 0xc9, 0, 0, 1]
        );
        let (one, group) = ([2, 0, 0, 0, 0, 9], [1, 0, 0x5e, 0, 0, 1]);
        assert!(v.wants(&to([0xff; 6]), false));
        assert!(!v.wants(&to(one), false) && v.wants(&to(one), true));
        assert!(!v.wants(&to(group), false));
        v.multicast.push(group);
        v.unicast.push(one);
        assert!(v.wants(&to(group), false) && v.wants(&to(one), false));
        assert!(v.loops_back(&to(one)) && v.loops_back(&to(group)));
        bits::set(&mut v.context, ctx::DISABLE_UC_LOCAL_LB, 1);
        assert!(!v.loops_back(&to(one)) && v.loops_back(&to(group)));
        bits::set(&mut v.context, ctx::PROMISC_ALL, 1);
        assert!(v.wants(&to([2, 0, 0, 0, 0, 8]), false));
    }

    #[test]
    fn counters() {
        let mut v = Vport::new(1);
        v.count(Direction::In, &to([0xff; 6]), 60);
        v.count(Direction::In, &to([2, 0, 0, 0, 0, 9]), 100);
        assert_eq!(
            v.received.broadcast,
            Traffic {
                packets: 1,
                bytes: 60
            }
        );
        assert_eq!(
            v.received.total(),
            Traffic {
                packets: 2,
                bytes: 160
            }
        );
        assert_eq!(v.transmitted.total().packets, 0);
    }
}
