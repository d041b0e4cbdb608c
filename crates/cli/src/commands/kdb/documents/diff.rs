//! `cenote kdb diff`.

use cenote_keyset::{Change, KeyRef, diff};
use serde_json::json;

use super::file::HowArgs;
use super::storage::KeyFile;
use crate::commands::kdb::keys::show::{described, key_json, keys, lossy};
use crate::error::{CliError, Kind, Result};
use crate::session::Session;

/// Show the differences between two key set files; exits with code 12 if there are any.
#[derive(Debug, clap::Args)]
pub(crate) struct Args {
    /// The old file; `:/…` in the store, `-` for standard input
    #[arg(value_parser = KeyFile::parser())]
    old: KeyFile,
    /// The new file
    #[arg(value_parser = KeyFile::parser())]
    new: KeyFile,
    #[command(flatten)]
    how: HowArgs,
}

impl Args {
    pub(crate) fn run(self, session: &Session) -> Result<()> {
        let (old, new) = (self.how.read(session, &self.old)?, self.how.read(session, &self.new)?);
        let mut differences = 0;
        for change in diff(&old, &new) {
            differences += 1;
            session.output.item(&change_json(&change), |_| change_text(&change))?;
        }
        match differences {
            0 => Ok(()),
            count => Err(CliError::new(Kind::Found, format!("{} different", keys(count)))),
        }
    }
}

fn change_json(change: &Change<'_>) -> serde_json::Value {
    match change {
        Change::Added(new) => json!({ "change": "added", "new": key_json(*new) }),
        Change::Removed(old) => json!({ "change": "removed", "old": key_json(*old) }),
        Change::Modified(old, new) => {
            json!({ "change": "modified", "old": key_json(*old), "new": key_json(*new) })
        }
    }
}

fn change_text(change: &Change<'_>) -> String {
    match change {
        Change::Added(new) => format!("+ {} {}", new.name(), contents(*new)),
        Change::Removed(old) => format!("- {} {}", old.name(), contents(*old)),
        Change::Modified(old, new) => {
            let (name, old, new) = (old.name(), contents(*old), contents(*new));
            format!("- {name} {old}\n+ {name} {new}")
        }
    }
}

/// The value and the metakeys.
fn contents(key: KeyRef<'_>) -> String {
    let metas = key.meta().map(|meta| format!(" {}={}", lossy(meta.name()), lossy(meta.value())));
    format!("{}{}", described(key.value()), metas.collect::<String>())
}
