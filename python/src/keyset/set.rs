//! Key sets: mappings from names to keys, in key order.

use cenote_keyset::{
    Format, Key, KeyName, KeySet, Names, Namespace, ReadOptions, Side, Strategy, WriteOptions,
    merge, read, write,
};
use pyo3::exceptions::{PyIndexError, PyKeyError, PyValueError};
use pyo3::intern;
use pyo3::prelude::*;
use pyo3::types::{PyBytes, PyDict, PyList, PyMapping, PySlice, PyTuple};

use super::columns::Columns;
use super::convert::{
    MergeConflict, name_of, set_value, text, unreadable, unwritable, value, wrong,
};
use super::key::{Given, PyKey};

/// Keys in order, each name once. `keys[name]` is a `Key`; so is each item of an iteration.
#[pyclass(name = "KeySet", module = "cenote.keyset", mapping)]
pub(crate) struct PyKeySet {
    pub(crate) keys: KeySet,
}

#[pymethods]
impl PyKeySet {
    /// Takes keys, another key set, or a mapping from names to values.
    #[new]
    #[pyo3(signature = (keys = None))]
    fn new(keys: Option<&Bound<'_, PyAny>>) -> PyResult<Self> {
        let mut set = Self { keys: KeySet::new() };
        if let Some(keys) = keys {
            set.append(keys)?;
        }
        Ok(set)
    }

    fn __len__(&self) -> usize {
        self.keys.len()
    }

    fn __iter__(&self) -> KeyIterator {
        KeyIterator { keys: self.all().into_iter() }
    }

