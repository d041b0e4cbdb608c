//! A store in memory with its own clock and random numbers, and short methods for tests.

use std::collections::{HashMap, HashSet};
use std::ops::Range;
use std::sync::atomic::{AtomicI64, AtomicU64, Ordering};
use std::sync::{Arc, Mutex, OnceLock};
use std::time::Duration;

use bytes::Bytes;
use cenote_blob::faulty::Faults;
use cenote_blob::{Hasher, Outside, Place};
use cenote_kv::{Batch, Engine, KeyRange, MemoryEngine, Row, ScanOptions};
use cenote_store::{
    AccessChange, At, AttributeChange, Avu, AvuChange, Caller, Clock, Conditions, CopyOptions,
    CreateOptions, Draft, Entropy, Error, ErrorKind, Expected, Graph, Limits, ListOptions,
    MoveOptions, NewPlace, NewUser, NewVersion, Parts, PlaceChange, PlaceId, PlaceOpener,
    PlaceState, PlaceStatus, PutOptions, ReadOptions, RemoveOptions, ReplicaView, Result, Rights,
    Role, Scope, Stat, Statement, Store, StorePath, Time, TrashItem, TrashOptions, Trim, Version,
    Vocabulary, Where,
};
use futures_util::stream;
use proptest::prelude::*;
use proptest::sample::{select, subsequence};

/// A clock that is advanced explicitly.
#[derive(Debug)]
pub(crate) struct ManualClock(AtomicI64);

impl Clock for ManualClock {
    fn now(&self) -> Time {
        Time::from_nanos(self.0.load(Ordering::SeqCst))
    }

    fn sleep(&self, time: Duration) {
        self.advance(time);
        std::thread::yield_now();
    }
}

impl ManualClock {
    pub(crate) fn advance(&self, by: Duration) {
        self.0.fetch_add(by.as_nanos() as i64, Ordering::SeqCst);
    }
}

/// Bytes that repeat with the same seed.
#[derive(Debug)]
pub(crate) struct SeededEntropy(AtomicU64);

impl SeededEntropy {
    pub(crate) fn new(seed: u64) -> Self {
        Self(AtomicU64::new(seed))
    }
}

