//! `cenote kdb editor`.

use std::path::Path;
use std::process::Command;

use cenote_keyset::{Format, KeyName, KeySet, ReadOptions, WriteOptions};
use serde_json::json;
use tempfile::NamedTempFile;

use super::file::{FileArgs, Opened, format, unwritable, wrong};
use crate::commands::kdb::keys::show::keys;
use crate::error::{CliError, Kind, Result};
use crate::session::Session;

/// Edit a key and all keys below it in an editor.
#[derive(Debug, clap::Args)]
pub(crate) struct Args {
    #[command(flatten)]
    file: FileArgs,
    /// The key to start at; the default is all keys
    name: Option<String>,
    /// The format to edit in
    #[arg(long, value_parser = format, default_value = "ini")]
    to: Format,
    /// The editor, a shell command; the default is VISUAL, EDITOR or `vi`
    #[arg(long, value_name = "COMMAND")]
    editor: Option<String>,
}

impl Args {
    pub(crate) fn run(self, session: &Session) -> Result<()> {
        let mut opened = self.file.open_or_new(session)?;
        let root = match &self.name {
            Some(name) => opened.name(name)?,
            None => opened.parent.clone(),
        };
        let draft = self.draft(&opened, &root)?;
        let before = std::fs::read(draft.path())?;
        self.edit(draft.path())?;
        let after = std::fs::read(draft.path())?;
        if after == before {
            return session.output.done(&json!({ "changed": false }), |_| "Nothing changed".into());
        }
        let saved = self.replace(&mut opened, &root, after).and_then(|count| {
            opened.save()?;
            Ok(count)
        });
        let count = saved.map_err(|error| keep(draft, error))?;
        let line = json!({ "changed": true, "keys": count });
        session.output.done(&line, |_| format!("Saved {}", keys(count)))
    }

    /// A file that only the user may read, with the keys to be edited.
    fn draft(&self, opened: &Opened, root: &KeyName) -> Result<NamedTempFile> {
        let name = format!(".{}", self.to.name());
        let draft = tempfile::Builder::new().prefix("cenote-").suffix(&name).tempfile()?;
        let keys: KeySet = opened.keys.hierarchy(root).map(|key| key.to_key()).collect();
        cenote_keyset::write(&keys, root, self.to, WriteOptions::default(), draft.as_file())
            .map_err(unwritable)?;
        Ok(draft)
    }

    fn edit(&self, draft: &Path) -> Result<()> {
        let named = |name: &str| std::env::var(name).ok().filter(|value| !value.is_empty());
        let editor = self.editor.clone().or_else(|| named("VISUAL")).or_else(|| named("EDITOR"));
        let editor = editor.unwrap_or_else(|| "vi".into());
        let script = format!("{editor} \"$1\"");
        let status = Command::new("sh").args(["-c", &script, "sh"]).arg(draft).status()?;
        if status.success() {
            return Ok(());
        }
        Err(CliError::new(Kind::Failed, format!("the editor failed: {editor}"))
            .hint("nothing was saved"))
    }

    /// Puts what was edited in the place of the subtree.
    fn replace(&self, opened: &mut Opened, root: &KeyName, text: Vec<u8>) -> Result<usize> {
        let edited = cenote_keyset::read(text, root, self.to, ReadOptions::default());
        let edited = edited.map_err(wrong)?;
        let old: Vec<_> = opened.keys.hierarchy(root).map(|key| key.name().to_name()).collect();
        for name in old {
            opened.keys.remove(&name);
        }
        opened.keys.append_all(&edited);
        Ok(edited.len())
    }
}

/// Leaves the text of an edit that could not be saved where the user finds it.
fn keep(draft: NamedTempFile, error: CliError) -> CliError {
    match draft.keep() {
        Ok((_, path)) => error.hint(format!("your changes were saved to {}", path.display())),
        Err(_) => error,
    }
}
