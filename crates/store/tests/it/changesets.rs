//! Change sets: what their creators and others see, how they end, and why a commit is refused.

use std::time::Duration;

use cenote_blob::Place;
use cenote_kv::{FjallEngine, FjallOptions, PostgresEngine};
use cenote_store::{
    AccessChange, At, AttributeChange, Caller, ChangeSet, ChangeSetId, ChangeSetLimits,
    ChangeSetState, Conditions, CreateOptions, Draft, ErrorKind, MoveOptions, NewTicket, NewToken,
    NewUser, Pace, PutOptions, ReadOptions, RestoreOptions, Result, Rights, Role, Scope, TicketUse,
    TrashItem, UploadOptions, Versioning, Where,
};

use crate::postgres_server::fresh_schema;
use crate::uploads::{begin, complete, part};
use crate::world::{World, assert_clean, at, kind, noise, once, path, run, world, world_on};

/// The store as a change set sees it.
pub(crate) fn inside(world: &World, id: ChangeSetId) -> World {
    let within = run(world.store.within(&world.admin, id)).unwrap();
    World {
        store: (*within).clone(),
        admin: world.admin.clone(),
        clock: world.clock.clone(),
        parts: world.parts.clone(),
        opener: world.opener.clone(),
    }
}

/// A newly created change set.
pub(crate) fn begun(world: &World) -> (World, ChangeSetId) {
    let id = world.store.begin_change_set(&world.admin, None).unwrap().id;
    (inside(world, id), id)
}

pub(crate) fn commit(world: &World, id: ChangeSetId) -> Result<ChangeSet> {
    run(world.store.commit_change_set(&world.admin, id))
}

/// Everything that callers can see, except for ids, tags and times.
pub(crate) fn seen(world: &World) -> Vec<String> {
    let (store, admin) = (&world.store, &world.admin);
    let walk = store.walk(admin, &at("/"), None, 10_000).unwrap();
    let mut lines = vec![];
    for stat in walk.entries {
        let at = At::Id(stat.id);
        let (resource, mut line) = (&stat.resource, stat.path.to_string());
        line += &format!(" {:?} {:?} {:?}", resource.kind, resource.target, resource.mode);
        if resource.content.is_some() {
            let opened = store.open(admin, &at, &ReadOptions::default()).unwrap();
            line += &format!(" {:?}", run(opened.read_all()).unwrap());
        }
        line += &format!(" {:?}", store.avus(admin, &at).unwrap());
        let access = store.access(admin, &at).unwrap().1;
        line += &format!(" {:?}", access.iter().map(|g| (&g.name, g.rights)).collect::<Vec<_>>());
        line += &format!(" {}", store.versions(admin, &at).unwrap().len());
        lines.push(line);
    }
    lines.extend(world.trash_of(admin).into_iter().map(|item| format!("removed {}", item.path)));
    lines
}

fn version(world: &World) -> u64 {
    world.parts.engine.snapshot().unwrap().version()
}

/// One change of each family.
fn change_everything(world: &World) -> Result<()> {
    let (store, admin) = (&world.store, &world.admin);
    world.try_mkdir(admin, "/new")?;
    world.try_put(admin, "/new/small", b"small", PutOptions::default())?;
    world.try_put(admin, "/new/large", &noise(5_000, 2), PutOptions::default())?;
    world.try_put(admin, "/old/a", b"replaced", PutOptions::default())?;
    world.write_at("/new/small", Where::Append, b" and more")?;
    world.write_at("/old/large", Where::Offset(100), &noise(300, 3))?;
    world.truncate("/new/large", 3_000)?;
    world.cp("/new/large", "/old/copy")?;
    world.mv("/old/b", "/new/b")?;
    world.rm("/old/c")?;
    world.rm_all("/tree")?;
    world.describe("/new/small", "k", "v");
    let grant = [AccessChange::Grant("public".into(), Rights::READ_OBJECT.into(), Scope::Subtree)];
    store.change_access(admin, &at("/new"), &grant)?;
    let mode = AttributeChange { mode: Some(0o600), ..AttributeChange::default() };
    store.set_attributes(admin, &at("/old/a"), &mode)?;
    store.keep_version(
        admin,
        &at("/old/a"),
        &cenote_store::NewVersion { label: Some("kept".into()), ..Default::default() },
    )?;
    let overwrite = MoveOptions { replace: true, ..MoveOptions::default() };
    store.relocate(admin, &at("/old/d"), &path("/new/b"), overwrite).map(drop)
}

