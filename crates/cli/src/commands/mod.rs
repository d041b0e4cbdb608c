//! The verbs. Each file has one: an `Args` with its command line, and `run`.
//!
//! To add a verb, or a group of verbs with sub-commands of its own, write its
//! module with `Args` and `async fn run(self, session: &Session) -> Result<()>`,
//! and add one line to the table below. The order here is that of the help.

mod job;
mod record;
mod relocate;

use clap::Subcommand;

use crate::error::Result;
use crate::session::Session;

macro_rules! verbs {
    ($($variant:ident => $module:ident,)*) => {
        $(mod $module;)*

        /// What to do.
        #[derive(Debug, Subcommand)]
        pub(crate) enum Command {
            $($variant($module::Args),)*
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
    Init => init,
    Serve => serve,
    Put => put,
    Get => get,
    Cat => cat,
    Ls => ls,
    Stat => stat,
    Tree => tree,
    Find => find,
    Mkdir => mkdir,
    Mv => mv,
    Cp => cp,
    Rm => rm,
    Trash => trash,
    Meta => meta,
    Acl => acl,
    Ticket => ticket,
    User => user,
    Group => group,
    Token => token,
    Versions => versions,
    Place => place,
    Replicate => replicate,
    Trim => trim,
    Register => register,
    Sync => sync,
    Du => du,
    Check => check,
    Scrub => scrub,
    Stats => stats,
    Changes => changes,
    Gsd => gsd,
    Kdb => kdb,
    Config => config,
    Completions => completions,
    Man => man,
}
