//! Upgrades a version 1 file to version 2, in place.

use crate::entry::RawEntry;
use crate::error::{Error, Result};
use crate::header::Version;
use crate::index::Index;
use crate::storage::Storage;
use crate::writer::{Writer, sort};

impl<F: Storage> Writer<F> {
    /// Upgrades a version 1 file to the current version; does nothing to a later one.
    ///
    /// Index and name list are rewritten in place, so a power failure midway can corrupt the file: work on a copy, or
    /// repack into a new file instead.
    ///
    /// # Errors
    /// [`Error::InvalidArgument`] if unflushed chunks exist, [`Error::Io`].
    pub fn upgrade(&mut self) -> Result<()> {
        self.ready()?;
        if !self.entries.is_empty() || self.reader.names.has_uncommitted() {
            return Err(Error::InvalidArgument("flush before upgrading"));
        }
        if !self.reader.header.gsd_version.is_v1() {
            return Ok(());
        }
        self.sort_index()?;
        self.compact_names()?;
        self.reader.header.gsd_version = Version::CURRENT;
        self.write_header()?;
        self.guarded(Storage::sync)
    }

    fn sort_index(&mut self) -> Result<()> {
        let mut entries = self.reader.raw_entries().collect::<Result<Vec<_>>>()?;
        sort::by_key(&mut entries);
        let Some(last) = entries.last() else {
            return Ok(());
        };
        let bytes: Vec<u8> = entries.iter().flat_map(RawEntry::encode).collect();
        let at = self.reader.header.index_location;
        self.guarded(|storage| storage.write_at(at, &bytes))?;
        self.guarded(Storage::sync)?;
        let used = entries.len() as u64;
        self.reader.index = Index::new(&self.reader.source, at, used, last.frame);
        Ok(())
    }

    fn compact_names(&mut self) -> Result<()> {
        if self.reader.names.is_empty() {
            return Ok(());
        }
        let (names, bytes) = self.reader.names.upgraded();
        let at = self.reader.header.names_location;
        self.guarded(|storage| storage.write_at(at, &bytes))?;
        self.guarded(Storage::sync)?;
        self.reader.names = names;
        Ok(())
    }
}
