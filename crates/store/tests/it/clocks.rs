//! The three clocks of a resource: which changes update the time and the tag of the content, of the description and of
//! the membership, for the resource itself and for its collection. The expected table is that of `docs/SEMANTICS.md`.

use std::fmt::Write as _;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;

use cenote_blob::Place;
use cenote_kv::{Batch, CommitError, Engine, MemoryEngine, Snapshot, Token, Version};
use cenote_store::{
    At, AttributeChange, AvuChange, Conditions, CopyOptions, CreateOptions, Draft, ErrorKind,
    Graph, Membership, MoveOptions, RemoveOptions, ReplicaChange, ResourceId, Retention, Rights,
    Scope, StageFrom, Stat, Statement, Term, Time, UploadOptions, Versioning, Where,
};

use crate::injected::Injected;
use crate::uploads::{begin, complete, part};
use crate::world::{World, assert_clean, at, avu, kind, path, run, world, world_on};

const SEMANTICS: &str = include_str!("../../../../docs/SEMANTICS.md");

/// A clock: the time and the tag.
type Clock = (Time, String);

/// The clocks of a resource.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Clocks {
    pub(crate) content: Option<Clock>,
    pub(crate) description: Clock,
    pub(crate) membership: Option<Clock>,
}

impl Clocks {
    pub(crate) fn of(world: &World, stat: &Stat) -> Self {
        let membership = membership(world, stat);
        let described = stat.resource.described();
        Self {
            content: stat.content_tag().map(|tag| (stat.resource.written(), tag)),
            description: (described.time, stat.description_tag()),
            membership: membership.map(|membership| (membership.changed, membership.tag())),
        }
    }
}

fn membership(world: &World, stat: &Stat) -> Option<Membership> {
    world.store.memberships(std::slice::from_ref(stat)).unwrap()[0]
}

/// `moved` if both time and tag changed, an empty text if neither did; anything else is an error.
fn moved(before: Option<&Clock>, after: Option<&Clock>) -> &'static str {
    match (before, after) {
        (None, None) => "",
        (Some(before), Some(after)) => match (after.0 > before.0, after.1 != before.1) {
            (true, true) => "moves",
            (false, false) => "",
            different => panic!("{before:?} {after:?}: time and tag moved: {different:?}"),
        },
        gone => panic!("a clock came or went: {gone:?}"),
    }
}

/// The name of a change in the table, its subject, and the change.
type Row = (&'static str, &'static str, fn(&World));

fn set(world: &World, what: &str, change: AttributeChange) {
    world.store.set_attributes(&world.admin, &at(what), &change).unwrap();
}

fn create(world: &World, what: &str, draft: Draft) {
    world.store.create(&world.admin, &path(what), draft, CreateOptions::default()).unwrap();
}

fn grant(world: &World, what: &str) {
    world.grant(what, "public", Rights::READ_OBJECT, Scope::This);
}

fn put_graph(world: &World, what: &str) {
    let statement = Statement {
        subject: None,
        predicate: "urn:p".into(),
        object: Term::string("o"),
        unit: None,
    };
    let any = Conditions::default();
    let change = |_: &Graph| Ok(Graph::from([statement.clone()]));
    world.store.change_graph(&world.admin, &at(what), &any, change).unwrap();
}

fn copy_over(world: &World, from: &str, to: &str) {
    let options = CopyOptions { replace: true, ..CopyOptions::default() };
    world.store.copy(&world.admin, &at(from), &path(to), options).unwrap();
}

fn move_over(world: &World, from: &str, to: &str) {
    let options = MoveOptions { replace: true, versions: true, ..MoveOptions::default() };
    world.store.relocate(&world.admin, &at(from), &path(to), options).unwrap();
}

fn mtime() -> AttributeChange {
    AttributeChange { mtime: Some(Time::from_secs(7)), ..AttributeChange::default() }
}

