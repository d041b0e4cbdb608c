//! One field of a frame as a chunk, or nothing if it is the default.

use cenote_gsd::{ChunkType, Entry};
use numpy::{PyUntypedArray, PyUntypedArrayMethods};
use pyo3::exceptions::{PyTypeError, PyValueError};
use pyo3::intern;
use pyo3::prelude::*;
use pyo3::types::{PyList, PySet, PyString};

use super::FrameWriter;
use crate::gsd::array::chunk_type;
use crate::gsd::chunk::ChunkData;
use crate::gsd::schema::{Default, Field, Shape, attribute, container_name};

/// A field with the value that the frame gives it.
pub(super) struct Value<'a, 'py> {
    pub(super) number: usize,
    pub(super) field: &'static Field,
    /// The container it is from.
    pub(super) container: &'a Bound<'py, PyAny>,
    pub(super) value: Bound<'py, PyAny>,
    /// Its chunk in frame 0.
    pub(super) initial: Option<Entry>,
}

impl<'py> FrameWriter<'_, 'py> {
    /// The chunk to write for a value, or nothing if it is the default.
    pub(super) fn chunk(&self, value: &Value<'_, 'py>) -> PyResult<Option<ChunkData<'py>>> {
        match value.field.shape {
            Shape::One => self.one(value),
            Shape::Names => self.names(value),
            Shape::Box => self.slow(value, "_box_chunk"),
            Shape::Shapes => self.slow(value, "_shapes_chunk"),
            Shape::Rows(columns) => self.rows(value, columns),
        }
    }

    fn one(&self, value: &Value<'_, 'py>) -> PyResult<Option<ChunkData<'py>>> {
        let Ok(given) = value.value.extract::<u64>() else { return self.slow(value, "_one_chunk") };
        let bytes = given.to_le_bytes();
        let (bytes, rest) = bytes.split_at(value.field.kind.size() as usize);
        if rest.iter().any(|&byte| byte != 0) {
            return self.slow(value, "_one_chunk");
        }
        let is_unchanged = match &value.initial {
            Some(entry) => self.initial_value(value.number, entry)?.eq(given)?,
            None => value.field.default == Default::Integer(given as i64),
        };
        Ok((!is_unchanged).then(|| number(bytes.to_vec(), value.field.kind)))
    }

    fn names(&self, value: &Value<'_, 'py>) -> PyResult<Option<ChunkData<'py>>> {
        let names = match value.value.cast_exact::<PyList>() {
            Ok(list) => list.clone(),
            Err(_) => value
                .value
                .try_iter()?
                .collect::<PyResult<Vec<_>>>()?
                .into_pyobject(self.py)?
                .cast_into()?,
        };
        if PySet::new(self.py, names.iter())?.len() != names.len() {
            return Err(PyValueError::new_err("Type names must be unique."));
        }
        let is_unchanged = match (&value.initial, self.initial) {
            (Some(_), Some(initial)) => {
                let container = initial.getattr(container_name(self.py, value.field.container))?;
                container.getattr(attribute(self.py, value.number))?.eq(&names)?
            }
            _ => value.value.eq(self.default(value)?)?,
        };
        if is_unchanged { Ok(None) } else { Ok(Some(packed(&names)?)) }
    }

    /// The default value according to the container's class.
    fn default(&self, value: &Value<'_, 'py>) -> PyResult<Bound<'py, PyAny>> {
        value.container.getattr(intern!(self.py, "_default_value"))?.get_item(value.field.name)
    }

    fn rows(&self, value: &Value<'_, 'py>, columns: usize) -> PyResult<Option<ChunkData<'py>>> {
        let count = value.container.getattr(intern!(self.py, "N"))?;
        if count.is_none() {
            let what = value.field.chunk;
            return Err(PyTypeError::new_err(format!("N must be set to write {what}")));
        }
        let Ok(count) = count.extract::<usize>() else { return self.slow(value, "_rows_chunk") };
        let float = value.field.kind == ChunkType::F32;
        let wanted = if float { self.float } else { value.field.kind };
        let Some((array, kind)) = plain_array(&value.value, count, columns) else {
            return self.slow(value, "_rows_chunk");
        };
        let known = kind == wanted || (float && kind == ChunkType::F64);
        if !known || !value.initial.is_none_or(|entry| entry.chunk_type() == kind) {
            return self.slow(value, "_rows_chunk");
        }
        if self.is_unchanged(value, array, kind)? {
            return Ok(None);
        }
        if kind != wanted {
            return self.cast(value, wanted).map(Some);
        }
        let columns = columns as u32;
        Ok(Some(ChunkData::Array { array: array.clone(), kind, rows: count as u64, columns }))
    }

    fn cast(&self, value: &Value<'_, 'py>, kind: ChunkType) -> PyResult<ChunkData<'py>> {
        let cast = value.value.call_method1(intern!(self.py, "astype"), (kind.name(),))?;
        ChunkData::from_value(value.field.chunk, &cast)
    }

    /// The Python implementation, like the reference: the chunk's array, or `None` if it is the default.
    fn slow(&self, value: &Value<'_, 'py>, how: &str) -> PyResult<Option<ChunkData<'py>>> {
        let initial = value.initial.map(|entry| self.initial_value(value.number, &entry));
        let initial = initial.transpose()?;
        let dtype = if value.field.kind == ChunkType::F32 { self.float } else { value.field.kind };
        let columns = if let Shape::Rows(columns) = value.field.shape { columns } else { 1 };
        let arguments = (
            &value.value,
            initial,
            self.default(value)?,
            dtype.name(),
            value.container.getattr_opt("N")?,
            columns,
        );
        let chunk = self.module.call_method1(how, arguments)?;
        if chunk.is_none() {
            return Ok(None);
        }
        ChunkData::from_value(value.field.chunk, &chunk).map(Some)
    }
}

/// One number as a chunk.
pub(super) fn number(bytes: Vec<u8>, kind: ChunkType) -> ChunkData<'static> {
    ChunkData::Bytes { bytes, kind, columns: 1 }
}

/// An array that can be used without a copy.
fn plain_array<'a, 'py>(
    value: &'a Bound<'py, PyAny>,
    rows: usize,
    columns: usize,
) -> Option<(&'a Bound<'py, PyUntypedArray>, ChunkType)> {
    let array = value.cast_exact::<PyUntypedArray>().ok()?;
    let fits = match *array.shape() {
        [n] => columns == 1 && n == rows,
        [n, m] => columns > 1 && n == rows && m == columns,
        _ => false,
    };
    let kind = chunk_type(array)?;
    (fits && array.is_c_contiguous()).then_some((array, kind))
}

/// Names as the rows of a character matrix, one byte wider than the longest.
fn packed(names: &Bound<'_, PyList>) -> PyResult<ChunkData<'static>> {
    let names = names
        .iter()
        .map(|name| Ok(name.cast::<PyString>()?.to_str()?.as_bytes().to_vec()))
        .collect::<PyResult<Vec<_>>>()?;
    let width = names.iter().map(Vec::len).max().unwrap_or(0) + 1;
    let mut bytes = Vec::with_capacity(width * names.len());
    for (i, name) in names.iter().enumerate() {
        bytes.extend_from_slice(name);
        bytes.resize((i + 1) * width, 0);
    }
    let columns = u32::try_from(width).map_err(|_| PyValueError::new_err("a name is too long"))?;
    Ok(ChunkData::Bytes { bytes, kind: ChunkType::I8, columns })
}
