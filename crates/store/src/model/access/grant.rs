//! Access lists as data. What they mean together is decided in `access`.

use minicbor::{Decode, Encode};

use super::{Classes, Only};
use crate::model::{PersonId, Rights};

/// How far a grant reaches.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Encode, Decode)]
#[cbor(index_only)]
pub enum Scope {
    /// This resource only (iRODS).
    #[n(0)]
    This,
    /// Everything below, unless a nearer resource has defaults (WebAC's defaults).
    #[n(1)]
    Default,
    /// This resource and everything below, unconditionally (a DNAnexus project).
    #[n(2)]
    Subtree,
}

/// One line of an access list.
#[derive(Debug, Clone, PartialEq, Eq, Hash, Encode, Decode)]
pub struct Grant {
    /// Who: a user or a group.
    #[n(0)]
    pub person: PersonId,
    /// What they may do.
    #[n(1)]
    pub rights: Rights,
    /// Where.
    #[n(2)]
    pub scope: Scope,
    /// Which of the resources in the scope, if not all.
    #[n(3)]
    pub only: Option<Only>,
}

impl Grant {
    pub(super) fn is_of(&self, person: PersonId, scope: Scope, only: Option<&Only>) -> bool {
        (self.person, self.scope, self.only.as_ref()) == (person, scope, only)
    }
}

/// The access list of one resource.
#[derive(Debug, Clone, Default, PartialEq, Eq, Encode, Decode)]
pub struct Access {
    /// At most one for each person, scope and restriction.
    #[n(0)]
    pub grants: Vec<Grant>,
    /// Defaults of the collections above do not apply here.
    #[n(1)]
    pub closed: bool,
    /// Resources created here get a copy of the grants on this collection (iRODS: inheritance).
    #[n(2)]
    pub inherit: bool,
    /// Resources created here or further below get no entry for their creator: the defaults decide (WebAC).
    #[n(3)]
    pub no_creator: Option<bool>,
    /// The classes that the resource is described to have. Derived from its description, and kept here because every
    /// decision on the resource looks at them: see [`Only::Class`].
    #[n(4)]
    pub(crate) classes: Classes,
}

impl Access {
    /// Sets what `person` may do in all of `scope`; [`Rights::NONE`] removes the line. Restricted lines stay.
    pub fn set(&mut self, person: PersonId, rights: Rights, scope: Scope) {
        self.put(Grant { person, rights, scope, only: None });
    }

    /// Sets a line in the place of the one with the same person, scope and restriction; [`Rights::NONE`] removes that.
    pub(crate) fn put(&mut self, line: Grant) {
        let Grant { person, scope, .. } = line;
        self.grants.retain(|grant| !grant.is_of(person, scope, line.only.as_ref()));
        if !line.rights.is_empty() {
            self.grants.push(line);
        }
    }
}
