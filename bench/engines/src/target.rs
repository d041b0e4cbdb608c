//! The engine to measure, and the location of its store.

use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use cenote_kv::{Engine, FjallEngine, FjallOptions, MemoryEngine, PostgresEngine};

/// An engine by name.
#[derive(Debug)]
pub(crate) enum Target {
    Memory,
    /// In this directory.
    Fjall(PathBuf),
    /// At this connection.
    Postgres(String),
}

impl Target {
    pub(crate) fn parse(name: &str, dir: PathBuf) -> Result<Self, String> {
        match name.split_once(':') {
            Some(("postgres", config)) => Ok(Self::Postgres(config.to_owned())),
            None if name == "memory" => Ok(Self::Memory),
            None if name == "fjall" => Ok(Self::Fjall(dir)),
            _ => Err(format!("no engine is called {name}")),
        }
    }

    /// The argument for a child process.
    pub(crate) fn name(&self) -> String {
        match self {
            Self::Memory => "memory".to_owned(),
            Self::Fjall(_) => "fjall".to_owned(),
            Self::Postgres(config) => format!("postgres:{config}"),
        }
    }

    pub(crate) fn open(&self) -> Result<Arc<dyn Engine>, String> {
        let message = |error: cenote_kv::Error| error.to_string();
        Ok(match self {
            Self::Memory => Arc::new(MemoryEngine::new()),
            Self::Fjall(dir) => {
                let options = FjallOptions { reserve: 0, ..FjallOptions::default() };
                Arc::new(FjallEngine::open(dir, options).map_err(message)?)
            }
            Self::Postgres(config) => Arc::new(PostgresEngine::open(config).map_err(message)?),
        })
    }

    /// Disk space taken, in bytes; none if this process cannot see it.
    pub(crate) fn disk(&self) -> Option<u64> {
        match self {
            Self::Fjall(dir) => Some(allocated(dir)),
            Self::Memory | Self::Postgres(_) => None,
        }
    }
}

/// Blocks in use below `path`, in bytes; a sparse file counts for what it holds.
fn allocated(path: &Path) -> u64 {
    let Ok(metadata) = path.symlink_metadata() else { return 0 };
    let below = match metadata.is_dir() {
        true => std::fs::read_dir(path).into_iter().flatten().flatten().collect(),
        false => Vec::new(),
    };
    metadata.blocks() * 512 + below.iter().map(|entry| allocated(&entry.path())).sum::<u64>()
}
