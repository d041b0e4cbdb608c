//! The check: it finds exactly the given damage, for every kind, and repairs derivable records.

use std::time::Duration;

use bytes::Bytes;
use cenote_blob::BlobId;
use cenote_store::{
    CheckOptions, ErrorKind, Finding, FindingKind as Kind, Moment, Notes, Position, Statement, Term,
};

use crate::raw::{key, named, overwrite};
use crate::upgrade::put_blob;
use crate::world::{
    World, assert_clean, at, findings, kind, noise, path, populated, run, world, world_with_places,
};

const REPAIR: CheckOptions = CheckOptions { repair: true, contents: 100 };
const LOOK: CheckOptions = CheckOptions { repair: false, contents: 100 };

/// A store with something in each table.
pub(crate) fn full() -> World {
    let world = world_with_places();
    populated(&world);
    replicated(&world);
    described(&world);
    trashed(&world);
    named_by_an_opening(&world);
    assert_clean(&world.store);
    world
}

/// An object named by an opening, with a note about it.
fn named_by_an_opening(world: &World) {
    world.put("/named", b"");
    let name =
        |notes: &mut Notes<'_>| notes.put_about(notes.resource().unwrap(), "file-1", "open".into());
    world.store.change_notes_about(&world.admin, &at("/named"), "dx", name).unwrap();
}

/// A note about a missing object, and one about an existing object.
fn note_about(id: u64) -> Bytes {
    frame(&[&[0x82, 0x1b][..], &id.to_be_bytes(), &[0x41, b'x']].concat())
}

/// In the trash: an object, which is first, one that counts for a limit, and a tree that is not counted yet.
fn trashed(world: &World) {
    world.mkdir("/kept");
    world.keep_removed("/kept", 86_400);
    world.put("/kept/object", b"12345");
    world.mkdir("/kept/limited");
    world.keep_removed_bytes("/kept/limited", Some(1_000));
    world.put("/kept/limited/object", b"under a limit");
    world.mkdir("/kept/tree");
    world.put("/kept/tree/x", b"in the trash");
    world.discard("/kept/object");
    world.discard("/kept/limited/object");
    world.discard("/kept/tree");
}

/// The key of a row of the tree in the trash, of one of its two tables.
fn of_tree(world: &World, table: u8) -> Vec<u8> {
    world.table(table).pop().unwrap().to_vec()
}

/// The resource that a row refers to.
fn id_of(row: &[u8]) -> u64 {
    u64::from_be_bytes(row[row.len() - 8..].try_into().unwrap())
}

/// A description that is stored statement by statement, and one about something else, with a link.
fn described(world: &World) {
    world.mkdir("/described");
    let about = Statement {
        subject: Some("http://x/else".into()),
        predicate: "http://x/in".into(),
        object: Term::Iri("cenote:/described".into()),
        unit: None,
    };
    world.put("/about", b"");
    world.state("/about", &[about]);
    (0..3).for_each(|n| drop(world.describe("/described", "k", &n.to_string().repeat(20_000))));
}

/// Objects with a good and with a stale replica.
fn replicated(world: &World) {
    for to in ["/replicated", "/stale"] {
        world.put(to, &noise(1_000, 3));
        world.replicate(to, "a").unwrap();
    }
    world.put("/stale", b"newer");
}

#[test]
fn an_unreachable_place_is_reported_once_and_does_not_end_the_check() {
    let world = full();
    world.put_in("a", "/more", &noise(500, 1));
    world.opener.away.lock().unwrap().insert("memory:///a".into());
    let world = world.reopened();
    overwrite(&world, blob_of(&world, "/c/big"), noise(1_000, 9));
    let found = kinds(&findings(&world.store, LOOK));
    assert_eq!(found, [Kind::DamagedBlob, Kind::UnreachablePlace]);
}

fn kinds(found: &[Finding]) -> Vec<Kind> {
    let mut kinds: Vec<_> = found.iter().map(|finding| finding.kind).collect();
    kinds.sort();
    kinds
}

