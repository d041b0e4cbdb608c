//! The store's places as iRODS storage resources, which can be nested.
//!
//! Invariant: where a place is (host, vault, context) is shown to administrators only, and which places exist
//! only to callers with a login.

use cenote_query::genquery::Resource;
use cenote_store::{Act, Caller, PlaceId, PlaceKind, PlaceState, PlaceStatus, Result, Store};

/// The kind of resource that stores contents itself.
pub(crate) const LEAF: &str = "unixfilesystem";
/// The value for a resource without host or directory.
const NO_HOST: &str = "EMPTY_RESC_HOST";
const NO_VAULT: &str = "EMPTY_RESC_PATH";
/// The host shown for a resource if no other is known, or may be shown.
const SOME_HOST: &str = "localhost";
/// The default name of the store's own place.
const MAIN: &str = "main";

/// The key under which a place stores an iRODS property.
pub(crate) fn word(property: &str) -> String {
    format!("irods:{property}")
}

/// A snapshot of all places.
#[derive(Debug)]
pub(crate) struct Hierarchy {
    places: Vec<PlaceStatus>,
    /// The name of the store's own place, if none was set.
    own: String,
}

impl Hierarchy {
    pub(crate) fn read(store: &Store, own: String) -> Result<Self> {
        Ok(Self { places: store.places()?, own })
    }

    fn name<'a>(&'a self, place: &'a PlaceStatus) -> &'a str {
        match place.id == PlaceId::MAIN && place.info.name == MAIN {
            true => &self.own,
            false => &place.info.name,
        }
    }

    pub(crate) fn named(&self, name: &str) -> Option<&PlaceStatus> {
        self.places.iter().find(|place| self.name(place) == name)
    }

    fn get(&self, id: PlaceId) -> Option<&PlaceStatus> {
        self.places.iter().find(|place| place.id == id)
    }

    pub(crate) fn is_group(place: &PlaceStatus) -> bool {
        place.info.kind == PlaceKind::Group
    }

    /// The parent of a place.
    pub(crate) fn parent(&self, place: &PlaceStatus) -> Option<PlaceId> {
        let noted = place.info.properties.get(&word("parent"));
        let noted = noted.and_then(|id| id.parse().ok()).map(PlaceId);
        place.info.parent.or(noted)
    }

    /// The outermost group that contains a place, or the place itself.
    pub(crate) fn root(&self, id: PlaceId) -> PlaceId {
        let above = |id: &PlaceId| self.get(*id).and_then(|place| place.info.parent);
        std::iter::successors(Some(id), above).last().unwrap_or(id)
    }

    /// Whether a place is `other`, or in it.
    pub(crate) fn is_in(&self, id: PlaceId, other: PlaceId) -> bool {
        let above = |id: &PlaceId| self.get(*id).and_then(|place| place.info.parent);
        std::iter::successors(Some(id), above).any(|above| above == other)
    }

    /// The names from the outermost resource down to a place.
    pub(crate) fn path(&self, id: PlaceId) -> String {
        let above = |place: &&PlaceStatus| self.parent(place).and_then(|id| self.get(id));
        let names = std::iter::successors(self.get(id), above).map(|place| self.name(place));
        let mut names: Vec<&str> = names.take(self.places.len()).collect();
        names.reverse();
        names.join(";")
    }

    /// All resources in iRODS terms, as the caller may see them; the default place of new contents is first.
    pub(crate) fn resources(&self, caller: &Caller) -> Vec<Resource> {
        let mut places: Vec<&PlaceStatus> = self.places.iter().collect();
        places.sort_by_key(|place| !place.default);
        places.into_iter().map(|place| self.shown(self.resource(place), caller)).collect()
    }

    fn shown(&self, resource: Resource, caller: &Caller) -> Resource {
        match caller {
            caller if caller.may(Act::Addresses) => resource,
            caller if !caller.may(Act::Names) => self.indistinct(resource.id),
            _ => without_address(resource),
        }
    }

    /// A resource as shown to anonymous callers: all look the same, so that their number is not revealed.
    fn indistinct(&self, id: u64) -> Resource {
        Resource {
            id,
            name: self.own.clone(),
            kind: LEAF.to_owned(),
            host: SOME_HOST.to_owned(),
            vault_path: NO_VAULT.to_owned(),
            status: "up".to_owned(),
            hierarchy: self.own.clone(),
            ..Resource::default()
        }
    }

    fn resource(&self, place: &PlaceStatus) -> Resource {
        let info = &place.info;
        let stored = |property: &str| info.properties.get(&word(property)).cloned();
        let group = Self::is_group(place);
        let kind = if group { "replication" } else { LEAF };
        let status = if info.state == PlaceState::Down { "down" } else { "up" };
        Resource {
            id: place.id.0,
            name: self.name(place).to_owned(),
            kind: stored("type").unwrap_or_else(|| kind.to_owned()),
            host: stored("host")
                .unwrap_or_else(|| if group { NO_HOST } else { SOME_HOST }.to_owned()),
            vault_path: stored("vault_path").unwrap_or_else(|| vault(&info.kind)),
            status: status.to_owned(),
            context: stored("context").unwrap_or_default(),
            comments: stored("comments").unwrap_or_default(),
            information: stored("information").unwrap_or_default(),
            free_space: stored("free_space")
                .or_else(|| place.free.map(|free| free.to_string()))
                .unwrap_or_default(),
            hierarchy: self.path(place.id),
            parent: self.parent(place).map(|id| id.0),
            avus: Vec::new(),
            created: info.created,
            modified: info.modified,
        }
    }
}

/// A resource as shown to those who are not administrators.
fn without_address(resource: Resource) -> Resource {
    let host = if resource.host == NO_HOST { NO_HOST } else { SOME_HOST };
    Resource {
        host: host.to_owned(),
        vault_path: NO_VAULT.to_owned(),
        context: String::new(),
        ..resource
    }
}

fn vault(kind: &PlaceKind) -> String {
    match kind {
        PlaceKind::Leaf { address } => {
            address.strip_prefix("file://").unwrap_or(address).to_owned()
        }
        PlaceKind::Main | PlaceKind::Group => NO_VAULT.to_owned(),
    }
}
