//! The store: what holds the two seams together, and runs transactions.
//!
//! Invariant: a change is one batch on the catalog, and a content is durable before
//! the batch that refers to it; so whatever is acknowledged is whole.

use std::sync::{Arc, Once};
use std::time::Duration;

use bytes::Bytes;
use cenote_blob::{BlobId, Place};
use cenote_kv::{Batch, CommitError, Engine, Evidence, Snapshot, Wanted, Write};
use tokio::runtime::{Handle, RuntimeFlavor};
use tokio::sync::{Notify, Semaphore};

use crate::catalog::{CachingSnapshot, Edges, Reads, Transaction, View, keys};
use crate::changesets::{ChangeSets, OpenChangeSet};
use crate::contents::{ContentHints, Damage, Due, ExtentCache, Leases, Limits, Pins};
use crate::health::Latch;
use crate::ids::Ids;
use crate::lines::{Lines, Turn};
use crate::model::Time;
use crate::moment::Moment;
use crate::moves::RunningJobs;
use crate::people::{Attempts, CredentialCache, UserHints};
use crate::places::{Claims, Shared};
use crate::ports::SystemClock;
use crate::servers::Servers;
use crate::trash::Room;
use crate::undecided::Undecided;
use crate::{
    ChangeSetLimits, Clock, Entropy, Error, ErrorKind, Formats, Health, NoPlaces, PlaceOpener,
    Result, SystemEntropy, describe, quotas,
};

/// What a store is made of.
#[derive(Debug, Clone)]
pub struct Parts {
    /// The catalog.
    pub engine: Arc<dyn Engine>,
    /// The place that is opened with the store: [`PlaceId::MAIN`](crate::PlaceId::MAIN).
    pub main: Place,
    /// What opens the others, from their addresses in the catalog.
    pub opener: Arc<dyn PlaceOpener>,
    /// The time.
    pub clock: Arc<dyn Clock>,
    /// Randomness.
    pub entropy: Arc<dyn Entropy>,
    /// Sizes.
    pub limits: Limits,
    /// What change sets may take.
    pub change_sets: ChangeSetLimits,
    /// How long the change feed keeps a change, and so how far back the past is known.
    pub keep_changes: Duration,
    /// The formats of a catalog that the program knows.
    pub formats: Formats,
}

impl Parts {
    /// On this engine and place, with real time and randomness, and without other places.
    pub fn new(engine: impl Engine, place: Place) -> Self {
        Self {
            engine: Arc::new(engine),
            main: place,
            opener: Arc::new(NoPlaces),
            clock: Arc::new(SystemClock),
            entropy: Arc::new(SystemEntropy),
            limits: Limits::default(),
            change_sets: ChangeSetLimits::default(),
            keep_changes: KEEP_CHANGES,
            formats: Formats::default(),
        }
    }
}

/// How long changes are kept if nothing else is set.
const KEEP_CHANGES: Duration = Duration::from_secs(30 * 24 * 3_600);

/// One store, or what a change set sees of it. Cloning is cheap; clones are the same store.
#[derive(Debug, Clone)]
pub struct Store {
    pub(crate) inner: Arc<Inner>,
    /// The change set in which all is read and changed, if this is one.
    pub(crate) within: Option<Arc<OpenChangeSet>>,
    /// The moment of which all is read, if it is one.
    pub(crate) moment: Option<Arc<Moment>>,
}

#[derive(Debug)]
pub(crate) struct Inner {
    parts: Parts,
    pub(crate) ids: Ids,
    pub(crate) edges: Arc<Edges>,
    pub(crate) credentials: CredentialCache,
    pub(crate) attempts: Attempts,
    pub(crate) users: UserHints,
    pub(crate) contents: ContentHints,
    pub(crate) extents: ExtentCache,
    pub(crate) known: Shared,
    pub(crate) claims: Claims,
    pub(crate) pins: Pins,
    pub(crate) leases: Leases,
    /// The servers over a shared catalog, this one among them.
    pub(crate) servers: Servers,
    /// What the sweep is to look at soon.
    pub(crate) due: Due,
    /// When the store was opened.
    pub(crate) opened: Time,
    pub(crate) damage: Damage,
    pub(crate) moves: RunningJobs,
    /// Rings when a job that moves bytes was recorded.
    pub(crate) moving: Notify,
    /// Notified when a job that moves bytes has ended.
    pub(crate) moved: Notify,
    /// Notifies when a round of the scrub was requested.
    pub(crate) scrubbing: Notify,
    /// Rings when a job was recorded.
    pub(crate) work: Arc<Notify>,
    /// The turn of those contents that are read in turns to digest them.
    pub(crate) digesting: Semaphore,
    /// Frees space if a disk is nearly full.
    pub(crate) room: Room,
    /// Rings when a commit added to the change feed.
    pub(crate) changed: Notify,
    /// Whether the engine announces commits of other processes, from the first time that somebody waits for any.
    following: Once,
    pub(crate) change_sets: ChangeSets,
    latch: Latch,
    pub(crate) undecided: Undecided,
    lines: Lines,
}

