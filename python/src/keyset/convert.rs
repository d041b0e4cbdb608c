//! Conversion of text, names, values and errors between Python and Rust.

use cenote_keyset::{Key, KeyName, ValueRef};
use pyo3::create_exception;
use pyo3::exceptions::{PyOSError, PyTypeError, PyValueError};
use pyo3::intern;
use pyo3::prelude::*;
use pyo3::types::{PyBytes, PyString};

use super::key::PyKey;

create_exception!(
    cenote.keyset,
    KeySetError,
    PyValueError,
    "An invalid name, value or file; `offset` is the byte offset in the file, if any."
);
create_exception!(
    cenote.keyset,
    MergeConflict,
    PyValueError,
    "Both sides changed a key; `names` lists all such keys."
);

/// Bytes as `str`, with surrogate escapes where they are not UTF-8.
pub(crate) fn text<'py>(py: Python<'py>, bytes: &[u8]) -> PyResult<Bound<'py, PyAny>> {
    match std::str::from_utf8(bytes) {
        Ok(text) => Ok(PyString::new(py, text).into_any()),
        Err(_) => PyBytes::new(py, bytes)
            .call_method1(intern!(py, "decode"), ("utf-8", "surrogateescape")),
    }
}

/// The bytes that a `str` or `bytes` stands for.
pub(crate) fn bytes_of(text: &Bound<'_, PyAny>) -> PyResult<Vec<u8>> {
    if let Ok(bytes) = text.cast::<PyBytes>() {
        return Ok(bytes.as_bytes().to_vec());
    }
    let string = text.cast::<PyString>()?;
    match string.to_str() {
        Ok(text) => Ok(text.as_bytes().to_vec()),
        Err(_) => {
            let arguments = ("utf-8", "surrogateescape");
            let bytes = text.call_method1(intern!(text.py(), "encode"), arguments)?;
            Ok(bytes.cast::<PyBytes>()?.as_bytes().to_vec())
        }
    }
}

/// The name that a `str`, `bytes` or key stands for.
pub(crate) fn name_of(name: &Bound<'_, PyAny>) -> PyResult<KeyName> {
    if let Ok(key) = name.cast::<PyKey>() {
        return Ok(key.get().key.name().to_name());
    }
    KeyName::new(bytes_of(name)?).map_err(wrong)
}

/// A value as `str`, `bytes` or `None`.
pub(crate) fn value<'py>(py: Python<'py>, value: ValueRef<'_>) -> PyResult<Bound<'py, PyAny>> {
    match value {
        ValueRef::String(bytes) => text(py, bytes),
        ValueRef::Binary(bytes) => Ok(PyBytes::new(py, bytes).into_any()),
        ValueRef::Null => Ok(py.None().into_bound(py)),
    }
}

/// Sets the value of a key.
pub(crate) fn set_value(key: &mut Key, value: &Bound<'_, PyAny>) -> PyResult<()> {
    if value.is_none() {
        key.set_binary(b"");
    } else if let Ok(bytes) = value.cast::<PyBytes>() {
        key.set_binary(bytes.as_bytes());
    } else if value.is_instance_of::<PyString>() {
        key.set_string(bytes_of(value)?).map_err(wrong)?;
    } else {
        let message =
            "a key's value must be str, bytes or None: convert it, for example with str(value)";
        return Err(PyTypeError::new_err(message));
    }
    Ok(())
}

/// An error as an exception.
pub(crate) fn wrong(error: impl std::fmt::Display) -> PyErr {
    KeySetError::new_err(error.to_string())
}

/// A file that cannot be read as an exception.
pub(crate) fn unreadable(py: Python<'_>, error: &cenote_keyset::ReadError) -> PyErr {
    let exception = wrong(error);
    match exception.value(py).setattr(intern!(py, "offset"), error.offset) {
        Ok(()) => exception,
        Err(other) => other,
    }
}

/// A file that cannot be written as an exception.
pub(crate) fn unwritable(error: cenote_keyset::WriteError) -> PyErr {
    match error {
        cenote_keyset::WriteError::Io(error) => PyOSError::new_err(error),
        other => wrong(other),
    }
}
