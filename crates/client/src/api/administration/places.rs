//! Places for contents, replicas in them, and jobs that move bytes.

use serde::{Deserialize, Serialize};

use crate::api::tree::On;
use crate::call::Call;
use crate::{At, Client, Record, Resource, Result};

/// A place to be added.
#[derive(Debug, Clone, Default, Serialize)]
pub struct NewPlace {
    /// The name.
    pub name: String,
    /// Its address; `None` for a group.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub address: Option<String>,
    /// The group to add it to.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub group: Option<String>,
    /// Store new contents here.
    pub default: bool,
}

/// Changes to a place.
#[derive(Debug, Clone, Default, Serialize)]
pub struct PlaceChange {
    /// The place.
    pub name: String,
    /// Its new name.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub rename: Option<String>,
    /// `up` or `down`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub state: Option<String>,
    /// The group to add it to; an empty name removes it from its group.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub group: Option<String>,
    /// Store new contents here.
    pub default: bool,
}

/// Which replicas to remove.
#[derive(Debug, Clone, Default, Serialize)]
pub struct Trim {
    /// The one with this number.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub replica: Option<u32>,
    /// Those in this place or group.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub place: Option<String>,
    /// How many good ones to keep.
    pub keep: usize,
    /// Apply to all objects below a collection.
    pub recursive: bool,
    /// Only report which ones.
    pub dry_run: bool,
}

/// The progress of a job.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub struct Job {
    /// Its number.
    pub job: u64,
    /// What it does.
    pub kind: String,
    /// How many objects or stored contents it has processed.
    pub done: u64,
    /// How many it could not process.
    pub failed: u64,
    /// The last failure.
    pub fault: Option<String>,
    /// Whether it has finished.
    pub finished: bool,
}

/// The result, or the job that will produce it.
#[derive(Debug, Clone, Deserialize)]
#[serde(untagged)]
pub enum Done<T> {
    /// A recorded job.
    Job(Job),
    /// The result.
    Now(T),
}

/// The numbers of replicas that were removed.
#[derive(Debug, Clone, Deserialize)]
pub struct Trimmed {
    /// The numbers.
    pub trimmed: Vec<u32>,
}

#[derive(Serialize)]
struct Replicate<'a> {
    place: &'a str,
    recursive: bool,
}

/// A list, as returned by the server.
#[derive(Debug, Clone, Deserialize)]
pub struct Items {
    /// Its items.
    pub items: Vec<Record>,
}

/// A file to register in place as the content of an object.
#[derive(Debug, Clone, Default, Serialize)]
pub struct Registration {
    /// The object.
    pub path: String,
    /// The absolute path of the file on the server's machine.
    pub file: String,
    /// The place that it is assigned to.
    pub place: String,
    /// Its length; the file need not exist yet if this is given.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub size: Option<u64>,
    /// Its SHA-256, in hexadecimal.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub sha256: Option<String>,
    /// As a further replica of the existing object.
    pub additional: bool,
    /// Replacing the content of the existing object.
    pub replace: bool,
}

impl Client {
    /// All places.
    pub async fn places(&self) -> Result<Vec<Record>> {
        let places: Items = self.json(Call::get("/v1/places")).await?;
        Ok(places.items)
    }

    /// Adds a place or a group.
    pub async fn add_place(&self, place: &NewPlace) -> Result<Record> {
        self.json(Call::post("/v1/places").json(place)).await
    }

    /// Changes a place.
    pub async fn change_place(&self, change: &PlaceChange) -> Result<Record> {
        self.json(Call::patch("/v1/places").json(change)).await
    }

    /// Removes an empty place from the store.
    pub async fn remove_place(&self, name: &str) -> Result<()> {
        self.done(Call::delete("/v1/places").query("name", name)).await
    }

    /// Starts moving everything in a place to another one, or to where new contents go.
    pub async fn drain_place(&self, name: &str, to: Option<&str>) -> Result<Job> {
        let body = serde_json::json!({ "name": name, "to": to });
        self.json(Call::post("/v1/drain").json(&body)).await
    }

    /// The progress of a job.
    pub async fn job(&self, job: u64) -> Result<Job> {
        self.json(Call::get(&format!("/v1/jobs/{job}"))).await
    }

    /// Registers a file in place as the content of an object.
    pub async fn register(&self, file: &Registration) -> Result<Resource> {
        self.json(Call::post("/v1/register").json(file)).await
    }

    /// The replicas of an object, by number.
    pub async fn replicas(&self, at: &At) -> Result<Vec<Record>> {
        let replicas: Items = self.json(Call::get("/v1/replicas").at(at)).await?;
        Ok(replicas.items)
    }

    /// Copies the content of an object to a place; for all objects below a collection, as a job.
    pub async fn replicate(&self, at: &At, place: &str, recursive: bool) -> Result<Done<Items>> {
        let body = On { at, body: &Replicate { place, recursive } };
        self.json(Call::post("/v1/replicas").json(&body)).await
    }

    /// Removes replicas of an object; for all objects below a collection, as a job.
    pub async fn trim(&self, at: &At, trim: &Trim) -> Result<Done<Trimmed>> {
        self.json(Call::post("/v1/trim").json(&On { at, body: trim })).await
    }
}
