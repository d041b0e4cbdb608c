//! Appending a frame: only what neither frame 0 nor the default says already.
//!
//! What a frame says is first turned into chunks as a whole, then written; so a frame that is not
//! valid leaves nothing behind. Values that are arrays of the right type, shape and layout are
//! compared and written where they are; everything else goes through NumPy (`_slow_*` of
//! `hoomd.py`).

use cenote_gsd::{ChunkType, Entry, Reader};
use numpy::{PyUntypedArray, PyUntypedArrayMethods};
use pyo3::exceptions::{PyTypeError, PyValueError};
use pyo3::intern;
use pyo3::prelude::*;
use pyo3::types::{PyDict, PyList, PySet, PyString};

use super::array::{bytes_of, chunk_type};
use super::chunk::ChunkData;
use super::elision::{equal, equal_in_file, is_default};
use super::rows::read_rows;
use super::schema::{CONTAINERS, Default, FIELDS, Field, Shape, attribute, container_name};
use super::source::Medium;
use super::trajectory::Trajectory;

/// Bytes from which on writing is worth letting other threads run.
const LONG_WRITE: u64 = 1 << 16;

pub(crate) fn append<'py>(
    trajectory: &Trajectory,
    py: Python<'py>,
    frame: &Bound<'py, PyAny>,
    initial: Option<&Bound<'py, PyAny>>,
    double: bool,
) -> PyResult<()> {
    let file = trajectory.file.get();
    let mut chunks = {
        let state = file.read(py);
        state.check_writable(file.file_name())?;
        let reader = state.reader()?;
        let float = if double { ChunkType::F64 } else { ChunkType::F32 };
        let module = trajectory.classes.module(py);
        let writer = FrameWriter { py, reader, module, initial, float };
        writer.fields(frame)?
    };
    for (name, value) in frame.getattr(intern!(py, "log"))?.cast::<PyDict>()?.iter() {
        let name = format!("log/{}", name.cast::<PyString>()?.to_str()?);
        let data = ChunkData::from_value(&name, &value)?;
        chunks.push((name.into(), data));
    }
    write(trajectory, py, &chunks)
}

type NamedChunk<'py> = (std::borrow::Cow<'static, str>, ChunkData<'py>);

fn write(trajectory: &Trajectory, py: Python<'_>, chunks: &[NamedChunk<'_>]) -> PyResult<()> {
    let file = trajectory.file.get();
    let chunks = chunks
        .iter()
        .map(|(name, data)| data.chunk(name.as_bytes()))
        .collect::<PyResult<Vec<_>>>()?;
    let mut state = file.write(py);
    let writer = state.writer(file.file_name())?;
    let mut work = || {
        chunks.iter().try_for_each(|chunk| writer.write_chunk(chunk))?;
        writer.end_frame()?;
        // A file that is being written to shows at least its first frame.
        if writer.reader().frames() == 0 { writer.flush() } else { Ok(()) }
    };
    let size: u64 = chunks.iter().map(|chunk| chunk.data.len() as u64).sum();
    let written = if size >= LONG_WRITE { py.detach(work) } else { work() };
    written.map_err(|e| file.raise(e))
}

/// A frame being turned into chunks.
struct FrameWriter<'a, 'py> {
    py: Python<'py>,
    reader: &'a Reader<Medium>,
    module: &'a Bound<'py, PyAny>,
    initial: Option<&'a Bound<'py, PyAny>>,
    /// The type of floating point fields in this file.
    float: ChunkType,
}

/// A field with the value that the frame gives it.
struct Value<'a, 'py> {
    number: usize,
    field: &'static Field,
    /// The container it is from.
    container: &'a Bound<'py, PyAny>,
    value: Bound<'py, PyAny>,
    /// Its chunk in frame 0.
    initial: Option<Entry>,
}

