//! The media of Python files. For reading: a real file, or an object that supports byte ranges; for writing: a real
//! file, or a stage.

use std::fs::File;
use std::io::{self, IoSliceMut};
use std::ops::Range;
use std::sync::Mutex;

use cenote_gsd::{ReadAhead, Source, Storage};
use pyo3::exceptions::PyTypeError;
use pyo3::intern;
use pyo3::prelude::*;
use pyo3::sync::MutexExt;
use pyo3::types::PyBytes;

/// The number of unneeded bytes of a stage that it is worth reading to save one request.
const STAGE_REQUEST: u64 = 64 << 10;

/// The location of the bytes of an open file.
pub(crate) enum Medium {
    File(File),
    Ranges(ReadAhead<RangeObject>),
    Seekable(SeekableObject),
    Stage(StageObject),
}

impl Medium {
    /// A medium for any object with `read_range(offset, length)` and `size`, or with `seek` and
    /// `read`.
    pub(crate) fn of_object(object: Bound<'_, PyAny>) -> PyResult<Self> {
        if object.hasattr("read_range")? {
            let size = object.getattr("size")?;
            let size = if size.is_callable() { size.call0()? } else { size };
            let ranges = RangeObject { size: size.extract()?, object: object.unbind() };
            return Ok(Self::Ranges(ReadAhead::new(ranges)));
        }
        if object.hasattr("seek")? && object.hasattr("read")? {
            return Ok(Self::Seekable(SeekableObject { object: Mutex::new(object.unbind()) }));
        }
        let text = "a source needs read_range(offset, length) and size, or seek and read";
        Err(PyTypeError::new_err(text))
    }

    /// Runs work that reads from this medium.
    ///
    /// An object is read through Python, so a thread that waits for its bytes, or for another thread
    /// that does, must not hold the interpreter lock. A file is not, and the work may be short.
    pub(crate) fn wait<T: Send>(&self, py: Python<'_>, work: impl FnOnce() -> T + Send) -> T {
        match self {
            Self::File(_) => work(),
            _ => py.detach(work),
        }
    }

    fn as_source(&self) -> &dyn Source {
        match self {
            Self::File(file) => file,
            Self::Ranges(ranges) => ranges,
            Self::Seekable(file) => file,
            Self::Stage(stage) => stage,
        }
    }

    fn as_storage(&mut self) -> io::Result<&mut dyn Storage> {
        match self {
            Self::File(file) => Ok(file),
            Self::Stage(stage) => Ok(stage),
            _ => Err(io::ErrorKind::ReadOnlyFilesystem.into()),
        }
    }

    /// Makes everything written visible under the name of the file; a file on disk has it already.
    pub(crate) fn publish(&self) -> io::Result<()> {
        match self {
            Self::Stage(stage) => stage.run("publish"),
            _ => Ok(()),
        }
    }

    /// Sends buffered bytes, if there are many.
    pub(crate) fn relieve(&self) -> io::Result<()> {
        match self {
            Self::Stage(stage) => stage.run("relieve"),
            _ => Ok(()),
        }
    }

    /// Drops written bytes that are not visible yet.
    pub(crate) fn discard(&self) -> io::Result<()> {
        match self {
            Self::Stage(stage) => stage.run("discard"),
            _ => Ok(()),
        }
    }
}

impl Source for Medium {
    fn size(&self) -> io::Result<u64> {
        self.as_source().size()
    }

    fn read_at(&self, offset: u64, buffer: &mut [u8]) -> io::Result<()> {
        self.as_source().read_at(offset, buffer)
    }

    fn read_vectored_at(&self, offset: u64, buffers: &mut [IoSliceMut<'_>]) -> io::Result<()> {
        self.as_source().read_vectored_at(offset, buffers)
    }

    fn request_cost(&self) -> u64 {
        self.as_source().request_cost()
    }
}

impl Storage for Medium {
    fn write_at(&mut self, offset: u64, bytes: &[u8]) -> io::Result<()> {
        self.as_storage()?.write_at(offset, bytes)
    }

    fn set_size(&mut self, size: u64) -> io::Result<()> {
        self.as_storage()?.set_size(size)
    }

    fn begin_sync(&mut self, bytes: Range<u64>) {
        if let Self::File(file) = self {
            file.begin_sync(bytes);
        }
    }

