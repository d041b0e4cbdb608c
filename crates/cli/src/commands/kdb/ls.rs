//! `cenote kdb ls`.

use cenote_keyset::KeyName;

use super::file::FileArgs;
use super::show::key_json;
use crate::error::Result;
use crate::session::Session;

/// List the names of a key and of all below it; with --json the keys.
#[derive(Debug, clap::Args)]
pub(crate) struct Args {
    #[command(flatten)]
    file: FileArgs,
    /// The key to start at; all keys without it
    name: Option<String>,
    /// List only names with at least this many more parts
    #[arg(short = 'm', long, value_name = "PARTS", default_value_t = 0)]
    min_depth: usize,
    /// List only names with at most this many more parts
    #[arg(short = 'M', long, value_name = "PARTS")]
    max_depth: Option<usize>,
    /// End each name with a NUL
    #[arg(short = '0', long)]
    null: bool,
}

impl Args {
    pub(crate) fn run(self, session: &Session) -> Result<()> {
        let opened = self.file.open(session)?;
        let (root, keys) = match &self.name {
            Some(name) => {
                let root = opened.name(name)?;
                let keys = opened.keys.below(&root);
                (root, keys)
            }
            None => (opened.parent.clone(), opened.keys),
        };
        let above = root.parts().count();
        for key in keys.iter().filter(|key| self.lists(&key.name().to_name(), above)) {
            if self.null && !session.output.is_json() {
                session.output.bytes(&[&key.name().to_bytes()[..], b"\0"].concat())?;
            } else {
                session.output.item(&key_json(key), |_| key.name().to_string())?;
            }
        }
        Ok(())
    }

    fn lists(&self, name: &KeyName, above: usize) -> bool {
        let depth = name.parts().count().saturating_sub(above);
        depth >= self.min_depth && self.max_depth.is_none_or(|most| depth <= most)
    }
}
