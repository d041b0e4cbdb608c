//! From the settings to a client: over the network, or the server's own router in this
//! process for a store in a local directory.

use std::path::Path;

use cenote_client::settings::{Setting, Settings, is_in_clear};
use cenote_client::{Client, Credential, HttpTransport, ServiceTransport};
use cenote_server::embedded::{Embedded, OpenError, open_dir, salvage_dir, text_dir};
use cenote_server::{Config, LocalCaller, Search, router};
use cenote_store::{ErrorKind, Pace};

use crate::error::{CliError, Kind, Result};
use crate::place::StorePath;
use crate::reach::Reach;
use crate::secret;

/// A client, and everything that must live as long as the client.
#[derive(Debug)]
pub(crate) struct Connection {
    client: Client,
    /// The same in the change set of the settings.
    within: Option<Client>,
    credential: Option<Credential>,
    store: Option<Embedded>,
    /// The server's address, where what is sent to it can be read on the way.
    in_clear: Option<String>,
    has_ticket: bool,
}

impl Connection {
    /// Connects to the store that the settings name.
    pub(crate) fn open(settings: &Settings) -> Result<Self> {
        let url = settings.get("url").ok_or_else(no_store)?;
        let connection = match url.value.contains("://") {
            true => Self::over_network(url, settings)?,
            false => Self::in_process(url, settings)?,
        };
        let connection = match settings.get("ticket") {
            Some(ticket) => {
                let client = connection.client.with_ticket(&ticket.value)?;
                Self { client, has_ticket: true, ..connection }
            }
            None => connection,
        };
        let Some(set) = settings.get("changeset") else { return Ok(connection) };
        connection.require_server()?;
        let within = Some(connection.client.clone().with_changeset(&set.value)?);
        Ok(Self { within, ..connection })
    }

    /// The client, in the change set of the settings if there is one.
    pub(crate) fn client(&self) -> &Client {
        self.within.as_ref().unwrap_or(&self.client)
    }

    /// The client outside of any change set.
    pub(crate) fn outside(&self) -> &Client {
        &self.client
    }

    /// Refuses a directory: the changes of a set are in the memory of the server.
    pub(crate) fn require_server(&self) -> Result<()> {
        match self.store {
            None => Ok(()),
            Some(_) => Err(CliError::new(Kind::Usage, "a store in a directory has no change sets")
                .hint("start a server with `cenote serve DIR`, and use --store URL")
                .hint("without a change set, do not use --changeset, and unset CENOTE_CHANGESET")),
        }
    }

    /// Whether no credentials were sent to a server.
    pub(crate) fn is_anonymous(&self) -> bool {
        self.store.is_none() && self.credential.is_none() && !self.has_ticket
    }

    /// The address to which a secret is sent in clear text, if any.
    pub(crate) fn url_in_clear(&self) -> Option<&str> {
        self.in_clear.as_deref().filter(|_| !self.is_anonymous())
    }

    /// Finishes the deferred work of a removal; a server does this in the background.
    pub(crate) async fn settle(&self) -> Result<()> {
        let Some(store) = &self.store else { return Ok(()) };
        let settled = store.store().maintain_once(&Pace::default()).await;
        settled.map_err(|error| CliError::new(Kind::Failed, error.to_string()))
    }

    /// How another program can access a resource of the store.
    pub(crate) async fn reach(&self, settings: &Settings, path: &StorePath) -> Result<Reach> {
        let value = |name| settings.get(name).map(|setting| setting.value.as_str());
        let reach = match &self.store {
            Some(embedded) => Reach::of_store(embedded.store(), &self.client, path).await?,
            None => {
                let url = value("url").ok_or_else(no_store)?;
                Reach::of_server(url, self.credential.as_ref()).with_ca_file(value("ca_file"))
            }
        };
        Ok(reach.with_ticket(value("ticket")))
    }

    fn over_network(url: &Setting, settings: &Settings) -> Result<Self> {
        let ca_file = settings.get("ca_file").map(|setting| Path::new(&setting.value));
        let client = Client::new(HttpTransport::new(&url.value, ca_file)?);
        let prompt = |user: &str| secret::prompt_password(&format!("password of {user}: "));
        let credential = settings.credential(&url.value, prompt)?;
        settings.meant_for("ticket", &url.value)?;
        let client = match &credential {
            Some(credential) => client.with_credential(credential)?,
            None => client,
        };
        let in_clear = is_in_clear(&url.value).then(|| url.value.clone());
        Ok(Self { client, within: None, credential, store: None, in_clear, has_ticket: false })
    }