    /// The key of this name, or at this place in the order; for a slice a key set.
    fn __getitem__<'py>(&self, name: &Bound<'py, PyAny>) -> PyResult<Bound<'py, PyAny>> {
        let py = name.py();
        if let Ok(slice) = name.cast::<PySlice>() {
            return Ok(Bound::new(py, self.slice(slice)?)?.into_any());
        }
        let key = match name.extract::<isize>() {
            Ok(index) => self.at(index)?,
            Err(_) => {
                let found = self.keys.get(&name_of(name)?);
                found.ok_or_else(|| PyKeyError::new_err(name.clone().unbind()))?.into()
            }
        };
        Ok(Bound::new(py, key)?.into_any())
    }

    /// A value that is not a name is not contained.
    fn __contains__(&self, name: &Bound<'_, PyAny>) -> bool {
        name_of(name).is_ok_and(|name| self.keys.get(&name).is_some())
    }

    /// Sets the value of the key of this name, or copies the value and metadata of a key.
    fn __setitem__(&mut self, name: &Bound<'_, PyAny>, value: &Bound<'_, PyAny>) -> PyResult<()> {
        let name = name_of(name)?;
        let key = match value.cast::<PyKey>() {
            Ok(key) => key.get().key.clone().renamed(name),
            Err(_) => {
                let old = self.keys.get(&name).map(|key| key.to_key());
                let mut key = old.unwrap_or_else(|| Key::new(name));
                set_value(&mut key, value)?;
                key
            }
        };
        self.keys.append(key);
        Ok(())
    }

    fn __delitem__(&mut self, name: &Bound<'_, PyAny>) -> PyResult<()> {
        let removed = self.keys.remove(&name_of(name)?);
        removed.map(drop).ok_or_else(|| PyKeyError::new_err(name.clone().unbind()))
    }

    /// The key of this name, or `default`.
    #[pyo3(signature = (name, default = None))]
    fn get<'py>(
        &self,
        name: &Bound<'py, PyAny>,
        default: Option<Bound<'py, PyAny>>,
    ) -> PyResult<Option<Bound<'py, PyAny>>> {
        match self.keys.get(&name_of(name)?) {
            Some(key) => Ok(Some(Bound::new(name.py(), PyKey::from(key))?.into_any())),
            None => Ok(default),
        }
    }

    /// The names, in key order.
    fn keys<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyList>> {
        let names = self.keys.iter().map(|key| text(py, &key.name().to_bytes()));
        PyList::new(py, names.collect::<PyResult<Vec<_>>>()?)
    }

    /// The keys, in order.
    fn values<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyList>> {
        let keys = self.keys.iter().map(|key| Bound::new(py, PyKey::from(key)));
        PyList::new(py, keys.collect::<PyResult<Vec<_>>>()?)
    }

    /// Pairs of name and key, in key order.
    fn items<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyList>> {
        let pairs = self.keys.iter().map(|key| {
            let name = text(py, &key.name().to_bytes())?;
            (name, Bound::new(py, PyKey::from(key))?).into_pyobject(py)
        });
        PyList::new(py, pairs.collect::<PyResult<Vec<_>>>()?)
    }

    /// The values by name, without metadata.
    fn to_dict<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyDict>> {
        let dict = PyDict::new(py);
        for key in &self.keys {
            dict.set_item(text(py, &key.name().to_bytes())?, value(py, key.value())?)?;
        }
        Ok(dict)
    }

    /// Names, values and types as arrays, without an object for each key.
    fn columns(&self, py: Python<'_>) -> Columns {
        Columns::new(py, &self.keys)
    }

    /// The columns as a `pyarrow.Table`.
    fn to_arrow<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyAny>> {
        let columns = Bound::new(py, self.columns(py))?;
        py.import(intern!(py, "cenote.keyset._arrow"))?
            .call_method1(intern!(py, "table"), (columns,))
    }

    /// The key of this name; a cascading name (`/…`) is looked up by its specification, otherwise
    /// in proc, dir, user, system and default. `None` if there is no such key.
    fn lookup(&mut self, name: &Bound<'_, PyAny>) -> PyResult<Option<PyKey>> {
        Ok(self.keys.lookup(&name_of(name)?).map(PyKey::from))
    }

    /// Adds a key, or all of a key set, of an iterable of keys, or of a mapping from names to
    /// values; keys of the same name are replaced.
    fn append(&mut self, keys: &Bound<'_, PyAny>) -> PyResult<()> {
        if let Ok(key) = keys.cast::<PyKey>() {
            self.keys.append(key.get().key.clone());
        } else if let Ok(set) = keys.cast::<Self>() {
            let other = set.try_borrow().map(|set| set.keys.clone());
            self.keys.append_all(&other.unwrap_or_else(|_| self.keys.clone()));
        } else if let Ok(mapping) = keys.cast::<PyMapping>() {
            for item in mapping.items()?.iter() {
                let (name, value): (Bound<'_, PyAny>, Bound<'_, PyAny>) = item.extract()?;
                self.__setitem__(&name, &value)?;
            }
        } else {
            for key in keys.try_iter()? {
                self.keys.append(key?.cast::<PyKey>()?.get().key.clone());
            }
        }
        Ok(())
    }

    /// Removes the key of this name and returns it, or `default` if there is none. Without a name
    /// the last key is removed.
    #[pyo3(signature = (name = None, default = Given(None)), text_signature = "($self, name=None, default=...)")]
    fn pop<'py>(
        &mut self,
        py: Python<'py>,
        name: Option<&Bound<'py, PyAny>>,
        default: Given<'py>,
    ) -> PyResult<Bound<'py, PyAny>> {
        let wanted = match name {
            Some(name) => Some(name_of(name)?),
            None => self.keys.iter().last().map(|key| key.name().to_name()),
        };
        match (wanted.and_then(|name| self.keys.remove(&name)), default) {
            (Some(key), _) => Ok(Bound::new(py, PyKey { key })?.into_any()),
            (None, Given(Some(default))) => Ok(default),
            (None, Given(None)) => match name {
                Some(name) => Err(PyKeyError::new_err(name.clone().unbind())),
                None => Err(PyKeyError::new_err("the key set is empty")),
            },
        }
    }

    /// The keys for which `predicate(key)` is true, as a new key set.
    fn filter(&self, py: Python<'_>, predicate: &Bound<'_, PyAny>) -> PyResult<Self> {
        let mut keys = KeySet::new();
        for key in self.all() {
            let candidate = Bound::new(py, PyKey { key: key.clone() })?;
            if predicate.call1((candidate,))?.is_truthy()? {
                keys.append(key);
            }
        }
        Ok(Self { keys })
    }

    /// Removes the key of this name and all below it and returns them.
    fn cut(&mut self, name: &Bound<'_, PyAny>) -> PyResult<Self> {
        Ok(Self { keys: self.keys.cut(&name_of(name)?) })
    }

    /// The key of this name and all below it, as a new key set.
    fn below(&self, name: &Bound<'_, PyAny>) -> PyResult<Self> {
        Ok(Self { keys: self.keys.below(&name_of(name)?) })
    }

    /// Moves the key `old` and all below it to `new`; returns how many keys moved.
    fn rename(&mut self, old: &Bound<'_, PyAny>, new: &Bound<'_, PyAny>) -> PyResult<usize> {
        self.keys.rename(&name_of(old)?, &name_of(new)?).map_err(wrong)
    }

    /// Merges these keys and `theirs`, which have the common ancestor `base`. If both changed the
    /// same value, `strategy` decides: `abort` raises `MergeConflict`, `ours` or `theirs` wins.
    #[pyo3(signature = (theirs, base, *, strategy = "abort", same_change_agrees = false))]
    fn merge(
        &self,
        py: Python<'_>,
        theirs: PyRef<'_, Self>,
        base: PyRef<'_, Self>,
        strategy: &str,
        same_change_agrees: bool,
    ) -> PyResult<Self> {
        let strategy = match strategy {
            "abort" => Strategy::Abort,
            "ours" => Strategy::Ours,
            "theirs" => Strategy::Theirs,
            _ => return Err(PyValueError::new_err("strategy must be abort, ours or theirs")),
        };
        let root = KeyName::root(Namespace::Cascading);
        let side = |keys| Side { keys, root: &root };
        let (ours, theirs, base) = (side(&self.keys), side(&theirs.keys), side(&base.keys));
        let merged = merge(ours, theirs, base, &root, strategy, same_change_agrees);
        match merged.keys {
            Some(keys) => Ok(Self { keys }),
            None => Err(conflict(py, &merged.conflicts)?),
        }
    }

    /// A copy, which shares its contents until one of the two changes.
    fn copy(&self) -> Self {
        Self { keys: self.keys.clone() }
    }

    fn __copy__(&self) -> Self {
        self.copy()
    }

    fn __deepcopy__(&self, _memo: &Bound<'_, PyAny>) -> Self {
        self.copy()
    }

    /// A new set, and its keys as a dump with whole names, which keeps what metadata is shared.
    fn __reduce__<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyTuple>> {
        let options = WriteOptions { names: Names::Full };
        let root = KeyName::root(Namespace::Cascading);
        let keys = self.keys.clone();
        let bytes = py.detach(|| {
            let mut bytes = Vec::new();
            write(&keys, &root, Format::Dump, options, &mut bytes).map(|()| bytes)
        });
        let bytes = PyBytes::new(py, &bytes.map_err(unwritable)?);
        (py.get_type::<Self>(), PyTuple::empty(py), bytes).into_pyobject(py)
    }

    fn __setstate__(&mut self, state: &Bound<'_, PyBytes>) -> PyResult<()> {
        let options = ReadOptions { full_names: true, ..ReadOptions::default() };
        let (py, bytes) = (state.py(), state.as_bytes().to_vec());
        let root = KeyName::root(Namespace::Cascading);
        let keys = py.detach(|| read(bytes, &root, Format::Dump, options));
        self.keys = keys.map_err(|error| unreadable(py, &error))?;
        Ok(())
    }

    fn __eq__(&self, other: &Bound<'_, PyAny>) -> bool {
        other.cast::<Self>().is_ok_and(|other| match other.try_borrow() {
            Ok(other) => self.keys == other.keys,
            Err(_) => true,
        })
    }

    fn __repr__(&self, py: Python<'_>) -> PyResult<String> {
        const SHOWN: usize = 20;
        let shown = self.all().into_iter().take(SHOWN);
        let keys = shown.map(|key| Bound::new(py, PyKey { key })).collect::<PyResult<Vec<_>>>()?;
        let keys = PyList::new(py, keys)?.repr()?.to_string();
        if self.keys.len() <= SHOWN {
            return Ok(format!("KeySet({keys})"));
        }
        let listed = keys.trim_end_matches(']');
        Ok(format!("KeySet({listed}, … {} keys])", self.keys.len()))
    }
}

