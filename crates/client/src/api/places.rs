//! Places for contents, replicas in them, and the jobs that move bytes.

use serde::{Deserialize, Serialize};

use super::resources::On;
use crate::call::Call;
use crate::{At, Client, Record, Resource, Result};

/// A place to be added.
#[derive(Debug, Clone, Default, Serialize)]
pub struct NewPlace {
    /// The name.
    pub name: String,
    /// Where it is; none for a group.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub address: Option<String>,
    /// The group to add it to.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub group: Option<String>,
    /// Have new contents go here.
    pub default: bool,
}

/// What to change of a place.
#[derive(Debug, Clone, Default, Serialize)]
pub struct PlaceChange {
    /// Which.
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
    /// Have new contents go here.
    pub default: bool,
}

/// Which replicas to remove.
#[derive(Debug, Clone, Default, Serialize)]
pub struct Trim {
    /// The one of this number.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub replica: Option<u32>,
    /// Those in this place or group.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub place: Option<String>,
    /// How many good ones stay.
    pub keep: usize,
    /// Of all objects below a collection.
    pub recursive: bool,
    /// Only say which.
    pub dry_run: bool,
}

/// The progress of a job.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub struct Job {
    /// Its number.
    pub job: u64,
    /// What it does.
    pub kind: String,
    /// How many objects or stored contents it has seen to.
    pub done: u64,
    /// How many it could not see to.
    pub failed: u64,
    /// What the last failure was.
    pub fault: Option<String>,
    /// Whether it is over.
    pub finished: bool,
}

/// What was done at once, or the job that does it.
#[derive(Debug, Clone, Deserialize)]
#[serde(untagged)]
pub enum Done<T> {
    /// A job that was recorded.
    Job(Job),
    /// What was done.
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

/// A list, as the server gives it.
#[derive(Debug, Clone, Deserialize)]
pub struct Items {
    /// What is in it.
    pub items: Vec<Record>,
}

/// A file to become the content of an object where it lies.
#[derive(Debug, Clone, Default, Serialize)]
pub struct Registration {
    /// The object.
    pub path: String,
    /// The absolute path of the file on the server's machine.
    pub file: String,
    /// The place that it counts to.
    pub place: String,
    /// Its length; the file need not exist yet if this is given.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub size: Option<u64>,
    /// Its SHA-256, in hexadecimal.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub sha256: Option<String>,
    /// As a further replica of the object that is there.
    pub additional: bool,
    /// In place of the content of the object that is there.
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

    /// Forgets a place that holds nothing.
    pub async fn remove_place(&self, name: &str) -> Result<()> {
        self.done(Call::delete("/v1/places").query("name", name)).await
    }

    /// Begins to move all that a place holds to another one, or to where new contents go.
    pub async fn drain_place(&self, name: &str, to: Option<&str>) -> Result<Job> {
        let body = serde_json::json!({ "name": name, "to": to });
        self.json(Call::post("/v1/drain").json(&body)).await
    }

    /// The progress of a job.
    pub async fn job(&self, job: u64) -> Result<Job> {
        self.json(Call::get(&format!("/v1/jobs/{job}"))).await
    }

    /// Makes a file the content of an object where it lies.
    pub async fn register(&self, file: &Registration) -> Result<Resource> {
        self.json(Call::post("/v1/register").json(file)).await
    }

    /// The replicas of an object, by number.
    pub async fn replicas(&self, at: &At) -> Result<Vec<Record>> {
        let replicas: Items = self.json(Call::get("/v1/replicas").at(at)).await?;
        Ok(replicas.items)
    }

    /// Copies the content of an object into a place; of all objects below a collection, as a job.
    pub async fn replicate(&self, at: &At, place: &str, recursive: bool) -> Result<Done<Items>> {
        let body = On { at, body: &Replicate { place, recursive } };
        self.json(Call::post("/v1/replicas").json(&body)).await
    }

    /// Removes replicas of an object; of all objects below a collection, as a job.
    pub async fn trim(&self, at: &At, trim: &Trim) -> Result<Done<Trimmed>> {
        self.json(Call::post("/v1/trim").json(&On { at, body: trim })).await
    }
}
