//! Places for contents.

use std::collections::BTreeMap;

use cenote_store::{Act, Caller, PlaceId, PlaceKind, PlaceState, PlaceStatus, Store};
use serde::{Deserialize, Serialize};
use utoipa::ToSchema;

/// All places.
#[derive(Debug, Serialize, ToSchema)]
pub(crate) struct Places {
    pub(crate) items: Vec<PlaceView>,
}

/// A place and its contents.
#[derive(Debug, Serialize, ToSchema)]
pub(crate) struct PlaceView {
    pub(crate) id: u64,
    pub(crate) name: String,
    /// `main`, `leaf` or `group`.
    pub(crate) kind: &'static str,
    /// Its address, if it was added. For administrators only.
    pub(crate) address: Option<String>,
    /// The group that it is in.
    pub(crate) group: Option<String>,
    /// `up`, `down` or `draining`.
    pub(crate) state: &'static str,
    /// Whether it is the default for new contents.
    pub(crate) default: bool,
    /// Copies of stored contents, except those in the catalog. For administrators only.
    pub(crate) copies: Option<u64>,
    /// Their bytes. For administrators only.
    pub(crate) bytes: Option<u64>,
    /// Replicas that are recorded here. For administrators only.
    pub(crate) replicas: Option<u64>,
    /// Free bytes, if known.
    pub(crate) free: Option<u64>,
    /// Why it cannot be used, if so; details are for administrators only.
    pub(crate) problem: Option<String>,
    /// Properties that openings store with it. For administrators only.
    pub(crate) properties: BTreeMap<String, String>,
}

impl PlaceView {
    pub(crate) fn of(place: PlaceStatus, all: &BTreeMap<PlaceId, String>) -> Self {
        let info = place.info;
        let (kind, address) = match info.kind {
            PlaceKind::Main => ("main", None),
            PlaceKind::Leaf { address } => ("leaf", Some(address)),
            PlaceKind::Group => ("group", None),
        };
        Self {
            id: place.id.0,
            name: info.name,
            kind,
            address,
            group: info.parent.and_then(|parent| all.get(&parent).cloned()),
            state: info.state.as_str(),
            default: place.default,
            copies: Some(place.copies),
            bytes: Some(place.bytes),
            replicas: Some(place.replicas),
            free: place.free,
            problem: place.problem,
            properties: info.properties,
        }
    }

    /// Without the properties that disclose its location.
    fn without_address(self) -> Self {
        let problem = self.problem.map(|_| "it is currently unavailable".to_owned());
        Self { address: None, problem, properties: BTreeMap::new(), ..self }
    }

    /// Without the counts of its contents.
    fn without_counts(self) -> Self {
        Self { copies: None, bytes: None, replicas: None, ..self }
    }
}

/// A new place.
#[derive(Debug, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct NewPlace {
    pub(crate) name: String,
    /// Its address; none for a group. Never with credentials.
    #[schema(example = "file:///data/vault")]
    pub(crate) address: Option<String>,
    /// The group to add it to.
    pub(crate) group: Option<String>,
    /// Make it the default for new contents.
    #[serde(default)]
    pub(crate) default: bool,
    /// Properties that an opening stores with it.
    #[serde(default)]
    pub(crate) properties: BTreeMap<String, String>,
}

/// Changes of a place.
#[derive(Debug, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct ChangePlace {
    /// Which.
    pub(crate) name: String,
    /// Its new name.
    pub(crate) rename: Option<String>,
    /// The new address of its contents, if they were moved by other means.
    pub(crate) address: Option<String>,
    pub(crate) state: Option<PlaceStateWord>,
    /// The group to add it to; an empty name removes it from its group.
    pub(crate) group: Option<String>,
    /// Make it the default for new contents.
    #[serde(default)]
    pub(crate) default: bool,
    /// Properties that an opening stores with it; null removes one.
    #[serde(default)]
    pub(crate) properties: BTreeMap<String, Option<String>>,
}

/// Whether a place is used.
#[derive(Debug, Clone, Copy, Deserialize, ToSchema)]
#[serde(rename_all = "lowercase")]
pub(crate) enum PlaceStateWord {
    Up,
    Down,
    Draining,
}

impl From<PlaceStateWord> for PlaceState {
    fn from(word: PlaceStateWord) -> Self {
        match word {
            PlaceStateWord::Up => Self::Up,
            PlaceStateWord::Down => Self::Down,
            PlaceStateWord::Draining => Self::Draining,
        }
    }
}

/// The place to drain, and the target.
#[derive(Debug, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct Drain {
    pub(crate) name: String,
    /// The target; by default the default place.
    pub(crate) to: Option<String>,
}

/// All places.
pub(crate) fn places(store: &Store, caller: &Caller) -> cenote_store::Result<Vec<PlaceView>> {
    let places = store.places()?;
    let names = places.iter().map(|place| (place.id, place.info.name.clone())).collect();
    let views = places.into_iter().map(|place| PlaceView::of(place, &names));
    let shown =
        |view| if caller.may(Act::Addresses) { view } else { PlaceView::without_address(view) };
    let counted =
        |view| if caller.may(Act::Inspect) { view } else { PlaceView::without_counts(view) };
    Ok(views.map(shown).map(counted).collect())
}
