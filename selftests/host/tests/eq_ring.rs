// SPDX-License-Identifier: GPL-2.0

//! Ownership of event queue entries, against a device that writes them as the manual says.

use mlx5_prm_host::eq::ring::Ring;
use proptest::prelude::*;

/// The device's side: owner bits as they lie in memory.
struct Device {
    owners: Vec<bool>,
    written: usize,
}

impl Device {
    fn new(ring: &Ring) -> Self {
        // Before the first use software has set all owner bits.
        Self {
            owners: vec![true; ring.size() as usize],
            written: 0,
        }
    }

    fn write(&mut self) {
        let size = self.owners.len();
        // 0 in the first pass, 1 in the second, and so on.
        self.owners[self.written % size] = (self.written / size) % 2 == 1;
        self.written += 1;
    }
}

fn is_new(ring: &Ring, device: &Device) -> bool {
    ring.is_new(device.owners[ring.index()])
}

#[test]
fn a_fresh_ring_is_empty() {
    for log_size in 0..=10 {
        let ring = Ring::new(log_size).unwrap();
        assert_eq!(ring.size(), 1 << log_size);
        assert!(!is_new(&ring, &Device::new(&ring)), "2^{log_size} entries");
    }
    assert!(Ring::new(23).is_none(), "larger than any device has");
}

#[test]
fn a_full_ring_is_read_once() {
    let mut ring = Ring::new(3).unwrap();
    let mut device = Device::new(&ring);
    for _ in 0..8 {
        device.write();
    }
    for taken in 0..8 {
        assert!(is_new(&ring, &device), "entry {taken}");
        ring.advance();
    }
    assert!(
        !is_new(&ring, &device),
        "the ring has gone around, nothing is new"
    );
    assert_eq!(ring.taken(), 8);
}

proptest! {
    /// Through any number of passes, software sees just the entries that were written.
    #[test]
    fn software_follows_the_device(
        log_size in 0u8..6,
        bursts in prop::collection::vec((0usize..70, 0usize..70), 1..100),
    ) {
        let mut ring = Ring::new(log_size).unwrap();
        let mut device = Device::new(&ring);
        let mut taken = 0;
        for (writes, reads) in bursts {
            // A device does not write more than the ring holds.
            let room = ring.size() as usize - (device.written - taken);
            for _ in 0..writes.min(room) {
                device.write();
            }
            for _ in 0..reads {
                prop_assert_eq!(is_new(&ring, &device), taken < device.written);
                if taken == device.written {
                    break;
                }
                prop_assert_eq!(ring.index(), taken % ring.size() as usize);
                ring.advance();
                taken += 1;
            }
        }
        prop_assert_eq!(ring.taken(), taken as u64);
    }
}
