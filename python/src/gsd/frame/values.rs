//! The values of a frame's chunks, read together and converted to Python objects.

use cenote_gsd::{ChunkType, Entry};
use pyo3::intern;
use pyo3::prelude::*;
use pyo3::types::PyList;

use super::FrameReader;
use crate::gsd::array::{FreshArray, text, unsigned};
use crate::gsd::found::FoundChunks;
use crate::gsd::rows::{ReadError, fresh_for};
use crate::gsd::schema::{FIELDS, Field, Shape};

/// A value being read: an array, or bytes that become something else.
enum Target<'py> {
    Array(FreshArray<'py>),
    /// One number, of this many bytes.
    Number([u8; 8], usize),
    Bytes(Vec<u8>),
}

impl Target<'_> {
    fn bytes(&mut self) -> &mut [u8] {
        match self {
            Self::Array(array) => array.bytes(),
            Self::Number(bytes, size) => &mut bytes[..*size],
            Self::Bytes(bytes) => bytes,
        }
    }
}

impl<'py> FrameReader<'_, 'py> {
    /// The values of all chunks, fields first, each in their order.
    pub(super) fn read_values(
        &self,
        found: &FoundChunks,
    ) -> Result<Vec<Bound<'py, PyAny>>, ReadError> {
        let fields = found.fields.iter().map(|(number, entry)| (Some(&FIELDS[*number]), entry));
        let logs = found.logs.iter().flatten().map(|entry| (None, entry));
        let mut wanted = Vec::with_capacity(found.fields.len() + found.logs.len());
        for (field, entry) in fields.chain(logs) {
            wanted.push((field, *entry, self.target(field, entry)?));
        }
        let parts = wanted.iter_mut().map(|(_, entry, target)| (*entry, target.bytes()));
        let mut parts: Vec<(Entry, &mut [u8])> = parts.collect();
        let reader = self.reader;
        self.py.detach(|| reader.read_many(&mut parts))?;
        let mut values = Vec::with_capacity(wanted.len());
        for (field, entry, target) in wanted {
            values.push(self.value(target, &entry, field)?);
        }
        Ok(values)
    }

    fn target(&self, field: Option<&Field>, entry: &Entry) -> PyResult<Target<'py>> {
        let size = entry.byte_size() as usize;
        match field {
            Some(field) if is_number(field, entry) => Ok(Target::Number([0; 8], size)),
            Some(field) if matches!(field.shape, Shape::Names | Shape::Shapes) => {
                Ok(Target::Bytes(vec![0; size]))
            }
            None if is_text(entry) => Ok(Target::Bytes(vec![0; size])),
            _ => Ok(Target::Array(fresh_for(self.py, entry, entry.rows() as usize)?)),
        }
    }

    fn value(
        &self,
        target: Target<'py>,
        entry: &Entry,
        field: Option<&Field>,
    ) -> PyResult<Bound<'py, PyAny>> {
        if let Some(field) = field.filter(|field| !is_possible(field, entry)) {
            let what = format!("{} is not one number", field.chunk);
            return Err(self.corrupt(entry, what));
        }
        match (target, field.map(|field| field.shape)) {
            (Target::Array(array), Some(Shape::One)) => array.finish().get_item(0),
            (Target::Array(array), _) => Ok(array.finish()),
            (Target::Number(bytes, size), _) => unsigned(self.py, &bytes[..size]),
            (Target::Bytes(bytes), Some(Shape::Names)) => self.names(&bytes, entry),
            (Target::Bytes(bytes), Some(Shape::Shapes)) => {
                let texts = self.names(&bytes, entry)?;
                self.classes.module(self.py).call_method1(intern!(self.py, "_shapes"), (texts,))
            }
            (Target::Bytes(bytes), _) => text(self.py, &bytes),
        }
    }

    fn corrupt(&self, entry: &Entry, what: String) -> PyErr {
        self.raise(cenote_gsd::Error::Corrupt { at: entry.location(), what })
    }

    /// The rows of a character matrix as strings.
    fn names(&self, bytes: &[u8], entry: &Entry) -> PyResult<Bound<'py, PyAny>> {
        let width = entry.row_size() as usize;
        if width == 0 {
            return Err(self.corrupt(entry, "names without a width".to_owned()));
        }
        let names = bytes.chunks_exact(width).map(|row| text(self.py, row));
        Ok(PyList::new(self.py, names.collect::<PyResult<Vec<_>>>()?)?.into_any())
    }
}

fn is_text(entry: &Entry) -> bool {
    entry.chunk_type() == ChunkType::Character && entry.columns() == 1
}

/// Whether a chunk is a single number of the type required by a field.
fn is_number(field: &Field, entry: &Entry) -> bool {
    let one = entry.rows() == 1 && entry.columns() == 1;
    field.shape == Shape::One && entry.chunk_type() == field.kind && one
}

/// Whether a chunk can be a single number, as required by some fields.
fn is_possible(field: &Field, entry: &Entry) -> bool {
    let fraction = matches!(entry.chunk_type(), ChunkType::F32 | ChunkType::F64);
    let number = entry.rows() > 0
        && entry.columns() == 1
        && entry.chunk_type() != ChunkType::Character
        && !(fraction && field.name == "N");
    field.shape != Shape::One || number
}
