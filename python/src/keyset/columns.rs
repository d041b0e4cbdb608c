//! A key set as arrays, laid out as Arrow lays out variable-length data: all
//! bytes one after the other, and an offset to each.

use cenote_keyset::{KeySet, ValueRef};
use numpy::{PyArray1, PyUntypedArrayMethods};
use pyo3::prelude::*;
use pyo3::types::PyTuple;

/// Names, values and types of the keys of a set, in key order. Key `i` has the name
/// `name_data[name_offsets[i]:name_offsets[i + 1]]`, the value alike, and the type `kinds[i]`:
/// 0 for a string, 1 for binary, 2 for null.
#[pyclass(frozen, get_all, module = "cenote.keyset")]
pub(crate) struct Columns {
    /// Where each name starts in `name_data`, and the end of the last.
    name_offsets: Py<PyArray1<i64>>,
    /// The names, one behind the other.
    name_data: Py<PyArray1<u8>>,
    /// Where each value starts in `value_data`, and the end of the last.
    value_offsets: Py<PyArray1<i64>>,
    /// The values, one behind the other.
    value_data: Py<PyArray1<u8>>,
    /// The type of each key: 0 for a string, 1 for binary, 2 for null.
    kinds: Py<PyArray1<u8>>,
}

#[pymethods]
impl Columns {
    #[new]
    fn from_arrays(
        name_offsets: Py<PyArray1<i64>>,
        name_data: Py<PyArray1<u8>>,
        value_offsets: Py<PyArray1<i64>>,
        value_data: Py<PyArray1<u8>>,
        kinds: Py<PyArray1<u8>>,
    ) -> Self {
        Self { name_offsets, name_data, value_offsets, value_data, kinds }
    }

    fn __reduce__<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyTuple>> {
        let names = (self.name_offsets.bind(py), self.name_data.bind(py));
        let values = (self.value_offsets.bind(py), self.value_data.bind(py));
        let arrays = (names.0, names.1, values.0, values.1, self.kinds.bind(py));
        (py.get_type::<Self>(), arrays).into_pyobject(py)
    }

    fn __len__(&self, py: Python<'_>) -> usize {
        self.kinds.bind(py).len()
    }
}

impl Columns {
    pub(crate) fn new(py: Python<'_>, keys: &KeySet) -> Self {
        let Vectors { names, values, kinds } = py.detach(|| Vectors::new(keys));
        let (name_offsets, name_data) = names.arrays(py);
        let (value_offsets, value_data) = values.arrays(py);
        let kinds = PyArray1::from_vec(py, kinds).unbind();
        Self { name_offsets, name_data, value_offsets, value_data, kinds }
    }
}

struct Vectors {
    names: Strings,
    values: Strings,
    kinds: Vec<u8>,
}

impl Vectors {
    fn new(keys: &KeySet) -> Self {
        let count = keys.len();
        let (mut names, mut values) = (Strings::new(count), Strings::new(count));
        let mut kinds = Vec::with_capacity(count);
        for key in keys {
            names.push(&key.name().pieces());
            values.push(&[key.value().as_bytes()]);
            kinds.push(match key.value() {
                ValueRef::String(_) => 0,
                ValueRef::Binary(_) => 1,
                ValueRef::Null => 2,
            });
        }
        Self { names, values, kinds }
    }
}

struct Strings {
    offsets: Vec<i64>,
    data: Vec<u8>,
}

impl Strings {
    fn new(keys: usize) -> Self {
        let mut offsets = Vec::with_capacity(keys + 1);
        offsets.push(0);
        Self { offsets, data: Vec::new() }
    }

    fn push(&mut self, pieces: &[&[u8]]) {
        pieces.iter().for_each(|piece| self.data.extend_from_slice(piece));
        self.offsets.push(self.data.len() as i64);
    }

    fn arrays(self, py: Python<'_>) -> (Py<PyArray1<i64>>, Py<PyArray1<u8>>) {
        let offsets = PyArray1::from_vec(py, self.offsets).unbind();
        (offsets, PyArray1::from_vec(py, self.data).unbind())
    }
}
