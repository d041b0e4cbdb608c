//! `cenote stat`: all attributes of a resource.

use cenote_client::Resource;

use crate::commands::files::history::past::{self, PastArgs};
use crate::error::Result;
use crate::glob;
use crate::place::StorePath;
use crate::session::Session;
use crate::text;

/// Show all attributes of resources.
#[derive(Debug, clap::Args)]
pub(crate) struct Args {
    /// Paths in the store, or patterns
    #[arg(required = true)]
    paths: Vec<StorePath>,
    #[command(flatten)]
    past: PastArgs,
}

impl Args {
    pub(crate) async fn run(self, session: &Session) -> Result<()> {
        let client = session.client()?;
        let found = match &self.past.as_of {
            Some(moment) => past::found(client, &self.paths, &moment.text()).await?,
            None => glob::expand(client, &self.paths).await?,
        };
        for resource in found {
            session.output.item(&resource, format_resource)?;
        }
        Ok(())
    }
}

/// The media type; if it was not said, that shows.
fn media_type(resource: &Resource, text: &str) -> String {
    if resource.media_type_guessed { format!("{text} (guessed)") } else { text.to_owned() }
}

fn format_resource(resource: &Resource) -> String {
    let time = |time: Option<jiff::Timestamp>| time.map(text::time);
    let who = |who: &Option<String>| who.clone();
    let lines = [
        ("path", Some(resource.path.clone())),
        ("kind", Some(text::kind(resource.kind).to_owned())),
        ("id", Some(resource.id.to_string())),
        ("size", resource.size.map(|size| format!("{size} ({})", text::size(size)))),
        ("target", resource.target.clone()),
        ("type", resource.media_type.as_ref().map(|text| media_type(resource, text))),
        ("sha256", resource.sha256.clone()),
        ("owner", who(&resource.owner)),
        ("mode", resource.mode.map(|mode| format!("{mode:04o}"))),
        ("mtime", time(resource.mtime)),
        ("content", time(resource.content_modified)),
        ("described", time(resource.description_modified)),
        ("members", time(resource.members_modified)),
        ("created", time(resource.created)),
        ("by", who(&resource.created_by)),
        ("modified", time(resource.modified)),
        ("by", who(&resource.modified_by)),
        ("etag", resource.etag.clone()),
        ("state", resource.state.clone()),
        ("you may", resource.level.clone()),
    ];
    let lines = lines.into_iter().filter_map(|(name, value)| Some((name, value?)));
    lines.map(|(name, value)| format!("{name:<9} {value}")).collect::<Vec<_>>().join("\n")
}
