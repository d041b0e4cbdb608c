//! The change feed.

use cenote_store::ChangeKind;
use serde::{Deserialize, Serialize};
use utoipa::{IntoParams, ToSchema};

use super::{Instant, Names};

/// Which part of the feed.
#[derive(Debug, Deserialize, IntoParams)]
#[into_params(parameter_in = Query)]
pub(crate) struct ChangesQuery {
    /// `next` of an earlier answer, or `now`; without, all that is kept.
    pub(crate) since: Option<String>,
    /// At most this many changes are looked at.
    #[param(minimum = 1, maximum = 10000)]
    pub(crate) limit: Option<u32>,
    /// Wait this many seconds at most for something to happen.
    #[param(maximum = 300)]
    pub(crate) wait: Option<u32>,
}

/// Part of the feed, in commit order.
#[derive(Debug, Serialize, ToSchema)]
pub(crate) struct Changes {
    pub(crate) items: Vec<Change>,
    /// The position of the last change here of an access list that may have taken something out of the caller's sight.
    pub(crate) access: Option<String>,
    /// Where to go on.
    pub(crate) next: String,
    /// Whether there is more now.
    pub(crate) more: bool,
}

/// One change.
#[derive(Debug, Serialize, ToSchema)]
pub(crate) struct Change {
    /// Where it stands in the feed.
    pub(crate) position: String,
    pub(crate) kind: ChangeWord,
    /// The resource.
    pub(crate) id: u64,
    /// The id of the collection it is in now; it was in, if it was removed.
    pub(crate) parent: u64,
    /// Its name there.
    pub(crate) name: String,
    /// Where it was before it was moved.
    pub(crate) from: Option<Origin>,
    #[schema(value_type = String, format = DateTime)]
    pub(crate) at: Instant,
    /// Who did it.
    pub(crate) by: String,
    /// Counts the changes of the resource.
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
    /// It came to be.
    Created,
    /// Its content changed.
    Written,
    /// Its description or attributes changed.
    Described,
    /// Its access list changed.
    Granted,
    /// Its name or collection changed.
    Moved,
    /// It was removed, with all below it.
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
