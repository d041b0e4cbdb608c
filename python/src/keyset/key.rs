//! One key, and its metadata as a mapping.

use std::hash::{DefaultHasher, Hash, Hasher};

use cenote_keyset::{Key, KeyRef, MetaRef};
use pyo3::basic::CompareOp;
use pyo3::exceptions::PyKeyError;
use pyo3::prelude::*;
use pyo3::types::{PyDict, PyList, PyMapping, PyTuple};

use super::convert::{bytes_of, name_of, set_value, text, value, wrong};

/// A key: a name, a value and metadata. Keys are immutable; `replace` returns a new key.
#[pyclass(frozen, name = "Key", module = "cenote.keyset")]
pub(crate) struct PyKey {
    pub(crate) key: Key,
}

impl From<KeyRef<'_>> for PyKey {
    fn from(key: KeyRef<'_>) -> Self {
        Self { key: key.to_key() }
    }
}

/// An argument for which `None` is a value; the default means that it was not given.
#[derive(Default)]
pub(crate) struct Given<'py>(pub(crate) Option<Bound<'py, PyAny>>);

impl<'py> FromPyObject<'_, 'py> for Given<'py> {
    type Error = PyErr;

    fn extract(object: Borrowed<'_, 'py, PyAny>) -> PyResult<Self> {
        Ok(Self(Some(object.to_owned())))
    }
}

#[pymethods]
impl PyKey {
    #[new]
    #[pyo3(signature = (name, value = Given(None), meta = None), text_signature = "(name, value='', meta=None)")]
    fn new(
        name: &Bound<'_, PyAny>,
        value: Given<'_>,
        meta: Option<&Bound<'_, PyAny>>,
    ) -> PyResult<Self> {
        let mut key = Key::new(name_of(name)?);
        if let Some(meta) = meta {
            add_meta(&mut key, meta)?;
        }
        if let Given(Some(value)) = value {
            set_value(&mut key, &value)?;
        }
        Ok(Self { key })
    }

    /// The canonical name.
    #[getter]
    fn name<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyAny>> {
        text(py, &self.key.name().to_bytes())
    }

    /// The last part of the name, unescaped; `None` for a root.
    #[getter]
    fn basename<'py>(&self, py: Python<'py>) -> PyResult<Option<Bound<'py, PyAny>>> {
        self.key.name().to_name().base_name().map(|part| text(py, &part)).transpose()
    }

    /// The parts of the name, unescaped: `/` and `%` in them are literal.
    #[getter]
    fn parts<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyTuple>> {
        let name = self.key.name().to_name();
        let parts = name.parts().map(|part| text(py, &part)).collect::<PyResult<Vec<_>>>()?;
        PyTuple::new(py, parts)
    }

    /// The namespace, such as `user`; `cascading` for a name without one.
    #[getter]
    fn namespace(&self) -> String {
        match self.key.name().namespace().to_string() {
            none if none.is_empty() => "cascading".into(),
            word => word,
        }
    }

    /// The value: `str`, `bytes`, or `None` for a binary key without a value.
    #[getter]
    fn value<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyAny>> {
        value(py, self.key.value())
    }

    /// The metadata by name, without `meta:/`.
    #[getter]
    fn meta(&self) -> PyMeta {
        PyMeta { key: self.key.clone() }
    }

    /// A copy of the key with another name, value or metadata.
    #[pyo3(signature = (*, name = None, value = Given(None), meta = None), text_signature = "($self, *, name=..., value=..., meta=...)")]
    fn replace(
        &self,
        name: Option<&Bound<'_, PyAny>>,
        value: Given<'_>,
        meta: Option<&Bound<'_, PyAny>>,
    ) -> PyResult<Self> {
        let mut key = self.key.clone();
        if let Some(name) = name {
            key = key.renamed(name_of(name)?);
        }
        if let Some(meta) = meta {
            let mut bare = Key::new(key.name().to_name());
            bare.set_value(key.value());
            key = bare;
            add_meta(&mut key, meta)?;
        }
        if let Given(Some(value)) = value {
            set_value(&mut key, &value)?;
        }
        Ok(Self { key })
    }

    fn __richcmp__(&self, other: &Bound<'_, PyAny>, op: CompareOp) -> PyResult<Py<PyAny>> {
        let py = other.py();
        let Ok(other) = other.cast::<Self>() else { return Ok(py.NotImplemented()) };
        let other = &other.get().key;
        let answer = match op {
            CompareOp::Eq => self.key == *other,
            CompareOp::Ne => self.key != *other,
            order => order.matches(self.key.name().cmp(&other.name())),
        };
        Ok(answer.into_pyobject(py)?.to_owned().into_any().unbind())
    }

    fn __copy__(this: Bound<'_, Self>) -> Bound<'_, Self> {
        this
    }

    fn __deepcopy__<'py>(this: Bound<'py, Self>, _memo: &Bound<'py, PyAny>) -> Bound<'py, Self> {
        this
    }

    fn __reduce__<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyTuple>> {
        let meta = self.meta().to_dict(py)?;
        let arguments = (self.name(py)?, self.value(py)?, meta).into_pyobject(py)?;
        (py.get_type::<Self>(), arguments).into_pyobject(py)
    }

    fn __hash__(&self) -> u64 {
        let mut hasher = DefaultHasher::new();
        self.key.name().hash(&mut hasher);
        hasher.finish()
    }

    fn __repr__(&self, py: Python<'_>) -> PyResult<String> {
        let (name, value) = (self.name(py)?.repr()?, self.value(py)?.repr()?);
        let meta = self.meta().to_dict(py)?;
        let meta = if meta.is_empty() { String::new() } else { format!(", meta={}", meta.repr()?) };
        Ok(format!("Key({name}, {value}{meta})"))
    }
}

