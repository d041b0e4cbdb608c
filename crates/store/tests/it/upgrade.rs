//! A store of an earlier format becomes one of this format when it is opened, with all that was in it.

use bytes::Bytes;
use cenote_blob::{BlobId, Place};
use cenote_kv::{Batch, Engine, MemoryEngine};
use cenote_store::{AccessChange, ErrorKind, Level, NewTicket, PlaceId, PlaceStatus, Scope, Store};

use crate::world::{
    ADMIN, PASSWORD, World, assert_clean, at, avu, kind, noise, parts, path, rows, run, world,
};

const FORMAT_1: &str = include_str!("../fixtures/format-1.txt");

fn bytes(hex: &str) -> Bytes {
    let byte = |at: usize| u8::from_str_radix(&hex[at..at + 2], 16).unwrap();
    (0..hex.len()).step_by(2).map(byte).collect::<Vec<_>>().into()
}

async fn put_blob(place: &Place, id: BlobId, bytes: Bytes) {
    let mut writer = place.writer(id, []);
    writer.write(bytes).await.unwrap();
    writer.finish().await.unwrap();
}

/// The store of the fixture, opened by this program.
fn opened() -> World {
    let (engine, place) = (MemoryEngine::new(), Place::memory("main"));
    let mut batch = Batch::default();
    for line in FORMAT_1.lines().filter(|line| !line.starts_with('#')) {
        let words: Vec<_> = line.split(' ').collect();
        match words[..] {
            ["blob", id, content] => run(put_blob(&place, id.parse().unwrap(), bytes(content))),
            [key] => drop(batch.put(bytes(key), Bytes::new())),
            [key, value] => drop(batch.put(bytes(key), bytes(value))),
            _ => panic!("{line}"),
        }
    }
    engine.commit(batch).unwrap();
    let (parts, clock) = parts(engine, place);
    World::open(parts, clock)
}

fn main_place(store: &Store) -> PlaceStatus {
    store.places().unwrap().into_iter().find(|place| place.id == PlaceId::MAIN).unwrap()
}

#[test]
fn all_that_a_store_of_format_1_keeps_is_there() {
    let world = opened();
    assert_eq!(world.names("/"), ["c", "copy", "patched"]);
    assert_eq!(world.names("/c"), ["big", "sub", "x"]);
    assert_eq!((world.read("/c/x"), world.read_version("/c/x", 1)), (b"new".into(), b"old".into()));
    assert_eq!(world.store.avus(&world.admin, &at("/c/x")).unwrap(), [avu("k", "v")]);
    assert!(world.read("/c/big") == noise(1_000, 1) && world.read("/copy") == noise(1_000, 1));
    assert!(world.read("/patched") == [noise(1_000, 2), b"and more".to_vec()].concat());
    assert_eq!(kind(world.stat("/gone")), ErrorKind::NotFound);
    let (user, _) = world.store.person_named("u").unwrap();
    let ben = world.store.caller_for(user).unwrap();
    assert_eq!(kind(world.try_read(&ben, "/c/x")), ErrorKind::NotFound);
    assert_eq!(world.store.tickets(&world.admin, &at("/c/x")).unwrap().len(), 1);
    world.store.authenticate_password(ADMIN, PASSWORD).unwrap();
    assert_clean(&world.store);
}

#[test]
fn what_only_the_new_format_has_is_made_up_once() {
    let world = opened();
    let place = main_place(&world.store);
    assert_eq!((place.copies, place.info.name.as_str()), (4, "main"));
    assert_eq!(place.bytes, 2 * 1_000 + 2 * 100);
    let after = world.rows();
    let again = world.reopened();
    assert_eq!(rows(&*again.parts.engine), after);
    assert_eq!(main_place(&again.store).copies, 4);
}