fn filled(world: &World) {
    world.keep_removed("/", 3_600);
    for folder in ["/old", "/tree"] {
        world.mkdir(folder);
    }
    for name in ["a", "b", "c", "d"] {
        world.put(&format!("/old/{name}"), name.as_bytes());
    }
    world.put("/old/large", &noise(2_000, 1));
    world.put("/tree/x", b"x");
    let versioning = Some(Some(Versioning::OnRequest(cenote_store::Retention::default())));
    let change = AttributeChange { versioning, ..AttributeChange::default() };
    world.store.set_attributes(&world.admin, &at("/old/a"), &change).unwrap();
}

#[test]
fn changes_are_hidden_from_others_before_the_commit_and_all_visible_afterwards() {
    let (world, alone) = (world(), self::world());
    filled(&world);
    filled(&alone);
    let before = seen(&world);
    let (set, id) = begun(&world);
    change_everything(&set).unwrap();
    change_everything(&alone).unwrap();
    assert_eq!(seen(&set), seen(&alone), "it is seen as if all of it had been committed");
    assert_eq!(seen(&world), before);
    let (position, commits) = (world.store.newest_change().unwrap(), version(&world));
    let committed = commit(&world, id).unwrap();
    assert_eq!((committed.state, committed.changes), (ChangeSetState::Committed, 16));
    assert_eq!(version(&world), commits + 1, "it is one commit");
    assert_eq!(seen(&world), seen(&alone));
    let changes = world.store.changes(&world.admin, position, 100).unwrap().changes;
    let commits: std::collections::BTreeSet<String> =
        changes.iter().map(|change| change.position.to_string()[..16].to_owned()).collect();
    assert_eq!((changes.len() > 15, commits.len()), (true, 1), "one commit in the feed");
    world.sweep();
    assert_eq!(seen(&world), seen(&alone));
    assert_clean(&world.store);
}

#[test]
fn a_dropped_change_set_leaves_nothing() {
    let world = world();
    filled(&world);
    world.sweep();
    let (rows, blobs) = (world.rows(), world.blobs_in("main"));
    let (set, id) = begun(&world);
    change_everything(&set).unwrap();
    assert!(world.blobs_in("main") > blobs);
    world.store.drop_change_set(&world.admin, id).unwrap();
    assert_eq!(kind(set.stat("/old")), ErrorKind::Expired);
    assert_eq!(kind(set.try_mkdir(&set.admin, "/x")), ErrorKind::Expired);
    assert_eq!(kind(commit(&world, id)), ErrorKind::Expired);
    let state = world.store.change_set(&world.admin, id).unwrap().state;
    assert_eq!(state, ChangeSetState::Dropped);
    drop(set);
    run(world.store.maintain_once(&cenote_store::Pace::default())).unwrap();
    let ids = |rows: Vec<cenote_kv::Row>| rows.into_iter().filter(|(key, _)| key[0] != b's');
    assert!(ids(world.rows()).eq(ids(rows)), "but for the ids that were taken");
    assert_eq!(world.blobs_in("main"), blobs);
    assert_clean(&world.store);
}

#[test]
fn a_change_set_expires_if_unused_and_after_a_maximum_time() {
    let world = world();
    let (minute, limits) = (Duration::from_secs(60), ChangeSetLimits::default());
    let (set, id) = begun(&world);
    set.put("/large", &noise(500, 1));
    for _ in 0..limits.life.as_secs() / 60 - 1 {
        world.clock.advance(minute);
        let set = inside(&world, id);
        assert_eq!(set.read("/large"), noise(500, 1));
    }
    world.clock.advance(minute);
    assert_eq!(kind(run(world.store.within(&world.admin, id))), ErrorKind::Expired);
    assert_eq!(kind(set.stat("/large")), ErrorKind::Expired);
    let (_, unused) = begun(&world);
    world.clock.advance(limits.idle - Duration::from_secs(1));
    world.store.extend_change_set(&world.admin, unused).unwrap();
    world.clock.advance(limits.idle - Duration::from_secs(1));
    assert_eq!(world.store.change_sets(&world.admin).unwrap().len(), 1);
    world.clock.advance(Duration::from_secs(1));
    run(world.store.maintain_once(&cenote_store::Pace::default())).unwrap();
    assert!(world.store.change_sets(&world.admin).unwrap().is_empty());
    assert_eq!(kind(commit(&world, unused)), ErrorKind::Expired);
    let longer = world.store.begin_change_set(&world.admin, Some(limits.life)).unwrap();
    assert_eq!(longer.expires, longer.until);
    for wrong in [Duration::ZERO, limits.life + Duration::from_secs(1)] {
        assert_eq!(
            kind(world.store.begin_change_set(&world.admin, Some(wrong))),
            ErrorKind::Invalid
        );
    }
    assert_eq!(world.blobs_in("main"), 0);
    // Long afterwards its id is unknown.
    world.clock.advance(limits.life + minute);
    assert_eq!(kind(commit(&world, unused)), ErrorKind::NotFound);
}

