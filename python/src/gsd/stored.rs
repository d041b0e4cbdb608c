//! Files that are written to a store, and files that grow while they are read.

use std::fs::File;
use std::sync::{Mutex, PoisonError, RwLock};

use cenote_gsd::{Reader, Writer};
use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;
use pyo3::sync::MutexExt;

use super::create::NewFile;
use super::error::{exception, not_open};
use super::file::{GsdFile, State};
use super::source::{Medium, StageObject};

#[pymethods]
impl GsdFile {
    /// Open a `cenote.gsd._stage.Stage` for writing; one that is new gets a header.
    #[staticmethod]
    fn _from_stage(
        py: Python<'_>,
        stage: Py<PyAny>,
        names: (String, String),
        application: Option<String>,
        schema: Option<String>,
        schema_version: Option<Vec<u32>>,
        creating: bool,
    ) -> PyResult<Self> {
        let ((name, mode), medium) = (names, Medium::Stage(StageObject::new(stage)));
        let state = if creating {
            let new = NewFile::from_arguments(application, schema.clone(), schema_version)?;
            py.detach(|| new.create_in(medium))
        } else {
            py.detach(|| Ok(State::Write(Writer::open_in(medium)?)))
        };
        let state = RwLock::new(state.map_err(|e| exception(e, &name))?);
        let file = Self { state, name, mode, debug: true, source: Mutex::default() };
        match file.check_schema(py, schema) {
            Ok(()) => Ok(file),
            // It is not published, since nothing was written to it.
            Err(error) => Err(file.abandon(py, error)),
        }
    }

    /// Look at the file again: frames that were flushed since it was opened become visible.
    ///
    /// What is read afterwards is the file as it is now; if it was replaced by another one, that one. If it
    /// cannot be opened, the file stays as it was.
    ///
    /// Raises:
    ///     ValueError: The file is not open, or is open for writing.
    ///     OSError: It cannot be read, or is no longer there.
    ///     RuntimeError: It is damaged.
    fn refresh(slf: &Bound<'_, Self>) -> PyResult<()> {
        let (py, this) = (slf.py(), slf.get());
        match &*this.read(py) {
            State::Read(_) => {}
            State::Write(_) => return Err(PyValueError::new_err("File is open for writing")),
            State::Closed(_) => return Err(not_open()),
        }
        let source = this.source(py).map(|source| renewed(source.bind(py))).transpose()?;
        let medium = match &source {
            Some(source) => Medium::of_object(source.clone())?,
            None => py
                .detach(|| File::open(&this.name).map(Medium::File))
                .map_err(|e| exception(e.into(), &this.name))?,
        };
        let reader = py.detach(|| Reader::open(medium)).map_err(|e| this.raise(e))?;
        let mut state = this.write(py);
        if matches!(*state, State::Read(_)) {
            *state = State::Read(reader);
            *this.source.lock_py_attached(py).unwrap_or_else(PoisonError::into_inner) =
                source.map(Bound::unbind);
        }
        Ok(())
    }
}

impl GsdFile {
    /// The object that it is read from.
    pub(super) fn source(&self, py: Python<'_>) -> Option<Py<PyAny>> {
        let source = self.source.lock_py_attached(py).unwrap_or_else(PoisonError::into_inner);
        source.as_ref().map(|source| source.clone_ref(py))
    }

    /// Closes a file that was never written to, and passes on why.
    fn abandon(&self, py: Python<'_>, error: PyErr) -> PyErr {
        let mut state = self.write(py);
        let header = state.header().clone();
        *state = State::Closed(header);
        error
    }
}

/// The current state of the same object, if it supports that.
fn renewed<'py>(source: &Bound<'py, PyAny>) -> PyResult<Bound<'py, PyAny>> {
    match source.getattr_opt("renewed")? {
        Some(renewed) => renewed.call0(),
        None => Ok(source.clone()),
    }
}
