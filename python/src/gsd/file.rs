//! `GSDFile`: the file layer of the reference, in read and write.

use std::fs::File;
use std::ops::Range;
use std::path::Path;
use std::sync::{PoisonError, RwLock, RwLockReadGuard, RwLockWriteGuard};

use cenote_gsd::{ChunkType, Entry, Header, Reader, Version, Writer};
use pyo3::exceptions::{PyKeyError, PyNotImplementedError, PyOverflowError, PyValueError};
use pyo3::intern;
use pyo3::prelude::*;
use pyo3::sync::RwLockExt;
use pyo3::types::{PySlice, PyTuple};

use super::array::{FreshArray, text};
use super::chunk::ChunkData;
use super::error::{exception, not_open, not_writable};
use super::source::Medium;

/// Bytes from which on reading is worth letting other threads run.
const LONG_READ: u64 = 1 << 16;

/// What a file is open for; a closed one still knows its header.
pub(crate) enum State {
    Read(Reader<Medium>),
    Write(Writer<Medium>),
    Closed(Header),
}

impl State {
    pub(crate) fn reader(&self) -> PyResult<&Reader<Medium>> {
        match self {
            Self::Read(reader) => Ok(reader),
            Self::Write(writer) => Ok(writer.reader()),
            Self::Closed(_) => Err(not_open()),
        }
    }

    fn header(&self) -> &Header {
        match self {
            Self::Read(reader) => reader.header(),
            Self::Write(writer) => writer.reader().header(),
            Self::Closed(header) => header,
        }
    }

    /// # Errors
    /// As [`State::writer`].
    pub(crate) fn check_writable(&self, name: &str) -> PyResult<()> {
        match self {
            Self::Write(_) => Ok(()),
            Self::Read(_) => Err(not_writable(name)),
            Self::Closed(_) => Err(not_open()),
        }
    }

    /// # Errors
    /// As the reference: closed files and files opened for reading cannot be written.
    pub(crate) fn writer(&mut self, name: &str) -> PyResult<&mut Writer<Medium>> {
        match self {
            Self::Write(writer) => Ok(writer),
            Self::Read(_) => Err(not_writable(name)),
            Self::Closed(_) => Err(not_open()),
        }
    }
}

/// A GSD file.
#[pyclass(name = "GSDFile", module = "cenote.gsd.fl", subclass, frozen, weakref)]
pub(crate) struct GsdFile {
    state: RwLock<State>,
    name: String,
    mode: String,
    debug: bool,
}

