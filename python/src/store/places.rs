//! Places for contents, and the replicas of objects in them.

use cenote_client::{At, Done, Kind, NewPlace, PlaceChange, Trim};
use pyo3::prelude::*;

use super::answer::Answer;
use super::connection::Connection;
use super::error::Failure;
use super::jobs::finish;
use super::pending::Pending;

/// What a job that failed in part is.
const AGAIN: (Kind, &str) = (Kind::Unavailable, "repeat it: what was done is passed over");

#[pymethods]
impl Connection {
    fn places(&self) -> Result<Pending, Failure> {
        let client = self.client()?;
        Ok(Pending::of(async move { client.places().await }))
    }

    /// Adds a place; without an address, a group of places.
    #[pyo3(signature = (name, address=None, group=None, default=false))]
    fn add_place(
        &self,
        name: String,
        address: Option<String>,
        group: Option<String>,
        default: bool,
    ) -> Result<Pending, Failure> {
        let (client, place) = (self.client()?, NewPlace { name, address, group, default });
        Ok(Pending::of(async move { client.add_place(&place).await }))
    }

    /// Changes a place; the group that has no name is none.
    #[pyo3(signature = (name, rename=None, state=None, group=None, default=false))]
    fn change_place(
        &self,
        name: String,
        rename: Option<String>,
        state: Option<String>,
        group: Option<String>,
        default: bool,
    ) -> Result<Pending, Failure> {
        let change = PlaceChange { name, rename, state, group, default };
        let client = self.client()?;
        Ok(Pending::of(async move { client.change_place(&change).await }))
    }

    /// Moves everything in a place to another one; waits until it is moved.
    #[pyo3(signature = (name, to=None))]
    fn drain_place(&self, name: String, to: Option<String>) -> Result<Pending, Failure> {
        let client = self.client()?;
        Ok(Pending::new(async move {
            let job = client.drain_place(&name, to.as_deref()).await?;
            finish(&client, job, AGAIN).await.map(|()| Answer::none())
        }))
    }

    fn remove_place(&self, name: String) -> Result<Pending, Failure> {
        let client = self.client()?;
        Ok(Pending::of(async move { client.remove_place(&name).await }))
    }

    fn replicas(&self, path: String) -> Result<Pending, Failure> {
        let client = self.client()?;
        Ok(Pending::of(async move { client.replicas(&At::Path(path)).await }))
    }

    /// Copies contents to a place; waits until they are copied.
    fn replicate(&self, path: String, place: String, recursive: bool) -> Result<Pending, Failure> {
        let client = self.client()?;
        Ok(Pending::new(async move {
            if let Done::Job(job) = client.replicate(&At::Path(path), &place, recursive).await? {
                finish(&client, job, AGAIN).await?;
            }
            Ok::<_, cenote_client::Error>(Answer::none())
        }))
    }

    /// Removes replicas: the one with a number, those in a place, or all but the newest good ones. Waits until they are removed.
    #[pyo3(signature = (path, keep, recursive, replica=None, place=None))]
    fn trim(
        &self,
        path: String,
        keep: usize,
        recursive: bool,
        replica: Option<u32>,
        place: Option<String>,
    ) -> Result<Pending, Failure> {
        let client = self.client()?;
        let trim = Trim { replica, place, keep, recursive, dry_run: false };
        Ok(Pending::new(async move {
            if let Done::Job(job) = client.trim(&At::Path(path), &trim).await? {
                finish(&client, job, AGAIN).await?;
            }
            Ok::<_, cenote_client::Error>(Answer::none())
        }))
    }
}
