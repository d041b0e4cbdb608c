//! The rule of the HOOMD schema that a reader of single chunks needs: which chunks a frame inherits.
//!
//! A frame without a chunk inherits that of frame 0, except that per-particle, per-bond … chunks are not inherited if
//! the number of particles, bonds … differs, and `state/` is never inherited.

use crate::entry::Entry;
use crate::error::Result;
use crate::number::Number;
use crate::reader::Reader;
use crate::source::Source;

/// The parts of a frame whose number of elements is given by a chunk `N`.
const COUNTED: [&str; 7] =
    ["particles", "bonds", "angles", "dihedrals", "impropers", "constraints", "pairs"];
/// Chunks of these parts whose size does not depend on the number of elements.
const ONCE: [&[u8]; 3] = [b"N", b"types", b"type_shapes"];

/// What a frame inherits from frame 0.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Inheritance {
    /// Parts whose number of elements differs from that of frame 0.
    resized: Vec<&'static str>,
}

impl Inheritance {
    /// Whether a missing chunk of this name is inherited from frame 0.
    #[must_use]
    pub fn covers(&self, name: &[u8]) -> bool {
        let Some(slash) = name.iter().position(|byte| *byte == b'/') else { return true };
        let (part, field) = (&name[..slash], &name[slash + 1..]);
        let resized = self.resized.iter().any(|resized| resized.as_bytes() == part);
        part != b"state" && (!resized || ONCE.contains(&field))
    }
}

impl<S: Source> Reader<S> {
    /// Whether the header declares the HOOMD schema.
    #[must_use]
    pub fn is_hoomd(&self) -> bool {
        self.header.schema() == b"hoomd"
    }

    /// What a frame inherits from frame 0, by the HOOMD schema.
    ///
    /// # Errors
    /// As [`Reader::find`] and [`Reader::read`].
    pub fn inheritance(&self, frame: u64) -> Result<Inheritance> {
        let mut resized = Vec::new();
        for part in COUNTED {
            let count = format!("{part}/N");
            if let Some(own) = self.find(frame, count.as_bytes())? {
                let first = self.find(0, count.as_bytes())?;
                let first = first.map(|first| self.first_number(&first)).transpose()?.flatten();
                if self.first_number(&own)? != first.or(Some(Number::Unsigned(0))) {
                    resized.push(part);
                }
            }
        }
        Ok(Inheritance { resized })
    }

    /// The chunk of this name in this frame, or the inherited one.
    ///
    /// # Errors
    /// As [`Reader::inheritance`].
    pub fn find_inherited(&self, frame: u64, name: &[u8]) -> Result<Option<Entry>> {
        let own = self.find(frame, name)?;
        if own.is_some() || frame >= self.frames || !self.inheritance(frame)?.covers(name) {
            return Ok(own);
        }
        self.find(0, name)
    }

    /// The first element of a one-column chunk.
    fn first_number(&self, entry: &Entry) -> Result<Option<Number>> {
        if entry.rows == 0 || entry.columns != 1 {
            return Ok(None);
        }
        let mut bytes = [0; 8];
        let bytes = &mut bytes[..entry.row_size() as usize];
        self.read_rows(entry, 0..1, bytes)?;
        Ok(entry.kind.numbers(bytes).next())
    }
}
