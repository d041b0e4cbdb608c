//! One state of the whole store, as one caller may see it: what a query over many
//! resources reads, so that all of its answer is of one moment.
//!
//! It pins a version of the catalog, so it lives as long as one answer is computed, and never
//! at a client's pace.

use std::collections::BTreeSet;

use crate::access::Chain;
use crate::catalog::View;
use crate::model::{At, Avu, Level, Person, PersonId, Stat};
use crate::tree::{ListOptions, Page, Walk, find, list, locate};
use crate::{Caller, PlaceStatus, ReplicaView, Result, Store, Ticket, metadata, people, places};

/// One state of the store, as one caller may see it.
#[derive(Debug)]
pub struct Reading {
    store: Store,
    view: View,
    caller: Caller,
}

impl Store {
    /// The state of the store now, as `caller` may see it.
    pub fn reading(&self, caller: &Caller) -> Result<Reading> {
        Ok(Reading { store: self.clone(), view: self.view()?, caller: caller.clone() })
    }
}

impl Reading {
    /// Who reads.
    pub fn caller(&self) -> &Caller {
        &self.caller
    }

    /// What is at a path or has an id, if the caller may see it.
    pub fn stat(&self, at: &At) -> Result<Option<Stat>> {
        let chain = locate(&self.view, at)?;
        let seen = chain.filter(|chain| chain.level(&self.caller) >= Level::ReadMetadata);
        Ok(seen.map(Stat::from))
    }

    /// A part of a listing; see [`Store::list`].
    pub fn list(&self, at: &At, options: &ListOptions) -> Result<Page> {
        list(&self.view, &self.caller, at, options)
    }

    /// All that lies below a collection, in path order; see [`Store::walk`].
    pub fn below(&self, at: &At) -> Result<impl Iterator<Item = Result<Stat>> + use<'_>> {
        let top: Chain = find(&self.view, &self.caller, at, Level::ReadObject)?;
        let mut walk = Walk::below(&self.view, &self.caller, top);
        Ok(std::iter::from_fn(move || walk.step().transpose()))
    }

    /// Ids of the resources, persons and places of which an attribute is stated, with this value if one is
    /// given. An id of something that states neither is possible, if rare: look at its attributes. None,
    /// if there are more than `limit`.
    pub fn stating(
        &self,
        attribute: &str,
        value: Option<&str>,
        limit: usize,
    ) -> Result<Option<BTreeSet<u64>>> {
        metadata::stating(&self.view, attribute, value, limit)
    }

    /// The same for a value of whatever attribute; none, too, if there are more than 10,000 attributes in the store.
    pub fn stating_value(&self, value: &str, limit: usize) -> Result<Option<BTreeSet<u64>>> {
        metadata::stating_value(&self.view, value, limit)
    }

    /// The attributes of a resource, person or place that the caller may see.
    pub fn avus(&self, id: u64) -> Result<Vec<Avu>> {
        Ok(metadata::avus(&metadata::read(&self.view, id)?))
    }

    /// The replicas of what [`Reading::stat`] and the like gave; none, for what has no content.
    pub fn replicas(&self, of: &Stat) -> Result<Vec<ReplicaView>> {
        self.store.replicas_of(&self.view, &of.resource)
    }

    /// All places, by id.
    pub fn places(&self) -> Result<Vec<PlaceStatus>> {
        places::statuses(&self.view, &self.store.known())
    }

    /// The tickets that the caller made; all there are, for an administrator.
    pub fn tickets(&self) -> Result<Vec<Ticket>> {
        people::all_tickets(&self.view, &self.caller)
    }

    /// All users and groups, by id.
    pub fn persons(&self) -> Result<Vec<(PersonId, Person)>> {
        people::all(&self.view)
    }

    /// Whether the caller may ask which users and groups there are.
    pub fn may_list_persons(&self) -> bool {
        self.caller.require_login().is_ok()
    }

    /// The users in a group.
    pub fn members(&self, group: PersonId) -> Result<Vec<PersonId>> {
        people::members_of(&self.view, group)
    }
}
