//! One state of the whole store, as one caller may see it: what a query over many
//! resources reads, so that all of its answer is of one moment.
//!
//! It pins a version of the catalog, so it lives as long as one answer is computed, and never
//! at a client's pace.

use std::collections::BTreeSet;

use crate::access::{Chain, Operation};
use crate::catalog::{Reads, View, keys};
use crate::metadata::{Dataset, Links, Pattern, Quad};
use crate::model::{
    At, Avu, Dangling, Graph, Kind, Membership, Person, PersonId, Rights, Stat, Time,
};
use crate::resources::{Walk, locate, members};
use crate::{
    Act, Caller, Foreseen, PlaceStatus, Quota, ReplicaView, Result, Store, Ticket, metadata,
    people, places, quotas,
};

/// One state of the store, as one caller may see it.
#[derive(Debug)]
pub struct Reading {
    store: Store,
    view: View,
    caller: Caller,
    dangling: Dangling,
}

impl Store {
    /// The state of the store now, as `caller` may see it.
    pub fn reading(&self, caller: &Caller) -> Result<Reading> {
        Ok(Reading::new(self, self.view()?, caller))
    }

    /// The same for an answer about one resource: over a network what such an answer needs first is read in one round trip.
    pub fn reading_of(&self, caller: &Caller, at: &At, foreseen: &Foreseen<'_>) -> Result<Reading> {
        let view = self.view_of_whole(caller, at, foreseen)?;
        Ok(Reading::new(self, view, caller))
    }
}

impl Reading {
    fn new(store: &Store, view: View, caller: &Caller) -> Self {
        Self { store: store.clone(), view, caller: caller.clone(), dangling: Dangling::Kept }
    }

    /// The same with the rule of an opening for links to nothing, in descriptions as [`Reading::graph`] shows them.
    #[must_use]
    pub fn ruled(self, dangling: Dangling) -> Self {
        Self { dangling, ..self }
    }

    /// Who reads.
    pub fn caller(&self) -> &Caller {
        &self.caller
    }

    pub(crate) fn view(&self) -> &View {
        &self.view
    }

    /// The resource at a path or with an id, if the caller may see it.
    pub fn stat(&self, at: &At) -> Result<Option<Stat>> {
        let chain = locate(&self.view, at)?;
        let seen = chain.filter(|chain| chain.rights(&self.caller).allow(Operation::Stat));
        Ok(seen.map(Stat::from))
    }

