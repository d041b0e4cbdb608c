//! The logger `gsd.fl`, to which the reference logs its operations.
//!
//! Python's `logging` takes more memory than the rest of this package. As long as the program has
//! not imported it, messages below a warning are discarded.

use pyo3::intern;
use pyo3::prelude::*;
use pyo3::sync::PyOnceLock;

/// Logs a message to the logger `gsd.fl`, like the reference.
pub(crate) fn log(py: Python<'_>, level: &str, text: &str) -> PyResult<()> {
    logger(py)?.call_method1(level, (text,)).map(drop)
}

pub(crate) fn log_if(
    py: Python<'_>,
    level: &str,
    number: u32,
    text: impl FnOnce() -> String,
) -> PyResult<()> {
    if !is_in_use(py)? {
        return Ok(());
    }
    if logger(py)?.call_method1(intern!(py, "isEnabledFor"), (number,))?.is_truthy()? {
        log(py, level, &text())?;
    }
    Ok(())
}

static LOGGER: PyOnceLock<Py<PyAny>> = PyOnceLock::new();

/// Whether anyone has imported `logging`.
fn is_in_use(py: Python<'_>) -> PyResult<bool> {
    static MODULES: PyOnceLock<Py<PyAny>> = PyOnceLock::new();
    if LOGGER.get(py).is_some() {
        return Ok(true);
    }
    let modules = MODULES
        .get_or_try_init(py, || PyResult::Ok(py.import("sys")?.getattr("modules")?.unbind()))?;
    modules.bind(py).contains(intern!(py, "logging"))
}

fn logger(py: Python<'_>) -> PyResult<&Bound<'_, PyAny>> {
    LOGGER
        .get_or_try_init(py, || {
            let logging = py.import("logging")?;
            Ok(logging.call_method1("getLogger", ("gsd.fl",))?.unbind())
        })
        .map(|logger| logger.bind(py))
}
