//! The logger `gsd.fl`, to which the reference tells what it does.

use pyo3::intern;
use pyo3::prelude::*;

/// Says something to the logger `gsd.fl`, as the reference does.
pub(crate) fn log(py: Python<'_>, level: &str, text: &str) -> PyResult<()> {
    logger(py)?.call_method1(level, (text,)).map(drop)
}

pub(crate) fn log_if(
    py: Python<'_>,
    level: &str,
    number: u32,
    text: impl FnOnce() -> String,
) -> PyResult<()> {
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
