//! All logged quantities of a file, in one pass over its index.

use std::collections::HashMap;

use cenote_gsd::{ChunkType, Entry, Reader, Source};
use numpy::{PyUntypedArray, PyUntypedArrayMethods};
use pyo3::prelude::*;
use pyo3::types::{PyDict, PyString};

use super::array::{bytes_of_mut, chunk_type};
use super::file::GsdFile;
use super::rows::{ReadError, read_rows};
use super::source::Medium;

/// Bytes read at a time: the logs of one frame are adjacent.
const WINDOW: u64 = 4096;

/// Fills, from frame 1 on, arrays whose first axis is the frame.
///
/// `arrays` maps names of chunks to arrays in which each frame has the value of frame 0.
#[pyfunction]
pub(crate) fn read_log(
    py: Python<'_>,
    file: &Bound<'_, GsdFile>,
    arrays: &Bound<'_, PyDict>,
) -> PyResult<()> {
    let file = file.get();
    let state = file.read(py);
    let reader = state.reader()?;
    let mut columns = HashMap::new();
    for (name, array) in arrays.iter() {
        let name = name.cast::<PyString>()?.to_str()?.as_bytes().to_vec();
        if let Some(id) = reader.names().id(&name) {
            columns.insert(id, Column::new(array));
        }
    }
    fill(py, reader, &columns).map_err(|e| e.raised(file.file_name()))
}

/// The values of one quantity.
struct Column<'py> {
    array: Bound<'py, PyAny>,
    /// The type and shape that a chunk must have for its bytes to be one row of the array.
    row: Option<(Bound<'py, PyUntypedArray>, ChunkType, u64)>,
}

impl<'py> Column<'py> {
    fn new(array: Bound<'py, PyAny>) -> Self {
        let row = array.cast::<PyUntypedArray>().ok().and_then(|plain| {
            let kind = chunk_type(plain)?;
            let elements: usize = plain.shape().iter().skip(1).product();
            let size = elements as u64 * kind.size();
            plain.is_c_contiguous().then(|| (plain.clone(), kind, size))
        });
        Self { array, row }
    }

    fn takes(&self, entry: &Entry) -> bool {
        let fits = |(_, kind, size): &(_, ChunkType, u64)| {
            entry.chunk_type() == *kind && entry.byte_size() == *size
        };
        self.row.as_ref().is_some_and(fits)
    }
}

fn fill(
    py: Python<'_>,
    reader: &Reader<Medium>,
    columns: &HashMap<u16, Column<'_>>,
) -> Result<(), ReadError> {
    let mut window = Window { reader, start: 0, bytes: Vec::new() };
    let mut entries = reader.entries();
    while let Some(entry) = reader.source().wait(py, || entries.next()) {
        let entry = entry?;
        let Some(column) = columns.get(&entry.name_id()).filter(|_| entry.frame() > 0) else {
            continue;
        };
        match &column.row {
            Some((array, _, size)) if column.takes(&entry) => {
                let at = (entry.frame() * size) as usize;
                let row = bytes_of_mut(array).get_mut(at..at + *size as usize);
                if let Some(row) = row {
                    reader.source().wait(py, || window.read(&entry, row))?;
                }
            }
            _ => assign(py, reader, &entry, &column.array)?,
        }
    }
    Ok(())
}

/// Lets NumPy convert a value of another type or shape, or a string.
fn assign(
    py: Python<'_>,
    reader: &Reader<Medium>,
    entry: &Entry,
    array: &Bound<'_, PyAny>,
) -> Result<(), ReadError> {
    let value = read_rows(py, reader, entry, 0..entry.rows())?;
    let scalar = array.getattr("ndim")?.extract::<usize>()? == 1;
    let value =
        if scalar && !value.is_instance_of::<PyString>() { value.get_item(0)? } else { value };
    Ok(array.set_item(entry.frame(), value)?)
}

/// The part of the file around the last value read.
struct Window<'a> {
    reader: &'a Reader<Medium>,
    start: u64,
    bytes: Vec<u8>,
}

impl Window<'_> {
    fn read(&mut self, entry: &Entry, value: &mut [u8]) -> cenote_gsd::Result<()> {
        if entry.byte_size() >= WINDOW {
            return self.reader.read(entry, value);
        }
        if let Some(found) = self.find(entry) {
            value.copy_from_slice(found);
            return Ok(());
        }
        self.move_to(entry.location())?;
        value.copy_from_slice(
            self.find(entry).ok_or(std::io::Error::from(std::io::ErrorKind::UnexpectedEof))?,
        );
        Ok(())
    }

    fn find(&self, entry: &Entry) -> Option<&[u8]> {
        let start = usize::try_from(entry.location().checked_sub(self.start)?).ok()?;
        self.bytes.get(start..start.checked_add(entry.byte_size() as usize)?)
    }

    fn move_to(&mut self, start: u64) -> cenote_gsd::Result<()> {
        let size = WINDOW.min(self.reader.size().saturating_sub(start));
        self.bytes.clear();
        self.bytes.resize(size as usize, 0);
        self.start = start;
        Ok(self.reader.source().read_at(start, &mut self.bytes)?)
    }
}
