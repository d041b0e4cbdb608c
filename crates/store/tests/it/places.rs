//! Places: adding and removing them while the store runs, and their contents.

use cenote_store::{
    AvuChange, Conditions, ErrorKind, Expected, NewPlace, PlaceChange, PlaceId, PlaceState,
    PutOptions, ReceiveOptions, Where,
};

use cenote_blob::Place;
use futures_util::TryStreamExt;

use crate::clocks::Conflicts;
use crate::world::{at, avu, kind, noise, run, world, world_on, world_with_places};

#[test]
fn a_place_accepts_contents_as_soon_as_it_is_added() {
    let world = world_with_places();
    world.put_in("a", "/x", &noise(1_000, 1));
    assert_eq!((world.blobs_in("a"), world.blobs_in("main")), (1, 0));
    assert_eq!(world.replicas("/x"), "0 a");
    let again = world.reopened();
    assert!(again.read("/x") == noise(1_000, 1));
}

#[test]
fn a_small_content_becomes_a_blob_if_a_place_is_given() {
    let world = world_with_places();
    world.put_in("a", "/x", b"small");
    world.put_in("main", "/y", b"small");
    assert_eq!((world.blobs_in("a"), world.blobs_in("main")), (1, 0));
    assert_eq!(world.read("/x"), b"small");
    assert_eq!(world.replicas("/y"), "0 main");
}

#[test]
fn a_group_keeps_a_copy_in_each_member() {
    let world = world_with_places();
    world.add_place("c");
    world.add_group("pair", &["a", "b"]);
    world.add_group("nested", &["pair", "c"]);
    world.put_in("nested", "/x", &noise(1_000, 1));
    assert_eq!(world.replicas("/x"), "0 a, 1 b, 2 c");
    for place in ["a", "b", "c"] {
        assert_eq!(world.blobs_in(place), 1, "{place}");
    }
    world.set_state("b", PlaceState::Down);
    world.put_in("nested", "/x", &noise(1_000, 2));
    assert_eq!(world.replicas("/x"), "0 a, 1 b stale, 2 c");
}

#[test]
fn new_contents_go_to_the_default_place() {
    let world = world_with_places();
    let group = world.add_group("pair", &["a", "b"]);
    world.store.set_default_place(&world.admin, group).unwrap();
    world.put("/x", &noise(1_000, 1));
    world.put("/small", b"small");
    assert_eq!(world.blobs_in("a") + world.blobs_in("b"), 2);
    assert_eq!(world.blobs_in("main"), 0);
    assert_eq!(world.replicas("/x"), "0 a, 1 b");
    assert_eq!(world.replicas("/small"), "0 a");
    crate::world::assert_clean(&world.store);
}

/// An object for which nobody named a place has no wish to stay in one; an object in a named place has.
#[test]
fn contents_without_a_named_place_follow_the_default_and_others_stay() {
    let world = world_with_places();
    world.put("/x", &noise(100_000, 1));
    world.put_in("b", "/y", &noise(100_000, 1));
    let place = world.place("a");
    world.store.set_default_place(&world.admin, place).unwrap();
    world.put("/x", &noise(100_000, 2));
    world.put("/y", &noise(100_000, 2));
    assert_eq!(world.replicas("/x"), "0 a", "nothing is left in the former default");
    assert_eq!(world.replicas("/y"), "0 b stale, 1 a", "what was asked for there is kept");
    crate::world::assert_clean(&world.store);
}

/// A content in the catalog is in the place that was the default when it was put: that does not change with the default.
#[test]
fn a_small_content_stays_recorded_where_it_was_put() {
    let world = world_with_places();
    let [main, a] = ["main", "a"].map(|name| world.place(name));
    world.put("/x", b"small");
    world.store.set_default_place(&world.admin, a).unwrap();
    world.put("/y", b"small");
    assert_eq!([world.replicas("/x"), world.replicas("/y")], ["0 main", "0 a"]);
    world.cp("/x", "/copy").unwrap();
    assert_eq!(world.replicas("/copy"), "0 main");
    world.store.set_default_place(&world.admin, main).unwrap();
    assert_eq!(kind(run(world.store.remove_place(&world.admin, a))), ErrorKind::NotEmpty);
    let job = world.store.drain_place(&world.admin, a, None).unwrap();
    run(world.store.finish(job.id)).unwrap();
    assert_eq!(world.replicas("/y"), "0 main");
    run(world.store.remove_place(&world.admin, a)).unwrap();
    crate::world::assert_clean(&world.store);
}

