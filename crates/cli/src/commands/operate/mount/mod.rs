//! `cenote mount`: the store as files.

mod dxfuse;
mod manifest;
pub(super) mod mounted;
mod running;
mod status;

use std::io::Write;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, PoisonError};

use cenote_mount::fuse::KernelOptions;
use cenote_mount::{CacheOptions, Fault, FileSystem, Layout, Log, Options, Ownership};
use jiff::Timestamp;

use self::manifest::{Manifest, Resolver};
use self::running::{explain, is_child, now};

use crate::duration::Duration;
use crate::error::{CliError, Kind, Result};
use crate::moment::AsOf;
use crate::place::StorePath;
use crate::session::Session;

/// Mount the store, or a collection of it, as a directory (Linux, FUSE).
///
/// `cenote mount DIR` mounts the store, and `cenote mount :/lab DIR` the collection /lab. The mount is
/// read-only unless --write is given. Changes made through the server are seen within a second. The
/// command returns once the files are there; `cenote umount DIR`, or SIGTERM, ends the mount.
///
/// `cenote mount --dxfuse [OPTIONS] MOUNTPOINT PROJECT...` takes the command line of dxfuse.
#[derive(Debug, clap::Args)]
pub(crate) struct Args {
    /// A collection, then the directory where it appears
    #[arg(required_unless_present = "dxfuse", num_args = 1..=2, value_name = "[COLLECTION] DIR")]
    places: Vec<String>,
    /// Show the files and folders that this manifest names, at its places, instead of a collection
    #[arg(long, value_name = "FILE", conflicts_with_all = ["as_of", "offline", "status"])]
    manifest: Option<PathBuf>,
    /// Take all that follows as the command line of dxfuse; `--dxfuse -help` shows it
    #[arg(long, value_name = "ARGUMENT", num_args = 0.., allow_hyphen_values = true, conflicts_with_all = ["manifest", "status", "write", "as_of"])]
    dxfuse: Option<Vec<String>>,
    /// Allow files to be changed
    #[arg(long, conflicts_with = "as_of")]
    write: bool,
    /// Show the store as it was at this time, or position of the change feed
    #[arg(long, value_name = "TIME|POSITION")]
    as_of: Option<AsOf>,
    /// Let no program in the mount be run
    #[arg(long)]
    noexec: bool,
    /// An option of mount(8) that a mount does not have
    #[arg(long, hide = true, value_name = "OPTION")]
    unsupported: Option<String>,
    /// Stay in the foreground
    #[arg(long, short)]
    foreground: bool,
    /// The user number that files appear to belong to [default: yours]
    #[arg(long, value_name = "N")]
    uid: Option<u32>,
    /// The group number that files appear to belong to [default: yours]
    #[arg(long, value_name = "N")]
    gid: Option<u32>,
    /// Let other users of this machine use the mount, with your rights in the store
    #[arg(long)]
    allow_other: bool,
    /// After how long without an answer of the server an operation fails
    #[arg(long, value_name = "TIME", default_value = "30s")]
    deadline: Duration,
    /// How many MiB may be read ahead, of all files together
    #[arg(long, value_name = "MIB", default_value_t = 128, value_parser = clap::value_parser!(u64).range(1..=1 << 20))]
    read_ahead: u64,
    /// Read all contents through the server, also those on a disk of this machine
    #[arg(long)]
    no_local: bool,
    /// Let the kernel itself read contents on a disk of this machine, at its speed (root, read-only
    /// mounts): a file shows what it was when it was opened
    #[arg(long, conflicts_with_all = ["write", "no_local"])]
    passthrough: bool,
    /// Keep contents that were read in this directory, also for later mounts; one mount at a time
    /// can use it
    #[arg(long, value_name = "DIR")]
    cache: Option<PathBuf>,
    /// How many MiB the cache may have
    #[arg(long, value_name = "MIB", default_value_t = 10_240, requires = "cache", value_parser = clap::value_parser!(u64).range(1..=1 << 30))]
    cache_size: u64,
    /// Show what the cache has, and do not use the server; without this the server is used once it answers
    #[arg(long, requires = "cache", conflicts_with = "as_of")]
    offline: bool,
    /// Show what the mount at DIR is doing, instead of mounting
    #[arg(long, conflicts_with_all = ["write", "as_of", "foreground", "cache"])]
    status: bool,
    /// The file that failures are written to [default: standard error]
    #[arg(long, value_name = "FILE")]
    log: Option<PathBuf>,
}

impl Args {
    pub(crate) async fn run(self, session: &Session) -> Result<()> {
        if let Some(arguments) = &self.dxfuse {
            return dxfuse::run(arguments, session).await;
        }
        let (root, dir) = self.places()?;
        if self.status {
            return status::show(session, &dir);
        }
        if let Some(option) = &self.unsupported {
            return Err(unsupported(option));
        }
        mounted::require_none(&dir)?;
        if !dir.is_dir() {
            let message = format!("not a directory: {}", dir.display());
            return Err(CliError::new(Kind::NotFound, message)
                .hint("make an empty directory to mount the store at"));
        }
        if !is_child() && mounted::hides_something(&dir).unwrap_or(false) {
            let message = format!("{} is not empty", dir.display());
            session
                .output
                .warn(&message, "what is in it is hidden while the store is mounted there");
        }
        match self.foreground || is_child() {
            true => self.serve(session, &root, &dir).await,
            false => session.output.relayed(running::in_background().await?.as_bytes()),
        }
    }

