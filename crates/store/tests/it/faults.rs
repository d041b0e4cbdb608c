//! Every operation of the engine and of the contents' place fails once during every mutation: acknowledged changes are
//! present, refused ones are not, none is partial, and a check is clean.

use std::sync::Arc;
use std::time::Duration;

use cenote_blob::Place;
use cenote_blob::faulty::{Fault as PlaceFault, Faults};
use cenote_kv::{
    Engine, Fault, FaultyEngine, FjallEngine, FjallOptions, MemoryEngine, PostgresEngine,
};
use cenote_store::{
    AccessChange, At, AttributeChange, AvuChange, BatchItem, BatchWhat, Conditions, CopyOptions,
    Error, ErrorKind, Expected, Health, JobStatus, MoveOptions, NewPlace, NewTicket, NewToken,
    NewUser, PlaceChange, PlaceId, Prune, PutOptions, QuotaTarget, Ranges, ReadOptions, Received,
    Registration, RemoveOptions, ReplicaChange, ResourceId, RestoreOptions, Result, Retention,
    Rights, Role, Scope, StageFrom, TicketUse, UploadId, UploadOptions, Where,
};

use crate::postgres_server::fresh_schema;
use crate::quotas::{bytes, hard};
use crate::world::{
    World, assert_clean, at, avu, kind, noise, once, path, populated, run, world_on,
};

