//! Reads what had been committed to a file when it was opened.
//!
//! Invariant: no number from the file determines the size of an allocation or a read before it has been checked
//! against the length of the source.

use std::io::{self, IoSliceMut};
use std::ops::Range;

use crate::entry::{Entry, Limits, RawEntry};
use crate::error::{Error, Result};
use crate::header::{HEADER_SIZE, Header, NAME_CELL};
use crate::index::{AllEntries, Index, bad_entry};
use crate::names::Names;
use crate::source::Source;

/// Longer name lists (256 MiB) are considered corrupt: they are held in memory.
pub(crate) const MAX_NAME_CELLS: u64 = 1 << 22;

/// A GSD file open for reading.
#[derive(Debug)]
pub struct Reader<S> {
    pub(crate) source: S,
    pub(crate) size: u64,
    pub(crate) header: Header,
    pub(crate) names: Names,
    pub(crate) index: Index,
    pub(crate) frames: u64,
}

impl<S: Source> Reader<S> {
    /// Opens a file of any known version.
    ///
    /// Reads the header, the name list, and about twenty entries of the index.
    ///
    /// # Errors
    /// [`Error::NotGsd`], [`Error::UnsupportedVersion`], or [`Error::Corrupt`] if a block is outside the file or an
    /// entry read on the way is invalid.
    pub fn open(source: S) -> Result<Self> {
        let size = source.size()?;
        let header = read_header(&source, size)?;
        let names = read_names(&source, size, &header)?;
        let limits = limits(size, &header, &names);
        let (location, allocated) = header.index_block();
        if !fits(location, allocated, crate::entry::ENTRY_SIZE as u64, size) {
            let what = format!("index block of {allocated} entries at {location}, past the end");
            return Err(Error::corrupt(8, what));
        }
        let index = Index::open(&source, location, allocated, &limits)?;
        let frames = index.last_frame().map_or(0, |last| last + 1);
        Ok(Self { source, size, header, names, index, frames })
    }

    /// The header as it was read.
    #[must_use]
    pub fn header(&self) -> &Header {
        &self.header
    }

    /// The chunk names of the file.
    #[must_use]
    pub fn names(&self) -> &Names {
        &self.names
    }

    /// The number of frames. Empty frames at the end of a file are not recorded in it.
    #[must_use]
    pub fn frames(&self) -> u64 {
        self.frames
    }

    /// The number of chunks.
    #[must_use]
    pub fn chunks(&self) -> u64 {
        self.index.len()
    }

    /// Size of the file in bytes.
    #[must_use]
    pub fn size(&self) -> u64 {
        self.size
    }

    /// What the file is read from.
    #[must_use]
    pub fn source(&self) -> &S {
        &self.source
    }

    /// The chunk of this name in this frame, if there is one.
    ///
    /// # Errors
    /// [`Error::Corrupt`] if its index entry is invalid, [`Error::Io`].
    pub fn find(&self, frame: u64, name: &[u8]) -> Result<Option<Entry>> {
        match self.names.id(name) {
            Some(id) => self.find_id(frame, id),
            None => Ok(None),
        }
    }

    /// Like [`Reader::find`], by the name's ordinal.
    ///
    /// # Errors
    /// As [`Reader::find`].
    pub fn find_id(&self, frame: u64, id: u16) -> Result<Option<Entry>> {
        if frame >= self.frames {
            return Ok(None);
        }
        let found = if self.header.gsd_version.is_v1() {
            self.index.find_in_frame(&self.source, (frame, id))?
        } else {
            self.index.find_sorted(&self.source, (frame, id))?
        };
        let Some(position) = found else { return Ok(None) };
        let raw = self.index.get(&self.source, position)?;
        self.checked(position, &raw).map(Some)
    }

    /// The chunks of one frame, in the order of the index.
    ///
    /// # Errors
    /// [`Error::Corrupt`] if one of their index entries is invalid, or there are more than 65,536; [`Error::Io`].
    pub fn frame(&self, frame: u64) -> Result<Vec<Entry>> {
        if frame >= self.frames {
            return Ok(Vec::new());
        }
        let entries = self.index.frame(&self.source, frame)?.into_iter();
        entries.map(|(position, raw)| self.checked(position, &raw)).collect()
    }

    /// The chunks of all frames, in the order of the index, in one pass.
    ///
    /// An invalid entry is [`Error::Corrupt`]; iteration ends after [`Error::Io`].
    pub fn entries(&self) -> impl Iterator<Item = Result<Entry>> + Send {
        (0..).zip(self.raw_entries()).map(|(position, raw)| self.checked(position, &raw?))
    }

