//! The chunks of a frame, by their meaning in the schema.

use cenote_gsd::{Entry, Reader, Result};

use super::source::Medium;
use super::trajectory::{KnownNames, Meaning};

/// The chunks of one frame.
pub(crate) struct FoundChunks {
    /// Fields by their number, in the order of the schema.
    pub(crate) fields: Vec<(usize, Entry)>,
    /// Logged quantities, each in its place among those of the file.
    pub(crate) logs: Vec<Option<Entry>>,
}

impl FoundChunks {
    pub(crate) fn of_frame(
        reader: &Reader<Medium>,
        known: &KnownNames,
        frame: u64,
    ) -> Result<Self> {
        let logs = vec![None; known.logs.len()];
        let mut found = Self { fields: Vec::with_capacity(8), logs };
        for entry in reader.frame(frame)? {
            match known.meanings[usize::from(entry.name_id())] {
                Meaning::Field(field) => found.fields.push((field, entry)),
                Meaning::Log(log) if found.logs[log].is_none() => found.logs[log] = Some(entry),
                Meaning::Log(log) => found.logs[log] = reader.find_id(frame, entry.name_id())?,
                Meaning::Other => {}
            }
        }
        found.fields.sort_by_key(|(field, _)| *field);
        found.settle_doubles(reader)?;
        Ok(found)
    }

    /// Of several chunks with one name, keeps the one that a search finds.
    fn settle_doubles(&mut self, reader: &Reader<Medium>) -> Result<()> {
        let doubles: Vec<usize> = self
            .fields
            .windows(2)
            .filter(|pair| pair[0].0 == pair[1].0)
            .map(|pair| pair[0].0)
            .collect();
        self.fields.dedup_by_key(|(field, _)| *field);
        for (_, entry) in self.fields.iter_mut().filter(|(field, _)| doubles.contains(field)) {
            *entry = reader.find_id(entry.frame(), entry.name_id())?.unwrap_or(*entry);
        }
        Ok(())
    }

    pub(crate) fn has_field(&self, field: usize) -> bool {
        self.fields.binary_search_by_key(&field, |(number, _)| *number).is_ok()
    }
}
