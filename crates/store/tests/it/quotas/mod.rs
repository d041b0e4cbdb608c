//! Quotas: what they count and refuse, who may set them, and their cost.

mod model;

use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::thread;
use std::time::Duration;

use cenote_blob::Place;
use cenote_kv::{CountingEngine, Engine, FjallEngine, FjallOptions, MemoryEngine};
use cenote_store::{
    AttributeChange, BatchItem, BatchWhat, Caller, CheckOptions, Error, ErrorKind, Expected,
    FindingKind, Measure, MoveOptions, Prune, PutOptions, Quota, QuotaLimits, QuotaSetting,
    QuotaTarget, Received, RestoreOptions, Result, Retention, Rights, Scope, UploadOptions,
    Versioning, Where,
};

use crate::changesets::{begun, commit};
use crate::raw::key;
use crate::world::{
    World, assert_clean, at, findings, kind, noise, once, path, run, world, world_on,
};

pub(crate) fn bytes(most: u64) -> QuotaLimits {
    QuotaLimits { bytes: Some(most), resources: None }
}

pub(crate) fn resources(most: u64) -> QuotaLimits {
    QuotaLimits { bytes: None, resources: Some(most) }
}

pub(crate) fn hard(hard: QuotaLimits) -> QuotaSetting {
    QuotaSetting { hard, ..QuotaSetting::default() }
}

fn soft(soft: QuotaLimits, grace: u64) -> QuotaSetting {
    QuotaSetting { soft, grace: Some(grace), ..QuotaSetting::default() }
}

fn on(path: &str) -> QuotaTarget {
    QuotaTarget::Collection(at(path))
}

impl World {
    fn set(&self, of: &str, setting: QuotaSetting) -> Quota {
        self.store.set_quota(&self.admin, &on(of), setting).unwrap()
    }

    /// Bytes and resources counted for a quota.
    fn total(&self, of: &str) -> (u64, u64) {
        let quotas = self.store.quotas(&self.admin, None).unwrap();
        let total = quotas.into_iter().find(|quota| quota.name == of).unwrap().total.unwrap();
        (total.bytes, total.resources)
    }

    fn try_put_at(&self, to: &str, size: usize) -> Result<()> {
        self.try_put(&self.admin, to, &noise(size, 1), PutOptions::default()).map(drop)
    }

    fn versioned(&self, of: &str) {
        self.set_versioning(of, Versioning::EachChange(Retention::default()));
    }

    fn set_versioning(&self, of: &str, versioning: Versioning) {
        let versioning = Some(Some(versioning));
        let change = AttributeChange { versioning, ..AttributeChange::default() };
        self.store.set_attributes(&self.admin, &at(of), &change).unwrap();
    }
}

/// A collection with 60 bytes in one object and one in a collection, and a quota with these limits.
fn lab(most: QuotaLimits) -> World {
    let world = world();
    for collection in ["/lab", "/lab/run", "/other"] {
        world.mkdir(collection);
    }
    world.put("/lab/a", &noise(40, 1));
    world.put("/lab/run/b", &noise(20, 1));
    world.set("/lab", hard(most));
    world
}

#[test]
fn a_hard_limit_is_exact_and_reported() {
    let world = lab(bytes(100));
    assert_eq!(world.total("/lab"), (60, 3));
    world.try_put_at("/lab/c", 40).unwrap();
    let error = world.try_put_at("/lab/d", 1).unwrap_err();
    assert_eq!(error.kind(), ErrorKind::Quota);
    assert!(error.hint().is_some());
    let exceeded = error.exceeded().unwrap();
    assert_eq!((exceeded.quota.as_str(), exceeded.measure), ("/lab", Measure::Bytes));
    assert_eq!((exceeded.limit, exceeded.total), (100, 100));
    assert!(world.stat("/lab/d").is_err());
    // Changes that add nothing or free space are accepted even above the limit.
    world.try_put_at("/lab/empty", 0).unwrap();
    world.set("/lab", hard(bytes(10)));
    world.try_put_at("/lab/a", 30).unwrap();
    world.truncate("/lab/c", 5).unwrap();
    world.mv("/lab/c", "/lab/run/c").unwrap();
    assert_eq!(kind(world.write_at("/lab/a", Where::Append, b"x")), ErrorKind::Quota);
    world.rm("/lab/a").unwrap();
    assert_eq!(world.total("/lab"), (25, 4));
    assert_clean(&world.store);
}

#[test]
fn resources_are_limited_like_bytes() {
    let world = lab(resources(4));
    world.mkdir("/lab/new");
    assert_eq!(kind(world.try_mkdir(&world.admin, "/lab/newer")), ErrorKind::Quota);
    let parents = PutOptions { parents: true, ..PutOptions::default() };
    world.rm("/lab/new").unwrap();
    let made = world.try_put(&world.admin, "/lab/x/y", b"z", parents.clone());
    assert_eq!(kind(made), ErrorKind::Quota);
    assert!(world.stat("/lab/x").is_err());
    world.try_put(&world.admin, "/lab/x", b"z", parents).unwrap();
    assert_eq!(kind(world.cp("/lab/a", "/lab/copy")), ErrorKind::Quota);
}

