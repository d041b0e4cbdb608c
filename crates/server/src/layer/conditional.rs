//! Conditional requests (RFC 9110, section 13): lists of entity tags, dates, and the order in which the conditions of a read
//! are judged.

use std::time::{Duration, SystemTime};

use axum::http::header::{self, HeaderMap, HeaderName, HeaderValue};
use cenote_store::{ErrorKind, Time};

use crate::problem::{Problem, ProblemKind};

/// A list of entity tags as `If-Match` and `If-None-Match` have it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Tags {
    /// `*`
    Any,
    /// Opaque tags, each with whether it is weak.
    Listed(Vec<(String, bool)>),
}

impl Tags {
    /// The tags in these headers; none if there is no such header.
    pub(crate) fn read(headers: &HeaderMap, name: &HeaderName) -> Result<Option<Self>, Problem> {
        let mut listed = Vec::new();
        for value in headers.get_all(name) {
            let wrong = || Problem::invalid(format!("{name} is not a list of entity tags"));
            let text = value.to_str().map_err(|_| wrong())?.trim();
            if text == "*" {
                return Ok(Some(Self::Any));
            }
            listed.extend(parse(text).ok_or_else(wrong)?);
        }
        Ok(headers.contains_key(name).then_some(Self::Listed(listed)))
    }

    /// Whether one of them is this tag; weak tags count only if `weak_too`.
    pub(crate) fn matches(&self, tag: &str, weak_too: bool) -> bool {
        match self {
            Self::Any => true,
            Self::Listed(tags) => tags.iter().any(|(own, weak)| own == tag && (weak_too || !weak)),
        }
    }
}

fn parse(mut text: &str) -> Option<Vec<(String, bool)>> {
    let mut tags = Vec::new();
    loop {
        text = text.trim_start_matches([' ', '\t', ',']);
        if text.is_empty() {
            return Some(tags);
        }
        let (weak, rest) = text.strip_prefix("W/").map_or((false, text), |rest| (true, rest));
        let (tag, rest) = rest.strip_prefix('"')?.split_once('"')?;
        tags.push((tag.to_owned(), weak));
        text = rest;
    }
}

/// What comes of the conditions of a read.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Verdict {
    /// Answer it; the range only if `ranged`.
    Proceed { ranged: bool },
    /// The client has it.
    NotModified,
}

/// Judges a GET or HEAD in the order of section 13.2.2.
pub(crate) fn judge_read(
    headers: &HeaderMap,
    tag: &str,
    modified: Time,
) -> Result<Verdict, Problem> {
    let date = |name| date(headers, name);
    match Tags::read(headers, &header::IF_MATCH)? {
        Some(tags) if !tags.matches(tag, false) => return Err(failed()),
        None if date(header::IF_UNMODIFIED_SINCE).is_some_and(|since| modified.secs() > since) => {
            return Err(failed());
        }
        _ => {}
    }
    match Tags::read(headers, &header::IF_NONE_MATCH)? {
        Some(tags) if tags.matches(tag, true) => return Ok(Verdict::NotModified),
        None if date(header::IF_MODIFIED_SINCE).is_some_and(|since| modified.secs() <= since) => {
            return Ok(Verdict::NotModified);
        }
        _ => {}
    }
    Ok(Verdict::Proceed { ranged: range_applies(headers, tag, modified) })
}

/// `If-Range`: a strong tag, or a date that is exactly the one we gave.
fn range_applies(headers: &HeaderMap, tag: &str, modified: Time) -> bool {
    let Some(value) = headers.get(header::IF_RANGE) else { return true };
    match value.to_str() {
        Ok(text) if text.starts_with('"') => text.trim() == ["\"", tag, "\""].concat(),
        Ok(text) => parse_date(text) == Some(modified.secs()),
        Err(_) => false,
    }
}

/// The headers that conditions are about.
pub(crate) fn validators(tag: &str, modified: Time) -> HeaderMap {
    let mut headers = HeaderMap::new();
    let mut put = |name, text: Option<String>| {
        if let Some(value) = text.and_then(|text| HeaderValue::try_from(text).ok()) {
            headers.insert(name, value);
        }
    };
    put(header::ETAG, Some(quoted(tag)));
    put(header::LAST_MODIFIED, http_date(modified));
    headers
}

