//! The layer between the kernel and [`FileSystem`]: requests become calls, results become replies.

mod ahead;
mod layer;
mod passthrough;
mod reply;

use std::ffi::OsStr;
use std::io;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::{Arc, Weak};

use fuser::{Config, INodeNo, MountOption, Notifier, SessionACL};
use tokio::runtime::Handle;
use tokio::sync::mpsc::UnboundedReceiver;

use self::ahead::Kernel;
use self::layer::Layer;
use self::passthrough::Modes;
use crate::cache::Stale;
use crate::ops::{FileSystem, Inner};

/// How many threads take requests.
const THREADS: usize = 4;

/// A file system that the kernel has mounted. Dropping it unmounts it.
#[derive(Debug)]
pub struct Session {
    session: fuser::BackgroundSession,
    at: PathBuf,
}

/// How the kernel mounts it.
#[derive(Debug, Clone, Default)]
pub struct KernelOptions {
    /// The name that the mount has in lists of mounts.
    pub name: String,
    /// Whether other users may use it.
    pub allow_other: bool,
    /// Whether no program in it can be run.
    pub no_programs: bool,
}

/// Mounts a file system at a directory.
pub fn mount(
    system: FileSystem,
    stale: UnboundedReceiver<Stale>,
    at: &Path,
    options: &KernelOptions,
) -> io::Result<Session> {
    let mut config = Config::default();
    config.mount_options = vec![
        MountOption::FSName(options.name.clone()),
        MountOption::Subtype("cenote".to_owned()),
        MountOption::DefaultPermissions,
        MountOption::NoAtime,
        MountOption::NoDev,
        MountOption::NoSuid,
        if system.options().is_writable() { MountOption::RW } else { MountOption::RO },
    ];
    if options.no_programs {
        config.mount_options.push(MountOption::NoExec);
    }
    config.acl = if options.allow_other { SessionACL::All } else { SessionACL::Owner };
    config.n_threads = Some(THREADS);
    config.clone_fd = true;
    let modes = Arc::new(Modes::default());
    let inner = Arc::downgrade(&system.0);
    system.0.set_shown_position(system.0.shown_position());
    let kernel = Kernel::default();
    let layer = Layer { system, runtime: Handle::current(), modes, kernel: kernel.clone() };
    let session = fuser::spawn_mount(layer, at, &config)?;
    let notifier = session.notifier();
    kernel.is_there(notifier.clone());
    std::thread::Builder::new()
        .name("cenote-notify".to_owned())
        .spawn(move || notify(stale, &notifier, &inner))?;
    widen_read_ahead(at);
    Ok(Session { session, at: at.to_owned() })
}

impl Session {
    /// Unmounts it, even while files are in use: programs then lose them.
    pub fn unmounter(&self) -> impl FnOnce() -> io::Result<()> + Send + 'static {
        let at = self.at.clone();
        move || {
            let lazily = ["-u", "-z", "--"];
            let done = Command::new("fusermount3").args(lazily).arg(&at).status();
            match done.is_ok_and(|status| status.success()) {
                true => Ok(()),
                false => Command::new("umount").args(["-l", "--"]).arg(&at).status().map(drop),
            }
        }
    }

    /// Waits until it is unmounted.
    pub fn wait(self) -> io::Result<()> {
        self.session.join()
    }
}

/// Notifies the kernel what to drop, on a separate thread, because the kernel may wait for requests in the meantime.
fn notify(mut stale: UnboundedReceiver<Stale>, notifier: &Notifier, inner: &Weak<Inner>) {
    while let Some(stale) = stale.blocking_recv() {
        // An entry that the kernel does not have need not be dropped.
        let _unknown = match stale {
            Stale::Entry(dir, name) => notifier.inval_entry(INodeNo(dir), OsStr::new(&name)),
            Stale::Attr(ino) => notifier.inval_inode(INodeNo(ino), -1, 0),
            Stale::Content(ino) => notifier.inval_inode(INodeNo(ino), 0, 0),
            Stale::Reached(position) => {
                if let Some(inner) = inner.upgrade() {
                    inner.set_shown_position(position);
                }
                continue;
            }
        };
    }
}

/// Lets the kernel read ahead as much as a request can have, which only root may say.
fn widen_read_ahead(at: &Path) {
    use std::os::unix::fs::MetadataExt;
    let Ok(about) = std::fs::metadata(at) else { return };
    let (major, minor) = (libc::major(about.dev()), libc::minor(about.dev()));
    let setting = format!("/sys/class/bdi/{major}:{minor}/read_ahead_kb");
    // Without it reads are smaller, but still correct.
    let _refused = std::fs::write(setting, "1024");
}
