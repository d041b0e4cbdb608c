//! What all requests share.

use std::sync::Arc;

use cenote_store::{Entropy, ErrorKind, Store, SystemEntropy, Waiting};
use cenote_text::TextIndex;
use tokio::sync::{OwnedSemaphorePermit, Semaphore, SemaphorePermit};
use tokio_util::sync::CancellationToken;

use crate::config::{Config, Dnanexus, Irods, Ldp, Limits};
use crate::layer::{PasswordQueue, Pools, RequestIds};
use crate::metrics::Metrics;
use crate::native::CursorSeal;
use crate::problem::{Problem, ProblemKind};

/// The store with its metrics and limits. Cloning is cheap.
#[derive(Debug, Clone)]
pub(crate) struct App {
    shared: Arc<Inner>,
    /// The store, or a change set of it.
    store: Store,
    is_change_set: bool,
}

#[derive(Debug)]
struct Inner {
    config: Config,
    metrics: Metrics,
    request_ids: RequestIds,
    pools: Pools,
    passwords: PasswordQueue,
    formats: Arc<Semaphore>,
    queries: Semaphore,
    key_sets: Semaphore,
    cursors: CursorSeal,
    texts: TextIndex,
    stopping: CancellationToken,
}

/// Files looked into at a time: each holds a thread that waits for contents, which need threads
/// themselves, and some memory.
const FORMATS: usize = 16;

/// Queries of linked data that run at a time: each may hold much memory, and takes a processor.
const QUERIES: usize = 8;

/// Key sets read whole into memory at a time: each takes a few times its size.
const KEY_SETS: usize = 4;

impl App {
    pub(crate) fn new(store: Store, config: Config) -> Self {
        let shared = Arc::new(Inner {
            metrics: Metrics::new(),
            request_ids: RequestIds::new(start()),
            pools: Pools::new(&config.limits),
            passwords: PasswordQueue::new(&config.limits),
            formats: Arc::new(Semaphore::new(FORMATS)),
            queries: Semaphore::new(QUERIES),
            key_sets: Semaphore::new(KEY_SETS),
            cursors: CursorSeal::of(&store),
            texts: match &config.search.index {
                Some(dir) => TextIndex::in_directory(dir),
                None => TextIndex::in_memory(),
            },
            stopping: CancellationToken::new(),
            config,
        });
        Self { shared, store, is_change_set: false }
    }

    /// The same on a change set.
    pub(crate) fn on(&self, store: Store) -> Self {
        Self { shared: self.shared.clone(), store, is_change_set: true }
    }

    /// The same on this store at one moment: see [`Store::at_one_moment`].
    pub(crate) fn at_moment_of(&self, store: &Store) -> Self {
        Self { store: store.clone(), ..self.clone() }
    }

    pub(crate) fn store(&self) -> &Store {
        &self.store
    }

    pub(crate) fn limits(&self) -> &Limits {
        &self.shared.config.limits
    }

    pub(crate) fn irods(&self) -> &Irods {
        &self.shared.config.irods
    }

    pub(crate) fn ldp(&self) -> &Ldp {
        &self.shared.config.ldp
    }

    pub(crate) fn dnanexus(&self) -> &Dnanexus {
        &self.shared.config.dnanexus
    }

    pub(crate) fn metrics(&self) -> &Metrics {
        &self.shared.metrics
    }

    pub(crate) fn request_ids(&self) -> &RequestIds {
        &self.shared.request_ids
    }

    /// What requests share.
    pub(crate) fn pools(&self) -> &Pools {
        &self.shared.pools
    }

    /// What seals the cursors of searches.
    pub(crate) fn cursors(&self) -> &CursorSeal {
        &self.shared.cursors
    }

    /// The index of texts; none for a change set, whose changes it does not know.
    pub(crate) fn texts(&self) -> Option<&TextIndex> {
        (!self.is_change_set).then_some(&self.shared.texts)
    }

    /// Where passwords wait to be verified.
    pub(crate) fn passwords(&self) -> &PasswordQueue {
        &self.shared.passwords
    }

    /// Waits for the turn to look into a file.
    pub(crate) async fn format_turn(&self) -> OwnedSemaphorePermit {
        let formats = Arc::clone(&self.shared.formats);
        formats.acquire_owned().await.expect("it is never closed")
    }

    /// Waits for the turn to run a query.
    pub(crate) async fn query_turn(&self) -> SemaphorePermit<'_> {
        self.shared.queries.acquire().await.expect("it is never closed")
    }

    /// Waits for the turn to read a key set.
    pub(crate) async fn key_set_turn(&self) -> SemaphorePermit<'_> {
        self.shared.key_sets.acquire().await.expect("it is never closed")
    }

    /// Cancelled when the server begins to stop: requests that wait for something to happen end.
    pub(crate) fn stopping(&self) -> &CancellationToken {
        &self.shared.stopping
    }

    /// Runs work of microseconds, because it reads hot data, such as the name of a user or a place, on the thread of the
    /// request.
    pub(crate) fn quick<T>(
        &self,
        question: impl FnOnce(&Store) -> cenote_store::Result<T>,
    ) -> Result<T, Problem> {
        self.store().at_one_moment(question).map_err(Problem::from)
    }

    /// Runs one commit of bounded size on the thread of the request, as [`Store::put`] does: two changes of threads would cost about as much.
    pub(crate) fn commit<T>(
        &self,
        change: impl FnOnce(&Store) -> cenote_store::Result<T>,
    ) -> Result<T, Problem> {
        self.quick(|store| store.in_place(change))
    }

    /// Runs work of the store on a thread that may block: one hop for all that one request needs.
    pub(crate) async fn blocking<T: Send + 'static>(
        &self,
        question: impl FnOnce(&Store) -> cenote_store::Result<T> + Send + 'static,
    ) -> Result<T, Problem> {
        let store = self.store().clone();
        self.compute(move || store.at_one_moment(question).map_err(Problem::from)).await
    }

    /// Runs other work on a thread that may block. When the request has ended, because the client has gone or its time is over,
    /// the next call of the store fails, which ends the work.
    #[expect(clippy::disallowed_methods, reason = "the one place where the server does this")]
    pub(crate) async fn compute<T: Send + 'static>(
        &self,
        work: impl FnOnce() -> Result<T, Problem> + Send + 'static,
    ) -> Result<T, Problem> {
        let span = tracing::Span::current();
        let waiting = Waiting::default();
        let abortable = waiting.work();
        let answer = tokio::task::spawn_blocking(move || span.in_scope(|| abortable.run(work)));
        answer.await.unwrap_or_else(|lost| Err(lost_work(&lost)))
    }
}

/// Differs between runs of the server, and between servers.
fn start() -> u64 {
    let mut bytes = [0; 8];
    SystemEntropy.fill(&mut bytes);
    u64::from_le_bytes(bytes)
}

fn lost_work(lost: &tokio::task::JoinError) -> Problem {
    match lost.is_panic() {
        true => Problem::new(ProblemKind::Internal, "an internal error ended this request")
            .with_hint("report it, with the request id and the server's log"),
        false => Problem::new(ProblemKind::Store(ErrorKind::Unavailable), "the server is stopping"),
    }
}