/// The same world with other limits of change sets.
fn limited(change_sets: ChangeSetLimits) -> World {
    let mut world = world();
    world.parts.change_sets = change_sets;
    world.reopened()
}

#[test]
fn a_change_set_is_bounded_and_a_change_beyond_the_limit_has_no_effect() {
    let world = limited(ChangeSetLimits { bytes: 20_000, ..ChangeSetLimits::default() });
    let (set, id) = begun(&world);
    let many: Vec<String> = (0..1_000)
        .map(|n| format!("/n{n}"))
        .take_while(|name| match set.try_mkdir(&set.admin, name) {
            Ok(_) => true,
            Err(error) => {
                assert_eq!(error.kind(), ErrorKind::TooLarge);
                assert!(error.hint().unwrap().contains("this change was not made"));
                false
            }
        })
        .collect();
    assert!((10..500).contains(&many.len()), "{}", many.len());
    let described = world.store.change_set(&world.admin, id).unwrap();
    assert!(described.bytes <= 20_000, "{described:?}");
    assert_eq!(set.names("/").len(), many.len());
    let large = set.try_put(&set.admin, "/n0/large", &noise(100, 1), PutOptions::default());
    assert_eq!((kind(large), world.blobs_in("main")), (ErrorKind::TooLarge, 0));
    commit(&world, id).unwrap();
    assert_eq!(world.names("/").len(), many.len());
    assert_clean(&world.store);
}

#[test]
fn the_number_of_change_sets_is_limited_per_user_and_in_total() {
    let limits = ChangeSetLimits { of_user: 2, all: 3, ..ChangeSetLimits::default() };
    let world = limited(limits);
    let other = world.user("other");
    let (_, first) = begun(&world);
    begun(&world);
    let refused = world.store.begin_change_set(&world.admin, None).unwrap_err();
    assert_eq!(refused.kind(), ErrorKind::TooLarge);
    assert!(refused.to_string().contains("of yours"), "{refused}");
    world.store.begin_change_set(&other, None).unwrap();
    let refused = world.store.begin_change_set(&other, None).unwrap_err();
    assert!(refused.to_string().contains("of all users"), "{refused}");
    world.store.drop_change_set(&world.admin, first).unwrap();
    world.store.begin_change_set(&other, None).unwrap();
    let small = limited(ChangeSetLimits { all_bytes: 2_000, ..ChangeSetLimits::default() });
    let sets = [begun(&small), begun(&small)];
    let kinds: Vec<_> = (0..20)
        .filter_map(|n| sets[n % 2].0.try_mkdir(&small.admin, &format!("/{n}")).err())
        .map(|error| error.kind())
        .collect();
    assert!(!kinds.is_empty() && kinds.iter().all(|kind| *kind == ErrorKind::NoSpace), "{kinds:?}");
    small.store.drop_change_set(&small.admin, sets[0].1).unwrap();
    small.store.drop_change_set(&small.admin, sets[1].1).unwrap();
    begun(&small).0.mkdir("/room again");
}