    fn places(&self) -> Result<(String, PathBuf)> {
        let (dir, root) = self.places.split_last().expect("there is at least one");
        if self.manifest.is_some() && !root.is_empty() {
            return Err(CliError::new(Kind::Usage, "a manifest and a collection are given")
                .hint("name the collections in the manifest"));
        }
        let root = root.first().map(|root| StorePath::parse(root)).transpose()?;
        Ok((root.map_or_else(|| "/".to_owned(), |root| root.as_str().to_owned()), dir.into()))
    }

    async fn serve(&self, session: &Session, root: &str, dir: &Path) -> Result<()> {
        let client = session.client()?.clone();
        let as_of = match &self.as_of {
            Some(moment) => Some(client.position_of(&moment.text()).await?),
            None => None,
        };
        let deadline = std::time::Duration::from_secs(self.deadline.seconds().max(1));
        let options = Options {
            root: root.to_owned(),
            layout: self.layout(session).await?,
            write: self.write,
            as_of,
            deadline,
            patience: deadline,
            read_ahead: self.read_ahead << 20,
            local: !self.no_local,
            passthrough: self.passthrough,
            cache: self.cache(session),
            offline: self.offline,
            log: self.log()?,
            ..Options::new(self.owner()?, now)
        };
        let (system, stale) = FileSystem::open(client, options).await.map_err(explain)?;
        let name = session.settings.get("url").map(|url| url.value.clone()).unwrap_or_default();
        let kernel = KernelOptions {
            name: format!("cenote:{name}{root}"),
            allow_other: self.allow_other,
            no_programs: self.noexec,
        };
        let offline = system.is_offline();
        let line = serde_json::json!({ "mounted": dir, "root": root, "write": self.write, "offline": offline });
        let how = if offline { ", offline: as it was last seen" } else { "" };
        let what = match &self.manifest {
            Some(manifest) => manifest.display().to_string(),
            None => root.to_owned(),
        };
        let announce = || {
            let text = |_: &_| format!("mounted {what} at {}{how}", dir.display());
            match is_child() {
                // The process that waits for the line decides whether it is shown.
                true => session.output.item(&line, text)?,
                false => session.output.done(&line, text)?,
            }
            session.output.flush()
        };
        running::until_unmounted((system, stale), dir, &kernel, announce).await
    }

    /// The places of the manifest.
    async fn layout(&self, session: &Session) -> Result<Option<Layout>> {
        let Some(path) = &self.manifest else { return Ok(None) };
        let mut manifest = Manifest::load(path)?;
        let mut resolver = Resolver::new(session.client()?.clone(), false);
        let places = resolver.places(&mut manifest).await?;
        Layout::new(places).map(Some).map_err(dxfuse::refused)
    }

    fn cache(&self, session: &Session) -> Option<CacheOptions> {
        let store = session.settings.get("url").map(|url| url.value.clone()).unwrap_or_default();
        let limit = self.cache_size << 20;
        // Tokens and tickets determine what is visible, but are secret: only their digest is written to
        // disk.
        let who = ["user", "token", "ticket"].map(|name| session.settings.get(name));
        let user = who.map(|it| it.map(|it| it.value.clone()).unwrap_or_default()).join("\n");
        self.cache.clone().map(|dir| CacheOptions { dir, limit, store, user })
    }

    fn owner(&self) -> Result<Ownership> {
        let Ownership { uid, gid } = running::caller()?;
        Ok(Ownership { uid: self.uid.unwrap_or(uid), gid: self.gid.unwrap_or(gid) })
    }

    fn log(&self) -> Result<Log> {
        let write = |to: &mut dyn Write, fault: &Fault| {
            // The mount continues without a log that cannot be written.
            let _unwritten = writeln!(to, "{} cenote mount: {fault}", Timestamp::now());
        };
        let Some(path) = &self.log else {
            return Ok(Log(Arc::new(move |fault| write(&mut std::io::stderr(), fault))));
        };
        let file = std::fs::OpenOptions::new().create(true).append(true).open(path)?;
        let file = Mutex::new(file);
        Ok(Log(Arc::new(move |fault| {
            write(&mut *file.lock().unwrap_or_else(PoisonError::into_inner), fault);
        })))
    }
}

/// Refuses an option of `mount(8)`.
fn unsupported(option: &str) -> CliError {
    match option {
        "remount" => CliError::new(Kind::Usage, "the options of a mount cannot be changed")
            .hint("end it with `cenote umount`, and mount again with other options"),
        _ => CliError::new(Kind::Usage, format!("a mount does not have the option {option}"))
            .hint("what was written is durable once a file is closed or synced"),
    }
}