#[test]
fn a_store_of_format_1_is_worked_with_as_one_of_this() {
    let world = opened();
    world.put("/c/x", &noise(500, 3));
    let versions = world.store.versions(&world.admin, &at("/c/x")).unwrap();
    let kept: Vec<_> =
        versions.iter().map(|kept| world.read_version("/c/x", kept.version)).collect();
    assert_eq!(kept, [b"new", b"old"]);
    world.put("/new", &noise(500, 4));
    world.sweep();
    world.rm_all("/c").unwrap();
    world.sweep();
    assert!(world.read("/copy") == noise(1_000, 1), "its bytes are shared with what went");
    world.store.add_ticket(&world.admin, &at("/new"), &NewTicket::default()).unwrap();
    world.mv("/new", "/renamed").unwrap();
    assert_eq!(world.stat("/renamed").unwrap().path, path("/renamed"));
    assert_clean(&world.store);
}

#[test]
fn whoever_was_let_in_without_a_login_still_is_and_nobody_else() {
    use Level::{Null, Own, ReadMetadata, ReadObject};
    let world = world();
    let lines = |public, anonymous| [("public", public), ("anonymous", anonymous)];
    for (name, scope, lines, expected) in [
        ("/this", Scope::This, lines(ReadObject, Null), ReadObject),
        ("/subtree", Scope::Subtree, lines(ReadObject, Null), ReadObject),
        ("/default", Scope::Default, lines(ReadObject, Null), ReadObject),
        ("/less", Scope::This, lines(ReadObject, ReadMetadata), ReadObject),
        ("/more", Scope::This, lines(ReadObject, Own), Own),
        ("/neither", Scope::This, lines(Null, Null), Null),
    ] {
        world.mkdir(name);
        world.put(&format!("{name}/x"), b"x");
        let changes: Vec<_> = lines
            .iter()
            .map(|(who, level)| AccessChange::Grant((*who).to_owned(), *level, scope))
            .collect();
        let what = if scope == Scope::This { format!("{name}/x") } else { name.to_owned() };
        world.store.change_access(&world.admin, &at(&what), &changes).unwrap();
        set_format(&world, 2);
        let upgraded = world.reopened();
        let anonymous = upgraded.store.anonymous().unwrap();
        let level = upgraded.store.level(&anonymous, &at(&format!("{name}/x")));
        assert_eq!(level.unwrap_or_default(), expected, "{name}");
        let once = upgraded.rows();
        set_format(&upgraded, 2);
        assert_eq!(upgraded.reopened().rows(), once, "it changes nothing when it is run again");
    }
}

#[test]
fn an_upgrade_sees_all_resources() {
    let world = world();
    let public = [AccessChange::Grant("public".into(), Level::ReadObject, Scope::This)];
    for n in 0..1_100 {
        world.put(&format!("/{n}"), b"");
    }
    for last in ["/0", "/1023", "/1024", "/1099"] {
        world.store.change_access(&world.admin, &at(last), &public).unwrap();
    }
    set_format(&world, 2);
    let upgraded = world.reopened();
    let anonymous = upgraded.store.anonymous().unwrap();
    for last in ["/0", "/1023", "/1024", "/1099"] {
        upgraded.try_read(&anonymous, last).unwrap();
    }
    assert_eq!(kind(upgraded.try_read(&anonymous, "/1")), ErrorKind::NotFound);
    assert_clean(&upgraded.store);
}

/// Says that the store has this format: in CBOR an array with a number, after its checksum (`docs/format.md`).
fn set_format(world: &World, format: u8) {
    let record = [0x81, format];
    let checksum = crc32c::crc32c(&record).to_le_bytes();
    world.raw_put(b"sformat".to_vec(), [&[1][..], &checksum, &record].concat().into());
}

#[test]
fn a_store_of_a_later_format_is_left_alone() {
    let world = opened();
    // In CBOR an array with the number 99, after its checksum: `docs/format.md`.
    let later = [0x81, 0x18, 99];
    let checksum = crc32c::crc32c(&later).to_le_bytes();
    let mut batch = Batch::default();
    batch.put(&b"sformat"[..], [&[1][..], &checksum, &later].concat());
    world.parts.engine.commit(batch).unwrap();
    let before = world.rows();
    let refused = Store::open_existing(world.parts.clone()).unwrap_err();
    assert!(refused.to_string().contains("format 99"), "{refused}");
    assert_eq!(world.rows(), before);
}
