//! `cenote kdb meta-ls`.

use serde_json::json;

use crate::commands::kdb::documents::file::FileArgs;
use crate::commands::kdb::keys::show::lossy;
use crate::error::Result;
use crate::session::Session;

/// List the metakeys of a key; with --json their values too.
#[derive(Debug, clap::Args)]
pub(crate) struct Args {
    #[command(flatten)]
    file: FileArgs,
    /// The key
    name: String,
}

impl Args {
    pub(crate) fn run(self, session: &Session) -> Result<()> {
        list(&self.file, &self.name, session, |name, _| name.to_owned())
    }
}

/// Prints each metakey of a key as `line` shows its name and value.
pub(crate) fn list(
    file: &FileArgs,
    key: &str,
    session: &Session,
    line: impl Fn(&str, &str) -> String,
) -> Result<()> {
    let mut opened = file.open(session)?;
    for meta in opened.key(key)?.meta() {
        let (name, value) = (lossy(meta.name()), lossy(meta.value()));
        session.output.item(&json!({ "meta": name, "value": value }), |_| line(&name, &value))?;
    }
    Ok(())
}
