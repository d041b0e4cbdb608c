//! `cenote upgrade`: the format of a store that several servers share.

use crate::commands::record;
use crate::error::Result;
use crate::session::Session;

/// Give a store that several servers share the newest format that they all know.
///
/// After an update, servers go on with the format that the store has, so that they can be updated one after the other, and earlier
/// programs can be brought back. Once all of them are updated, this command, through any of them, changes the format; earlier programs
/// cannot open the store any more. It is refused while a server does not know the format, and may be repeated.
///
/// A store in a directory has the newest format once it was opened.
#[derive(Debug, clap::Args)]
pub(crate) struct Args {}

impl Args {
    pub(crate) async fn run(self, session: &Session) -> Result<()> {
        let upgraded = session.client()?.upgrade().await?;
        session.output.item(&upgraded, record::lines)
    }
}
