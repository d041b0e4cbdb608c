//! Completion of command lines, which shells ask the program itself for: its words, files of this machine, and paths in
//! the store.
//!
//! Invariant: completion never asks for a password, changes nothing, and gives up after a short timeout.

use std::any::TypeId;
use std::ffi::OsStr;
use std::time::Duration;

use cenote_client::{Client, Resource, ResourceKind, With};
use clap::{Arg, Command, CommandFactory};
use clap_complete::engine::{
    ArgValueCompleter, CompletionCandidate, PathCompleter, ValueCompleter,
};

use crate::args::{Cli, GlobalArgs};
use crate::place::{StorePath, join};
use crate::session::Session;

/// The variable by which a shell asks: it names the shell.
pub(crate) const VARIABLE: &str = "CENOTE_COMPLETE";
/// How long a shell waits for names.
const MOMENT: Duration = Duration::from_secs(2);
/// The maximum number of names: more would not be useful.
const MOST: u32 = 200;
/// Arguments that may be on either side.
const EITHER: [&str; 5] = ["paths", "from", "to", "file", "input"];

/// The command line, with what completes its paths.
pub(crate) fn command() -> Command {
    with_paths(Cli::command())
}

fn with_paths(command: Command) -> Command {
    command.mut_args(with_path).mut_subcommands(with_paths)
}

fn with_path(arg: Arg) -> Arg {
    if arg.get_value_parser().type_id() == TypeId::of::<StorePath>() {
        return arg.add(ArgValueCompleter::new(in_store));
    }
    match EITHER.contains(&arg.get_id().as_str()) {
        true => arg.add(ArgValueCompleter::new(on_either_side)),
        false => arg,
    }
}

fn on_either_side(current: &OsStr) -> Vec<CompletionCandidate> {
    if current.as_encoded_bytes().starts_with(b":") {
        return in_store(current);
    }
    let mut found = PathCompleter::any().stdio().complete(current);
    if current.is_empty() {
        found.push(CompletionCandidate::new(":/"));
    }
    found
}

fn in_store(current: &OsStr) -> Vec<CompletionCandidate> {
    let text = current.to_str().unwrap_or_default();
    let (colon, path) = text.strip_prefix(':').map_or(("", text), |path| (":", path));
    let path = if path.is_empty() { "/" } else { path };
    let Some((above, start)) = path.rsplit_once('/') else { return Vec::new() };
    let shown = |resource: Resource| {
        let name = resource.name.unwrap_or_default();
        let end = if resource.kind == ResourceKind::Collection { "/" } else { "" };
        CompletionCandidate::new(format!("{colon}{above}/{name}{end}"))
    };
    children(above, start).unwrap_or_default().into_iter().map(shown).collect()
}

/// The children of a collection whose names begin with `start`, or nothing if the store does not answer at once.
fn children(above: &str, start: &str) -> Option<Vec<Resource>> {
    let session = Session::new(&GlobalArgs::default()).ok()?;
    let is_set = |name| session.settings.get(name).is_some();
    if is_set("user") && !is_set("password") && !is_set("token") {
        return None;
    }
    let runtime = tokio::runtime::Builder::new_multi_thread().enable_all().build().ok()?;
    let listed = async {
        let listed = list(session.client().ok()?, above, start);
        tokio::time::timeout(MOMENT, listed).await.ok()?
    };
    runtime.block_on(listed)
}

async fn list(client: &Client, above: &str, start: &str) -> Option<Vec<Resource>> {
    let above = if above.is_empty() { "/" } else { above };
    // A listing starts after a name, so the name itself is looked up separately.
    let exact = match start {
        "" => None,
        start => client.find(&join(above, start)).await.ok()?,
    };
    let after = Some(start).filter(|start| !start.is_empty());
    let page = client.list_page(&above.into(), after, Some(MOST), With::default()).await.ok()?;
    let begins = |child: &Resource| child.name.as_ref().is_some_and(|name| name.starts_with(start));
    Some(exact.into_iter().chain(page.entries.into_iter().take_while(begins)).collect())
}