    fn sync(&mut self) -> io::Result<()> {
        self.as_storage()?.sync()
    }
}

/// An object with `read_range(offset, length) -> bytes`, each call of which may be a request.
pub(crate) struct RangeObject {
    object: Py<PyAny>,
    size: u64,
}

impl Source for RangeObject {
    fn size(&self) -> io::Result<u64> {
        Ok(self.size)
    }

    fn read_at(&self, offset: u64, buffer: &mut [u8]) -> io::Result<()> {
        Python::attach(|py| {
            let arguments = (offset, buffer.len());
            let bytes = self.object.bind(py).call_method1(intern!(py, "read_range"), arguments)?;
            copy(&bytes, buffer)
        })
    }
}

/// A binary file object: memory, a member of an archive, a file of fsspec.
pub(crate) struct SeekableObject {
    object: Mutex<Py<PyAny>>,
}

impl Source for SeekableObject {
    fn size(&self) -> io::Result<u64> {
        Python::attach(|py| {
            let object = self.object.lock_py_attached(py).unwrap_or_else(|e| e.into_inner());
            Ok(object.bind(py).call_method1(intern!(py, "seek"), (0, 2))?.extract()?)
        })
    }

    fn read_at(&self, offset: u64, buffer: &mut [u8]) -> io::Result<()> {
        Python::attach(|py| {
            let object = self.object.lock_py_attached(py).unwrap_or_else(|e| e.into_inner());
            object.bind(py).call_method1(intern!(py, "seek"), (offset,))?;
            let bytes = object.bind(py).call_method1(intern!(py, "read"), (buffer.len(),))?;
            copy(&bytes, buffer)
        })
    }
}

/// A `cenote.gsd._stage.Stage`: a content of a store that is written before it is published.
///
/// What is written becomes durable and visible with [`Medium::publish`], not with each sync of the writer.
pub(crate) struct StageObject(Py<PyAny>);

impl StageObject {
    pub(crate) fn new(object: Py<PyAny>) -> Self {
        Self(object)
    }

    /// Calls the object, whose exceptions are kept as they are.
    fn with<T>(&self, call: impl FnOnce(&Bound<'_, PyAny>) -> PyResult<T>) -> io::Result<T> {
        Python::attach(|py| Ok(call(self.0.bind(py))?))
    }

    fn run(&self, method: &str) -> io::Result<()> {
        self.with(|stage| stage.call_method0(method).map(drop))
    }
}

impl Source for StageObject {
    fn size(&self) -> io::Result<u64> {
        self.with(|stage| stage.getattr(intern!(stage.py(), "size"))?.extract())
    }

    fn read_at(&self, offset: u64, buffer: &mut [u8]) -> io::Result<()> {
        self.with(|stage| {
            let arguments = (offset, buffer.len());
            let bytes = stage.call_method1(intern!(stage.py(), "read_range"), arguments)?;
            Ok(copy(&bytes, buffer)?)
        })
    }

    fn request_cost(&self) -> u64 {
        STAGE_REQUEST
    }
}

impl Storage for StageObject {
    fn write_at(&mut self, offset: u64, bytes: &[u8]) -> io::Result<()> {
        self.with(|stage| {
            let arguments = (offset, PyBytes::new(stage.py(), bytes));
            stage.call_method1(intern!(stage.py(), "write_at"), arguments).map(drop)
        })
    }

    fn set_size(&mut self, size: u64) -> io::Result<()> {
        self.with(|stage| stage.call_method1(intern!(stage.py(), "set_size"), (size,)).map(drop))
    }

    /// Does nothing: no reader sees a part of it, so its parts need no order.
    fn sync(&mut self) -> io::Result<()> {
        Ok(())
    }
}

/// Copies a bytes-like object that must fill the buffer.
fn copy(bytes: &Bound<'_, PyAny>, buffer: &mut [u8]) -> io::Result<()> {
    let py = bytes.py();
    let bytes = match bytes.cast::<PyBytes>() {
        Ok(bytes) => bytes.clone(),
        Err(_) => py.get_type::<PyBytes>().call1((bytes,))?.cast_into().map_err(PyErr::from)?,
    };
    if bytes.as_bytes().len() != buffer.len() {
        return Err(io::ErrorKind::UnexpectedEof.into());
    }
    buffer.copy_from_slice(bytes.as_bytes());
    Ok(())
}
