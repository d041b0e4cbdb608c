//! Progress of transfers, reported to a callable such as `tqdm.update`.

use std::sync::{Arc, Mutex, PoisonError};

use cenote_client::transfer::{Observer, Unobserved};
use pyo3::prelude::*;

/// Calls a Python function with the number of bytes that have moved, from any thread.
#[derive(Debug)]
pub(super) struct Progress {
    callable: Py<PyAny>,
    /// The first exception of the callable.
    raised: Mutex<Option<PyErr>>,
}

impl Progress {
    pub(super) fn new(callable: Py<PyAny>) -> Arc<Self> {
        Arc::new(Self { callable, raised: Mutex::new(None) })
    }

    /// Fails if the callable raised an exception.
    pub(super) fn finish(&self) -> PyResult<()> {
        let raised = self.raised.lock().unwrap_or_else(PoisonError::into_inner).take();
        raised.map_or(Ok(()), Err)
    }
}

impl Observer for Progress {
    fn moved(&self, bytes: u64) {
        let called = Python::attach(|py| self.callable.call1(py, (bytes,)).map(drop));
        if let Err(error) = called {
            self.raised.lock().unwrap_or_else(PoisonError::into_inner).get_or_insert(error);
        }
    }
}

/// The observer for a callable, if there is one.
pub(super) fn observer(progress: Option<&Arc<Progress>>) -> Arc<dyn Observer> {
    match progress {
        Some(progress) => Arc::clone(progress) as _,
        None => Arc::new(Unobserved),
    }
}