/// A mutation, by name; `true` if it is one commit, and therefore atomic.
type Mutation = (&'static str, bool, fn(&World) -> Result<()>);

const MUTATIONS: &[Mutation] = &[
    ("create", true, |w| w.try_mkdir(&w.admin, "/new").map(drop)),
    ("put small", true, |w| put(w, "/new", 10)),
    ("put big", true, |w| put(w, "/new", 3_000_000)),
    ("replace", true, |w| put(w, "/c/x", 500)),
    ("put with parents", true, |w| {
        let options = PutOptions { parents: true, ..PutOptions::default() };
        w.try_put(&w.admin, "/n/e/w", b"x", options).map(drop)
    }),
    ("patch small", true, |w| w.write_at("/patched", Where::Offset(3), b"patch").map(drop)),
    ("patch big", true, |w| w.write_at("/patched", Where::Append, &noise(500, 3)).map(drop)),
    ("patch of what is shared", true, |w| w.write_at("/copy", Where::Offset(3), b"p").map(drop)),
    ("patch and fold", true, |w| w.write_at("/full", Where::Append, b"the last").map(drop)),
    ("truncate", true, |w| w.truncate("/c/big", 10).map(drop)),
    ("digest", true, |w| run(w.store.compute_digest(w.stat("/patched")?.id))),
    ("move", true, |w| w.mv("/c", "/moved").map(drop)),
    ("move over", true, |w| {
        let options = MoveOptions { replace: true, versions: true, ..MoveOptions::default() };
        w.store.relocate(&w.admin, &at("/copy"), &path("/c/x"), options).map(drop)
    }),
    ("copy", true, |w| w.cp("/c/big", "/new").map(drop)),
    ("copy over", true, |w| {
        let options = CopyOptions { replace: true, ..CopyOptions::default() };
        w.store.copy(&w.admin, &at("/c/x"), &path("/copy"), options).map(drop)
    }),
    ("copy a tree", false, |w| {
        let options = CopyOptions { recursive: true, replace: true, ..CopyOptions::default() };
        w.store.copy(&w.admin, &at("/c"), &path("/tree"), options).map(drop)
    }),
    ("remove", true, |w| w.rm("/copy")),
    ("remove a tree", true, |w| w.rm_all("/c")),
    ("remove a tree that is kept", true, |w| w.rm_all("/kept/tree")),
    ("restore", true, |w| {
        let options = RestoreOptions::default();
        w.store.restore_removed(&w.admin, TRASHED.get(), &options).map(drop)
    }),
    ("empty the trash of one", true, |w| w.store.empty_trash_of(&w.admin, TRASHED.get())),
    ("empty the trash", false, |w| w.store.empty_trash(&w.admin).map(drop)),
    ("purge the trash", false, |w| {
        w.clock.advance(Duration::from_secs(3_600));
        w.store.purge_trash().map(drop)
    }),
    ("describe", true, |w| {
        let change = [AvuChange::Set(avu("k", "w")), AvuChange::Add(avu("more", "1"))];
        w.store.change_avus(&w.admin, &at("/c/x"), &change, &Conditions::default()).map(drop)
    }),
    ("copy a description", true, |w| {
        let any = Conditions::default();
        w.store.copy_description(&w.admin, &at("/c/x"), &at("/copy"), &any).map(drop)
    }),
    ("grant", true, |w| {
        let grant = [AccessChange::Grant("lab".into(), Rights::READ_OBJECT.into(), Scope::Subtree)];
        w.store.change_access(&w.admin, &at("/c"), &grant).map(drop)
    }),
    ("set attributes", true, |w| {
        let change = AttributeChange { mode: Some(0o600), ..AttributeChange::default() };
        w.store.set_attributes(&w.admin, &at("/c/x"), &change).map(drop)
    }),
    ("begin an upload", true, |w| {
        w.store.begin_upload(&w.admin, path("/new"), &UploadOptions::default()).map(drop)
    }),
    ("put a part", true, |w| {
        let expected = Expected::default();
        run(w.store.put_part(&w.admin, UPLOAD.get(), 200, once(&noise(300, 5)), &expected))
            .map(drop)
    }),
    ("replace a part", true, |w| {
        let expected = Expected::default();
        run(w.store.put_part(&w.admin, UPLOAD.get(), 0, once(&noise(100, 6)), &expected)).map(drop)
    }),
    ("complete an upload", true, |w| {
        run(w.store.complete_upload(&w.admin, UPLOAD.get(), None)).map(drop)
    }),
    ("give an upload up", true, |w| w.store.abandon_upload(&w.admin, UPLOAD.get())),
    ("begin a stage", true, |w| {
        let stage = Some(StageFrom::Object);
        let options = UploadOptions { stage, ..UploadOptions::default() };
        w.store.begin_upload(&w.admin, path("/c/big"), &options).map(drop)
    }),
    ("write to a stage", true, |w| write_stage(w, STAGE.get(), &noise(500, 3))),
    ("write to a stage and fold", true, |w| write_stage(w, FULL_STAGE.get(), b"the last")),
    ("write ranges to a stage and fold", true, |w| {
        let to = (0..70).map(|n| n * 9..n * 9 + 8).collect();
        let (ranges, expected) = (Ranges::new(to).unwrap(), Expected::default());
        let bytes = once(&noise(560, 4));
        run(w.store.write_stage(&w.admin, STAGE.get(), ranges, bytes, &expected)).map(drop)
    }),
    ("truncate a stage", true, |w| {
        run(w.store.truncate_stage(&w.admin, STAGE.get(), 100)).map(drop)
    }),
    ("publish a stage", true, |w| {
        run(w.store.complete_upload(&w.admin, STAGE.get(), None)).map(drop)
    }),
    ("publish a stage and fold", true, |w| {
        run(w.store.complete_upload(&w.admin, FULL_STAGE.get(), None)).map(drop)
    }),
    ("give a stage up", true, |w| w.store.abandon_upload(&w.admin, STAGE.get())),
    ("keep a version", true, |w| w.try_keep("/c/big", Some("kept")).map(drop)),
    ("restore a version", true, |w| {
        let version = w.store.versions(&w.admin, &at("/c/x"))?[0].version;
        w.store.restore_version(&w.admin, &at("/c/x"), version).map(drop)
    }),
    ("prune versions", true, |w| {
        w.store.prune_versions(&w.admin, &at("/c/x"), &Prune::All(Retention::last(0))).map(drop)
    }),
    ("run jobs", false, |w| w.store.run_jobs().map(drop)),
    ("sweep contents", false, |w| {
        w.clock.advance(Duration::from_secs(3_600));
        run(w.store.sweep_contents(Duration::from_secs(60))).map(drop)
    }),
    ("sweep uploads", false, |w| {
        w.clock.advance(Duration::from_secs(30 * 24 * 3_600));
        w.store.sweep_uploads().map(drop)
    }),
    ("put a batch", true, |w| {
        let large = run(w.store.receive(once(&noise(400, 7)), &Expected::default()))?;
        let small = Received::inline(b"small", &Expected::default())?;
        let item =
            |to: &str, what| BatchItem { path: path(to), what, options: PutOptions::default() };
        let items = [
            item("/batch", BatchWhat::Collection),
            item("/batch/large", BatchWhat::Object(large.into())),
            item("/batch/small", BatchWhat::Object(small.into())),
        ];
        w.store.publish_many(&w.admin, &items)?.into_iter().try_for_each(|one| one.map(drop))
    }),
    ("commit a change set", true, |w| {
        let id = w.store.begin_change_set(&w.admin, None)?.id;
        in_a_set(w, id)?;
        run(w.store.commit_change_set(&w.admin, id)).map(drop)
    }),
    ("drop a change set", false, |w| {
        let id = w.store.begin_change_set(&w.admin, None)?.id;
        in_a_set(w, id)?;
        w.store.drop_change_set(&w.admin, id)
    }),
    ("set a quota", false, |w| {
        w.store.set_quota(&w.admin, &quota("/c/sub"), hard(bytes(1 << 30))).map(drop)
    }),
    ("remove a quota", true, |w| w.store.remove_quota(&w.admin, &quota("/c"))),
    ("move a tree over the edge of a quota", true, |w| w.mv("/kept/tree", "/c/tree").map(drop)),
    ("restore over the edge of a quota", true, |w| {
        let options = RestoreOptions { to: Some(path("/c/gone")), parents: false };
        w.store.restore_removed(&w.admin, TRASHED.get(), &options).map(drop)
    }),
    ("add a user", true, |w| {
        let user = NewUser { name: "new".into(), password: None, role: Role::User };
        w.store.add_user(&w.admin, &user).map(drop)
    }),
    ("set a role", true, |w| w.store.set_role(&w.admin, "u", Role::GroupAdmin)),
    ("leave a group", true, |w| w.store.change_group(&w.admin, "lab", &[], &["u".into()])),
    ("remove a user", true, |w| w.store.remove_person(&w.admin, "u")),
    ("add a token", true, |w| {
        let token = NewToken { label: "t".into(), rights: Rights::OWN, ..NewToken::default() };
        w.store.add_token(&w.admin, &token).map(drop)
    }),
    ("revoke a token", true, |w| {
        let id = w.store.tokens(&w.admin)?[0].id;
        w.store.revoke_token(&w.admin, None, id)
    }),
    ("add a ticket", true, |w| {
        w.store.add_ticket(&w.admin, &at("/c"), &NewTicket::default()).map(drop)
    }),
    ("use a ticket", true, |w| {
        let ticket = TICKET.with_borrow(String::clone);
        w.store.use_ticket(&w.admin, &ticket, "host", TicketUse::Write(5)).map(drop)
    }),
    ("put in a group", true, |w| {
        let options = PutOptions { place: Some(w.place("pair")), ..PutOptions::default() };
        w.try_put(&w.admin, "/c/x", &noise(500, 9), options).map(drop)
    }),
    ("replicate small", true, |w| w.replicate("/c/x", "a").map(drop)),
    ("replicate big", true, |w| w.replicate("/c/big", "a").map(drop)),
    ("replicate what is stale", true, |w| w.replicate("/stale", "a").map(drop)),
    ("write to what is replicated", true, |w| {
        w.write_at("/replicated", Where::Append, &noise(500, 3)).map(drop)
    }),
    ("trim", true, |w| w.trim("/replicated", 0).map(drop)),
    ("trim what is stale", true, |w| w.trim("/stale", 1).map(drop)),
    ("say which replica is right", true, |w| {
        let right = ReplicaChange { good: Some(true), ..ReplicaChange::default() };
        w.store.change_replica(&w.admin, &at("/stale"), 1, &right).map(drop)
    }),
    ("register", true, |w| {
        let file = Registration {
            place: w.place("a"),
            file: concat!(env!("CARGO_MANIFEST_DIR"), "/Cargo.toml").into(),
            size: None,
            sha256: None,
            additional: true,
            replace: false,
        };
        run(w.store.register(&w.admin, &path("/replicated"), &file)).map(drop)
    }),
    ("replicate a tree", false, |w| {
        let job = w.store.replicate_tree(&w.admin, &at("/c"), w.place("b"))?;
        finished(w, &job)
    }),
    ("drain", false, |w| {
        let job = w.store.drain_place(&w.admin, w.place("a"), Some(w.place("b")))?;
        finished(w, &job)
    }),
    ("add a place", true, |w| {
        let address = Some("memory:///new".into());
        let place = NewPlace { name: "new".into(), address, ..NewPlace::default() };
        w.store.add_place(&w.admin, &place).map(drop)
    }),
    ("change a place", true, |w| {
        let change = PlaceChange { name: Some("renamed".into()), ..PlaceChange::default() };
        w.store.change_place(&w.admin, w.place_id("b"), &change)
    }),
    ("make a place the default", true, |w| w.store.set_default_place(&w.admin, w.place_id("pair"))),
    ("remove a place", true, |w| run(w.store.remove_place(&w.admin, w.place_id("spare")))),
    ("remove a ticket", true, |w| {
        let ticket = w.store.tickets(&w.admin, &at("/c/x"))?.remove(0).id;
        w.store.remove_ticket(&w.admin, &ticket)
    }),
];

/// Some changes in a change set.
fn in_a_set(world: &World, id: cenote_store::ChangeSetId) -> Result<()> {
    let set = run(world.store.within(&world.admin, id))?;
    let (store, admin) = (&(*set).clone(), &world.admin);
    run(store.put(admin, path("/c/new"), once(&noise(500, 9)), PutOptions::default()))?;
    store.relocate(admin, &at("/copy"), &path("/c/moved"), MoveOptions::default())?;
    let options = RemoveOptions { recursive: true, ..RemoveOptions::default() };
    store.remove(admin, &at("/kept/tree"), &options).map(drop)
}

/// Completes a job; an error if a part of it failed.
fn finished(world: &World, job: &JobStatus) -> Result<()> {
    run(world.store.run_moves())?;
    let job = world.store.job(&world.admin, job.id)?;
    match job.finished && job.failed == 0 {
        true => Ok(()),
        false => Err(Error::new(ErrorKind::Unavailable, format!("{job:?}"))),
    }
}

thread_local! {
    /// The places of the bench by their names, as they were before a mutation.
    static PLACES: std::cell::RefCell<Vec<(String, PlaceId)>> = const { std::cell::RefCell::new(Vec::new()) };
}

impl World {
    /// As [`World::place`], also for one that has been renamed or removed since.
    fn place_id(&self, name: &str) -> PlaceId {
        PLACES.with_borrow(|places| places.iter().find(|(known, _)| known == name).unwrap().1)
    }
}

fn write_stage(world: &World, stage: UploadId, bytes: &[u8]) -> Result<()> {
    let (position, expected) = (Where::Append, Expected::default());
    run(world.store.write_stage(&world.admin, stage, position, once(bytes), &expected)).map(drop)
}

fn quota(of: &str) -> QuotaTarget {
    QuotaTarget::Collection(at(of))
}

fn put(world: &World, to: &str, size: usize) -> Result<()> {
    world.try_put(&world.admin, to, &noise(size, 9), PutOptions::default()).map(drop)
}

thread_local! {
    /// A tree in the trash of the bench.
    static TRASHED: std::cell::Cell<ResourceId> = const { std::cell::Cell::new(ResourceId(0)) };
    /// The upload of the bench; reading it from the store would be a step that may fail.
    static UPLOAD: std::cell::Cell<UploadId> =
        const { std::cell::Cell::new(UploadId { number: 0, secret: None }) };
    /// A stage, and one that is folded by its next write.
    static STAGE: std::cell::Cell<UploadId> =
        const { std::cell::Cell::new(UploadId { number: 0, secret: None }) };
    static FULL_STAGE: std::cell::Cell<UploadId> =
        const { std::cell::Cell::new(UploadId { number: 0, secret: None }) };
    /// The ticket of the bench: its secret is not in the store.
    static TICKET: std::cell::RefCell<String> = const { std::cell::RefCell::new(String::new()) };
}

struct Bench {
    world: World,
    engine: FaultyEngine,
    faults: Faults,
}

fn bench() -> Bench {
    bench_on(Arc::new(MemoryEngine::new()))
}

fn bench_on(engine: Arc<dyn Engine>) -> Bench {
    let engine = FaultyEngine::new(engine);
    let faults = Faults::new();
    let world = world_on(engine.clone(), faults.into_place(Place::memory("main")));
    let world = world.with_places(faults.clone());
    populated(&world);
    replicated(&world);
    world.mkdir("/kept");
    world.keep_removed("/kept", 3_600);
    for of in ["/", "/c", "/kept"] {
        world.store.set_quota(&world.admin, &quota(of), hard(bytes(1 << 30))).unwrap();
    }
    for tree in ["/kept/tree", "/kept/gone"] {
        world.mkdir(tree);
        world.put(&format!("{tree}/x"), &noise(200, 8));
    }
    world.put("/kept/x", &noise(200, 9));
    TRASHED.set(world.discard("/kept/gone").id);
    world.discard("/kept/x");
    world.put("/full", b"");
    (0..63).for_each(|_| drop(world.write_at("/full", Where::Append, b"ab").unwrap()));
    let limited = NewTicket { uses: 3, ..NewTicket::default() };
    TICKET.set(world.store.add_ticket(&world.admin, &at("/patched"), &limited).unwrap().0);
    let uploads = world.table(b'P');
    UPLOAD.set(upload_of(&uploads[0]));
    STAGE.set(upload_of(&uploads[1]));
    let stage = UploadOptions { stage: Some(StageFrom::Object), ..UploadOptions::default() };
    let full = world.store.begin_upload(&world.admin, path("/full"), &stage).unwrap().id;
    FULL_STAGE.set(UploadId { secret: None, ..full });
    (0..63).for_each(|_| write_stage(&world, full, b"ab").unwrap());
    // So that the first id of a block is allocated, too.
    let world = world.reopened();
    engine.heal();
    Bench { world, engine, faults }
}

fn replicated(world: &World) {
    world.add_place("spare");
    world.add_group("pair", &["a", "b"]);
    for to in ["/replicated", "/stale"] {
        world.put(to, &noise(1_000, 3));
        world.replicate(to, "a").unwrap();
    }
    world.put("/stale", &noise(400, 4));
    let places = world.store.places().unwrap().into_iter();
    let names = places.map(|place| (place.info.name, place.id)).collect();
    PLACES.set(names);
}

/// What callers can see, without ids and times.
fn visible(world: &World) -> Vec<String> {
    let (store, admin) = (&world.store, &world.admin);
    let mut lines = Vec::new();
    for entry in store.walk(admin, &at("/"), None, 10_000).unwrap().entries {
        let at = At::Id(entry.id);
        let mut line =
            format!("{} {:?} {:?}", entry.path, entry.resource.kind, entry.resource.mode);
        let read = |version| {
            let opened =
                store.open(admin, &at, &ReadOptions { version, ..ReadOptions::default() }).unwrap();
            blake(&run(opened.read_all()).unwrap())
        };
        if let Some(content) = &entry.resource.content {
            line += &format!(" {} {:?}", read(None), content.digests.sha256);
            line += &format!(" {}", world.replicas(&entry.path.to_string()));
        }
        for version in store.versions(admin, &at).unwrap() {
            line += &format!(" v{:?}{}", version.label, read(Some(version.version)));
        }
        line += &format!(" {:?}", store.avus(admin, &at).unwrap());
        let grants = store.access(admin, &at).unwrap().1;
        line += &format!(" {:?}", grants.iter().map(|g| (&g.name, g.rights)).collect::<Vec<_>>());
        lines.push(line);
    }
    lines.extend(world.trash_of(admin).into_iter().map(|item| item.path));
    for (id, person) in store.persons().unwrap() {
        let groups = store.members("lab").unwrap().contains(&person.name);
        lines.push(format!("{} {:?} {groups} {}", person.name, person.role, id.0 < 1_000));
    }
    for quota in store.quotas(admin, None).unwrap() {
        lines.push(format!("{} {:?} {:?}", quota.name, quota.hard, quota.total));
    }
    for place in store.places().unwrap() {
        lines.push(format!("{} {:?} {}", place.info.name, place.info.state, place.default));
    }
    let tickets = store.all_tickets(admin).unwrap();
    lines.push(format!(
        "{:?}",
        tickets.iter().map(|t| (t.uses, t.writes)).collect::<std::collections::BTreeSet<_>>()
    ));
    lines.push(format!("{} tickets", tickets.len()));
    lines.push(format!("{} tokens", store.tokens(admin).unwrap().len()));
    for key in world.table(b'P') {
        let upload = store.upload(admin, upload_of(&key)).unwrap();
        let parts = upload.parts.iter().map(|part| (part.offset, part.digests.crc64nvme));
        let staged = upload.staged.map(|_| blake(&staged(world, upload.id)));
        lines.push(format!("{} {:?} {staged:?}", upload.path, parts.collect::<Vec<_>>()));
    }
    lines
}

fn staged(world: &World, upload: UploadId) -> Vec<u8> {
    use futures_util::TryStreamExt;
    let staged = world.store.open_stage(&world.admin, upload).unwrap();
    let size = staged.size();
    run(async { staged.bytes(0..size).unwrap().try_collect::<Vec<_>>().await }).unwrap().concat()
}

/// The upload of a key, whose secret an administrator need not know.
fn upload_of(key: &[u8]) -> UploadId {
    UploadId { number: u64::from_be_bytes(key[1..].try_into().unwrap()), secret: None }
}

fn blake(bytes: &[u8]) -> String {
    use sha2::{Digest, Sha256};
    Sha256::digest(bytes)[..4].iter().map(|byte| format!("{byte:02x}")).collect()
}

/// The states before and after a mutation without faults, and its number of steps.
struct Plain {
    before: Vec<String>,
    after: Vec<String>,
    steps: u64,
    commits: Vec<u64>,
    operations: u64,
}

fn plain(mutation: &Mutation) -> Plain {
    plain_on(bench(), mutation)
}

fn plain_on(bench: Bench, mutation: &Mutation) -> Plain {
    let before = visible(&bench.world);
    bench.engine.heal();
    let operations = bench.faults.operations();
    mutation.2(&bench.world).unwrap_or_else(|error| panic!("{}: {error:?}", mutation.0));
    let (steps, commits) = (bench.engine.steps(), bench.engine.commits());
    let operations = bench.faults.operations() - operations;
    let after = visible(&bench.world);
    assert_clean(&bench.world.store);
    Plain { before, after, steps, commits, operations }
}

/// Examines the state after a mutation with a fault, then completes it.
fn judge(bench: Bench, mutation: &Mutation, plain: &Plain, done: &Result<()>, fault: &str) {
    let (name, atomic, mutate) = mutation;
    let context = format!("{name}, {fault}: {done:?}");
    bench.engine.heal();
    bench.faults.restart();
    let world = bench.world.reopened();
    let now = visible(&world);
    match done {
        Ok(()) => assert_eq!(now, plain.after, "{context}"),
        Err(error) if error.kind() == ErrorKind::Unknown || !atomic => {
            assert!(!atomic || now == plain.before || now == plain.after, "{context}");
        }
        Err(_) => assert_eq!(now, plain.before, "{context}"),
    }
    assert_clean(&world.store);
    if now != plain.after {
        mutate(&world).unwrap_or_else(|error| panic!("again after {context}: {error:?}"));
        assert_eq!(visible(&world), plain.after, "again after {context}");
    }
    world.sweep();
    assert_clean(&world.store);
}

/// The ways in which a commit can fail. All other steps fail in one way, whatever the fault.
const CATALOG_FAULTS: [Fault; 5] =
    [Fault::Refuse, Fault::Lose, Fault::Keep, Fault::LoseInDoubt, Fault::KeepInDoubt];

#[test]
fn no_failure_of_the_catalog_leaves_partial_changes() {
    for mutation in MUTATIONS {
        let plain = plain(mutation);
        let mut failed = 0;
        for fault in CATALOG_FAULTS {
            let every = 1..=plain.steps;
            let steps = every.filter(|n| fault == Fault::Refuse || plain.commits.contains(n));
            for step in steps {
                let bench = bench();
                bench.engine.fail_at(step, fault);
                let done = mutation.2(&bench.world);
                failed += u64::from(done.is_err());
                judge(bench, mutation, &plain, &done, &format!("{fault:?} at step {step}"));
            }
        }
        assert!(failed > 0, "{}", mutation.0);
    }
}

/// The mutations of a short run: one of a single step, and one of many.
const SHORT: [&str; 2] = ["replace", "complete an upload"];

/// Each mutation fails at each of its last `CENOTE_FAULT_STEPS` steps; without the variable, some fail at their last
/// commit. Earlier steps are the same on every engine.
fn fails_on(engine: impl Fn() -> Arc<dyn Engine>) {
    let steps = std::env::var("CENOTE_FAULT_STEPS").ok().map(|steps| steps.parse().unwrap());
    let mut faults = CATALOG_FAULTS.into_iter().cycle();
    for mutation in MUTATIONS.iter().filter(|it| steps.is_some() || SHORT.contains(&it.0)) {
        let plain = plain_on(bench_on(engine()), mutation);
        for step in plain.commits.iter().rev().take(steps.unwrap_or(1)) {
            let (bench, fault) = (bench_on(engine()), faults.next().unwrap());
            bench.engine.fail_at(*step, fault);
            let done = mutation.2(&bench.world);
            judge(bench, mutation, &plain, &done, &format!("{fault:?} at step {step}"));
        }
    }
}

#[test]
fn no_failure_of_the_catalog_on_postgres_leaves_partial_changes() {
    if fresh_schema().is_some() {
        fails_on(|| Arc::new(PostgresEngine::open(&fresh_schema().unwrap()).unwrap()));
    }
}

#[test]
fn no_failure_of_the_catalog_on_disk_leaves_partial_changes() {
    let dir = tempfile::tempdir().unwrap();
    let count = std::cell::Cell::new(0);
    fails_on(|| {
        count.set(count.get() + 1);
        let options = FjallOptions { reserve: 0, ..FjallOptions::default() };
        Arc::new(FjallEngine::open(dir.path().join(count.get().to_string()), options).unwrap())
    });
}

#[test]
fn no_failure_of_a_place_leaves_partial_changes() {
    use PlaceFault::{CrashAfter, CrashBefore, Io, NoSpace, Short};
    for mutation in MUTATIONS {
        let plain = plain(mutation);
        for fault in [Io, NoSpace, Short, CrashBefore, CrashAfter] {
            for operation in 1..=plain.operations {
                let bench = bench();
                bench.faults.fail(operation, fault);
                let done = mutation.2(&bench.world);
                if fault == NoSpace {
                    assert_eq!(
                        bench.world.store.health(),
                        Health::Ready,
                        "a full disk is no failure"
                    );
                }
                judge(bench, mutation, &plain, &done, &format!("{fault:?} at {operation}"));
            }
        }
    }
}

fn assert_reads_only(world: &World) {
    assert!(matches!(world.store.health(), Health::ReadOnly(_)));
    assert_eq!(kind(world.try_mkdir(&world.admin, "/later")), ErrorKind::ReadOnly);
    assert_eq!(kind(put(world, "/later", 500)), ErrorKind::ReadOnly);
    let all = RemoveOptions { versions: true, ..RemoveOptions::default() };
    let remove = world.store.remove(&world.admin, &at("/c/x"), &all);
    assert_eq!(kind(remove), ErrorKind::ReadOnly);
    assert_eq!(world.read("/c/x"), b"new");
    assert_eq!(world.read("/c/big"), noise(1_000, 1));
}

#[test]
fn after_a_failed_commit_the_store_refuses_changes_until_it_is_reopened() {
    for fault in [Fault::Lose, Fault::Keep] {
        let bench = bench();
        bench.world.mkdir("/first");
        bench.engine.heal();
        bench.world.mkdir("/second");
        // The commit is the last step.
        let steps = bench.engine.steps();
        bench.engine.fail_at(steps, fault);
        let made = bench.world.try_mkdir(&bench.world.admin, "/third");
        assert_eq!(made.is_ok(), fault == Fault::Keep, "its token tells what became of it");
        let refused = bench.world.try_mkdir(&bench.world.admin, "/fourth");
        assert_eq!(kind(refused), ErrorKind::ReadOnly);
        assert_reads_only(&bench.world);
        bench.engine.heal();
        assert_reads_only(&bench.world);
        let world = bench.world.reopened();
        assert_eq!(world.store.health(), Health::Ready);
        assert_eq!(world.stat("/third").is_ok(), fault == Fault::Keep);
        world.mkdir("/fifth");
    }
}

#[test]
fn a_catalog_without_space_refuses_changes_and_continues() {
    let bench = bench();
    bench.world.mkdir("/first");
    bench.engine.heal();
    bench.world.mkdir("/second");
    bench.engine.fail_at(bench.engine.steps(), Fault::Refuse);
    assert_eq!(kind(bench.world.try_mkdir(&bench.world.admin, "/third")), ErrorKind::NoSpace);
    assert_eq!(bench.world.store.health(), Health::Ready);
    bench.world.mkdir("/third");
}

#[test]
fn a_failing_disk_under_contents_latches_the_store_and_a_full_one_does_not() {
    let bench = bench();
    bench.faults.fail(1, PlaceFault::NoSpace);
    assert_eq!(kind(put(&bench.world, "/new", 500)), ErrorKind::NoSpace);
    assert_eq!(bench.world.store.health(), Health::Ready);
    put(&bench.world, "/new", 500).unwrap();
    bench.faults.fail(1, PlaceFault::Io);
    assert!(put(&bench.world, "/newer", 500).is_err());
    assert_reads_only(&bench.world);
    bench.faults.restart();
    put(&bench.world.reopened(), "/newer", 500).unwrap();
}