/// A record, with its checksum.
pub(crate) fn frame(record: &[u8]) -> Bytes {
    [&[1][..], &crc32c::crc32c(record).to_le_bytes(), record].concat().into()
}

/// Below the first allocated id.
const NOBODY: u64 = 999;

type Damage = (&'static str, fn(&World), &'static [Kind]);

/// The damage that a repair fixes.
const DERIVABLE: &[Damage] = &[
    ("a missing entry", |w| w.raw_delete(&named(b'C', &[w.id("/c")], b"x")), &[Kind::Entry]),
    (
        "an entry that does not decode",
        |w| w.damage(&named(b'C', &[w.id("/c")], b"x")),
        &[Kind::Entry],
    ),
    (
        "an entry that leads elsewhere",
        |w| w.raw_put(named(b'C', &[w.id("/c")], b"n"), w.value(&named(b'C', &[w.id("/c")], b"x"))),
        &[Kind::Entry],
    ),
    (
        "an entry of nothing that does not decode",
        |w| w.raw_put(named(b'C', &[w.id("/c")], b"n"), Bytes::from_static(b"?")),
        &[Kind::Entry],
    ),
    ("a removed tree without its job", |w| w.raw_delete(&w.first(b'J')), &[Kind::Job]),
    ("a job that does not decode", |w| w.damage(&w.first(b'J')), &[Kind::DamagedRecord, Kind::Job]),
    (
        "a wrong counter",
        |w| w.raw_put(named(b'c', &[w.id("/c")], b"n"), 7i64.to_be_bytes().to_vec().into()),
        &[Kind::Counter],
    ),
    ("a missing counter", |w| w.raw_delete(&named(b'c', &[0], b"s")), &[Kind::Counter]),
    (
        "a wrong counter of what is kept under a limit",
        |w| {
            w.raw_put(
                named(b'c', &[w.id("/kept/limited")], b"x"),
                7i64.to_be_bytes().to_vec().into(),
            )
        },
        &[Kind::Counter],
    ),
    ("what is kept and counts for no limit", |w| w.raw_delete(&w.first(b'E')), &[Kind::Index]),
    (
        "a limit of what is not under it",
        |w| w.raw_put(key(b'E', &[NOBODY, 1, id_of(&w.first(b'X'))]), Bytes::new()),
        &[Kind::Index],
    ),
    (
        "a limit of nothing",
        |w| w.raw_put(key(b'E', &[w.id("/kept/limited"), 1, NOBODY]), Bytes::new()),
        &[Kind::Index],
    ),
    (
        "a counter of nothing",
        |w| w.raw_put(named(b'c', &[NOBODY], b"n"), 7i64.to_be_bytes().to_vec().into()),
        &[Kind::Counter],
    ),
    (
        "a counter that is none",
        |w| w.raw_put(named(b'c', &[w.id("/c")], b"s"), Bytes::from_static(b"?")),
        &[Kind::Counter],
    ),
    (
        "a membership of nothing",
        |w| {
            let count = 7i64.to_be_bytes().to_vec();
            w.raw_put(key(b'h', &[NOBODY]), count.into());
            w.raw_put(key(b'H', &[NOBODY]), w.value(&key(b'H', &[w.id("/c")])));
        },
        &[Kind::Leftover, Kind::Leftover],
    ),
    (
        "a membership of an object",
        |w| w.raw_put(key(b'H', &[w.id("/c/x")]), w.value(&key(b'H', &[w.id("/c")]))),
        &[Kind::Leftover],
    ),
    (
        "the time of a membership that does not decode",
        |w| w.damage(&key(b'H', &[w.id("/c")])),
        &[Kind::DamagedRecord],
    ),
    ("a statement that is not indexed", |w| w.raw_delete(&w.first(b'I')), &[Kind::Index]),
    (
        "an index of what is not stated",
        |w| w.raw_put(key(b'I', &[1, 2, w.id("/c/x")]), Bytes::new()),
        &[Kind::Index],
    ),
    (
        "an index of nothing",
        |w| w.raw_put(key(b'I', &[1, 2, NOBODY]), Bytes::new()),
        &[Kind::Index],
    ),
    ("an object that is not indexed", |w| w.raw_delete(&w.first(b'i')), &[Kind::Index]),
    (
        "an index of an object that is not stated",
        |w| w.raw_put(key(b'i', &[1, w.id("/c/x")]), Bytes::new()),
        &[Kind::Index],
    ),
    ("a subject that is not indexed", |w| w.raw_delete(&w.first(b'q')), &[Kind::Index]),
    (
        "an index of a subject of nothing",
        |w| w.raw_put(key(b'q', &[1, NOBODY]), Bytes::new()),
        &[Kind::Index],
    ),
    (
        "a description without a resource",
        |w| w.raw_put(key(b'G', &[NOBODY]), w.value(&w.first(b'G'))),
        &[Kind::Leftover],
    ),
    (
        "a statement without a description",
        |w| w.raw_put(key(b'Q', &[NOBODY, 0, 1, 2, 3]), w.value(&w.first(b'Q'))),
        &[Kind::Leftover],
    ),
    (
        "a statement that is not counted",
        |w| w.raw_put(key(b'G', &[w.id("/described")]), frame(&[0x82, 0x80, 0x82, 1, 1])),
        &[Kind::Counter],
    ),
    (
        "a missing reference to a content",
        |w| w.raw_delete(&key(b'R', &[w.content("/c/x"), w.id("/c/x"), 0])),
        &[Kind::Reference],
    ),
    (
        "a reference of nobody",
        |w| w.raw_put(key(b'R', &[w.content("/c/x"), NOBODY, 0]), Bytes::new()),
        &[Kind::Reference],
    ),
    (
        "a reference of no version",
        |w| w.raw_put(key(b'R', &[w.content("/c/x"), w.id("/c/x"), 77]), Bytes::new()),
        &[Kind::Reference],
    ),
    ("a missing reference to a blob", |w| w.raw_delete(&w.first(b'b')), &[Kind::Reference]),
    (
        "a reference of no content to a blob",
        |w| w.raw_put([&w.first(b'b')[..17], &NOBODY.to_be_bytes()].concat(), Bytes::new()),
        &[Kind::Reference],
    ),
    (
        "a record of a blob that is not",
        |w| {
            let record = named(b'B', &[], &blob_of(w, "/c/big").to_bytes());
            w.raw_put(named(b'B', &[], &[7; 16]), w.value(&record));
        },
        &[Kind::Counter, Kind::Counter, Kind::Leftover, Kind::MissingBlob],
    ),
    (
        "a content of nobody",
        |w| w.raw_put(key(b'K', &[NOBODY]), w.value(&key(b'K', &[w.content("/c/x")]))),
        &[Kind::Leftover],
    ),
    (
        "a patch without a content",
        |w| w.raw_put(named(b'k', &[NOBODY], &[0; 4]), w.value(&w.first(b'k'))),
        &[Kind::Leftover],
    ),
    (
        "a version of nothing",
        |w| w.raw_put(key(b'V', &[NOBODY, 1]), w.value(&w.first(b'V'))),
        &[Kind::Leftover],
    ),
    (
        "a description of no version",
        |w| w.raw_put(named(b'v', &[w.id("/c/x"), 77], &[0; 4]), w.value(&w.first(b'v'))),
        &[Kind::Leftover],
    ),
    (
        "a newest version that its resource does not name",
        |w| {
            let record = key(b'N', &[w.id("/c/x")]);
            let before = w.value(&record);
            w.try_keep("/c/x", None).unwrap();
            w.raw_put(record, before);
        },
        &[Kind::Reference],
    ),
    ("parts of no upload", |w| w.raw_delete(&w.first(b'P')), &[Kind::Leftover, Kind::Leftover]),
    ("an upload that does not decode", |w| w.damage(&w.first(b'P')), &[Kind::DamagedRecord]),
    (
        "an object without its note of a digest",
        |w| w.raw_delete(&w.first(b'd')),
        &[Kind::Reference],
    ),
    (
        "a note of a digest that is known",
        |w| w.raw_put(key(b'd', &[w.id("/c/x")]), Bytes::new()),
        &[Kind::Reference],
    ),
    ("a grant that is not found by its person", |w| w.raw_delete(&w.first(b'S')), &[Kind::Index]),
    (
        "a grant to somebody whom the access list does not name",
        |w| w.raw_put(key(b'S', &[NOBODY, 1, w.id("/c/x")]), Bytes::new()),
        &[Kind::Index],
    ),
    (
        "a note that is not found by its resource",
        |w| w.raw_delete(&w.first(b'a')),
        &[Kind::Reference],
    ),
    ("a note that is not found by its name", |w| w.raw_delete(&w.first(b'A')), &[Kind::Reference]),
    (
        "a note that does not decode by its name",
        |w| w.damage(&w.first(b'A')),
        &[Kind::DamagedRecord],
    ),
    (
        "a note that does not decode by its resource",
        |w| w.damage(&w.first(b'a')),
        &[Kind::Reference],
    ),
    (
        "a note about a missing resource",
        |w| w.raw_put(named(b'A', &[], b"dx\0other"), note_about(NOBODY)),
        &[Kind::Leftover],
    ),
    (
        "a note of a name that another resource has",
        |w| w.raw_put(named(b'a', &[w.id("/c/x")], b"dx\0file-1"), note_about(w.id("/c/x"))),
        &[Kind::Reference],
    ),
    ("a user without a name", |w| w.raw_delete(b"uu"), &[Kind::Reference]),
    ("a name that does not decode", |w| w.damage(b"uu"), &[Kind::Reference]),
    (
        "a name of somebody else",
        |w| w.raw_put(b"uother".to_vec(), w.value(b"uu")),
        &[Kind::Reference],
    ),
    (
        "a membership that does not show",
        |w| w.raw_put(key(b'M', &[10, 11]), Bytes::new()),
        &[Kind::Reference],
    ),
    ("a membership that is none", |w| w.raw_delete(&w.first(b'M')), &[Kind::Reference]),
    (
        "a member that is not",
        |w| w.raw_put(key(b'M', &[10, NOBODY]), Bytes::new()),
        &[Kind::Reference],
    ),
    (
        "a token that is not listed with its user",
        |w| w.raw_delete(&w.first(b'y')),
        &[Kind::Reference],
    ),
    ("a token that does not exist", |w| w.raw_delete(&w.first(b't')), &[Kind::Reference]),
    (
        "a token that does not decode",
        |w| w.damage(&w.first(b't')),
        &[Kind::DamagedRecord, Kind::Reference],
    ),
    (
        "a ticket that is not listed with its resource",
        |w| w.raw_delete(&w.first(b'w')),
        &[Kind::Reference],
    ),
    ("a ticket that does not exist", |w| w.raw_delete(&w.first(b'T')), &[Kind::Reference]),
    (
        "a ticket that does not decode",
        |w| w.damage(&w.first(b'T')),
        &[Kind::DamagedRecord, Kind::Reference],
    ),
    ("a change that does not decode", |w| w.damage(&w.first(b'F')), &[Kind::DamagedRecord]),
    ("ids that would return", |w| w.raw_delete(b"snext-id"), &[Kind::NextId]),
    (
        "checksums of blocks of no blob",
        |w| w.raw_put(named(b'e', &[], &[7; 20]), w.value(&w.first(b'e'))),
        &[Kind::Leftover],
    ),
    (
        "checksums of more blocks than there are",
        |w| w.raw_put([&w.first(b'e')[..17], &[0, 0, 0, 9]].concat(), w.value(&w.first(b'e'))),
        &[Kind::Leftover],
    ),
    ("blocks without checksums", |w| w.raw_delete(&w.first(b'e')), &[Kind::Checksums]),
    ("checksums that do not decode", |w| w.damage(&w.first(b'e')), &[Kind::Checksums]),
    (
        "checksums of other bytes",
        |w| w.raw_put(sums_of(w, "/large"), wrong_sums()),
        &[Kind::Checksums],
    ),
    (
        "checksums of another blob",
        |w| w.raw_put(sums_of(w, "/large"), w.value(&sums_of(w, "/larger"))),
        &[Kind::Checksums],
    ),
    (
        "a wrong counter of a place",
        |w| w.raw_put(named(b'c', &[20], b"n"), 7i64.to_be_bytes().to_vec().into()),
        &[Kind::Counter],
    ),
    (
        "a replica that is not counted",
        |w| w.raw_put(named(b'c', &[w.place("a").0], b"r"), 7i64.to_be_bytes().to_vec().into()),
        &[Kind::Counter],
    ),
    (
        "a replica where its content is not",
        |w| {
            // The array of two copies, at the end of the record, becomes one of one: that in `main`.
            let key = named(b'B', &[], &blob_of(w, "/replicated").to_bytes());
            let value = w.value(&key);
            let body = [&value[5..value.len() - 5], &[0x81, 20]].concat();
            let sum = crc32c::crc32c(&body).to_le_bytes();
            w.raw_put(key, [&[1][..], &sum, &body].concat().into());
        },
        &[Kind::Counter, Kind::Counter, Kind::Replica],
    ),
    (
        "an object that is recorded where its content is not",
        |w| {
            // The one copy, at the end of the record, becomes one in another place.
            let [high, low] = u16::try_from(w.place("a").0).unwrap().to_be_bytes();
            let blob = blob_of(w, "/c/big");
            run(put_blob(&w.opened("a"), blob, w.read("/c/big").into()));
            let key = named(b'B', &[], &blob.to_bytes());
            let value = w.value(&key);
            let body = [&value[5..value.len() - 1], &[0x19, high, low]].concat();
            let sum = crc32c::crc32c(&body).to_le_bytes();
            w.raw_put(key, [&[1][..], &sum, &body].concat().into());
        },
        // The counters of both places, the object, and its copy.
        &[Kind::Counter, Kind::Counter, Kind::Counter, Kind::Counter, Kind::Replica, Kind::Replica],
    ),
    (
        "a missing reference to a stale content",
        |w| {
            let stale = w.table(b'R').into_iter().find(|key| key[17..] > [0xff; 4][..]).unwrap();
            w.raw_delete(&stale);
        },
        &[Kind::Reference],
    ),
    (
        "something in the trash without its record",
        |w| w.raw_delete(&of_tree(w, b'X')),
        &[Kind::DamagedRecord, Kind::Counter],
    ),
    (
        "something in the trash whose record does not decode",
        |w| w.damage(&w.first(b'X')),
        &[Kind::DamagedRecord],
    ),
    (
        "a record in the trash that does not decode, and no entry in the order of expiry",
        |w| {
            w.damage(&w.first(b'X'));
            w.raw_delete(&w.first(b'x'));
        },
        &[Kind::DamagedRecord],
    ),
    (
        "a record in the trash of nothing",
        |w| w.raw_put(key(b'X', &[NOBODY]), w.value(&of_tree(w, b'X'))),
        &[Kind::Counter, Kind::Leftover],
    ),
    (
        "a record in the trash of nothing that does not decode",
        |w| w.raw_put(key(b'X', &[NOBODY]), Bytes::from_static(b"?")),
        &[Kind::DamagedRecord],
    ),
    (
        "a record in the trash of what is in the tree",
        |w| {
            let id = w.id("/c");
            w.raw_put(key(b'X', &[id]), w.value(&of_tree(w, b'X')));
            let until = u64::from_be_bytes(of_tree(w, b'x')[1..9].try_into().unwrap());
            w.raw_put(key(b'x', &[until, id]), Bytes::new());
        },
        &[Kind::Counter, Kind::Leftover],
    ),
    (
        "a record in the trash of what a job sweeps",
        |w| {
            // The record of the job ends in the id.
            let job = w.value(&w.first(b'J'));
            let swept = u16::from_be_bytes(job[job.len() - 2..].try_into().unwrap());
            w.raw_put(key(b'X', &[swept.into()]), w.value(&of_tree(w, b'X')));
        },
        &[Kind::Counter, Kind::Leftover],
    ),
    (
        "something in the trash that would never expire",
        |w| w.raw_delete(&w.first(b'x')),
        &[Kind::Index],
    ),
    (
        "an entry of nothing in the order of expiry",
        |w| w.raw_put(key(b'x', &[1, NOBODY]), Bytes::new()),
        &[Kind::Index],
    ),
    (
        "an entry at another time in the order of expiry",
        |w| w.raw_put(key(b'x', &[1, id_of(&w.first(b'x'))]), Bytes::new()),
        &[Kind::Index],
    ),
    (
        "a tree in the trash that no job counts",
        |w| w.raw_delete(&w.table(b'J').pop().unwrap()),
        &[Kind::Job],
    ),
    (
        "a wrong amount in the trash",
        |w| {
            let key = w.first(b'X');
            let value = w.value(&key);
            assert_eq!(value.last(), Some(&5), "the bytes come last");
            w.raw_put(key.to_vec(), frame(&[&value[5..value.len() - 1], &[7]].concat()));
        },
        &[Kind::Counter, Kind::Counter],
    ),
    (
        "a wrong counter of the trash",
        |w| w.raw_put(named(b'c', &[3], b"n"), 7i64.to_be_bytes().to_vec().into()),
        &[Kind::Counter],
    ),
    (
        "a copy that is gone while another is good",
        |w| run(w.opened("a").delete(blob_of(w, "/replicated"))).unwrap(),
        &[Kind::MissingBlob],
    ),
    (
        "a damaged copy while another is good",
        |w| overwrite(w, blob_of(w, "/replicated"), noise(1_000, 9)),
        &[Kind::DamagedBlob],
    ),
];

