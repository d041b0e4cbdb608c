//! `cenote.gsd`: the file layer, and the performance-critical parts of the HOOMD schema.
//!
//! Python keeps what users subclass and inspect (frames and trajectories); this module moves the
//! bytes. Invariant: a lock on a file is only ever waited for without the interpreter lock.

mod append;
mod array;
mod chunk;
mod create;
mod elision;
mod error;
mod file;
mod found;
mod frame;
mod log;
mod logger;
mod many;
mod methods;
mod rows;
mod schema;
mod source;
mod stored;
mod trajectory;

use pyo3::prelude::*;

/// Adds the submodule `gsd`.
pub(crate) fn register(parent: &Bound<'_, PyModule>) -> PyResult<()> {
    let module = PyModule::new(parent.py(), "gsd")?;
    module.add_class::<file::GsdFile>()?;
    module.add_class::<trajectory::Trajectory>()?;
    module.add_function(wrap_pyfunction!(log::read_log, &module)?)?;
    parent.add_submodule(&module)
}
