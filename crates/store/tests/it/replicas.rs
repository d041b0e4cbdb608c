//! Replicas: where they are, and what happens to them when the content changes.

use std::path::PathBuf;
use std::time::Duration;

use cenote_blob::faulty::Fault;
use cenote_store::{
    AccessChange, Caller, ErrorKind, PlaceId, PlaceState, PutOptions, ReadOptions, ReceiveOptions,
    Registration, ReplicaChange, Rights, Scope, Trim, Where,
};
use futures_util::StreamExt;
use tempfile::TempDir;

use crate::world::{
    MemoryOpener, World, assert_clean, at, kind, noise, once, path, run, world_on,
    world_with_places,
};

#[test]
fn a_replica_can_be_read_by_its_number() {
    let world = world_with_places();
    for (to, size) in [("/small", 10), ("/big", 100_000)] {
        world.put(to, &noise(size, 1));
        let tag = world.stat(to).unwrap().content_tag();
        world.replicate(to, "a").unwrap();
        world.replicate(to, "a").unwrap();
        assert_eq!(world.replicas(to), "0 main, 1 a");
        for number in [0, 1] {
            assert!(world.read_replica(to, number).unwrap() == noise(size, 1));
        }
        assert_eq!(kind(world.read_replica(to, 2)), ErrorKind::NotFound);
        assert_eq!(world.stat(to).unwrap().content_tag(), tag);
    }
    assert_eq!((world.blobs_in("main"), world.blobs_in("a")), (2, 2));
    assert_clean(&world.store);
}

#[test]
fn overwriting_makes_other_replicas_stale_and_keeps_their_bytes() {
    let world = world_with_places();
    world.put("/x", &noise(500, 1));
    world.replicate("/x", "a").unwrap();
    world.put("/x", &noise(600, 2));
    assert_eq!(world.replicas("/x"), "0 main, 1 a stale");
    assert!(world.read_replica("/x", 1).unwrap() == noise(500, 1));
    assert!(world.read("/x") == noise(600, 2));
    world.sweep();
    assert!(world.read_replica("/x", 1).unwrap() == noise(500, 1));
    world.put_in("a", "/x", &noise(700, 3));
    assert_eq!(world.replicas("/x"), "0 main stale, 1 a");
    world.replicate("/x", "main").unwrap();
    assert_eq!(world.replicas("/x"), "0 main, 1 a");
    assert!(world.read_replica("/x", 0).unwrap() == noise(700, 3));
    world.sweep();
    assert_eq!((world.blobs_in("main"), world.blobs_in("a")), (1, 1));
    assert_clean(&world.store);
}

#[test]
fn a_write_in_place_is_stored_where_the_object_is() {
    let world = world_with_places();
    world.put_in("a", "/x", &noise(500, 1));
    world.replicate("/x", "b").unwrap();
    world.write_at("/x", Where::Append, &noise(200, 2)).unwrap();
    assert_eq!(world.replicas("/x"), "0 a, 1 b stale");
    assert_eq!((world.blobs_in("a"), world.blobs_in("main")), (2, 0));
    assert!(world.read_replica("/x", 0).unwrap() == [noise(500, 1), noise(200, 2)].concat());
    assert!(world.read_replica("/x", 1).unwrap() == noise(500, 1));
    assert_clean(&world.store);
}