/// Every kind of change, of the object `/c/x` or the collection `/c/d`.
const ROWS: &[Row] = &[
    ("the bytes are put again", "/c/x", |world| drop(world.put("/c/x", b"other"))),
    ("bytes are appended or written in place", "/c/x", |world| {
        world.write_at("/c/x", Where::Append, b"more").unwrap();
    }),
    ("the content is cut off", "/c/x", |world| drop(world.truncate("/c/x", 1).unwrap())),
    ("an upload in parts ends", "/c/x", |world| {
        let upload = begin(world, "/c/x", Default::default()).unwrap();
        part(world, upload.id, 0, b"part").unwrap();
        complete(world, upload.id, None).unwrap();
    }),
    ("a stage is published", "/c/x", |world| {
        let stage = Some(StageFrom::Object);
        let options = UploadOptions { stage, ..UploadOptions::default() };
        let upload = begin(world, "/c/x", options).unwrap();
        run(world.store.truncate_stage(&world.admin, upload.id, 1)).unwrap();
        complete(world, upload.id, None).unwrap();
    }),
    ("another object is copied onto it", "/c/x", |world| copy_over(world, "/other", "/c/x")),
    ("a version is restored", "/c/x", |world| {
        world.store.restore_version(&world.admin, &at("/c/x"), 1).unwrap();
    }),
    ("a stale replica is made the current one", "/c/x", |world| {
        let good = ReplicaChange { good: Some(true), ..ReplicaChange::default() };
        world.store.change_replica(&world.admin, &at("/c/x"), 0, &good).unwrap();
    }),
    ("an attribute (AVU) is added, changed or removed", "/c/x", |world| {
        drop(world.describe("/c/x", "k", "v"));
    }),
    ("an attribute (AVU) of a collection", "/c/d", |world| drop(world.describe("/c/d", "k", "v"))),
    ("the graph is put", "/c/x", |world| put_graph(world, "/c/x")),
    ("it gets the description of another resource", "/c/x", |world| {
        let (from, to, any) = (at("/other"), at("/c/x"), Conditions::default());
        world.store.copy_description(&world.admin, &from, &to, &any).unwrap();
    }),
    ("mode, times, owner or media type are set", "/c/x", |world| set(world, "/c/x", mtime())),
    ("the same of a collection", "/c/d", |world| set(world, "/c/d", mtime())),
    ("versions are turned on", "/c/d", |world| {
        let versioning = Some(Some(Versioning::EachChange(Retention::default())));
        set(world, "/c/d", AttributeChange { versioning, ..AttributeChange::default() });
    }),
    ("access is granted or revoked", "/c/x", |world| grant(world, "/c/x")),
    ("access to a collection", "/c/d", |world| grant(world, "/c/d")),
    ("a version is kept", "/c/x", |world| {
        world.try_keep("/c/x", Some("label")).unwrap();
    }),
    ("a replica is made or removed, a digest computed, bytes folded", "/c/x", |world| {
        world.replicate("/c/x", "b").unwrap();
        let id = world.stat("/c/x").unwrap().id;
        run(world.store.compute_digest(id)).unwrap();
        world.sweep();
    }),
    ("it is renamed in its collection", "/c/x", |world| drop(world.mv("/c/x", "/c/y").unwrap())),
    ("it is moved out", "/c/x", |world| drop(world.mv("/c/x", "/x").unwrap())),
    ("something is moved onto it, or it is removed", "/c/x", |world| {
        move_over(world, "/other", "/c/x");
    }),
    ("a child is created in it", "/c/d", |world| drop(world.put("/c/d/new", b""))),
    ("a child collection is created in it", "/c/d", |world| drop(world.mkdir("/c/d/new"))),
    ("a link is created in it", "/c/d", |world| {
        create(world, "/c/d/new", Draft::Link("x".into()));
    }),
    ("a copy is made in it", "/c/d", |world| drop(world.cp("/other", "/c/d/new").unwrap())),
    ("a child is moved into it", "/c/d", |world| drop(world.mv("/other", "/c/d/new").unwrap())),
    ("a child is renamed in it", "/c/d", |world| drop(world.mv("/c/d/old", "/c/d/o").unwrap())),
    ("a child is moved out of it", "/c/d", |world| drop(world.mv("/c/d/old", "/o").unwrap())),
    ("a child is removed from it", "/c/d", |world| world.rm("/c/d/old").unwrap()),
    ("a child collection is removed with all in it", "/c/d", |world| {
        world.rm_all("/c/d/sub").unwrap();
        world.store.run_jobs().unwrap();
    }),
    ("the content or description of a child changes", "/c/d", |world| {
        world.put("/c/d/old", b"new");
        world.describe("/c/d/old", "k", "v");
    }),
    ("something changes two collections further down", "/c/d", |world| {
        drop(world.put("/c/d/sub/new", b""));
    }),
];

/// `/c/x` with a version and a stale replica, `/c/d` with children, and `/other` beside.
fn prepared() -> World {
    let world = crate::world::world_with_places();
    world.mkdir("/c");
    let versioning = Some(Some(Versioning::OnRequest(Retention::default())));
    set(&world, "/c", AttributeChange { versioning, ..AttributeChange::default() });
    world.put("/c/x", &[b'x'; 100]);
    world.try_keep("/c/x", None).unwrap();
    world.put_in("a", "/c/x", &[b'y'; 100]);
    world.put("/other", b"other");
    world.describe("/other", "of", "other");
    for collection in ["/c/d", "/c/d/sub"] {
        world.mkdir(collection);
    }
    world.put("/c/d/old", b"old");
    world.clock.advance(Duration::from_secs(1));
    world
}

