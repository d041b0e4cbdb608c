//! A store and its user: the client is recreated in a forked process.

use std::collections::HashMap;
use std::num::NonZeroUsize;
use std::path::{Path, PathBuf};
use std::sync::{Mutex, PoisonError};

use cenote_client::settings::{Given, Settings, is_in_clear};
use cenote_client::transfer::Options;
use cenote_client::{Client, Credential, Error, HttpTransport, Kind};
use pyo3::prelude::*;

use super::error::Failure;

const ANONYMOUS: &str =
    "you are not logged in there: use `cenote login`, or pass token=, or user= and password=";

/// A store, and the credentials for it.
#[pyclass(module = "cenote._cenote.store", frozen)]
pub(super) struct Connection {
    #[pyo3(get)]
    url: String,
    /// The user, if one is known.
    #[pyo3(get)]
    user: Option<String>,
    /// Whether a secret is sent unencrypted.
    #[pyo3(get)]
    in_clear: bool,
    /// The certificates to trust.
    #[pyo3(get)]
    ca_file: Option<PathBuf>,
    credential: Option<Credential>,
    #[pyo3(get)]
    ticket: Option<String>,
    #[pyo3(get)]
    changeset: Option<String>,
    /// Where interrupted uploads are remembered.
    uploads: Option<PathBuf>,
    /// The client of a process, by its id: another process cannot use its connections.
    client: Mutex<Option<(u32, Client)>>,
}

#[pymethods]
impl Connection {
    /// Resolves the settings; nothing is sent. `given` are settings by name, before those of `environment` and of the files. If
    /// `only_own`, credentials are used only where they are those of the store at that address.
    #[new]
    #[pyo3(signature = (given, environment, config=None, only_own=false))]
    fn new(
        given: Vec<(String, String)>,
        environment: HashMap<String, String>,
        config: Option<PathBuf>,
        only_own: bool,
    ) -> Result<Self, Failure> {
        let find = |given: &Given| Settings::resolve(given, |name| environment.get(name).cloned());
        let named = Given { config, values: given.iter().filter_map(known).collect() };
        let own = find(&Given { config: named.config.clone(), values: Vec::new() })?;
        let settings = find(&named)?;
        let url = settings.get("url").ok_or_else(no_store)?.value.clone();
        match only_own && !own.is_at(&url) {
            true => Ok(Self::elsewhere(&own, url)),
            false => Ok(Self::with_settings(&settings, url)?),
        }
    }
}

#[pymethods]
impl Connection {
    /// Whether its calls need a ticket, or are part of a change set.
    #[getter]
    fn is_bound(&self) -> bool {
        self.ticket.is_some() || self.changeset.is_some()
    }

    /// A user and the password, or none and a token: what another protocol identifies the same caller by.
    #[getter]
    fn credential(&self) -> Option<(Option<&str>, &str)> {
        match self.credential.as_ref()? {
            Credential::Password { user, password } => Some((Some(user), password)),
            Credential::Token(token) => Some((None, token)),
        }
    }
}

impl Connection {
    fn with_settings(settings: &Settings, url: String) -> Result<Self, Error> {
        let credential = settings.credential(&url, no_password)?;
        let ticket = settings.meant_for("ticket", &url)?.map(|setting| setting.value.clone());
        let value = |name| settings.get(name).map(|setting| setting.value.clone());
        let user = match &credential {
            Some(Credential::Password { user, .. }) => Some(user.clone()),
            Some(Credential::Token(_)) => settings.login_at(&url).map(|login| login.user.clone()),
            None => None,
        };
        let in_clear = is_in_clear(&url) && (credential.is_some() || ticket.is_some());
        let (ca_file, changeset) = (value("ca_file").map(PathBuf::from), value("changeset"));
        let connection = Self {
            url,
            user,
            in_clear,
            ca_file,
            credential,
            ticket,
            changeset,
            uploads: settings.uploads(),
            client: Mutex::new(None),
        };
        connection.connect()?;
        Ok(connection)
    }

    /// Another store than that of the settings: with the login there, or anonymously.
    fn elsewhere(settings: &Settings, url: String) -> Self {
        let login = settings.login_at(&url).filter(|_| !is_in_clear(&url));
        Self {
            user: login.map(|login| login.user.clone()),
            credential: login.map(|login| Credential::Token(login.token.clone())),
            ca_file: settings.get("ca_file").map(|setting| PathBuf::from(&setting.value)),
            in_clear: false,
            ticket: None,
            changeset: None,
            uploads: settings.uploads(),
            client: Mutex::new(None),
            url,
        }
    }

    /// The same, with all calls in a change set.
    pub(super) fn within(&self, set: String) -> Self {
        Self {
            url: self.url.clone(),
            user: self.user.clone(),
            in_clear: self.in_clear,
            ca_file: self.ca_file.clone(),
            credential: self.credential.clone(),
            ticket: self.ticket.clone(),
            changeset: Some(set),
            uploads: self.uploads.clone(),
            client: Mutex::new(None),
        }
    }

    /// Options of transfers into the store, which go on where they broke off.
    pub(super) fn sending(&self, jobs: NonZeroUsize) -> Options {
        Options { jobs, journal: self.uploads.clone(), ..Options::default() }
    }

    /// The client of this process.
    pub(super) fn client(&self) -> Result<Client, Failure> {
        let mut known = self.client.lock().unwrap_or_else(PoisonError::into_inner);
        match &*known {
            Some((process, client)) if *process == std::process::id() => Ok(client.clone()),
            _ => {
                let client = self.connect()?;
                // The connections of a parent process are not closed: they are still in use there.
                std::mem::forget(known.replace((std::process::id(), client.clone())));
                Ok(client)
            }
        }
    }

    fn connect(&self) -> Result<Client, Error> {
        let ca_file = self.ca_file.as_deref().map(Path::new);
        if !self.url.contains("://") {
            return Err(not_an_address(&self.url));
        }
        let mut client = Client::new(HttpTransport::new(&self.url, ca_file)?);
        if let Some(credential) = &self.credential {
            client = client.with_credential(credential)?;
        }
        if let Some(ticket) = &self.ticket {
            client = client.with_ticket(ticket)?;
        }
        if self.credential.is_none() && self.ticket.is_none() {
            client = client.with_anonymous_hint(ANONYMOUS);
        }
        match &self.changeset {
            Some(set) => client.with_changeset(set),
            None => Ok(client),
        }
    }
}

/// A setting that may be given, with its source as displayed.
fn known((name, value): &(String, String)) -> Option<(&'static str, &'static str, String)> {
    let (name, source) = match name.as_str() {
        "url" => ("url", "argument url"),
        "user" => ("user", "argument user"),
        "password" => ("password", "argument password"),
        "token" => ("token", "argument token"),
        "ticket" => ("ticket", "argument ticket"),
        "changeset" => ("changeset", "argument changeset"),
        _ => return None,
    };
    Some((name, source, value.clone()))
}

fn no_store() -> Error {
    Error::new(Kind::Invalid, "no store given").with_hint(
        "name one: cenote.connect(url), set CENOTE_URL, or log in with `cenote login URL`",
    )
}

fn not_an_address(given: &str) -> Error {
    Error::new(Kind::Invalid, format!("not the address of a server: {given:.200}")).with_hint(
        "an address begins with https:// or http://; for a store in a directory, start `cenote serve DIR`",
    )
}

fn no_password(user: &str) -> Result<String, Error> {
    Err(Error::new(Kind::Unauthenticated, format!("the password of {user} is required"))
        .with_hint("pass password=, set CENOTE_PASSWORD or CENOTE_TOKEN, or use `cenote login`"))
}