/// Sets the metadata of a key from a mapping; the metadata of another key is shared.
fn add_meta(key: &mut Key, meta: &Bound<'_, PyAny>) -> PyResult<()> {
    if let Ok(meta) = meta.cast::<PyMeta>() {
        let other = meta.get().key.borrow();
        other.meta_keys().for_each(|meta| key.share_meta(meta));
        return Ok(());
    }
    for item in meta.cast::<PyMapping>()?.items()?.iter() {
        let (name, value): (Bound<'_, PyAny>, Bound<'_, PyAny>) = item.extract()?;
        key.set_meta(bytes_of(&name)?, bytes_of(&value)?).map_err(wrong)?;
    }
    Ok(())
}

/// The metadata of a key: a read-only mapping in the order of names.
#[pyclass(frozen, name = "Meta", module = "cenote.keyset")]
pub(crate) struct PyMeta {
    key: Key,
}

impl PyMeta {
    fn to_dict<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyDict>> {
        let dict = PyDict::new(py);
        for meta in self.key.borrow().meta() {
            dict.set_item(text(py, meta.name())?, text(py, meta.value())?)?;
        }
        Ok(dict)
    }

    fn list<'py>(
        &self,
        py: Python<'py>,
        item: impl Fn(MetaRef<'_>) -> PyResult<Bound<'py, PyAny>>,
    ) -> PyResult<Bound<'py, PyList>> {
        let items = self.key.borrow().meta().map(item).collect::<PyResult<Vec<_>>>()?;
        PyList::new(py, items)
    }
}

#[pymethods]
impl PyMeta {
    fn __len__(&self) -> usize {
        self.key.borrow().meta().len()
    }

    fn __getitem__<'py>(&self, name: &Bound<'py, PyAny>) -> PyResult<Bound<'py, PyAny>> {
        let value = self.key.borrow().meta_value(bytes_of(name)?);
        text(name.py(), value.ok_or_else(|| PyKeyError::new_err(name.clone().unbind()))?)
    }

    fn __contains__(&self, name: &Bound<'_, PyAny>) -> PyResult<bool> {
        Ok(self.key.borrow().meta_value(bytes_of(name)?).is_some())
    }

    /// The value of a metakey, or `default`.
    #[pyo3(signature = (key, default = None, /))]
    fn get<'py>(
        &self,
        key: &Bound<'py, PyAny>,
        default: Option<Bound<'py, PyAny>>,
    ) -> PyResult<Option<Bound<'py, PyAny>>> {
        let value = self.key.borrow().meta_value(bytes_of(key)?);
        value.map_or(Ok(default), |value| text(key.py(), value).map(Some))
    }

    fn __iter__<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyAny>> {
        Ok(self.keys(py)?.try_iter()?.into_any())
    }

    /// The names, in order.
    fn keys<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyList>> {
        self.list(py, |meta| text(py, meta.name()))
    }

    /// The values, in the order of their names.
    fn values<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyList>> {
        self.list(py, |meta| text(py, meta.value()))
    }

    /// Pairs of name and value, in order.
    fn items<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyList>> {
        self.list(py, |meta| {
            let pair = (text(py, meta.name())?, text(py, meta.value())?);
            Ok(pair.into_pyobject(py)?.into_any())
        })
    }

    fn __copy__(this: Bound<'_, Self>) -> Bound<'_, Self> {
        this
    }

    fn __deepcopy__<'py>(this: Bound<'py, Self>, _memo: &Bound<'py, PyAny>) -> Bound<'py, Self> {
        this
    }

    /// The metadata of a key that is recreated.
    fn __reduce__<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyTuple>> {
        let key = Bound::new(py, PyKey { key: self.key.clone() })?;
        let getattr = py.import("builtins")?.getattr("getattr")?;
        (getattr, (key, "meta")).into_pyobject(py)
    }

    fn __eq__(&self, other: &Bound<'_, PyAny>) -> PyResult<bool> {
        let py = other.py();
        match other.cast::<Self>() {
            Ok(other) => self.to_dict(py)?.eq(other.get().to_dict(py)?),
            Err(_) => self.to_dict(py)?.eq(other),
        }
    }

    fn __repr__(&self, py: Python<'_>) -> PyResult<String> {
        Ok(format!("Meta({})", self.to_dict(py)?.repr()?))
    }
}
