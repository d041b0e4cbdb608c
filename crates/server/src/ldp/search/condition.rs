//! Conditions: a field, a comparison and a value, without anything between them.

use axum::http::StatusCode;
use cenote_store::Time;
use percent_encoding::percent_decode_str;

use super::row::{Key, Row};
use crate::ldp::request::fault::Fault;

/// The data of each resource.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Field {
    FedoraId,
    Created,
    Modified,
    ContentSize,
    MimeType,
    RdfType,
}

impl Field {
    pub(super) const ALL: [Self; 6] = [
        Self::FedoraId,
        Self::Created,
        Self::Modified,
        Self::ContentSize,
        Self::MimeType,
        Self::RdfType,
    ];

    pub(super) fn name(self) -> &'static str {
        match self {
            Self::FedoraId => "fedora_id",
            Self::Created => "created",
            Self::Modified => "modified",
            Self::ContentSize => "content_size",
            Self::MimeType => "mime_type",
            Self::RdfType => "rdf_type",
        }
    }

    pub(super) fn named(name: &str) -> Result<Self, Fault> {
        let found = Self::ALL.into_iter().find(|field| field.name() == name);
        let names = Self::ALL.map(Self::name).join(", ");
        found.ok_or_else(|| bad(format!("there is no field {name:.64?}; the fields are {names}")))
    }
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Comparison {
    AtMost,
    AtLeast,
    Is,
    Less,
    More,
}

/// Those of two characters first, since their first one is a comparison, too.
const COMPARISONS: [(&str, Comparison); 5] = [
    ("<=", Comparison::AtMost),
    (">=", Comparison::AtLeast),
    ("=", Comparison::Is),
    ("<", Comparison::Less),
    (">", Comparison::More),
];

/// One condition.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Condition {
    field: Field,
    comparison: Comparison,
    value: Key,
}

impl Condition {
    /// Reads a condition; `root` is the address of the root of the request.
    pub(super) fn parse(text: &str, root: &str) -> Result<Self, Fault> {
        let wrong = || bad("a condition is a field, one of = < > <= >=, and a value".to_owned());
        let at = text.find(['<', '>', '=']).ok_or_else(wrong)?;
        let (name, rest) = text.split_at(at);
        let found = COMPARISONS.iter().find_map(|(sign, it)| Some((*it, rest.strip_prefix(sign)?)));
        let (comparison, value) = found.filter(|(_, value)| !value.is_empty()).ok_or_else(wrong)?;
        let field = Field::named(name.trim())?;
        if field == Field::RdfType && comparison != Comparison::Is {
            return Err(bad("rdf_type can be compared only with =".to_owned()));
        }
        Ok(Self { field, comparison, value: value_of(field, value, root)? })
    }

    /// Whether it holds for a resource. What has no value is compared with nothing.
    pub(super) fn holds(&self, row: &Row) -> bool {
        if self.field == Field::RdfType {
            return row.types.iter().any(|class| self.is_like(class));
        }
        let Some(key) = row.key(self.field) else { return false };
        match (self.comparison, &key) {
            (Comparison::Is, Key::Text(text)) => self.is_like(text),
            (Comparison::Is, _) => key == self.value,
            (Comparison::AtMost, _) => key <= self.value,
            (Comparison::AtLeast, _) => key >= self.value,
            (Comparison::Less, _) => key < self.value,
            (Comparison::More, _) => key > self.value,
        }
    }

    fn is_like(&self, text: &str) -> bool {
        matches!(&self.value, Key::Text(pattern) if is_like(text, pattern))
    }

    /// Whether it needs the types of a resource, which its description has.
    pub(super) fn needs_types(&self) -> bool {
        self.field == Field::RdfType
    }

    /// What the path of each resource begins with for which it holds.
    pub(super) fn prefix(&self) -> Option<&str> {
        match (&self.value, self.field, self.comparison) {
            (Key::Text(pattern), Field::FedoraId, Comparison::Is) => pattern.split('*').next(),
            _ => None,
        }
    }
}

fn value_of(field: Field, value: &str, root: &str) -> Result<Key, Fault> {
    match field {
        Field::FedoraId => path_of(value, root).map(Key::Text),
        Field::MimeType => Ok(Key::Text(value.to_owned())),
        Field::RdfType => Ok(Key::Text(class(value))),
        Field::ContentSize => value
            .parse()
            .map(Key::Number)
            .map_err(|_| bad(format!("content_size must be a number, not {value:.64?}"))),
        Field::Created | Field::Modified => time(value)
            .map(Key::Number)
            .ok_or_else(|| bad(format!("not a date as in 2020-05-01T20:05:14Z: {value:.64?}"))),
    }
}

