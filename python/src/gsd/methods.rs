//! The methods of `GSDFile`: names, arguments, order of checks and exceptions are those of the
//! reference.

use std::sync::{Mutex, RwLock};

use cenote_gsd::Reader;
use pyo3::exceptions::{PyKeyError, PyOverflowError};
use pyo3::prelude::*;
use pyo3::types::{PySlice, PyTuple};

use super::array::text;
use super::chunk::ChunkData;
use super::create::{NewFile, creates, open_existing};
use super::error::{exception, not_open, not_writable};
use super::file::{GsdFile, State, close, flush};
use super::logger::log_if;
use super::rows::{read_rows, row_range};
use super::source::Medium;

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
        let file = Self { state: RwLock::new(state), name, mode, debug, source: Mutex::default() };
        file.check_schema(py, schema)?;
        Ok(file)
    }

    /// Open any object that supports byte ranges, for reading.
    #[staticmethod]
    #[pyo3(signature = (source, name, schema=None))]
    fn _from_source(
        py: Python<'_>,
        source: Bound<'_, PyAny>,
        name: String,
        schema: Option<String>,
    ) -> PyResult<Self> {
        let medium = Medium::of_object(source.clone())?;
        let opened = py.detach(|| Reader::open(medium)).map_err(|e| exception(e, &name))?;
        let state = RwLock::new(State::Read(opened));
        let source = Mutex::new(Some(source.unbind()));
        let file = Self { state, name, mode: "r".to_owned(), debug: true, source };
        file.check_schema(py, schema)?;
        Ok(file)
    }

    /// Flush and close the file.
    ///
    /// Closing it again does nothing. The values of the header stay available; everything else raises
    /// ``ValueError``.
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

    /// Remove all frames and all chunk names; application and schema are kept.
    ///
    /// This cannot be undone, and is not safe against a power failure part-way.
    ///
    /// Raises:
    ///     RuntimeError: The file is open for reading only.
    ///     ValueError: The file is not open.
    fn truncate(&self, py: Python<'_>) -> PyResult<()> {
        self.inform(py, "truncating")?;
        let mut state = self.write(py);
        let writer = state.writer(&self.name)?;
        py.detach(|| writer.truncate()).map_err(|e| self.raise(e))
    }

    /// End the current frame: the next chunk written belongs to the next frame.
    ///
    /// The frame becomes visible and durable with the next :meth:`flush`. A frame without chunks is
    /// possible, but is lost if no other frame follows.
    ///
    /// Raises:
    ///     RuntimeError: The file is open for reading only.
    ///     ValueError: The file is not open.
    fn end_frame(&self, py: Python<'_>) -> PyResult<()> {
        self.trace(py, || format!("end frame: {}", self.name))?;
        self.write(py).writer(&self.name)?.end_frame().map_err(|e| self.raise(e))
    }

    /// Write all ended frames to disk, and wait until they are durable.
    ///
    /// Flushed frames survive a crash of the program or of the machine, and other readers see them when
    /// they open the file or call :meth:`refresh`. Chunks of a frame that was not ended stay invisible. A file in a
    /// store is published: all frames since the last flush appear there at once.
    ///
    /// Raises:
    ///     RuntimeError: The file is open for reading only.
    ///     ValueError: The file is not open.
    fn flush(&self, py: Python<'_>) -> PyResult<()> {
        self.trace(py, || format!("flush: {}", self.name))?;
        let mut state = self.write(py);
        let writer = state.writer(&self.name)?;
        py.detach(|| flush(writer)).map_err(|e| self.raise(e))
    }

    /// Add a chunk to the current frame.
    ///
    /// >>> file.write_chunk('box', [10, 10, 10, 0, 0, 0])
    /// >>> file.write_chunk('position', positions)
    /// >>> file.end_frame()
    ///
    /// Args:
    ///     name: Its name: any text without NUL. A file has at most 65,535 different names.
    ///     data: A string, or an array-like object with 1 or 2 dimensions, of integers with 8 to 64
    ///         bits or floating point numbers with 32 or 64. Arrays that are not C-contiguous are
    ///         copied, with a warning from the logger ``gsd.fl``.
    ///
    /// Raises:
    ///     ValueError: The data cannot be written as a chunk, or the file is not open.
    ///     RuntimeError: The file is open for reading only, or the name is invalid.
    fn write_chunk(&self, py: Python<'_>, name: &str, data: &Bound<'_, PyAny>) -> PyResult<()> {
        self.read(py).reader()?;
        let data = ChunkData::from_value(name, data)?;
        self.trace(py, || format!("write chunk: {} - {name}", self.name))?;
        self.write_data(py, name, &data)
    }

    /// Whether a frame has a chunk of this name.
    ///
    /// Args:
    ///     frame: The number of the frame, from 0 on.
    ///     name: The name of the chunk.
    ///
    /// Returns:
    ///     bool: ``False`` also if the frame does not exist or the file is closed.
    fn chunk_exists(&self, py: Python<'_>, frame: FrameNumber, name: &str) -> PyResult<bool> {
        Ok(self.find(py, &self.read(py), frame.0, name)?.is_some())
    }

    /// Read a chunk, or some of its rows.
    ///
    /// >>> positions = file.read_chunk(frame=1, name='position')
    /// >>> some = file.read_chunk(-1 + file.nframes, 'position', rows=slice(0, 100))
    ///
    /// Args:
    ///     frame: The number of the frame, from 0 on.
    ///     name: The name of the chunk.
    ///     rows: A slice with step 1; only these rows are read. The default is all rows.
    ///
    /// Returns:
    ///     numpy.ndarray | str: A new array of shape N, or N x M if the chunk has several columns.
    ///
    /// Raises:
    ///     KeyError: The frame has no such chunk.
    ///     ValueError: The file is not open.
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

    /// The names of chunks, in any frame, that begin with a prefix.
    ///
    /// >>> file.find_matching_chunk_names('particles/')
    /// ['particles/N', 'particles/position']
    ///
    /// Args:
    ///     match: The prefix; ``''`` for all names.
    ///
    /// Returns:
    ///     list[str]: In the order in which they were first written.
    ///
    /// Raises:
    ///     ValueError: The file is not open.
    fn find_matching_chunk_names(&self, py: Python<'_>, r#match: &str) -> PyResult<Vec<Py<PyAny>>> {
        let state = self.read(py);
        let names = state.reader()?.names();
        names.matching(r#match.as_bytes()).map(|name| Ok(text(py, name)?.unbind())).collect()
    }

    /// Upgrade a file of version 1 to the current version; other files are not changed.
    ///
    /// This rewrites parts in place, and is not safe against a power failure part-way.
    ///
    /// Raises:
    ///     RuntimeError: The file is open for reading only, or has chunks that were not flushed.
    ///     ValueError: The file is not open.
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

    /// Look for damage in every entry of the index and every name.
    ///
    /// The format has no checksums: numbers that changed cannot be found.
    /// ``cenote gsd repack --recover`` saves what is left of a damaged file.
    ///
    /// Returns:
    ///     list[tuple[int, str]]: The offset of each problem and what it is; empty for a sound file.
    ///
    /// Raises:
    ///     ValueError: The file is not open.
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
        if this.mode != "r" {
            let error = py.import("pickle")?.getattr("PickleError")?;
            let text = "Only read only GSDFiles can be pickled.";
            return Err(PyErr::from_value(error.call1((text,))?));
        }
        let schema = this.schema(py)?;
        if let Some(source) = this.source(py) {
            let open = slf.get_type().getattr("_from_source")?;
            return (open, (source, this.name(), schema)).into_pyobject(py);
        }
        let version = this.schema_version(py);
        let arguments = (this.name(), this.mode(), this.application(py)?, schema, version);
        (slf.get_type(), arguments).into_pyobject(py)
    }

    /// str: The path, or what the object that is read from is called.
    #[getter]
    fn name(&self) -> &str {
        &self.name
    }

    /// str: The mode in which the file was opened.
    #[getter]
    fn mode(&self) -> &str {
        &self.mode
    }

    /// tuple[int, int]: The version of the file format, major and minor.
    #[getter]
    fn gsd_version(&self, py: Python<'_>) -> (u16, u16) {
        let version = self.read(py).header().gsd_version();
        (version.major, version.minor)
    }

    /// tuple[int, int]: The version of the schema, major and minor.
    #[getter]
    fn schema_version(&self, py: Python<'_>) -> (u16, u16) {
        let version = self.read(py).header().schema_version();
        (version.major, version.minor)
    }

    /// str: The name of the schema: what the chunks mean.
    #[getter]
    fn schema<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyAny>> {
        text(py, self.read(py).header().schema())
    }

    /// str: The program that created the file.
    #[getter]
    fn application<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyAny>> {
        text(py, self.read(py).header().application())
    }

    /// int: How many frames were flushed. A closed file raises ``ValueError``.
    #[getter]
    fn nframes(&self, py: Python<'_>) -> PyResult<u64> {
        Ok(self.read(py).reader()?.frames())
    }

    /// int: Bytes of chunks that may wait in memory until they are written; 1 MiB if not set.
    ///
    /// It cannot be 0, and is only there when the file is open for writing.
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
