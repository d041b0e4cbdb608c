//! The state of the store at a moment in the past.

use cenote_store::{Moment, Past, PastEntry, PastPage, Result};
use serde::{Deserialize, Serialize};
use utoipa::{IntoParams, ToSchema};

use super::{Attribute, Where};
use super::{Instant, KindWord, Names};
use crate::layer::conditional::quoted;

/// A path and a moment.
#[derive(Debug, Deserialize, IntoParams)]
#[into_params(parameter_in = Query)]
pub(crate) struct PastQuery {
    /// Its path at that moment.
    #[param(example = "/lab/run7")]
    pub(crate) path: String,
    /// The moment: a time, or a position of the change feed.
    #[param(value_type = String, example = "2026-03-01T14:30:00Z")]
    pub(crate) as_of: AsOf,
}

/// A page of the members of a collection.
#[derive(Debug, Deserialize, IntoParams)]
#[into_params(parameter_in = Query)]
pub(crate) struct PastPageQuery {
    /// Begin after this name.
    pub(crate) after: Option<String>,
    /// At most this many entries.
    #[param(minimum = 1, maximum = 1000)]
    pub(crate) limit: Option<u32>,
}

/// A moment.
#[derive(Debug, Deserialize, IntoParams)]
#[into_params(parameter_in = Query)]
pub(crate) struct MomentQuery {
    /// A time, or a position of the change feed.
    #[param(value_type = String, example = "2026-03-01T14:30:00Z")]
    pub(crate) as_of: AsOf,
}

/// A moment, as a position.
#[derive(Debug, Serialize, ToSchema)]
pub(crate) struct MomentAnswer {
    /// The position of the change feed: the same state as `as_of`, whatever is committed in the meantime.
    #[schema(example = "00000000000000ffffffffff")]
    pub(crate) position: String,
}

/// A part of what was below a collection.
#[derive(Debug, Deserialize, IntoParams)]
#[into_params(parameter_in = Query)]
pub(crate) struct PastWalkQuery {
    /// Begin after this path.
    #[param(example = "/lab/run7")]
    pub(crate) after: Option<String>,
    /// End after this many lines.
    #[param(minimum = 1)]
    pub(crate) limit: Option<u32>,
}

/// A search; all conditions must have held.
#[derive(Debug, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct PastSearch {
    /// Only below this path; by default below the root.
    #[schema(default = "/", example = "/lab")]
    pub(crate) under: Option<String>,
    /// The moment: a time, or a position of the change feed.
    #[schema(value_type = String, example = "2026-03-01T14:30:00Z")]
    pub(crate) as_of: AsOf,
    /// Conditions on attributes.
    #[serde(default, rename = "where")]
    pub(crate) conditions: Vec<Where>,
    /// A shell pattern for the name at that moment.
    #[schema(example = "*.gsd")]
    pub(crate) name: Option<String>,
    pub(crate) kind: Option<KindWord>,
    /// Words in the name or the description at that moment.
    #[schema(example = "temperature box*")]
    pub(crate) text: Option<String>,
    /// Begin after this path.
    #[schema(example = "/lab/run7")]
    pub(crate) after: Option<String>,
    /// End after this many lines.
    #[schema(minimum = 1)]
    pub(crate) limit: Option<u32>,
}

/// The contents to return.
#[derive(Debug, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct PastArchiveQuestion {
    /// The moment: a time, or a position of the change feed.
    #[schema(value_type = String, example = "2026-03-01T14:30:00Z")]
    pub(crate) as_of: AsOf,
    /// The paths of the objects at that moment.
    #[schema(max_items = 1000)]
    pub(crate) paths: Vec<String>,
}

/// What to restore.
#[derive(Debug, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct RestorePast {
    /// Its path at that moment.
    #[schema(example = "/lab/run7")]
    pub(crate) path: String,
    /// The moment: a time, or a position of the change feed.
    #[schema(value_type = String, example = "2026-03-01T14:30:00Z")]
    pub(crate) as_of: AsOf,
    /// The path to restore it to, which must be free.
    #[schema(example = "/lab/run7 of March")]
    pub(crate) to: String,
    /// With everything that was below it.
    #[serde(default)]
    pub(crate) recursive: bool,
    /// Create missing parent collections.
    #[serde(default)]
    pub(crate) parents: bool,
    /// Leave out what was not kept, or may not be read, instead of restoring nothing.
    #[serde(default)]
    pub(crate) partial: bool,
}

/// A line of a walk or a search.
#[derive(Debug, Serialize, ToSchema)]
#[serde(untagged)]
pub(crate) enum PastLine {
    /// As it was.
    Kept(Box<PastResource>),
    /// It existed, but its state was not kept, nor what was below it if it was removed for good.
    Lost { lost: LostEntry },
}

/// A moment as it is written: a time (RFC 3339), or a position of the change feed.
#[derive(Debug, Clone, Copy)]
pub(crate) struct AsOf(pub(crate) Moment);