/// What is written into an object is stored where the object is, and in the default place if that is closed.
#[test]
fn a_partial_write_after_a_change_of_the_default_stays_with_the_object() {
    let world = world_with_places();
    let [main, a] = ["main", "a"].map(|name| world.place(name));
    world.put("/x", &noise(300, 1));
    world.put("/small", b"small");
    world.store.set_default_place(&world.admin, a).unwrap();
    let write = |to: &str, seed| world.write_at(to, Where::Append, &noise(200, seed)).unwrap();
    write("/x", 2);
    assert_eq!((world.replicas("/x").as_str(), world.blobs_in("a")), ("0 main", 0));
    let job = world.store.drain_place(&world.admin, main, Some(a)).unwrap();
    write("/x", 3);
    write("/small", 3);
    assert_eq!([world.replicas("/x"), world.replicas("/small")], ["0 a", "0 a"]);
    crate::world::assert_clean(&world.store);
    run(world.store.finish(job.id)).unwrap();
    assert_eq!(world.blobs_in("main"), 0);
    assert!(world.read("/x") == [noise(300, 1), noise(200, 2), noise(200, 3)].concat());
    assert_eq!(world.store.places().unwrap()[0].replicas, 0);
    crate::world::assert_clean(&world.store);
}

/// A good replica has all bytes in its place: one in a closed place becomes stale with the first write, however small.
#[test]
fn a_small_write_leaves_a_replica_in_a_closed_place_stale() {
    let world = world_with_places();
    world.add_group("pair", &["a", "b"]);
    world.put_in("pair", "/x", &noise(300, 1));
    world.set_state("b", PlaceState::Down);
    for round in 0..70 {
        world.write_at("/x", Where::Offset(round * 4), b"two bytes or more").unwrap();
        assert_eq!(world.replicas("/x"), "0 a, 1 b stale");
    }
    assert!(world.stat("/x").unwrap().resource.content.unwrap().patches < 64);
    world.set_state("b", PlaceState::Up);
    assert!(world.read_replica("/x", 1).unwrap() == noise(300, 1));
    crate::world::assert_clean(&world.store);
}

/// An object is replicated between the reading of its patches and the commit that folds them.
#[test]
fn a_replica_that_appears_while_patches_are_folded_has_all_bytes() {
    let engine = Conflicts::default();
    let world = world_on(engine.clone(), Place::memory("main")).with_places(Default::default());
    world.put("/x", &noise(300, 1));
    let write = |seed| drop(world.write_at("/x", Where::Append, &noise(100, seed)).unwrap());
    (1..64).for_each(write);
    let (between, store, admin) =
        (engine.between.clone(), world.store.clone(), world.admin.clone());
    let a = world.place("a");
    let replicate = move || drop(run(store.replicate(&admin, &at("/x"), a)).unwrap());
    // Before the commit of the 64th patch, it is arranged for before the next commit.
    engine.between.set(move || {
        between.set(move || std::thread::scope(|scope| drop(scope.spawn(replicate))));
    });
    write(64);
    assert_eq!(world.replicas("/x"), "0 main, 1 a");
    crate::world::assert_clean(&world.store);
    write(65);
    crate::world::assert_clean(&world.store);
}

/// Contents that are assigned to a group in the catalog count for a member that is open.
#[test]
fn a_member_of_the_default_group_can_be_drained() {
    let world = world_with_places();
    let group = world.add_group("pair", &["a", "b"]);
    world.store.set_default_place(&world.admin, group).unwrap();
    world.put("/x", b"small");
    assert_eq!(world.replicas("/x"), "0 a");
    let (a, b) = (world.place("a"), world.place("b"));
    let job = world.store.drain_place(&world.admin, a, Some(b)).unwrap();
    world.put("/y", b"small");
    run(world.store.finish(job.id)).unwrap();
    assert_eq!([world.replicas("/x"), world.replicas("/y")], ["0 b", "0 b"]);
    assert_eq!(world.status_of("a").replicas, 0);
    crate::world::assert_clean(&world.store);
}

/// One object that cannot be read does not keep the copies of the others in a place that is drained.
#[test]
fn a_place_with_an_unreadable_content_is_drained_of_all_others() {
    let world = world_with_places();
    let [main, a] = ["main", "a"].map(|name| world.place(name));
    world.put("/lost", &noise(300, 1));
    let lost = run(world.opened("main").list().try_collect::<Vec<_>>()).unwrap();
    world.put("/x", &noise(300, 2));
    run(world.opened("main").delete(lost[0].id)).unwrap();
    world.store.set_default_place(&world.admin, a).unwrap();
    let job = world.store.drain_place(&world.admin, main, Some(a)).unwrap();
    assert!(run(world.store.finish(job.id)).unwrap().failed > 0);
    assert_eq!((world.blobs_in("main"), world.status_of("main").copies), (0, 1));
    assert!(world.read("/x") == noise(300, 2));
}

#[test]
fn the_settings_of_a_place_are_refused_or_stored() {
    let world = world_with_places();
    let (store, admin) = (&world.store, &world.admin);
    let add = |name: &str, address: &str| {
        let address = Some(address.to_owned());
        store.add_place(admin, &NewPlace { name: name.into(), address, ..NewPlace::default() })
    };
    assert_eq!(kind(add("a", "memory:///z")), ErrorKind::Exists);
    assert_eq!(kind(add("z", "nowhere:///z")), ErrorKind::Invalid);
    assert_eq!(kind(add("z", "memory://user:secret@host/z")), ErrorKind::Invalid);
    assert_eq!(kind(add("z/y", "memory:///z")), ErrorKind::Invalid);
    let user = world.user("u");
    assert_eq!(kind(store.add_place(&user, &NewPlace::default())), ErrorKind::Denied);

    let a = world.place("a");
    let mut change = PlaceChange { name: Some("renamed".into()), ..PlaceChange::default() };
    change.properties.insert("comment".into(), Some("a disk".into()));
    store.change_place(admin, a, &change).unwrap();
    let places = store.places().unwrap();
    let status = places.iter().find(|place| place.id == a).unwrap();
    assert_eq!(status.info.name, "renamed");
    assert_eq!(status.info.properties["comment"], "a disk");
    assert_eq!(world.place("renamed"), a);
}