#[test]
fn a_change_set_belongs_to_its_creator_and_is_missing_for_others() {
    let world = world();
    let (store, admin) = (&world.store, &world.admin);
    let (_, id) = begun(&world);
    let other = world.user("other");
    let limits = NewToken { rights: Rights::READ_OBJECT, ..token() };
    let narrow = caller_by(&world, &limits);
    for stranger in [&other, &narrow, &store.anonymous().unwrap()] {
        assert_eq!(kind(run(store.within(stranger, id))), ErrorKind::NotFound);
        assert_eq!(kind(run(store.commit_change_set(stranger, id))), ErrorKind::NotFound);
        assert_eq!(kind(store.extend_change_set(stranger, id)), ErrorKind::NotFound);
    }
    assert_eq!(kind(store.change_set(&other, id)), ErrorKind::NotFound);
    assert_eq!(kind(store.drop_change_set(&other, id)), ErrorKind::NotFound);
    assert!(store.change_sets(&other).unwrap().is_empty());
    assert_eq!(
        kind(store.begin_change_set(&store.anonymous().unwrap(), None)),
        ErrorKind::Unauthenticated
    );
    // Another credential with the same rights is accepted, too.
    run(store.within(&caller_by(&world, &token()), id)).unwrap();
    // Administrators can list and drop change sets of others, but not read them.
    let theirs = store.begin_change_set(&other, None).unwrap().id;
    assert_eq!(store.change_sets(admin).unwrap().len(), 2);
    assert_eq!(store.change_set(admin, theirs).unwrap().owner, "other");
    assert_eq!(kind(run(store.within(admin, theirs))), ErrorKind::NotFound);
    store.drop_change_set(admin, theirs).unwrap();
    world.put("/a", b"a");
    let ticket = store.add_ticket(admin, &at("/a"), &NewTicket::default()).unwrap().0;
    let grant = store.use_ticket(admin, &ticket, "host", TicketUse::Look).unwrap();
    let with_ticket = admin.clone().with_ticket(grant);
    assert_eq!(kind(run(store.within(&with_ticket, id))), ErrorKind::Invalid);
    assert_eq!(kind(store.begin_change_set(&with_ticket, None)), ErrorKind::Invalid);
}

fn token() -> NewToken {
    NewToken { label: "t".into(), rights: Rights::OWN, ..NewToken::default() }
}

fn caller_by(world: &World, token: &NewToken) -> Caller {
    let (secret, _) = world.store.add_token(&world.admin, token).unwrap();
    world.store.authenticate_token(&secret).unwrap()
}

#[test]
fn the_first_commit_wins_and_the_conflict_names_what_changed() {
    the_first_wins(world);
}

/// There the keys of a commit are compared as one, and the database cannot tell which of them changed.
#[test]
fn a_conflict_names_what_changed_on_postgresql() {
    if fresh_schema().is_none() {
        return;
    }
    the_first_wins(|| {
        let config = fresh_schema().unwrap();
        world_on(PostgresEngine::open(&config).unwrap(), Place::memory("main"))
    });
}

fn the_first_wins(world: impl Fn() -> World) {
    type Change = fn(&World);
    let changes: [(&str, Change, Change); 8] = [
        ("/old/a", |w| drop(w.put("/old/a", b"1")), |w| drop(w.put("/old/a", b"2"))),
        (
            "/old/a",
            |w| drop(w.describe("/old/a", "k", "1")),
            |w| drop(w.describe("/old/a", "l", "2")),
        ),
        ("/new", |w| drop(w.mkdir("/new")), |w| drop(w.put("/new", b"2"))),
        ("/old", |w| drop(w.put("/old/e", b"")), |w| w.rm_all("/old").unwrap()),
        ("/old/b", |w| drop(w.mv("/old/b", "/b").unwrap()), |w| w.rm("/old/b").unwrap()),
        ("/old/a", |w| drop(w.cp("/old/a", "/a").unwrap()), |w| drop(w.put("/old/a", b"2"))),
        (
            "/old/large",
            |w| drop(w.truncate("/old/large", 1).unwrap()),
            |w| {
                w.write_at("/old/large", Where::Append, b"2").map(drop).unwrap();
            },
        ),
        ("/old", |w| w.rm_all("/old").unwrap(), |w| drop(w.mv("/old", "/older").unwrap())),
    ];
    for (what, mine, theirs) in changes {
        for others_in_a_set in [false, true] {
            let world = world();
            filled(&world);
            let ((set, id), (other, theirs_id)) = (begun(&world), begun(&world));
            mine(&set);
            match others_in_a_set {
                false => theirs(&world),
                true => {
                    theirs(&other);
                    commit(&world, theirs_id).unwrap();
                }
            }
            let after = seen(&world);
            let error = commit(&world, id).unwrap_err();
            assert_eq!(error.kind(), ErrorKind::Conflict, "{what}: {error}");
            assert!(error.to_string().contains(what), "{what}: {error}");
            assert_eq!(seen(&world), after, "nothing of it was committed");
            let state = world.store.change_set(&world.admin, id).unwrap().state;
            assert_eq!(state, ChangeSetState::Conflicted);
            assert_eq!(kind(commit(&world, id)), ErrorKind::Expired);
            drop((set, other));
            assert_clean(&world.store);
        }
    }
}

