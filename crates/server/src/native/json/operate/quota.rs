//! Quotas.

use cenote_store::{QuotaOf, QuotaSetting, QuotaTarget};
use serde::{Deserialize, Serialize};
use utoipa::{IntoParams, ToSchema};

use crate::native::json::Instant;
use crate::native::request::address::at;
use crate::problem::Problem;

/// The subject of a quota: one of these.
#[derive(Debug, Deserialize, IntoParams)]
#[into_params(parameter_in = Query)]
pub(crate) struct QuotaQuery {
    /// The path of a collection.
    #[param(example = "/lab")]
    pub(crate) path: Option<String>,
    /// The id of a collection.
    pub(crate) id: Option<u64>,
    /// The name of a user.
    pub(crate) user: Option<String>,
    /// The name of a group.
    pub(crate) group: Option<String>,
}

/// The limits of a quota, of one collection, user or group.
#[derive(Debug, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct SetQuota {
    /// The path of a collection.
    #[schema(example = "/lab")]
    pub(crate) path: Option<String>,
    /// The id of a collection.
    pub(crate) id: Option<u64>,
    /// The name of a user.
    pub(crate) user: Option<String>,
    /// The name of a group.
    pub(crate) group: Option<String>,
    /// Never exceeded.
    #[serde(default)]
    pub(crate) hard: SetLimits,
    /// May be exceeded for a time.
    #[serde(default)]
    pub(crate) soft: SetLimits,
    /// For how many seconds the soft limits may be exceeded; by default 7 days.
    #[schema(value_type = Option<u64>)]
    pub(crate) grace: Option<i128>,
}

/// Limits; a missing one means that there is none.
#[derive(Debug, Default, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct SetLimits {
    /// Bytes of contents, including versions.
    #[schema(value_type = Option<u64>)]
    pub(crate) bytes: Option<i128>,
    /// Resources of any kind.
    #[schema(value_type = Option<u64>)]
    pub(crate) resources: Option<i128>,
}

/// The quotas that apply to a subject, or that the caller may see.
#[derive(Debug, Serialize, ToSchema)]
pub(crate) struct Quotas {
    pub(crate) items: Vec<QuotaView>,
}

/// A quota and its counts.
#[derive(Debug, Serialize, ToSchema)]
pub(crate) struct QuotaView {
    /// The path of the collection that it limits.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) path: Option<String>,
    /// The user whose resources it limits.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) user: Option<String>,
    /// The group whose members' resources it limits.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) group: Option<String>,
    /// Never exceeded.
    pub(crate) hard: QuotaAmounts,
    /// May be exceeded for a time.
    pub(crate) soft: QuotaAmounts,
    /// For how many seconds.
    pub(crate) grace: u64,
    /// The totals; null while the resources that existed when it was set are being counted. Nothing is refused until then.
    pub(crate) total: Option<QuotaTotal>,
    /// The part of it that is in the trash, as far as it has been counted, without versions.
    pub(crate) trash: QuotaTotal,
    /// When an exceeded soft limit becomes a hard one.
    #[schema(value_type = Option<String>, format = DateTime)]
    pub(crate) until: Option<Instant>,
}

/// Limits; null if there is none.
#[derive(Debug, Serialize, ToSchema)]
pub(crate) struct QuotaAmounts {
    pub(crate) bytes: Option<u64>,
    pub(crate) resources: Option<u64>,
}

/// Totals.
#[derive(Debug, Serialize, ToSchema)]
pub(crate) struct QuotaTotal {
    pub(crate) bytes: u64,
    pub(crate) resources: u64,
}

/// The subject, however it is given; none if it is missing.
pub(crate) fn quota_target(
    path: Option<&str>,
    id: Option<u64>,
    user: Option<String>,
    group: Option<String>,
) -> Result<Option<QuotaTarget>, Problem> {
    match (path.is_some() || id.is_some(), user, group) {
        (false, None, None) => Ok(None),
        (true, None, None) => at(path, id).map(QuotaTarget::Collection).map(Some),
        (false, Some(user), None) => Ok(Some(QuotaTarget::User(user))),
        (false, None, Some(group)) => Ok(Some(QuotaTarget::Group(group))),
        _ => Err(Problem::invalid("a quota has exactly one subject")
            .with_hint("give one of `path`, `id`, `user` and `group`")),
    }
}

/// The same if the subject is required.
pub(crate) fn named(target: Option<QuotaTarget>) -> Result<QuotaTarget, Problem> {
    target.ok_or_else(|| {
        Problem::invalid("the subject of the quota is missing")
            .with_hint("give one of `path`, `id`, `user` and `group`")
    })
}

impl SetQuota {
    pub(crate) fn setting(&self) -> Result<QuotaSetting, Problem> {
        Ok(QuotaSetting {
            hard: self.hard.limits()?,
            soft: self.soft.limits()?,
            grace: self.grace.map(number).transpose()?,
        })
    }
}

impl SetLimits {
    fn limits(&self) -> Result<cenote_store::QuotaLimits, Problem> {
        Ok(cenote_store::QuotaLimits {
            bytes: self.bytes.map(number).transpose()?,
            resources: self.resources.map(number).transpose()?,
        })
    }
}

fn number(number: i128) -> Result<u64, Problem> {
    u64::try_from(number).map_err(|_| {
        Problem::invalid(format!("a limit must be between 0 and {}: {number}", i64::MAX))
            .with_hint("leave out the limit if there is none")
    })
}

impl From<cenote_store::QuotaLimits> for QuotaAmounts {
    fn from(limits: cenote_store::QuotaLimits) -> Self {
        let cenote_store::QuotaLimits { bytes, resources } = limits;
        Self { bytes, resources }
    }
}

impl From<cenote_store::QuotaTotal> for QuotaTotal {
    fn from(total: cenote_store::QuotaTotal) -> Self {
        let cenote_store::QuotaTotal { bytes, resources } = total;
        Self { bytes, resources }
    }
}

impl From<cenote_store::Quota> for QuotaView {
    fn from(quota: cenote_store::Quota) -> Self {
        let cenote_store::Quota { of, name, hard, soft, grace, total, removed, until } = quota;
        let named = |is: bool| is.then(|| name.clone());
        Self {
            path: named(matches!(of, QuotaOf::Collection(_))),
            user: named(matches!(of, QuotaOf::User(_))),
            group: named(matches!(of, QuotaOf::Group(_))),
            hard: hard.into(),
            soft: soft.into(),
            grace,
            total: total.map(Into::into),
            trash: removed.into(),
            until: until.map(Instant),
        }
    }
}
