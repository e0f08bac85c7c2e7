// SPDX-License-Identifier: GPL-2.0

//! Which registers the device has, as the capability registers MCAM, PCAM and QCAM say.

use crate::{
    kernel_ext::debugfs::Dir,
    prm::{
        access_reg::{
            Mcam,
            Pcam,
            Qcam,
            Register,
            RegisterId, //
        },
        caps::General,
        dump, //
    },
};
use core::fmt;
use kernel::{
    prelude::*,
    sync::Arc, //
};

use super::{
    access_reg,
    caps::Shown,
    Error,
    Queue, //
};

/// Groups of registers, and of features, that MCAM is asked about.
const MCAM_GROUPS: usize = 3;

/// What the capability registers say; one that the device does not have is left out.
pub(crate) struct Registers {
    mcam: [Option<Mcam>; MCAM_GROUPS],
    pcam: Option<Pcam>,
    qcam: Option<Qcam>,
}

impl Registers {
    /// Reads the registers that the general capabilities say there are.
    ///
    /// # Errors
    ///
    /// Those of the commands.
    pub(super) fn read(queue: &Queue<'_>, general: &General) -> Result<Self, Error> {
        let mut mcam = [None; MCAM_GROUPS];

        if general.mcam_reg() {
            for (group, mcam) in (0u8..).zip(&mut mcam) {
                let mut register = Mcam::new();
                register.set_access_reg_group(group).set_feature_group(0u8);
                // Older firmware refuses groups that it does not know.
                match access_reg::try_read(queue, 0, &mut register) {
                    Ok(()) => *mcam = Some(register),
                    Err(error) if error.refused().is_some() => (),
                    Err(error) => {
                        queue.report(&error);
                        return Err(error);
                    }
                }
            }
        }

        Ok(Self {
            mcam,
            pcam: read_if(queue, general.pcam_reg(), Pcam::new())?,
            qcam: read_if(queue, general.qcam_reg(), Qcam::new())?,
        })
    }

    /// Whether the device has a register; [`None`] if no capability register says so.
    pub(crate) fn has(&self, id: RegisterId) -> Option<bool> {
        let place = id.capability()?;

        match place.register {
            RegisterId::MCAM => self
                .mcam
                .get(usize::from(place.group))?
                .map(|mcam| mcam.has_register(place.bit)),
            RegisterId::PCAM => self.pcam.map(|pcam| pcam.has_register(place.bit)),
            RegisterId::QCAM => self.qcam.map(|qcam| qcam.has_register(place.bit)),
            _ => None,
        }
    }

    /// Prints which of the named registers the device has.
    fn show(&self, w: &mut dyn fmt::Write) -> fmt::Result {
        for id in RegisterId::ALL {
            let Some(place) = id.capability() else {
                continue;
            };
            let answer = match self.has(*id) {
                Some(true) => "1",
                Some(false) => "0",
                None => "unknown",
            };
            writeln!(
                w,
                "{} ({:#06x}): {answer} ({} group {} bit {})",
                id.name().unwrap_or("unknown"),
                id.0,
                place.register.name().unwrap_or("unknown"),
                place.group,
                place.bit,
            )?;
        }
        Ok(())
    }

    /// Makes the files about registers in `dir`.
    pub(super) fn files(shown: &Arc<Shown>, dir: &Dir) -> Result {
        let caps = shown.get();
        let now = caps.registers();

        dir.read_file(c"registers", shown.clone(), |shown, w| {
            Ok(shown.get().registers().show(w)?)
        })?;
        if now.mcam.iter().any(Option::is_some) {
            dir.read_file(c"mcam", shown.clone(), |shown, w| {
                for mcam in shown.get().registers().mcam.iter().flatten() {
                    show(w, mcam)?;
                }
                Ok(())
            })?;
        }
        if now.pcam.is_some() {
            dir.read_file(c"pcam", shown.clone(), |shown, w| {
                let caps = shown.get();
                caps.registers()
                    .pcam
                    .iter()
                    .try_for_each(|pcam| show(w, pcam))
            })?;
        }
        if now.qcam.is_some() {
            dir.read_file(c"qcam", shown.clone(), |shown, w| {
                let caps = shown.get();
                caps.registers()
                    .qcam
                    .iter()
                    .try_for_each(|qcam| show(w, qcam))
            })?;
        }
        Ok(())
    }
}

fn show<R: Register>(w: &mut dyn fmt::Write, register: &R) -> Result {
    Ok(dump::write(w, R::TABLE, 0, register.as_bytes())?)
}

fn read_if<R: Register>(queue: &Queue<'_>, has: bool, register: R) -> Result<Option<R>, Error> {
    if !has {
        return Ok(None);
    }
    let mut register = register;
    access_reg::read(queue, 0, &mut register)?;
    Ok(Some(register))
}