impl Entropy for SeededEntropy {
    fn fill(&self, buffer: &mut [u8]) {
        for chunk in buffer.chunks_mut(8) {
            let state = self.0.fetch_add(0x9e37_79b9_7f4a_7c15, Ordering::SeqCst);
            let mut mixed = (state ^ (state >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
            mixed = (mixed ^ (mixed >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
            chunk.copy_from_slice(&(mixed ^ (mixed >> 31)).to_le_bytes()[..chunk.len()]);
        }
    }
}

/// Contents above this many bytes are blobs here, so that tests need no large ones.
pub(crate) const INLINE: usize = 64;
pub(crate) const LIMITS: Limits = Limits { inline: INLINE, content: 1 << 30, parts: 100_000 };
pub(crate) const ADMIN: &str = "root";
pub(crate) const PASSWORD: &str = "correct horse";

pub(crate) struct World {
    pub(crate) store: Store,
    pub(crate) admin: Caller,
    pub(crate) clock: Arc<ManualClock>,
    pub(crate) parts: Parts,
    pub(crate) opener: Arc<MemoryOpener>,
}

/// Runs a future to completion.
pub(crate) fn run<T>(work: impl Future<Output = T>) -> T {
    thread_local! {
        static RUNTIME: tokio::runtime::Runtime =
            tokio::runtime::Builder::new_current_thread().enable_time().build().unwrap();
    }
    RUNTIME.with(|runtime| runtime.block_on(work))
}

pub(crate) fn parts(engine: impl Engine, place: Place) -> (Parts, Arc<ManualClock>) {
    let clock = Arc::new(ManualClock(AtomicI64::new(1_700_000_000_000_000_000)));
    let mut parts = Parts::new(engine, place);
    parts.clock = clock.clone();
    parts.entropy = Arc::new(SeededEntropy::new(1));
    parts.limits = LIMITS;
    (parts, clock)
}

/// The rows of a fresh store, cached: creating one costs an Argon2 computation.
fn fresh_rows() -> &'static [Row] {
    static ROWS: OnceLock<Vec<Row>> = OnceLock::new();
    ROWS.get_or_init(|| {
        let engine = MemoryEngine::new();
        let (parts, _) = parts(engine.clone(), Place::memory("main"));
        Store::create_new(parts, ADMIN, PASSWORD).unwrap();
        rows(&engine)
    })
}

/// All rows of an engine.
pub(crate) fn rows(engine: &dyn Engine) -> Vec<Row> {
    let view = engine.snapshot().unwrap();
    view.scan(&KeyRange::all(), ScanOptions::default()).collect::<Result<_, _>>().unwrap()
}

/// A fresh store in an empty engine.
pub(crate) fn world_on(engine: impl Engine, place: Place) -> World {
    let mut batch = Batch::default();
    for (key, value) in fresh_rows() {
        batch.put(key.clone(), value.clone());
    }
    engine.commit(batch).unwrap();
    let (parts, clock) = parts(engine, place);
    World::open(parts, clock)
}

/// Places in memory that live as long as this, by their addresses; files anywhere may be registered.
#[derive(Debug, Default)]
pub(crate) struct MemoryOpener {
    pub(crate) faults: Faults,
    places: Mutex<HashMap<String, Place>>,
    /// Addresses that currently cannot be opened.
    pub(crate) away: Mutex<HashSet<String>>,
}

impl PlaceOpener for MemoryOpener {
    fn open(&self, name: &str, address: &str) -> Result<Place, cenote_blob::Error> {
        if !address.starts_with("memory:") || self.away.lock().unwrap().contains(address) {
            let source = format!("nothing is at {address}").into();
            return Err(cenote_blob::Error::Settings { place: name.to_owned(), source });
        }
        let mut places = self.places.lock().unwrap();
        let new = || self.faults.into_place(Place::memory(name));
        Ok(places.entry(address.to_owned()).or_insert_with(new).clone())
    }

    fn may_add(&self, address: &str) -> bool {
        !address.starts_with("memory:///forbidden")
    }

    fn overlap(&self, address: &str, other: &str) -> bool {
        address == other
    }

    fn is_inside_store(&self, _: &str) -> bool {
        false
    }

    fn outside(&self, name: &str, path: &str) -> Option<Outside> {
        Outside::new(name, path).ok()
    }
}

/// A fresh store in memory that opens places in memory, with `a` and `b` already added.
pub(crate) fn world_with_places() -> World {
    world().with_places(Faults::default())
}

/// A fresh store in memory.
pub(crate) fn world() -> World {
    world_on(MemoryEngine::new(), Place::memory("main"))
}

pub(crate) fn path(path: &str) -> StorePath {
    path.parse().unwrap()
}

pub(crate) fn at(at: &str) -> At {
    At::Path(path(at))
}

pub(crate) fn once(bytes: &[u8]) -> impl futures_core::Stream<Item = Result<Bytes, Error>> + use<> {
    stream::iter([Ok(Bytes::copy_from_slice(bytes))])
}

/// Bytes that do not compress, and differ with the seed.
pub(crate) fn noise(size: usize, seed: u64) -> Vec<u8> {
    let mut bytes = vec![0; size];
    SeededEntropy::new(seed.wrapping_mul(0x1234_5678_9abc_def1)).fill(&mut bytes);
    bytes
}

pub(crate) fn crc64nvme(bytes: &[u8]) -> u64 {
    let mut hasher = Hasher::default();
    hasher.update(bytes);
    hasher.finish().crc64nvme
}

pub(crate) fn kind<T: std::fmt::Debug>(result: Result<T>) -> ErrorKind {
    result.expect_err("it should be refused").kind()
}

pub(crate) fn avu(attribute: &str, value: &str) -> Avu {
    Avu { attribute: attribute.into(), value: value.into(), unit: None }
}

impl World {
    pub(crate) fn open(parts: Parts, clock: Arc<ManualClock>) -> Self {
        let store = Store::open_existing(parts.clone()).unwrap();
        let (id, _) = store.person_named(ADMIN).unwrap();
        let admin = store.caller_for(id).unwrap();
        Self { store, admin, clock, parts, opener: Arc::default() }
    }

    /// The same store, as after a restart.
    pub(crate) fn reopened(&self) -> Self {
        let reopened = Self::open(self.parts.clone(), self.clock.clone());
        Self { opener: self.opener.clone(), ..reopened }
    }

    /// The same with other limits.
    pub(crate) fn with_limits(mut self, limits: Limits) -> Self {
        self.parts.limits = limits;
        self.reopened()
    }

    /// The same with places in memory, `a` and `b`, that have these faults.
    pub(crate) fn with_places(mut self, faults: Faults) -> Self {
        self.opener = Arc::new(MemoryOpener { faults, ..MemoryOpener::default() });
        self.parts.opener = self.opener.clone();
        let world = self.reopened();
        for name in ["a", "b"] {
            world.add_place(name);
        }
        world
    }

    pub(crate) fn add_place(&self, name: &str) -> PlaceId {
        let address = Some(format!("memory:///{name}"));
        let place = NewPlace { name: name.into(), address, ..NewPlace::default() };
        self.store.add_place(&self.admin, &place).unwrap()
    }

    /// A group with these members.
    pub(crate) fn add_group(&self, name: &str, members: &[&str]) -> PlaceId {
        let group = NewPlace { name: name.into(), ..NewPlace::default() };
        let id = self.store.add_place(&self.admin, &group).unwrap();
        for member in members {
            let change = PlaceChange { parent: Some(Some(id)), ..PlaceChange::default() };
            self.store.change_place(&self.admin, self.place(member), &change).unwrap();
        }
        id
    }

    pub(crate) fn place(&self, name: &str) -> PlaceId {
        self.store.place_named(&self.admin, name).unwrap()
    }

    pub(crate) fn status_of(&self, name: &str) -> PlaceStatus {
        let mut places = self.store.places().unwrap().into_iter();
        places.find(|place| place.info.name == name).unwrap()
    }

    pub(crate) fn set_state(&self, name: &str, state: PlaceState) {
        let change = PlaceChange { state: Some(state), ..PlaceChange::default() };
        self.store.change_place(&self.admin, self.place(name), &change).unwrap();
    }

    /// The place itself, behind the store's back.
    pub(crate) fn opened(&self, name: &str) -> Place {
        match name {
            "main" => self.parts.main.clone(),
            name => self.opener.open(name, &format!("memory:///{name}")).unwrap(),
        }
    }

    /// The actual number of blobs in a place.
    pub(crate) fn blobs_in(&self, name: &str) -> usize {
        use futures_util::StreamExt;
        run(self.opened(name).list().count())
    }

    pub(crate) fn put_in(&self, place: &str, to: &str, bytes: &[u8]) -> Stat {
        let options = PutOptions { place: Some(self.place(place)), ..PutOptions::default() };
        self.try_put(&self.admin, to, bytes, options).unwrap()
    }

    pub(crate) fn replicate(&self, what: &str, place: &str) -> Result<Stat> {
        run(self.store.replicate(&self.admin, &at(what), self.place(place)))
    }

    pub(crate) fn trim(&self, what: &str, replica: u32) -> Result<Vec<u32>> {
        let trim = Trim { replica: Some(replica), ..Trim::default() };
        run(self.store.trim(&self.admin, &at(what), &trim))
    }

    /// Number, place and goodness of each replica, like `0 main, 1 a stale`.
    pub(crate) fn replicas(&self, of: &str) -> String {
        let replicas = self.store.replicas(&self.admin, &at(of)).unwrap();
        let line = |replica: &ReplicaView| {
            let stale = if replica.good { "" } else { " stale" };
            format!("{} {}{stale}", replica.number, replica.place_name)
        };
        replicas.iter().map(line).collect::<Vec<_>>().join(", ")
    }

    pub(crate) fn read_replica(&self, from: &str, number: u32) -> Result<Vec<u8>> {
        let options = ReadOptions { replica: Some(number), ..ReadOptions::default() };
        let opened = self.store.open(&self.admin, &at(from), &options)?;
        Ok(run(opened.read_all())?.to_vec())
    }

    pub(crate) fn user(&self, name: &str) -> Caller {
        let user = NewUser { name: name.into(), password: None, role: Role::User };
        let id = self.store.add_user(&self.admin, &user).unwrap();
        self.store.caller_for(id).unwrap()
    }

    pub(crate) fn put(&self, to: &str, bytes: &[u8]) -> Stat {
        self.try_put(&self.admin, to, bytes, PutOptions::default()).unwrap()
    }

    pub(crate) fn try_put(
        &self,
        caller: &Caller,
        to: &str,
        bytes: &[u8],
        options: PutOptions,
    ) -> Result<Stat> {
        run(self.store.put(caller, path(to), once(bytes), options))
    }

    /// Keeps the current state as a version.
    pub(crate) fn try_keep(&self, what: &str, label: Option<&str>) -> Result<Version> {
        let new = NewVersion { label: label.map(str::to_owned), ..NewVersion::default() };
        self.store.keep_version(&self.admin, &at(what), &new)
    }

    pub(crate) fn read(&self, from: &str) -> Vec<u8> {
        self.try_read(&self.admin, from).unwrap()
    }

    pub(crate) fn try_read(&self, caller: &Caller, from: &str) -> Result<Vec<u8>> {
        let opened = self.store.open(caller, &at(from), &ReadOptions::default())?;
        Ok(run(opened.read_all())?.to_vec())
    }

    /// A range, each chunk dropped before the next is requested, as a socket does.
    pub(crate) fn read_range(&self, from: &str, range: Range<u64>) -> Vec<u8> {
        use futures_util::StreamExt;
        let opened = self.store.open(&self.admin, &at(from), &ReadOptions::default()).unwrap();
        run(async {
            let (mut stream, mut bytes) = (opened.bytes(range).unwrap(), Vec::new());
            while let Some(chunk) = stream.next().await {
                bytes.extend_from_slice(&chunk.unwrap());
            }
            bytes
        })
    }

    pub(crate) fn read_version(&self, from: &str, version: u64) -> Vec<u8> {
        let options = ReadOptions { version: Some(version), ..ReadOptions::default() };
        let opened = self.store.open(&self.admin, &at(from), &options).unwrap();
        run(opened.read_all()).unwrap().to_vec()
    }

    pub(crate) fn mkdir(&self, to: &str) -> Stat {
        self.try_mkdir(&self.admin, to).unwrap()
    }

    pub(crate) fn try_mkdir(&self, caller: &Caller, to: &str) -> Result<Stat> {
        self.store.create(caller, &path(to), Draft::Collection, CreateOptions::default())
    }

    pub(crate) fn stat(&self, from: &str) -> Result<Stat> {
        self.store.stat(&self.admin, &at(from))
    }

    pub(crate) fn mv(&self, from: &str, to: &str) -> Result<Stat> {
        self.store.relocate(&self.admin, &at(from), &path(to), MoveOptions::default())
    }

    pub(crate) fn cp(&self, from: &str, to: &str) -> Result<Stat> {
        self.store.copy(&self.admin, &at(from), &path(to), CopyOptions::default())
    }

    pub(crate) fn rm(&self, from: &str) -> Result<()> {
        self.store.remove(&self.admin, &at(from), &RemoveOptions::default()).map(drop)
    }

    pub(crate) fn grant(&self, on: &str, to: &str, rights: Rights, scope: Scope) {
        let grant = [AccessChange::Grant(to.into(), rights.into(), scope)];
        self.store.change_access(&self.admin, &at(on), &grant).unwrap();
    }

    pub(crate) fn rm_all(&self, from: &str) -> Result<()> {
        let options = RemoveOptions { recursive: true, versions: true, ..RemoveOptions::default() };
        self.store.remove(&self.admin, &at(from), &options).map(drop)
    }

    /// Keeps resources removed below a collection for this many seconds.
    pub(crate) fn keep_removed(&self, below: &str, seconds: u64) {
        let keep_removed = Some(Some(seconds));
        let change = AttributeChange { keep_removed, ..AttributeChange::default() };
        self.store.set_attributes(&self.admin, &at(below), &change).unwrap();
    }

    /// Keeps at most this many bytes of removed resources below.
    pub(crate) fn keep_removed_bytes(&self, below: &str, bytes: Option<u64>) {
        let change =
            AttributeChange { keep_removed_bytes: Some(bytes), ..AttributeChange::default() };
        self.store.set_attributes(&self.admin, &at(below), &change).unwrap();
    }

    pub(crate) fn store_now(&self) -> Time {
        self.clock.now()
    }

    /// Removes a tree into the trash.
    pub(crate) fn discard(&self, what: &str) -> TrashItem {
        let options = RemoveOptions { recursive: true, ..RemoveOptions::default() };
        self.store.remove(&self.admin, &at(what), &options).unwrap().expect("it is kept")
    }

    pub(crate) fn trash_of(&self, caller: &Caller) -> Vec<TrashItem> {
        self.store.trash(caller, &TrashOptions::default()).unwrap().items
    }

    pub(crate) fn names(&self, of: &str) -> Vec<String> {
        let page = self.store.list(&self.admin, &at(of), &ListOptions::default()).unwrap();
        page.entries.iter().map(|entry| entry.resource.name.clone()).collect()
    }

    pub(crate) fn write_at(&self, to: &str, position: Where, bytes: &[u8]) -> Result<Stat> {
        let (to, conditions, expected) = (at(to), Conditions::default(), Expected::default());
        run(self.store.write_at(&self.admin, &to, position, once(bytes), (&conditions, &expected)))
    }

    pub(crate) fn truncate(&self, to: &str, size: u64) -> Result<Stat> {
        self.store.truncate(&self.admin, &at(to), size, &Conditions::default())
    }

    pub(crate) fn describe(&self, what: &str, attribute: &str, value: &str) -> Stat {
        let change = [AvuChange::Add(avu(attribute, value))];
        self.store.change_avus(&self.admin, &at(what), &change, &Conditions::default()).unwrap()
    }

    /// Adds statements to a description.
    pub(crate) fn state(&self, what: &str, statements: &[Statement]) -> Stat {
        let add = |old: &Graph| Ok(old.iter().chain(statements).cloned().collect());
        self.store.change_graph(&self.admin, &at(what), &Conditions::default(), add).unwrap()
    }

    pub(crate) fn rows(&self) -> Vec<Row> {
        rows(&*self.parts.engine)
    }

    /// The keys of one table of the catalog.
    pub(crate) fn table(&self, letter: u8) -> Vec<Bytes> {
        let rows = self.rows().into_iter().map(|(key, _)| key);
        rows.filter(|key| key.first() == Some(&letter)).collect()
    }

    /// Moves the clock past every grace period and runs all sweeps.
    pub(crate) fn sweep(&self) {
        self.store.run_jobs().unwrap();
        self.clock.advance(Duration::from_secs(3600));
        // Over a shared catalog only a server that has shown itself lately deletes copies.
        self.store.beat().unwrap();
        run(self.store.sweep_contents(Duration::from_secs(60))).unwrap();
    }
}

/// This many cases by default; `PROPTEST_CASES` overrides it.
pub(crate) fn cases(default: u32) -> proptest::test_runner::Config {
    let config = proptest::test_runner::Config::default();
    match std::env::var_os("PROPTEST_CASES") {
        Some(_) => config,
        None => proptest::test_runner::Config { cases: default, ..config },
    }
}

/// The rights one by one.
pub(crate) fn each_right() -> impl Iterator<Item = Rights> {
    Rights::ALL.each()
}

/// Any set of rights, with levels more often than by chance.
pub(crate) fn any_rights() -> impl Strategy<Value = Rights> {
    let levels: Vec<Rights> = Vocabulary::IRODS.names().map(|(_, rights)| rights).collect();
    let rights: Vec<Rights> = each_right().collect();
    let sets = subsequence(rights, 0..=11).prop_map(|rights| rights.into_iter().collect());
    prop_oneof![select(levels), sets]
}

/// A store with at least one record of each kind in it.
pub(crate) fn populated(world: &World) {
    use cenote_store::{
        AttributeChange, NewTicket, NewToken, Retention, StageFrom, UploadOptions, Versioning,
    };
    let (store, admin) = (&world.store, &world.admin);
    for folder in ["/c", "/c/sub", "/gone"] {
        world.mkdir(folder);
    }
    let versioning = Some(Some(Versioning::EachChange(Retention::default())));
    let change = AttributeChange { versioning, ..AttributeChange::default() };
    store.set_attributes(admin, &at("/c"), &change).unwrap();
    world.put("/c/x", b"old");
    world.put("/c/x", b"new");
    world.describe("/c/x", "k", "v");
    world.put("/c/sub/y", b"yyy");
    world.put("/c/big", &noise(1_000, 1));
    world.cp("/c/big", "/copy").unwrap();
    world.put("/large", &noise(200_000, 1));
    world.put("/larger", &noise(300_000, 1));
    world.put("/patched", &noise(1_000, 2));
    world.write_at("/patched", Where::Append, b"and more").unwrap();
    world.user("u");
    store.add_group(admin, "lab").unwrap();
    store.change_group(admin, "lab", &["u".into()], &[]).unwrap();
    let rights = cenote_store::Rights::OWN;
    let token = NewToken { label: "t".into(), rights, ..NewToken::default() };
    store.add_token(admin, &token).unwrap();
    store.add_ticket(admin, &at("/c/x"), &NewTicket::default()).unwrap();
    let upload = store.begin_upload(admin, path("/up"), &UploadOptions::default()).unwrap().id;
    for n in 0..2u64 {
        let part = once(&noise(100, n));
        run(store.put_part(admin, upload, n * 100, part, &Expected::default())).unwrap();
    }
    world.put("/staged", &noise(300, 4));
    let stage = UploadOptions { stage: Some(StageFrom::Object), ..UploadOptions::default() };
    let stage = store.begin_upload(admin, path("/staged"), &stage).unwrap().id;
    for (at, length) in [(10, 20), (250, 100)] {
        let bytes = once(&noise(length, 5));
        run(store.write_stage(admin, stage, Where::Offset(at), bytes, &Expected::default()))
            .unwrap();
    }
    world.put("/gone/z", b"z");
    world.rm_all("/gone").unwrap();
    let lab =
        [cenote_store::AccessChange::Grant("lab".into(), rights.into(), cenote_store::Scope::This)];
    store.change_access(admin, &at("/c/sub/y"), &lab).unwrap();
}

/// The findings of a check.
pub(crate) fn findings(
    store: &Store,
    options: cenote_store::CheckOptions,
) -> Vec<cenote_store::Finding> {
    use futures_util::TryStreamExt;
    run(async { store.check(options).try_collect().await }).unwrap()
}

/// Fails if a check has findings.
pub(crate) fn assert_clean(store: &Store) {
    let found = findings(store, cenote_store::CheckOptions::default());
    let lines: Vec<_> = found.iter().map(ToString::to_string).collect();
    assert!(lines.is_empty(), "{}", lines.join("\n"));
}
