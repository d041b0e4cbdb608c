//! `GSDFile`: a file that Python has open, to read or to write. `methods` has what Python calls.

use std::sync::{Mutex, PoisonError, RwLock, RwLockReadGuard, RwLockWriteGuard};

use cenote_gsd::{Entry, Header, Reader, Writer};
use pyo3::prelude::*;
use pyo3::sync::RwLockExt;

use super::array::text;
use super::chunk::ChunkData;
use super::error::{exception, not_open, not_writable};
use super::logger::log_if;
use super::rows::LONG_READ;
use super::source::Medium;

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

    pub(super) fn header(&self) -> &Header {
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

/// A GSD file: named chunks of data in numbered frames.
///
/// Open one with :func:`cenote.gsd.fl.open`. A chunk is a 1- or 2-dimensional array of numbers, or
/// a string; a frame is a set of chunks of different names. Frames are written in order:
///
/// >>> file = cenote.gsd.fl.open('a.gsd', 'w', application='mine', schema='none', schema_version=[1, 0])
/// >>> file.write_chunk('position', numpy.zeros((10, 3), dtype=numpy.float32))
/// >>> file.write_chunk('note', 'the beginning')
/// >>> file.end_frame()
/// >>> file.close()
///
/// and read in any order:
///
/// >>> with cenote.gsd.fl.open('a.gsd', 'r') as file:
/// ...     file.nframes, file.find_matching_chunk_names('')
/// ...     file.read_chunk(0, 'position', rows=slice(0, 2))
/// (1, ['position', 'note'])
/// array([[0., 0., 0.],
///        [0., 0., 0.]], dtype=float32)
///
/// Only frames that were flushed are visible, also in the file that wrote them: see
/// :meth:`flush`. A file that is open for reading can be pickled and used by several threads.
///
/// Args:
///     name: A path.
///     mode: ``'r'``, ``'r+'``, ``'w'``, ``'x'`` or ``'a'``: see :func:`cenote.gsd.fl.open`.
///     application: The program that writes the file; required to create one.
///     schema: The schema of a file to create, or the schema that an existing file must have.
///     schema_version: Two numbers; required to create a file.
///     debug: Whether each call is logged at the level ``DEBUG`` by the logger ``gsd.fl``.
///
/// Raises:
///     OSError: The file cannot be opened, read or written; also from the methods.
///     RuntimeError: It is not a GSD file, has an unknown version or another schema, or is damaged.
#[pyclass(name = "GSDFile", module = "cenote.gsd.fl", subclass, frozen, weakref)]
pub(crate) struct GsdFile {
    pub(super) state: RwLock<State>,
    pub(super) name: String,
    pub(super) mode: String,
    pub(super) debug: bool,
    /// The object it is read from, if it is not a file on disk.
    pub(super) source: Mutex<Option<Py<PyAny>>>,
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

    pub(super) fn trace(&self, py: Python<'_>, text: impl FnOnce() -> String) -> PyResult<()> {
        if self.debug { log_if(py, "debug", 10, text) } else { Ok(()) }
    }

    pub(super) fn inform(&self, py: Python<'_>, what: &str) -> PyResult<()> {
        log_if(py, "info", 20, || format!("{what} file: {}", self.name))
    }

    pub(super) fn find(
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

    pub(super) fn check_schema(&self, py: Python<'_>, wanted: Option<String>) -> PyResult<()> {
        let Some(wanted) = wanted else { return Ok(()) };
        let found = text(py, self.read(py).header().schema())?.to_string();
        let wanted: String =
            if wanted.chars().count() > 64 { wanted.chars().take(63).collect() } else { wanted };
        if found == wanted {
            return Ok(());
        }
        let text = format!("file {} has incorrect schema: {found}", self.name);
        Err(pyo3::exceptions::PyRuntimeError::new_err(text))
    }

    pub(super) fn write_data(
        &self,
        py: Python<'_>,
        name: &str,
        data: &ChunkData<'_>,
    ) -> PyResult<()> {
        let chunk = data.chunk(name.as_bytes())?;
        let mut state = self.write(py);
        let writer = state.writer(&self.name)?;
        // The lock was taken above, so nothing here waits for it without the interpreter.
        let written = if chunk.data.len() as u64 >= LONG_READ {
            py.detach(|| writer.write_chunk(&chunk))
        } else {
            writer.write_chunk(&chunk)
        };
        written.map_err(|e| self.raise(e))?;
        self.relieve(py, writer)
    }

    /// Sends buffered bytes, after a chunk or a frame was accepted completely, so that a failure does not tear
    /// it.
    pub(crate) fn relieve(&self, py: Python<'_>, writer: &Writer<Medium>) -> PyResult<()> {
        match writer.reader().source() {
            Medium::File(_) => Ok(()),
            medium => py.detach(|| medium.relieve()).map_err(|e| self.raise(e.into())),
        }
    }
}

/// A file that is no longer used is closed, which flushes it.
impl Drop for GsdFile {
    fn drop(&mut self) {
        let state = self.state.get_mut().unwrap_or_else(PoisonError::into_inner);
        let header = state.header().clone();
        // An error cannot be reported here; a program that needs it calls `close`.
        let _ = close(std::mem::replace(state, State::Closed(header)));
    }
}

/// Flushes and publishes. What cannot be completed is dropped: it is visible as of the last flush.
pub(super) fn close(state: State) -> cenote_gsd::Result<()> {
    let State::Write(mut writer) = state else { return Ok(()) };
    let closed = flush(&mut writer);
    // If there is an error, that is the one to report.
    let _ = writer.reader().source().discard();
    closed
}

pub(super) fn flush(writer: &mut Writer<Medium>) -> cenote_gsd::Result<()> {
    writer.flush()?;
    Ok(writer.reader().source().publish()?)
}
