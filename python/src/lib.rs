//! The native core of the Python package `cenote`: one submodule for each
//! format, each a thin wrapper of its crate.

mod gsd;
mod keyset;
mod store;

use pyo3::prelude::*;

/// Registers one submodule for each format.
#[pymodule]
fn _cenote(module: &Bound<'_, PyModule>) -> PyResult<()> {
    gsd::register(module)?;
    keyset::register(module)?;
    store::register(module)?;
    Ok(())
}
