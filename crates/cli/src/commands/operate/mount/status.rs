//! `cenote mount --status`: what a mount is doing.

use std::path::Path;

use cenote_mount::{Share, Status};

use super::mounted;
use crate::error::{CliError, Kind, Result};
use crate::session::Session;
use crate::text;

pub(super) fn show(session: &Session, dir: &Path) -> Result<()> {
    let status = read(dir)?;
    session.output.item(&status, |_| lines(&status).join("\n"))
}

fn read(dir: &Path) -> Result<Status> {
    let value = mounted::status(dir).map_err(|error| mounted::without_status(dir, error))?;
    serde_json::from_slice(&value)
        .map_err(|error| CliError::new(Kind::Failed, format!("another version's mount: {error}")))
}

fn lines(status: &Status) -> Vec<String> {
    let mode = if status.write { "read-write" } else { "read-only" };
    let changes = match (&status.as_of, status.follows) {
        (Some(position), _) => format!("as of {position}"),
        (None, true) if status.offline => format!("offline, as of {}", status.position),
        (None, true) => format!("follows changes, up to {}", status.position),
        (None, false) => "without the change feed".to_owned(),
    };
    let mut lines = vec![
        format!("mounted {} {mode}, {changes}", status.root),
        format!("known files and directories: {}", status.known),
        format!("open files: {}", status.open_files),
        format!("not published: {}", status.unpublished.len()),
    ];
    lines.extend(status.unpublished.iter().map(|file| {
        let path = file.path.as_deref().unwrap_or("(removed)");
        format!("  {path}  {}", text::size(file.size))
    }));
    if status.lost > 0 {
        lines.push(format!("not shown, since their state was not kept: {}", status.lost));
    }
    lines.push(format!("read ahead: {}", share(status.read_ahead)));
    lines.push(format!("written, in memory: {}", share(status.write_memory)));
    lines.extend(status.cache.as_ref().map(|cache| {
        let (bytes, contents) = (share(cache.bytes), cache.contents);
        let [read, fetched] = [cache.read, cache.fetched].map(text::size);
        format!(
            "cache {}: {bytes} in {contents} contents; {read} read, {fetched} fetched",
            cache.dir
        )
    }));
    lines
}

fn share(share: Share) -> String {
    format!("{} of {}", text::size(share.used), text::size(share.limit))
}
