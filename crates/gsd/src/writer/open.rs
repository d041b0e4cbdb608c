//! Creating files, and opening them to append.

use std::fs::{File, OpenOptions};
use std::os::unix::fs::OpenOptionsExt;
use std::path::Path;

use super::{DEFAULT_BUFFER, Writer};
use crate::entry::ENTRY_SIZE;
use crate::error::Result;
use crate::header::{HEADER_SIZE, Header, NAME_CELL, Version};
use crate::reader::Reader;
use crate::storage::Storage;

impl Writer<File> {
    /// Creates a file, or truncates an existing one.
    ///
    /// `application` and `schema` are truncated to 63 bytes.
    ///
    /// # Errors
    /// [`crate::Error::Io`].
    pub fn create(
        path: &Path,
        application: &str,
        schema: &str,
        schema_version: Version,
    ) -> Result<Self> {
        let file = creating().create(true).truncate(true).open(path)?;
        Self::create_in(file, application, schema, schema_version)
    }

    /// Like [`Writer::create`], for a path that does not exist yet.
    ///
    /// # Errors
    /// [`crate::Error::Io`], of kind [`std::io::ErrorKind::AlreadyExists`] if it does.
    pub fn create_new(
        path: &Path,
        application: &str,
        schema: &str,
        schema_version: Version,
    ) -> Result<Self> {
        let file = creating().create_new(true).open(path)?;
        Self::create_in(file, application, schema, schema_version)
    }

    /// Opens a file to read and append to it.
    ///
    /// As in the reference, a file of version 2.0 becomes one of version 2.1.
    ///
    /// # Errors
    /// As [`Reader::open`].
    pub fn open(path: &Path) -> Result<Self> {
        Self::open_in(OpenOptions::new().read(true).write(true).open(path)?)
    }
}

fn creating() -> OpenOptions {
    let mut options = OpenOptions::new();
    options.read(true).write(true).mode(0o660);
    options
}

impl<F: Storage> Writer<F> {
    /// Creates an empty file in `storage`, replacing its contents.
    ///
    /// # Errors
    /// [`crate::Error::Io`].
    pub fn create_in(
        storage: F,
        application: &str,
        schema: &str,
        schema_version: Version,
    ) -> Result<Self> {
        let header = Header::fresh(application.as_bytes(), schema.as_bytes(), schema_version);
        Self::create_with(storage, &header)
    }

    /// Creates an empty file with this header.
    pub(crate) fn create_with(mut storage: F, header: &Header) -> Result<Self> {
        write_fresh(&mut storage, header)?;
        Self::open_in(storage)
    }

    /// Opens the file in `storage` to read and append to it.
    ///
    /// # Errors
    /// As [`Writer::open`].
    pub fn open_in(storage: F) -> Result<Self> {
        let mut reader = Reader::open(storage)?;
        let version = reader.header.gsd_version;
        if !version.is_v1() && version <= Version::CURRENT {
            reader.header.gsd_version = Version::CURRENT;
            let header = reader.header.encode();
            reader.source.write_at(0, &header)?;
        }
        Ok(Self {
            frame: reader.frames,
            begun: reader.size,
            reader,
            buffer: Vec::new(),
            buffer_limit: DEFAULT_BUFFER,
            entries: Vec::new(),
            pending: 0,
            failed: false,
        })
    }
}

/// Writes the header, a zeroed index block and a zeroed name list block, and nothing else.
///
/// The first flush makes it durable, with the first frames.
pub(super) fn write_fresh<F: Storage>(storage: &mut F, header: &Header) -> std::io::Result<()> {
    let end = header.names_location + header.names_allocated * NAME_CELL;
    debug_assert_eq!(
        header.names_location,
        HEADER_SIZE as u64 + header.index_allocated * ENTRY_SIZE as u64
    );
    storage.set_size(0)?;
    storage.write_at(0, &header.encode())?;
    storage.set_size(end)
}