impl GsdFile {
    pub(crate) fn read(&self, py: Python<'_>) -> RwLockReadGuard<'_, State> {
        self.state.read_py_attached(py).unwrap_or_else(PoisonError::into_inner)
    }

    pub(crate) fn write(&self, py: Python<'_>) -> RwLockWriteGuard<'_, State> {
        self.state.write_py_attached(py).unwrap_or_else(PoisonError::into_inner)
    }

    pub(crate) fn file_name(&self) -> &str {
        &self.name
    }

    /// An error of the format as an exception that names this file.
    pub(crate) fn raise(&self, error: cenote_gsd::Error) -> PyErr {
        exception(error, &self.name)
    }

    fn trace(&self, py: Python<'_>, text: impl FnOnce() -> String) -> PyResult<()> {
        if self.debug { log_if(py, "debug", 10, text) } else { Ok(()) }
    }

    fn inform(&self, py: Python<'_>, what: &str) -> PyResult<()> {
        log_if(py, "info", 20, || format!("{what} file: {}", self.name))
    }

    fn find(
        &self,
        py: Python<'_>,
        state: &State,
        frame: i64,
        name: &str,
    ) -> PyResult<Option<Entry>> {
        let Ok(frame) = u64::try_from(frame) else { return Ok(None) };
        let reader = match state {
            State::Closed(_) => return Ok(None),
            open => open.reader()?,
        };
        let find = || reader.find(frame, name.as_bytes());
        reader.source().wait(py, find).map_err(|e| self.raise(e))
    }

    fn check_schema(&self, py: Python<'_>, wanted: Option<String>) -> PyResult<()> {
        let Some(wanted) = wanted else { return Ok(()) };
        let found = self.schema(py)?.to_string();
        let wanted: String =
            if wanted.chars().count() > 64 { wanted.chars().take(63).collect() } else { wanted };
        if found == wanted {
            return Ok(());
        }
        let text = format!("file {} has incorrect schema: {found}", self.name);
        Err(pyo3::exceptions::PyRuntimeError::new_err(text))
    }

    fn write_data(&self, py: Python<'_>, name: &str, data: &ChunkData<'_>) -> PyResult<()> {
        let chunk = data.chunk(name.as_bytes())?;
        let mut state = self.write(py);
        let writer = state.writer(&self.name)?;
        // The lock was taken above, so nothing here waits for it without the interpreter.
        let written = if chunk.data.len() as u64 >= LONG_READ {
            py.detach(|| writer.write_chunk(&chunk))
        } else {
            writer.write_chunk(&chunk)
        };
        written.map_err(|e| self.raise(e))
    }
}

#[pymethods]
impl GsdFile {
    #[new]
    #[pyo3(signature = (name, mode, application, schema, schema_version, debug=true))]
    fn open(
        py: Python<'_>,
        name: String,
        mode: String,
        application: Option<String>,
        schema: Option<String>,
        schema_version: Option<Vec<u32>>,
        debug: bool,
    ) -> PyResult<Self> {
        let creating = creates(&mode, &name)?;
        let state = if creating {
            let new = NewFile::from_arguments(application, schema.clone(), schema_version)?;
            log_if(py, "info", 20, || format!("overwriting file: {name} with mode: {mode}"))?;
            py.detach(|| new.create(&name, mode == "x"))
        } else {
            log_if(py, "info", 20, || format!("opening file: {name} with mode: {mode}"))?;
            py.detach(|| open_existing(&name, mode == "r"))
        };
        let state = state.map_err(|e| exception(e, &name))?;
        let file = Self { state: RwLock::new(state), name, mode, debug };
        file.check_schema(py, schema)?;
        Ok(file)
    }

    /// Opens any object that answers byte ranges, for reading.
    #[staticmethod]
    #[pyo3(signature = (source, name, schema=None))]
    fn _from_source(
        py: Python<'_>,
        source: Bound<'_, PyAny>,
        name: String,
        schema: Option<String>,
    ) -> PyResult<Self> {
        let medium = Medium::of_object(source)?;
        let opened = py.detach(|| Reader::open(medium)).map_err(|e| exception(e, &name))?;
        let state = RwLock::new(State::Read(opened));
        let file = Self { state, name, mode: "r".to_owned(), debug: true };
        file.check_schema(py, schema)?;
        Ok(file)
    }

    fn close(&self, py: Python<'_>) -> PyResult<()> {
        let mut state = self.write(py);
        if matches!(*state, State::Closed(_)) {
            return Ok(());
        }
        self.inform(py, "closing")?;
        let header = state.header().clone();
        let open = std::mem::replace(&mut *state, State::Closed(header));
        py.detach(|| close(open)).map_err(|e| self.raise(e))
    }

    fn truncate(&self, py: Python<'_>) -> PyResult<()> {
        self.inform(py, "truncating")?;
        let mut state = self.write(py);
        let writer = state.writer(&self.name)?;
        py.detach(|| writer.truncate()).map_err(|e| self.raise(e))
    }

    fn end_frame(&self, py: Python<'_>) -> PyResult<()> {
        self.trace(py, || format!("end frame: {}", self.name))?;
        self.write(py).writer(&self.name)?.end_frame().map_err(|e| self.raise(e))
    }

    fn flush(&self, py: Python<'_>) -> PyResult<()> {
        self.trace(py, || format!("flush: {}", self.name))?;
        let mut state = self.write(py);
        let writer = state.writer(&self.name)?;
        py.detach(|| writer.flush()).map_err(|e| self.raise(e))
    }

    fn write_chunk(&self, py: Python<'_>, name: &str, data: &Bound<'_, PyAny>) -> PyResult<()> {
        self.read(py).reader()?;
        let data = ChunkData::from_value(name, data)?;
        self.trace(py, || format!("write chunk: {} - {name}", self.name))?;
        self.write_data(py, name, &data)
    }

    fn chunk_exists(&self, py: Python<'_>, frame: FrameNumber, name: &str) -> PyResult<bool> {
        Ok(self.find(py, &self.read(py), frame.0, name)?.is_some())
    }

    /// `rows` is a slice of step 1.
    #[pyo3(signature = (frame, name, rows=None))]
    fn read_chunk<'py>(
        &self,
        py: Python<'py>,
        frame: &Bound<'py, PyAny>,
        name: &str,
        rows: Option<&Bound<'py, PySlice>>,
    ) -> PyResult<Bound<'py, PyAny>> {
        let state = self.read(py);
        let reader = state.reader()?;
        let number: FrameNumber = frame.extract()?;
        let Some(entry) = self.find(py, &state, number.0, name)? else {
            let file = &self.name;
            let text = format!("frame {frame} / chunk {name} not found in: {file}");
            return Err(PyKeyError::new_err(text));
        };
        self.trace(py, || format!("read chunk: {} - {} - {name}", self.name, number.0))?;
        let rows = rows.map_or(Ok(0..entry.rows()), |rows| row_range(rows, entry.rows()))?;
        read_rows(py, reader, &entry, rows).map_err(|e| e.raised(&self.name))
    }

