//! Places for contents, replicas in them, and the jobs that move bytes between them.

use std::collections::BTreeMap;

use cenote_store::{JobStatus, PlaceId, PlaceKind, PlaceState, PlaceStatus, ReplicaView, Store};
use serde::{Deserialize, Serialize};
use utoipa::ToSchema;

use super::Instant;

/// All places.
#[derive(Debug, Serialize, ToSchema)]
pub(crate) struct Places {
    pub(crate) items: Vec<PlaceView>,
}

/// A place, and what it holds.
#[derive(Debug, Serialize, ToSchema)]
pub(crate) struct PlaceView {
    pub(crate) id: u64,
    pub(crate) name: String,
    /// `main`, `leaf` or `group`.
    pub(crate) kind: &'static str,
    /// Where it is, for one that was added.
    pub(crate) address: Option<String>,
    /// The group that it is in.
    pub(crate) group: Option<String>,
    /// `up`, `down` or `draining`.
    pub(crate) state: &'static str,
    /// Whether new contents go here.
    pub(crate) default: bool,
    /// Copies of stored contents; what the catalog keeps itself is not counted.
    pub(crate) copies: u64,
    /// Their bytes.
    pub(crate) bytes: u64,
    /// Replicas that are recorded here.
    pub(crate) replicas: u64,
    /// Free bytes, where that can be known.
    pub(crate) free: Option<u64>,
    /// Why it cannot be used, if so.
    pub(crate) problem: Option<String>,
    /// What openings keep with it.
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
            copies: place.copies,
            bytes: place.bytes,
            replicas: place.replicas,
            free: place.free,
            problem: place.problem,
            properties: info.properties,
        }
    }
}

/// A place to be added.
#[derive(Debug, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct NewPlace {
    pub(crate) name: String,
    /// Where it is; none for a group. Never with credentials.
    #[schema(example = "file:///data/vault")]
    pub(crate) address: Option<String>,
    /// The group that it goes into.
    pub(crate) group: Option<String>,
    /// Have new contents go here.
    #[serde(default)]
    pub(crate) default: bool,
    /// What an opening keeps with it.
    #[serde(default)]
    pub(crate) properties: BTreeMap<String, String>,
}

/// What to change of a place.
#[derive(Debug, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct ChangePlace {
    /// Which.
    pub(crate) name: String,
    /// Its new name.
    pub(crate) rename: Option<String>,
    /// Where its contents have been moved to by other means.
    pub(crate) address: Option<String>,
    pub(crate) state: Option<PlaceStateWord>,
    /// The group that it goes into; an empty name takes it out of its group.
    pub(crate) group: Option<String>,
    /// Have new contents go here.
    #[serde(default)]
    pub(crate) default: bool,
    /// What an opening keeps with it; null forgets a word.
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

/// What to drain, and where to.
#[derive(Debug, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct Drain {
    pub(crate) name: String,
    /// The default place, if none is named.
    pub(crate) to: Option<String>,
}

/// The replicas of an object, by number.
#[derive(Debug, Serialize, ToSchema)]
pub(crate) struct Replicas {
    pub(crate) items: Vec<Replica>,
}

/// The content of an object in one place.
#[derive(Debug, Serialize, ToSchema)]
pub(crate) struct Replica {
    pub(crate) number: u32,
    /// The name of the place.
    pub(crate) place: String,
    /// Whether it holds the current content; a stale one holds what it held.
    pub(crate) good: bool,
    pub(crate) size: u64,
    /// SHA-256 of what it holds, in hexadecimal; null while it is not known.
    pub(crate) sha256: Option<String>,
    /// The file that it is, on the server's machine, if it is one.
    pub(crate) file: Option<String>,
    /// Whether that was registered where it lies.
    pub(crate) registered: bool,
    #[schema(value_type = String, format = DateTime)]
    pub(crate) created: Instant,
    #[schema(value_type = String, format = DateTime)]
    pub(crate) modified: Instant,
    /// What openings keep with it.
    pub(crate) notes: BTreeMap<String, String>,
}

