//! The metakey that a verb is about.

use cenote_keyset::KeyRef;

use crate::commands::kdb::documents::file::FileArgs;
use crate::error::{CliError, Kind};

/// A metakey of a key in a file.
#[derive(Debug, clap::Args)]
pub(crate) struct MetakeyArgs {
    #[command(flatten)]
    pub(crate) file: FileArgs,
    /// The key
    pub(crate) name: String,
    /// The metakey, with or without `meta:/`
    pub(crate) meta: String,
}

impl MetakeyArgs {
    /// The error where the key is there, but has no such metakey.
    pub(crate) fn missing(&self, key: KeyRef<'_>) -> CliError {
        let message = format!("`{}` has no metakey `{}`", key.name(), self.meta);
        CliError::new(Kind::NotFound, message)
    }
}
