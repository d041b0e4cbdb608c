//! What a verb works with: the settings, where its output goes, and the store.

use std::sync::OnceLock;

use cenote_client::Client;

use crate::args::GlobalArgs;
use crate::config::Settings;
use crate::connect::Connection;
use crate::error::{CliError, Result};
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
            settings: Settings::resolve(args, |name| std::env::var(name).ok())?,
            output: Output::new(args.json, args.quiet),
            progress: Progress::new(!args.no_progress && !args.quiet && !args.json),
            connection: OnceLock::new(),
        })
    }

    /// The store.
    pub(crate) fn client(&self) -> Result<&Client> {
        Ok(&self.connection()?.client)
    }

    /// How another program comes to a resource of the store.
    pub(crate) async fn reach(&self, path: &StorePath) -> Result<Reach> {
        self.connection()?.reach(&self.settings, path).await
    }

    fn connection(&self) -> Result<&Connection> {
        if self.connection.get().is_none() {
            let connection = Connection::open(&self.settings)?;
            // Verbs open the store before they do anything side by side: nobody was faster.
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

    /// Tells of one item that failed, while the verb goes on with the others.
    pub(crate) fn failed(&self, what: &str, error: &CliError) {
        error.report_item(what, self.output.is_json());
    }
}