/// All operations that change the tree below: each row leads to these totals, and a recount agrees.
#[test]
fn everything_that_adds_or_frees_is_counted() {
    let world = lab(bytes(10_000));
    let step = |what: &str, change: &dyn Fn(&World), total: (u64, u64)| {
        change(&world);
        assert_eq!(world.total("/lab"), total, "{what}");
        assert_clean(&world.store);
    };
    step("put", &|w| drop(w.put("/lab/c", &noise(100, 1))), (160, 4));
    step("put over", &|w| drop(w.put("/lab/c", &noise(70, 2))), (130, 4));
    step(
        "append",
        &|w| drop(w.write_at("/lab/c", Where::Append, &noise(30, 1)).unwrap()),
        (160, 4),
    );
    step(
        "write",
        &|w| drop(w.write_at("/lab/c", Where::Offset(95), &noise(9, 1)).unwrap()),
        (164, 4),
    );
    step("cut", &|w| drop(w.truncate("/lab/c", 4).unwrap()), (64, 4));
    step("copy", &|w| drop(w.cp("/lab/a", "/lab/a2").unwrap()), (104, 5));
    step("rename", &|w| drop(w.mv("/lab/a2", "/lab/run/a2").unwrap()), (104, 5));
    step("move out", &|w| drop(w.mv("/lab/run/a2", "/other/a2").unwrap()), (64, 4));
    step("move in", &|w| drop(w.mv("/other/a2", "/lab/a2").unwrap()), (104, 5));
    step("move a tree out", &|w| drop(w.mv("/lab/run", "/other/run").unwrap()), (84, 3));
    step("move a tree in", &|w| drop(w.mv("/other/run", "/lab/run").unwrap()), (104, 5));
    step("remove a tree", &|w| w.rm_all("/lab/run").unwrap(), (104, 5));
    step("sweep", &|w| w.sweep(), (84, 3));
    step("remove", &|w| w.rm("/lab/a2").unwrap(), (44, 2));
    step(
        "replace by a move",
        &|w| {
            let replace = MoveOptions { replace: true, ..MoveOptions::default() };
            w.put("/other/x", &noise(10, 1));
            w.store.relocate(&w.admin, &at("/other/x"), &path("/lab/a"), replace).unwrap();
        },
        (14, 2),
    );
    world.versioned("/lab");
    step("a version", &|w| drop(w.put("/lab/a", &noise(25, 1))), (39, 2));
    step("move versions out", &|w| drop(w.mv("/lab/a", "/other/v").unwrap()), (4, 1));
    step("move versions in", &|w| drop(w.mv("/other/v", "/lab/v").unwrap()), (39, 2));
    step(
        "prune",
        &|w| {
            let all = Prune::All(Retention::last(0));
            w.store.prune_versions(&w.admin, &at("/lab/v"), &all).unwrap();
        },
        (29, 2),
    );
    step("describe", &|w| drop(w.describe("/other", "k", "v")), (29, 2));
}

/// A version created by a change of the description shares its content with the next state. It counts once that is
/// replaced, also if it is the only remaining version with the content, and if the state that replaced it is not kept.
#[test]
fn a_content_counts_once_however_many_versions_share_it() {
    let world = lab(bytes(10_000));
    let total = |bytes: u64, what: &str| {
        assert_eq!(world.total("/lab").0, bytes, "{what}");
        assert_clean(&world.store);
    };
    let versions = || world.store.versions(&world.admin, &at("/lab/a")).unwrap();
    let prune = |prune: &Prune| {
        world.store.prune_versions(&world.admin, &at("/lab/a"), prune).unwrap();
    };
    world.versioned("/lab");
    for value in ["1", "2", "3"] {
        world.describe("/lab/a", "k", value);
    }
    assert_eq!(versions().len(), 3);
    total(60, "described");
    world.put("/lab/a", &noise(30, 2));
    total(90, "put over");
    prune(&Prune::One(versions()[0].version));
    total(90, "the newest version of a content removed");
    world.describe("/lab/a", "k", "4");
    let described = versions()[0].version;
    world.set_versioning("/lab", Versioning::Off);
    total(90, "described again");
    world.put("/lab/a", &noise(10, 3));
    total(100, "replaced without a version");
    world.store.restore_version(&world.admin, &at("/lab/a"), described).unwrap();
    total(90, "restored");
    world.store.remove_quota(&world.admin, &on("/lab")).unwrap();
    world.put("/lab/a", &noise(5, 4));
    world.set("/lab", hard(bytes(10_000)));
    total(95, "counted again");
    prune(&Prune::All(Retention::last(1)));
    total(55, "all but one removed");
    prune(&Prune::All(Retention::last(0)));
    total(25, "all removed");
}

