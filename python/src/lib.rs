//! The native core of the Python package `cenote`: one submodule for each
//! format, each a thin skin over its crate.

mod gsd;

use pyo3::prelude::*;

/// Registers one submodule for each format.
#[pymodule]
fn _cenote(module: &Bound<'_, PyModule>) -> PyResult<()> {
    gsd::register(module)?;
    Ok(())
}
