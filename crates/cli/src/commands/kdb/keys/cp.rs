//! `cenote kdb cp`, and what `mv` has in common with it.

use cenote_keyset::{KeyName, KeySet, Namespace};
use serde_json::json;

use super::show::keys;
use crate::commands::kdb::documents::file::{FileArgs, Opened, no_key, wrong};
use crate::error::{CliError, Kind, Result};
use crate::session::Session;

/// Copy a key; the copy shares its metadata.
#[derive(Debug, clap::Args)]
pub(crate) struct Args {
    #[command(flatten)]
    pub(crate) transfer: TransferArgs,
}

/// What is copied or moved where.
#[derive(Debug, clap::Args)]
pub(crate) struct TransferArgs {
    #[command(flatten)]
    pub(crate) file: FileArgs,
    /// The key
    source: String,
    /// The new name
    destination: String,
    /// Include all keys below it
    #[arg(short, long)]
    recursive: bool,
    /// Replace existing keys
    #[arg(short, long)]
    force: bool,
}

/// The keys to be put in place, under their old and their new names.
pub(crate) struct Transfer {
    pub(crate) sources: KeySet,
    pub(crate) copies: KeySet,
}

impl Args {
    pub(crate) fn run(self, session: &Session) -> Result<()> {
        let mut opened = self.transfer.file.open(session)?;
        let transfer = self.transfer.plan(&opened)?;
        transfer.check(&opened.keys, self.transfer.force)?;
        opened.keys.append_all(&transfer.copies);
        opened.save()?;
        let count = transfer.copies.len();
        session.output.done(&json!({ "copied": count }), |_| format!("Copied {}", keys(count)))
    }
}

impl TransferArgs {
    pub(crate) fn plan(&self, opened: &Opened) -> Result<Transfer> {
        let from = whole_name(opened, &self.source)?;
        let to = whole_name(opened, &self.destination)?;
        let mut sources = opened.keys.below(&from);
        if !self.recursive {
            sources = sources.get(&from).map(|key| key.to_key()).into_iter().collect();
        }
        if sources.is_empty() {
            return Err(no_key(&from));
        }
        let mut copies = sources.clone();
        copies.rename(&from, &to).map_err(wrong)?;
        Ok(Transfer { sources, copies })
    }

    pub(crate) fn force(&self) -> bool {
        self.force
    }
}

impl Transfer {
    /// Refuses to replace keys unless that is wished.
    pub(crate) fn check(&self, keys: &KeySet, force: bool) -> Result<()> {
        let mut names = self.copies.iter().map(|key| key.name().to_name());
        match names.find(|name| keys.get(name).is_some()) {
            Some(taken) if !force => {
                Err(CliError::new(Kind::Exists, format!("the key `{taken}` already exists"))
                    .hint("use --force to replace it"))
            }
            _ => Ok(()),
        }
    }
}

fn whole_name(opened: &Opened, text: &str) -> Result<KeyName> {
    let name = opened.name(text)?;
    if name.namespace() == Namespace::Cascading && opened.parent.namespace() != Namespace::Cascading
    {
        return Err(wrong(format!("`{text}` is in all namespaces: choose one, such as `user:/`")));
    }
    Ok(name)
}
