//! Reading and writing key sets: files and bytes.

use std::path::{Path, PathBuf};

use bytes::Bytes;
use cenote_keyset::file::{FileError, FileFault, Snapshot};
use cenote_keyset::{Format, KeyName, KeySet, ReadOptions, WriteOptions, read, to_bytes, write};
use pyo3::exceptions::{PyFileNotFoundError, PyOSError, PyTypeError, PyValueError};
use pyo3::prelude::*;
use pyo3::types::{PyByteArray, PyBytes, PyMemoryView, PyTuple};

use super::convert::{bytes_of, name_of, text, unreadable, unwritable, wrong};
use super::set::PyKeySet;

/// The name of the key below `parent` with the given unescaped parts: characters such as a slash
/// are escaped.
#[pyfunction]
#[pyo3(signature = (parent, *parts))]
pub(crate) fn join<'py>(
    parent: &Bound<'py, PyAny>,
    parts: &Bound<'py, PyTuple>,
) -> PyResult<Bound<'py, PyAny>> {
    let mut name = name_of(parent)?;
    for part in parts {
        name = name.child(bytes_of(&part)?).map_err(wrong)?;
    }
    text(parent.py(), name.as_bytes())
}

/// Reads a key set from a file, or from bytes; see `cenote.keyset.load`.
#[pyfunction]
#[pyo3(signature = (path_or_bytes, parent, format = None, *, strict = false))]
pub(crate) fn load(
    py: Python<'_>,
    path_or_bytes: &Bound<'_, PyAny>,
    parent: &Bound<'_, PyAny>,
    format: Option<&str>,
    strict: bool,
) -> PyResult<PyKeySet> {
    let parent = name_of(parent)?;
    let given = format.map(named).transpose()?;
    let options = ReadOptions { strict, ..ReadOptions::default() };
    let (bytes, path) = match content(path_or_bytes)? {
        Some(bytes) => (bytes.into(), None),
        None => {
            let path: PathBuf = path_or_bytes.extract()?;
            (read_file(py, &path)?, Some(path))
        }
    };
    let format = given
        .or_else(|| Format::detect(&bytes))
        .or_else(|| path.as_deref().and_then(by_extension))
        .or_else(|| bytes.is_empty().then_some(Format::Quickdump))
        .ok_or_else(|| PyValueError::new_err("the format is not known: give `format`"))?;
    let loaded = py.detach(|| read(bytes, &parent, format, options));
    Ok(PyKeySet { keys: loaded.map_err(|error| unreadable(py, &error))? })
}

/// Writes a key set whose keys are below `parent` to a file, which is replaced atomically, or
/// returns it as bytes. The default format follows from the file's extension; otherwise it is
/// `quickdump`.
#[pyfunction]
#[pyo3(signature = (keyset, path = None, parent = None, format = None))]
pub(crate) fn dump<'py>(
    py: Python<'py>,
    keyset: PyRef<'py, PyKeySet>,
    path: Option<PathBuf>,
    parent: Option<&Bound<'py, PyAny>>,
    format: Option<&str>,
) -> PyResult<Option<Bound<'py, PyBytes>>> {
    let message = "pass `parent`: names are written relative to it";
    let parent = name_of(parent.ok_or_else(|| PyTypeError::new_err(message))?)?;
    let given = format.map(named).transpose()?;
    let format = given.or_else(|| path.as_deref().and_then(by_extension));
    let format = format.unwrap_or(Format::Quickdump);
    let keys = keyset.keys.clone();
    match path {
        None => {
            let bytes = py.detach(|| to_bytes(&keys, &parent, format)).map_err(unwritable)?;
            Ok(Some(PyBytes::new(py, &bytes)))
        }
        Some(path) => {
            py.detach(|| replace(&path, &keys, &parent, format)).map_err(file_error)?;
            Ok(None)
        }
    }
}

/// The bytes given instead of a path.
fn content(given: &Bound<'_, PyAny>) -> PyResult<Option<Vec<u8>>> {
    if let Ok(bytes) = given.cast::<PyBytes>() {
        return Ok(Some(bytes.as_bytes().to_vec()));
    }
    let is_bytes = given.is_instance_of::<PyByteArray>() || given.is_instance_of::<PyMemoryView>();
    if !is_bytes {
        return Ok(None);
    }
    let bytes = given.py().get_type::<PyBytes>().call1((given,))?;
    Ok(Some(bytes.cast::<PyBytes>()?.as_bytes().to_vec()))
}

fn read_file(py: Python<'_>, path: &Path) -> PyResult<Bytes> {
    let (bytes, _) = py.detach(|| Snapshot::read(path)).map_err(file_error)?;
    bytes.ok_or_else(|| PyFileNotFoundError::new_err((2, "No such file", path.to_owned())))
}

fn replace(path: &Path, keys: &KeySet, parent: &KeyName, format: Format) -> Result<(), FileError> {
    let snapshot = Snapshot::of(path)?;
    snapshot.replace(|out| write(keys, parent, format, WriteOptions::default(), out))
}

fn named(format: &str) -> PyResult<Format> {
    Format::from_name(format).ok_or_else(|| {
        let names = Format::ALL.map(Format::name).join(", ");
        PyValueError::new_err(format!("`{format}` is not a format: choose from {names}"))
    })
}

fn by_extension(path: &Path) -> Option<Format> {
    Format::from_name(path.extension()?.to_str()?)
}

fn file_error(error: FileError) -> PyErr {
    match error.source {
        FileFault::Write(error) => unwritable(error),
        FileFault::Io(source) => match source.raw_os_error() {
            Some(number) => PyOSError::new_err((number, source.to_string(), error.path)),
            None => source.into(),
        },
        _ => PyOSError::new_err(error.to_string()),
    }
}
