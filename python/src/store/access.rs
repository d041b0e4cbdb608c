//! Who the caller is, access lists and tickets.

use cenote_client::{AccessOperation, At, NewTicket, Only};
use pyo3::prelude::*;

use super::answer::Answer;
use super::connection::Connection;
use super::error::Failure;
use super::pending::Pending;

/// A class, a path or an id.
type Restriction = (Option<String>, Option<String>, Option<u64>);

#[pymethods]
impl Connection {
    fn whoami(&self) -> Result<Pending, Failure> {
        let client = self.client()?;
        Ok(Pending::new(async move { client.whoami().await.map(|who| Answer::of(&who)) }))
    }

    fn access(&self, path: String) -> Result<Pending, Failure> {
        let client = self.client()?;
        let call = async move { client.access(&At::Path(path)).await };
        Ok(Pending::new(async { call.await.map(|access| Answer::of(&access)) }))
    }

    /// Changes an access list: a user or group, a level and a scope each; and the class, path or id of what it is about, if that is not all
    /// in the scope.
    #[pyo3(signature = (path, entries, closed=None, inherit=None))]
    fn change_access(
        &self,
        path: String,
        entries: Vec<(String, String, String, Option<Restriction>)>,
        closed: Option<bool>,
        inherit: Option<bool>,
    ) -> Result<Pending, Failure> {
        let client = self.client()?;
        let only = |(class, path, id)| Only { class, path, id };
        let entry = |(name, level, scope, restriction): (_, _, _, Option<Restriction>)| {
            AccessOperation { name, level, scope, only: restriction.map(only) }
        };
        let entries: Vec<_> = entries.into_iter().map(entry).collect();
        Ok(Pending::new(async move {
            let changed = client.change_access(&At::Path(path), &entries, closed, inherit).await;
            changed.map(|()| Answer::none())
        }))
    }

    #[pyo3(signature = (path=None))]
    fn tickets(&self, path: Option<String>) -> Result<Pending, Failure> {
        let client = self.client()?;
        let call = async move { client.tickets(path.as_deref()).await };
        Ok(Pending::new(async { call.await.map(|tickets| Answer::of(&tickets)) }))
    }

    #[pyo3(signature = (path, level, uses=None, expires_in=None))]
    fn add_ticket(
        &self,
        path: String,
        level: String,
        uses: Option<u64>,
        expires_in: Option<u64>,
    ) -> Result<Pending, Failure> {
        let client = self.client()?;
        let (bytes, writes, persons, hosts) = (None, None, Vec::new(), Vec::new());
        let new = NewTicket { path, level, uses, expires_in, bytes, writes, persons, hosts };
        Ok(Pending::new(async move { client.add_ticket(&new).await.map(|made| Answer::of(&made)) }))
    }

    fn remove_ticket(&self, ticket: String) -> Result<Pending, Failure> {
        let client = self.client()?;
        Ok(Pending::new(
            async move { client.remove_ticket(&ticket).await.map(|()| Answer::none()) },
        ))
    }
}
