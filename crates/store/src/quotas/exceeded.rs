//! The error when a quota does not allow a change.

use crate::access::Chain;
use crate::catalog::Reads;
use crate::model::{Measure, QuotaOf};
use crate::people::name_of;
use crate::{Error, ErrorKind, Result};

/// The quota that does not allow a change.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Exceeded {
    /// The collection, by its path, or `user NAME`, or `group NAME`.
    pub quota: String,
    /// What there would be too much of.
    pub measure: Measure,
    /// The limit: a hard one, or a soft one that was exceeded for too long.
    pub limit: u64,
    /// How much there is without the change.
    pub total: u64,
}

impl Exceeded {
    pub(super) fn new(
        reads: &impl Reads,
        of: QuotaOf,
        measure: Measure,
        most: i64,
        held: i64,
    ) -> Result<Self> {
        let number = |number: i64| number.max(0).unsigned_abs();
        Ok(Self { quota: shown(reads, of)?, measure, limit: number(most), total: number(held) })
    }
}

/// The path or the name of what has a quota.
fn shown(reads: &impl Reads, of: QuotaOf) -> Result<String> {
    Ok(match of {
        QuotaOf::Collection(id) => {
            let chain = Chain::read(reads, id)?;
            chain.map_or_else(|| format!("#{id}"), |chain| chain.path().to_string())
        }
        QuotaOf::User(id) => format!("user {}", name_of(reads, id)?),
        QuotaOf::Group(id) => format!("group {}", name_of(reads, id)?),
    })
}

impl From<Exceeded> for Error {
    fn from(exceeded: Exceeded) -> Self {
        let Exceeded { quota, measure, limit, total } = &exceeded;
        let what = measure.as_str();
        let message = format!("the quota of {quota} allows {limit} {what}, and has {total}");
        Self::new(ErrorKind::Quota, message)
            .with_hint("remove something for good (`cenote rm`, `cenote trash empty`), or ask for a higher quota")
            .with_exceeded(exceeded)
    }
}
