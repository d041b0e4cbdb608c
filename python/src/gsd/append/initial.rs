//! The values of frame 0.

use cenote_gsd::{ChunkType, Entry};
use numpy::{PyUntypedArray, PyUntypedArrayMethods};
use pyo3::intern;
use pyo3::prelude::*;
use pyo3::types::PyDict;

use super::FrameWriter;
use super::field::Value;
use crate::gsd::array::bytes_of;
use crate::gsd::elision::{equal, equal_in_file, is_default};
use crate::gsd::rows::read_rows;
use crate::gsd::schema::{FIELDS, Field, attribute, container_name};

impl<'py> FrameWriter<'_, 'py> {
    pub(super) fn initial_chunk(&self, field: &Field) -> PyResult<Option<Entry>> {
        if self.initial.is_none() {
            return Ok(None);
        }
        self.reader.find(0, field.chunk.as_bytes()).map_err(|e| self.raise(e))
    }

    pub(super) fn is_unchanged(
        &self,
        value: &Value<'_, 'py>,
        array: &Bound<'py, PyUntypedArray>,
        kind: ChunkType,
    ) -> PyResult<bool> {
        let bytes = bytes_of(array);
        let Some(entry) = &value.initial else { return Ok(is_default(value.number, kind, bytes)) };
        if entry.rows() != array.shape()[0] as u64 {
            return Ok(false);
        }
        let read = self.initial_read(value.number)?;
        if let Some(Ok(read)) = read.map(Bound::cast_into::<PyUntypedArray>) {
            return Ok(equal(kind, bytes_of(&read), bytes));
        }
        equal_in_file(self.reader, entry, bytes).map_err(|e| self.raise(e))
    }

    /// The part of frame 0 that was read for a field.
    pub(super) fn initial_read(&self, field: usize) -> PyResult<Option<Bound<'py, PyAny>>> {
        let Some(initial) = self.initial else { return Ok(None) };
        let container = initial.getattr(container_name(self.py, FIELDS[field].container))?;
        let own = container.getattr(intern!(self.py, "_own"))?;
        own.cast::<PyDict>()?.get_item(attribute(self.py, field))
    }

    /// The value of a field in frame 0, read from the file if it was not kept in memory.
    pub(super) fn initial_value(&self, field: usize, entry: &Entry) -> PyResult<Bound<'py, PyAny>> {
        match self.initial_read(field)? {
            Some(value) => Ok(value),
            None => read_rows(self.py, self.reader, entry, 0..entry.rows())
                .map_err(|e| e.raised("frame 0")),
        }
    }

    fn raise(&self, error: cenote_gsd::Error) -> PyErr {
        crate::gsd::error::exception(error, "frame 0")
    }
}