#[test]
fn a_version_kept_on_request_counts_once_the_content_is_replaced() {
    let world = lab(bytes(100));
    world.set_versioning("/lab", Versioning::OnRequest(Retention::default()));
    for label in [Some("kept"), None] {
        world.try_keep("/lab/a", label).unwrap();
        assert_eq!(world.total("/lab"), (60, 3));
    }
    assert_eq!(kind(world.try_put_at("/lab/a", 41)), ErrorKind::Quota);
    world.try_put_at("/lab/a", 39).unwrap();
    assert_eq!(world.total("/lab"), (99, 3));
    assert_clean(&world.store);
}

/// A batch item over an existing object is refused if the version kept of it does not fit, and accepted if a dropped
/// version leaves enough space.
#[test]
fn an_item_of_a_batch_is_counted_with_the_versions_that_it_creates() {
    let keep = Retention::last(1);
    for (versioning, size, is_taken) in [
        (Versioning::Off, 80, true),
        (Versioning::Off, 81, false),
        (Versioning::OnRequest(keep), 40, true),
        (Versioning::OnRequest(keep), 41, false),
        (Versioning::EachChange(Retention::default()), 40, true),
        (Versioning::EachChange(Retention::default()), 41, false),
    ] {
        let world = lab(bytes(100));
        world.set_versioning("/lab", versioning);
        if versioning != Versioning::Off {
            world.try_keep("/lab/a", None).unwrap();
        }
        let item = |to: &str, size: usize| {
            let received = Received::inline(&noise(size, 2), &Expected::default());
            let what = BatchWhat::Object(received.unwrap().into());
            BatchItem { path: path(to), what, options: PutOptions::default() }
        };
        let items = [item("/lab/a", size), item("/other/b", 1)];
        let answers = world.store.publish_many(&world.admin, &items).unwrap();
        let taken: Vec<_> = answers.iter().map(Result::is_ok).collect();
        assert_eq!(taken, [is_taken, true], "{versioning:?} {size}");
        assert_clean(&world.store);
    }
    let world = lab(bytes(100));
    world.set_versioning("/lab", Versioning::EachChange(keep));
    world.put("/lab/a", &noise(30, 2));
    assert_eq!(world.total("/lab").0, 90);
    // The version with 40 bytes is dropped.
    let received = Received::inline(&noise(50, 3), &Expected::default()).unwrap();
    let what = BatchWhat::Object(received.into());
    let item = BatchItem { path: path("/lab/a"), what, options: PutOptions::default() };
    world.store.publish_many(&world.admin, &[item]).unwrap().remove(0).unwrap();
    assert_eq!(world.total("/lab").0, 100);
    assert_clean(&world.store);
}

#[test]
fn a_change_set_beyond_a_quota_is_refused_completely() {
    let world = lab(bytes(100));
    let (set, id) = begun(&world);
    set.put("/lab/c", &noise(30, 1));
    world.put("/lab/d", &noise(20, 1));
    let error = commit(&world, id).unwrap_err();
    assert_eq!(error.kind(), ErrorKind::Quota);
    assert_eq!(error.exceeded().unwrap().quota, "/lab");
    assert!(world.stat("/lab/c").is_err());
    assert_eq!(world.total("/lab"), (80, 4));
    // The set still exists.
    world.rm("/lab/d").unwrap();
    commit(&world, id).unwrap();
    assert_eq!(world.total("/lab"), (90, 4));
    assert_clean(&world.store);
}

/// Changes by others below a tree before the set is committed would not be counted.
#[test]
fn a_change_set_may_move_objects_across_quotas_but_neither_trees_nor_limits() {
    let world = lab(bytes(100));
    world.versioned("/lab");
    let (set, id) = begun(&world);
    let moved = set.mv("/lab/run", "/other/run").unwrap_err();
    assert_eq!(moved.kind(), ErrorKind::Invalid);
    assert!(moved.hint().is_some());
    let limits = set.store.set_quota(&set.admin, &on("/other"), hard(bytes(1)));
    assert_eq!(kind(limits), ErrorKind::Invalid);
    assert_eq!(kind(set.store.remove_quota(&set.admin, &on("/lab"))), ErrorKind::Invalid);
    set.mv("/lab/run", "/lab/ran").unwrap();
    set.describe("/lab/a", "k", "v");
    set.put("/lab/a", &noise(10, 2));
    set.put("/lab/b", &noise(5, 2));
    set.mv("/lab/b", "/other/b").unwrap();
    commit(&world, id).unwrap();
    assert_eq!(world.total("/lab"), (70, 3));
    world.mv("/lab/a", "/other/a").unwrap();
    assert_eq!(world.total("/lab"), (20, 2));
    assert_clean(&world.store);
}

