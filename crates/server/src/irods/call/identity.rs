//! Authentication: a login returns a token of the store, which expires after the configured time, extended
//! while it is used.

use std::net::IpAddr;

use axum::http::{Extensions, HeaderMap, header};
use axum::response::IntoResponse;
use base64::Engine;
use base64::prelude::BASE64_STANDARD;
use cenote_store::{Caller, Error, NewSession, Store};

use super::answer::Answer;
use super::code::Refusal;
use super::translation::Doing;
use crate::app::App;
use crate::config::Irods;
use crate::layer::{self, Admission, Claim, NoLogin};
use crate::problem::whole_seconds;

/// The token of callers without a password.
const ANONYMOUS: &str = "anonymous";

/// `POST authenticate`: a token for a user and a password.
pub(crate) async fn log_in(app: &App, headers: &HeaderMap, address: IpAddr) -> Answer {
    let (name, password) = basic(headers).ok_or(Refusal::BAD)?;
    if name == ANONYMOUS && password.is_empty() {
        return Ok(ANONYMOUS.into_response());
    }
    let session = session(app.irods());
    let claim = Claim { name: name.clone(), password, address };
    let caller = layer::log_in(app, claim).await?;
    let token = app.blocking(move |store| Ok(token(store, &caller, &name, &session))).await?;
    token.map(IntoResponse::into_response).map_err(unknown)
}

fn session(settings: &Irods) -> NewSession {
    NewSession {
        label: "iRODS login".to_owned(),
        idle: settings.login(),
        longest: settings.longest_login(),
    }
}

fn token(
    store: &Store,
    caller: &Caller,
    name: &str,
    session: &NewSession,
) -> Result<String, Error> {
    store.make_home(caller, name)?;
    store.open_session(caller, session)
}

impl From<NoLogin> for Refusal {
    fn from(reason: NoLogin) -> Self {
        match reason {
            NoLogin::Refused(error) => unknown(error),
            NoLogin::TooSoon(wait) => Self::TooSoon(whole_seconds(wait)),
            NoLogin::Failed(problem) => Self::Failed(problem),
        }
    }
}

/// The caller of a request, identified by its token, and admitted. A missing or malformed token is status 400, an
/// unknown one 401.
pub(crate) async fn caller(
    app: &App,
    headers: &HeaderMap,
    extensions: &Extensions,
) -> Result<Caller, Refusal> {
    let caller = caller_of(app, headers).await?;
    Admission::of(extensions)?.enter(&caller)?;
    Ok(caller)
}

async fn caller_of(app: &App, headers: &HeaderMap) -> Result<Caller, Refusal> {
    let shown = headers.get(header::AUTHORIZATION).and_then(|value| value.to_str().ok());
    let token = shown.and_then(|text| text.strip_prefix("Bearer ")).ok_or(Refusal::BAD)?;
    let token = token.trim().to_owned();
    let known = app.blocking(move |store| {
        Ok(match token.as_str() {
            ANONYMOUS => store.anonymous(),
            token => store.authenticate_token(token),
        })
    });
    known.await?.map_err(unknown)
}

/// An unknown caller is a status without a code; other failures are unchanged.
fn unknown(error: Error) -> Refusal {
    Doing::LogIn.refusal(error)
}

fn basic(headers: &HeaderMap) -> Option<(String, String)> {
    let shown = headers.get(header::AUTHORIZATION)?.to_str().ok()?.strip_prefix("Basic ")?;
    let pair = String::from_utf8(BASE64_STANDARD.decode(shown.trim()).ok()?).ok()?;
    let (name, password) = pair.split_once(':')?;
    Some((name.to_owned(), password.to_owned()))
}
