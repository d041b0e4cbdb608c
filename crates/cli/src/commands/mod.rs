//! The verbs. Each file has one: an `Args` with its command line, and `run`.
//!
//! To add a verb, or a group of verbs with sub-commands of its own, write its
//! module with `Args` and `async fn run(self, session: &Session) -> Result<()>`,
//! and add one line to the table below. The order here is that of the help.

use clap::Subcommand;

use crate::error::Result;
use crate::session::Session;

macro_rules! verbs {
    ($($variant:ident => $module:ident,)*) => {
        $(mod $module;)*

        /// What to do.
        #[derive(Debug, Subcommand)]
        pub(crate) enum Command {
            $(#[allow(missing_docs)] $variant($module::Args),)*
        }

        impl Command {
            /// Does it.
            pub(crate) async fn run(self, session: &Session) -> Result<()> {
                match self {
                    $(Self::$variant(args) => args.run(session).await,)*
                }
            }
        }
    };
}

verbs! {
    Gsd => gsd,
    Kdb => kdb,
    Config => config,
    Completions => completions,
}
