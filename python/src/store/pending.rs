//! A call that has not been made yet: to be waited for by a thread, or awaited by a task.

use std::future::Future;
use std::sync::{Mutex, PoisonError};
use std::time::Duration;

use futures_util::future::BoxFuture;
use pyo3::exceptions::PyRuntimeError;
use pyo3::prelude::*;
use pyo3_async_runtimes::generic::future_into_py;
use serde::Serialize;
use tokio::time::MissedTickBehavior;

use super::answer::Answer;
use super::error::Failure;
use super::runtime::{Tasks, current};

/// How often a waiting thread checks for signals, such as Control-C.
const SIGNALS: Duration = Duration::from_millis(100);

/// A call, which is made once: when it is waited for or awaited.
#[pyclass(module = "cenote._cenote.store", frozen)]
pub(super) struct Pending(Mutex<Option<BoxFuture<'static, Result<Answer, Failure>>>>);

impl Pending {
    /// The call that this future makes.
    pub(super) fn new<E: Into<Failure>>(
        call: impl Future<Output = Result<Answer, E>> + Send + 'static,
    ) -> Self {
        let call = async { call.await.map_err(Into::into) };
        Self(Mutex::new(Some(Box::pin(call))))
    }

    /// The call whose result is a value of the client.
    pub(super) fn of<T: Serialize>(
        call: impl Future<Output = Result<T, cenote_client::Error>> + Send + 'static,
    ) -> Self {
        Self::new(async { call.await.map(|value| Answer::of(&value)) })
    }

    fn take(&self) -> PyResult<BoxFuture<'static, Result<Answer, Failure>>> {
        let taken = self.0.lock().unwrap_or_else(PoisonError::into_inner).take();
        taken.ok_or_else(|| PyRuntimeError::new_err("this call was made already"))
    }
}

#[pymethods]
impl Pending {
    /// Makes the call, and waits for it without the interpreter lock. A signal abandons it.
    fn wait<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyAny>> {
        let (mut call, runtime) = (self.take()?, current());
        let answer = py.detach(|| {
            runtime.block_on(async {
                let mut ticks = tokio::time::interval(SIGNALS);
                ticks.set_missed_tick_behavior(MissedTickBehavior::Delay);
                ticks.tick().await;
                loop {
                    tokio::select! {
                        answer = &mut call => return answer,
                        _ = ticks.tick() => Python::attach(|py| py.check_signals())?,
                    }
                }
            })
        });
        answer?.into_pyobject(py)
    }

    /// Makes the call as a task; cancelling it abandons the call.
    fn __await__<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyAny>> {
        let call = self.take()?;
        current();
        let call = async { call.await.map_err(PyErr::from) };
        future_into_py::<Tasks, _, _>(py, call)?.call_method0("__await__")
    }
}