#[test]
fn changes_of_different_things_do_not_conflict() {
    let world = world();
    filled(&world);
    let ((one, first), (two, second)) = (begun(&world), begun(&world));
    one.put("/old/a", b"one");
    one.put("/old/new", b"one");
    two.put("/old/b", b"two");
    two.mkdir("/old/other");
    world.put("/old/c", b"outside");
    commit(&world, second).unwrap();
    commit(&world, first).unwrap();
    let read = |name: &str| world.read(&format!("/old/{name}"));
    assert_eq!([read("a"), read("b"), read("c")], [&b"one"[..], b"two", b"outside"]);
    assert_eq!(world.names("/old"), ["a", "b", "c", "d", "large", "new", "other"]);
    assert_clean(&world.store);
}

/// The one anomaly: data that a set only showed to its creator is not part of the evidence of its commit; a
/// condition is.
#[test]
fn resources_only_read_may_be_changed_by_others_and_conditions_are_checked_at_the_commit() {
    for conditional in [false, true] {
        let world = world();
        filled(&world);
        let ((one, first), (two, second)) = (begun(&world), begun(&world));
        // Each reads what the other changes.
        let change = |set: &World, read: &str, write: &str| {
            let tag = set.stat(read).unwrap().description_tag();
            let if_match = conditional.then(|| tag.clone());
            let guard = Conditions { if_match, ..Conditions::default() };
            if conditional {
                let same = [cenote_store::AvuChange::Set(crate::world::avu("seen", "yes"))];
                set.store.change_avus(&set.admin, &at(read), &same, &guard).unwrap();
            }
            set.describe(write, "decided", "yes");
        };
        change(&one, "/old/a", "/old/b");
        change(&two, "/old/b", "/old/a");
        commit(&world, first).unwrap();
        let second = commit(&world, second);
        assert_eq!(second.is_err(), conditional, "{second:?}");
    }
}

#[test]
fn reads_in_a_change_set_see_one_state_with_its_own_changes() {
    let world = world();
    filled(&world);
    let (set, _) = begun(&world);
    set.put("/old/mine", b"mine");
    world.put("/old/theirs", b"theirs");
    world.put("/old/a", b"theirs");
    world.put("/old/large", &noise(3_000, 9));
    world.rm("/old/b").unwrap();
    world.store.empty_trash(&world.admin).unwrap();
    run(world.store.maintain_once(&cenote_store::Pace::default())).unwrap();
    assert_eq!(set.names("/old"), ["a", "b", "c", "d", "large", "mine"]);
    assert_eq!(set.read("/old/a"), b"a");
    assert!(set.read("/old/large") == noise(2_000, 1), "its bytes are not swept");
    let blobs = world.blobs_in("main");
    let open = world.store.change_sets(&world.admin).unwrap();
    world.store.drop_change_set(&world.admin, open[0].id).unwrap();
    run(world.store.maintain_once(&cenote_store::Pace::default())).unwrap();
    assert_eq!(world.blobs_in("main"), blobs - 1, "then they are");
}

#[test]
fn a_change_set_is_refused_if_rights_were_revoked_before_the_commit() {
    type Take = fn(&World);
    let cases: [(&str, Take); 5] = [
        ("the grant", |w| grant(w, "lab", Rights::NONE)),
        ("the group", |w| {
            w.store.change_group(&w.admin, "lab", &[], &["other".into()]).unwrap();
        }),
        ("the account", |w| w.store.remove_person(&w.admin, "other").unwrap()),
        ("the role", |w| w.store.set_role(&w.admin, "other", Role::GroupAdmin).unwrap()),
        ("sight of it", |w| drop(w.mv("/shared", "/hidden").unwrap())),
    ];
    for (what, take) in cases {
        let world = world();
        world.mkdir("/shared");
        world.mkdir("/shared/below");
        let other = world.user("other");
        world.store.add_group(&world.admin, "lab").unwrap();
        world.store.change_group(&world.admin, "lab", &["other".into()], &[]).unwrap();
        grant(&world, "lab", Rights::OWN);
        let other = world.store.caller_for(other.user()).unwrap();
        let id = world.store.begin_change_set(&other, None).unwrap().id;
        let set = run(world.store.within(&other, id)).unwrap();
        let to = path("/shared/below/new");
        set.create(&other, &to, Draft::Collection, CreateOptions::default()).unwrap();
        drop(set);
        take(&world);
        let error = run(world.store.commit_change_set(&other, id)).unwrap_err();
        assert_eq!(error.kind(), ErrorKind::Conflict, "{what}: {error}");
        assert!(world.store.walk(&world.admin, &at("/"), None, 100).unwrap().entries.len() < 6);
    }
}