#[test]
fn a_write_to_a_stale_replica_makes_it_the_good_one() {
    let world = world_with_places();
    world.put("/x", b"first");
    world.replicate("/x", "a").unwrap();
    world.put("/x", b"second");
    let a = world.place("a");
    let to = ReceiveOptions { place: Some(a), ..ReceiveOptions::default() };
    let bytes = run(world.store.receive(once(b"!"), to)).unwrap();
    let (to, always) = (at("/x"), Default::default());
    let written = world.store.write_received(&world.admin, &to, Where::Append, bytes, &always);
    run(written).unwrap();
    assert_eq!(world.replicas("/x"), "0 main stale, 1 a");
    assert_eq!(world.read("/x"), b"first!");
    assert_eq!(world.read_replica("/x", 0).unwrap(), b"second");
    let main = Some(world.place("main"));
    world.store.truncate_in(&world.admin, &at("/x"), 3, &Default::default(), main).unwrap();
    assert_eq!(world.replicas("/x"), "0 main, 1 a stale");
    assert_eq!(world.read("/x"), b"sec");
    let b = Some(world.place("b"));
    let cut = world.store.truncate_in(&world.admin, &at("/x"), 3, &Default::default(), b);
    assert_eq!(kind(cut), ErrorKind::NotFound);
    assert_clean(&world.store);
}

#[test]
fn trimming_never_removes_the_last_good_replica() {
    let world = world_with_places();
    world.put("/x", &noise(500, 1));
    assert_eq!(kind(world.trim("/x", 0)), ErrorKind::Precondition);
    world.replicate("/x", "a").unwrap();
    world.replicate("/x", "b").unwrap();
    assert_eq!(world.trim("/x", 0).unwrap(), [0]);
    assert_eq!(world.replicas("/x"), "1 a, 2 b");
    assert_eq!(world.blobs_in("main"), 0);
    world.put_in("b", "/x", &noise(600, 2));
    assert_eq!(world.replicas("/x"), "1 a stale, 2 b");
    assert_eq!(kind(world.trim("/x", 2)), ErrorKind::Precondition);
    assert_eq!(world.trim("/x", 1).unwrap(), [1]);
    assert_eq!(kind(world.trim("/x", 1)), ErrorKind::NotFound);
    assert!(world.read("/x") == noise(600, 2));
    world.sweep();
    assert_eq!((world.blobs_in("a"), world.blobs_in("b")), (0, 1));
    assert_clean(&world.store);
}

#[test]
fn surplus_replicas_are_trimmed_stale_ones_first() {
    let world = world_with_places();
    world.put("/x", &noise(500, 1));
    world.replicate("/x", "a").unwrap();
    world.put("/x", &noise(500, 2));
    world.replicate("/x", "b").unwrap();
    let trim = |keep, dry_run| {
        let trim = Trim { keep, dry_run, ..Trim::default() };
        run(world.store.trim(&world.admin, &at("/x"), &trim)).unwrap()
    };
    assert_eq!(trim(2, true), [1]);
    assert_eq!(world.replicas("/x"), "0 main, 1 a stale, 2 b");
    assert_eq!(trim(2, false), [1]);
    assert_eq!(trim(2, false), [0; 0]);
    assert_eq!(trim(0, false), [2]);
    assert_eq!(world.replicas("/x"), "0 main");
    assert_clean(&world.store);
}

#[test]
fn shared_copies_are_kept_for_other_objects() {
    let world = world_with_places();
    world.put("/x", &noise(500, 1));
    world.cp("/x", "/y").unwrap();
    world.replicate("/x", "a").unwrap();
    world.trim("/x", 0).unwrap();
    assert_eq!(world.replicas("/x"), "1 a");
    assert_eq!(world.replicas("/y"), "0 main");
    assert_eq!(world.blobs_in("main"), 1);
    assert!(world.read("/y") == noise(500, 1));
    assert_clean(&world.store);
}

