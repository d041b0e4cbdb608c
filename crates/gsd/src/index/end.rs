//! The search for the end of an index block; the file only says how much is allocated.

use std::ops::Range;

use super::{Index, bad_entry};
use crate::entry::{ENTRY_SIZE, Limits, RawEntry};
use crate::error::Result;
use crate::source::Source;

/// Entries read at once when the search is this close to the end.
const WINDOW: u64 = 512;

impl Index {
    /// Finds the end of the index as the reference does: by bisection for the first entry without a location,
    /// validating every entry on the way.
    pub(crate) fn open(
        source: &dyn Source,
        location: u64,
        allocated: u64,
        limits: &Limits,
    ) -> Result<Self> {
        let mut search = Search { source, location, limits, window: 0..0, bytes: Vec::new() };
        let first = if allocated == 0 { None } else { search.probe(0)? };
        let Some(mut last) = first else {
            return Ok(Self::empty(location));
        };
        let (mut low, mut high) = (0, allocated);
        while high - low > 1 {
            search.narrow(low..high)?;
            let middle = low + (high - low) / 2;
            match search.probe(middle)? {
                Some(entry) if entry.frame < last.frame => {
                    let what = format!("frame {} after frame {}", entry.frame, last.frame);
                    return Err(bad_entry(location, middle, &what));
                }
                Some(entry) => (low, last) = (middle, entry),
                None => high = middle,
            }
        }
        Ok(Self::new(source, location, high, last.frame))
    }
}

/// The search for the end of an index block.
struct Search<'a> {
    source: &'a dyn Source,
    location: u64,
    limits: &'a Limits,
    /// The entries in `bytes`.
    window: Range<u64>,
    bytes: Vec<u8>,
}

impl Search<'_> {
    /// Reads the remaining entries by one request, once there are few.
    fn narrow(&mut self, left: Range<u64>) -> Result<()> {
        if left.end - left.start > WINDOW || !self.window.is_empty() {
            return Ok(());
        }
        self.bytes.resize((left.end - left.start) as usize * ENTRY_SIZE, 0);
        self.source.read_at(self.location + left.start * ENTRY_SIZE as u64, &mut self.bytes)?;
        self.window = left;
        Ok(())
    }

    /// The entry at `i`, which must be valid, or `None` past the end.
    fn probe(&self, i: u64) -> Result<Option<RawEntry>> {
        let mut bytes = [0; ENTRY_SIZE];
        if self.window.contains(&i) {
            let at = (i - self.window.start) as usize * ENTRY_SIZE;
            bytes.copy_from_slice(&self.bytes[at..at + ENTRY_SIZE]);
        } else {
            self.source.read_at(self.location + i * ENTRY_SIZE as u64, &mut bytes)?;
        }
        let entry = RawEntry::decode(&bytes);
        if entry.location == 0 {
            return Ok(None);
        }
        entry.check(self.limits).map_err(|what| bad_entry(self.location, i, &what))?;
        Ok(Some(entry))
    }
}