#[test]
fn removed_resources_count_until_they_are_purged_and_a_restoration_changes_nothing() {
    let world = lab(bytes(100));
    world.keep_removed("/", 3_600);
    let item = world.discard("/lab/run");
    world.store.run_jobs().unwrap();
    assert_eq!(world.total("/lab"), (60, 3));
    let quota = world.store.quotas(&world.admin, None).unwrap().remove(0);
    assert_eq!((quota.removed.bytes, quota.removed.resources), (20, 2));
    let restore = |to: Option<&str>| {
        let options = RestoreOptions { to: to.map(path), parents: false };
        world.store.restore_removed(&world.admin, item.id, &options)
    };
    restore(None).unwrap();
    assert_eq!(world.total("/lab"), (60, 3));
    assert_eq!(world.discard("/lab/run").id, item.id);
    // After a move it counts at its new location.
    world.set("/other", hard(bytes(10)));
    assert_eq!(kind(restore(Some("/other/run"))), ErrorKind::Quota);
    world.set("/other", hard(bytes(20)));
    restore(Some("/other/run")).unwrap();
    assert_eq!((world.total("/lab"), world.total("/other")), ((40, 1), (20, 2)));
    world.discard("/other/run");
    world.clock.advance(Duration::from_secs(7_200));
    world.store.purge_trash().unwrap();
    world.store.run_jobs().unwrap();
    assert_eq!((world.total("/lab"), world.total("/other")), ((40, 1), (0, 0)));
    assert_clean(&world.store);
}

#[test]
fn nested_quotas_all_apply() {
    let world = lab(bytes(100));
    world.set("/", hard(bytes(1_000)));
    world.set("/lab/run", hard(bytes(30)));
    world.try_put_at("/lab/run/c", 10).unwrap();
    assert_eq!(kind(world.try_put_at("/lab/run/d", 1)), ErrorKind::Quota);
    let totals = ["/", "/lab", "/lab/run"].map(|of| world.total(of).0);
    assert_eq!(totals, [70, 70, 30]);
    // A quota moves with its collection.
    world.mv("/lab/run", "/other/run").unwrap();
    assert_eq!((world.total("/lab").0, world.total("/other/run").0), (40, 30));
    world.keep_removed("/", 3_600);
    world.discard("/other/run/b");
    world.rm_all("/other/run").unwrap();
    assert_eq!(world.total("/").0, 70);
    world.clock.advance(Duration::from_secs(7_200));
    world.store.purge_trash().unwrap();
    world.store.run_jobs().unwrap();
    assert_eq!(world.total("/").0, 40);
    assert_eq!(world.store.quotas(&world.admin, None).unwrap().len(), 2);
    assert_clean(&world.store);
}

#[test]
fn a_removed_quota_leaves_nothing_and_a_new_one_is_counted_afresh() {
    let world = lab(bytes(100));
    world.keep_removed("/", 3_600);
    let item = world.discard("/lab/run");
    let counters = world.table(b'c').len();
    world.store.remove_quota(&world.admin, &on("/lab")).unwrap();
    assert_eq!((world.table(b'z').len(), world.table(b'c').len()), (0, counters - 2));
    assert_eq!(kind(world.store.remove_quota(&world.admin, &on("/lab"))), ErrorKind::NotFound);
    world.try_put_at("/lab/more", 500).unwrap();
    // Resources removed earlier do not count until they are restored.
    world.set("/lab", hard(bytes(600)));
    assert_eq!(world.total("/lab"), (540, 2));
    world.store.restore_removed(&world.admin, item.id, &RestoreOptions::default()).unwrap();
    assert_eq!(world.total("/lab"), (560, 4));
    assert_clean(&world.store);
}

#[test]
fn a_soft_limit_becomes_hard_after_its_grace_period() {
    let world = lab(bytes(1_000));
    let setting = QuotaSetting { hard: bytes(1_000), ..soft(bytes(100), 3_600) };
    world.set("/lab", setting);
    let until = || world.store.quotas(&world.admin, None).unwrap()[0].until;
    assert_eq!(until(), None);
    world.try_put_at("/lab/c", 50).unwrap();
    let when = world.store_now().plus(Duration::from_secs(3_600));
    assert_eq!(until(), Some(when));
    world.clock.advance(Duration::from_secs(3_599));
    world.try_put_at("/lab/d", 1).unwrap();
    assert_eq!(until(), Some(when));
    world.clock.advance(Duration::from_secs(1));
    let error = world.try_put_at("/lab/e", 1).unwrap_err();
    let exceeded = error.exceeded().unwrap();
    assert_eq!((exceeded.limit, exceeded.total), (100, 111));
    world.rm("/lab/c").unwrap();
    assert_eq!(until(), None);
    world.try_put_at("/lab/e", 100).unwrap();
    assert!(until().is_some());
    // The hard limit applies meanwhile.
    assert_eq!(kind(world.try_put_at("/lab/f", 900)), ErrorKind::Quota);
}

