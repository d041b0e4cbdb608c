//! The dialects: one protocol core, and a table of the choices in which its three specifications contradict each other.
//!
//! Invariant: whatever differs between the mount points is a field here. No handler looks at which dialect it serves.

use axum::http::StatusCode;
use cenote_store::Dangling;

use super::notifications::Form;
use crate::ldp::representation::vocabulary::{FCREPO, FEDORA};
use crate::ldp::request::digest::DigestAlgorithm;

/// The choices of one mount point.
#[derive(Debug)]
pub(crate) struct Dialect {
    /// Where it is mounted.
    pub(crate) mount: &'static str,
    /// Whether RDF sources have entity tags.
    pub(crate) tags_graphs: bool,
    /// Whether entity tags are quoted, as RFC 9110 wants them. Where they are not, tags without quotes are taken, too.
    pub(crate) quotes_tags: bool,
    /// The status of a change of what the server manages, and of a link that a collection refuses.
    pub(crate) managed: StatusCode,
    /// The status of a PUT of one kind onto another.
    pub(crate) other_kind: StatusCode,
    /// Whether a condition on tags, met or not, takes its effect from those on times, also where RFC 9110 judges both.
    pub(crate) tags_void_times: bool,
    /// The status of a GET whose `If-Unmodified-Since` does not hold.
    pub(crate) modified: StatusCode,
    /// The form of ranges.
    pub(crate) ranges: Ranges,
    /// How `Digest` has digests.
    pub(crate) digests: DigestForm,
    /// The digest that is computed of received bytes, is their entity tag, and is sent without being requested.
    pub(crate) digest: Option<DigestAlgorithm>,
    /// Whether a PUT onto something needs `If-Match`.
    pub(crate) needs_if_match: bool,
    /// Whether a PUT or POST without a media type and without bytes makes a container.
    pub(crate) empty_is_container: bool,
    /// Whether a type in the body decides about the class of a container, as a `Link` header does.
    pub(crate) class_in_body: bool,
    /// Whether a basic container states its type.
    pub(crate) states_basic_container: bool,
    /// Whether POST on a tombstone restores, and PATCH on a version reverts to it.
    pub(crate) restores: bool,
    /// Whether resources are TimeGates, and link to their versions (RFC 7089).
    pub(crate) has_mementos: bool,
    /// Whether resources say where their access lists are, and a request that is refused for its rights is refused as forbidden,
    /// whatever else is wrong with it (Web Access Control).
    pub(crate) has_acls: bool,
    /// Whether `X-State-Token` and `X-If-State-Token` go with entity tags.
    pub(crate) has_state_tokens: bool,
    /// Whether bytes may be elsewhere.
    pub(crate) has_external: bool,
    /// The form of notifications.
    pub(crate) activities: Form,
    /// Whether resources are searched for at `fcr:search`.
    pub(crate) has_search: bool,
    /// Whether requests can be part of a transaction (fcrepo's `fcr:tx` and `Atomic-ID`).
    pub(crate) has_transactions: bool,
    /// Whether the graph of a resource with versions links to them.
    pub(crate) mentions_versions: bool,
    /// Whether `Preference-Applied` lists what was applied.
    pub(crate) lists_preferences: bool,
    /// What becomes of links to missing resources where no collection has a setting.
    pub(crate) dangling: Dangling,
    /// The namespace of Fedora's terms in representations.
    pub(crate) fedora: &'static str,
}

/// The form of ranges.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Ranges {
    /// RFC 9110: 416 outside of the content, and several ranges are ignored.
    Standard,
    /// LAKEsuperior's: `bytes 0-7 / 64`, and several ranges are 501.
    Spaced,
}

/// How `Digest` (RFC 3230) has digests.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum DigestForm {
    /// `sha=…` in hexadecimal, as fcrepo has it.
    Hex,
    /// `SHA1=…` in base64, as LAKEsuperior has it.
    Base64,
}

/// LAKEsuperior's dialect.
pub(crate) const LAKESUPERIOR: Dialect = Dialect {
    mount: "/ldp",
    tags_graphs: false,
    quotes_tags: false,
    tags_void_times: true,
    managed: StatusCode::PRECONDITION_FAILED,
    other_kind: StatusCode::UNSUPPORTED_MEDIA_TYPE,
    modified: StatusCode::NOT_MODIFIED,
    ranges: Ranges::Spaced,
    digests: DigestForm::Base64,
    digest: Some(DigestAlgorithm::Blake2b),
    needs_if_match: false,
    empty_is_container: false,
    class_in_body: true,
    states_basic_container: false,
    restores: true,
    has_mementos: false,
    has_acls: false,
    has_state_tokens: false,
    has_external: false,
    activities: Form::Lakesuperior,
    has_search: false,
    has_transactions: false,
    mentions_versions: true,
    lists_preferences: true,
    dangling: Dangling::LeftOut,
    fedora: FCREPO,
};

/// The dialect of the Fedora API, as fcrepo speaks it.
pub(crate) const FEDORA_API: Dialect = Dialect {
    mount: "/rest",
    tags_graphs: true,
    quotes_tags: true,
    tags_void_times: false,
    managed: StatusCode::CONFLICT,
    other_kind: StatusCode::CONFLICT,
    modified: StatusCode::PRECONDITION_FAILED,
    ranges: Ranges::Standard,
    digests: DigestForm::Hex,
    digest: None,
    needs_if_match: false,
    empty_is_container: true,
    class_in_body: true,
    states_basic_container: true,
    restores: false,
    has_mementos: true,
    has_acls: true,
    has_state_tokens: true,
    has_external: true,
    activities: Form::Fcrepo,
    has_search: true,
    has_transactions: true,
    mentions_versions: false,
    lists_preferences: false,
    dangling: Dangling::Kept,
    fedora: FEDORA,
};

/// LDP 1.0, strictly.
pub(crate) const STRICT: Dialect = Dialect {
    mount: "/w3c",
    needs_if_match: true,
    has_mementos: false,
    has_acls: false,
    has_search: false,
    has_transactions: false,
    ..FEDORA_API
};

/// All of them.
pub(crate) const ALL: [&Dialect; 3] = [&LAKESUPERIOR, &FEDORA_API, &STRICT];