impl PyKeySet {
    fn slice(&self, slice: &Bound<'_, PySlice>) -> PyResult<Self> {
        let indices = slice.indices(self.keys.len() as isize)?;
        let places = (0..indices.slicelength).map(|n| indices.start + n as isize * indices.step);
        let keys = places.filter_map(|at| self.keys.at(at as usize)).map(|key| key.to_key());
        Ok(Self { keys: keys.collect() })
    }

    fn all(&self) -> Vec<Key> {
        self.keys.iter().map(|key| key.to_key()).collect()
    }

    fn at(&self, index: isize) -> PyResult<PyKey> {
        let index = if index < 0 { index + self.keys.len() as isize } else { index };
        let key = usize::try_from(index).ok().and_then(|index| self.keys.at(index));
        Ok(key.ok_or_else(|| PyIndexError::new_err("key index out of range"))?.into())
    }
}

fn conflict(py: Python<'_>, conflicts: &[cenote_keyset::Conflict]) -> PyResult<PyErr> {
    let names = conflicts.iter().map(|conflict| text(py, conflict.name.as_bytes()));
    let names = PyList::new(py, names.collect::<PyResult<Vec<_>>>()?)?;
    let count = conflicts.len();
    let message = format!("both sides changed {count} keys: choose the strategy ours or theirs");
    let error = MergeConflict::new_err(message);
    error.value(py).setattr(intern!(py, "names"), names)?;
    Ok(error)
}

/// The keys of a set at the time when the iteration began.
#[pyclass(module = "cenote.keyset")]
pub(crate) struct KeyIterator {
    keys: std::vec::IntoIter<Key>,
}

#[pymethods]
impl KeyIterator {
    fn __iter__(this: PyRef<'_, Self>) -> PyRef<'_, Self> {
        this
    }

    fn __next__(&mut self) -> Option<PyKey> {
        self.keys.next().map(|key| PyKey { key })
    }

    fn __length_hint__(&self) -> usize {
        self.keys.len()
    }
}