#[test]
fn invalid_limits_are_refused_each_with_a_hint() {
    let world = lab(bytes(100));
    let set = |target: QuotaTarget, setting| {
        let error = world.store.set_quota(&world.admin, &target, setting).unwrap_err();
        assert!(error.hint().is_some(), "{error}");
        (error.kind(), error.to_string())
    };
    let too_many = u64::try_from(i64::MAX).unwrap() + 1;
    let above = QuotaSetting { hard: bytes(10), ..soft(bytes(11), 60) };
    let rows = [
        (on("/lab"), QuotaSetting::default(), ErrorKind::Invalid),
        (on("/lab"), hard(bytes(too_many)), ErrorKind::Invalid),
        (on("/lab"), hard(resources(u64::MAX)), ErrorKind::Invalid),
        (on("/lab"), above, ErrorKind::Invalid),
        (on("/lab"), QuotaSetting { grace: Some(1), ..hard(bytes(1)) }, ErrorKind::Invalid),
        (on("/lab"), soft(bytes(1), u64::MAX), ErrorKind::Invalid),
        (on("/lab/a"), hard(bytes(1)), ErrorKind::WrongKind),
        (on("/nothing"), hard(bytes(1)), ErrorKind::NotFound),
    ];
    let mut messages = Vec::new();
    for (target, setting, expected) in rows {
        let (kind, message) = set(target, setting);
        assert_eq!(kind, expected, "{message}");
        messages.push(message);
    }
    messages.sort();
    messages.dedup();
    assert_eq!(messages.len(), 7, "{messages:?}");
    assert_eq!(world.total("/lab"), (60, 3));
}

fn grant(world: &World, to: &str, of: &str, rights: Rights) {
    world.grant(of, to, rights, Scope::This);
}

#[test]
fn control_of_the_parent_permits_setting_quotas_and_creating_permits_seeing_them() {
    let world = lab(bytes(100));
    let (head, member, reader) = (world.user("head"), world.user("member"), world.user("reader"));
    grant(&world, "head", "/lab", Rights::OWN);
    grant(&world, "head", "/lab/run", Rights::READ_OBJECT);
    grant(&world, "member", "/lab", Rights::CREATE.union(Rights::READ_OBJECT));
    for of in ["/lab", "/lab/run"] {
        grant(&world, "reader", of, Rights::READ_OBJECT);
    }
    grant(&world, "member", "/lab/run", Rights::READ_OBJECT);
    let set = |who: &Caller, of: &str| world.store.set_quota(who, &on(of), hard(bytes(100)));
    for (who, of) in [(&head, "/lab"), (&member, "/lab/run"), (&reader, "/lab/run"), (&head, "/")] {
        assert_eq!(kind(set(who, of)), ErrorKind::Denied, "{of} by {}", who.name());
        assert_eq!(kind(world.store.remove_quota(who, &on(of))), ErrorKind::Denied);
    }
    set(&head, "/lab/run").unwrap();
    let seen = |who: &Caller| {
        let quotas = world.store.quotas(who, None).unwrap().into_iter();
        quotas.map(|quota| quota.name).collect::<Vec<_>>()
    };
    assert_eq!(seen(&head), ["/lab", "/lab/run"]);
    assert_eq!(seen(&member), ["/lab"]);
    assert!(seen(&reader).is_empty());
    world.mkdir("/hidden");
    grant(&world, "public", "/hidden", Rights::NONE);
    let bearing = |of: &str| world.store.quotas(&world.admin, Some(&on(of))).map(|all| all.len());
    assert_eq!((bearing("/lab/run/b").unwrap(), bearing("/lab/a").unwrap()), (2, 1));
    assert_eq!(bearing("/other").unwrap(), 0);
    assert_eq!(kind(world.store.quotas(&member, Some(&on("/nothing")))), ErrorKind::NotFound);
}

#[test]
fn the_items_of_a_batch_are_refused_one_by_one() {
    let world = lab(bytes(100));
    let item = |to: &str, size: usize| {
        let received = Received::inline(&noise(size, 1), &Expected::default()).unwrap();
        let what = BatchWhat::Object(received.into());
        BatchItem { path: path(to), what, options: PutOptions::default() }
    };
    let items = [item("/lab/c", 30), item("/lab/d", 30), item("/lab/e", 10), item("/other/f", 50)];
    let answers = world.store.publish_many(&world.admin, &items).unwrap();
    let taken: Vec<_> = answers.iter().map(Result::is_ok).collect();
    assert_eq!(taken, [true, false, true, true]);
    assert_eq!(answers[1].as_ref().unwrap_err().kind(), ErrorKind::Quota);
    assert_eq!(world.total("/lab"), (100, 5));
    assert_clean(&world.store);
}

#[test]
fn an_upload_counts_when_it_is_published_and_one_that_cannot_fit_is_not_started() {
    let world = lab(bytes(100));
    let begin = |size| {
        let options = UploadOptions { size, ..UploadOptions::default() };
        world.store.begin_upload(&world.admin, path("/lab/up"), &options)
    };
    assert_eq!(kind(begin(Some(41))), ErrorKind::Quota);
    let upload = begin(None).unwrap().id;
    let part = run(world.store.put_part(
        &world.admin,
        upload,
        0,
        once(&noise(41, 1)),
        &Expected::default(),
    ));
    part.unwrap();
    assert_eq!(world.total("/lab"), (60, 3));
    assert_eq!(
        kind(run(world.store.complete_upload(&world.admin, upload, None))),
        ErrorKind::Quota
    );
    world.rm("/lab/a").unwrap();
    run(world.store.complete_upload(&world.admin, upload, None)).unwrap();
    assert_eq!(world.total("/lab"), (61, 3));
}

