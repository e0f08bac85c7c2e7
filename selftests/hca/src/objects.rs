// SPDX-License-Identifier: GPL-2.0

//! Objects that commands create: numbers, contexts, and who refers to whom.

use std::collections::BTreeMap;

/// Kinds of objects. Each kind numbers its objects on its own.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Kind {
    Uar,
    Eq,
    Pd,
    Mkey,
    TransportDomain,
    Xrcd,
    Cq,
    Rq,
    Rqt,
    Sq,
    Tir,
    Tis,
    QCounter,
    FlowTable,
    FlowGroup,
    FlowEntry,
    FlowCounter,
}

/// Number of an object within its kind.
pub type Number = u32;

/// An object.
#[derive(Debug, Clone)]
pub struct Object {
    /// Objects that this one refers to; they cannot be destroyed before it.
    pub refers_to: Vec<(Kind, Number)>,
    /// Number of objects that refer to this one.
    pub users: u32,
    /// Context or other bytes that the command handlers keep.
    pub context: Vec<u8>,
}

/// Why an object cannot be made, used or destroyed.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum ObjectError {
    None(Kind, Number),
    Busy(Kind, Number, u32),
    Exhausted(Kind),
}

impl std::fmt::Display for ObjectError {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            ObjectError::None(k, n) => write!(f, "there is no {k:?} 0x{n:x}"),
            ObjectError::Busy(k, n, users) => {
                write!(f, "{k:?} 0x{n:x} is in use by {users} other objects")
            }
            ObjectError::Exhausted(k) => write!(f, "no {k:?} is left"),
        }
    }
}

/// All objects of the function.
#[derive(Debug, Default, Clone)]
pub struct Objects {
    map: BTreeMap<(Kind, Number), Object>,
    next: BTreeMap<Kind, Number>,
}

impl Objects {
    /// Finds a free number in `first..=last`, going round so that numbers are not reused at once.
    ///
    /// # Errors
    ///
    /// If all are taken.
    pub fn free_number(
        &mut self,
        kind: Kind,
        first: Number,
        last: Number,
    ) -> Result<Number, ObjectError> {
        let start = *self.next.get(&kind).unwrap_or(&first);
        let start = start.clamp(first, last);
        let found = (start..=last)
            .chain(first..start)
            .find(|n| !self.map.contains_key(&(kind, *n)))
            .ok_or(ObjectError::Exhausted(kind))?;
        let next = if found >= last { first } else { found + 1 };
        self.next.insert(kind, next);
        Ok(found)
    }

    /// Adds an object under a number.
    ///
    /// # Errors
    ///
    /// If something that it refers to does not exist; nothing is added then.
    pub fn insert(
        &mut self,
        kind: Kind,
        number: Number,
        refers_to: &[(Kind, Number)],
        context: Vec<u8>,
    ) -> Result<(), ObjectError> {
        if let Some((k, n)) = refers_to.iter().find(|r| !self.map.contains_key(r)) {
            return Err(ObjectError::None(*k, *n));
        }
        for r in refers_to {
            if let Some(o) = self.map.get_mut(r) {
                o.users = o.users.saturating_add(1);
            }
        }
        let object = Object {
            refers_to: refers_to.to_vec(),
            users: 0,
            context,
        };
        self.map.insert((kind, number), object);
        Ok(())
    }

    /// Adds an object under a free number in `first..=last`.
    ///
    /// # Errors
    ///
    /// As [`Objects::free_number`] and [`Objects::insert`].
    pub fn create(
        &mut self,
        kind: Kind,
        (first, last): (Number, Number),
        refers_to: &[(Kind, Number)],
        context: Vec<u8>,
    ) -> Result<Number, ObjectError> {
        let number = self.free_number(kind, first, last)?;
        self.insert(kind, number, refers_to, context)?;
        Ok(number)
    }

    /// Removes an object.
    ///
    /// # Errors
    ///
    /// If it does not exist or is referred to.
    pub fn destroy(&mut self, kind: Kind, number: Number) -> Result<Object, ObjectError> {
        let object = self.get(kind, number)?;
        if object.users > 0 {
            return Err(ObjectError::Busy(kind, number, object.users));
        }
        let object = object.clone();
        self.map.remove(&(kind, number));
        self.release(&object.refers_to);
        Ok(object)
    }

