//! Where key sets are kept: in a file on this machine, in the store, or in a pipe.
//!
//! Invariant: what another writer has written since a verb read is never replaced (exit code 7).

use std::ffi::OsString;
use std::fmt;
use std::io::Read;
use std::path::Path;

use bytes::Bytes;
use cenote_client::{Client, PutOptions, ReadOptions};
use cenote_keyset::file::{FileError, FileFault, Snapshot};
use cenote_keyset::{Format, KeyName, KeySet, WriteError, WriteOptions};
use clap::builder::{OsStringValueParser, TypedValueParser};
use futures_util::TryStreamExt;
use tokio::runtime::Handle;

use super::file::{unwritable, wrong};
use crate::error::{CliError, Kind, Result};
use crate::place::{Place, StorePath};
use crate::session::Session;

/// A file of keys, wherever it is kept.
#[derive(Clone, Debug)]
pub(crate) struct KeyFile(Place);

/// What a file holds.
pub(crate) struct Found {
    pub(crate) bytes: Bytes,
    /// The format that its media type or its name tells.
    pub(crate) format: Option<Format>,
}

/// What was there when a verb read it, to replace that and nothing else.
pub(crate) enum Original {
    Local(Snapshot),
    Store(StoreOriginal),
    Pipe,
}

/// An object in the store, by its tag; without one, there was none.
pub(crate) struct StoreOriginal {
    client: Client,
    path: StorePath,
    etag: Option<String>,
}

impl KeyFile {
    /// Takes any name that a file may have, and `:/…` for one in the store.
    pub(crate) fn parser() -> impl TypedValueParser<Value = Self> {
        OsStringValueParser::new().try_map(|argument: OsString| match argument.to_str() {
            Some(text) => Place::parse(text).map(Self),
            None => Ok(Self(Place::Local(argument.into()))),
        })
    }

    pub(crate) fn is_pipe(&self) -> bool {
        self.0 == Place::Standard
    }

    /// Where it is: the whole path of what links lead to, or the path in the store.
    pub(crate) fn place(&self) -> Result<String> {
        match &self.0 {
            Place::Local(path) => Ok(std::fs::canonicalize(path)?.display().to_string()),
            Place::Store(_) | Place::Standard => Ok(self.to_string()),
        }
    }

    /// The format that the end of its name tells.
    pub(crate) fn by_extension(&self) -> Option<Format> {
        let path = match &self.0 {
            Place::Local(path) => path,
            Place::Store(path) => Path::new(path.as_str()),
            Place::Standard => return None,
        };
        Format::from_name(path.extension()?.to_str()?)
    }

    /// Reads it; nothing if there is none.
    pub(crate) fn read(&self, session: &Session) -> Result<(Option<Found>, Original)> {
        let (bytes, media_type, original) = match &self.0 {
            Place::Local(path) => {
                let (bytes, snapshot) = Snapshot::read(path).map_err(file_error)?;
                (bytes, None, Original::Local(snapshot))
            }
            Place::Store(path) => StoreOriginal::read(session, path)?,
            Place::Standard => {
                let mut bytes = Vec::new();
                std::io::stdin().lock().read_to_end(&mut bytes)?;
                (Some(bytes.into()), None, Original::Pipe)
            }
        };
        let format = media_type.or_else(|| self.by_extension());
        Ok((bytes.map(|bytes| Found { bytes, format }), original))
    }

    /// Takes note of what is there without reading it.
    pub(crate) fn look(&self, session: &Session) -> Result<Original> {
        Ok(match &self.0 {
            Place::Local(path) => Original::Local(Snapshot::of(path).map_err(file_error)?),
            Place::Store(path) => {
                let client = session.client()?.clone();
                let found = Handle::current().block_on(client.find(path.as_str()))?;
                let etag = found.map(|resource| content_tag(path, resource.etag)).transpose()?;
                Original::Store(StoreOriginal { client, path: path.clone(), etag })
            }
            Place::Standard => Original::Pipe,
        })
    }
}