#[test]
fn every_derivable_damage_is_found_and_repaired() {
    for (name, damage, expected) in DERIVABLE {
        let world = full();
        damage(&world);
        assert_eq!(kinds(&findings(&world.store, LOOK)), *expected, "{name}");
        assert_eq!(
            kinds(&findings(&world.store, LOOK)),
            *expected,
            "looking changes nothing: {name}"
        );
        let repaired = findings(&world.store, REPAIR);
        let unmended: Vec<_> = repaired.iter().filter(|finding| !finding.repaired).collect();
        assert!(unmended.is_empty(), "{name}: {unmended:?}");
        assert_clean(&world.store);
        world.sweep();
        assert_clean(&world.store);
    }
}

/// What a repair forgot is not answered for: neither to those who follow the feed, nor about a moment before it.
#[test]
fn a_repaired_feed_begins_behind_the_damage() {
    let world = full();
    world.put("/before", b"1");
    let before = world.store.newest_change().unwrap();
    let mark = world.store.text_source().unwrap().mark().unwrap();
    world.mv("/before", "/after").unwrap();
    world.damage(world.table(b'F').last().unwrap());
    let damaged = world.store.newest_change().unwrap();
    assert_eq!(kinds(&findings(&world.store, REPAIR)), [Kind::DamagedRecord]);
    assert_eq!(world.store.newest_change().unwrap(), damaged);
    assert!(world.store.changes(&world.admin, damaged, 10).unwrap().changes.is_empty());
    world.put("/later", b"1");
    let as_of = |what: &str, position| {
        world.store.stat_as_of(&world.admin, &path(what), Moment::Position(position)).map(drop)
    };
    for what in ["/before", "/after", "/later"] {
        assert_eq!(kind(as_of(what, before)), ErrorKind::Expired, "{what}");
    }
    as_of("/after", damaged).unwrap();
    assert_eq!(kind(as_of("/later", damaged)), ErrorKind::NotFound);
    let expired = world.store.changes(&world.admin, before, 10);
    assert_eq!(kind(expired.map(drop)), ErrorKind::Expired);
    let changes = world.store.text_source().unwrap().changes(&mark, 10);
    assert_eq!(changes.unwrap(), None, "an index is made anew");
    let page = world.store.changes(&world.admin, Position::default(), 10).unwrap();
    assert!(page.changes.iter().all(|change| change.position > damaged), "{:?}", page.changes);
    assert!(!page.changes.is_empty());
}