    /// Replaces what an object refers to.
    ///
    /// # Errors
    ///
    /// If the object or something in the new list does not exist; nothing changes then.
    pub fn set_references(
        &mut self,
        kind: Kind,
        number: Number,
        refers_to: &[(Kind, Number)],
    ) -> Result<(), ObjectError> {
        let old = self.get(kind, number)?.refers_to.clone();
        if let Some((k, n)) = refers_to.iter().find(|r| !self.map.contains_key(r)) {
            return Err(ObjectError::None(*k, *n));
        }
        for r in refers_to {
            if let Some(o) = self.map.get_mut(r) {
                o.users = o.users.saturating_add(1);
            }
        }
        self.release(&old);
        self.get_mut(kind, number)?.refers_to = refers_to.to_vec();
        Ok(())
    }

    fn release(&mut self, references: &[(Kind, Number)]) {
        for r in references {
            if let Some(o) = self.map.get_mut(r) {
                o.users = o.users.saturating_sub(1);
            }
        }
    }

    /// An object.
    ///
    /// # Errors
    ///
    /// If it does not exist.
    pub fn get(&self, kind: Kind, number: Number) -> Result<&Object, ObjectError> {
        self.map
            .get(&(kind, number))
            .ok_or(ObjectError::None(kind, number))
    }

    /// An object, to change its context.
    ///
    /// # Errors
    ///
    /// If it does not exist.
    pub fn get_mut(&mut self, kind: Kind, number: Number) -> Result<&mut Object, ObjectError> {
        self.map
            .get_mut(&(kind, number))
            .ok_or(ObjectError::None(kind, number))
    }

    /// True if the object exists.
    pub fn exists(&self, kind: Kind, number: Number) -> bool {
        self.map.contains_key(&(kind, number))
    }

    /// All objects with their kind and number.
    pub fn iter(&self) -> impl Iterator<Item = (Kind, Number, &Object)> {
        self.map.iter().map(|((k, n), o)| (*k, *n, o))
    }

    /// Drops all objects.
    pub fn clear(&mut self) {
        self.map.clear();
        self.next.clear();
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn references() {
        let mut o = Objects::default();
        let pd = o.create(Kind::Pd, (1, 9), &[], vec![]).unwrap();
        let key = o
            .create(Kind::Mkey, (0, 9), &[(Kind::Pd, pd)], vec![])
            .unwrap();
        assert_eq!(
            o.destroy(Kind::Pd, pd).unwrap_err(),
            ObjectError::Busy(Kind::Pd, pd, 1)
        );
        assert_eq!(
            o.create(Kind::Mkey, (0, 9), &[(Kind::Pd, 7)], vec![]),
            Err(ObjectError::None(Kind::Pd, 7))
        );
        let other = o.create(Kind::Pd, (1, 9), &[], vec![]).unwrap();
        o.set_references(Kind::Mkey, key, &[(Kind::Pd, other)])
            .unwrap();
        o.destroy(Kind::Pd, pd).unwrap();
        assert!(o.destroy(Kind::Pd, other).is_err());
        o.destroy(Kind::Mkey, key).unwrap();
        o.destroy(Kind::Pd, other).unwrap();
        assert_eq!(o.iter().count(), 0);
    }

    #[test]
    fn numbers_go_round() {
        let mut o = Objects::default();
        let all: Vec<_> = (0..3)
            .map(|_| o.create(Kind::Pd, (1, 3), &[], vec![]).unwrap())
            .collect();
        assert_eq!(all, [1, 2, 3]);
        assert_eq!(
            o.create(Kind::Pd, (1, 3), &[], vec![]),
            Err(ObjectError::Exhausted(Kind::Pd))
        );
        o.destroy(Kind::Pd, 2).unwrap();
        assert_eq!(o.create(Kind::Pd, (1, 3), &[], vec![]), Ok(2));
    }
}
