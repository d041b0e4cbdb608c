//! `cenote login`: a token for this machine, which later commands use.

use std::path::Path;

use cenote_client::settings::{Login, Logins, is_in_clear};
use cenote_client::{Client, Credential, HttpTransport, NewToken, Record};
use serde_json::Value;

use crate::connect::not_an_address;
use crate::duration::Duration;
use crate::error::{CliError, Kind, Result};
use crate::secret;
use crate::session::Session;

/// What a login allows besides working with resources, as far as the user's role does.
const SCOPES: [&str; 3] = ["tokens", "account", "admin"];

/// Log in to a server, and keep a token for later commands.
///
/// The user is that of --user or of the settings, or is prompted for. The password is used once, to create a token. The token is kept in `logins.toml` beside the configuration file,
/// which only you can read, and is used for this server from now on, unless a user or a token is given in another way.
/// The server of the last login is the default store. `cenote logout` revokes the token.
#[derive(Debug, clap::Args)]
pub(crate) struct Args {
    /// The server's address [default: the store of the settings]
    url: Option<String>,
    /// How long the login is valid, such as 12h or 30d
    #[arg(long, value_name = "TIME", default_value = "30d")]
    expires: Duration,
    /// Read the password from standard input instead of prompting for it
    #[arg(long)]
    password_stdin: bool,
}

impl Args {
    pub(crate) async fn run(self, session: &Session) -> Result<()> {
        let url = server(session, self.url.as_deref())?;
        let user = user(session)?;
        warn_in_clear(session, &url);
        let password = password(session, &url, &user, self.password_stdin)?;
        let client = client(session, &url)?;
        let credential = Credential::Password { user: user.clone(), password };
        let made = client.clone().with_credential(&credential)?.add_token(&self.token()).await?;
        let login = Login { user, id: field(&made, "id"), token: field(&made, "token") };
        let earlier = logins(session)?.keep(&url, login.clone())?;
        if let Some(earlier) = earlier {
            // An earlier token may have expired already, and is useless to anyone without the file.
            let _ = revoke(&client, &earlier).await;
        }
        report(session, &url, &login, &field(&made, "expires"))
    }

    fn token(&self) -> NewToken {
        NewToken {
            label: format!("cenote login on {}", host()),
            expires_in: Some(self.expires.seconds()),
            scopes: SCOPES.map(str::to_owned).into(),
            ..NewToken::default()
        }
    }
}

/// The address of the server to log in to or out of.
pub(super) fn server(session: &Session, given: Option<&str>) -> Result<String> {
    let set = session.settings.get("url").map(|url| url.value.as_str());
    let url = given.or(set).ok_or_else(|| {
        CliError::new(Kind::Usage, "no server given").hint("give one: cenote login URL")
    })?;
    match url.contains("://") {
        true => Ok(url.to_owned()),
        false => Err(not_an_address(url)),
    }
}

/// A client without credentials.
pub(super) fn client(session: &Session, url: &str) -> Result<Client> {
    let ca_file = session.settings.get("ca_file").map(|setting| Path::new(&setting.value));
    Ok(Client::new(HttpTransport::new(url, ca_file)?))
}

/// Revokes the token of a login, by that token.
pub(super) async fn revoke(client: &Client, login: &Login) -> Result<()> {
    let client = client.clone().with_credential(&Credential::Token(login.token.clone()))?;
    Ok(client.remove_token(&login.id).await?)
}

/// The logins as they are now: another program may have changed them since this one started.
pub(super) fn logins(session: &Session) -> Result<Logins> {
    match session.settings.logins().file() {
        Some(file) => Ok(Logins::read(file.to_owned())?),
        None => Ok(Logins::default()),
    }
}

fn user(session: &Session) -> Result<String> {
    match session.settings.get("user") {
        Some(user) => Ok(user.value.clone()),
        None => secret::prompt_name("user: "),
    }
}

fn password(session: &Session, url: &str, user: &str, from_stdin: bool) -> Result<String> {
    if from_stdin {
        return secret::from_stdin();
    }
    match session.settings.meant_for("password", url)? {
        Some(password) => Ok(password.value.clone()),
        None => secret::prompt_password(&format!("password of {user}: ")),
    }
}

fn warn_in_clear(session: &Session, url: &str) {
    if is_in_clear(url) {
        session.output.warn(
            &format!("the password and the token are sent to {url} in clear text"),
            "use an address that begins with https://",
        );
    }
}

fn report(session: &Session, url: &str, login: &Login, expires: &str) -> Result<()> {
    let user = &login.user;
    let line =
        serde_json::json!({ "store": url, "user": user, "token": login.id, "expires": expires });
    session.output.done(&line, |_| format!("logged in to {url} as {user} until {expires}"))
}

/// A field of what the server answered, as text.
fn field(record: &Record, name: &str) -> String {
    match record.get(name) {
        Some(Value::String(text)) => text.clone(),
        Some(value) => value.to_string(),
        None => String::new(),
    }
}

/// The name of this machine, by which its token is recognised in a list.
fn host() -> String {
    let name = std::fs::read_to_string("/proc/sys/kernel/hostname").ok();
    let name = name.or_else(|| std::env::var("HOSTNAME").ok());
    name.map_or_else(|| "this machine".to_owned(), |name| name.trim().to_owned())
}
