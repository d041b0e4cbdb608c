//! `cenote.keyset`: Elektra keys and key sets.
//!
//! Keys are values: changing a set takes a new key. Invariant: text crosses the
//! border as UTF-8 with surrogate escapes, so that any bytes come back.

mod columns;
mod convert;
mod key;
mod set;
mod storage;

use pyo3::prelude::*;

/// Adds the submodule `keyset`.
pub(crate) fn register(parent: &Bound<'_, PyModule>) -> PyResult<()> {
    let module = PyModule::new(parent.py(), "keyset")?;
    module.add_class::<key::PyKey>()?;
    module.add_class::<key::PyMeta>()?;
    module.add_class::<set::PyKeySet>()?;
    module.add_class::<set::KeyIterator>()?;
    module.add_class::<columns::Columns>()?;
    module.add_function(wrap_pyfunction!(storage::join, &module)?)?;
    module.add_function(wrap_pyfunction!(storage::load, &module)?)?;
    module.add_function(wrap_pyfunction!(storage::dump, &module)?)?;
    module.add("KeySetError", parent.py().get_type::<convert::KeySetError>())?;
    module.add("MergeConflict", parent.py().get_type::<convert::MergeConflict>())?;
    parent.add_submodule(&module)
}