impl<'de> Deserialize<'de> for AsOf {
    fn deserialize<D: serde::Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let text = String::deserialize(deserializer)?;
        if let Ok(position) = text.parse() {
            return Ok(Self(Moment::Position(position)));
        }
        text.parse::<Instant>().map(|time| Self(Moment::Time(time.0))).map_err(|_| {
            serde::de::Error::custom(
                "`as_of` is a time like 2026-03-01T14:30:00Z, or a position of the change feed",
            )
        })
    }
}

/// A former state of a resource.
#[derive(Debug, Serialize, ToSchema)]
pub(crate) struct PastResource {
    pub(crate) id: u64,
    /// Its path at that moment.
    pub(crate) path: String,
    /// Its name at that moment.
    pub(crate) name: String,
    pub(crate) kind: KindWord,
    /// The size of its content.
    pub(crate) size: Option<u64>,
    /// SHA-256 of that content, in hexadecimal; null if it is not known.
    pub(crate) sha256: Option<String>,
    /// CRC-64/NVME of that content, in hexadecimal; null if it is not known.
    pub(crate) crc64nvme: Option<String>,
    pub(crate) media_type: Option<String>,
    /// The entity tag of that content.
    pub(crate) etag: Option<String>,
    /// The version that has this state; null if it is the current one.
    pub(crate) version: Option<u64>,
    /// Its current path; null if it is in the trash.
    pub(crate) now: Option<String>,
    /// Null, like all following fields, for states kept by earlier programs.
    pub(crate) owner: Option<String>,
    pub(crate) mode: Option<u32>,
    /// The modification time that a client had set; null for a collection.
    pub(crate) mtime: Option<Instant>,
    /// The target of a link.
    pub(crate) target: Option<String>,
    /// When the content had last changed.
    pub(crate) content_modified: Option<Instant>,
    /// When the description had last changed.
    pub(crate) description_modified: Option<Instant>,
}

/// A page of the members of a collection.
#[derive(Debug, Serialize, ToSchema)]
pub(crate) struct PastListing {
    /// In the order of the names' bytes.
    pub(crate) entries: Vec<PastResource>,
    /// Further members whose state was not kept.
    pub(crate) lost: Vec<LostEntry>,
    /// Where the next page begins; null at the end.
    pub(crate) next: Option<String>,
}

/// A resource whose existence is known, but not its state.
#[derive(Debug, Serialize, ToSchema)]
pub(crate) struct LostEntry {
    pub(crate) id: u64,
    pub(crate) path: String,
}

/// The former description of a resource, as attributes.
#[derive(Debug, Serialize, ToSchema)]
pub(crate) struct PastDescription {
    pub(crate) items: Vec<Attribute>,
}

impl PastResource {
    pub(crate) fn of(past: Past, names: &mut Names<'_>) -> Result<Self> {
        let content = past.content.as_ref();
        let was = past.attributes.as_ref();
        Ok(Self {
            id: past.id.0,
            name: past.path.names().last().map(ToString::to_string).unwrap_or_default(),
            kind: past.kind.into(),
            size: content.map(|content| content.size),
            sha256: content.and_then(|content| content.digests.sha256).map(hex::encode),
            crc64nvme: content
                .and_then(|content| content.digests.crc64nvme)
                .map(|crc| format!("{crc:016x}")),
            media_type: content.and_then(|content| content.media_type.clone()),
            etag: content.map(|content| quoted(&content.tag())),
            version: past.version,
            now: past.now.map(|path| path.to_string()),
            owner: was.map(|was| names.of(was.owner)).transpose()?,
            mode: was.and_then(|was| was.mode),
            mtime: was.and_then(|was| was.mtime).map(Instant),
            target: was.and_then(|was| was.target.clone()),
            content_modified: was.filter(|_| content.is_some()).map(|was| Instant(was.written)),
            description_modified: was.map(|was| Instant(was.described)),
            path: past.path.to_string(),
        })
    }
}

impl PastLine {
    pub(crate) fn of(entry: PastEntry, names: &mut Names<'_>) -> Result<Self> {
        Ok(match entry {
            PastEntry::Kept(past) => Self::Kept(Box::new(PastResource::of(*past, names)?)),
            PastEntry::Lost { id, path } => {
                Self::Lost { lost: LostEntry { id: id.0, path: path.to_string() } }
            }
        })
    }
}

impl PastListing {
    pub(crate) fn of(page: PastPage, names: &mut Names<'_>) -> Result<Self> {
        let mut listing = Self { entries: Vec::new(), lost: Vec::new(), next: page.next };
        for entry in page.entries {
            match PastLine::of(entry, names)? {
                PastLine::Kept(resource) => listing.entries.push(*resource),
                PastLine::Lost { lost } => listing.lost.push(lost),
            }
        }
        Ok(listing)
    }
}