/// The key of the checksums of an object stored in one blob.
fn sums_of(world: &World, path: &str) -> Vec<u8> {
    named(b'e', &[], &[&blob_of(world, path).to_bytes()[..], &[0; 4]].concat())
}

/// A record of checksums for the blocks of 200,000 bytes, framed as it should be.
fn wrong_sums() -> Bytes {
    let body = [&[0x81, 0x58, 40][..], &[9; 40]].concat();
    [&[1][..], &crc32c::crc32c(&body).to_le_bytes(), &body].concat().into()
}

pub(crate) fn blob_of(world: &World, path: &str) -> BlobId {
    let key =
        world.table(b'b').into_iter().find(|key| key[17..] == world.content(path).to_be_bytes());
    BlobId::from_bytes(key.unwrap()[1..17].try_into().unwrap())
}

/// Damage that only a copy from elsewhere could repair.
const LOST: &[Damage] = &[
    (
        "a resource that does not decode",
        |w| w.damage(&key(b'N', &[w.id("/c/x")])),
        &[Kind::DamagedRecord],
    ),
    (
        "a content that does not decode",
        |w| w.damage(&key(b'K', &[w.content("/c/x")])),
        &[Kind::DamagedRecord],
    ),
    ("a description that does not decode", |w| w.damage(&w.first(b'G')), &[Kind::DamagedRecord]),
    ("a statement that does not decode", |w| w.damage(&w.first(b'Q')), &[Kind::DamagedRecord]),
    ("a statement that is missing", |w| w.raw_delete(&w.first(b'Q')), &[Kind::DamagedRecord]),
    ("a version that does not decode", |w| w.damage(&w.first(b'V')), &[Kind::DamagedRecord]),
    (
        "a note that decodes neither by its name nor by its resource",
        |w| {
            w.damage(&w.first(b'A'));
            w.damage(&w.first(b'a'));
        },
        &[Kind::DamagedRecord],
    ),
    (
        "a description of a version that does not decode",
        |w| w.damage(&w.first(b'v')),
        &[Kind::DamagedRecord],
    ),
    (
        "a description of a version that is missing",
        |w| w.raw_delete(&w.first(b'v')),
        &[Kind::DamagedRecord],
    ),
    ("a user that does not decode", |w| w.damage(&key(b'U', &[11])), &[Kind::DamagedRecord]),
    ("a blob's record that does not decode", |w| w.damage(&w.first(b'B')), &[Kind::DamagedRecord]),
    ("a patch that is missing", |w| w.raw_delete(&w.first(b'k')), &[Kind::Content]),
    (
        "a content that is missing",
        |w| w.raw_delete(&key(b'K', &[w.content("/c/x")])),
        // The content of the object, and of the version before its description changed.
        &[Kind::Content, Kind::Content],
    ),
    (
        "a record in the trash that does not decode, after the feed forgot the removal",
        |w| {
            w.table(b'F').iter().for_each(|change| w.raw_delete(change));
            w.damage(&w.first(b'X'));
        },
        &[Kind::DamagedRecord],
    ),
    (
        "a blob that is missing",
        |w| run(w.parts.main.delete(blob_of(w, "/c/big"))).unwrap(),
        &[Kind::MissingBlob],
    ),
    ("a short blob", |w| overwrite(w, blob_of(w, "/c/big"), noise(999, 1)), &[Kind::ShortBlob]),
    (
        "a damaged blob",
        |w| overwrite(w, blob_of(w, "/c/big"), noise(1_000, 9)),
        &[Kind::DamagedBlob],
    ),
    (
        "other bytes in the catalog",
        |w| {
            w.raw_put(
                key(b'K', &[w.content("/c/x")]),
                w.value(&key(b'K', &[w.content("/c/sub/y")])),
            )
        },
        &[Kind::Digest, Kind::Digest],
    ),
];