/// How often a change is tried when others change the same things.
const ATTEMPTS: u32 = 256;
/// After this many pauses a change waits in a queue.
const PAUSES: u32 = 3;
/// The longest that the first pause may be.
const PAUSE: Duration = Duration::from_millis(1);

impl Store {
    pub(crate) fn assemble(parts: Parts) -> Self {
        let credentials = CredentialCache::new(&*parts.entropy);
        let (work, due, opened) = (Arc::new(Notify::new()), Due::default(), parts.clock.now());
        Self {
            within: None,
            moment: None,
            inner: Arc::new(Inner {
                parts,
                ids: Ids::default(),
                edges: Arc::default(),
                credentials,
                attempts: Attempts::default(),
                users: UserHints::default(),
                contents: ContentHints::default(),
                extents: ExtentCache::default(),
                known: Shared::default(),
                claims: Claims::new(due.clone()),
                pins: Pins::new(due.clone()),
                leases: Leases::default(),
                servers: Servers::default(),
                due,
                opened,
                damage: Damage::new(work.clone()),
                moves: RunningJobs::default(),
                moving: Notify::new(),
                moved: Notify::new(),
                scrubbing: Notify::new(),
                work,
                digesting: Semaphore::new(1),
                room: Room::default(),
                changed: Notify::new(),
                following: Once::new(),
                change_sets: ChangeSets::default(),
                latch: Latch::default(),
                undecided: Undecided::default(),
                lines: Lines::default(),
            }),
        }
    }

    pub(crate) fn parts(&self) -> &Parts {
        &self.inner.parts
    }

    /// The time on the clock of this store, which is that of its records.
    pub fn now(&self) -> Time {
        self.parts().clock.now()
    }

    pub(crate) fn random<const N: usize>(&self) -> [u8; N] {
        let mut bytes = [0; N];
        self.parts().entropy.fill(&mut bytes);
        bytes
    }

    /// Has commits of other processes ring, too.
    pub(crate) fn follow_others(&self) {
        self.inner.following.call_once(|| {
            let inner = Arc::downgrade(&self.inner);
            self.parts().engine.follow(Box::new(move || {
                if let Some(inner) = inner.upgrade() {
                    inner.changed.notify_waiters();
                }
            }));
        });
    }

    /// Whether changes are taken.
    pub fn health(&self) -> Health {
        self.inner.latch.health()
    }

    /// The error for contents that could not be written. After the first failure of a disk no more
    /// changes are taken; a full one is no failure.
    pub(crate) fn failed_write(&self, error: cenote_blob::Error) -> Error {
        match error {
            cenote_blob::Error::Io { .. } => self.inner.latch.close(error.into()),
            error => self.refused(error.into()),
        }
    }

    /// Has upkeep look for room if that is what was missing.
    fn refused(&self, error: Error) -> Error {
        if error.kind() == ErrorKind::NoSpace {
            self.inner.work.notify_one();
        }
        error
    }

    pub(crate) fn new_blob_id(&self) -> BlobId {
        BlobId::from_bytes(self.random())
    }

    /// An id that was never used before.
    pub(crate) fn new_id(&self) -> Result<u64> {
        self.inner.ids.next(&self.itself())
    }

    /// Runs work of the catalog, which blocks, on a thread that may block.
    #[expect(clippy::disallowed_methods, reason = "the one place where the store does this")]
    pub(crate) async fn blocking<T, F>(&self, work: F) -> Result<T>
    where
        T: Send + 'static,
        F: FnOnce(&Self) -> Result<T> + Send + 'static,
    {
        let store = self.clone();
        let done = tokio::task::spawn_blocking(move || work(&store)).await;
        done.unwrap_or_else(|panic| std::panic::resume_unwind(panic.into_panic()))
    }

    /// Runs a short piece of catalog work on this thread: some reads of hot data, or one commit. A
    /// hop to another thread and back would cost as much again. A runtime with several threads
    /// is notified, and moves its other work away.
    pub fn in_place<T>(&self, work: impl FnOnce(&Self) -> T) -> T {
        match Handle::try_current().map(|runtime| runtime.runtime_flavor()) {
            Ok(RuntimeFlavor::MultiThread) => tokio::task::block_in_place(|| work(self)),
            _ => work(self),
        }
    }

