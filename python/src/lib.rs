//! The native core of the Python package `cenote`: one submodule for each
//! format, each a thin wrapper of its crate.

mod gsd;
mod keyset;

use pyo3::prelude::*;

/// Registers one submodule for each format.
#[pymodule]
fn _cenote(module: &Bound<'_, PyModule>) -> PyResult<()> {
    gsd::register(module)?;
    keyset::register(module)?;
    Ok(())
}
