//! Logins by password, and their end: the calls of a server of authorizations, which this server is, too.
//!
//! A login is a session of the store, which ends with the password. Its duration is set by the client, up to a month.

use std::net::IpAddr;
use std::time::Duration;

use cenote_store::{ErrorKind, NewSession};
use serde_json::{Value, json};

use super::call::endpoint::token;
use super::call::fault::{ErrorType, Fault};
use super::call::input::Input;
use super::call::question::{Call, millis};
use crate::app::App;
use crate::layer::{Claim, NoLogin, log_in};

/// The maximum and default duration of a login.
const LONGEST: Duration = Duration::from_secs(30 * 24 * 3_600);

/// `newAuthToken`: a token for a name and a password.
pub(crate) async fn begin(app: &App, input: &Value, from: IpAddr) -> Result<Value, Fault> {
    let input = Input::of(input)?;
    let name = input.need("username")?;
    let name = name.strip_prefix("user-").unwrap_or(name).to_owned();
    let claim = Claim { name, password: input.need("password")?.to_owned(), address: from };
    let caller = log_in(app, claim).await.map_err(refused)?;
    let longest = lifetime(app, input)?;
    let session = NewSession { label: "dx".to_owned(), idle: longest, longest };
    let token = app.blocking(move |store| store.open_session(&caller, &session)).await?;
    Ok(json!({ "access_token": token, "token_type": "Bearer" }))
}

/// Until the moment `expires`, in milliseconds since 1970.
fn lifetime(app: &App, input: Input<'_>) -> Result<Duration, Fault> {
    let Some(expires) = input.integer("expires")? else { return Ok(LONGEST) };
    let left = u64::try_from(expires.saturating_sub(millis(app.store().now()))).unwrap_or(0);
    match left {
        0 => Err(Fault::input("\"expires\" is a moment in the past")),
        left => Ok(Duration::from_millis(left).min(LONGEST)),
    }
}

fn refused(why: NoLogin) -> Fault {
    match why {
        NoLogin::Refused(error) if error.kind() == ErrorKind::Unauthenticated => {
            Fault::new(ErrorType::UsernameOrPassword, "the name or the password is wrong")
        }
        NoLogin::Refused(error) => error.into(),
        NoLogin::TooSoon(wait) => {
            Fault::too_soon("too many wrong passwords: wait", wait.as_secs().max(1))
        }
        NoLogin::Failed(problem) => problem.into(),
    }
}

/// `destroyAuthToken`: ends the token of the call, which the input names by its SHA-256.
pub(crate) fn end(call: &Call) -> Result<Value, Fault> {
    let signature = call.input()?.need("tokenSignature")?;
    let own = token(&call.headers)?;
    let digest = ring::digest::digest(&ring::digest::SHA256, own.as_bytes());
    if !signature.eq_ignore_ascii_case(&hex::encode(digest)) {
        return Err(Fault::missing(
            "a call ends its own token only: use `cenote token rm` for others",
        ));
    }
    call.store().end_token(own)?;
    Ok(json!({ "tokenSignature": signature }))
}
