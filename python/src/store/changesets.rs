//! Changes made by many calls, committed as one or dropped.

use std::time::Duration;

use pyo3::prelude::*;

use super::answer::Answer;
use super::connection::Connection;
use super::error::Failure;
use super::pending::Pending;

#[pymethods]
impl Connection {
    #[pyo3(signature = (idle=None))]
    fn begin_changeset(&self, idle: Option<u64>) -> Result<Pending, Failure> {
        let client = self.client()?;
        Ok(Pending::new(async move {
            let begun = client.begin_changeset(idle.map(Duration::from_secs)).await;
            begun.map(|set| Answer::of(&set))
        }))
    }

    fn commit_changeset(&self, id: String) -> Result<Pending, Failure> {
        let client = self.client()?;
        Ok(Pending::new(
            async move { client.commit_changeset(&id).await.map(|set| Answer::of(&set)) },
        ))
    }

    fn drop_changeset(&self, id: String) -> Result<Pending, Failure> {
        let client = self.client()?;
        Ok(Pending::new(async move { client.drop_changeset(&id).await.map(|()| Answer::none()) }))
    }

    /// The same store and caller, with all calls in a change set.
    fn in_changeset(&self, id: String) -> Self {
        self.within(id)
    }
}
