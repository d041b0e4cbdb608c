//! IRIs that name resources of this store.
//!
//! | form | example | where |
//! |---|---|---|
//! | path | `cenote:/lab/a%20b#part` | accepted and shown: the resource at the path |
//! | id | `cenote:id/1007#part` | accepted: the resource with this id; shown if the path does not identify it |
//! | link | `cenote:id/1007/lab/a%20b#part` | stored, never accepted or shown: the resource with this id, and the path as it was written |

use percent_encoding::{AsciiSet, CONTROLS, percent_decode_str, utf8_percent_encode};

use crate::model::{ResourceId, StorePath};

/// What each of them begins with.
pub(in crate::metadata) const SCHEME: &str = "cenote:";
const BY_ID: &str = "cenote:id/";

/// What a name in the path of an IRI may not contain (RFC 3987), and `%`.
const ENCODED: &AsciiSet = &CONTROLS
    .add(b' ')
    .add(b'"')
    .add(b'#')
    .add(b'%')
    .add(b'<')
    .add(b'>')
    .add(b'?')
    .add(b'[')
    .add(b'\\')
    .add(b']')
    .add(b'^')
    .add(b'`')
    .add(b'{')
    .add(b'|')
    .add(b'}');

/// The IRI of the resource at a path.
pub fn iri_of(path: &StorePath) -> String {
    match path.names() {
        [] => format!("{SCHEME}/"),
        names => names.iter().fold(SCHEME.to_owned(), |iri, name| {
            iri + "/" + &utf8_percent_encode(name.as_str(), ENCODED).to_string()
        }),
    }
}

/// The path that an IRI names, and its fragment with the `#`, or none.
pub fn path_of(iri: &str) -> Option<(StorePath, &str)> {
    let (path, fragment) = cut(iri.strip_prefix(SCHEME)?);
    if !path.starts_with('/') || path.contains('?') {
        return None;
    }
    let names = path[1..].strip_suffix('/').unwrap_or(&path[1..]);
    let decode =
        |name: &str| percent_decode_str(name).decode_utf8().ok().map(|name| name.into_owned());
    let names: Vec<String> = match names {
        "" => Vec::new(),
        names => names.split('/').map(decode).collect::<Option<_>>()?,
    };
    let whole = names.iter().all(|name| !name.is_empty() && !name.contains('/'));
    let path = whole.then(|| format!("/{}", names.join("/")))?;
    Some((path.parse().ok()?, fragment))
}

/// Whether an IRI is one by id, or a link.
pub(in crate::metadata) fn is_by_id(iri: &str) -> bool {
    iri.starts_with(BY_ID)
}

/// The id that an IRI of that form names, and its fragment.
pub(super) fn id_of(iri: &str) -> Option<(ResourceId, &str)> {
    let (id, fragment) = cut(iri.strip_prefix(BY_ID)?);
    Some((parse_id(id)?, fragment))
}

/// An IRI of the form in which links are kept.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(in crate::metadata) struct Link<'a> {
    /// The resource that it leads to.
    pub(in crate::metadata) id: ResourceId,
    /// Its path as it was written, and the fragment.
    rest: &'a str,
}

impl<'a> Link<'a> {
    /// The link that is kept as this IRI.
    pub(in crate::metadata) fn of(iri: &'a str) -> Option<Self> {
        let kept = iri.strip_prefix(BY_ID)?;
        let (id, rest) = kept.split_at(kept.find('/')?);
        Some(Self { id: parse_id(id)?, rest })
    }

    /// The IRI that was written.
    pub(in crate::metadata) fn written(self) -> String {
        format!("{SCHEME}{}", self.rest)
    }

    /// The IRI that was written, without the fragment: in its one spelling, since links are made by [`link`].
    pub(in crate::metadata) fn written_path(self) -> String {
        format!("{SCHEME}{}", cut(self.rest).0)
    }

    /// The fragment with its `#`, or none.
    pub(in crate::metadata) fn fragment(self) -> &'a str {
        cut(self.rest).1
    }

    /// The IRI by id.
    pub(super) fn by_id(self) -> String {
        format!("{BY_ID}{}{}", self.id, self.fragment())
    }
}

/// The form in which a link to the resource that is at this path now is kept.
pub(super) fn link(id: ResourceId, path: &StorePath, fragment: &str) -> String {
    format!("{BY_ID}{id}{}{fragment}", &iri_of(path)[SCHEME.len()..])
}

/// An id as it is written; none that could not be kept in the index.
fn parse_id(text: &str) -> Option<ResourceId> {
    let id: u64 = text.parse().ok().filter(|id| *id < 1 << 62)?;
    (id.to_string() == text).then_some(ResourceId(id))
}

fn cut(iri: &str) -> (&str, &str) {
    iri.split_at(iri.find('#').unwrap_or(iri.len()))
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn path() -> impl Strategy<Value = StorePath> {
        proptest::collection::vec("[^/\0]{1,6}", 0..4)
            .prop_map(|names| format!("/{}", names.join("/")))
            .prop_filter_map("a path", |path| path.parse().ok())
    }

    proptest! {
        #[test]
        fn a_path_round_trips_through_its_iri(path in path(), fragment in "(#[a-z]{0,3})?", id in 0u64..1 << 62) {
            let iri = iri_of(&path) + &fragment;
            prop_assert!(oxiri::Iri::parse(iri.as_str()).is_ok(), "{}", iri);
            prop_assert_eq!(path_of(&iri), Some((path.clone(), fragment.as_str())));
            let kept = link(ResourceId(id), &path, &fragment);
            let parsed = Link::of(&kept).unwrap();
            prop_assert_eq!((parsed.id, parsed.fragment()), (ResourceId(id), fragment.as_str()));
            prop_assert_eq!(parsed.written(), iri);
            prop_assert_eq!(parsed.written_path(), iri_of(&path));
            let by_id = parsed.by_id();
            prop_assert_eq!(id_of(&by_id), Some((ResourceId(id), fragment.as_str())));
        }

        #[test]
        fn any_iri_is_parsed(text in "(cenote:)?(/|id/)?.{0,8}") {
            let _ = (path_of(&text).map(|(path, _)| iri_of(&path)), id_of(&text));
            prop_assert!(Link::of(&text).is_none_or(|link| link.written().starts_with("cenote:/")));
        }
    }

    #[test]
    fn iris_without_a_path_are_ordinary_iris() {
        for iri in [
            "cenote:tag",
            "cenote:attribute/x",
            "cenote:/a?b",
            "cenote:/a//b",
            "cenote:/..",
            "cenote:/a%2Fb",
            "http://x/a",
        ] {
            assert_eq!(path_of(iri), None, "{iri}");
        }
    }
}
