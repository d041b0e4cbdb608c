//! Limits for a collection, a user, or a group.

use cenote_client::{Error, Kind, NewQuota, QuotaLimits, QuotaTarget};
use pyo3::prelude::*;

use super::answer::Answer;
use super::connection::Connection;
use super::error::Failure;
use super::pending::Pending;

/// Bytes and resources.
type Limits = (Option<u64>, Option<u64>);

#[pymethods]
impl Connection {
    /// The quotas that the caller may see, or those that apply to a path, a user or a group.
    #[pyo3(signature = (of=None))]
    fn quotas(&self, of: Option<(String, String)>) -> Result<Pending, Failure> {
        let (client, of) = (self.client()?, of.map(target).transpose()?);
        let call = async move { client.quotas(of.as_ref()).await };
        Ok(Pending::new(async { call.await.map(|quotas| Answer::of(&quotas)) }))
    }

    #[pyo3(signature = (of, hard, soft, grace=None))]
    fn set_quota(
        &self,
        of: (String, String),
        hard: Limits,
        soft: Limits,
        grace: Option<u64>,
    ) -> Result<Pending, Failure> {
        let limits = |(bytes, resources): Limits| QuotaLimits { bytes, resources };
        let quota = NewQuota { of: target(of)?, hard: limits(hard), soft: limits(soft), grace };
        let client = self.client()?;
        Ok(Pending::new(
            async move { client.set_quota(&quota).await.map(|quota| Answer::of(&quota)) },
        ))
    }

    fn remove_quota(&self, of: (String, String)) -> Result<Pending, Failure> {
        let (client, of) = (self.client()?, target(of)?);
        Ok(Pending::new(async move { client.remove_quota(&of).await.map(|()| Answer::none()) }))
    }
}

/// The target of a quota: its kind, and its path or name.
fn target((what, name): (String, String)) -> Result<QuotaTarget, Error> {
    match what.as_str() {
        "path" => Ok(QuotaTarget::Path(name)),
        "user" => Ok(QuotaTarget::User(name)),
        "group" => Ok(QuotaTarget::Group(name)),
        _ => Err(Error::new(Kind::Invalid, format!("no quota limits a {what:.64}"))),
    }
}