/// A change set can be held for long: it depends on who has access along its own paths, and nowhere else.
#[test]
fn a_change_set_is_committed_although_access_elsewhere_was_changed() {
    let world = world();
    for collection in ["/lab", "/lab/run", "/lab/other", "/shared"] {
        world.mkdir(collection);
    }
    let (set, id) = begun(&world);
    set.put("/lab/run/x", b"content");
    grant(&world, "public", Rights::READ_OBJECT);
    world.mv("/lab/other", "/shared/other").unwrap();
    grant(&world, "public", Rights::NONE);
    commit(&world, id).unwrap();
    assert_eq!(world.read("/lab/run/x"), b"content");
}

fn grant(world: &World, name: &str, rights: Rights) {
    world.grant("/shared", name, rights, Scope::Subtree);
}

/// A conflict reveals nothing that the creator may not see.
#[test]
fn a_conflict_with_a_hidden_resource_shows_only_its_known_path() {
    let world = world();
    let other = world.user("other");
    world.mkdir("/shared");
    grant(&world, "other", Rights::OWN);
    world.put("/shared/x", b"x");
    let id = world.store.begin_change_set(&other, None).unwrap().id;
    let set = run(world.store.within(&other, id)).unwrap();
    run(set.put(&other, path("/shared/x"), once(b"y"), PutOptions::default())).unwrap();
    drop(set);
    grant(&world, "other", Rights::NONE);
    world.mv("/shared", "/plans").unwrap();
    let error = run(world.store.commit_change_set(&other, id)).unwrap_err().to_string();
    assert!(error.contains("/shared") && !error.contains("plans"), "{error}");
}

#[test]
fn accounts_tokens_tickets_places_uploads_and_settings_are_not_part_of_a_change_set() {
    let world = world();
    world.put("/a", b"a");
    let (set, id) = begun(&world);
    let (store, admin) = (&set.store, &set.admin);
    let rows = world.rows();
    let user = NewUser { name: "new".into(), password: None, role: Role::User };
    let refused = [
        kind(store.add_user(admin, &user)),
        kind(store.add_group(admin, "group")),
        kind(store.add_token(admin, &token())),
        kind(store.add_ticket(admin, &at("/a"), &NewTicket::default())),
        kind(store.begin_upload(admin, path("/b"), &UploadOptions::default())),
        kind(store.set_default_place(admin, set.place("main"))),
    ];
    assert!(refused.iter().all(|kind| *kind == ErrorKind::Invalid), "{refused:?}");
    assert_eq!(commit(&world, id).unwrap().changes, 0);
    let ids = |rows: Vec<cenote_kv::Row>| rows.into_iter().filter(|(key, _)| key[0] != b's');
    assert!(ids(world.rows()).eq(ids(rows)));
}

/// Large contents are uploaded outside of the set, and published in it.
#[test]
fn an_upload_sent_outside_is_completed_in_a_change_set() {
    for dropped in [false, true] {
        let world = world();
        let (set, id) = begun(&world);
        let upload = begin(&world, "/up", UploadOptions::default()).unwrap().id;
        part(&world, upload, 0, &noise(100, 1)).unwrap();
        part(&world, upload, 100, b"small").unwrap();
        complete(&set, upload, None).unwrap();
        let whole = [noise(100, 1), b"small".to_vec()].concat();
        assert!(set.read("/up") == whole);
        assert_eq!(kind(complete(&set, upload, None)), ErrorKind::NotFound);
        assert_eq!(kind(world.stat("/up")), ErrorKind::NotFound);
        world.store.upload(&world.admin, upload).unwrap();
        if dropped {
            world.store.drop_change_set(&world.admin, id).unwrap();
            drop(set);
            world.sweep();
            complete(&world, upload, None).unwrap();
        } else {
            commit(&world, id).unwrap();
            drop(set);
            assert_eq!(kind(world.store.upload(&world.admin, upload)), ErrorKind::NotFound);
        }
        world.sweep();
        assert!(world.read("/up") == whole);
        assert_clean(&world.store);
    }
    let world = world();
    let (set, id) = begun(&world);
    let upload = begin(&world, "/up", UploadOptions::default()).unwrap().id;
    part(&world, upload, 0, &noise(100, 1)).unwrap();
    complete(&set, upload, None).unwrap();
    part(&world, upload, 100, b"late").unwrap();
    let error = commit(&world, id).unwrap_err();
    assert_eq!(error.kind(), ErrorKind::Conflict, "a part came after it was completed: {error}");
}