#[test]
fn a_group_never_contains_itself() {
    let world = world_with_places();
    let outer = world.add_group("outer", &["a"]);
    let inner = world.add_group("inner", &["b"]);
    let into = |id: PlaceId, parent: PlaceId| {
        let change = PlaceChange { parent: Some(Some(parent)), ..PlaceChange::default() };
        world.store.change_place(&world.admin, id, &change)
    };
    into(inner, outer).unwrap();
    assert_eq!(kind(into(outer, inner)), ErrorKind::Invalid);
    assert_eq!(kind(into(outer, outer)), ErrorKind::Invalid);
    assert_eq!(kind(into(outer, world.place("a"))), ErrorKind::Invalid);
}

#[test]
fn a_place_is_removed_only_if_it_is_empty() {
    let world = world_with_places();
    let remove = |name: &str| run(world.store.remove_place(&world.admin, world.place(name)));
    world.put_in("a", "/x", b"x");
    world.put_in("b", "/empty", b"");
    assert_eq!(kind(remove("a")), ErrorKind::NotEmpty);
    assert_eq!(kind(remove("b")), ErrorKind::NotEmpty);
    assert_eq!(kind(remove("main")), ErrorKind::Invalid);
    world.rm("/x").unwrap();
    world.rm("/empty").unwrap();
    let group = world.add_group("pair", &["a"]);
    assert_eq!(kind(remove("a")), ErrorKind::Invalid);
    assert_eq!(kind(remove("pair")), ErrorKind::NotEmpty);
    let out = PlaceChange { parent: Some(None), ..PlaceChange::default() };
    world.store.change_place(&world.admin, world.place("a"), &out).unwrap();
    world.store.set_default_place(&world.admin, world.place("b")).unwrap();
    assert_eq!(kind(remove("b")), ErrorKind::Invalid);
    remove("a").unwrap();
    assert_eq!(kind(world.store.place_named(&world.admin, "a")), ErrorKind::NotFound);
    assert_eq!(world.store.places().unwrap().iter().filter(|p| p.id == group).count(), 1);
}

#[test]
fn a_place_can_be_removed_before_a_removed_tree_is_swept() {
    let world = world_with_places();
    world.mkdir("/tree");
    world.put_in("a", "/tree/x", &noise(1_000, 1));
    world.rm_all("/tree").unwrap();
    assert_eq!(world.store.pending_jobs().unwrap(), 1);
    run(world.store.remove_place(&world.admin, world.place("a"))).unwrap();
    assert_eq!(kind(world.store.place_named(&world.admin, "a")), ErrorKind::NotFound);
}

#[test]
fn places_have_attributes() {
    let world = world();
    let change = [AvuChange::Add(avu("k", "v"))];
    world.store.change_place_avus(&world.admin, PlaceId::MAIN, &change).unwrap();
    assert_eq!(world.store.place_avus(PlaceId::MAIN).unwrap(), [avu("k", "v")]);
    let reading = world.store.reading(&world.admin).unwrap();
    let stating = reading.stating(Some("k"), Some("v"), 10).unwrap().unwrap();
    assert_eq!(stating.into_iter().collect::<Vec<_>>(), [PlaceId::MAIN.0]);
    crate::world::assert_clean(&world.store);
}

#[test]
fn a_put_into_a_closed_or_removed_place_is_refused() {
    let world = world_with_places();
    let options = |place| PutOptions { place: Some(place), ..PutOptions::default() };
    let put = |place| world.try_put(&world.admin, "/x", &noise(500, 1), options(place));
    assert_eq!(kind(put(PlaceId(77))), ErrorKind::NotFound);
    for state in [PlaceState::Down, PlaceState::Draining] {
        world.set_state("a", state);
        assert_eq!(kind(put(world.place("a"))), ErrorKind::Unavailable);
    }
    // Closed after the bytes were sent: the commit checks again.
    world.set_state("a", PlaceState::Up);
    let a = world.place("a");
    let expected = Expected::default();
    let received = run(world.store.receive(
        crate::world::once(&noise(500, 1)),
        ReceiveOptions { expected: expected.clone(), place: Some(a) },
    ))
    .unwrap();
    world.set_state("a", PlaceState::Draining);
    let late = world.store.publish(
        &world.admin,
        crate::world::path("/x"),
        &received,
        &PutOptions::default(),
    );
    assert_eq!(kind(late), ErrorKind::Unavailable);
    assert_eq!(kind(world.store.stat(&world.admin, &at("/x"))), ErrorKind::NotFound);
    let _ = Conditions::default();
}