    /// A process that can open the directory owns the store, and acts as its administrator or as
    /// the given user. A user that was set for another store is ignored.
    fn in_process(url: &Setting, settings: &Settings) -> Result<Self> {
        let embedded = open_dir(&url.value).map_err(not_opened)?;
        let user = settings.get("user");
        let user = user.filter(|user| user.source.strength() >= url.source.strength());
        let caller = match user {
            Some(user) => LocalCaller::named(embedded.store(), &user.value),
            None => LocalCaller::administrator(embedded.store()),
        };
        let caller =
            caller.map_err(|error| CliError::new(Kind::Unauthenticated, error.to_string()))?;
        let index = Some(text_dir(&url.value));
        let config = Config { search: Search { index }, ..Config::default() };
        let router = router(embedded.store().clone(), &config);
        let service = router.layer(axum::Extension(caller));
        let client = Client::new(ServiceTransport::new(service));
        let store = Some(embedded);
        let (within, credential, in_clear) = (None, None, None);
        Ok(Self { client, within, credential, store, in_clear, has_ticket: false })
    }
}

/// Accepts the loss of the last commits of the store in the settings, and returns a description of the loss.
pub(crate) fn salvage(settings: &Settings) -> Result<Option<String>> {
    let url = &settings.get("url").ok_or_else(no_store)?.value;
    match url.contains("://") {
        true => Err(CliError::new(
            Kind::Usage,
            "a loss can be accepted only on the directory of the store",
        )
        .hint("stop the server, and use --store DIR")),
        false => salvage_dir(url).map_err(not_opened),
    }
}

/// Refuses a directory where a server is needed.
pub(crate) fn not_an_address(given: &str) -> CliError {
    CliError::new(Kind::Usage, format!("not the address of a server: {given}"))
        .hint("an address begins with https:// or http://")
        .hint("a store's directory needs no login")
}

fn no_store() -> CliError {
    CliError::new(Kind::Usage, "no store given")
        .hint("use --store URL or --store DIR, set CENOTE_URL, or log in with `cenote login URL`")
        .hint("use `cenote init DIR` to create a store")
}

/// Translates the failure to open a store to an error of the program.
pub(crate) fn not_opened(error: OpenError) -> CliError {
    let (kind, hint) = match error {
        // It says itself what to do, as about a format that this program does not know.
        OpenError::Store(refused) if refused.kind() == ErrorKind::Unavailable => {
            return refused.into();
        }
        ref error => kind_and_hint(error),
    };
    CliError::new(kind, error.to_string()).hint(hint)
}

fn kind_and_hint(error: &OpenError) -> (Kind, &'static str) {
    match error {
        _ if error.is_damage() => {
            (Kind::Mismatch, "restore a backup, or accept the loss: cenote check --accept-loss")
        }
        OpenError::Missing(_) => (
            Kind::NotFound,
            "create one with `cenote init DIR`, or check the settings with `cenote config show`",
        ),
        OpenError::Migrated(_) => (
            Kind::NotFound,
            "use the store that it was copied to; to use this one again, rename store.toml.migrated to store.toml",
        ),
        OpenError::Exists(_) => {
            (Kind::Exists, "use the existing store, or choose another directory")
        }
        OpenError::Occupied(_) => {
            (Kind::Exists, "use an empty directory, or one that does not exist yet")
        }
        OpenError::Locked(_) => (
            Kind::Unavailable,
            "stop the server, or access the store through it: --store http://host:port",
        ),
        OpenError::Served => (
            Kind::Unavailable,
            "stop all its servers, or access the store through one: --store http://host:port",
        ),
        OpenError::NotHere(_) => (Kind::Usage, "use the tools of the database to recover it"),
        OpenError::Catalog(_) => {
            (Kind::Failed, "check that the directory, or the database and its address, can be used")
        }
        OpenError::Contents(_) => {
            (Kind::Failed, "check the address of the contents, and the credentials for it")
        }
        OpenError::Store(refused) if refused.kind() == ErrorKind::Exists => {
            (Kind::Exists, "use the store that is there: cenote init --join")
        }
        OpenError::Store(refused) if refused.kind() == ErrorKind::NotFound => {
            (Kind::NotFound, "leave out --join to make one")
        }
        OpenError::TooNew { .. } => (Kind::Unavailable, "use a newer cenote"),
        OpenError::Settings(..) => (Kind::Mismatch, "restore the file from a backup"),
        _ => (Kind::Failed, "check that the directory is readable and writable"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_store_that_is_too_new_is_refused_with_its_own_hint() {
        let refused = cenote_store::Error::new(ErrorKind::Unavailable, "the store has format 99")
            .with_hint("use a newer cenote");
        let error = not_opened(OpenError::Store(refused));
        assert_eq!(error.kind(), Kind::Unavailable);
        let text = format!("{error:?}");
        assert!(text.contains("use a newer cenote") && !text.contains("readable"), "{text}");
    }
}