#[test]
fn a_restart_removes_change_sets_and_their_contents() {
    let dir = tempfile::tempdir().unwrap();
    let open = || {
        let options = FjallOptions { reserve: 0, ..FjallOptions::default() };
        FjallEngine::open(dir.path().join("catalog"), options).unwrap()
    };
    let place = || Place::local("main", dir.path().join("contents")).unwrap();
    let (id, before, clock) = {
        let world = world_on(open(), place());
        filled(&world);
        let before = seen(&world);
        let (set, id) = begun(&world);
        change_everything(&set).unwrap();
        (id, before, world.clock.clone())
    };
    let (mut parts, _) = crate::world::parts(open(), place());
    parts.clock = clock.clone();
    let world = World::open(parts, clock);
    let error = commit(&world, id).unwrap_err();
    assert_eq!(error.kind(), ErrorKind::NotFound);
    assert!(error.hint().unwrap().contains("restarted"), "{error}");
    assert_eq!(seen(&world), before);
    world.clock.advance(Duration::from_secs(10 * 365 * 24 * 3_600));
    let world = world.reopened();
    run(world.store.sweep_orphans(Duration::ZERO)).unwrap();
    assert_eq!(world.blobs_in("main"), world.table(b'B').len());
    assert_clean(&world.store);
}

#[tokio::test]
async fn requests_in_a_change_set_are_serialised() {
    let world = world();
    let id = world.store.begin_change_set(&world.admin, None).unwrap().id;
    let first = world.store.within(&world.admin, id).await.unwrap();
    let mut second = Box::pin(world.store.within(&world.admin, id));
    let mut end = Box::pin(world.store.commit_change_set(&world.admin, id));
    assert!(futures_util::poll!(second.as_mut()).is_pending());
    assert!(futures_util::poll!(end.as_mut()).is_pending(), "a commit waits for them");
    world.clock.advance(ChangeSetLimits::default().idle * 2);
    world.store.change_sets(&world.admin).unwrap();
    let draft = Draft::Collection;
    first.create(&world.admin, &path("/a"), draft, CreateOptions::default()).unwrap();
    drop(first);
    let second = second.await.unwrap();
    second.stat(&world.admin, &at("/a")).unwrap();
    drop(second);
    assert_eq!(end.await.unwrap().state, ChangeSetState::Committed);
    world.stat("/a").unwrap();
}

/// A content being read when the set is committed can be read to its end.
#[test]
fn a_content_that_is_being_read_survives_the_commit() {
    use futures_util::StreamExt;
    let world = world();
    let (set, id) = begun(&world);
    let bytes = noise(3 << 20, 4);
    set.put("/large", &bytes);
    let opened = set.store.open(&set.admin, &at("/large"), &ReadOptions::default()).unwrap();
    let mut stream = opened.bytes(0..bytes.len() as u64).unwrap();
    run(async {
        let mut read = stream.next().await.unwrap().unwrap().to_vec();
        world.store.commit_change_set(&world.admin, id).await.unwrap();
        while let Some(chunk) = stream.next().await {
            read.extend_from_slice(&chunk.unwrap());
        }
        assert!(read == bytes);
    });
}

/// Versions, trash and restorations in a set, of resources created in it.
#[test]
fn versions_and_the_trash_work_in_a_change_set() {
    let world = world();
    let (set, id) = begun(&world);
    let (store, admin) = (&set.store, &set.admin);
    set.mkdir("/d");
    let each = Some(Some(Versioning::EachChange(cenote_store::Retention::last(2))));
    let change = AttributeChange { versioning: each, ..AttributeChange::default() };
    store.set_attributes(admin, &at("/d"), &change).unwrap();
    set.keep_removed("/d", 3_600);
    for n in 0..5 {
        set.put("/d/x", &noise(200, n));
    }
    assert_eq!(store.versions(admin, &at("/d/x")).unwrap().len(), 2);
    let item = set.discard("/d/x");
    assert_eq!(set.trash_of(admin).len(), 1);
    store.restore_removed(admin, item.id, &RestoreOptions::default()).unwrap();
    let version = store.versions(admin, &at("/d/x")).unwrap()[0].version;
    store.restore_version(admin, &at("/d/x"), version).unwrap();
    assert!(set.read("/d/x") == noise(200, 3));
    set.discard("/d/x");
    assert!(world.names("/").is_empty() && world.trash_of(&world.admin).is_empty());
    commit(&world, id).unwrap();
    assert_eq!(world.trash_of(&world.admin).len(), 1);
    drop(set);
    world.sweep();
    assert_clean(&world.store);
    world.store.empty_trash(&world.admin).unwrap();
    world.sweep();
    assert_eq!(world.blobs_in("main"), 0);
}

