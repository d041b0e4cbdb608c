//! `cenote.keyset`: Elektra keys and key sets.
//!
//! Keys are immutable values: a set is changed with new keys. Invariant: text is converted
//! as UTF-8 with surrogate escapes, so that any bytes survive the round trip.

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
