//! `cenote._cenote.store`: calls to a server, for `cenote.Store` and `cenote.AsyncStore`.
//!
//! Each method returns a [`pending::Pending`], which can be waited for or awaited, so that each verb is implemented
//! once for both. Invariant: the interpreter lock is never held while waiting for a call.

mod access;
mod address;
mod answer;
mod below;
mod changesets;
mod connection;
mod descriptions;
mod error;
mod files;
mod history;
mod jobs;
mod local;
mod past;
mod pending;
mod people;
mod places;
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
    module.add_class::<below::Below>()?;
    module.add_class::<pending::Pending>()?;
    module.add_class::<rows::Rows>()?;
    parent.add_submodule(&module)
}