/// A store with a tree and an object in the trash, which upkeep would purge.
fn with_trash() -> (World, Vec<TrashItem>) {
    let world = world();
    filled(&world);
    world.keep_removed_bytes("/", Some(0));
    let items = vec![world.discard("/old/large"), world.discard("/old")];
    (world, items)
}

#[test]
fn the_trash_is_emptied_in_a_change_set_as_one_commit() {
    let (world, items) = with_trash();
    let (set, id) = begun(&world);
    set.put("/own", b"own");
    set.discard("/own");
    assert_eq!(set.store.empty_trash(&set.admin).unwrap(), 3);
    assert!(set.trash_of(&set.admin).is_empty());
    assert_eq!(world.trash_of(&world.admin).len(), items.len(), "nobody else sees it");
    world.put("/theirs", b"theirs");
    let theirs = world.discard("/theirs");
    commit(&world, id).unwrap();
    drop(set);
    let left = world.trash_of(&world.admin);
    assert_eq!(left.iter().map(|item| item.id).collect::<Vec<_>>(), [theirs.id]);
    world.sweep();
    assert_eq!(world.blobs_in("main"), 0);
    assert_clean(&world.store);
}

#[test]
fn concurrent_restores_and_purges_conflict_with_a_set_that_empties_the_trash() {
    type Other = fn(&World, &TrashItem);
    let others: [Other; 3] = [
        |w, item| {
            let options = RestoreOptions { to: Some(path("/back")), parents: false };
            w.store.restore_removed(&w.admin, item.id, &options).unwrap();
        },
        |w, item| w.store.empty_trash_of(&w.admin, item.id).unwrap(),
        |w, _| assert!(w.store.purge_over_limits().unwrap() > 0),
    ];
    for other in others {
        let (world, items) = with_trash();
        let (set, id) = begun(&world);
        set.mkdir("/made");
        set.store.empty_trash(&set.admin).unwrap();
        other(&world, &items[0]);
        assert_eq!(kind(commit(&world, id)), ErrorKind::Conflict);
        assert!(!world.names("/").contains(&"made".to_owned()));
        assert_clean(&world.store);
    }
}

/// A collection filled and emptied in a set counts as outside of one.
#[test]
fn counters_in_a_change_set_include_its_own_changes() {
    let world = world();
    filled(&world);
    let usage = |world: &World| {
        let usage = world.store.usage(&world.admin, &at("/")).unwrap();
        (usage, world.store.stats(&world.admin).unwrap())
    };
    let tag = |world: &World| {
        let stat = world.stat("/old").unwrap();
        world.store.memberships(&[stat]).unwrap().remove(0).unwrap().tag()
    };
    let (before, tag_before) = (usage(&world), tag(&world));
    let (set, id) = begun(&world);
    assert_eq!(usage(&set), before);
    set.put("/old/more", &noise(500, 1));
    assert_ne!(tag(&set), tag_before);
    let (inside, tag_inside) = (usage(&set), tag(&set));
    assert_ne!(inside, before);
    assert_eq!((usage(&world), tag(&world)), (before.clone(), tag_before));
    world.put("/elsewhere", b"counted, too");
    commit(&world, id).unwrap();
    assert_eq!(tag(&world), tag_inside);
    assert_ne!(usage(&world), before);
    assert_clean(&world.store);
}

/// A path is found by hints about where it led before. What is read for a wrong one decides nothing.
#[test]
fn a_change_set_is_committed_although_what_its_path_led_to_before_was_swept() {
    let world = world();
    world.mkdir("/a");
    world.put("/a/b", b"x");
    world.rm_all("/a").unwrap();
    let (within, id) = begun(&world);
    within.mkdir("/a");
    within.mkdir("/a/b");
    run(world.store.maintain_once(&Pace::default())).unwrap();
    commit(&world, id).unwrap();
    assert!(world.stat("/a/b").is_ok());
    assert_clean(&world.store);
}
