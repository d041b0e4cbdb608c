//! Python values as chunks.

use cenote_gsd::{Chunk, ChunkType};
use numpy::{PyUntypedArray, PyUntypedArrayMethods};
use pyo3::exceptions::PyValueError;
use pyo3::intern;
use pyo3::prelude::*;
use pyo3::types::PyString;

use super::array::{bytes_of, chunk_type};

/// A value that a file can hold.
pub(crate) enum ChunkData<'py> {
    Array { array: Bound<'py, PyUntypedArray>, kind: ChunkType, rows: u64, columns: u32 },
    Text(Bound<'py, PyString>),
    Bytes { bytes: Vec<u8>, kind: ChunkType, columns: u32 },
}

impl<'py> ChunkData<'py> {
    /// A string, or what `numpy.ascontiguousarray` makes of the value, in one or two dimensions.
    pub(crate) fn from_value(name: &str, value: &Bound<'py, PyAny>) -> PyResult<Self> {
        if let Ok(text) = value.cast_exact::<PyString>() {
            return Ok(Self::Text(text.clone()));
        }
        let array = match value.cast_exact::<PyUntypedArray>() {
            Ok(array) if array.is_c_contiguous() && array.ndim() > 0 => array.clone(),
            _ => copied(name, value)?,
        };
        Self::from_array(name, array)
    }

    fn from_array(name: &str, array: Bound<'py, PyUntypedArray>) -> PyResult<Self> {
        let (rows, columns) = match *array.shape() {
            [rows] => (rows, 1),
            [rows, columns] => (rows, columns),
            _ => {
                let text = format!("GSD can only write 1 or 2 dimensional arrays: {name}");
                return Err(PyValueError::new_err(text));
            }
        };
        let kind = chunk_type(&array)
            .ok_or_else(|| PyValueError::new_err(format!("invalid type for chunk: {name}")))?;
        let columns = u32::try_from(columns)
            .map_err(|_| PyValueError::new_err(format!("too many columns in chunk: {name}")))?;
        Ok(Self::Array { array, kind, rows: rows as u64, columns })
    }

    /// The chunk to write under this name.
    pub(crate) fn chunk<'a>(&'a self, name: &'a [u8]) -> PyResult<Chunk<'a>> {
        Ok(match self {
            Self::Array { array, kind, rows, columns } => {
                Chunk { name, kind: *kind, rows: *rows, columns: *columns, data: bytes_of(array) }
            }
            Self::Text(text) => {
                let data = text.to_str()?.as_bytes();
                let rows = data.len() as u64;
                Chunk { name, kind: ChunkType::Character, rows, columns: 1, data }
            }
            Self::Bytes { bytes, kind, columns } => {
                let row = u64::from(*columns) * kind.size();
                let rows = bytes.len() as u64 / row.max(1);
                Chunk { name, kind: *kind, rows, columns: *columns, data: bytes }
            }
        })
    }
}

/// A contiguous copy, with the warning that the reference gives.
fn copied<'py>(name: &str, value: &Bound<'py, PyAny>) -> PyResult<Bound<'py, PyUntypedArray>> {
    let py = value.py();
    let array = py.import(intern!(py, "numpy"))?.call_method1("ascontiguousarray", (value,))?;
    if !array.is(value) {
        let text = format!("implicit data copy when writing chunk: {name}");
        super::logger::log(py, "warning", &text)?;
    }
    Ok(array.cast_into::<PyUntypedArray>()?)
}