impl fmt::Display for KeyFile {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match &self.0 {
            Place::Local(path) => path.display().fmt(f),
            Place::Store(path) => write!(f, ":{path}"),
            Place::Standard => f.write_str("standard input"),
        }
    }
}

impl Original {
    /// Puts keys in the place of what was there.
    pub(crate) fn replace(self, keys: &KeySet, parent: &KeyName, format: Format) -> Result<()> {
        match self {
            Self::Local(snapshot) => {
                let options = WriteOptions::default();
                let write = |out: &mut dyn std::io::Write| {
                    cenote_keyset::write(keys, parent, format, options, out)
                };
                snapshot.replace(write).map_err(file_error)
            }
            Self::Store(original) => {
                let bytes = cenote_keyset::to_bytes(keys, parent, format).map_err(unwritable)?;
                original.replace(bytes.into(), format)
            }
            Self::Pipe => Err(pipe()),
        }
    }

    /// Puts a document in the place of what was there.
    pub(crate) fn replace_bytes(self, bytes: Bytes, format: Format) -> Result<()> {
        match self {
            Self::Local(snapshot) => {
                snapshot.replace(|out| Ok(out.write_all(&bytes)?)).map_err(file_error)
            }
            Self::Store(original) => original.replace(bytes, format),
            Self::Pipe => Err(pipe()),
        }
    }
}

fn pipe() -> CliError {
    wrong("input from a pipe cannot be changed: give a file")
}

impl StoreOriginal {
    fn read(
        session: &Session,
        path: &StorePath,
    ) -> Result<(Option<Bytes>, Option<Format>, Original)> {
        let client = session.client()?.clone();
        let original =
            |etag| Original::Store(Self { client: client.clone(), path: path.clone(), etag });
        let options = ReadOptions::default();
        let reading = client.read(path.as_str(), &options);
        let content = match Handle::current().block_on(reading) {
            Ok(content) => content,
            Err(error) if error.kind() == cenote_client::Kind::NotFound => {
                return Ok((None, None, original(None)));
            }
            Err(error) => return Err(error.into()),
        };
        let etag = content_tag(path, content.etag().map(str::to_owned))?;
        let format = content.media_type().and_then(Format::from_media_type);
        let chunks: Vec<Bytes> = Handle::current().block_on(content.into_stream().try_collect())?;
        Ok((Some(chunks.concat().into()), format, original(Some(etag))))
    }

    fn replace(self, bytes: Bytes, format: Format) -> Result<()> {
        let options = PutOptions {
            create_only: self.etag.is_none(),
            if_match: self.etag,
            media_type: Some(media_type(format).to_owned()),
            parents: true,
            ..PutOptions::default()
        };
        let put = self.client.put_bytes(self.path.as_str(), bytes, &options);
        match Handle::current().block_on(put) {
            Err(error) if error.kind() == cenote_client::Kind::Precondition => {
                let message = format!(":{}: {}", self.path, FileFault::Changed);
                Err(CliError::new(Kind::Changed, message))
            }
            put => Ok(put.map(drop)?),
        }
    }
}

fn content_tag(path: &StorePath, tag: Option<String>) -> Result<String> {
    tag.ok_or_else(|| CliError::new(Kind::Exists, format!("it has no content: :{path}")))
}

/// The media type of a content in this format.
fn media_type(format: Format) -> &'static str {
    format.media_type().unwrap_or(match format {
        Format::Json => "application/json",
        Format::Toml => "application/toml",
        _ => "text/plain",
    })
}

fn file_error(error: FileError) -> CliError {
    let message = error.to_string();
    match error.source {
        FileFault::Changed => CliError::new(Kind::Changed, message),
        FileFault::Write(WriteError::Io(source)) | FileFault::Io(source) => {
            CliError::from(source).with_message(message)
        }
        _ => CliError::new(Kind::Usage, message),
    }
}
