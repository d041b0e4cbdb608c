//! `cenote kdb set`.

use base64::Engine as _;
use base64::prelude::BASE64_STANDARD;
use cenote_keyset::Key;

use super::show::{described, key_json};
use crate::commands::kdb::documents::file::{FileArgs, retrying, wrong};
use crate::error::Result;
use crate::session::Session;

/// Set the value of a key; a missing file or key is created.
#[derive(Debug, clap::Args)]
pub(crate) struct Args {
    #[command(flatten)]
    file: FileArgs,
    /// The key; a cascading name sets the key found by a lookup
    name: String,
    /// The value
    #[arg(required_unless_present_any = ["base64", "null"])]
    value: Option<String>,
    /// The value is these bytes, in base64
    #[arg(long, value_name = "TEXT", conflicts_with = "value")]
    base64: Option<String>,
    /// Make it a binary key with a null value
    #[arg(long, conflicts_with_all = ["value", "base64"])]
    null: bool,
}

impl Args {
    pub(crate) fn run(self, session: &Session) -> Result<()> {
        let (key, is_new) = retrying(|| self.set(session))?;
        let (name, value) = (key.name(), described(key.value()));
        session.output.done(&key_json(key.borrow()), |_| match is_new {
            true => format!("Create a new key {name} with {value}"),
            false => match value.strip_prefix("string ") {
                Some(text) => format!("Set string to {text}"),
                None => format!("Set to {value}"),
            },
        })
    }

    fn set(&self, session: &Session) -> Result<(Key, bool)> {
        let mut opened = self.file.open_or_new(session)?;
        let old = opened.key_or_new(&self.name)?;
        let is_new = opened.keys.get(&old.name().to_name()).is_none();
        let key = self.changed(old)?;
        opened.keys.append(key.clone());
        opened.save()?;
        Ok((key, is_new))
    }

    fn changed(&self, mut key: Key) -> Result<Key> {
        match (&self.value, &self.base64) {
            (Some(text), _) => key.set_string(text).map_err(wrong)?,
            (None, Some(text)) => key.set_binary(bytes(text)?),
            (None, None) => key.set_binary(b""),
        }
        Ok(key)
    }
}

fn bytes(base64: &str) -> Result<Vec<u8>> {
    let bytes = BASE64_STANDARD.decode(base64);
    bytes.map_err(|error| wrong(format!("`{base64}` is not base64: {error}")))
}
