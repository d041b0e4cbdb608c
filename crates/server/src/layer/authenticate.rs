//! From a header to a [`Caller`]. The store verifies credentials; they are never logged.

use std::net::IpAddr;
use std::sync::Arc;

use axum::extract::{Request, State};
use axum::http::{HeaderMap, header};
use axum::middleware::Next;
use axum::response::{IntoResponse, Response};
use base64::Engine;
use base64::prelude::BASE64_STANDARD;
use cenote_store::{Caller, ErrorKind, Store};

use super::admission::Admission;
use super::caller::Authenticated;
use super::local::LocalCaller;
use super::{Claim, log_in, peer, ticket};
use crate::app::App;
use crate::front::{is_browsed, prompt_for_login};
use crate::problem::{Problem, ProblemKind};

/// The caller's name, passed to the log with the answer.
#[derive(Debug, Clone)]
pub(crate) struct User(Arc<str>);

impl User {
    pub(crate) fn as_str(&self) -> &str {
        &self.0
    }
}

/// The credential of a request. Not `Debug`, so that it cannot be logged by accident.
enum Credentials {
    Nothing,
    /// With the address that the request comes from.
    Password(Claim),
    Token(String),
    Local(LocalCaller),
}

/// Identifies the caller.
pub(crate) async fn authenticate(
    State(app): State<App>,
    mut request: Request,
    next: Next,
) -> Response {
    let browsed = is_browsed(&request);
    let ticket = ticket::take(&mut request);
    let caller = match identify(&app, &mut request).await {
        Ok(caller) => caller,
        Err(problem) => return problem.into_response(),
    };
    let admission = Admission::of(request.extensions());
    if let Err(problem) = admission.and_then(|admission| admission.enter(&caller)) {
        return problem.into_response();
    }
    #[expect(clippy::disallowed_methods, reason = "whether logging in may help")]
    let browsed = browsed && caller.is_anonymous();
    let user = User(caller.name().into());
    request.extensions_mut().insert(Authenticated { caller, ticket });
    let mut response = next.run(request).await;
    if browsed {
        response = prompt_for_login(response);
    }
    response.extensions_mut().insert(user);
    response
}

async fn identify(app: &App, request: &mut Request) -> Result<Caller, Problem> {
    let local = request.extensions_mut().remove();
    let from = peer(request.extensions());
    match identified(app, local, (request.headers(), from)).await? {
        Some(caller) => Ok(caller),
        None => app.quick(Store::anonymous),
    }
}

/// The caller identified by a credential; `None` without one.
pub(crate) async fn identified(
    app: &App,
    local: Option<LocalCaller>,
    (headers, from): (&HeaderMap, IpAddr),
) -> Result<Option<Caller>, Problem> {
    let shown = match local {
        Some(local) => Credentials::Local(local),
        None => credentials(headers, from)?,
    };
    match shown {
        Credentials::Nothing => Ok(None),
        Credentials::Password(claim) => Ok(Some(log_in(app, claim).await?)),
        Credentials::Token(token) => app.quick(|store| store.authenticate_token(&token)).map(Some),
        Credentials::Local(caller) => Ok(Some(caller.into_caller())),
    }
}

fn credentials(headers: &HeaderMap, from: IpAddr) -> Result<Credentials, Problem> {
    let Some(value) = headers.get(header::AUTHORIZATION) else { return Ok(Credentials::Nothing) };
    let shown = value.to_str().ok().and_then(|text| text.split_once(' '));
    match shown.map(|(scheme, shown)| (scheme.to_ascii_lowercase(), shown.trim())) {
        Some((scheme, token)) if scheme == "bearer" => Ok(Credentials::Token(token.to_owned())),
        Some((scheme, pair)) if scheme == "basic" => basic(pair, from).ok_or_else(unreadable),
        _ => Err(unreadable()),
    }
}

fn basic(pair: &str, address: IpAddr) -> Option<Credentials> {
    let pair = String::from_utf8(BASE64_STANDARD.decode(pair).ok()?).ok()?;
    let (name, password) = pair.split_once(':')?;
    let (name, password) = (name.to_owned(), password.to_owned());
    Some(Credentials::Password(Claim { name, password, address }))
}

fn unreadable() -> Problem {
    let kind = ProblemKind::Store(ErrorKind::Unauthenticated);
    Problem::new(kind, "the Authorization header is neither Basic nor Bearer")
        .with_hint("send a user and a password as Basic, or a token as Bearer")
}
