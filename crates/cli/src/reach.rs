//! How another program on this machine comes to the store that this one has open.

use cenote_client::{Client, Credential, NewToken};
use cenote_server::{Config, Server};
use cenote_store::Store;
use percent_encoding::{AsciiSet, utf8_percent_encode};
use tokio::task::JoinHandle;

use crate::error::{CliError, Kind, Result};
use crate::place::StorePath;
use crate::text::SEGMENT;

/// The characters that are not escaped in a path.
const IN_PATH: AsciiSet = SEGMENT.remove(b'/');
/// Seconds after which what was granted ends, whatever becomes of this program.
const DAY: u64 = 24 * 60 * 60;

/// An address, and the environment variables that a program needs to access it.
#[derive(Debug)]
pub(crate) struct Reach {
    url: String,
    variables: Vec<(&'static str, String)>,
    lent: Option<Lent>,
}

/// A store in a directory, served on this machine for a time.
#[derive(Debug)]
struct Lent {
    client: Client,
    /// The token's, to revoke it.
    id: String,
    serving: JoinHandle<()>,
}

impl Reach {
    /// Credentials are sent to the server of CENOTE_URL only.
    fn new(url: String, mut variables: Vec<(&'static str, String)>, lent: Option<Lent>) -> Self {
        variables.push(("CENOTE_URL", url.clone()));
        Self { url, variables, lent }
    }

    /// To a server, by the same credential.
    pub(crate) fn of_server(url: &str, credential: Option<&Credential>) -> Self {
        let who = match credential {
            Some(Credential::Token(token)) => vec![("CENOTE_TOKEN", token.clone())],
            Some(Credential::Password { user, password }) => {
                vec![("CENOTE_USER", user.clone()), ("CENOTE_PASSWORD", password.clone())]
            }
            None => Vec::new(),
        };
        Self::new(url.to_owned(), who, None)
    }

    /// To a store that this process has open, for reading one resource.
    pub(crate) async fn of_store(store: &Store, client: &Client, path: &StorePath) -> Result<Self> {
        let config = Config { listen: ([127, 0, 0, 1], 0).into(), ..Config::default() };
        let server = Server::bind(store.clone(), &config).await;
        let server = server.map_err(|e| CliError::new(Kind::Unavailable, e.to_string()))?;
        let token = NewToken {
            label: "read by another program".to_owned(),
            level: Some("read".to_owned()),
            within: Some(path.to_string()),
            expires_in: Some(DAY),
            scopes: Vec::new(),
        };
        let made = client.add_token(&token).await?;
        let text = |field: &str| {
            made.get(field).map(|value| match value {
                serde_json::Value::String(text) => text.clone(),
                value => value.to_string(),
            })
        };
        let (Some(secret), Some(id)) = (text("token"), text("id")) else {
            return Err(CliError::new(
                Kind::Failed,
                "the server returned a token without its secret or id",
            ));
        };
        let url = server.url();
        let serving = tokio::spawn(server.run(std::future::pending()));
        let lent = Lent { client: client.clone(), id, serving };
        Ok(Self::new(url, vec![("CENOTE_TOKEN", secret)], Some(lent)))
    }

    /// Also shows a ticket.
    pub(crate) fn with_ticket(mut self, ticket: Option<&str>) -> Self {
        self.variables.extend(ticket.map(|ticket| ("CENOTE_TICKET", ticket.to_owned())));
        self
    }

    /// Also trusts the certificates in a file.
    pub(crate) fn with_ca_file(mut self, file: Option<&str>) -> Self {
        self.variables.extend(file.map(|file| ("SSL_CERT_FILE", file.to_owned())));
        self
    }

    /// The address of a path, as `cenote.gsd` takes it.
    pub(crate) fn address(&self, path: &StorePath) -> String {
        let path = utf8_percent_encode(path.as_str(), &IN_PATH);
        format!("cenote+{}{path}", self.url.trim_end_matches('/'))
    }

    /// What to put into the environment.
    pub(crate) fn variables(&self) -> &[(&'static str, String)] {
        &self.variables
    }

    /// Takes back what was granted.
    pub(crate) async fn close(self) -> Result<()> {
        let Some(lent) = self.lent else { return Ok(()) };
        lent.serving.abort();
        Ok(lent.client.remove_token(&lent.id).await?)
    }
}
