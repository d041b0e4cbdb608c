//! Errors of the format as the exceptions of the reference.

use std::io;

use cenote_gsd::Error;
use pyo3::exceptions::{PyOSError, PyRuntimeError, PyValueError};
use pyo3::prelude::*;

/// The exception that the reference raises, with the problem and its location added to the text.
pub(crate) fn exception(error: Error, file: &str) -> PyErr {
    let kind = match &error {
        Error::Io(_) => return io_exception(error, file),
        Error::NotGsd(_) => "Not a GSD file",
        Error::UnsupportedVersion(..) => "Unsupported GSD file version",
        Error::Corrupt { .. } => "Corrupt GSD file",
        Error::NameListFull => "GSD namelist is full",
        Error::InvalidArgument(_) => "Invalid gsd argument",
        _ => "GSD error",
    };
    let text = error.to_string();
    let detail = text.split_once(": ").map_or(text.as_str(), |(_, detail)| detail);
    PyRuntimeError::new_err(format!("{kind}: {file} ({detail})"))
}

fn io_exception(error: Error, file: &str) -> PyErr {
    let Error::Io(error) = error else { return PyRuntimeError::new_err(error.to_string()) };
    if error.get_ref().is_some_and(|inner| inner.is::<PyErr>()) {
        return error.into();
    }
    if error.kind() == io::ErrorKind::UnexpectedEof {
        let text = "the file is shorter than its index says";
        return PyOSError::new_err((rustix::io::Errno::IO.raw_os_error(), text, file.to_owned()));
    }
    match error.raw_os_error() {
        Some(code) => {
            let text = error.to_string();
            let text = text.split(" (os error").next().unwrap_or_default().to_owned();
            PyOSError::new_err((code, text, file.to_owned()))
        }
        None => PyOSError::new_err(format!("{error}: {file}")),
    }
}

/// The exception raised by every method of a closed file.
pub(crate) fn not_open() -> PyErr {
    PyValueError::new_err("File is not open")
}

/// The exception raised by writing to a file that was opened for reading.
pub(crate) fn not_writable(file: &str) -> PyErr {
    PyRuntimeError::new_err(format!("File must be writable: {file}"))
}
