//! `cenote._cenote.store`: calls to a server, for `cenote.Store` and `cenote.AsyncStore`.
//!
//! Each method returns a [`pending::Pending`], which is waited for or awaited: a verb is written once for both. Invariant: no call is
//! waited for with the interpreter lock held.

mod access;
mod answer;
mod changesets;
mod connection;
mod descriptions;
mod error;
mod files;
mod history;
mod past;
mod pending;
mod progress;
mod quotas;
mod rows;
mod runtime;
mod transfer;
mod trash;
mod tree;
mod uploads;

use pyo3::prelude::*;

/// Adds the submodule `store`.
pub(crate) fn register(parent: &Bound<'_, PyModule>) -> PyResult<()> {
    let module = PyModule::new(parent.py(), "store")?;
    module.add_class::<connection::Connection>()?;
    module.add_class::<pending::Pending>()?;
    module.add_class::<rows::Rows>()?;
    parent.add_submodule(&module)
}