    pub(crate) fn raw_entries(&self) -> AllEntries<'_> {
        self.index.all(&self.source)
    }

    fn checked(&self, position: u64, raw: &RawEntry) -> Result<Entry> {
        raw.check(&self.limits())
            .map_err(|what| bad_entry(self.header.index_location, position, &what))
    }

    pub(crate) fn limits(&self) -> Limits {
        limits(self.size, &self.header, &self.names)
    }

    /// Reads a chunk into `buffer`, whose length must be [`Entry::byte_size`].
    ///
    /// # Errors
    /// [`Error::InvalidArgument`] for any other length, [`Error::Io`] (unexpected end of file) if the file was
    /// truncated after it was opened.
    pub fn read(&self, entry: &Entry, buffer: &mut [u8]) -> Result<()> {
        self.read_rows(entry, 0..entry.rows, buffer)
    }

    /// Reads some rows of a chunk into `buffer`, which must have exactly their size.
    ///
    /// # Errors
    /// As [`Reader::read`].
    pub fn read_rows(&self, entry: &Entry, rows: Range<u64>, buffer: &mut [u8]) -> Result<()> {
        if rows.start > rows.end || rows.end > entry.rows {
            return Err(Error::InvalidArgument("rows outside the chunk"));
        }
        let row = entry.row_size();
        if buffer.len() as u64 != (rows.end - rows.start) * row {
            return Err(Error::InvalidArgument("the buffer does not have the size of the rows"));
        }
        if buffer.is_empty() {
            return Ok(());
        }
        self.source.read_at(entry.location + rows.start * row, buffer)?;
        Ok(())
    }

    /// Reads a chunk into a new vector.
    ///
    /// # Errors
    /// As [`Reader::read`].
    pub fn read_vec(&self, entry: &Entry) -> Result<Vec<u8>> {
        let mut bytes = vec![0; entry.byte_size() as usize];
        self.read(entry, &mut bytes)?;
        Ok(bytes)
    }

    /// Reads several chunks, adjacent ones by one request.
    ///
    /// Sorts `parts` by location. Each buffer must have the size of its chunk.
    ///
    /// # Errors
    /// As [`Reader::read`].
    pub fn read_many(&self, parts: &mut [(Entry, &mut [u8])]) -> Result<()> {
        if parts.iter().any(|(entry, buffer)| buffer.len() as u64 != entry.byte_size()) {
            return Err(Error::InvalidArgument("the buffer does not have the size of the chunk"));
        }
        parts.sort_unstable_by_key(|(entry, _)| entry.location);
        let mut rest = parts;
        while !rest.is_empty() {
            let (run, after) = rest.split_at_mut(self.run_length(rest));
            self.read_run(run)?;
            rest = after;
        }
        Ok(())
    }

    /// How many of the parts, starting with the first, are worth one request.
    fn run_length(&self, parts: &[(Entry, &mut [u8])]) -> usize {
        let near = |pair: &[(Entry, &mut [u8])]| {
            let end = pair[0].0.location + pair[0].0.byte_size();
            let gap = pair[1].0.location.checked_sub(end);
            gap.is_some_and(|gap| gap <= self.source.request_cost())
        };
        1 + parts.windows(2).take_while(|pair| near(pair)).count()
    }

    fn read_run(&self, run: &mut [(Entry, &mut [u8])]) -> io::Result<()> {
        let start = run[0].0.location;
        let (last, _) = &run[run.len() - 1];
        let wanted: u64 = run.iter().map(|(entry, _)| entry.byte_size()).sum();
        // The bytes between them are read and discarded.
        let mut gaps = vec![0; (last.location + last.byte_size() - start - wanted) as usize];
        let mut gaps = gaps.as_mut_slice();
        let mut slices = Vec::with_capacity(2 * run.len());
        let mut at = start;
        for (entry, buffer) in run.iter_mut() {
            let (gap, after) = gaps.split_at_mut((entry.location - at) as usize);
            gaps = after;
            at = entry.location + entry.byte_size();
            slices.extend([gap, &mut **buffer].map(IoSliceMut::new));
        }
        slices.retain(|slice| !slice.is_empty());
        match slices.as_mut_slice() {
            [] => Ok(()),
            [one] => self.source.read_at(start, one),
            several => self.source.read_vectored_at(start, several),
        }
    }
}

impl<S> Reader<S> {
    /// Resets the reader to a fresh file that has just been written to the same source.
    pub(crate) fn reset(&mut self, header: Header) {
        self.size = header.names_location + header.names_allocated * NAME_CELL;
        self.names = Names::empty(header.names_allocated * NAME_CELL);
        self.index = Index::empty(header.index_location);
        self.header = header;
        self.frames = 0;
    }
}

fn read_header(source: &dyn Source, size: u64) -> Result<Header> {
    if size < HEADER_SIZE as u64 {
        return Err(Error::NotGsd("shorter than the 256 bytes of a header"));
    }
    let mut bytes = [0; HEADER_SIZE];
    source.read_at(0, &mut bytes)?;
    Header::decode(&bytes)
}

fn read_names(source: &dyn Source, size: u64, header: &Header) -> Result<Names> {
    let (location, cells) = header.name_block();
    if !fits(location, cells, NAME_CELL, size) {
        let what = format!("name list block of {cells} cells at {location}, past the end");
        return Err(Error::corrupt(24, what));
    }
    if cells > MAX_NAME_CELLS {
        return Err(Error::corrupt(32, format!("a name list of {cells} cells is too long")));
    }
    let mut block = vec![0; (cells * NAME_CELL) as usize];
    source.read_at(location, &mut block)?;
    Names::decode(&block, header.gsd_version.is_v1(), location)
}

fn limits(size: u64, header: &Header, names: &Names) -> Limits {
    Limits { file: size, frames: header.index_allocated, names: names.len() as u64 }
}

/// Whether `count` items of `unit` bytes at `location` are within `size` bytes.
pub(crate) fn fits(location: u64, count: u64, unit: u64, size: u64) -> bool {
    count
        .checked_mul(unit)
        .and_then(|bytes| bytes.checked_add(location))
        .is_some_and(|end| end <= size)
}
