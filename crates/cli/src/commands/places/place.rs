//! `cenote place`: where contents are kept.

use cenote_client::{NewPlace, PlaceChange, Record};
use serde_json::{Value, json};

use super::job;
use crate::commands::record;
use crate::error::{CliError, Kind, Result};
use crate::session::Session;

/// Add, list, change, drain and remove places for contents.
///
/// A place is a directory, a bucket, or a group of places; contents put into a group are stored in each member.
#[derive(Debug, clap::Args)]
pub(crate) struct Args {
    #[command(subcommand)]
    what: What,
}

#[derive(Debug, clap::Subcommand)]
enum What {
    /// Add a place (or, without an address, a group); it accepts contents immediately
    Add {
        name: String,
        /// Its address: `file:///data/vault` or `s3://bucket/prefix`. Credentials are read from the environment or from
        /// `[places.NAME]` in the store's `store.toml`; they cannot be given here
        address: Option<String>,
        /// Add it to this group
        #[arg(long, value_name = "GROUP")]
        into: Option<String>,
        /// Store new contents there
        #[arg(long)]
        default: bool,
    },
    /// List places and their contents in total
    Ls,
    /// Change a place
    Set {
        name: String,
        /// Rename it
        #[arg(long, value_name = "NAME")]
        rename: Option<String>,
        /// Add it to this group
        #[arg(long, value_name = "GROUP", conflicts_with = "out")]
        into: Option<String>,
        /// Remove it from its group
        #[arg(long)]
        out: bool,
        /// Put it back into use
        #[arg(long, conflicts_with = "down")]
        up: bool,
        /// Take it out of use: nothing is read from it or written to it
        #[arg(long)]
        down: bool,
        /// Store new contents there
        #[arg(long)]
        default: bool,
    },
    /// Close a place and move all its contents to another one; run it again to resume
    Drain {
        name: String,
        /// The target, instead of the place for new contents
        #[arg(long, value_name = "PLACE")]
        to: Option<String>,
        /// Print how much would be moved, without moving anything
        #[arg(long, short = 'n')]
        dry_run: bool,
    },
    /// Remove an empty place
    Rm {
        name: String,
        /// Print what would be removed, without removing anything
        #[arg(long, short = 'n')]
        dry_run: bool,
    },
}

impl Args {
    pub(crate) async fn run(self, session: &Session) -> Result<()> {
        let client = session.client()?;
        match self.what {
            What::Ls => {
                for place in client.places().await? {
                    session.output.item(&place, row)?;
                }
                Ok(())
            }
            What::Add { name, address, into, default } => {
                let place = NewPlace { name, address, group: into, default };
                session.output.done(&client.add_place(&place).await?, row)
            }
            What::Set { name, rename, into, out, up, down, default } => {
                let group = if out { Some(String::new()) } else { into };
                let state = match (up, down) {
                    (true, _) => Some("up".to_owned()),
                    (_, true) => Some("down".to_owned()),
                    _ => None,
                };
                let change = PlaceChange { name, rename, state, group, default };
                session.output.done(&client.change_place(&change).await?, row)
            }
            What::Drain { name, dry_run: true, .. } => would(session, "drain", &name).await,
            What::Drain { name, to, .. } => {
                let begun = client.drain_place(&name, to.as_deref()).await?;
                job::follow(session, client, begun).await
            }
            What::Rm { name, dry_run: true } => would(session, "remove", &name).await,
            What::Rm { name, .. } => {
                client.remove_place(&name).await?;
                let line = json!({ "action": "remove", "name": name });
                session.output.done(&line, |_| format!("remove {name}: done"))
            }
        }
    }
}

/// Says what a place holds that would be dealt with.
async fn would(session: &Session, action: &str, name: &str) -> Result<()> {
    let places = session.client()?.places().await?;
    let named = |place: &&Record| place.get("name").and_then(Value::as_str) == Some(name);
    let place = places.iter().find(named).ok_or_else(|| {
        CliError::new(Kind::NotFound, format!("no such place: {name}"))
            .hint("`cenote place ls` lists them")
    })?;
    let count = |field: &str| {
        place.get(field).and_then(Value::as_u64).ok_or_else(|| {
            let message = format!("the contents of {name} are shown only to administrators");
            CliError::new(Kind::Denied, message).hint("log in as an administrator")
        })
    };
    let (copies, bytes) = (count("copies")?, count("bytes")?);
    let line = json!({ "action": action, "name": name, "copies": copies, "bytes": bytes, "dry_run": true });
    session
        .output
        .done(&line, |_| format!("would {action} {name}: {copies} stored contents, {bytes} bytes"))
}

fn row(place: &Record) -> String {
    record::row(place)
}
