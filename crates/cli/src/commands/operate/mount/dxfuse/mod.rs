//! `cenote mount --dxfuse`: the command line, the manifests and the texts of dxfuse, the mount of DNAnexus, so that scripts that call it
//! run with this program.

mod flags;
mod log;
mod server;

use std::io::Write;

use cenote_client::Client;
use cenote_mount::fuse::KernelOptions;
use cenote_mount::{FileSystem, Layout, LayoutError, Manners, Options, Ownership};

use self::flags::{Flags, Wanted};
use self::log::{DaemonLog, StateFolder};
use self::server::Server;
use super::manifest::{DirectoryEntry, Manifest, Resolver, wrong};
use super::mounted;
use super::running::{self, is_child};
use crate::error::{CliError, Kind, Result};
use crate::session::Session;

/// Runs a command line of dxfuse.
pub(super) async fn run(arguments: &[String], session: &Session) -> Result<()> {
    match flags::parse(arguments) {
        Ok(Wanted::Help) => Ok(std::io::stderr().write_all(flags::usage().as_bytes())?),
        Ok(Wanted::Version) => session.output.bytes(format!("{}\n", flags::VERSION).as_bytes()),
        Ok(Wanted::Mount(flags)) => mount(&flags, session).await.map_err(as_dxfuse),
        Err(message) => {
            std::io::stderr().write_all(flags::usage().as_bytes())?;
            Err(CliError::new(Kind::Usage, message))
        }
    }
}

/// dxfuse ends with 1 whatever failed.
fn as_dxfuse(error: CliError) -> CliError {
    error.of_kind(Kind::Failed)
}

async fn mount(flags: &Flags, session: &Session) -> Result<()> {
    mounted::require_none(&flags.mountpoint)?;
    if !flags.mountpoint.is_dir() {
        let message = format!("not a directory: {}", flags.mountpoint.display());
        return Err(
            CliError::new(Kind::NotFound, message).hint("make an empty directory to mount at")
        );
    }
    let state = StateFolder::open(flags.state_folder.as_deref())?;
    if !flags.foreground && !is_child() {
        return in_background(&state, session).await;
    }
    // Scripts look for processes of that name; if it cannot be set, the mount still works.
    let _unnamed = std::fs::write("/proc/self/comm", "dxfuse");
    let log = state.begin_log()?;
    let served = serve(flags, session, (&state, &log)).await;
    served.inspect_err(|error| log.line("main", format!("Mounting dxfuse failed: {error}")))
}

async fn in_background(state: &StateFolder, session: &Session) -> Result<()> {
    let path = state.log_path();
    let begun = format!(
        "The log file is located at {}\nstarting fs daemon\nwait for ready\n",
        path.display()
    );
    session.output.bytes(begun.as_bytes())?;
    session.output.flush()?;
    running::in_background().await?;
    session.output.bytes(b"Daemon started successfully\n")
}

async fn serve(
    flags: &Flags,
    session: &Session,
    (state, log): (&StateFolder, &DaemonLog),
) -> Result<()> {
    let client = match Server::of_environment() {
        Some(server) => server.client()?,
        None => session.client()?.clone(),
    };
    let layout = layout(flags, &client, state).await?;
    let options = options(flags, layout, log)?;
    let (system, stale) = FileSystem::open(client, options).await.map_err(running::explain)?;
    let allow_other = running::caller()?.uid == 0;
    let kernel = KernelOptions { name: "dxfuse".to_owned(), allow_other, no_programs: false };
    let announce = || {
        log.line("main", "Mounting dxfuse succeeded");
        session.output.bytes(b"mounted\n")?;
        session.output.flush()
    };
    let ended = running::until_unmounted((system, stale), &flags.mountpoint, &kernel, announce);
    ended.await?;
    log.line("main", "Shutting down dxfuse");
    Ok(())
}

fn options(flags: &Flags, layout: Layout, log: &DaemonLog) -> Result<Options> {
    let Ownership { uid, gid } = running::caller()?;
    let owner = Ownership { uid: flags.uid.unwrap_or(uid), gid: flags.gid.unwrap_or(gid) };
    if flags.verbose > 0 {
        log.line("main", format!("{} places, {flags:?}", layout.places().len()));
    }
    Ok(Options {
        layout: Some(layout),
        manners: Manners::Dxfuse { overwrite: flags.allow_overwrite },
        write: flags.limited_write,
        log: log.of_faults(),
        ..Options::new(owner, running::now)
    })
}

/// What is shown: the places of a manifest, or each project as a directory.
async fn layout(flags: &Flags, client: &Client, state: &StateFolder) -> Result<Layout> {
    let mut resolver = Resolver::new(client.clone(), true);
    let mut manifest = match flags.manifest() {
        Some(path) => Manifest::load(path.as_ref())?,
        None => of_projects(&flags.shown, &mut resolver).await?,
    };
    let places = resolver.places(&mut manifest).await?;
    state.keep_manifest(&manifest)?;
    Layout::new(places).map_err(refused)
}

/// The manifest that has each project as a directory.
async fn of_projects(projects: &[String], resolver: &mut Resolver) -> Result<Manifest> {
    let mut manifest = Manifest::default();
    for project in projects {
        let plain = project.strip_prefix(':').unwrap_or(project);
        let is_id = plain.starts_with("project-") || plain.starts_with("container-");
        let base = match is_id || plain.starts_with('/') {
            true => resolver.base(plain).await?,
            false => resolver.named(plain).await?,
        };
        if base.name.is_empty() || base.name.contains('/') {
            let message = format!("Project {plain} has a non posix compliant name ({})", base.name);
            return Err(CliError::new(Kind::Usage, message).hint("give it a place by a manifest"));
        }
        manifest.directories.push(DirectoryEntry {
            proj_id: base.id().unwrap_or(plain).to_owned(),
            folder: base.folder_path().to_owned(),
            dirname: format!("/{}", base.name),
            ..DirectoryEntry::default()
        });
    }
    Ok(manifest)
}

/// The texts of dxfuse.
pub(super) fn refused(error: LayoutError) -> CliError {
    match &error {
        LayoutError::Twice(_) => wrong(format!("directory {error}")),
        _ => wrong(error),
    }
}