/// Bytes beyond a quota are neither requested nor kept.
#[test]
fn a_content_announced_as_too_large_is_refused_before_it_is_sent() {
    let world = lab(bytes(100));
    let large = |announced| {
        let expected = Expected { length: announced, ..Expected::default() };
        let options = PutOptions { expected, ..PutOptions::default() };
        kind(world.try_put(&world.admin, "/lab/large", &noise(1_000, 1), options))
    };
    assert_eq!((large(Some(1_000)), large(None)), (ErrorKind::Quota, ErrorKind::Quota));
    assert_eq!(world.blobs_in("main"), 0);
}

fn together(work: impl Fn(u64) + Sync) {
    thread::scope(|scope| {
        for writer in 0..8 {
            let work = &work;
            scope.spawn(move || work(writer));
        }
    });
}

fn writers_fill_a_quota_exactly(engine: impl Engine) {
    let engine = CountingEngine::new(Arc::new(engine));
    let world = world_on(engine.clone(), Place::memory("main"));
    world.mkdir("/lab");
    world.set("/lab", hard(bytes(500)));
    world.put("/lab/first", b"");
    let (taken, before) = (AtomicU64::new(0), engine.counts());
    together(|writer| {
        for n in 0..10 {
            match world.try_put_at(&format!("/lab/{writer}-{n}"), 10) {
                Ok(()) => drop(taken.fetch_add(1, Ordering::Relaxed)),
                Err(error) => assert_eq!(error.exceeded().unwrap().total, 500, "{error}"),
            }
            assert!(world.total("/lab").0 <= 500);
        }
    });
    assert_eq!((taken.into_inner(), world.total("/lab")), (50, (500, 51)));
    // Each of them was one commit: none had to be retried, and none of those refused early committed.
    assert!(engine.counts().commits - before.commits <= 80);
    assert_clean(&world.store);
}

#[test]
fn many_writers_fill_a_quota_exactly_and_never_conflict() {
    writers_fill_a_quota_exactly(MemoryEngine::new());
    let dir = tempfile::tempdir().unwrap();
    let options = FjallOptions { reserve: 0, ..FjallOptions::default() };
    writers_fill_a_quota_exactly(FjallEngine::open(dir.path().join("catalog"), options).unwrap());
}

/// Writers continue while quotas are set and removed, and while trees move into and out of them.
#[test]
fn no_write_is_lost_while_a_quota_is_set_or_a_tree_moves_across_it() {
    let world = lab(bytes(1 << 40));
    world.keep_removed("/lab", 3_600);
    world.store.remove_quota(&world.admin, &on("/lab")).unwrap();
    together(|writer| match writer {
        0 => {
            for n in 0..5 {
                drop(world.store.set_quota(&world.admin, &on("/lab"), hard(bytes(1 << 40))));
                if n < 4 {
                    drop(world.store.remove_quota(&world.admin, &on("/lab")));
                }
            }
        }
        1 => {
            for _ in 0..5 {
                drop(world.mv("/lab/run", "/other/run"));
                drop(world.mv("/other/run", "/lab/run"));
            }
        }
        writer => {
            for n in 0..20 {
                let name = format!("{writer}-{n}");
                drop(world.try_put_at(&format!("/lab/{name}"), 10));
                drop(world.try_put_at(&format!("/lab/run/{name}"), 10));
                if n % 3 == 0 {
                    drop(world.rm(&format!("/lab/run/{name}")));
                }
            }
        }
    });
    world.store.run_jobs().unwrap();
    assert!(world.total("/lab").0 > 0);
    assert_clean(&world.store);
    world.clock.advance(Duration::from_secs(7_200));
    world.store.purge_trash().unwrap();
    world.sweep();
    assert_clean(&world.store);
}

/// An unused mark is removed.
#[test]
fn the_count_for_an_abandoned_move_is_discarded() {
    let world = lab(bytes(100));
    let large = noise(200, 1);
    world.mkdir("/other/tree");
    world.put("/other/tree/x", &large);
    assert_eq!(kind(world.mv("/other/tree", "/lab/tree")), ErrorKind::Quota);
    assert_eq!(world.store.pending_jobs().unwrap(), 1);
    world.put("/other/tree/y", &large);
    assert_clean(&world.store);
    world.clock.advance(Duration::from_secs(3_600));
    let counters = world.table(b'c').len();
    world.store.run_jobs().unwrap();
    assert_eq!((world.store.pending_jobs().unwrap(), world.table(b'c').len()), (0, counters - 2));
    assert_clean(&world.store);
}

