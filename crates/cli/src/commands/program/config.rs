//! `cenote config`: which settings are in force, and where they came from.

use serde::Serialize;

use crate::error::Result;
use crate::session::Session;
use cenote_client::settings::KEYS;

/// Show the effective settings and the source of each.
#[derive(Debug, clap::Args)]
pub(crate) struct Args {
    #[command(subcommand)]
    what: What,
}

#[derive(Debug, clap::Subcommand)]
enum What {
    /// Print every setting, its value (secrets masked) and its source
    Show,
    /// Print the path of the configuration file, whether it exists or not
    Path,
}

#[derive(Serialize)]
struct Line<'a> {
    key: &'static str,
    value: Option<&'a str>,
    source: Option<String>,
}

impl Args {
    pub(crate) async fn run(self, session: &Session) -> Result<()> {
        match self.what {
            What::Show => show(session),
            What::Path => path(session),
        }
    }
}

fn show(session: &Session) -> Result<()> {
    for key in KEYS {
        let setting = session.settings.get(key.name);
        let value = setting.map(|s| if key.secret { "********" } else { s.value.as_str() });
        let source = setting.map(|s| s.source.to_string());
        session.output.item(&Line { key: key.name, value, source }, |line| {
            let source = line.source.as_deref().unwrap_or("not set");
            format!("{:<10} {:<40} ({source})", line.key, line.value.unwrap_or("-"))
        })?;
    }
    Ok(())
}

fn path(session: &Session) -> Result<()> {
    let path = session.settings.file().map(|file| file.display().to_string());
    session.output.item(&serde_json::json!({ "path": path }), |_| path.clone().unwrap_or_default())
}
