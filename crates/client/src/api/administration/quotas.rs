//! Quotas.

use jiff::Timestamp;
use serde::{Deserialize, Serialize};

use crate::call::Call;
use crate::{Client, Result};

/// What a quota limits.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum QuotaTarget {
    /// Everything below the collection with this path.
    Path(String),
    /// Everything that this user owns.
    User(String),
    /// Everything that the members of this group own, in total.
    Group(String),
}

/// Limits; `None` means unlimited.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct QuotaLimits {
    /// Bytes of contents.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub bytes: Option<u64>,
    /// Resources of any kind.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub resources: Option<u64>,
}

/// A quota to be set.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct NewQuota {
    /// What it limits.
    #[serde(flatten)]
    pub of: QuotaTarget,
    /// Never exceeded.
    pub hard: QuotaLimits,
    /// May be exceeded for a time.
    pub soft: QuotaLimits,
    /// For how many seconds; 7 days without it.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub grace: Option<u64>,
}

/// How much there is.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct QuotaTotal {
    /// Bytes of contents, those of versions among them.
    pub bytes: u64,
    /// Resources of any kind.
    pub resources: u64,
}

/// A quota, and what is counted for it.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Quota {
    /// What it limits.
    #[serde(flatten)]
    pub of: QuotaTarget,
    /// Never exceeded.
    pub hard: QuotaLimits,
    /// May be exceeded for a time.
    pub soft: QuotaLimits,
    /// For how many seconds.
    pub grace: u64,
    /// How much there is; none while what was there when it was set is being counted.
    pub total: Option<QuotaTotal>,
    /// What of that is in the trash.
    pub trash: QuotaTotal,
    /// When the soft limit that is exceeded becomes a hard one.
    pub until: Option<Timestamp>,
}

#[derive(Deserialize)]
struct Items {
    items: Vec<Quota>,
}

impl QuotaTarget {
    fn of(&self, call: Call) -> Call {
        match self {
            Self::Path(path) => call.query("path", path),
            Self::User(name) => call.query("user", name),
            Self::Group(name) => call.query("group", name),
        }
    }
}

impl Client {
    /// The quotas that the caller may see, or those that bear on something.
    pub async fn quotas(&self, of: Option<&QuotaTarget>) -> Result<Vec<Quota>> {
        let call = Call::get("/v1/quotas");
        let call = match of {
            Some(of) => of.of(call),
            None => call,
        };
        let answer: Items = self.json(call).await?;
        Ok(answer.items)
    }

    /// Sets a quota, or other limits of one.
    pub async fn set_quota(&self, quota: &NewQuota) -> Result<Quota> {
        self.json(Call::put("/v1/quotas").json(quota)).await
    }

    /// Removes a quota.
    pub async fn remove_quota(&self, of: &QuotaTarget) -> Result<()> {
        self.done(of.of(Call::delete("/v1/quotas"))).await
    }
}
