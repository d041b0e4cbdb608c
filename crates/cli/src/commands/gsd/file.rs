//! Where a verb finds its file: on this machine, or in the store by byte ranges.

use std::fmt;
use std::fs::File;
use std::io;
use std::path::PathBuf;
use std::str::FromStr;

use cenote_client::{Client, ReadOptions};
use cenote_gsd::{Error, ReadAhead, Reader, Source};
use futures_util::TryStreamExt;
use tokio::runtime::Handle;

use crate::error::{CliError, Kind, Result};
use crate::place::{Place, StorePath};
use crate::session::Session;

/// A GSD file, here or in the store.
#[derive(Debug, Clone)]
pub(super) struct GsdFile(Place);

impl FromStr for GsdFile {
    type Err = CliError;

    fn from_str(argument: &str) -> Result<Self> {
        match Place::parse(argument)? {
            Place::Standard => {
                let error = CliError::new(Kind::Usage, "a GSD file cannot be read from a pipe");
                Err(error.hint("its index can be anywhere in the file: save the file first"))
            }
            place => Ok(Self(place)),
        }
    }
}

impl fmt::Display for GsdFile {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match &self.0 {
            Place::Local(path) => path.display().fmt(f),
            Place::Standard => f.write_str("-"),
            Place::Store(path) => write!(f, ":{}", path.as_str()),
        }
    }
}

/// A path on this machine to write to.
pub(super) fn output(argument: &str) -> Result<PathBuf> {
    match Place::parse_local(argument)? {
        Place::Local(path) => Ok(path),
        _ => Err(CliError::new(Kind::Usage, "the output must be a file, not a pipe")),
    }
}

impl GsdFile {
    /// Where it is.
    pub(super) fn place(&self) -> &Place {
        &self.0
    }

    /// Opens it for reading.
    pub(super) fn open(&self, session: &Session) -> Result<Reader<Box<dyn Source>>> {
        Reader::open(self.source(session)?).map_err(|e| self.error(e))
    }

    /// Its bytes, whatever they are.
    pub(super) fn source(&self, session: &Session) -> Result<Box<dyn Source>> {
        match &self.0 {
            Place::Store(path) => {
                let content = StoreContent::find(session.client()?, path)?;
                Ok(Box::new(ReadAhead::new(content)))
            }
            Place::Local(path) => Ok(Box::new(File::open(path).map_err(|e| self.error(e.into()))?)),
            Place::Standard => {
                Err(CliError::new(Kind::Usage, "a GSD file cannot be read from a pipe"))
            }
        }
    }

    /// An error of the format, with the file it is in and the exit code of its kind.
    pub(super) fn error(&self, error: Error) -> CliError {
        let damaged = matches!(error, Error::Corrupt { .. });
        let cli_error = in_file(self, error);
        if !damaged {
            return cli_error;
        }
        cli_error.hint("`cenote gsd repack --recover` saves the frames that are whole")
    }
}

/// An error of the format in a file of this name.
pub(super) fn in_file(name: impl fmt::Display, error: Error) -> CliError {
    let cli_error = CliError::new(kind(&error), format!("{name}: {error}"));
    match error {
        Error::Io(error) => match error.downcast::<cenote_client::Error>() {
            Ok(error) => error.into(),
            Err(_) => cli_error,
        },
        _ => cli_error,
    }
}

fn kind(error: &Error) -> Kind {
    match error {
        Error::NotGsd(_) | Error::UnsupportedVersion(..) | Error::Corrupt { .. } => Kind::Mismatch,
        Error::Io(error) => match error.kind() {
            io::ErrorKind::NotFound => Kind::NotFound,
            io::ErrorKind::AlreadyExists => Kind::Exists,
            io::ErrorKind::PermissionDenied => Kind::Denied,
            io::ErrorKind::StorageFull => Kind::NoSpace,
            io::ErrorKind::UnexpectedEof | io::ErrorKind::IsADirectory => Kind::Mismatch,
            _ => Kind::Failed,
        },
        _ => Kind::Failed,
    }
}

/// A content in the store, pinned by its tag: one that is replaced in the meantime is not mixed.
struct StoreContent {
    client: Client,
    path: String,
    etag: Option<String>,
    size: u64,
    runtime: Handle,
}

impl StoreContent {
    fn find(client: &Client, path: &StorePath) -> Result<Self> {
        let runtime = Handle::current();
        let found = runtime.block_on(client.stat(&path.as_str().into()))?;
        let Some(size) = found.size else {
            let message = format!(":{path}: it has no content");
            return Err(CliError::new(Kind::Mismatch, message));
        };
        Ok(Self {
            client: client.clone(),
            path: path.as_str().to_owned(),
            etag: found.etag,
            size,
            runtime,
        })
    }

    async fn fill(&self, offset: u64, buffer: &mut [u8]) -> io::Result<()> {
        let options = ReadOptions {
            offset,
            length: Some(buffer.len() as u64),
            if_match: self.etag.clone(),
            version: None,
        };
        let content = self.client.read(&self.path, &options).await.map_err(io::Error::other)?;
        let mut chunks = content.into_stream();
        let mut rest = buffer;
        while let Some(chunk) = chunks.try_next().await.map_err(io::Error::other)? {
            let (part, after) = rest
                .split_at_mut_checked(chunk.len())
                .ok_or_else(|| io::Error::other("the store sent more bytes than requested"))?;
            part.copy_from_slice(&chunk);
            rest = after;
        }
        if rest.is_empty() { Ok(()) } else { Err(io::ErrorKind::UnexpectedEof.into()) }
    }
}

impl Source for StoreContent {
    fn size(&self) -> io::Result<u64> {
        Ok(self.size)
    }

    fn read_at(&self, offset: u64, buffer: &mut [u8]) -> io::Result<()> {
        if buffer.is_empty() {
            return Ok(());
        }
        self.runtime.block_on(self.fill(offset, buffer))
    }
}
