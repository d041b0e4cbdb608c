//! The JSON form of a resource, which all routes use.

use cenote_store::{
    Algorithm, Caller, Details, Kind, LinkIntegrity, Retention, Stat, Store, Versioning,
    Xattr as StoreXattr, avus_of,
};
use serde::{Deserialize, Serialize};
use utoipa::ToSchema;

use crate::layer::conditional::quoted;
use crate::native::json::Names;
use crate::native::json::{Attribute, Instant, With, Xattr};
use crate::problem::unanswered;

/// A resource. A field that does not apply is null.
#[derive(Debug, Serialize, ToSchema)]
pub(crate) struct Resource {
    /// Does not change when the resource is renamed, and is never reused.
    pub(crate) id: u64,
    /// Its current path.
    pub(crate) path: String,
    /// The last name of the path; empty for the root.
    pub(crate) name: String,
    /// Its kind.
    pub(crate) kind: KindWord,
    /// Bytes of content.
    pub(crate) size: Option<u64>,
    /// SHA-256 of the content, in hexadecimal; null while it is not known.
    pub(crate) sha256: Option<String>,
    /// CRC-64/NVME of the content, in hexadecimal; null while it is not known.
    pub(crate) crc64nvme: Option<String>,
    /// MD5 of the content, in hexadecimal; null while it is not known.
    pub(crate) md5: Option<String>,
    /// The media type of the content, if a client set it or it could be guessed.
    pub(crate) media_type: Option<String>,
    /// True if the media type was guessed from the name and the first bytes.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    pub(crate) media_type_guessed: bool,
    /// The entity tag of the content: changes with every change of the bytes.
    pub(crate) etag: Option<String>,
    /// The entity tag of the description: changes with every change of a statement or of an attribute.
    pub(crate) description_etag: String,
    /// The entity tag of the membership of a collection: changes with every child that is created, removed, moved or
    /// renamed.
    pub(crate) members_etag: Option<String>,
    /// The entity tag of the state: changes with every change of content, description or access.
    pub(crate) state: String,
    /// Its owner.
    pub(crate) owner: String,
    /// When it was created.
    #[schema(value_type = String, format = DateTime)]
    pub(crate) created: Instant,
    /// The user who created it.
    pub(crate) created_by: String,
    /// When content, description or access last changed.
    #[schema(value_type = String, format = DateTime)]
    pub(crate) modified: Instant,
    /// The user who changed it.
    pub(crate) modified_by: String,
    /// When the content last changed.
    pub(crate) content_modified: Option<Instant>,
    /// When the description last changed.
    #[schema(value_type = String, format = DateTime)]
    pub(crate) description_modified: Instant,
    /// When the membership of a collection last changed.
    pub(crate) members_modified: Option<Instant>,
    /// Mode bits as in `st_mode & 0o7777`, if a client set them.
    pub(crate) mode: Option<u32>,
    /// The modification time that a client set.
    pub(crate) mtime: Option<Instant>,
    /// The target of a link.
    pub(crate) target: Option<String>,
    /// What happens to replaced states, if this collection has a setting.
    pub(crate) versioning: Option<VersioningWord>,
    /// How many versions of a resource are kept, the newest, besides those with a label.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) keep: Option<u32>,
    /// In addition, the newest version of each of this many days that have one, in UTC.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) keep_daily: Option<u32>,
    /// The same for weeks.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) keep_weekly: Option<u32>,
    /// The same for months.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) keep_monthly: Option<u32>,
    /// For how many seconds removed resources are kept in the trash, if this collection has a setting.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) keep_removed: Option<u64>,
    /// The maximum number of bytes of removed resources to keep, if this collection has a limit.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) keep_removed_bytes: Option<u64>,
    /// The requirement for links in descriptions, if this collection has a setting.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) link_integrity: Option<IntegrityWord>,
    /// True if a copy of its bytes is known to be damaged.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    pub(crate) damaged: bool,
    /// The tag of the description, if it was requested and there is one: two descriptions are
    /// equal if their tags are.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) description_tag: Option<String>,
    /// The rights of the caller, if requested in a listing: one of the ten levels, or rights joined by `+`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) level: Option<String>,
    /// Its description, if requested in a listing; absent if it has more than 1 MiB, or if the caller may not read it.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) description: Option<Vec<Attribute>>,
    /// Its extended attributes, likewise.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) xattrs: Option<Vec<Xattr>>,
}

impl Resource {
    /// A resource as a change has left it.
    pub(crate) fn changed(
        stat: &Stat,
        store: &Store,
        caller: &Caller,
    ) -> cenote_store::Result<Self> {
        Self::of(stat, &mut Names::for_caller(store, caller)).map_err(unanswered)
    }

