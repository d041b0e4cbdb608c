//! The verbs. Each file has one: an `Args` with its command line, and `run`.
//!
//! To add a verb, or a group of verbs with sub-commands of its own, write its
//! module in the room that it belongs to, with `Args` and `async fn run(self, session: &Session) -> Result<()>`,
//! and add one line to the table below. The order here is that of the help.

mod access;
mod copies;
mod files;
mod gsd;
mod kdb;
mod operate;
mod places;
mod program;
mod record;

use clap::Subcommand;

use crate::error::Result;
use crate::session::Session;

macro_rules! verbs {
    ($($variant:ident => $($module:ident)::+,)*) => {
        /// What to do.
        #[derive(Debug, Subcommand)]
        pub(crate) enum Command {
            $($variant($($module)::+::Args),)*
        }

        impl Command {
            /// Does it.
            pub(crate) async fn run(self, session: &Session) -> Result<()> {
                match self {
                    $(Self::$variant(args) => args.run(session).await,)*
                }
            }

            /// Whether the command handles control-C itself: a server shuts down in an orderly way, and
            /// a command that blocks on the disk could not be cancelled by the runtime.
            pub(crate) fn stops_itself(&self) -> bool {
                matches!(self, Self::Serve(_) | Self::Gsd(_) | Self::Mount(_))
            }
        }
    };
}

verbs! {
    Init => operate::init,
    Serve => operate::serve,
    Put => files::contents::put,
    Get => files::contents::get,
    Cat => files::contents::cat,
    Ls => files::resources::ls,
    Stat => files::resources::stat,
    Tree => files::resources::tree,
    Find => files::descriptions::find,
    Sparql => files::descriptions::sparql,
    Mkdir => files::resources::mkdir,
    Mv => files::resources::mv,
    Cp => files::resources::cp,
    Rm => files::resources::rm,
    Trash => files::history::trash,
    Restore => files::history::restore,
    Meta => files::descriptions::meta,
    Acl => access::acl,
    Ticket => access::ticket,
    Login => access::login,
    Logout => access::logout,
    Whoami => access::whoami,
    User => access::user,
    Group => access::group,
    Token => access::token,
    Quota => access::quota,
    Versions => files::history::versions,
    Changeset => files::history::changeset,
    Place => places::place,
    Replicate => places::replicate,
    Trim => places::trim,
    Register => places::register,
    Sync => files::contents::sync,
    Export => operate::export,
    Import => operate::import,
    Backup => copies::backup,
    Migrate => copies::migrate,
    MigrateDnanexus => operate::migrate_dnanexus,
    MigrateFedora => operate::migrate_fedora,
    Mount => operate::mount,
    Umount => operate::umount,
    Du => files::resources::du,
    Check => operate::check,
    Scrub => operate::scrub,
    Upgrade => operate::upgrade,
    Stats => operate::stats,
    Changes => operate::changes,
    Gsd => gsd,
    Kdb => kdb,
    Config => program::config,
    Completions => program::completions,
    Man => program::man,
}