    /// A consistent view for one answer.
    pub(crate) fn view(&self) -> Result<View> {
        self.view_ahead(Wanted::default)
    }

    /// The same for an answer that is likely to need what is `wanted`.
    pub(crate) fn view_ahead(&self, mut wanted: impl FnMut() -> Wanted) -> Result<View> {
        if let Some(view) = self.view_in_moment(&mut wanted)? {
            return Ok(view);
        }
        // Before the snapshot: contents erased since then are in it, or are noticed to be missing.
        let moment = self.inner.pins.moment();
        let snapshot = match self.view_within()? {
            Some(within) => Box::new(within),
            None => self.snapshot_ahead(wanted)?,
        };
        Ok(View { snapshot, edges: self.inner.edges.clone(), moment, remembers: false })
    }

    /// A snapshot; over a shared catalog one that is [`Store::ahead`].
    pub(crate) fn snapshot_ahead(
        &self,
        wanted: impl FnOnce() -> Wanted,
    ) -> Result<Box<dyn Snapshot>> {
        match self.is_shared() {
            true => Ok(Box::new(self.ahead(wanted())?)),
            false => Ok(self.parts().engine.snapshot()?),
        }
    }

    /// A snapshot that lasts longer than a request.
    pub(crate) fn snapshot_to_keep(&self) -> Result<Box<dyn Snapshot>> {
        let snapshot = self.parts().engine.snapshot_to_keep()?;
        self.format_of(&*snapshot)?;
        Ok(snapshot)
    }

    /// A snapshot of a shared catalog with what is `wanted`, read in the round trip that it costs, and the format, which may have been
    /// changed through another server.
    pub(crate) fn ahead(&self, mut wanted: Wanted) -> Result<CachingSnapshot> {
        wanted.keys.push(keys::setting("format"));
        let ahead = CachingSnapshot::begin(&*self.parts().engine, &wanted)?;
        self.format_of(&ahead)?;
        Ok(ahead)
    }

    /// A view of a snapshot that was taken before.
    pub(crate) fn view_of(&self, snapshot: Box<dyn Snapshot>) -> View {
        let (edges, moment) = (self.inner.edges.clone(), self.inner.pins.moment());
        View { snapshot, edges, moment, remembers: false }
    }

    /// A transaction: on the snapshot of the moment that this is, if it lasts, or on a fresh one.
    fn begin(&self, wanted: impl FnOnce() -> Wanted) -> Result<Transaction> {
        let snapshot = match self.begun_moment() {
            Some(begun) => begun.read(&wanted()).map(|_| begun)?,
            None => self.snapshot_ahead(wanted)?,
        };
        let tx = Transaction::new(snapshot, self.inner.edges.clone(), self.now());
        if self.is_shared() {
            // It rests on the format, which was read with the snapshot.
            tx.value(&keys::setting("format"))?;
        }
        Ok(tx)
    }

    /// Runs `change` and commits what it wrote; again, on a fresh snapshot, while others change what it read: after a
    /// pause at first, and then in the line of what they change. Within a change set, it becomes part of that.
    pub(crate) fn transact<T>(
        &self,
        change: impl FnMut(&mut Transaction) -> Result<T>,
    ) -> Result<T> {
        self.transact_ahead(Wanted::default, change)
    }

    /// The same of a change that is likely to need what is `wanted`.
    pub(crate) fn transact_ahead<T>(
        &self,
        wanted: impl Fn() -> Wanted,
        mut change: impl FnMut(&mut Transaction) -> Result<T>,
    ) -> Result<T> {
        if let Some(held) = &self.within {
            return self.change_within(held, change);
        }
        let mut turn: Option<Turn<'_>> = None;
        for attempt in 0..ATTEMPTS {
            let mut tx = self.begin(&wanted)?;
            let answer = change(&mut tx)?;
            if tx.is_empty() {
                return Ok(answer);
            }
            let contested = match self.commit(tx, attempt)? {
                Committed::Yes => return Ok(answer),
                Committed::No => continue,
                Committed::Contested(key) => key,
            };
            if attempt < PAUSES {
                self.pause(attempt);
            } else if !turn.as_ref().is_some_and(|turn| turn.is_of(&contested)) {
                // Leaves one queue before joining another.
                drop(turn.take());
                turn = Some(self.inner.lines.join(contested));
            }
        }
        Err(Error::new(ErrorKind::Conflict, "too many concurrent changes to the same resource")
            .with_hint("try again"))
    }

