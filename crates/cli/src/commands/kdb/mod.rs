//! `cenote kdb`: key sets in files and in the store, with the verbs of Elektra's `kdb`.

mod convert;
mod cp;
mod diff;
mod export;
mod file;
mod get;
mod import;
mod ls;
mod merge;
mod meta_get;
mod meta_ls;
mod meta_rm;
mod meta_set;
mod metakey;
mod mv;
mod rm;
mod set;
mod show;
mod storage;

use crate::error::Result;
use crate::session::Session;

const NAMES: &str = "\
Names: `user:/app/port` is a whole name, `port` is below --parent, and `/app/port` is looked up in
the namespaces spec, proc, dir, user, system and default.

Formats: quickdump, dump, json, toml, ini; without --format the content or the extension tells.

A file is replaced at once, keeps its mode and owner, and is left alone if another program changed
it meanwhile (exit code 7). `:/lab/app.quickdump` is a path in the store; the same holds there.";

/// Read and change key sets: configuration in Elektra's formats.
#[derive(Debug, clap::Args)]
#[command(after_long_help = NAMES)]
pub(crate) struct Args {
    #[command(subcommand)]
    verb: Verb,
}

#[derive(Debug, clap::Subcommand)]
enum Verb {
    Get(get::Args),
    Set(set::Args),
    Ls(ls::Args),
    Rm(rm::Args),
    Cp(cp::Args),
    Mv(mv::Args),
    MetaGet(meta_get::Args),
    MetaSet(meta_set::Args),
    MetaRm(meta_rm::Args),
    MetaLs(meta_ls::Args),
    Convert(convert::Args),
    Import(import::Args),
    Export(export::Args),
    Merge(merge::Args),
    Diff(diff::Args),
}

impl Args {
    pub(crate) async fn run(self, session: &Session) -> Result<()> {
        // The verbs wait for the disk: not on a thread that others' work is waiting on.
        tokio::task::block_in_place(|| self.verb.run(session))
    }
}

impl Verb {
    fn run(self, session: &Session) -> Result<()> {
        match self {
            Self::Get(args) => args.run(session),
            Self::Set(args) => args.run(session),
            Self::Ls(args) => args.run(session),
            Self::Rm(args) => args.run(session),
            Self::Cp(args) => args.run(session),
            Self::Mv(args) => args.run(session),
            Self::MetaGet(args) => args.run(session),
            Self::MetaSet(args) => args.run(session),
            Self::MetaRm(args) => args.run(session),
            Self::MetaLs(args) => args.run(session),
            Self::Convert(args) => args.run(session),
            Self::Import(args) => args.run(session),
            Self::Export(args) => args.run(session),
            Self::Merge(args) => args.run(session),
            Self::Diff(args) => args.run(session),
        }
    }
}