impl<'py> FrameWriter<'_, 'py> {
    fn fields(&self, frame: &Bound<'py, PyAny>) -> PyResult<Vec<NamedChunk<'py>>> {
        let own = frame.getattr_opt(intern!(self.py, "_own"))?;
        let mut chunks = Vec::new();
        let mut first = 0;
        for number in 0..CONTAINERS.len() {
            let fields =
                FIELDS[first..].iter().take_while(|field| field.container == number).count();
            let name = container_name(self.py, number);
            let container = match &own {
                Some(own)
                    if !own.contains(name)? && !own.contains(intern!(self.py, "_initial"))? =>
                {
                    self.untouched(first, &mut chunks)?;
                    first += fields;
                    continue;
                }
                _ => frame.getattr(name)?,
            };
            self.container(&container, first..first + fields, &mut chunks)?;
            first += fields;
        }
        Ok(chunks)
    }

    /// A container that was never asked for says only that its N is 0.
    fn untouched(&self, first: usize, chunks: &mut Vec<NamedChunk<'py>>) -> PyResult<()> {
        let field = &FIELDS[first];
        if field.name != "N" {
            return Ok(());
        }
        let initial = self.initial_read(first)?.map(|count| count.eq(0)).transpose()?;
        if initial == Some(false) {
            chunks.push((field.chunk.into(), number(vec![0; 4], field.kind)));
        }
        Ok(())
    }

    fn container(
        &self,
        container: &Bound<'py, PyAny>,
        fields: std::ops::Range<usize>,
        chunks: &mut Vec<NamedChunk<'py>>,
    ) -> PyResult<()> {
        let own = container.getattr_opt(intern!(self.py, "_own"))?;
        let own = own.filter(|own| {
            own.contains(intern!(self.py, "_initial")).is_ok_and(|inherits| !inherits)
        });
        let own = own.map(Bound::cast_into::<PyDict>).transpose()?;
        for number in fields {
            let field = &FIELDS[number];
            let value = match &own {
                Some(own) => own.get_item(attribute(self.py, number))?,
                None => container.getattr_opt(field.name)?,
            };
            let Some(value) = value.filter(|value| !value.is_none()) else { continue };
            let initial = self.initial_chunk(field)?;
            let value = Value { number, field, container, value, initial };
            if let Some(data) = self.chunk(&value)? {
                chunks.push((field.chunk.into(), data));
            }
        }
        Ok(())
    }

    fn initial_chunk(&self, field: &Field) -> PyResult<Option<Entry>> {
        if self.initial.is_none() {
            return Ok(None);
        }
        self.reader.find(0, field.chunk.as_bytes()).map_err(|e| self.raise(e))
    }

    fn raise(&self, error: cenote_gsd::Error) -> PyErr {
        super::error::exception(error, "frame 0")
    }

    /// The chunk to write for a value, or nothing if it is said already.
    fn chunk(&self, value: &Value<'_, 'py>) -> PyResult<Option<ChunkData<'py>>> {
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
        let said = match &value.initial {
            Some(entry) => self.initial_value(value.number, entry)?.eq(given)?,
            None => value.field.default == Default::Integer(given as i64),
        };
        Ok((!said).then(|| number(bytes.to_vec(), value.field.kind)))
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
        let said = match (&value.initial, self.initial) {
            (Some(_), Some(initial)) => {
                let container = initial.getattr(container_name(self.py, value.field.container))?;
                container.getattr(attribute(self.py, value.number))?.eq(&names)?
            }
            _ => value.value.eq(self.default(value)?)?,
        };
        if said { Ok(None) } else { Ok(Some(packed(&names)?)) }
    }

    /// What the container's class says the value is when nothing says it.
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
        if self.is_said(value, array, kind)? {
            return Ok(None);
        }
        if kind != wanted {
            return self.cast(value, wanted).map(Some);
        }
        let columns = columns as u32;
        Ok(Some(ChunkData::Array { array: array.clone(), kind, rows: count as u64, columns }))
    }

    fn is_said(
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

    /// What was read of frame 0 for a field.
    fn initial_read(&self, field: usize) -> PyResult<Option<Bound<'py, PyAny>>> {
        let Some(initial) = self.initial else { return Ok(None) };
        let container = initial.getattr(container_name(self.py, FIELDS[field].container))?;
        let own = container.getattr(intern!(self.py, "_own"))?;
        own.cast::<PyDict>()?.get_item(attribute(self.py, field))
    }

    /// The value of a field in frame 0, read again if it was left in the file.
    fn initial_value(&self, field: usize, entry: &Entry) -> PyResult<Bound<'py, PyAny>> {
        match self.initial_read(field)? {
            Some(value) => Ok(value),
            None => read_rows(self.py, self.reader, entry, 0..entry.rows())
                .map_err(|e| e.raised("frame 0")),
        }
    }

    fn cast(&self, value: &Value<'_, 'py>, kind: ChunkType) -> PyResult<ChunkData<'py>> {
        let cast = value.value.call_method1(intern!(self.py, "astype"), (kind.name(),))?;
        ChunkData::from_value(value.field.chunk, &cast)
    }

    /// As the reference does it, in Python: the chunk's array, or `None` if it is said already.
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
fn number(bytes: Vec<u8>, kind: ChunkType) -> ChunkData<'static> {
    ChunkData::Bytes { bytes, kind, columns: 1 }
}

/// An array that can be used where it is.
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