    /// All below a collection that the caller may see, wherever it lies, in path order: also what was shared
    /// out of a collection that is hidden. None stands for something hidden, so that steps can be counted.
    pub fn below(&self, at: &At) -> Result<impl Iterator<Item = Result<Option<Stat>>> + use<'_>> {
        let top = locate(&self.view, at)?.filter(is_collection);
        let walk = top.map(|top| Walk::all_below(&self.view, &self.caller, top, None));
        Ok(seen(walk.transpose()?))
    }

    /// The same of the children of a collection alone.
    pub fn children(
        &self,
        at: &At,
    ) -> Result<impl Iterator<Item = Result<Option<Stat>>> + use<'_>> {
        let top = locate(&self.view, at)?.filter(is_collection);
        Ok(seen(top.map(|top| Walk::all_in(&self.view, &self.caller, top))))
    }

    /// Ids of the resources, persons and places of which an attribute, a value, or an attribute with this value is
    /// stated. An id of something that states neither is possible, if rare: look at its attributes. None,
    /// if neither is given, or if there are more than `limit`. A value without an attribute is looked up with each predicate of the store.
    pub fn stating(
        &self,
        attribute: Option<&str>,
        value: Option<&str>,
        limit: usize,
    ) -> Result<Option<BTreeSet<u64>>> {
        metadata::stating(&self.view, &self.caller, attribute, value, limit)
    }

    /// The statements that a pattern matches, in the descriptions that the caller may read, as they see them: each once. None
    /// stands for a description that was looked at in vain, so that steps can be counted.
    ///
    /// Cost: a look at each description in which the index has the subject, the predicate with the object, the object, or the
    /// predicate, whichever of these the pattern has first; at all there are if it has none. A literal without a predicate is looked up
    /// with each predicate of the store: two reads of the index for each at most.
    pub fn statements(
        &self,
        pattern: &Pattern,
    ) -> Result<impl Iterator<Item = Result<Option<Quad>>> + use<'_>> {
        metadata::quads(&self.view, &self.caller, pattern)
    }

    /// All that the caller may read, as a graph to be queried.
    pub fn dataset(&self) -> Dataset<'_> {
        Dataset::new(&self.view, &self.caller)
    }

    /// The name of a user or group; their number if there is none.
    pub fn person_name(&self, id: PersonId) -> Result<String> {
        people::name_of(&self.view, id)
    }

    /// Whether a user or group may have this name, as [`Reading::person_name`] shows it; true if the caller may not know.
    pub fn may_be_person(&self, name: &str) -> Result<bool> {
        let hidden = !self.may_list_persons() || name.starts_with('#');
        Ok(hidden || people::by_name(&self.view, name)?.is_some())
    }

    /// The attributes of a resource, person or place that the caller may see.
    pub fn avus(&self, id: u64) -> Result<Vec<Avu>> {
        let graph = metadata::read(&self.view, id)?;
        Ok(metadata::avus(&Links::new(&self.view, &self.caller).shown(&graph)?.graph))
    }

    /// The description of a resource: see [`Store::graph`].
    pub fn graph(&self, at: &At) -> Result<(Stat, Graph)> {
        metadata::graph(&self.view, &self.caller, at, self.dangling)
    }

    /// The same without most of the statements: those with one of these predicates are in it, and those with an IRI that names a resource
    /// of the store, so that it has the same [`links_tag`](crate::links_tag).
    pub fn graph_part(&self, at: &At, predicates: &[&str]) -> Result<(Stat, Graph)> {
        metadata::graph_part(&self.view, &self.caller, at, self.dangling, predicates)
    }

    /// The membership of what [`Reading::stat`] and the like gave; none if it is no collection.
    pub fn membership(&self, of: &Stat) -> Result<Option<Membership>> {
        let is_collection = of.resource.kind == Kind::Collection;
        is_collection.then(|| members::read(&self.view, of.id, &of.resource)).transpose()
    }

    /// Whether the description of what [`Reading::stat`] and the like gave has statements with a predicate.
    pub fn states(&self, of: &Stat, predicate: &str) -> Result<bool> {
        Ok(!metadata::with_predicate(&self.view, of.id.0, predicate)?.is_empty())
    }

    /// Whether the owner of what [`Reading::stat`] and the like gave may add to the description of what is at some place; so, if nothing is
    /// there. What a description says of others holds only as far as its owner could have told them so.
    pub fn owner_may_describe(&self, of: &Stat, at: &At) -> Result<bool> {
        let Some(chain) = locate(&self.view, at)? else { return Ok(true) };
        let owner = of.resource.owner;
        if chain.resource().owner == owner {
            return Ok(true);
        }
        let person = self.view.get::<Person>(&keys::person(owner))?;
        Ok(person.is_some_and(|person| {
            let owner = people::caller_by_password(owner, &person);
            chain.rights(&owner).contains(Rights::ADD_DESCRIPTION)
        }))
    }

    /// Whether there are versions of what [`Reading::stat`] and the like gave, which the caller may read.
    pub fn has_versions(&self, of: &Stat) -> Result<bool> {
        let chain = locate(&self.view, &At::Id(of.id))?;
        match chain.is_some_and(|chain| chain.rights(&self.caller).allow(Operation::ReadVersions)) {
            true => Ok(!self.view.rows(&keys::versions(of.id), 1)?.is_empty()),
            false => Ok(false),
        }
    }

    /// The modification time to show, of what [`Reading::stat`] and the like gave: see [`Store::shown_mtime`].
    pub fn shown_mtime(&self, of: &Stat) -> Result<Time> {
        members::shown_mtime(&self.view, of)
    }

    /// The replicas of what [`Reading::stat`] and the like gave; none, for what has no content.
    pub fn replicas(&self, of: &Stat) -> Result<Vec<ReplicaView>> {
        self.store.replicas_of(&self.view, &self.caller, &of.resource)
    }

    /// All places, by id.
    pub fn places(&self) -> Result<Vec<PlaceStatus>> {
        places::statuses(&self.view, &self.store.known())
    }

    /// The tickets that the caller made; all there are, for an administrator.
    pub fn tickets(&self) -> Result<Vec<Ticket>> {
        people::all_tickets(&self.view, &self.caller)
    }

    /// The quotas that the caller may see, as [`Store::quotas`].
    pub fn quotas(&self) -> Result<Vec<Quota>> {
        quotas::seen_by(&self.view, &self.caller, None)
    }

    /// All users and groups, by id.
    pub fn persons(&self) -> Result<Vec<(PersonId, Person)>> {
        people::all(&self.view)
    }

    /// Whether the caller may list users and groups.
    pub fn may_list_persons(&self) -> bool {
        self.caller.may(Act::Names)
    }

    /// The users in a group.
    pub fn members(&self, group: PersonId) -> Result<Vec<PersonId>> {
        people::members_of(&self.view, group)
    }
}

fn is_collection(chain: &Chain) -> bool {
    chain.resource().kind == Kind::Collection
}

/// The results of a walk, without what the caller may not see.
fn seen<'a>(walk: Option<Walk<'a>>) -> impl Iterator<Item = Result<Option<Stat>>> + use<'a> {
    let mut walk = walk;
    std::iter::from_fn(move || {
        let step = walk.as_mut()?.step_with_rights().transpose()?;
        Some(step.map(|(stat, rights)| (rights.allow(Operation::Stat)).then_some(stat)))
    })
}
