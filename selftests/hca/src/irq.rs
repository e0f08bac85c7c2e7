// SPDX-License-Identifier: GPL-2.0

//! MSI-X: one eventfd a vector, given by QEMU as the guest enables them.

use std::fs::File;
use std::io::Write;

/// `VFIO_IRQ_SET_*` of the vfio interface.
const DATA_NONE: u32 = 1 << 0;
const DATA_EVENTFD: u32 = 1 << 2;
const ACTION_TRIGGER: u32 = 1 << 5;

#[derive(Default)]
struct Vector {
    eventfd: Option<File>,
    /// An interrupt that came while the vector was not enabled.
    pending: bool,
}

/// The interrupt vectors of the function.
pub struct Interrupts {
    vectors: Vec<Vector>,
    /// Interrupts to lose, as asked for on the control socket.
    pub drop: u32,
}

impl Interrupts {
    /// A table of `count` vectors.
    pub fn new(count: usize) -> Interrupts {
        Interrupts {
            vectors: (0..count).map(|_| Vector::default()).collect(),
            drop: 0,
        }
    }

    /// Number of vectors in the MSI-X table.
    pub fn count(&self) -> usize {
        self.vectors.len()
    }

    /// SET_IRQS of the MSI-X index.
    ///
    /// # Errors
    ///
    /// If the range is outside of the table or the action is not one of MSI-X.
    pub fn set(
        &mut self,
        flags: u32,
        start: u32,
        count: u32,
        fds: Vec<File>,
    ) -> std::io::Result<()> {
        let bad = || std::io::Error::from(std::io::ErrorKind::InvalidInput);
        if flags & ACTION_TRIGGER == 0 {
            // Mask and unmask are done by QEMU itself.
            return Ok(());
        }
        if flags & DATA_NONE != 0 && count == 0 {
            self.vectors.iter_mut().for_each(|v| v.eventfd = None);
            return Ok(());
        }
        if flags & DATA_EVENTFD == 0 {
            return Err(bad());
        }
        let start = usize::try_from(start).map_err(|_| bad())?;
        let end = start.saturating_add(usize::try_from(count).map_err(|_| bad())?);
        let range = self.vectors.get_mut(start..end).ok_or_else(bad)?;
        let mut fds = fds.into_iter();
        for v in range {
            v.eventfd = fds.next();
            if v.eventfd.is_some() && std::mem::take(&mut v.pending) {
                signal(v);
            }
        }
        Ok(())
    }

    /// Raises an interrupt; returns true if it went out.
    pub fn fire(&mut self, vector: u16) -> bool {
        if self.drop > 0 {
            self.drop -= 1;
            return false;
        }
        match self.vectors.get_mut(usize::from(vector)) {
            Some(v) if v.eventfd.is_some() => signal(v),
            Some(v) => {
                v.pending = true;
                false
            }
            None => false,
        }
    }

    /// Forgets pending interrupts: a reset of the function.
    pub fn reset(&mut self) {
        self.vectors.iter_mut().for_each(|v| v.pending = false);
    }
}

fn signal(v: &mut Vector) -> bool {
    match &mut v.eventfd {
        Some(fd) => fd.write_all(&1u64.to_ne_bytes()).is_ok(),
        None => false,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::io::Read;
    use std::os::fd::FromRawFd;

    fn eventfd() -> (File, File) {
        // SAFETY: A fresh descriptor that nobody else owns.
        let fd = unsafe { File::from_raw_fd(libc::eventfd(0, libc::EFD_NONBLOCK)) };
        (fd.try_clone().unwrap(), fd)
    }

    fn value(fd: &mut File) -> u64 {
        let mut b = [0; 8];
        fd.read_exact(&mut b).map_or(0, |()| u64::from_ne_bytes(b))
    }

    #[test]
    fn as_qemu_does_it() {
        let mut irqs = Interrupts::new(4);
        irqs.set(0x24, 0, 1, vec![]).unwrap();
        assert!(!irqs.fire(0));
        let (guest, mut host) = eventfd();
        irqs.set(0x24, 0, 1, vec![guest]).unwrap();
        assert_eq!(value(&mut host), 1, "pending before it was enabled");
        assert!(irqs.fire(0));
        assert!(irqs.fire(0));
        assert_eq!(value(&mut host), 2);
        irqs.drop = 1;
        assert!(!irqs.fire(0));
        assert_eq!(value(&mut host), 0);
        irqs.set(0x21, 0, 0, vec![]).unwrap();
        assert!(!irqs.fire(0));
    }

    #[test]
    fn outside_of_the_table() {
        let mut irqs = Interrupts::new(4);
        assert!(irqs.set(0x24, 3, 2, vec![]).is_err());
        assert!(irqs.set(0x24, u32::MAX, 1, vec![]).is_err());
        assert!(!irqs.fire(4));
    }
}