    fn find_matching_chunk_names(&self, py: Python<'_>, r#match: &str) -> PyResult<Vec<Py<PyAny>>> {
        let state = self.read(py);
        let names = state.reader()?.names();
        names.matching(r#match.as_bytes()).map(|name| Ok(text(py, name)?.unbind())).collect()
    }

    fn upgrade(&self, py: Python<'_>) -> PyResult<()> {
        self.inform(py, "upgrading")?;
        let mut state = self.write(py);
        if matches!(*state, State::Read(_)) {
            let error = cenote_gsd::Error::InvalidArgument("the file is open for reading only");
            return Err(self.raise(error));
        }
        let writer = state.writer(&self.name)?;
        py.detach(|| writer.upgrade()).map_err(|e| self.raise(e))
    }

    /// What `cenote gsd check` finds: a list of `(offset, problem)`.
    fn check(&self, py: Python<'_>) -> PyResult<Vec<(u64, String)>> {
        let state = self.read(py);
        let reader = state.reader()?;
        let report = py.detach(|| reader.check()).map_err(|e| self.raise(e))?;
        Ok(report.problems.into_iter().map(|problem| (problem.at, problem.what)).collect())
    }

    fn __enter__(slf: Py<Self>) -> Py<Self> {
        slf
    }

    #[pyo3(signature = (*_raised))]
    fn __exit__(&self, py: Python<'_>, _raised: &Bound<'_, PyTuple>) -> PyResult<()> {
        self.close(py)
    }

    fn __reduce__<'py>(slf: &Bound<'py, Self>) -> PyResult<Bound<'py, PyTuple>> {
        let (py, this) = (slf.py(), slf.get());
        let from_file = matches!(&*this.read(py), State::Read(reader)
            if matches!(reader.source(), Medium::File(_)));
        if this.mode != "r" || !from_file {
            let error = py.import("pickle")?.getattr("PickleError")?;
            let text = "Only read only GSDFiles can be pickled.";
            return Err(PyErr::from_value(error.call1((text,))?));
        }
        let version = this.schema_version(py);
        let arguments =
            (this.name(), this.mode(), this.application(py)?, this.schema(py)?, version);
        (slf.get_type(), arguments).into_pyobject(py)
    }

    #[getter]
    fn name(&self) -> &str {
        &self.name
    }

    #[getter]
    fn mode(&self) -> &str {
        &self.mode
    }

    #[getter]
    fn gsd_version(&self, py: Python<'_>) -> (u16, u16) {
        let version = self.read(py).header().gsd_version();
        (version.major, version.minor)
    }

    #[getter]
    fn schema_version(&self, py: Python<'_>) -> (u16, u16) {
        let version = self.read(py).header().schema_version();
        (version.major, version.minor)
    }

    #[getter]
    fn schema<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyAny>> {
        text(py, self.read(py).header().schema())
    }

    #[getter]
    fn application<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyAny>> {
        text(py, self.read(py).header().application())
    }

    #[getter]
    fn nframes(&self, py: Python<'_>) -> PyResult<u64> {
        Ok(self.read(py).reader()?.frames())
    }

    #[getter]
    fn maximum_write_buffer_size(&self, py: Python<'_>) -> PyResult<u64> {
        match &*self.read(py) {
            State::Write(writer) => Ok(writer.buffer_limit()),
            State::Read(_) => Err(not_writable(&self.name)),
            State::Closed(_) => Err(not_open()),
        }
    }

    #[setter]
    fn set_maximum_write_buffer_size(&self, py: Python<'_>, size: u64) -> PyResult<()> {
        let mut state = self.write(py);
        state.writer(&self.name)?.set_buffer_limit(size).map_err(|e| self.raise(e))
    }
}

