//! `cenote kdb`: key sets in files and in the store, with the verbs of Elektra's `kdb`.

mod documents;
mod keys;
mod metakeys;
mod validate;

use crate::error::Result;
use crate::session::Session;

const NAMES: &str = "\
Names: `user:/app/port` is an absolute name, `port` is relative to --parent, and `/app/port` is
looked up in the namespaces spec, proc, dir, user, system and default.

Formats: quickdump, dump, json, toml, ini; without --format the format is detected from the content
or the extension.

JSON, TOML and INI files are edited in place: everything else, including comments and order, is
kept. A change that the format cannot express is refused before anything is written.

Files are replaced atomically and keep their mode and owner. If another program changed the file in
the meantime, `set`, `rm`, `meta-set` and `meta-rm` apply their change again to the new content;
other commands leave the file unchanged (exit code 7). `:/lab/app.quickdump` is a path in the store,
to which the same applies.";

/// Read and change key sets (configuration in Elektra's formats).
#[derive(Debug, clap::Args)]
#[command(after_long_help = NAMES)]
pub(crate) struct Args {
    #[command(subcommand)]
    verb: Verb,
}

#[derive(Debug, clap::Subcommand)]
enum Verb {
    Get(keys::get::Args),
    Sget(keys::sget::Args),
    Set(keys::set::Args),
    Ls(keys::ls::Args),
    Find(keys::find::Args),
    Rm(keys::rm::Args),
    Cp(keys::cp::Args),
    Mv(keys::mv::Args),
    MetaGet(metakeys::get::Args),
    MetaSet(metakeys::set::Args),
    MetaRm(metakeys::rm::Args),
    MetaLs(metakeys::ls::Args),
    MetaShow(metakeys::show::Args),
    Validate(validate::Args),
    Editor(documents::editor::Args),
    File(documents::path::Args),
    Convert(documents::convert::Args),
    Import(documents::import::Args),
    Export(documents::export::Args),
    Merge(documents::merge::Args),
    Diff(documents::diff::Args),
}

impl Args {
    pub(crate) async fn run(self, session: &Session) -> Result<()> {
        // The verbs block on the disk, so they do not run on a thread of the executor.
        tokio::task::block_in_place(|| self.verb.run(session))
    }
}

impl Verb {
    fn run(self, session: &Session) -> Result<()> {
        match self {
            Self::Get(args) => args.run(session),
            Self::Sget(args) => args.run(session),
            Self::Set(args) => args.run(session),
            Self::Ls(args) => args.run(session),
            Self::Find(args) => args.run(session),
            Self::Rm(args) => args.run(session),
            Self::Cp(args) => args.run(session),
            Self::Mv(args) => args.run(session),
            Self::MetaGet(args) => args.run(session),
            Self::MetaSet(args) => args.run(session),
            Self::MetaRm(args) => args.run(session),
            Self::MetaLs(args) => args.run(session),
            Self::MetaShow(args) => args.run(session),
            Self::Validate(args) => args.run(session),
            Self::Editor(args) => args.run(session),
            Self::File(args) => args.run(session),
            Self::Convert(args) => args.run(session),
            Self::Import(args) => args.run(session),
            Self::Export(args) => args.run(session),
            Self::Merge(args) => args.run(session),
            Self::Diff(args) => args.run(session),
        }
    }
}
