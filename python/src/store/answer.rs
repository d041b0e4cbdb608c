//! The result of a call, before it becomes a Python object.

use bytes::Bytes;
use pyo3::IntoPyObjectExt;
use pyo3::prelude::*;
use pyo3::types::{PyBytes, PyDict, PyList, PyNone};
use serde::Serialize;
use serde_json::Value;

use super::below::Below;
use super::error::Failure;

/// A result, which any thread can hold.
pub(super) enum Answer {
    /// A value of JSON, such as a resource.
    Json(Value),
    /// The bytes of a content.
    Bytes(Bytes),
    /// Why one of several items failed.
    Failure(Failure),
    /// What is below a collection.
    Below(Box<Below>),
    /// Results of several items.
    List(Vec<Answer>),
}

impl Answer {
    /// The result for a value of the client.
    pub(super) fn of(value: &impl Serialize) -> Self {
        Self::Json(serde_json::to_value(value).expect("answers have string keys only"))
    }

    /// No result.
    pub(super) fn none() -> Self {
        Self::Json(Value::Null)
    }

    /// The result for one of several items.
    pub(super) fn of_each<T: Serialize>(result: Result<T, cenote_client::Error>) -> Self {
        result.map_or_else(|error| Self::Failure(error.into()), |value| Self::of(&value))
    }
}

impl<'py> IntoPyObject<'py> for Answer {
    type Target = PyAny;
    type Output = Bound<'py, PyAny>;
    type Error = PyErr;

    fn into_pyobject(self, py: Python<'py>) -> PyResult<Bound<'py, PyAny>> {
        match self {
            Self::Json(value) => object(py, value),
            Self::Bytes(bytes) => Ok(PyBytes::new(py, &bytes).into_any()),
            Self::Failure(failure) => {
                Ok(PyErr::from(failure).into_value(py).into_bound(py).into_any())
            }
            Self::Below(below) => Ok(Bound::new(py, *below)?.into_any()),
            Self::List(answers) => {
                let objects = answers.into_iter().map(|answer| answer.into_pyobject(py));
                Ok(PyList::new(py, objects.collect::<PyResult<Vec<_>>>()?)?.into_any())
            }
        }
    }
}

fn object(py: Python<'_>, value: Value) -> PyResult<Bound<'_, PyAny>> {
    match value {
        Value::Null => Ok(PyNone::get(py).to_owned().into_any()),
        Value::Bool(value) => value.into_bound_py_any(py),
        Value::String(text) => text.into_bound_py_any(py),
        Value::Number(number) => match (number.as_u64(), number.as_i64()) {
            (Some(number), _) => number.into_bound_py_any(py),
            (None, Some(number)) => number.into_bound_py_any(py),
            (None, None) => number.as_f64().into_bound_py_any(py),
        },
        Value::Array(items) => {
            let items = items.into_iter().map(|item| object(py, item));
            Ok(PyList::new(py, items.collect::<PyResult<Vec<_>>>()?)?.into_any())
        }
        Value::Object(fields) => {
            let dict = PyDict::new(py);
            for (name, field) in fields {
                dict.set_item(name, object(py, field)?)?;
            }
            Ok(dict.into_any())
        }
    }
}
