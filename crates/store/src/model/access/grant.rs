//! Access lists as data. What they mean together is decided in `access`.

use minicbor::{Decode, Encode};

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
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Encode, Decode)]
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
}

/// The access list of one resource.
#[derive(Debug, Clone, Default, PartialEq, Eq, Encode, Decode)]
pub struct Access {
    /// At most one for each person and scope.
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
}

impl Access {
    /// Sets what `person` may do in `scope`; [`Rights::NONE`] removes the line.
    pub fn set(&mut self, person: PersonId, rights: Rights, scope: Scope) {
        self.grants.retain(|grant| (grant.person, grant.scope) != (person, scope));
        if !rights.is_empty() {
            self.grants.push(Grant { person, rights, scope });
        }
    }

    /// What `person` may do in `scope`, by a line of their own.
    pub fn of(&self, person: PersonId, scope: Scope) -> Rights {
        let mut lines = self.grants.iter();
        let line = lines.find(|grant| (grant.person, grant.scope) == (person, scope));
        line.map_or(Rights::NONE, |grant| grant.rights)
    }
}
