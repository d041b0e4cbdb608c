//! `cenote changeset`: changes of several commands that take effect together.

use std::time::Duration as Time;

use cenote_client::{ChangeSet, Client};

use crate::duration::Duration;
use crate::error::{CliError, Kind, Result};
use crate::session::Session;
use crate::text;

const EXAMPLE: &str = "\
Example:
  export CENOTE_CHANGESET=$(cenote changeset begin)
  cenote put --parents run7.csv :/lab/run7/run7.csv
  cenote meta set :/lab/run7/run7.csv temperature 300 K
  cenote changeset commit
  unset CENOTE_CHANGESET";

/// Make changes with several commands, and commit them together or drop them.
///
/// Commands with --changeset, or with CENOTE_CHANGESET in the environment, are part of a change set. They see the store
/// as it was when the set was begun, with the changes of the set; nobody else sees those before the commit, which makes
/// all of them at once, or none if somebody else has changed the same in the meantime. Only resources can be changed in
/// a set: their contents, descriptions, access and versions. A set expires when it is not used for some minutes, or when
/// the server is restarted.
#[derive(Debug, clap::Args)]
#[command(after_long_help = EXAMPLE)]
pub(crate) struct Args {
    #[command(subcommand)]
    what: What,
}

#[derive(Debug, clap::Subcommand)]
enum What {
    /// Begin a change set and print its id
    Begin {
        /// How long it is kept without being used, such as 10m [default: 3m]
        #[arg(long, value_name = "TIME")]
        idle: Option<Duration>,
    },
    /// List your open change sets
    Ls,
    /// Show what is known of a change set, also for some time after its end
    Show {
        /// Its id [default: that of --changeset]
        id: Option<String>,
    },
    /// Commit all changes of a change set at once
    Commit {
        /// Its id [default: that of --changeset]
        id: Option<String>,
    },
    /// Drop a change set with all its changes
    Drop {
        /// Its id [default: that of --changeset]
        id: Option<String>,
    },
}

impl Args {
    pub(crate) async fn run(self, session: &Session) -> Result<()> {
        let client = session.outside()?;
        match self.what {
            What::Begin { idle } => {
                let idle = idle.map(|idle| Time::from_secs(idle.seconds()));
                let set = client.begin_changeset(idle).await?;
                session.output.item(&set, |set| set.id.clone())
            }
            What::Ls => {
                for set in client.changesets().await? {
                    session.output.item(&set, format_changeset)?;
                }
                Ok(())
            }
            What::Show { id } => {
                let set = client.changeset(&named(session, id)?).await?;
                session.output.item(&set, format_changeset)
            }
            What::Commit { id } => {
                let set = commit(client, &named(session, id)?).await?;
                session
                    .output
                    .done(&set, |set| format!("committed {}", text::count(set.changes, "change")))
            }
            What::Drop { id } => {
                let id = named(session, id)?;
                client.drop_changeset(&id).await?;
                let line = serde_json::json!({ "action": "drop", "id": id });
                session.output.done(&line, |_| format!("dropped {id}"))
            }
        }
    }
}

/// The id that is given, else that of the settings.
fn named(session: &Session, given: Option<String>) -> Result<String> {
    let set = session.settings.get("changeset").map(|set| set.value.clone());
    given.or(set).ok_or_else(|| {
        CliError::new(Kind::Usage, "no change set given")
            .hint("give one, use --changeset ID, or set CENOTE_CHANGESET")
            .hint("`cenote changeset ls` lists those that are open")
    })
}

async fn commit(client: &Client, id: &str) -> Result<ChangeSet> {
    client.commit_changeset(id).await.map_err(|error| {
        let is_lost = error.kind() == cenote_client::Kind::Unreachable;
        let error = CliError::from(error);
        match is_lost {
            true => {
                error.hint(format!("`cenote changeset show {id}` shows whether it was committed"))
            }
            false => error,
        }
    })
}

fn format_changeset(set: &ChangeSet) -> String {
    let until = if set.state == "open" { "expires" } else { "ended" };
    format!(
        "{}  {:<10} {:>12}  {:>12}  {:<12} {until} {}",
        set.id,
        set.state,
        text::count(set.changes, "change"),
        text::size(set.bytes),
        set.owner,
        text::time(set.expires),
    )
}
