//! The part of the Python class `HOOMDTrajectory` in Rust: reading and writing whole frames.

use std::sync::{Mutex, PoisonError};

use pyo3::exceptions::{PyIndexError, PyOverflowError};
use pyo3::prelude::*;
use pyo3::sync::MutexExt;
use pyo3::types::{PyList, PySlice, PyString};

use super::append;
use super::array::text;
use super::file::GsdFile;
use super::frame::{Classes, FrameReader};
use super::many;
use super::schema::field_of_chunk;

/// The bytes at which a field of frame 0 is left in the file until a later frame inherits it.
pub(crate) const LARGE_FIELD: u64 = 1 << 20;

/// The frames of a file with the HOOMD schema.
#[pyclass(module = "cenote._cenote.gsd", frozen)]
pub(crate) struct Trajectory {
    pub(crate) file: Py<GsdFile>,
    pub(crate) classes: Classes,
    known: Mutex<KnownNames>,
}

/// The meaning of a name in the file according to the schema.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) enum Meaning {
    Field(usize),
    /// A logged quantity, by its place among them.
    Log(usize),
    Other,
}

/// The names of the file, looked up once.
#[derive(Default)]
pub(crate) struct KnownNames {
    pub(crate) meanings: Vec<Meaning>,
    /// The names of logged quantities, without `log/`.
    pub(crate) logs: Vec<Py<PyString>>,
    /// Fields that frame 0 has but that were not read with it.
    pub(crate) pending: Vec<usize>,
}

impl KnownNames {
    /// Adds the names that are new since the last call; a shorter list means that the file was replaced.
    fn update(&mut self, py: Python<'_>, names: &cenote_gsd::Names) -> PyResult<()> {
        if names.len() < self.meanings.len() {
            *self = Self::default();
        }
        for name in names.iter().skip(self.meanings.len()) {
            let meaning = match (field_of_chunk(name), name.strip_prefix(b"log/")) {
                (Some(field), _) => Meaning::Field(field),
                (None, Some(log)) => {
                    self.logs.push(text(py, log)?.cast_into::<PyString>()?.unbind());
                    Meaning::Log(self.logs.len() - 1)
                }
                (None, None) => Meaning::Other,
            };
            self.meanings.push(meaning);
        }
        Ok(())
    }
}

/// The number of a frame that may be counted from the end, if there is one.
fn frame_number(key: i64, frames: u64) -> Option<u64> {
    let number = if key < 0 { frames.checked_sub(key.unsigned_abs())? } else { key.unsigned_abs() };
    (number < frames).then_some(number)
}

#[pymethods]
impl Trajectory {
    #[new]
    fn new(file: Py<GsdFile>, module: &Bound<'_, PyAny>) -> PyResult<Self> {
        Ok(Self { file, classes: Classes::of_module(module)?, known: Mutex::default() })
    }

    /// Reads a frame, which may be counted from the end; what it inherits comes from `initial`
    /// on first access.
    fn read<'py>(
        &self,
        py: Python<'py>,
        key: &Bound<'py, PyAny>,
        initial: &Bound<'py, PyAny>,
    ) -> PyResult<Bound<'py, PyAny>> {
        let key = match key.extract::<i64>() {
            Err(e) if !e.is_instance_of::<PyOverflowError>(py) => return Err(e),
            key => key.ok(),
        };
        let initial = (!initial.is_none()).then_some(initial);
        self.with_reader(py, |reader| {
            let frame = key.and_then(|key| frame_number(key, reader.reader.frames()));
            reader.read(frame.ok_or_else(|| PyIndexError::new_err(()))?, initial)
        })
    }

    /// Reads frame 0 for others to inherit from, without its large fields.
    fn read_initial<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyAny>> {
        self.with_reader(py, |reader| reader.read_initial())
    }

    /// Appends a frame. Nothing is written if any part of it is invalid.
    fn append<'py>(
        &self,
        py: Python<'py>,
        frame: &Bound<'py, PyAny>,
        initial: &Bound<'py, PyAny>,
        double: bool,
    ) -> PyResult<()> {
        let initial = (!initial.is_none()).then_some(initial);
        append::append(self, py, frame, initial, double)
    }

    /// Discards the cached frame 0.
    fn forget(&self, py: Python<'_>) {
        let mut known = self.known.lock_py_attached(py).unwrap_or_else(PoisonError::into_inner);
        *known = KnownNames::default();
    }

    /// One quantity over several frames as one array.
    fn read_many<'py>(
        &self,
        py: Python<'py>,
        name: &str,
        frames: Vec<u64>,
        rows: Option<&Bound<'py, PySlice>>,
        threads: usize,
    ) -> PyResult<Bound<'py, PyAny>> {
        let file = self.file.get();
        let state = file.read(py);
        let request = many::Request { name, frames: &frames, rows, threads };
        many::read_many(py, state.reader()?, &request).map_err(|e| e.raised(file.file_name()))
    }

    /// The names of logged quantities, without `log/`.
    fn log_names<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyList>> {
        self.with_reader(py, |reader| {
            PyList::new(py, reader.known.logs.iter().map(|name| name.bind(py)))
        })
    }
}

impl Trajectory {
    fn with_reader<'py, T>(
        &self,
        py: Python<'py>,
        read: impl FnOnce(&mut FrameReader<'_, 'py>) -> PyResult<T>,
    ) -> PyResult<T> {
        let file = self.file.get();
        let state = file.read(py);
        let reader = state.reader()?;
        let mut known = self.known.lock_py_attached(py).unwrap_or_else(PoisonError::into_inner);
        known.update(py, reader.names())?;
        let (classes, known) = (&self.classes, &mut *known);
        read(&mut FrameReader { py, file: &self.file, reader, classes, known })
    }
}
