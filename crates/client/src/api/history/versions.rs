//! States of a resource that were kept.

use jiff::Timestamp;
use serde::Serialize;

use crate::api::tree::On;
use crate::call::Call;
use crate::{At, Client, Result, Version, VersionDifference};

/// What to do with the versions of a resource.
#[derive(Debug, Clone, Serialize)]
#[serde(tag = "op", rename_all = "lowercase")]
pub enum VersionChange {
    /// Keep the current state as a version.
    Keep {
        /// Its label.
        #[serde(skip_serializing_if = "Option::is_none")]
        label: Option<String>,
        /// The time that it stands for, if that is not when it became the current state.
        #[serde(skip_serializing_if = "Option::is_none")]
        time: Option<Timestamp>,
    },
    /// Give a version another label, or take the one that it has.
    Label {
        /// Which.
        version: u64,
        /// What to call it.
        #[serde(skip_serializing_if = "Option::is_none")]
        label: Option<String>,
    },
    /// Make a version the current state.
    Restore {
        /// The version.
        version: u64,
    },
    /// Drop the versions that the rules do not keep.
    Prune(Retention),
}

/// Which versions are kept, besides those with a label: all that one of the rules keeps; all of them, if there is no rule.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize)]
pub struct Retention {
    /// So many, the newest.
    #[serde(rename = "keep", skip_serializing_if = "Option::is_none")]
    pub last: Option<u32>,
    /// The newest of each of the last so many days that have one, in UTC.
    #[serde(rename = "keep_daily", skip_serializing_if = "Option::is_none")]
    pub daily: Option<u32>,
    /// The same of weeks.
    #[serde(rename = "keep_weekly", skip_serializing_if = "Option::is_none")]
    pub weekly: Option<u32>,
    /// The same of months.
    #[serde(rename = "keep_monthly", skip_serializing_if = "Option::is_none")]
    pub monthly: Option<u32>,
}

impl Client {
    /// The versions of a resource, the newest number first.
    pub async fn versions(&self, at: &At) -> Result<Vec<Version>> {
        self.items(Call::get("/v1/versions").at(at)).await
    }

    /// What changed from a version to another one, or to the current state.
    pub async fn compare_versions(
        &self,
        at: &At,
        from: u64,
        to: Option<u64>,
    ) -> Result<VersionDifference> {
        let call = Call::get("/v1/versions/diff").at(at).query("from", from);
        let call = match to {
            Some(to) => call.query("to", to),
            None => call,
        };
        self.json(call).await
    }

    /// Keeps, labels, restores or prunes versions.
    pub async fn change_versions(&self, at: &At, change: &VersionChange) -> Result<()> {
        self.done(Call::post("/v1/versions").json(&On { at, body: change })).await
    }
}