/// The clocks of a resource and of its collection before and after a change; for a removed one, those before.
fn measure(world: &World, what: &str, change: fn(&World)) -> [[Clocks; 2]; 2] {
    let stat = world.stat(what).unwrap();
    let above = world.store.stat(&world.admin, &At::Id(stat.resource.parent)).unwrap();
    let clocks = |id: ResourceId| {
        let stat = world.store.stat(&world.admin, &At::Id(id));
        stat.ok().map(|stat| Clocks::of(world, &stat))
    };
    let before = [stat.id, above.id].map(|id| clocks(id).unwrap());
    change(world);
    let [one, two] = before;
    let after = [(stat.id, &one), (above.id, &two)]
        .map(|(id, before)| clocks(id).unwrap_or(before.clone()));
    let [one_after, two_after] = after;
    [[one, one_after], [two, two_after]]
}

fn table() -> String {
    let mut table = String::from(
        "| what happens | its content | its description | its membership | the membership of its collection |\n\
         |---|---|---|---|---|\n",
    );
    for (name, what, change) in ROWS {
        let world = prepared();
        let [[before, after], [above_before, above_after]] = measure(&world, what, *change);
        let cells = [
            moved(before.content.as_ref(), after.content.as_ref()),
            moved(Some(&before.description), Some(&after.description)),
            moved(before.membership.as_ref(), after.membership.as_ref()),
            moved(above_before.membership.as_ref(), above_after.membership.as_ref()),
        ];
        writeln!(table, "| {name} | {} |", cells.join(" | ")).unwrap();
        let above = |clocks: &Clocks| (clocks.content.clone(), clocks.description.clone());
        assert_eq!(
            above(&above_before),
            above(&above_after),
            "{name}: its collection's own clocks"
        );
        assert_clean(&world.store);
    }
    table.replace("|  |", "| |").replace("|  |", "| |")
}

#[test]
fn each_change_updates_only_its_own_timestamps() {
    let table = table();
    assert!(SEMANTICS.contains(&table), "docs/SEMANTICS.md does not have this table:\n{table}");
}

/// Counts conflicting commits; a concurrent change can be made before one.
#[derive(Debug, Clone, Default)]
pub(crate) struct Conflicts {
    inner: MemoryEngine,
    conflicts: Arc<AtomicU64>,
    commits: Arc<AtomicU64>,
    /// A change made between the reads of a commit and the commit.
    pub(crate) between: Injected,
}

impl Engine for Conflicts {
    fn name(&self) -> &'static str {
        "conflicts"
    }

    fn snapshot(&self) -> cenote_kv::Result<Box<dyn Snapshot>> {
        self.inner.snapshot()
    }

    fn commit(&self, batch: Batch) -> Result<Version, CommitError> {
        self.between.run();
        let answer = self.inner.commit(batch);
        self.commits.fetch_add(1, Ordering::SeqCst);
        if matches!(answer, Err(CommitError::Conflict { .. })) {
            self.conflicts.fetch_add(1, Ordering::SeqCst);
        }
        answer
    }

    fn outcome(&self, token: &Token) -> cenote_kv::Result<Option<Version>> {
        self.inner.outcome(token)
    }
}

