//! A row before projection: the entities it is about.

use cenote_store::{Avu, Person, PersonId, ReplicaView, ResourceId, Stat, StorePath, Ticket, Time};

use super::access::Access;
use super::token::Token;
use super::zone::{DelayedRule, RemoteZone, Resource};

/// The entities of a row.
#[derive(Debug, Clone, Default)]
pub(crate) struct Row {
    pub(crate) collection: Option<CollectionRow>,
    pub(crate) object: Option<Stat>,
    /// Which of the object's replicas, if replicas are needed.
    pub(crate) replica: Option<ReplicaRow>,
    pub(crate) collection_avu: Option<Avu>,
    pub(crate) object_avu: Option<Avu>,
    pub(crate) collection_access: Option<Access>,
    pub(crate) object_access: Option<Access>,
    pub(crate) user: Option<(PersonId, Person)>,
    pub(crate) user_avu: Option<Avu>,
    pub(crate) resource: Option<Resource>,
    pub(crate) resource_avu: Option<Avu>,
    pub(crate) quota: Option<QuotaRow>,
    pub(crate) ticket: Option<TicketRow>,
    /// A remote zone; `None` for the local one.
    pub(crate) remote: Option<RemoteZone>,
    pub(crate) rule: Option<DelayedRule>,
    pub(crate) token: Option<Token>,
}

/// A collection; one that the caller may not see has only its id and path, which an object's path reveals anyway.
#[derive(Debug, Clone)]
pub(crate) struct CollectionRow {
    pub(crate) id: ResourceId,
    pub(crate) path: StorePath,
    pub(crate) stat: Option<Stat>,
    /// The modification time to show, if it is needed.
    pub(crate) modified: Option<Time>,
}

impl From<Stat> for CollectionRow {
    fn from(stat: Stat) -> Self {
        Self { id: stat.id, path: stat.path.clone(), stat: Some(stat), modified: None }
    }
}

/// A replica, and whether it is its object's first good one.
#[derive(Debug, Clone)]
pub(crate) struct ReplicaRow {
    pub(crate) view: ReplicaView,
    pub(crate) first: bool,
}

/// A ticket, the resource it opens, and one entry of each list of permitted users.
#[derive(Debug, Clone)]
pub(crate) struct TicketRow {
    pub(crate) ticket: Ticket,
    pub(crate) resource: Option<Stat>,
    pub(crate) user: Option<PersonId>,
    pub(crate) group: Option<PersonId>,
    pub(crate) host: Option<String>,
}

/// A quota of a user or a group.
#[derive(Debug, Clone, Copy)]
pub(crate) struct QuotaRow {
    pub(crate) owner: PersonId,
    /// Bytes: the hard limit, or the soft one if there is no hard one.
    pub(crate) limit: u64,
    /// How many bytes are counted; none while they are being counted for the first time.
    pub(crate) used: Option<u64>,
}
