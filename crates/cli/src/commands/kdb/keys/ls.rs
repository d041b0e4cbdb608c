//! `cenote kdb ls`.

use std::ops::Range;

use cenote_keyset::{KeyName, KeyRef};

use super::show::key_json;
use crate::commands::kdb::documents::file::{FileArgs, wrong};
use crate::error::Result;
use crate::session::Session;

/// List the names of a key and of all keys below it; with --json the whole keys.
#[derive(Debug, clap::Args)]
pub(crate) struct Args {
    #[command(flatten)]
    file: FileArgs,
    /// The key to start at; the default is all keys
    name: Option<String>,
    /// Skip the first PARTS levels; level 0 is the key itself or, if NAME is a root or ends with `/`,
    /// the level below it
    #[arg(short = 'm', long, value_name = "PARTS")]
    min_depth: Option<usize>,
    /// List only the first PARTS levels, counted as for --min-depth
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
        let levels = self.levels(&root)?;
        let above = root.parts().count();
        let depth = |name: KeyName| name.parts().count().saturating_sub(above);
        let mut listed = keys.iter().filter(|key| levels.contains(&depth(key.name().to_name())));
        listed.try_for_each(|key| show_name(session, key, self.null))
    }

    /// The levels that are listed, as Elektra counts them.
    fn levels(&self, root: &KeyName) -> Result<Range<usize>> {
        let (from, to) = (self.min_depth.unwrap_or(0), self.max_depth.unwrap_or(usize::MAX));
        if to <= from {
            return Err(wrong("--max-depth is larger than --min-depth"));
        }
        let is_limited = self.min_depth.is_some() || self.max_depth.is_some();
        let text = self.name.as_deref().unwrap_or("/");
        let ends_with_slash = text.ends_with('/') && !text.ends_with("\\/");
        let first = usize::from(is_limited && (root.is_root() || ends_with_slash));
        Ok(from.saturating_add(first)..to.saturating_add(first))
    }
}

/// Prints a key's name; with --json the key.
pub(crate) fn show_name(session: &Session, key: KeyRef<'_>, ends_with_nul: bool) -> Result<()> {
    if ends_with_nul && !session.output.is_json() {
        return session.output.bytes(&[&key.name().to_bytes()[..], b"\0"].concat());
    }
    session.output.item(&key_json(key), |_| key.name().to_string())
}