/// A put below a quota costs one more read; without a quota there is no extra cost (`round_trips`).
#[test]
fn a_quota_check_costs_one_read() {
    let engine = CountingEngine::new(Arc::new(MemoryEngine::new()));
    let world = world_on(engine.clone(), Place::memory("main"));
    for collection in ["/lab", "/lab/run"] {
        world.mkdir(collection);
    }
    let put = |to: &str| {
        let expected = Expected { length: Some(1), ..Expected::default() };
        let options = PutOptions { expected, ..PutOptions::default() };
        let cost = engine.cost(|| drop(world.try_put(&world.admin, to, b"x", options).unwrap()));
        (cost.snapshots, cost.reads(), cost.commits)
    };
    put("/lab/run/first");
    assert_eq!(put("/lab/run/a"), (1, 1, 1));
    world.set("/lab", hard(bytes(100)));
    world.set("/", hard(bytes(100)));
    assert_eq!(put("/lab/run/b"), (1, 2, 1));
    world.set("/", soft(bytes(100), 60));
    assert_eq!(put("/lab/run/c"), (1, 3, 1));
}

/// An interrupted count continues when jobs are run, and nothing is refused before.
#[test]
fn an_interrupted_count_is_completed_by_upkeep() {
    use cenote_kv::{Fault, FaultyEngine};
    let engine = FaultyEngine::new(Arc::new(MemoryEngine::new()));
    let world = world_on(engine.clone(), Place::memory("main"));
    world.mkdir("/lab");
    world.put("/lab/a", &noise(60, 1));
    engine.heal();
    world.store.set_quota(&world.admin, &on("/lab"), hard(bytes(50))).unwrap();
    let last = *engine.commits().last().unwrap();
    world.store.remove_quota(&world.admin, &on("/lab")).unwrap();
    engine.fail_at(last, Fault::Refuse);
    let set: Result<Quota, Error> =
        world.store.set_quota(&world.admin, &on("/lab"), hard(bytes(50)));
    assert_eq!(kind(set), ErrorKind::NoSpace);
    engine.heal();
    assert_eq!(world.store.quotas(&world.admin, None).unwrap()[0].total, None);
    world.try_put_at("/lab/b", 60).unwrap();
    assert_clean(&world.store);
    world.store.run_jobs().unwrap();
    assert_eq!(world.total("/lab"), (120, 2));
    assert_eq!(kind(world.try_put_at("/lab/c", 1)), ErrorKind::Quota);
}

fn of_user(name: &str) -> QuotaTarget {
    QuotaTarget::User(name.into())
}

fn of_group(name: &str) -> QuotaTarget {
    QuotaTarget::Group(name.into())
}

/// Ada and Bob each own 30 bytes in two objects, and are in the group `lab`; Eve owns nothing and is not in it.
fn people() -> (World, [Caller; 3]) {
    let world = world();
    let callers = ["ada", "bob", "eve"].map(|name| world.user(name));
    for (caller, name) in callers.iter().zip(["ada", "bob", "eve"]) {
        world.mkdir(&format!("/{name}"));
        grant(&world, name, &format!("/{name}"), Rights::OWN);
        if name != "eve" {
            for object in ["x", "y"] {
                let to = format!("/{name}/{object}");
                let bytes = noise(15, 1);
                world.try_put(caller, &to, &bytes, PutOptions::default()).unwrap();
            }
        }
    }
    world.store.add_group(&world.admin, "lab").unwrap();
    let members = ["ada".to_owned(), "bob".to_owned()];
    world.store.change_group(&world.admin, "lab", &members, &[]).unwrap();
    (world, callers)
}

#[test]
fn resources_of_a_user_count_wherever_they_are() {
    let (world, [ada, bob, _]) = people();
    let set = |most| world.store.set_quota(&world.admin, &of_user("ada"), hard(bytes(most)));
    set(50).unwrap();
    assert_eq!(world.total("ada"), (30, 2));
    let put = |caller: &Caller, to: &str, size| {
        world.try_put(caller, to, &noise(size, 2), PutOptions::default()).map(drop)
    };
    put(&ada, "/ada/z", 20).unwrap();
    let error = put(&ada, "/ada/more", 1).unwrap_err();
    assert_eq!(error.exceeded().unwrap().quota, "user ada");
    put(&bob, "/bob/more", 100).unwrap();
    // It counts for the owner, whoever writes it.
    grant(&world, "bob", "/ada/z", Rights::OWN);
    assert_eq!(kind(put(&bob, "/ada/z", 21)), ErrorKind::Quota);
    put(&bob, "/ada/z", 5).unwrap();
    world.mv("/ada/x", "/bob/from-ada").unwrap();
    assert_eq!(world.total("ada"), (35, 3));
    let owner = |of: &str, name: &str| {
        let change = AttributeChange { owner: Some(name.into()), ..AttributeChange::default() };
        world.store.set_attributes(&world.admin, &at(of), &change).map(drop)
    };
    assert_eq!(kind(owner("/bob/more", "ada")), ErrorKind::Quota);
    owner("/ada/z", "bob").unwrap();
    assert_eq!(world.total("ada"), (30, 2));
    world.keep_removed("/", 3_600);
    world.discard("/bob/from-ada");
    assert_eq!(world.total("ada"), (30, 2));
    world.clock.advance(Duration::from_secs(7_200));
    world.store.purge_trash().unwrap();
    world.store.run_jobs().unwrap();
    assert_eq!(world.total("ada"), (15, 1));
    assert_clean(&world.store);
    world.store.remove_quota(&world.admin, &of_user("ada")).unwrap();
    assert!(world.table(b'z').is_empty());
    assert_clean(&world.store);
}

