//! Conditional requests in this opening: of bytes on the clock of the content, of descriptions on theirs, of what
//! covers several on a digest of the answer.

use axum::http::StatusCode;
use axum::http::header::{self, HeaderMap, HeaderName};
use axum::response::{IntoResponse, Response};
use cenote_store::{Conditions, Graph, Stat, Time, links_tag};
use serde::Serialize;

use crate::layer::conditional::{Tags, failed, quoted};
pub(crate) use crate::layer::conditional::{Verdict, judge_read, validators};
use crate::problem::Problem;

/// Answers a read of a description, as it is shown to the caller, unless they have it: with its tag and time. Where links are
/// shown, which change with what they lead to, the tag has a digest of them besides, and there is no time.
pub(crate) fn answer_description(
    headers: &HeaderMap,
    stat: &Stat,
    shown: &Graph,
    body: impl IntoResponse,
) -> Result<Response, Problem> {
    let (tag, time) = (stat.description_tag(), stat.resource.described().time);
    if let Some(links) = links_tag(shown) {
        let tag = format!("{tag}{SHOWN}{}", hex::encode(links));
        return answer_tagged(headers, &tag, body);
    }
    let described = validators(&tag, time);
    Ok(match judge_read(headers, &tag, time)? {
        Verdict::NotModified => (StatusCode::NOT_MODIFIED, described).into_response(),
        Verdict::Proceed { .. } => (described, body).into_response(),
    })
}

/// Answers a read with JSON that covers all clocks at once, several resources or the caller's rights. No clock covers
/// all of that, so its tag is a digest of the answer, and it has no time.
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

/// The tag of a description without the digest of what was shown: a change of it depends on nothing else.
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

#[cfg(test)]
mod tests {
    use axum::http::HeaderName;

    use super::*;

    fn headers(lines: &[(&'static str, &str)]) -> HeaderMap {
        let lines = lines.iter().map(|(name, value)| {
            (HeaderName::from_static(name), value.parse().expect("a header value"))
        });
        lines.collect()
    }

    #[test]
    fn the_condition_of_a_write_is_one_tag_or_absence() {
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
}
