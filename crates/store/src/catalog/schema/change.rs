//! The record of a change: of a resource, or of what a person may do.
//!
//! Invariant: what a person may do (their role, groups or password) changes in the commit that records it, as a revocation on a resource
//! without a name, whose id is the person's. No resource has that id, and programs that do not know such records report a revocation to that
//! person, too.

use minicbor::{Decode, Encode};

use crate::model::{Access, ChangeKind, Grant, PersonId, ResourceId, Rights, Scope, Time};

/// An entry of the change feed.
#[derive(Debug, Clone, PartialEq, Eq, Encode, Decode)]
pub(crate) struct ChangeRecord {
    #[n(0)]
    pub(crate) kind: ChangeKind,
    #[n(1)]
    pub(crate) id: ResourceId,
    /// Where it is after the change; where it was, for a removal.
    #[n(2)]
    pub(crate) parent: ResourceId,
    #[n(3)]
    pub(crate) name: String,
    /// Where it was before, for a move.
    #[n(4)]
    pub(crate) from: Option<(ResourceId, String)>,
    #[n(5)]
    pub(crate) at: Time,
    #[n(6)]
    pub(crate) by: PersonId,
    #[n(7)]
    pub(crate) revision: u64,
    /// The access list of the resource at the time, to determine later who could see it then. Not in
    /// entries that were written before it was kept.
    #[n(8)]
    pub(crate) access: Option<Access>,
    /// The access list that it had before, for a change of that. Not in entries that were written before it was kept.
    #[n(9)]
    pub(crate) access_before: Option<Access>,
}

impl ChangeRecord {
    /// The record that a person may do other things from now on than before.
    pub(crate) fn of_person(person: PersonId, by: PersonId, at: Time) -> Self {
        let grant = Grant { person, rights: Rights::NONE, scope: Scope::This, only: None };
        Self {
            kind: ChangeKind::Granted,
            id: ResourceId(person.0),
            parent: ResourceId::ROOT,
            name: String::new(),
            from: None,
            at,
            by,
            revision: 0,
            access: Some(Access::default()),
            access_before: Some(Access { grants: vec![grant], ..Access::default() }),
        }
    }

    /// The person, if it is such a record.
    pub(crate) fn person(&self) -> Option<PersonId> {
        let is_resource = !self.name.is_empty() || self.id == ResourceId::ROOT;
        (self.kind == ChangeKind::Granted && !is_resource).then_some(PersonId(self.id.0))
    }
}