/// An id as an address, with or without its beginning, as a path.
fn path_of(value: &str, root: &str) -> Result<String, Fault> {
    let root = root.trim_end_matches('/');
    let own = value.strip_prefix(root).or_else(|| value.strip_prefix("info:fedora"));
    let path = own.unwrap_or(value).trim_start_matches('/');
    let path = percent_decode_str(path).decode_utf8();
    Ok(format!("/{}", path.map_err(|_| bad("the address is not UTF-8".to_owned()))?))
}

/// A type, whose namespace may be abbreviated.
fn class(value: &str) -> String {
    const PREFIXES: [(&str, &str); 2] = [
        ("ldp:", crate::ldp::representation::vocabulary::LDP),
        ("fedora:", crate::ldp::representation::vocabulary::FEDORA),
    ];
    let named = PREFIXES.iter().find_map(|(prefix, iri)| Some((iri, value.strip_prefix(prefix)?)));
    named.map_or_else(|| value.to_owned(), |(iri, name)| format!("{iri}{name}"))
}

/// A time, or the beginning of a day, in nanoseconds.
fn time(value: &str) -> Option<i64> {
    let time = value.parse::<jiff::Timestamp>().ok().or_else(|| {
        let day = value.parse::<jiff::civil::Date>().ok()?;
        Some(day.to_zoned(jiff::tz::TimeZone::UTC).ok()?.timestamp())
    })?;
    i64::try_from(time.as_nanosecond()).ok()
}

/// The number by which times are compared.
pub(super) fn number(time: Time) -> i64 {
    time.nanos()
}

/// Whether text is like a pattern, in which `*` matches any text.
fn is_like(text: &str, pattern: &str) -> bool {
    let Some((begin, rest)) = pattern.split_once('*') else { return text == pattern };
    let Some(mut text) = text.strip_prefix(begin) else { return false };
    let (middle, end) = rest.rsplit_once('*').unwrap_or(("", rest));
    for part in middle.split('*') {
        let Some(at) = text.find(part) else { return false };
        text = &text[at + part.len()..];
    }
    text.ends_with(end)
}

fn bad(detail: String) -> Fault {
    Fault::new(StatusCode::BAD_REQUEST, detail)
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn a_star_matches_any_text() {
        for (text, pattern, is) in [
            ("abc", "abc", true),
            ("abc", "a*", true),
            ("abc", "*c", true),
            ("abc", "a*c", true),
            ("abc", "a*b*c", true),
            ("ab", "a*b*b", false),
            ("abc", "*", true),
            ("", "*", true),
            ("abc", "b*", false),
            ("a*", "a*", true),
            ("aa", "a*aa", false),
        ] {
            assert_eq!(is_like(text, pattern), is, "{text} {pattern}");
        }
    }

    #[test]
    fn ids_are_read_in_each_form_that_fcrepo_reads() {
        for id in ["a/b c*", "/a/b%20c*", "info:fedora/a/b%20c*", "http://h/rest/a/b%20c*"] {
            let read = Condition::parse(&format!("fedora_id={id}"), "http://h/rest/").unwrap();
            assert_eq!(read.value, Key::Text("/a/b c*".to_owned()), "{id}");
            assert_eq!(read.prefix(), Some("/a/b c"));
        }
    }

    #[test]
    fn invalid_conditions_are_refused() {
        for text in [
            "",
            "fedora_id",
            "fedora_id=",
            "=a",
            "other=a",
            "content_size=a",
            "created>yesterday",
            "rdf_type>a",
            "fedora_id=%ff",
        ] {
            assert!(Condition::parse(text, "http://h/rest/").is_err(), "{text}");
        }
        assert!(Condition::parse("created>=2020-05-01", "").is_ok());
    }

    proptest! {
        #[test]
        fn any_text_is_read_or_refused(text in "(fedora_id|created|content_size|[a-z]{1,3})?[=<>]{0,2}[^\\x00]{0,8}", other in "[a*]{0,6}") {
            if let Ok(condition) = Condition::parse(&text, "http://h/rest/") {
                let _ = condition.is_like(&other);
            }
        }

        #[test]
        fn a_text_matches_itself_with_stars(text in "[ab]{0,6}", at in 0_usize..6) {
            let at = at.min(text.len());
            let with_star = format!("{}*{}", &text[..at], &text[at..]);
            prop_assert!(is_like(&text, &with_star));
        }
    }
}
