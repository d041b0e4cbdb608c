//! Replicas of objects, and the jobs that move bytes between places.

use std::collections::BTreeMap;

use cenote_store::{JobStatus, ReplicaView};
use serde::{Deserialize, Serialize};
use utoipa::ToSchema;

use crate::native::json::Instant;

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
    /// Whether it holds the current content; a stale one holds an earlier one.
    pub(crate) good: bool,
    pub(crate) size: u64,
    /// SHA-256 of its content, in hexadecimal; null while it is not known.
    pub(crate) sha256: Option<String>,
    /// The path of the file on the server's machine, if it is one.
    pub(crate) file: Option<String>,
    /// Whether the file was registered in place.
    pub(crate) registered: bool,
    #[schema(value_type = String, format = DateTime)]
    pub(crate) created: Instant,
    #[schema(value_type = String, format = DateTime)]
    pub(crate) modified: Instant,
    /// Properties that openings store with it.
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

/// What to replicate, and the target.
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
    /// Those in this place or group. Without number and place: stale ones, then good ones, newest first.
    pub(crate) place: Option<String>,
    /// The minimum number of good replicas to keep; one is always kept.
    #[serde(default = "one")]
    pub(crate) keep: usize,
    /// For all objects below a collection, as a job.
    #[serde(default)]
    pub(crate) recursive: bool,
    /// Only report which.
    #[serde(default)]
    pub(crate) dry_run: bool,
}

fn one() -> usize {
    1
}

/// The numbers of the removed replicas.
#[derive(Debug, Serialize, ToSchema)]
pub(crate) struct Trimmed {
    pub(crate) trimmed: Vec<u32>,
}

/// A file to register in place.
#[derive(Debug, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct Register {
    pub(crate) path: String,
    /// The place that it is assigned to.
    pub(crate) place: String,
    /// Its absolute path on the server's machine.
    pub(crate) file: String,
    /// Its length; the file need not exist yet if this is given.
    pub(crate) size: Option<u64>,
    /// Its SHA-256, in hexadecimal.
    pub(crate) sha256: Option<String>,
    /// As another replica of an existing object.
    #[serde(default)]
    pub(crate) additional: bool,
    /// Replacing the content of an existing object.
    #[serde(default)]
    pub(crate) replace: bool,
}

/// The progress of a recorded job.
#[derive(Debug, Serialize, ToSchema)]
pub(crate) struct Job {
    pub(crate) job: u64,
    /// `replicate`, `trim`, `drain` or `sweep`.
    pub(crate) kind: &'static str,
    /// The number of objects or stored contents that were processed.
    pub(crate) done: u64,
    /// The number of failures.
    pub(crate) failed: u64,
    /// What the last failure was.
    pub(crate) fault: Option<String>,
    pub(crate) finished: bool,
}

impl From<JobStatus> for Job {
    fn from(status: JobStatus) -> Self {
        let JobStatus { id, kind, user: _, within: _, done, failed, fault, finished } = status;
        Self { job: id, kind, done, failed, fault, finished }
    }
}
