//! `cenote whoami`: the identity under which the store is accessed.

use crate::error::Result;
use crate::session::Session;

/// Show the store, and the identity under which you access it.
#[derive(Debug, clap::Args)]
pub(crate) struct Args {}

impl Args {
    pub(crate) async fn run(self, session: &Session) -> Result<()> {
        let identity = session.client()?.whoami().await?;
        let store = session.settings.get("url").map_or("", |url| url.value.as_str());
        let (name, role, groups) = (&identity.name, &identity.role, &identity.groups);
        let line =
            serde_json::json!({ "name": name, "role": role, "groups": groups, "store": store });
        session.output.item(&line, |_| match groups.as_slice() {
            [] => format!("{name} ({role}) at {store}"),
            groups => format!("{name} ({role}) in {} at {store}", groups.join(", ")),
        })
    }
}
