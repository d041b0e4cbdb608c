//! Conditional requests in this opening.
//!
//! The tag of a graph is that of the state, whatever part of it a request prefers; that of bytes is their digest. A condition is judged
//! on what was read, and the change that follows depends on the description, or the content, being the same still.

use std::borrow::Cow;

use axum::http::header::{self, HeaderMap, HeaderValue};
use cenote_store::{Conditions, Time};

use crate::layer::conditional::{Tags, Verdict, date, judge_read};
use crate::ldp::request::call::Call;
use crate::ldp::request::fault::Fault;
use crate::ldp::request::headers::IF_STATE_TOKEN;

/// Puts tags that come without quotes into quotes.
pub(crate) fn quote_tags(headers: &mut HeaderMap) {
    for name in [header::IF_MATCH, header::IF_NONE_MATCH] {
        let Some(text) = headers.get(&name).and_then(|value| value.to_str().ok()) else { continue };
        let quoted = text.split(',').map(|tag| match tag.trim() {
            tag if tag == "*" || tag.contains('"') => tag.to_owned(),
            tag => format!("\"{tag}\""),
        });
        if let Ok(value) = HeaderValue::try_from(quoted.collect::<Vec<_>>().join(", ")) {
            headers.insert(name, value);
        }
    }
}

/// Judges a read. Without a tag, conditions on tags are never met, as LAKEsuperior has it for graphs.
pub(crate) fn judge(call: &Call, tag: Option<&str>, changed: Time) -> Result<Verdict, Fault> {
    let has = |name| call.headers.contains_key(name);
    let unmodified = date(&call.headers, header::IF_UNMODIFIED_SINCE);
    let is_on_tags = has(header::IF_MATCH) || has(header::IF_NONE_MATCH);
    if !is_on_tags && unmodified.is_some_and(|since| changed.secs() > since) {
        return match call.dialect.modified.is_redirection() {
            true => Ok(Verdict::NotModified),
            false => Err(Fault::condition()),
        };
    }
    let mut headers = Cow::Borrowed(&call.headers);
    if is_on_tags && call.dialect.tags_void_times {
        headers.to_mut().remove(header::IF_MODIFIED_SINCE);
        headers.to_mut().remove(header::IF_UNMODIFIED_SINCE);
    }
    match tag {
        Some(tag) => Ok(judge_read(&headers, tag, changed)?),
        None if has(header::IF_MATCH) => Err(Fault::condition()),
        None if is_on_tags => Ok(Verdict::Proceed { ranged: true }),
        None => Ok(judge_read(&headers, "", changed)?),
    }
}

/// The existing resource, for the conditions of a change.
#[derive(Debug, Clone)]
pub(crate) struct State {
    /// The tag that clients know; none if it has none.
    pub(crate) tag: Option<String>,
    /// The tag that the store checks in the commit.
    pub(crate) kept: String,
    pub(crate) changed: Time,
}

/// The conditions of a change of an existing resource, if any: checked now, and to be checked again by the store.
pub(crate) fn of_change(call: &Call, state: Option<&State>) -> Result<Conditions, Fault> {
    let token = call.headers.get(IF_STATE_TOKEN).filter(|_| call.dialect.has_state_tokens);
    if let Some((token, state)) = token.zip(state) {
        let is_met = state.tag.as_ref().is_some_and(|tag| token.as_bytes() == tag.as_bytes());
        let conditions = Conditions { if_match: Some(state.kept.clone()), if_absent: false };
        return if is_met { Ok(conditions) } else { Err(Fault::condition()) };
    }
    let if_match = Tags::read(&call.headers, &header::IF_MATCH)?;
    let if_none = Tags::read(&call.headers, &header::IF_NONE_MATCH)?;
    if let Some(tags) = if_match {
        let state = state.ok_or_else(Fault::condition)?;
        let is_met = match &tags {
            Tags::Any => true,
            listed => state.tag.as_ref().is_some_and(|tag| listed.matches(tag, false)),
        };
        let conditions = Conditions { if_match: Some(state.kept.clone()), if_absent: false };
        return if is_met { Ok(conditions) } else { Err(Fault::condition()) };
    }
    if let Some(tags) = if_none {
        let is_there = |state: &State| match (&tags, &state.tag) {
            (Tags::Any, _) => true,
            (listed, Some(tag)) => listed.matches(tag, true),
            _ => false,
        };
        let absent = Conditions { if_match: None, if_absent: matches!(tags, Tags::Any) };
        return match state.is_some_and(is_there) {
            true => Err(Fault::condition()),
            false => Ok(absent),
        };
    }
    let unmodified = date(&call.headers, header::IF_UNMODIFIED_SINCE);
    match unmodified.zip(state).is_some_and(|(since, state)| state.changed.secs() > since) {
        true => Err(Fault::condition()),
        false => Ok(Conditions::default()),
    }
}
