//! What every command needs: the settings, the output, and the store.

use std::sync::OnceLock;

use cenote_client::Client;
use cenote_client::settings::Settings;

use crate::args::GlobalArgs;
use crate::connect::{Connection, salvage};
use crate::error::{CliError, Kind, Result};
use crate::output::Output;
use crate::place::StorePath;
use crate::progress::Progress;
use crate::reach::Reach;

/// One run of the program.
#[derive(Debug)]
pub(crate) struct Session {
    pub(crate) settings: Settings,
    pub(crate) output: Output,
    pub(crate) progress: Progress,
    connection: OnceLock<Connection>,
}

impl Session {
    /// Resolves the settings; nothing is opened until a verb asks for it.
    pub(crate) fn new(args: &GlobalArgs) -> Result<Self> {
        Ok(Self {
            settings: Settings::resolve(&args.given(), |name| std::env::var(name).ok())?,
            output: Output::new(args.json, args.quiet)?,
            progress: Progress::new(!args.no_progress && !args.quiet && !args.json),
            connection: OnceLock::new(),
        })
    }

    /// The store, as the change set of the settings sees it if there is one.
    pub(crate) fn client(&self) -> Result<&Client> {
        Ok(self.connection()?.client())
    }

    /// The store, for requests about change sets themselves.
    pub(crate) fn outside(&self) -> Result<&Client> {
        let connection = self.connection()?;
        connection.require_server()?;
        Ok(connection.outside())
    }

    /// Makes a store in a directory usable again, and returns what it lost.
    pub(crate) fn salvage(&self) -> Result<Option<String>> {
        salvage(&self.settings)
    }

    /// How another program can access a resource of the store.
    pub(crate) async fn reach(&self, path: &StorePath) -> Result<Reach> {
        self.connection()?.reach(&self.settings, path).await
    }

    fn connection(&self) -> Result<&Connection> {
        if self.connection.get().is_none() {
            let connection = Connection::open(&self.settings)?;
            if let Some(url) = connection.url_in_clear() {
                self.output.warn(
                    &format!("the password, token or ticket is sent to {url} in clear text"),
                    "use an address that begins with https://",
                );
            }
            // Commands open the store before they start parallel work, so the cell is still empty.
            let _ = self.connection.set(connection);
        }
        Ok(self.connection.get().expect("it has just been set"))
    }

    /// Finishes what a removal has left to do in a local store.
    pub(crate) async fn settle(&self) -> Result<()> {
        match self.connection.get() {
            Some(connection) => connection.settle().await,
            None => Ok(()),
        }
    }

    /// Reports one item that failed, while the command continues with the others.
    pub(crate) fn failed(&self, what: &str, error: &CliError) {
        error.report_item(what, self.output.is_json());
    }

    /// Adds the hint that the user is not logged in, if that may be the cause.
    pub(crate) fn explain(&self, error: CliError) -> CliError {
        let anonymous = self.connection.get().is_some_and(Connection::is_anonymous);
        match error.kind() {
            Kind::NotFound | Kind::Denied | Kind::Unauthenticated if anonymous => error.hint(
                "you are not logged in: use `cenote login` or --user NAME, or set CENOTE_TOKEN",
            ),
            _ => error,
        }
    }

    /// Warns of what does not keep the verb from continuing.
    pub(crate) fn warn(&self, message: &str, hint: Option<String>) {
        if self.output.is_json() {
            let hints: Vec<String> = hint.into_iter().collect();
            eprintln!(
                "{}",
                serde_json::json!({ "warning": { "message": message, "hints": hints } })
            );
            return;
        }
        eprintln!("cenote: warning: {message}");
        if let Some(hint) = hint {
            eprintln!("  hint: {hint}");
        }
    }
}