#[test]
fn an_administrator_may_declare_a_replica_good() {
    let world = world_with_places();
    world.put("/x", b"right");
    world.replicate("/x", "a").unwrap();
    world.put_in("a", "/x", b"wrong");
    let change = |number, change: ReplicaChange| {
        world.store.change_replica(&world.admin, &at("/x"), number, &change)
    };
    let good = |good| ReplicaChange { good: Some(good), ..ReplicaChange::default() };
    change(0, good(true)).unwrap();
    assert_eq!(world.replicas("/x"), "0 main, 1 a stale");
    assert_eq!(world.read("/x"), b"right");
    change(0, good(false)).unwrap();
    assert_eq!(world.replicas("/x"), "0 main stale, 1 a stale");
    assert_eq!(world.read("/x"), b"right");
    change(0, good(true)).unwrap();
    let to = |number| ReplicaChange { number: Some(number), ..ReplicaChange::default() };
    assert_eq!(kind(change(0, to(1))), ErrorKind::Exists);
    change(0, to(7)).unwrap();
    assert_eq!(world.replicas("/x"), "1 a stale, 7 main");
    let mut note = ReplicaChange::default();
    note.notes.insert("comment".into(), Some("kept".into()));
    change(7, note).unwrap();
    let views = world.store.replicas(&world.admin, &at("/x")).unwrap();
    assert_eq!(views[1].notes["comment"], "kept");
    assert_clean(&world.store);
}

fn registration(world: &World, file: &std::path::Path) -> Registration {
    Registration {
        place: world.place("a"),
        file: file.display().to_string(),
        size: None,
        sha256: None,
        additional: false,
        replace: false,
    }
}

#[test]
fn a_small_content_may_be_replicated_to_where_it_is() {
    let world = world_with_places();
    world.put("/x", b"small");
    world.replicate("/x", "main").unwrap();
    assert_eq!((world.read("/x"), world.replicas("/x")), (b"small".to_vec(), "0 main".to_owned()));
    assert_clean(&world.store);
}

/// A file outside of the store, in a directory that is removed with its guard.
fn file_of(content: &[u8]) -> (TempDir, PathBuf) {
    let dir = tempfile::tempdir().unwrap();
    let file = dir.path().join("data.bin");
    std::fs::write(&file, content).unwrap();
    (dir, file)
}

#[test]
fn paths_of_files_on_the_machine_are_shown_only_to_administrators() {
    let (_dir, file) = file_of(&noise(1_000, 5));
    let world = world_with_places();
    let this = registration(&world, &file);
    run(world.store.register(&world.admin, &path("/x"), &this)).unwrap();
    let user = world.user("u");
    let own = [AccessChange::Grant("u".into(), Rights::OWN.into(), Scope::This)];
    world.store.change_access(&world.admin, &at("/x"), &own).unwrap();
    let shown = |caller: &Caller| {
        let direct = world.store.replicas(caller, &at("/x")).unwrap().remove(0);
        let reading = world.store.reading(caller).unwrap();
        let queried = reading.replicas(&reading.stat(&at("/x")).unwrap().unwrap()).unwrap();
        assert_eq!([&direct], queried.iter().collect::<Vec<_>>().as_slice());
        (direct.registered, direct.file)
    };
    assert_eq!(shown(&world.admin), (true, file.to_str().map(str::to_owned)));
    assert_eq!(shown(&user), (true, None));
}

#[test]
fn a_registered_file_is_read_in_place_and_never_removed() {
    let (_dir, file) = file_of(&noise(1_000, 5));
    let world = world_with_places();
    let this = registration(&world, &file);
    let register =
        |to: &str, this: &Registration| run(world.store.register(&world.admin, &path(to), this));
    register("/x", &this).unwrap();
    assert!(world.read("/x") == noise(1_000, 5));
    let view = &world.store.replicas(&world.admin, &at("/x")).unwrap()[0];
    assert_eq!((view.registered, view.file.as_deref()), (true, file.to_str()));
    assert_eq!(kind(register("/x", &this)), ErrorKind::Precondition);
    assert_eq!(
        kind(register("/y", &Registration { file: "/no/such".into(), ..this.clone() })),
        ErrorKind::NotFound
    );
    register("/later", &Registration { file: "/no/such".into(), size: Some(5), ..this.clone() })
        .unwrap();
    let user = world.user("u");
    assert_eq!(kind(run(world.store.register(&user, &path("/z"), &this))), ErrorKind::Denied);

    world.replicate("/x", "b").unwrap();
    world.trim("/x", 0).unwrap();
    assert!(world.read("/x") == noise(1_000, 5));
    world.rm("/x").unwrap();
    world.rm("/later").unwrap();
    world.sweep();
    assert!(file.exists());
    assert_eq!(world.blobs_in("b"), 0);
    assert_clean(&world.store);
}