    /// Some time up to 1 ms, and twice as much with each attempt, so that those who met do not meet again.
    fn pause(&self, attempt: u32) {
        let most = PAUSE.saturating_mul(1 << attempt).as_nanos() as u64;
        let some = u64::from_le_bytes(self.random()) % most.max(1);
        self.parts().clock.sleep(Duration::from_nanos(some));
    }

    fn commit(&self, mut tx: Transaction, attempt: u32) -> Result<Committed> {
        let is_left = describe::bind_late(&mut tx)?;
        describe::record_classes(&mut tx)?;
        quotas::settle(&mut tx)?;
        let batch = tx.into_batch(self.random());
        // The line is that of the key that changed, which a shared engine may not tell; a pause needs none.
        let evidence = (attempt >= PAUSES && self.is_shared()).then(|| batch.evidence.clone());
        let committed = self.commit_prepared(batch)?;
        if is_left {
            self.inner.work.notify_one();
        }
        Ok(match (committed, evidence) {
            (Committed::Contested(named), Some(evidence)) => {
                Committed::Contested(self.first_changed(&evidence, named))
            }
            (committed, _) => committed,
        })
    }

    /// The first key of `evidence` that differs now, since an engine that compares keys together cannot tell which it was at the
    /// commit. The one that it `named`, if none does any more.
    pub(crate) fn first_changed(&self, evidence: &[Evidence], named: Bytes) -> Bytes {
        if !self.is_shared() {
            return named;
        }
        let now = self.parts().engine.snapshot().ok();
        let found = now.and_then(|now| {
            let changed = |seen: &Evidence| seen.changed_in(&*now).ok().flatten();
            evidence.iter().find_map(changed)
        });
        found.unwrap_or(named)
    }

    /// Commits a batch, which has a token.
    pub(crate) fn commit_prepared(&self, batch: Batch) -> Result<Committed> {
        self.inner.latch.check()?;
        let (notes, size) = (garbage(&batch), batch.size() as u64);
        let is_announced = batch.writes.iter().any(|write| matches!(write, Write::Append(..)));
        let committed = self.commit_batch(batch)?;
        self.added(size);
        if committed == Committed::Yes && is_announced {
            self.inner.changed.notify_waiters();
        }
        if committed == Committed::Yes && !self.parts().engine.is_shared() {
            self.inner.due.add(notes);
        }
        Ok(committed)
    }

    fn commit_batch(&self, batch: Batch) -> Result<Committed> {
        let token = batch.token.unwrap_or_default();
        let bounds = batch.bounds.clone();
        let committed = self.parts().engine.commit(batch);
        self.moment.iter().for_each(|moment| moment.end());
        match committed {
            Ok(_) => Ok(Committed::Yes),
            Err(CommitError::Exceeded { key, held }) => Err(self.exceeded(&bounds, &key, held)?),
            Err(CommitError::Conflict { key }) => Ok(Committed::Contested(key)),
            Err(CommitError::Unknown(cause)) => match self.outcome(&token) {
                Ok(Some(_)) => Ok(Committed::Yes),
                Ok(None) => Ok(Committed::No),
                Err(_) => Err(self.undecided(token, CommitError::Unknown(cause).into())),
            },
            Err(error @ CommitError::Latched) => Err(self.inner.latch.close(error.into())),
            Err(error) => Err(self.refused(error.into())),
        }
    }
}

impl Inner {
    /// Takes no more changes after a write failed.
    pub(crate) fn latch(&self, error: Error) -> Error {
        self.latch.close(error)
    }

    /// Takes no more changes.
    pub(crate) fn freeze(&self, reason: &str) {
        self.latch.freeze(reason);
    }

    /// Refuses changes after a write failed.
    pub(crate) fn latch_check(&self) -> Result<()> {
        self.latch.check()
    }
}

/// The notes of contents that lose a reference by a batch.
fn garbage(batch: &Batch) -> Vec<Bytes> {
    let range = keys::all_garbage();
    let notes = batch.writes.iter().filter_map(|write| match write {
        Write::Put(key, _) if range.contains(key) => Some(key.clone()),
        _ => None,
    });
    notes.collect()
}

#[derive(Debug, PartialEq, Eq)]
pub(crate) enum Committed {
    Yes,
    /// Nothing happened; it may be tried again.
    No,
    /// Nothing happened, since the value of this key, or of another one that was read, was changed concurrently.
    Contested(Bytes),
}
