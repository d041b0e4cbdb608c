//! The logged quantities of a frame.

use pyo3::intern;
use pyo3::prelude::*;
use pyo3::types::{PyDict, PyString};

use super::FrameReader;
use crate::gsd::found::FoundChunks;

impl<'py> FrameReader<'_, 'py> {
    pub(super) fn log(
        &self,
        found: &FoundChunks,
        values: Vec<Bound<'py, PyAny>>,
        initial: Option<&Bound<'py, PyAny>>,
    ) -> PyResult<Bound<'py, PyDict>> {
        let log = PyDict::new(self.py);
        if found.logs.is_empty() {
            return Ok(log);
        }
        let inherited = initial.map(|initial| initial.getattr(intern!(self.py, "log")));
        let inherited = inherited.transpose()?;
        let mut values = values.into_iter();
        for (name, entry) in self.known.logs.iter().zip(&found.logs) {
            let name = name.bind(self.py);
            let value = match (entry, &inherited) {
                (Some(_), _) => values.next(),
                (None, Some(inherited)) => inherit_log(inherited, name)?,
                (None, None) => None,
            };
            if let Some(value) = value {
                log.set_item(name, value)?;
            }
        }
        Ok(log)
    }
}

/// A logged value of frame 0, made read-only where it is an array.
fn inherit_log<'py>(
    inherited: &Bound<'py, PyAny>,
    name: &Bound<'py, PyString>,
) -> PyResult<Option<Bound<'py, PyAny>>> {
    let py = name.py();
    let Ok(value) = inherited.get_item(name) else { return Ok(None) };
    if !value.is_instance_of::<PyString>() {
        value.call_method1(intern!(py, "setflags"), (false,))?;
    }
    Ok(Some(value))
}
