//! `cenote scrub`: the verification of stored contents against corruption.

use cenote_client::Record;
use serde_json::Value;

use crate::commands::record;
use crate::error::{CliError, Kind, Result};
use crate::session::Session;

/// Show the progress of the scrub, and which copies of contents are damaged.
///
/// A server periodically reads every copy of every content at a limited rate, and repairs damaged copies from intact ones. The
/// rate and the interval between rounds are settings of the server ([upkeep]).
#[derive(Debug, clap::Args)]
pub(crate) struct Args {
    /// Start a round now; the server continues it in the background, at its rate
    #[arg(long)]
    start: bool,
}

impl Args {
    pub(crate) async fn run(self, session: &Session) -> Result<()> {
        let scrub = session.client()?.scrub(self.start).await?;
        let mut round = scrub.clone();
        let damaged = round.remove("damaged").unwrap_or_default();
        session.output.item(&scrub, |_| format_scrub(&round, &damaged))?;
        match damaged.as_array().map_or(0, Vec::len) {
            0 => Ok(()),
            count => Err(CliError::new(Kind::Found, format!("{count} copies are damaged"))
                .hint("put the objects again, or restore the files from a backup")),
        }
    }
}

/// The round, then a line for each damaged copy.
fn format_scrub(round: &Record, damaged: &Value) -> String {
    let copies = damaged.as_array().into_iter().flatten().filter_map(Value::as_object);
    let lines = copies.map(|copy| format!("\ndamaged  {}", row(copy)));
    std::iter::once(record::lines(round)).chain(lines).collect()
}

fn row(copy: &Record) -> String {
    let text = |name: &str| copy.get(name).and_then(Value::as_str).unwrap_or_default();
    let objects = copy.get("objects").and_then(Value::as_array).into_iter().flatten();
    let objects: Vec<_> = objects.filter_map(Value::as_str).collect();
    let [blob, place, detail] = ["blob", "place", "detail"].map(text);
    format!("{blob} in {place}: {}: {detail}", objects.join(" "))
}
