//! Conditional requests (RFC 9110, section 13): of bytes on the clock of the content, of descriptions on theirs, of what
//! tells of several on a digest of the answer.

use std::time::{Duration, SystemTime};

use axum::http::StatusCode;
use axum::http::header::{self, HeaderMap, HeaderName, HeaderValue};
use axum::response::{IntoResponse, Response};
use cenote_store::{Conditions, ErrorKind, Graph, Stat, Time, description_tag, shows_links};
use serde::Serialize;

use crate::native::json::quoted;
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

    fn matches(&self, tag: &str, weak_too: bool) -> bool {
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
        Ok(text) if text.starts_with('"') => text.trim() == format!("\"{tag}\""),
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

/// Answers a read of a description, as it is shown to the caller, unless they have it: with its tag and time. Where links are
/// shown, which change with what they lead to, the tag has a digest of the description besides, and there is no time.
pub(crate) fn answer_description(
    headers: &HeaderMap,
    stat: &Stat,
    shown: &Graph,
    body: impl IntoResponse,
) -> Result<Response, Problem> {
    let (tag, time) = (stat.description_tag(), stat.resource.described().time);
    if shows_links(shown) {
        let digest = description_tag(shown).unwrap_or_default();
        let tag = format!("{tag}{SHOWN}{}", hex::encode(&digest[..8]));
        return answer_tagged(headers, &tag, body);
    }
    let described = validators(&tag, time);
    Ok(match judge_read(headers, &tag, time)? {
        Verdict::NotModified => (StatusCode::NOT_MODIFIED, described).into_response(),
        Verdict::Proceed { .. } => (described, body).into_response(),
    })
}

/// Answers a read with JSON that tells of all clocks at once, of several resources or of what the caller may do. No clock
/// stands for all of that, so its tag is a digest of the answer, and it has no time.
pub(crate) fn answer_digested(
    headers: &HeaderMap,
    body: &impl Serialize,
) -> Result<Response, Problem> {
    let body = serde_json::to_vec(body).expect("the answer is JSON");
    let digest = ring::digest::digest(&ring::digest::SHA256, &body);
    let tag = hex::encode(&digest.as_ref()[..16]);
    answer_tagged(headers, &tag, ([(header::CONTENT_TYPE, "application/json")], body))
}

/// Between the tag of a description and the digest of what is shown of it.
const SHOWN: char = '~';

/// The tag of a description without the digest of what was shown: a change of it rests on nothing else.
fn without_digest(tag: String) -> String {
    match tag.split_once(SHOWN) {
        Some((own, _)) if own.starts_with('d') => own.to_owned(),
        _ => tag,
    }
}

/// Answers a read that has a tag and no time, unless the caller has it.
fn answer_tagged(
    headers: &HeaderMap,
    tag: &str,
    body: impl IntoResponse,
) -> Result<Response, Problem> {
    let etag = [(header::ETAG, quoted(tag))];
    // Without a time that anything is compared with, the conditions on times do not apply.
    let mut on_tags = headers.clone();
    for name in [header::IF_MODIFIED_SINCE, header::IF_UNMODIFIED_SINCE] {
        on_tags.remove(name);
    }
    Ok(match judge_read(&on_tags, tag, Time::from_secs(0))? {
        Verdict::NotModified => (StatusCode::NOT_MODIFIED, etag).into_response(),
        Verdict::Proceed { .. } => (etag, body).into_response(),
    })
}

/// The conditions of a write. One tag can be named, because the store checks it in the
/// commit itself.
pub(crate) fn write_conditions(headers: &HeaderMap) -> Result<Conditions, Problem> {
    let if_match = match Tags::read(headers, &header::IF_MATCH)? {
        None => None,
        Some(Tags::Any) => Some("*".to_owned()),
        Some(Tags::Listed(tags)) => Some(only(tags)?),
    };
    let if_absent = match Tags::read(headers, &header::IF_NONE_MATCH)? {
        None => false,
        Some(Tags::Any) => true,
        Some(Tags::Listed(_)) => {
            return Err(Problem::invalid("If-None-Match of a write can only be `*`"));
        }
    };
    Ok(Conditions { if_match, if_absent })
}

fn only(mut tags: Vec<(String, bool)>) -> Result<String, Problem> {
    match tags.pop() {
        Some((_, true)) => Err(failed()),
        Some((tag, false)) if tags.is_empty() => Ok(without_digest(tag)),
        _ => Err(one_tag(&header::IF_MATCH)),
    }
}

fn one_tag(name: &HeaderName) -> Problem {
    Problem::invalid(format!("{name} of a write names exactly one entity tag"))
        .with_hint("send the ETag, or the state, of what you have read")
}

fn failed() -> Problem {
    let kind = ProblemKind::Store(ErrorKind::Precondition);
    Problem::new(kind, "it is not as the condition says").with_hint("read it again, then decide")
}

fn date(headers: &HeaderMap, name: HeaderName) -> Option<i64> {
    parse_date(headers.get(name)?.to_str().ok()?)
}

fn parse_date(text: &str) -> Option<i64> {
    let date = httpdate::parse_http_date(text.trim()).ok()?;
    let since = date.duration_since(SystemTime::UNIX_EPOCH).ok()?;
    i64::try_from(since.as_secs()).ok()
}

/// A time as `Last-Modified` has it; none before 1970 or after 9999.
fn http_date(time: Time) -> Option<String> {
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
    fn a_list_that_is_none_is_refused() {
        for value in ["a", "\"a", "\"a\" b", "W/a", "w/\"a\""] {
            let problem = judge_read(&headers(&[("if-match", value)]), "a", MODIFIED).unwrap_err();
            assert_eq!(problem.status(), 400, "{value}");
        }
    }

    #[test]
    fn writes_name_one_tag_or_absence() {
        let conditions = |lines: &[(&'static str, &str)]| write_conditions(&headers(lines));
        assert_eq!(conditions(&[]).unwrap(), Conditions::default());
        assert_eq!(conditions(&[("if-match", "\"a\"")]).unwrap().if_match.as_deref(), Some("a"));
        assert_eq!(conditions(&[("if-match", "*")]).unwrap().if_match.as_deref(), Some("*"));
        assert!(conditions(&[("if-none-match", "*")]).unwrap().if_absent);
        for (lines, status) in [
            (("if-match", "\"a\", \"b\""), 400),
            (("if-match", ""), 400),
            (("if-match", "W/\"a\""), 412),
            (("if-none-match", "\"a\""), 400),
        ] {
            assert_eq!(conditions(&[lines]).unwrap_err().status(), status, "{lines:?}");
        }
    }

    #[test]
    fn dates_that_http_cannot_say_are_left_out() {
        assert_eq!(http_date(MODIFIED).as_deref(), Some(DATE));
        assert_eq!(http_date(Time::from_secs(-1)), None);
        assert!(http_date(Time::from_nanos(i64::MAX)).is_some());
    }
}