#[test]
fn losses_are_reported_and_nothing_is_invented() {
    for (name, damage, expected) in LOST {
        let world = full();
        damage(&world);
        assert_eq!(kinds(&findings(&world.store, LOOK)), *expected, "{name}");
        let rows = world.rows();
        let repaired = findings(&world.store, REPAIR);
        assert_eq!(kinds(&repaired), *expected, "{name}");
        assert!(repaired.iter().all(|finding| !finding.repaired), "{name}");
        assert_eq!(world.rows(), rows, "{name}");
    }
}

#[test]
fn resources_below_a_lost_collection_are_reported() {
    let world = full();
    world.raw_delete(&key(b'N', &[world.id("/c")]));
    let found = findings(&world.store, REPAIR);
    let unreachable = found.iter().filter(|finding| finding.kind == Kind::Unreachable).count();
    assert_eq!(unreachable, 4, "x, sub, y and big: {found:?}");
}

#[test]
fn a_cycle_is_found() {
    let world = full();
    // `/c/sub` becomes the collection of `/c`.
    let (c, sub) = (key(b'N', &[world.id("/c")]), key(b'N', &[world.id("/c/sub")]));
    let swapped = world.value(&c);
    world.raw_put(sub, swapped.clone());
    let found = findings(&world.store, LOOK);
    assert!(!found.is_empty());
    world.raw_put(c, swapped);
    findings(&world.store, REPAIR);
}