    pub(crate) fn of(stat: &Stat, names: &mut Names<'_>) -> cenote_store::Result<Self> {
        let resource = &stat.resource;
        let content = resource.content.as_ref();
        let digests = content.map(|content| &content.digests);
        let versioning = resource.versioning;
        let retention = versioning.and_then(Versioning::retention).unwrap_or_default();
        let membership = names.membership(stat)?;
        Ok(Self {
            id: stat.id.0,
            path: stat.path.to_string(),
            name: resource.name.clone(),
            kind: resource.kind.into(),
            size: content.map(|content| content.size),
            sha256: digests.and_then(|digests| digests.sha256).map(hex::encode),
            crc64nvme: digests
                .and_then(|digests| digests.crc64nvme)
                .map(|crc| format!("{crc:016x}")),
            md5: digests.and_then(|digests| digests.get(Algorithm::Md5)).map(hex::encode),
            media_type: content.and_then(|content| content.media_type.clone()),
            media_type_guessed: content.is_some_and(|content| content.media_type_guessed),
            etag: stat.content_tag().as_deref().map(quoted),
            description_etag: quoted(&stat.description_tag()),
            members_etag: membership.map(|membership| quoted(&membership.tag())),
            state: quoted(&stat.state_tag()),
            owner: names.of(resource.owner)?,
            created: Instant(resource.created),
            created_by: names.of(resource.created_by)?,
            modified: Instant(resource.modified),
            modified_by: names.of(resource.modified_by)?,
            content_modified: content.map(|_| Instant(resource.written())),
            description_modified: Instant(resource.described().time),
            members_modified: membership.map(|membership| Instant(membership.changed)),
            mode: resource.mode,
            mtime: resource.mtime.map(Instant),
            target: resource.target.clone(),
            versioning: versioning.map(VersioningWord::from),
            keep: retention.last,
            keep_daily: retention.daily,
            keep_weekly: retention.weekly,
            keep_monthly: retention.monthly,
            keep_removed: resource.keep_removed,
            keep_removed_bytes: resource.keep_removed_bytes,
            link_integrity: resource.link_integrity.map(IntegrityWord::from),
            damaged: content.map_or(Ok(false), |content| names.store().is_damaged(content))?,
            description_tag: None,
            level: None,
            description: None,
            xattrs: None,
        })
    }

    /// The same with the additional fields that were requested.
    pub(crate) fn with_details(self, details: &Details, with: With) -> Self {
        let description = details.description.as_ref();
        Self {
            level: with.level.then(|| details.rights.to_string()),
            description: description
                .filter(|_| with.description)
                .map(|graph| avus_of(graph).into_iter().map(Into::into).collect()),
            xattrs: description
                .filter(|_| with.xattrs)
                .map(|graph| StoreXattr::all(graph).into_iter().map(Into::into).collect()),
            ..self
        }
    }

    pub(crate) fn with_description_tag(self, tag: Option<[u8; 32]>) -> Self {
        Self { description_tag: tag.map(hex::encode), ..self }
    }
}

/// The kind of a resource.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "lowercase")]
#[schema(as = Kind)]
pub(crate) enum KindWord {
    /// Has children.
    Collection,
    /// Has content.
    Object,
    /// Points to a path.
    Link,
    /// Has a description only.
    Description,
}

impl From<Kind> for KindWord {
    fn from(kind: Kind) -> Self {
        match kind {
            Kind::Collection => Self::Collection,
            Kind::Object => Self::Object,
            Kind::Link => Self::Link,
            Kind::Description => Self::Description,
        }
    }
}

impl From<KindWord> for Kind {
    fn from(word: KindWord) -> Self {
        match word {
            KindWord::Collection => Self::Collection,
            KindWord::Object => Self::Object,
            KindWord::Link => Self::Link,
            KindWord::Description => Self::Description,
        }
    }
}

/// What happens to replaced states.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "kebab-case")]
#[schema(as = Versioning)]
pub(crate) enum VersioningWord {
    /// They are dropped.
    Off,
    /// They are dropped, unless a request has kept them before.
    OnRequest,
    /// Each is kept.
    EachChange,
}

impl From<Versioning> for VersioningWord {
    fn from(versioning: Versioning) -> Self {
        match versioning {
            Versioning::Off => Self::Off,
            Versioning::OnRequest { .. } => Self::OnRequest,
            Versioning::EachChange { .. } => Self::EachChange,
        }
    }
}

impl VersioningWord {
    pub(crate) fn keeping(self, retention: Retention) -> Versioning {
        match self {
            Self::Off => Versioning::Off,
            Self::OnRequest => Versioning::OnRequest(retention),
            Self::EachChange => Versioning::EachChange(retention),
        }
    }
}

/// What happens to a statement that links to a missing path.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "kebab-case")]
#[schema(as = LinkIntegrity)]
pub(crate) enum IntegrityWord {
    /// It is kept as text.
    None,
    /// It is kept as text, and becomes a link once the path exists.
    Lenient,
    /// It is refused.
    Strict,
}

impl From<LinkIntegrity> for IntegrityWord {
    fn from(integrity: LinkIntegrity) -> Self {
        match integrity {
            LinkIntegrity::None => Self::None,
            LinkIntegrity::Lenient => Self::Lenient,
            LinkIntegrity::Strict => Self::Strict,
        }
    }
}

impl From<IntegrityWord> for LinkIntegrity {
    fn from(word: IntegrityWord) -> Self {
        match word {
            IntegrityWord::None => Self::None,
            IntegrityWord::Lenient => Self::Lenient,
            IntegrityWord::Strict => Self::Strict,
        }
    }
}