#[test]
fn resources_of_members_count_for_their_group_during_membership() {
    let (world, [ada, _, eve]) = people();
    let change = |join: &[&str], leave: &[&str]| {
        let names = |all: &[&str]| all.iter().map(|name| (*name).to_owned()).collect::<Vec<_>>();
        world.store.change_group(&world.admin, "lab", &names(join), &names(leave)).unwrap();
    };
    world.store.set_quota(&world.admin, &of_group("lab"), hard(bytes(100))).unwrap();
    assert_eq!(world.total("lab"), (60, 4));
    let put = |caller: &Caller, to: &str, size| {
        world.try_put(caller, to, &noise(size, 2), PutOptions::default()).map(drop)
    };
    put(&ada, "/ada/z", 40).unwrap();
    let error = put(&ada, "/ada/more", 1).unwrap_err();
    assert_eq!(error.exceeded().unwrap().quota, "group lab");
    put(&eve, "/eve/x", 500).unwrap();
    change(&[], &["ada"]);
    assert_eq!(world.total("lab"), (30, 2));
    put(&ada, "/ada/more", 1).unwrap();
    // A member who exceeds the limit may join; nobody can add anything then.
    change(&["ada", "eve", "ada"], &[]);
    assert_eq!(world.total("lab"), (601, 7));
    assert_eq!(kind(put(&ada, "/ada/again", 1)), ErrorKind::Quota);
    assert_clean(&world.store);
    // A user with their own quota counts for both.
    world.store.set_quota(&world.admin, &of_user("eve"), hard(bytes(1_000))).unwrap();
    put(&eve, "/eve/x", 100).unwrap();
    assert_eq!((world.total("eve"), world.total("lab")), ((100, 1), (201, 7)));
    world.store.remove_person(&world.admin, "eve").unwrap();
    assert_eq!(world.total("lab"), (101, 6));
    assert_clean(&world.store);
    world.store.remove_quota(&world.admin, &of_group("lab")).unwrap();
    assert!(world.table(b'z').is_empty());
    world.store.set_quota(&world.admin, &of_group("lab"), hard(bytes(1_000))).unwrap();
    world.store.remove_person(&world.admin, "lab").unwrap();
    assert!(world.table(b'z').is_empty());
    assert_clean(&world.store);
}

#[test]
fn administrators_set_quotas_of_users_who_see_their_own() {
    let (world, [ada, bob, eve]) = people();
    let all = [of_user("ada"), of_group("lab")];
    for target in &all {
        assert_eq!(kind(world.store.set_quota(&ada, target, hard(bytes(9)))), ErrorKind::Denied);
        assert_eq!(kind(world.store.remove_quota(&ada, target)), ErrorKind::Denied);
        let missing = world.store.remove_quota(&world.admin, target);
        assert_eq!(kind(missing), ErrorKind::NotFound);
        world.store.set_quota(&world.admin, target, hard(bytes(90))).unwrap();
    }
    let seen = |who: &Caller| {
        let quotas = world.store.quotas(who, None).unwrap().into_iter();
        quotas.map(|quota| quota.name).collect::<Vec<_>>()
    };
    assert_eq!(seen(&world.admin), ["ada", "lab"]);
    let again = |who: &Caller| world.store.caller_for(who.user()).unwrap();
    assert_eq!(seen(&again(&ada)), ["ada", "lab"]);
    assert_eq!((seen(&again(&bob)), seen(&eve).len()), (vec!["lab".to_owned()], 0));
    for (target, expected) in [
        (of_user("nobody"), ErrorKind::NotFound),
        (of_user("lab"), ErrorKind::Invalid),
        (of_group("ada"), ErrorKind::Invalid),
        (of_group("public"), ErrorKind::Invalid),
    ] {
        let refused = world.store.set_quota(&world.admin, &target, hard(bytes(9)));
        assert_eq!(kind(refused), expected, "{target:?}");
    }
}

/// Quotas are only looked up if the root has the mark that there are any.
#[test]
fn a_root_without_quota_records_is_found_and_repaired() {
    for target in [on("/lab"), QuotaTarget::User("ada".into())] {
        let world = world();
        world.mkdir("/lab");
        world.user("ada");
        let root = key(b'N', &[1]);
        let before = world.value(&root);
        world.store.set_quota(&world.admin, &target, hard(bytes(10))).unwrap();
        let noted = world.value(&root);
        world.raw_put(root.clone(), before);
        let look = CheckOptions { repair: false, contents: 0 };
        let found = findings(&world.store, look);
        assert_eq!(found.iter().map(|it| it.kind).collect::<Vec<_>>(), [FindingKind::Reference]);
        findings(&world.store, CheckOptions { repair: true, ..look });
        assert_clean(&world.store);
        assert_eq!(world.value(&root), noted);
    }
}
