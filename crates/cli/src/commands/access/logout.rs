//! `cenote logout`: the end of a login.

use super::login::{client, logins, revoke, server};
use crate::error::{CliError, Kind, Result};
use crate::session::Session;

/// Log out of a server: revoke the token of `cenote login`, and forget it.
#[derive(Debug, clap::Args)]
pub(crate) struct Args {
    /// The server's address [default: the store of the settings]
    url: Option<String>,
}

impl Args {
    pub(crate) async fn run(self, session: &Session) -> Result<()> {
        let url = server(session, self.url.as_deref())?;
        let mut logins = logins(session)?;
        let login = logins.at(&url).cloned().ok_or_else(|| {
            CliError::new(Kind::NotFound, format!("you are not logged in to {url}"))
        })?;
        let revoked = revoke(&client(session, &url)?, &login).await;
        logins.forget(&url)?;
        match revoked {
            // It has already expired, or was revoked by other means.
            Ok(()) => {}
            Err(error) if matches!(error.kind(), Kind::Unauthenticated | Kind::NotFound) => {}
            Err(error) => session.output.warn(
                &format!("the token {} was forgotten, but not revoked: {error}", login.id),
                "revoke it later: cenote token rm ID",
            ),
        }
        let user = &login.user;
        let line = serde_json::json!({ "action": "logout", "store": url, "user": user });
        session.output.done(&line, |_| format!("logged out of {url} as {user}"))
    }
}