#[test]
fn a_missing_registered_file_is_not_reported_once_its_object_is_removed() {
    let (_dir, file) = file_of(&noise(1_000, 5));
    let world = world_with_places();
    let this = registration(&world, &file);
    run(world.store.register(&world.admin, &path("/x"), &this)).unwrap();
    std::fs::remove_file(&file).unwrap();
    let options = cenote_store::CheckOptions::default();
    assert!(!crate::world::findings(&world.store, options).is_empty(), "it is missed");
    world.rm("/x").unwrap();
    assert_clean(&world.store);
    world.sweep();
    assert_clean(&world.store);
}

#[test]
fn a_file_of_the_store_itself_is_copied_when_it_is_registered() {
    let dir = tempfile::tempdir().unwrap();
    let main = cenote_blob::Place::local("main", dir.path()).unwrap();
    let mut world = world_on(cenote_kv::MemoryEngine::default(), main);
    world.parts.opener = std::sync::Arc::new(MemoryOpener::default());
    let world = world.reopened();
    world.put("/x", &noise(1_000, 5));
    let file = world.store.replicas(&world.admin, &at("/x")).unwrap()[0].file.clone().unwrap();
    world.rm("/x").unwrap();
    let this = Registration {
        place: PlaceId::MAIN,
        file,
        size: None,
        sha256: None,
        additional: false,
        replace: false,
    };
    run(world.store.register(&world.admin, &path("/y"), &this)).unwrap();
    world.sweep();
    assert!(world.read("/y") == noise(1_000, 5));
    assert_clean(&world.store);
}

#[test]
fn a_file_registered_as_a_further_replica_is_the_good_one() {
    let (_dir, file) = file_of(&noise(500, 1));
    let world = world_with_places();
    let more = Registration { additional: true, ..registration(&world, &file) };
    let sha256 = world.put("/x", &noise(500, 1)).resource.content.unwrap().digests.sha256;
    world.put("/y", &noise(500, 1));
    run(world.store.register(&world.admin, &path("/x"), &more)).unwrap();
    assert_eq!(world.replicas("/x"), "0 main stale, 1 a");
    run(world.store.register(&world.admin, &path("/y"), &Registration { sha256, ..more })).unwrap();
    assert_eq!(world.replicas("/y"), "0 main, 1 a");
    std::fs::remove_file(&file).unwrap();
    assert!(world.read("/y") == noise(500, 1));
    assert_eq!(kind(world.try_read(&world.admin, "/x")), ErrorKind::Damaged);
}

/// The only blob in a place.
fn only_blob(world: &World, place: &str) -> cenote_store::BlobId {
    run(async { world.opened(place).list().next().await.unwrap().unwrap().id })
}

fn overwrite(world: &World, place: &str, bytes: &[u8]) {
    let blob = only_blob(world, place);
    run(async {
        let mut writer = world.opened(place).writer(blob, []);
        writer.write(bytes.to_vec().into()).await.unwrap();
        writer.finish().await.unwrap();
    });
}

fn replicated(size: usize) -> World {
    let world = world_with_places();
    world.put("/x", &noise(size, 1));
    world.replicate("/x", "a").unwrap();
    world
}

#[test]
fn a_read_continues_with_another_copy_and_the_lost_one_is_repaired() {
    let world = replicated(3_000_000);
    run(world.parts.main.delete(only_blob(&world, "main"))).unwrap();
    assert!(world.read("/x") == noise(3_000_000, 1));
    assert_eq!(run(world.store.mend_noted()).unwrap(), 1);
    assert_eq!(world.blobs_in("main"), 1);
    assert!(world.read_replica("/x", 0).unwrap() == noise(3_000_000, 1));

    overwrite(&world, "main", &noise(2_000_000, 1));
    assert!(world.read("/x") == noise(3_000_000, 1));
    assert_eq!(run(world.store.mend_noted()).unwrap(), 1);
    assert_clean(&world.store);
}

