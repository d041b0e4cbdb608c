//! `cenote cp`: copy in the store, or to or from it.

use cenote_client::{At, Relocation, ResourceKind};

use super::relocate::{Target, done};
use crate::error::{CliError, Kind, Result};
use crate::glob;
use crate::place::{Place, StorePath};
use crate::session::Session;

/// Copy resources in the store; copies share their contents and take no extra space.
///
/// `cp FILE :/lab` and `cp :/lab/a.gsd .` are `put` and `get`.
#[derive(Debug, clap::Args)]
pub(crate) struct Args {
    /// Sources, followed by the target; paths in the store begin with a colon, as in `:/lab/run7`
    #[arg(required = true, num_args = 2.., value_name = "PATH")]
    paths: Vec<String>,
    /// Copy collections and directories, with everything below them
    #[arg(long, short)]
    recursive: bool,
    /// Replace existing resources
    #[arg(long, short)]
    force: bool,
    /// Print what would be copied, without copying anything
    #[arg(long, short = 'n')]
    dry_run: bool,
}

impl Args {
    pub(crate) async fn run(self, session: &Session) -> Result<()> {
        let (to, from) = self.paths.split_last().expect("there are at least two");
        let places = from.iter().map(|path| Place::parse(path)).collect::<Result<Vec<_>>>()?;
        let from: Vec<StorePath> = places.iter().filter_map(in_store).collect();
        match Place::parse(to)? {
            Place::Store(to) if from.len() == places.len() => self.copy(session, &from, &to).await,
            Place::Store(_) if from.is_empty() => self.as_verb(session, "put").await,
            Place::Local(_) | Place::Standard if from.len() == places.len() => {
                self.as_verb(session, "get").await
            }
            _ => Err(sides(from.is_empty())),
        }
    }

    async fn copy(&self, session: &Session, from: &[StorePath], to: &StorePath) -> Result<()> {
        let client = session.client()?;
        let sources = glob::expand(client, from).await?;
        let target = Target::find(client, to, sources.len()).await?;
        for source in &sources {
            if source.kind == ResourceKind::Collection && !self.recursive {
                let message = format!("a collection: {}", source.path);
                return Err(CliError::new(Kind::Usage, message)
                    .hint("use -r to copy a collection with everything below it"));
            }
            let to = target.path_for(source.name.as_deref().unwrap_or_default());
            let relocation = Relocation {
                from: At::Id(source.id),
                to: to.as_str().into(),
                replace: self.force,
                versions: false,
                parents: false,
            };
            if !self.dry_run {
                client.copy(&relocation, self.recursive).await?;
            }
            done(session, "copy", &source.path, &to, self.dry_run)?;
        }
        Ok(())
    }

    /// The same, said with the verb for this direction.
    async fn as_verb(&self, session: &Session, verb: &str) -> Result<()> {
        use clap::Parser;
        let flags = [(self.recursive, "--recursive"), (self.dry_run, "--dry-run")];
        let flags = flags.into_iter().filter_map(|(set, flag)| set.then_some(flag));
        let words = ["cenote", verb].into_iter().chain(flags).chain(["--"]);
        let words = words.chain(self.paths.iter().map(String::as_str));
        let cli = crate::args::Cli::try_parse_from(words)
            .map_err(|error| CliError::new(Kind::Usage, error.to_string()))?;
        Box::pin(cli.command.run(session)).await
    }
}

fn in_store(place: &Place) -> Option<StorePath> {
    match place {
        Place::Store(path) => Some(path.clone()),
        Place::Local(_) | Place::Standard => None,
    }
}

fn sides(none_in_store: bool) -> CliError {
    let message = match none_in_store {
        true => "neither side is in the store",
        false => "the sources are on both sides",
    };
    CliError::new(Kind::Usage, message).hint("put a colon before a path in the store: `:/lab/run7`")
}
