//! The kept versions of a resource.

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
        /// A version of its own, also if the current state is one already, which would get the label and the time.
        #[serde(skip_serializing_if = "std::ops::Not::not")]
        another: bool,
    },
    /// Change the label of a version, or remove it.
    Label {
        /// The number of the version.
        version: u64,
        /// The new label; `None` removes it.
        #[serde(skip_serializing_if = "Option::is_none")]
        label: Option<String>,
    },
    /// Make a version the current state.
    Restore {
        /// The version.
        version: u64,
    },
    /// Remove the versions that no rule keeps.
    Prune(Retention),
}

/// Which versions are kept, besides those with a label: all that any of the rules keeps; without a rule, all of them.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize)]
pub struct Retention {
    /// The newest ones, this many.
    #[serde(rename = "keep", skip_serializing_if = "Option::is_none")]
    pub last: Option<u32>,
    /// The newest of each day, for this many of the last days (in UTC) that have one.
    #[serde(rename = "keep_daily", skip_serializing_if = "Option::is_none")]
    pub daily: Option<u32>,
    /// The same for weeks.
    #[serde(rename = "keep_weekly", skip_serializing_if = "Option::is_none")]
    pub weekly: Option<u32>,
    /// The same for months.
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
