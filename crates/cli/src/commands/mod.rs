//! The verbs. Each file has one: an `Args` with its command line, and `run`.
//!
//! To add a verb, or a group of verbs with sub-commands of its own, write its
//! module in the room that it belongs to, with `Args` and `async fn run(self, session: &Session) -> Result<()>`,
//! and add one line to the table below. The order here is that of the help.

mod access;
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
                matches!(self, Self::Serve(_) | Self::Gsd(_))
            }
        }
    };
}

verbs! {
    Init => operate::init,
    Serve => operate::serve,
    Put => files::put,
    Get => files::get,
    Cat => files::cat,
    Ls => files::ls,
    Stat => files::stat,
    Tree => files::tree,
    Find => files::find,
    Mkdir => files::mkdir,
    Mv => files::mv,
    Cp => files::cp,
    Rm => files::rm,
    Trash => files::trash,
    Restore => files::restore,
    Meta => files::meta,
    Acl => access::acl,
    Ticket => access::ticket,
    Login => access::login,
    Logout => access::logout,
    Whoami => access::whoami,
    User => access::user,
    Group => access::group,
    Token => access::token,
    Quota => access::quota,
    Versions => files::versions,
    Changeset => files::changeset,
    Place => places::place,
    Replicate => places::replicate,
    Trim => places::trim,
    Register => places::register,
    Sync => files::sync,
    Du => files::du,
    Check => operate::check,
    Scrub => operate::scrub,
    Stats => operate::stats,
    Changes => operate::changes,
    Gsd => gsd,
    Kdb => kdb,
    Config => program::config,
    Completions => program::completions,
    Man => program::man,
}
