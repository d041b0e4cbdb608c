//! `cenote kdb import`.

use cenote_keyset::{Format, KeyName, KeySet};
use serde_json::json;

use super::file::{FileArgs, HowArgs, format};
use super::show::keys;
use super::storage::KeyFile;
use crate::error::Result;
use crate::session::Session;

/// Put keys that another program wrote below a key.
#[derive(Debug, clap::Args)]
pub(crate) struct Args {
    #[command(flatten)]
    file: FileArgs,
    /// The key to put them below; the parent without it
    name: Option<String>,
    /// The file to read; `:/…` in the store, `-` for standard input
    #[arg(long, value_name = "FILE", default_value = "-", value_parser = KeyFile::parser())]
    input: KeyFile,
    /// The format to read; else the content or the extension tells
    #[arg(long, value_parser = format)]
    from: Option<Format>,
    /// What wins where a key is there already
    #[arg(long, short = 's', value_enum, default_value_t = Strategy::Theirs)]
    strategy: Strategy,
}

#[derive(Clone, Copy, Debug, clap::ValueEnum)]
enum Strategy {
    /// The imported keys
    Theirs,
    /// The keys that are there
    Ours,
    /// The imported keys, and those that are there go
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