/// A file that is no longer used is closed, which flushes it.
impl Drop for GsdFile {
    fn drop(&mut self) {
        let state = self.state.get_mut().unwrap_or_else(PoisonError::into_inner);
        let header = state.header().clone();
        // There is no one left to tell; whoever wants to know calls `close`.
        let _ = close(std::mem::replace(state, State::Closed(header)));
    }
}

fn close(state: State) -> cenote_gsd::Result<()> {
    if let State::Write(writer) = state {
        writer.close()?;
    }
    Ok(())
}

/// Whether a mode makes a new file.
fn creates(mode: &str, name: &str) -> PyResult<bool> {
    match mode {
        "r" | "r+" => Ok(false),
        "w" | "x" => Ok(true),
        "a" => Ok(!Path::new(name).exists()),
        _ => Err(PyValueError::new_err(format!("Invalid mode: {mode}"))),
    }
}

fn open_existing(name: &str, reading: bool) -> cenote_gsd::Result<State> {
    if reading {
        return Ok(State::Read(Reader::open(Medium::File(File::open(name)?))?));
    }
    let file = File::options().read(true).write(true).open(name)?;
    Ok(State::Write(Writer::open_in(Medium::File(file))?))
}

/// What must be said of a file to create it.
struct NewFile {
    application: String,
    schema: String,
    schema_version: Version,
}

impl NewFile {
    fn from_arguments(
        application: Option<String>,
        schema: Option<String>,
        schema_version: Option<Vec<u32>>,
    ) -> PyResult<Self> {
        let missing = |what| PyValueError::new_err(format!("Provide {what} when creating a file"));
        let application = application.ok_or_else(|| missing("application"))?;
        let schema = schema.ok_or_else(|| missing("schema"))?;
        let schema_version = schema_version.ok_or_else(|| missing("schema_version"))?;
        let part = |i: usize| schema_version.get(i).and_then(|&part| u16::try_from(part).ok());
        let (Some(major), Some(minor)) = (part(0), part(1)) else {
            return Err(PyValueError::new_err("schema_version is two numbers below 65536"));
        };
        Ok(Self { application, schema, schema_version: Version::new(major, minor) })
    }

    fn create(&self, name: &str, exclusive: bool) -> cenote_gsd::Result<State> {
        use std::os::unix::fs::OpenOptionsExt;
        let mut options = File::options();
        options.read(true).write(true).mode(0o660);
        if exclusive {
            options.create_new(true)
        } else {
            options.create(true).truncate(true)
        };
        let medium = Medium::File(options.open(name)?);
        let version = self.schema_version;
        Ok(State::Write(Writer::create_in(medium, &self.application, &self.schema, version)?))
    }
}

/// A frame number as the reference takes it: whatever C takes as a 64-bit integer.
struct FrameNumber(i64);

impl<'py> FromPyObject<'_, 'py> for FrameNumber {
    type Error = PyErr;

    fn extract(value: pyo3::Borrowed<'_, 'py, PyAny>) -> PyResult<Self> {
        if let Ok(number) = value.extract::<i64>() {
            return Ok(Self(number));
        }
        let integer = value.py().get_type::<pyo3::types::PyInt>().call1((value,))?;
        let number = integer.extract::<i64>();
        number.map(Self).map_err(|_| PyOverflowError::new_err("frame number out of range"))
    }
}

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

/// Why a chunk could not be read.
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

/// Says something to the logger `gsd.fl`, as the reference does.
pub(crate) fn log(py: Python<'_>, level: &str, text: &str) -> PyResult<()> {
    logger(py)?.call_method1(level, (text,)).map(drop)
}

fn log_if(py: Python<'_>, level: &str, number: u32, text: impl FnOnce() -> String) -> PyResult<()> {
    if logger(py)?.call_method1(intern!(py, "isEnabledFor"), (number,))?.is_truthy()? {
        log(py, level, &text())?;
    }
    Ok(())
}

fn logger(py: Python<'_>) -> PyResult<&Bound<'_, PyAny>> {
    static LOGGER: pyo3::sync::PyOnceLock<Py<PyAny>> = pyo3::sync::PyOnceLock::new();
    LOGGER
        .get_or_try_init(py, || {
            let logging = py.import("logging")?;
            Ok(logging.call_method1("getLogger", ("gsd.fl",))?.unbind())
        })
        .map(|logger| logger.bind(py))
}
