//! `cenote kdb import`.

use cenote_keyset::{Format, KeyName, KeySet};
use serde_json::json;

use super::file::{FileArgs, HowArgs, format};
use super::storage::KeyFile;
use crate::commands::kdb::keys::show::keys;
use crate::error::Result;
use crate::session::Session;

/// Import keys written by another program below a key.
#[derive(Debug, clap::Args)]
pub(crate) struct Args {
    #[command(flatten)]
    file: FileArgs,
    /// The key to put them below; the default is the parent
    name: Option<String>,
    /// The file to read; `:/…` in the store, `-` for standard input
    #[arg(long, value_name = "FILE", default_value = "-", value_parser = KeyFile::parser())]
    input: KeyFile,
    /// The format to read; by default it is detected from the content or the extension
    #[arg(long, value_parser = format)]
    from: Option<Format>,
    /// Which keys to keep if some exist already
    #[arg(long, short = 's', value_enum, default_value_t = Strategy::Theirs)]
    strategy: Strategy,
}

#[derive(Clone, Copy, Debug, clap::ValueEnum)]
enum Strategy {
    /// The imported keys
    Theirs,
    /// The existing keys
    Ours,
    /// Only the imported keys; existing keys are removed
    Cut,
}

impl Args {
    pub(crate) fn run(self, session: &Session) -> Result<()> {
        let mut opened = self.file.open_or_new(session)?;
        let root = match &self.name {
            Some(name) => opened.name(name)?,
            None => opened.parent.clone(),
        };
        let imported = self.read(session, root.clone())?;
        match self.strategy {
            Strategy::Theirs => opened.keys.append_all(&imported),
            Strategy::Ours => {
                let ours = std::mem::replace(&mut opened.keys, imported.clone());
                opened.keys.append_all(&ours);
            }
            Strategy::Cut => {
                opened.keys.cut(&root);
                opened.keys.append_all(&imported);
            }
        }
        opened.save()?;
        let count = imported.len();
        session.output.done(&json!({ "imported": count }), |_| format!("Imported {}", keys(count)))
    }

    fn read(&self, session: &Session, parent: KeyName) -> Result<KeySet> {
        HowArgs { parent, format: self.from, strict: false }.read(session, &self.input)
    }
}