#[test]
fn an_unreferenced_blob_is_found_once_it_is_old() {
    let world = full();
    overwrite(&world, BlobId::from_bytes([9; 16]), noise(100, 1));
    assert_clean(&world.store);
    world.clock.advance(Duration::from_secs(100 * 365 * 24 * 3_600));
    let found = findings(&world.store, REPAIR);
    assert_eq!(kinds(&found), [Kind::OrphanBlob]);
    assert!(found[0].repaired);
    assert_clean(&world.store);
}

#[test]
fn a_percentage_reads_the_same_contents_each_time_and_more_of_them_if_it_is_larger() {
    let world = world();
    (0..40).for_each(|n| drop(world.put(&format!("/{n}"), &noise(200, n))));
    for key in world.table(b'B') {
        let blob = BlobId::from_bytes(key[1..].try_into().unwrap());
        overwrite(&world, blob, noise(200, 77));
    }
    let read = |contents| -> Vec<_> {
        let found = findings(&world.store, CheckOptions { repair: false, contents });
        found.into_iter().map(|finding| finding.id).collect()
    };
    let (none, some, more, all) = (read(0), read(30), read(60), read(100));
    assert_eq!((none.len(), all.len()), (0, 40));
    assert_eq!(some, read(30));
    assert!(some.len() < more.len() && some.iter().all(|id| more.contains(id)));
}

