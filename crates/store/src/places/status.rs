//! Reports about places.

use super::known::{KnownPlaces, default_place, records};
use crate::catalog::keys::Counter;
use crate::catalog::{Reads, View};
use crate::model::{PlaceId, PlaceInfo, PlaceKind, PlaceState};
use crate::{Act, Caller, Result, Store};

/// A place, and its contents.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct PlaceStatus {
    /// Its id.
    pub id: PlaceId,
    /// Its record.
    pub info: PlaceInfo,
    /// Whether new contents go here.
    pub default: bool,
    /// Copies of blobs, registered files among them; what the catalog keeps itself is not counted.
    pub copies: u64,
    /// Their bytes.
    pub bytes: u64,
    /// Replicas that are recorded here.
    pub replicas: u64,
    /// The bytes that may still be added, where that is known.
    pub free: Option<u64>,
    /// Why it cannot be used, if so.
    pub problem: Option<String>,
}

impl Store {
    /// All places, by id.
    pub fn places(&self) -> Result<Vec<PlaceStatus>> {
        statuses(&self.view()?, &self.known())
    }

    /// The place of this name. Needs a login.
    pub fn place_named(&self, caller: &Caller, name: &str) -> Result<PlaceId> {
        caller.require(Act::Names)?;
        let found = self.known().named(name).map(|(id, _)| id);
        found.or_else(|_| {
            self.refresh_places()?;
            self.known().named(name).map(|(id, _)| id)
        })
    }
}

/// All places in one state of the store.
pub(crate) fn statuses(view: &View, known: &KnownPlaces) -> Result<Vec<PlaceStatus>> {
    let default = default_place(view)?;
    let status = |(id, info): (PlaceId, PlaceInfo)| {
        let count = |what| Ok::<_, crate::Error>(view.counter(id.0, what)?.max(0) as u64);
        let open = known.open(id);
        let used = info.kind != PlaceKind::Group && info.state != PlaceState::Down;
        Ok(PlaceStatus {
            id,
            default: id == default,
            copies: count(Counter::Resources)?,
            bytes: count(Counter::Bytes)?,
            replicas: count(Counter::Replicas)?,
            free: open.as_ref().ok().and_then(|place| place.free_space()),
            problem: open.err().filter(|_| used).map(|error| error.to_string()),
            info,
        })
    };
    records(view)?.into_iter().map(status).collect()
}