impl Replicas {
    pub(crate) fn of(replicas: Vec<ReplicaView>) -> Self {
        Self { items: replicas.into_iter().map(Replica::from).collect() }
    }
}

impl From<ReplicaView> for Replica {
    fn from(view: ReplicaView) -> Self {
        Self {
            number: view.number,
            place: view.place_name,
            good: view.good,
            size: view.content.size,
            sha256: view.content.digests.sha256.map(hex::encode),
            file: view.file,
            registered: view.registered,
            created: Instant(view.created),
            modified: Instant(view.modified),
            notes: view.notes,
        }
    }
}

/// What to replicate, and where to.
#[derive(Debug, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct Replicate {
    pub(crate) path: Option<String>,
    pub(crate) id: Option<u64>,
    /// The place or group.
    pub(crate) place: String,
    /// All objects below a collection, as a job.
    #[serde(default)]
    pub(crate) recursive: bool,
}

/// Which replicas to remove.
#[derive(Debug, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct TrimReplicas {
    pub(crate) path: Option<String>,
    pub(crate) id: Option<u64>,
    /// The one of this number.
    pub(crate) replica: Option<u32>,
    /// Those in this place or group. Without number and place: stale ones, then good ones, the latest first.
    pub(crate) place: Option<String>,
    /// How many good ones stay at least; one always stays.
    #[serde(default = "one")]
    pub(crate) keep: usize,
    /// Of all objects below a collection, as a job.
    #[serde(default)]
    pub(crate) recursive: bool,
    /// Only say which.
    #[serde(default)]
    pub(crate) dry_run: bool,
}

fn one() -> usize {
    1
}

/// The numbers of the replicas that went, or the job that removes them.
#[derive(Debug, Serialize, ToSchema)]
#[serde(untagged)]
pub(crate) enum Trimmed {
    Numbers { trimmed: Vec<u32> },
    Job(Job),
}

/// The replicas that there are, or the job that makes them.
#[derive(Debug, Serialize, ToSchema)]
#[serde(untagged)]
pub(crate) enum Replicated {
    Replicas(Replicas),
    Job(Job),
}

/// A file to be registered where it lies.
#[derive(Debug, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct Register {
    pub(crate) path: String,
    /// The place that it counts to.
    pub(crate) place: String,
    /// Its absolute path on the server's machine.
    pub(crate) file: String,
    /// Its length; the file need not be there yet if this is said.
    pub(crate) size: Option<u64>,
    /// Its SHA-256, in hexadecimal.
    pub(crate) sha256: Option<String>,
    /// As a further replica of an object that is there.
    #[serde(default)]
    pub(crate) additional: bool,
    /// In place of the content of an object that is there.
    #[serde(default)]
    pub(crate) replace: bool,
}

/// How far a recorded job has come.
#[derive(Debug, Serialize, ToSchema)]
pub(crate) struct Job {
    pub(crate) job: u64,
    /// `replicate`, `trim`, `drain` or `sweep`.
    pub(crate) kind: &'static str,
    /// How many objects or stored contents it has seen to.
    pub(crate) done: u64,
    /// How many it could not see to.
    pub(crate) failed: u64,
    /// What the last failure was.
    pub(crate) fault: Option<String>,
    pub(crate) finished: bool,
}

impl From<JobStatus> for Job {
    fn from(status: JobStatus) -> Self {
        let JobStatus { id, kind, done, failed, fault, finished } = status;
        Self { job: id, kind, done, failed, fault, finished }
    }
}

/// All places as they are told.
pub(crate) fn places(store: &Store) -> cenote_store::Result<Vec<PlaceView>> {
    let places = store.places()?;
    let names = places.iter().map(|place| (place.id, place.info.name.clone())).collect();
    Ok(places.into_iter().map(|place| PlaceView::of(place, &names)).collect())
}