#[test]
fn a_read_that_fails_midway_continues_at_the_same_byte() {
    let world = world_with_places();
    world.put_in("a", "/x", &noise(3_000_000, 1));
    world.replicate("/x", "main").unwrap();
    for nth in 1..4 {
        world.opener.faults.fail(nth, Fault::Io);
        assert!(world.read("/x") == noise(3_000_000, 1));
        world.opener.faults.restart();
    }
}

#[test]
fn a_verified_read_uses_an_intact_copy() {
    let world = replicated(1_000);
    overwrite(&world, "main", &noise(1_000, 9));
    let opened = world.store.open(&world.admin, &at("/x"), &ReadOptions::default()).unwrap();
    let bytes = run(async { opened.verified().await.unwrap().read_all().await.unwrap() });
    assert!(bytes == noise(1_000, 1));
    assert_eq!(run(world.store.mend_noted()).unwrap(), 1);
    assert!(world.read_replica("/x", 0).unwrap() == noise(1_000, 1));
}

#[test]
fn an_unreachable_place_does_not_hide_the_other_copies() {
    let world = replicated(1_000);
    world.trim("/x", 0).unwrap();
    world.replicate("/x", "b").unwrap();
    world.opener.away.lock().unwrap().insert("memory:///a".into());
    let world = world.reopened();
    assert!(world.read("/x") == noise(1_000, 1));
    assert_eq!(kind(world.read_replica("/x", 1)), ErrorKind::Unavailable);
    let problem = |name: &str| {
        let places = world.store.places().unwrap();
        places.into_iter().find(|place| place.info.name == name).unwrap().problem
    };
    assert!(problem("a").is_some() && problem("b").is_none());
    world.opener.away.lock().unwrap().clear();
    run(world.store.maintain_once(&Default::default())).unwrap();
    assert!(problem("a").is_none());
    world.set_state("a", PlaceState::Down);
    assert!(world.read("/x") == noise(1_000, 1));
}

#[test]
fn if_a_member_of_a_group_fails_none_keeps_the_bytes() {
    let world = world_with_places();
    world.add_group("pair", &["a", "b"]);
    let pair = world.place("pair");
    let options = || PutOptions { place: Some(pair), ..PutOptions::default() };
    for nth in 1..5 {
        world.opener.faults.fail(nth, Fault::NoSpace);
        let put = world.try_put(&world.admin, "/x", &noise(3_000_000, 1), options());
        assert_eq!(kind(put), ErrorKind::NoSpace);
        world.opener.faults.restart();
        assert_eq!((world.blobs_in("a"), world.blobs_in("b")), (0, 0));
    }
    world.try_put(&world.admin, "/x", &noise(3_000_000, 1), options()).unwrap();
    assert_clean(&world.store);
}

#[test]
fn an_upload_in_parts_is_stored_in_its_place() {
    let world = world_with_places();
    world.add_group("pair", &["a", "b"]);
    let put = PutOptions { place: Some(world.place("pair")), ..PutOptions::default() };
    let options = cenote_store::UploadOptions { put, ..cenote_store::UploadOptions::default() };
    let upload = world.store.begin_upload(&world.admin, path("/x"), &options).unwrap().id;
    for n in 0..3u64 {
        let part = once(&noise(100, n));
        run(world.store.put_part(&world.admin, upload, n * 100, part, &Default::default()))
            .unwrap();
    }
    run(world.store.complete_upload(&world.admin, upload, None)).unwrap();
    assert_eq!(world.replicas("/x"), "0 a, 1 b");
    assert_eq!((world.blobs_in("a"), world.blobs_in("main")), (3, 0));
    world.replicate("/x", "main").unwrap();
    assert_eq!(world.replicas("/x"), "0 a, 1 b, 2 main");
    world.clock.advance(Duration::from_secs(1));
    assert_clean(&world.store);
}
