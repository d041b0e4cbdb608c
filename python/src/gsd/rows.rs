//! Rows of a chunk as an array or a string.

use std::ops::Range;

use cenote_gsd::{ChunkType, Entry, Reader};
use pyo3::exceptions::{PyNotImplementedError, PyOverflowError};
use pyo3::prelude::*;
use pyo3::types::PySlice;

use super::array::{FreshArray, text};
use super::error::exception;
use super::source::Medium;

/// From this size in bytes on, reading releases the interpreter lock for other threads.
pub(crate) const LONG_READ: u64 = 1 << 16;

/// The rows of a slice of `all` rows.
pub(crate) fn row_range(rows: &Bound<'_, PySlice>, all: u64) -> PyResult<Range<u64>> {
    let length =
        isize::try_from(all).map_err(|_| PyOverflowError::new_err("too many rows for a slice"))?;
    let indices = rows.indices(length)?;
    if indices.step != 1 {
        return Err(PyNotImplementedError::new_err("rows are read with step 1"));
    }
    let start = indices.start as u64;
    Ok(start..start + indices.slicelength as u64)
}

/// The reason why a chunk could not be read.
pub(crate) enum ReadError {
    Format(cenote_gsd::Error),
    Python(PyErr),
}

impl ReadError {
    pub(crate) fn raised(self, file: &str) -> PyErr {
        match self {
            Self::Format(error) => exception(error, file),
            Self::Python(error) => error,
        }
    }
}

impl From<cenote_gsd::Error> for ReadError {
    fn from(error: cenote_gsd::Error) -> Self {
        Self::Format(error)
    }
}

impl From<PyErr> for ReadError {
    fn from(error: PyErr) -> Self {
        Self::Python(error)
    }
}

/// Some rows of a chunk as an array or, for characters in one column, a string.
pub(crate) fn read_rows<'py>(
    py: Python<'py>,
    reader: &Reader<Medium>,
    entry: &Entry,
    rows: Range<u64>,
) -> Result<Bound<'py, PyAny>, ReadError> {
    let size = (rows.end - rows.start) * entry.row_size();
    if entry.chunk_type() == ChunkType::Character && entry.columns() == 1 {
        let mut bytes = vec![0; size as usize];
        py.detach(|| reader.read_rows(entry, rows, &mut bytes))?;
        return Ok(text(py, &bytes)?);
    }
    let mut array = fresh_for(py, entry, (rows.end - rows.start) as usize)?;
    let bytes = array.bytes();
    if size >= LONG_READ {
        py.detach(|| reader.read_rows(entry, rows, bytes))?;
    } else {
        reader.source().wait(py, || reader.read_rows(entry, rows, bytes))?;
    }
    Ok(array.finish())
}

/// A new array for some rows of a chunk; the reference gives characters the other way round.
pub(crate) fn fresh_for<'py>(
    py: Python<'py>,
    entry: &Entry,
    rows: usize,
) -> PyResult<FreshArray<'py>> {
    let (kind, columns) = (entry.chunk_type(), entry.columns() as usize);
    if kind == ChunkType::Character {
        return FreshArray::from_numpy(py, kind, &[columns, rows]);
    }
    FreshArray::new(py, kind, rows, columns)
}
