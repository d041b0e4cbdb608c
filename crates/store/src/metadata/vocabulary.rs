//! The table of views: which statement each opening's words are.
//!
//! | opening | its word | predicate | object | unit |
//! |---|---|---|---|---|
//! | iRODS | AVU (a, v, u) | [`predicate_of`]`(a)` | plain literal v | u, none if empty |
//! | native | attribute | the same | the same | the same |
//! | native | tag t | `cenote:tag` | plain literal t | none |
//! | DNAnexus | property k = v | [`predicate_of`]`(k)` | plain literal v | none |
//! | DNAnexus | tag t | `cenote:tag` | plain literal t | none |
//! | mount | xattr `user.`k | [`predicate_of`]`(k)` | plain literal, or `xsd:base64Binary` for what is not UTF-8 | none |
//! | LDP | triple (s, p, o) | p | o | none |
//!
//! An attribute view shows every statement about the resource itself, whoever made it: the
//! attribute is [`attribute_of`] the predicate, the value the text of the object. Where a view has
//! one value for an attribute and there are several, it shows the first in canonical order,
//! and replaces all of them.

use percent_encoding::{AsciiSet, CONTROLS, percent_decode_str, utf8_percent_encode};

/// Names that are no IRIs live below this.
const ATTRIBUTES: &str = "cenote:attribute/";

/// What an IRI may not contain (RFC 3987), and `%`, so that decoding is exact.
const ENCODED: &AsciiSet = &CONTROLS
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

/// The predicate that stands for an attribute: an absolute IRI as it is, any other name below one
/// reserved prefix.
pub fn predicate_of(attribute: &str) -> String {
    match is_iri(attribute) && !attribute.starts_with(ATTRIBUTES) {
        true => attribute.to_owned(),
        false => format!("{ATTRIBUTES}{}", utf8_percent_encode(attribute, ENCODED)),
    }
}

/// The attribute that a predicate is shown as: the inverse of [`predicate_of`].
pub fn attribute_of(predicate: &str) -> String {
    match predicate.strip_prefix(ATTRIBUTES) {
        Some(name) => percent_decode_str(name).decode_utf8_lossy().into_owned(),
        None => predicate.to_owned(),
    }
}

/// Whether text is an absolute IRI of one of the schemes that vocabularies use. `a:b` is a
/// fine name for an attribute, so an unknown scheme does not make an IRI.
fn is_iri(text: &str) -> bool {
    const SCHEMES: [&str; 8] = ["http", "https", "urn", "info", "tag", "doi", "ark", "cenote"];
    let scheme = text.split_once(':').map(|(scheme, _)| scheme);
    scheme.is_some_and(|scheme| SCHEMES.contains(&scheme))
        && text.chars().all(|c| !c.is_control() && !" \"<>\\^`{|}".contains(c))
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn iris_are_predicates_as_they_are() {
        let title = "http://purl.org/dc/terms/title";
        assert_eq!(predicate_of(title), title);
        assert_eq!(predicate_of("a:b c"), "cenote:attribute/a:b%20c");
    }

    proptest! {
        #[test]
        fn what_is_shown_is_what_was_set(name in "\\PC*|cenote:attribute/[a-z%]*|https?:[a-z/ %]*") {
            prop_assert_eq!(attribute_of(&predicate_of(&name)), name);
        }

        #[test]
        fn distinct_names_stay_distinct(a in "[a-z%20: ]{0,6}", b in "[a-z%20: ]{0,6}") {
            prop_assert_eq!(predicate_of(&a) == predicate_of(&b), a == b);
        }
    }
}
