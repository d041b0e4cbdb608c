//! The table of views: which statement each opening's words are.
//!
//! | opening | its word | predicate | object | unit |
//! |---|---|---|---|---|
//! | iRODS | AVU (a, v, u) | [`predicate_of`]`(a)` | plain literal v | u, none if empty |
//! | native | attribute | the same | the same | the same |
//! | native | tag t | `cenote:tag` | plain literal t | none |
//! | DNAnexus | property k = v | [`predicate_of`]`(k)` | plain literal v | none |
//! | DNAnexus | tag t | `cenote:tag` | plain literal t | none |
//! | mount, native | xattr `user.`k | [`predicate_of`]`(k)` | plain literal, or `xsd:base64Binary` for other bytes: see `xattr` | none |
//! | LDP | triple (s, p, o) | p | o | none |
//!
//! An attribute view shows every statement about the resource itself, whoever made it: the
//! attribute is [`attribute_of`] the predicate, the value the text of the object. Where a view has
//! one value for an attribute and there are several, it shows the first in canonical order,
//! and replaces all of them.
//!
//! Invariant: whatever a predicate is, [`predicates_of`] the attribute that shows it contains it, so that
//! statements can be changed, removed and searched under the name under which they are shown.

use std::collections::BTreeSet;

use oxiri::Iri;
use percent_encoding::{AsciiSet, CONTROLS, percent_decode_str, utf8_percent_encode};

/// Names that are no IRIs live below this.
const ATTRIBUTES: &str = "cenote:attribute/";

/// What the path of an IRI may not contain (RFC 3987), and `%`, so that decoding is exact.
const ENCODED: &AsciiSet = &ENCODED_BEFORE.add(b'#').add(b'[').add(b']');

/// The same as earlier versions wrote it: without `#`, `[` and `]`.
const ENCODED_BEFORE: &AsciiSet = &CONTROLS
    .add(b' ')
    .add(b'"')
    .add(b'%')
    .add(b'<')
    .add(b'>')
    .add(b'\\')
    .add(b'^')
    .add(b'`')
    .add(b'{')
    .add(b'|')
    .add(b'}');

/// The predicate under which an attribute is written: an absolute IRI of any scheme as it is, any other
/// name below one reserved prefix.
pub fn predicate_of(attribute: &str) -> String {
    match is_iri(attribute) && !attribute.starts_with(ATTRIBUTES) {
        true => attribute.to_owned(),
        false => reserved(attribute, ENCODED),
    }
}

/// The attribute that a predicate is shown as. A predicate below the reserved prefix that
/// [`predicate_of`] would never have spelled so is shown whole.
pub fn attribute_of(predicate: &str) -> String {
    decoded(predicate).unwrap_or_else(|| predicate.to_owned())
}

/// Every predicate that is shown as this attribute, in whatever way it was written: at most three.
pub(super) fn predicates_of(attribute: &str) -> BTreeSet<String> {
    let itself = decoded(attribute).is_none().then(|| attribute.to_owned());
    let reserved = [ENCODED, ENCODED_BEFORE].map(|set| reserved(attribute, set));
    itself.into_iter().chain(reserved).collect()
}

fn reserved(name: &str, encoded: &'static AsciiSet) -> String {
    format!("{ATTRIBUTES}{}", utf8_percent_encode(name, encoded))
}

/// The name in a predicate below the reserved prefix, if [`reserved`] returns this predicate for it.
fn decoded(predicate: &str) -> Option<String> {
    let encoded = predicate.strip_prefix(ATTRIBUTES).filter(|encoded| !encoded.is_empty())?;
    let name = percent_decode_str(encoded).decode_utf8().ok()?;
    let is_spelled_so = |set| reserved(&name, set) == predicate;
    [ENCODED, ENCODED_BEFORE].into_iter().any(is_spelled_so).then(|| name.into_owned())
}

/// Whether text is an absolute IRI that is more than its scheme, and stays as it is when it is resolved.
pub(super) fn is_iri(text: &str) -> bool {
    let is_stable = |iri: Iri<&str>| {
        let mut segments = iri.path().split('/');
        text.len() > iri.scheme().len() + 1 && segments.all(|name| name != "." && name != "..")
    };
    Iri::parse(text).is_ok_and(is_stable)
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn iris_are_used_as_predicates_unchanged() {
        for iri in ["http://purl.org/dc/terms/title", "ftp://h/a%41", "mailto:a@b", "dc:title"] {
            assert_eq!(predicate_of(iri), iri);
        }
        for (name, predicate) in [
            ("a:b c", "cenote:attribute/a:b%20c"),
            ("12:30", "cenote:attribute/12:30"),
            ("http://x/%", "cenote:attribute/http://x/%25"),
            ("http://x/../a", "cenote:attribute/http://x/../a"),
            ("a[0]#", "cenote:attribute/a%5B0%5D%23"),
            ("note:", "cenote:attribute/note:"),
            ("cenote:attribute/x", "cenote:attribute/cenote:attribute/x"),
        ] {
            assert_eq!(predicate_of(name), predicate);
        }
    }

    #[test]
    fn a_reserved_predicate_in_another_spelling_is_shown_in_full() {
        assert_eq!(attribute_of("cenote:attribute/a%20b"), "a b");
        assert_eq!(attribute_of("cenote:attribute/a[0]"), "a[0]", "as it was spelled before");
        for odd in ["cenote:attribute/%41", "cenote:attribute/%FF", "cenote:attribute/", "x"] {
            assert_eq!(attribute_of(odd), odd);
        }
    }

    /// Any text, and with luck an IRI, a reserved predicate, and percent signs of all kinds.
    fn text() -> impl Strategy<Value = String> {
        let prefix = prop_oneof!["", "[a-z]{1,4}:", "https?://", "(cenote:attribute/){1,2}"];
        let rest = prop_oneof!["\\PC{0,6}", ".{0,4}", "(%[0-9a-fA-F]{2}|%|[a-c :#\\[\\]]){0,4}"];
        (prefix, rest).prop_map(|(prefix, rest)| prefix + &rest)
    }

    proptest! {
        #[test]
        fn names_round_trip(name in text()) {
            prop_assert_eq!(attribute_of(&predicate_of(&name)), if name.is_empty() { ATTRIBUTES } else { &name });
        }

        #[test]
        fn distinct_names_stay_distinct(a in "[a-z%20: ]{0,6}", b in "[a-z%20: ]{0,6}") {
            prop_assert_eq!(predicate_of(&a) == predicate_of(&b), a == b);
        }

        #[test]
        fn every_displayed_name_can_be_searched_for(predicate in text(), other in text()) {
            // No statement has an empty predicate, and no attribute an empty name.
            prop_assume!(!other.is_empty());
            let attribute = attribute_of(&predicate);
            prop_assert!(predicates_of(&attribute).contains(&predicate));
            let is_shown_so = predicates_of(&attribute_of(&other)).contains(&predicate);
            prop_assert_eq!(is_shown_so, attribute_of(&other) == attribute);
            prop_assert!(predicates_of(&other).contains(&predicate_of(&other)));
        }
    }
}