type Writer = (&'static str, fn(&World));

/// Changes of the membership of `/c`, each with other names.
const WRITERS: &[Writer] = &[
    ("put", |world| drop(world.put("/c/put", b"x"))),
    ("mkdir", |world| drop(world.mkdir("/c/mkdir"))),
    ("link", |world| create(world, "/c/link", Draft::Link("x".into()))),
    ("copy", |world| drop(world.cp("/other", "/c/copied").unwrap())),
    ("move in", |world| drop(world.mv("/in", "/c/in").unwrap())),
    ("move out", |world| drop(world.mv("/c/out", "/out").unwrap())),
    ("rename", |world| drop(world.mv("/c/a", "/c/b").unwrap())),
    ("remove", |world| world.rm("/c/gone").unwrap()),
];

/// Each change of a collection's membership is made between the reads and the commit of each other one.
#[test]
fn changes_of_one_membership_do_not_conflict() {
    for (first, one) in WRITERS {
        for (second, other) in WRITERS.iter().filter(|(second, _)| second != first) {
            let engine = Conflicts::default();
            let world = world_on(engine.clone(), Place::memory("main"));
            world.mkdir("/c");
            for name in ["/other", "/in", "/c/out", "/c/a", "/c/gone"] {
                world.put(name, b"x");
            }
            let before = membership(&world, &world.stat("/c").unwrap()).unwrap().changes;
            let world = Arc::new(world);
            let (there, other) = (world.clone(), *other);
            engine.between.set(move || other(&there));
            engine.commits.store(0, Ordering::SeqCst);
            one(&world);
            let counted = |of: &AtomicU64| of.load(Ordering::SeqCst);
            assert_eq!(counted(&engine.conflicts), 0, "{second} during {first}");
            assert_eq!(counted(&engine.commits), 2, "{second} during {first}");
            let after = membership(&world, &world.stat("/c").unwrap()).unwrap().changes;
            assert_eq!(after, before + 2, "{second} during {first}");
        }
    }
}

#[test]
fn a_condition_is_compared_with_the_timestamp_of_what_changes() {
    let world = world();
    let first = world.put("/a", b"x");
    let described = world.describe("/a", "k", "v");
    let only_if = |tag: String| Conditions { if_match: Some(tag), ..Conditions::default() };
    let append = |tag: String| world.store.truncate(&world.admin, &at("/a"), 1, &only_if(tag));
    let describe = |tag: String| {
        let change = [AvuChange::Set(avu("k", "w"))];
        world.store.change_avus(&world.admin, &at("/a"), &change, &only_if(tag))
    };
    assert_eq!(kind(append(described.description_tag())), ErrorKind::Precondition);
    assert_eq!(kind(describe(described.content_tag().unwrap())), ErrorKind::Precondition);
    assert_eq!(kind(describe(first.description_tag())), ErrorKind::Precondition);
    let written = append(first.content_tag().unwrap()).expect("an AVU is no change of the content");
    let again = describe(described.description_tag()).expect("bytes are no description");
    assert_eq!(kind(describe(written.state_tag())), ErrorKind::Precondition);
    append(again.state_tag()).expect("the state stands for both");
}

#[test]
fn a_collection_is_removed_only_if_its_membership_is_unchanged() {
    let world = world();
    let stat = world.mkdir("/c");
    let seen = membership(&world, &stat).unwrap().tag();
    world.put("/c/new", b"");
    let remove = |tag: &str| {
        let if_match = Some(tag.to_owned());
        let options = RemoveOptions { recursive: true, if_match, ..RemoveOptions::default() };
        world.store.remove(&world.admin, &at("/c"), &options)
    };
    assert_eq!(kind(remove(&seen)), ErrorKind::Precondition);
    remove(&membership(&world, &stat).unwrap().tag()).unwrap();
    world.store.run_jobs().unwrap();
    assert_clean(&world.store);
}

#[test]
fn the_time_of_a_collection_is_the_later_of_its_set_time_and_its_last_change() {
    let world = world();
    let shown = || {
        let stat = world.stat("/c").unwrap();
        membership(&world, &stat).unwrap().shown_mtime(&stat.resource)
    };
    let created = world.mkdir("/c").resource.created;
    assert_eq!(shown(), created);
    world.clock.advance(Duration::from_secs(1));
    world.put("/c/a", b"");
    assert_eq!(shown(), created.plus(Duration::from_secs(1)));
    world.clock.advance(Duration::from_secs(1));
    set(&world, "/c", mtime());
    assert_eq!(shown(), Time::from_secs(7));
    world.clock.advance(Duration::from_secs(1));
    world.describe("/c", "k", "v");
    assert_eq!(shown(), Time::from_secs(7));
    world.rm("/c/a").unwrap();
    assert_eq!(shown(), created.plus(Duration::from_secs(3)));
}

#[test]
fn memberships_of_many_are_those_of_each() {
    let world = world();
    for n in 0..40 {
        world.mkdir(&format!("/{n}"));
        (0..n % 3).for_each(|m| drop(world.put(&format!("/{n}/{m}"), b"")));
    }
    let stats: Vec<_> = (0..40)
        .flat_map(|n| [world.stat(&format!("/{n}")).ok(), world.stat(&format!("/{n}/0")).ok()])
        .flatten()
        .collect();
    let all = world.store.memberships(&stats).unwrap();
    assert_eq!(all.len(), stats.len());
    for (stat, found) in stats.iter().zip(all) {
        assert_eq!(found, membership(&world, stat));
        assert_eq!(found.is_some(), stat.resource.content.is_none());
    }
    // Ids far apart are read one by one.
    let far = [world.stat("/").unwrap(), stats.last().unwrap().clone(), stats[0].clone()];
    let tags: Vec<_> = world.store.memberships(&far).unwrap();
    assert_eq!(tags[0].unwrap().changes, 40);
    assert_eq!(tags[2], membership(&world, &stats[0]));
}
