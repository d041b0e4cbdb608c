//! The threads that make the calls, one set for each process.
//!
//! Invariant: a forked process starts threads of its own, since those of its parent do not exist in it.

use std::future::Future;
use std::pin::Pin;
use std::sync::{Mutex, PoisonError};

use futures_util::future::BoxFuture;
use pyo3_async_runtimes::TaskLocals;
use pyo3_async_runtimes::generic::{ContextExt, JoinError, Runtime};
use tokio::runtime;

/// Calls need few threads: they mostly wait.
const THREADS: usize = 2;

/// The threads of a process, by its id. They end with the process.
static CURRENT: Mutex<Option<(u32, &'static runtime::Runtime)>> = Mutex::new(None);

/// The threads of this process. To be called with the interpreter lock held: a fork does not happen meanwhile.
pub(super) fn current() -> &'static runtime::Runtime {
    let mut current = CURRENT.lock().unwrap_or_else(PoisonError::into_inner);
    let process = std::process::id();
    match *current {
        Some((of, runtime)) if of == process => runtime,
        _ => current.insert((process, start())).1,
    }
}

fn start() -> &'static runtime::Runtime {
    let runtime = runtime::Builder::new_multi_thread()
        .worker_threads(THREADS)
        .thread_name("cenote")
        .enable_all()
        .build()
        .expect("threads can be started");
    Box::leak(Box::new(runtime))
}

/// The same threads, for futures of `asyncio`.
pub(super) struct Tasks;

/// Why a task ended early.
pub(super) struct Ended(tokio::task::JoinError);

impl JoinError for Ended {
    fn is_panic(&self) -> bool {
        self.0.is_panic()
    }

    fn into_panic(self) -> Box<dyn std::any::Any + Send + 'static> {
        self.0.into_panic()
    }
}

impl Runtime for Tasks {
    type JoinError = Ended;
    type JoinHandle = BoxFuture<'static, Result<(), Ended>>;

    fn spawn<F: Future<Output = ()> + Send + 'static>(future: F) -> Self::JoinHandle {
        let task = here().spawn(future);
        Box::pin(async { task.await.map_err(Ended) })
    }

    fn spawn_blocking<F: FnOnce() + Send + 'static>(work: F) -> Self::JoinHandle {
        let task = here().spawn_blocking(work);
        Box::pin(async { task.await.map_err(Ended) })
    }
}

/// The threads that this one belongs to, or those of the process.
fn here() -> runtime::Handle {
    runtime::Handle::try_current().unwrap_or_else(|_| current().handle().clone())
}

impl ContextExt for Tasks {
    fn scope<F, R>(_locals: TaskLocals, future: F) -> Pin<Box<dyn Future<Output = R> + Send>>
    where
        F: Future<Output = R> + Send + 'static,
    {
        Box::pin(future)
    }

    /// None: the running event loop is taken.
    fn get_task_locals() -> Option<TaskLocals> {
        None
    }
}
