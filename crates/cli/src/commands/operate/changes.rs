//! `cenote changes`: what happened in the store.

use cenote_client::{At, Change, Record};

use crate::commands::record;
use crate::error::Result;
use crate::place::StorePath;
use crate::session::Session;

/// Show changes since a position; the last line is the position to continue from.
#[derive(Debug, clap::Args)]
pub(crate) struct Args {
    /// Only this resource and what is below it
    path: Option<StorePath>,
    /// A position printed by an earlier run, or `now`
    #[arg(long, value_name = "POSITION")]
    since: Option<String>,
    /// Keep showing changes as they happen
    #[arg(long, short)]
    follow: bool,
}

/// How long one request waits for something to happen, in seconds.
const WAIT: u32 = 25;

impl Args {
    pub(crate) async fn run(self, session: &Session) -> Result<()> {
        let client = session.client()?;
        let below = self.path.map(|path| At::from(path.as_str()));
        let mut since = self.since;
        loop {
            let wait = if self.follow { WAIT } else { 0 };
            let changes = client.changes(below.as_ref(), since.as_deref(), wait).await?;
            for change in &changes.items {
                session.output.item(&fields(change), record::row)?;
            }
            session.output.flush()?;
            if !changes.more && !self.follow {
                let next = serde_json::json!({ "next": changes.next });
                return session.output.done(&next, |_| format!("next={}", changes.next));
            }
            since = Some(changes.next);
        }
    }
}

/// A change as the fields that the server sent.
fn fields(change: &Change) -> Record {
    match serde_json::to_value(change) {
        Ok(serde_json::Value::Object(fields)) => fields,
        _ => Record::new(),
    }
}