#[test]
fn a_finding_is_one_line() {
    let world = world();
    let to = cenote_store::StorePath::root()
        .join(cenote_store::Name::new("two\nlines").unwrap())
        .unwrap();
    run(world.store.put(&world.admin, &to, crate::world::once(b""), Default::default())).unwrap();
    world.raw_delete(&named(b'C', &[1], b"two\nlines"));
    let found = findings(&world.store, REPAIR);
    assert_eq!(found.len(), 1);
    let line = found[0].to_string();
    assert!(line.starts_with("entry ") && line.ends_with("(repaired)"), "{line}");
    assert_eq!(line.lines().count(), 1);
}

#[test]
fn a_check_ends_if_its_receiver_is_dropped() {
    let world = full();
    (0..500).for_each(|n| world.raw_put(key(b'I', &[n, 1, NOBODY]), Bytes::new()));
    run(async {
        use futures_util::StreamExt;
        let mut check = Box::pin(world.store.check(LOOK));
        assert!(check.next().await.is_some());
        drop(check);
    });
}

#[test]
fn a_store_in_use_is_checked_without_false_alarms() {
    let world = world();
    let done = std::sync::atomic::AtomicBool::new(false);
    std::thread::scope(|scope| {
        scope.spawn(|| {
            for n in 0..200u64 {
                let name = format!("/{}", n % 7);
                let _ = world.rm(&name);
                world.put(&name, &noise(100, n));
                world.describe(&name, "n", &n.to_string());
            }
            done.store(true, std::sync::atomic::Ordering::SeqCst);
        });
        while !done.load(std::sync::atomic::Ordering::SeqCst) {
            assert_clean(&world.store);
        }
    });
}
