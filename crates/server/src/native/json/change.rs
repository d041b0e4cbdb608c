//! The change feed.

use cenote_store::ChangeKind;
use serde::{Deserialize, Serialize};
use utoipa::{IntoParams, ToSchema};

use super::{Instant, Names};

/// Which part of the feed.
#[derive(Debug, Deserialize, IntoParams)]
#[into_params(parameter_in = Query)]
pub(crate) struct ChangesQuery {
    /// `next` of an earlier answer, or `now`; by default all changes that are kept.
    pub(crate) since: Option<String>,
    /// The maximum number of changes to examine.
    #[param(minimum = 1, maximum = 10000)]
    pub(crate) limit: Option<u32>,
    /// Wait at most this many seconds for a change.
    #[param(maximum = 300)]
    pub(crate) wait: Option<u32>,
}

/// Part of the feed, in commit order.
#[derive(Debug, Serialize, ToSchema)]
pub(crate) struct Changes {
    pub(crate) items: Vec<Change>,
    /// The position of the last change of an access list here that may have hidden something from the caller.
    pub(crate) access: Option<String>,
    /// The position to continue from.
    pub(crate) next: String,
    /// Whether there are more changes already.
    pub(crate) more: bool,
}

/// One change.
#[derive(Debug, Serialize, ToSchema)]
pub(crate) struct Change {
    /// Its position in the feed.
    pub(crate) position: String,
    pub(crate) kind: ChangeWord,
    /// The resource.
    pub(crate) id: u64,
    /// The id of its collection; of its former one, if it was removed.
    pub(crate) parent: u64,
    /// Its name there.
    pub(crate) name: String,
    /// Its location before a move.
    pub(crate) from: Option<Origin>,
    #[schema(value_type = String, format = DateTime)]
    pub(crate) at: Instant,
    /// The user who made it.
    pub(crate) by: String,
    /// The number of changes of the resource.
    pub(crate) revision: u64,
}

/// A collection and a name in it.
#[derive(Debug, Serialize, ToSchema)]
pub(crate) struct Origin {
    /// The id of the collection.
    pub(crate) parent: u64,
    pub(crate) name: String,
}

impl Change {
    pub(crate) fn of(
        change: cenote_store::Change,
        names: &mut Names<'_>,
    ) -> cenote_store::Result<Self> {
        Ok(Self {
            position: change.position.to_string(),
            kind: change.kind.into(),
            id: change.id.0,
            parent: change.parent.0,
            name: change.name,
            from: change.from.map(|(parent, name)| Origin { parent: parent.0, name }),
            at: Instant(change.at),
            by: names.of(change.by)?,
            revision: change.revision,
        })
    }
}

/// What happened to a resource.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, ToSchema)]
#[serde(rename_all = "lowercase")]
#[schema(as = ChangeKind)]
pub(crate) enum ChangeWord {
    /// It was created.
    Created,
    /// Its content changed.
    Written,
    /// Its description or attributes changed.
    Described,
    /// Its access list changed.
    Granted,
    /// Its name or collection changed.
    Moved,
    /// It was removed, with everything below it.
    Removed,
}

impl From<ChangeKind> for ChangeWord {
    fn from(kind: ChangeKind) -> Self {
        match kind {
            ChangeKind::Created => Self::Created,
            ChangeKind::Written => Self::Written,
            ChangeKind::Described => Self::Described,
            ChangeKind::Granted => Self::Granted,
            ChangeKind::Moved => Self::Moved,
            ChangeKind::Removed => Self::Removed,
        }
    }
}