/// The refusal where a condition does not hold.
pub(crate) fn failed() -> Problem {
    let kind = ProblemKind::Store(ErrorKind::Precondition);
    Problem::new(kind, "the condition does not hold").with_hint("read it again, then decide")
}

/// The seconds since 1970 of a header that is a date; a malformed one is ignored, according to section 13.1.3.
pub(crate) fn date(headers: &HeaderMap, name: HeaderName) -> Option<i64> {
    parse_date(headers.get(name)?.to_str().ok()?)
}

fn parse_date(text: &str) -> Option<i64> {
    let date = httpdate::parse_http_date(text.trim()).ok()?;
    let since = date.duration_since(SystemTime::UNIX_EPOCH).ok()?;
    i64::try_from(since.as_secs()).ok()
}

/// An opaque tag as a header has it: quoted, and strong.
pub(crate) fn quoted(tag: &str) -> String {
    ["\"", tag, "\""].concat()
}

/// A time as `Last-Modified` has it; none before 1970 or after 9999.
pub(crate) fn http_date(time: Time) -> Option<String> {
    const YEAR_10000: u64 = 253_402_300_800;
    let secs = u64::try_from(time.secs()).ok().filter(|secs| *secs < YEAR_10000)?;
    Some(httpdate::fmt_http_date(SystemTime::UNIX_EPOCH + Duration::from_secs(secs)))
}

#[cfg(test)]
mod tests {
    use super::*;

    const MODIFIED: Time = Time::from_secs(784_111_777);
    const DATE: &str = "Sun, 06 Nov 1994 08:49:37 GMT";
    const BEFORE: &str = "Sun, 06 Nov 1994 08:49:36 GMT";

    fn headers(lines: &[(&'static str, &str)]) -> HeaderMap {
        let lines = lines.iter().map(|(name, value)| {
            (HeaderName::from_static(name), value.parse().expect("a header value"))
        });
        lines.collect()
    }

    #[test]
    fn reads_follow_the_table_of_precedence() {
        let go = Some(Verdict::Proceed { ranged: true });
        let whole = Some(Verdict::Proceed { ranged: false });
        let same = Some(Verdict::NotModified);
        for (lines, expected) in [
            (&[][..], go),
            (&[("if-match", "\"a\"")], go),
            (&[("if-match", "\"b\", \"a\"")], go),
            (&[("if-match", "*")], go),
            (&[("if-match", "W/\"a\"")], None),
            (&[("if-match", "\"b\"")], None),
            (&[("if-none-match", "\"a\"")], same),
            (&[("if-none-match", "W/\"a\"")], same),
            (&[("if-none-match", "*")], same),
            (&[("if-none-match", "\"b\"")], go),
            (&[("if-modified-since", DATE)], same),
            (&[("if-modified-since", BEFORE)], go),
            (&[("if-modified-since", "yesterday")], go),
            (&[("if-modified-since", DATE), ("if-none-match", "\"b\"")], go),
            (&[("if-unmodified-since", DATE)], go),
            (&[("if-unmodified-since", BEFORE)], None),
            (&[("if-unmodified-since", BEFORE), ("if-match", "\"a\"")], go),
            (&[("if-range", "\"a\"")], go),
            (&[("if-range", "\"b\"")], whole),
            (&[("if-range", "W/\"a\"")], whole),
            (&[("if-range", DATE)], go),
            (&[("if-range", BEFORE)], whole),
        ] {
            let verdict = judge_read(&headers(lines), "a", MODIFIED);
            assert_eq!(verdict.ok(), expected, "{lines:?}");
        }
    }

    #[test]
    fn a_malformed_list_is_refused() {
        for value in ["a", "\"a", "\"a\" b", "W/a", "w/\"a\""] {
            let problem = judge_read(&headers(&[("if-match", value)]), "a", MODIFIED).unwrap_err();
            assert_eq!(problem.status(), 400, "{value}");
        }
    }

    #[test]
    fn dates_that_http_cannot_represent_are_omitted() {
        assert_eq!(http_date(MODIFIED).as_deref(), Some(DATE));
        assert_eq!(http_date(Time::from_secs(-1)), None);
        assert!(http_date(Time::from_nanos(i64::MAX)).is_some());
    }
}
