//! A store of an earlier format is upgraded when it is opened, with all its data.

use std::collections::BTreeSet;
use std::sync::Arc;
use std::time::Duration;

use bytes::Bytes;
use cenote_blob::{BlobId, Place};
use cenote_kv::{Batch, Engine, MemoryEngine};
use cenote_store::{
    AccessChange, AvuChange, CheckOptions, Conditions, ContentHead, ErrorKind, FindingKind,
    NewTicket, Only, Pace, Pattern, PlaceId, PlaceOpener, PlaceStatus, Rights, Scope, Statement,
    Store, Term, TicketUse, Vocabulary,
};
use sha2::{Digest, Sha256};

use crate::raw::key;
use crate::statements::found;
use crate::world::{
    ADMIN, MemoryOpener, PASSWORD, SeededEntropy, World, assert_clean, at, avu, findings, kind,
    noise, parts, path, populated, rows, run, world,
};

const FORMAT_1: &str = include_str!("../fixtures/format-1.txt");
const FORMAT_2: &str = include_str!("../fixtures/format-2.txt");
const FORMAT_3: &str = include_str!("../fixtures/format-3.txt");
const FORMAT_4: &str = include_str!("../fixtures/format-4.txt");
const FORMAT_5: &str = include_str!("../fixtures/format-5.txt");
const FORMAT_6: &str = include_str!("../fixtures/format-6.txt");
const FORMAT_7: &str = include_str!("../fixtures/format-7.txt");
const FORMAT_8: &str = include_str!("../fixtures/format-8.txt");

fn bytes(hex: &str) -> Bytes {
    let byte = |at: usize| u8::from_str_radix(&hex[at..at + 2], 16).unwrap();
    (0..hex.len()).step_by(2).map(byte).collect::<Vec<_>>().into()
}

pub(crate) async fn put_blob(place: &Place, id: BlobId, bytes: Bytes) {
    let mut writer = place.writer(id, []);
    writer.write(bytes).await.unwrap();
    writer.finish().await.unwrap();
}

/// The store of a fixture, opened by the current version.
fn opened_from(fixture: &str) -> World {
    let (engine, place) = (MemoryEngine::new(), Place::memory("main"));
    let opener = Arc::new(MemoryOpener::default());
    let in_place = |name: &str| match name {
        "main" => place.clone(),
        name => opener.open(name, &format!("memory:///{name}")).unwrap(),
    };
    let mut batch = Batch::default();
    for line in fixture.lines().filter(|line| !line.starts_with('#')) {
        let words: Vec<_> = line.split(' ').collect();
        match words[..] {
            ["blob", id, content] => run(put_blob(&place, id.parse().unwrap(), bytes(content))),
            ["blob", name, id, content] => {
                run(put_blob(&in_place(name), id.parse().unwrap(), bytes(content)));
            }
            ["noise", name, id, size, seed] => {
                let bytes = noise(size.parse().unwrap(), seed.parse().unwrap());
                run(put_blob(&in_place(name), id.parse().unwrap(), bytes.into()));
            }
            [key] => drop(batch.put(bytes(key), Bytes::new())),
            [key, value] => drop(batch.put(bytes(key), bytes(value))),
            _ => panic!("{line}"),
        }
    }
    engine.commit(batch).unwrap();
    let (mut parts, clock) = parts(engine, place.clone());
    parts.opener = opener.clone();
    // The earlier version used another seed: no id is allocated twice.
    parts.entropy = Arc::new(SeededEntropy::new(u64::MAX / 3));
    World { opener, ..World::open(parts, clock) }
}

fn opened() -> World {
    opened_from(FORMAT_1)
}

fn main_place(store: &Store) -> PlaceStatus {
    store.places().unwrap().into_iter().find(|place| place.id == PlaceId::MAIN).unwrap()
}

#[test]
fn a_store_of_format_1_is_read_completely() {
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
fn derived_records_of_the_new_format_are_created_once() {
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
fn a_store_of_format_1_can_be_used_like_a_new_one() {
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

/// Records written before there were three clocks have one time and one count of changes.
#[test]
fn timestamps_of_earlier_records_continue_from_their_single_one() {
    let world = opened();
    let stat = world.stat("/c/x").unwrap();
    let (modified, revision) = (stat.resource.modified, stat.resource.revision);
    let described = stat.resource.described();
    assert!(revision > 1, "it was changed");
    assert_eq!(
        (stat.resource.written(), described.time, described.revision),
        (modified, modified, revision)
    );
    let members = |world: &World, of: &str| {
        world.store.memberships(&[world.stat(of).unwrap()]).unwrap()[0].unwrap()
    };
    let (before, created) = (members(&world, "/c"), world.stat("/c").unwrap().resource.created);
    assert_eq!((before.changes, before.changed), (0, created));
    world.clock.advance(Duration::from_secs(3600 * 24 * 365));
    let after = world.describe("/c/x", "later", "v").resource;
    assert_eq!(after.written(), modified, "an AVU does not move the time of the content");
    assert!(after.described().time > modified && after.described().revision == revision + 1);
    let written = world.put("/c/x", b"newer").resource;
    assert_eq!(written.described(), after.described());
    assert!(written.written() > modified);
    world.put("/c/new", b"");
    let now = members(&world, "/c");
    assert!(now.changes == 1 && now.changed > created && now.tag() != before.tag());
    assert_clean(&world.store);
}

/// The SHA-256 of a content, if it is known.
fn sha256(head: Option<ContentHead>) -> Option<[u8; 32]> {
    head.unwrap().digests.sha256
}

#[test]
fn computed_digests_are_recomputed_once() {
    let world = opened_from(FORMAT_2);
    let current = |world: &World, of: &str| world.stat(of).unwrap().resource.content;
    // Digests of single-request contents stay known, and the tag of a computed one is unchanged.
    assert!(sha256(current(&world, "/whole")).is_some());
    assert_eq!(sha256(current(&world, "/computed")), None);
    let expected =
        [&noise(3_000_000, 11)[..2_000_000], b"HELLO", &noise(3_000_000, 11)[2_000_005..]];
    assert!(world.read("/computed") == expected.concat());
    let version = world.store.versions(&world.admin, &at("/c/computed")).unwrap().swap_remove(0);
    assert_eq!(sha256(version.content.clone()), None);
    assert_eq!(version.content.unwrap().digests.crc64nvme, None);
    let replicas = world.store.replicas(&world.admin, &at("/stale")).unwrap();
    assert!(replicas.iter().any(|replica| !replica.good), "the case is there");
    assert_clean(&world.store);
    world.clock.advance(Duration::from_secs(3_600));
    run(world.store.maintain_once(&Pace::default())).unwrap();
    assert_eq!(
        sha256(current(&world, "/computed")).unwrap()[..],
        Sha256::digest(expected.concat())[..]
    );
    let (whole, again) = (current(&world, "/computed"), world.reopened());
    assert_eq!(current(&again, "/computed"), whole, "only once");
    world.store.restore_version(&world.admin, &at("/c/computed"), version.version).unwrap();
    world.clock.advance(Duration::from_secs(3_600));
    run(world.store.maintain_once(&Pace::default())).unwrap();
    let bytes = [noise(900, 12), b"HELLO".to_vec()].concat();
    assert_eq!(sha256(current(&world, "/c/computed")).unwrap()[..], Sha256::digest(bytes)[..]);
    assert_clean(&world.store);
}

/// The store of the fixture as if it had been upgraded, with its original digests.
#[test]
fn a_check_reports_digests_that_do_not_match_whole_blobs() {
    let wrong = FORMAT_2
        .replace("73666f726d6174 01ab653bf88102", &format!("73666f726d6174 {}", format_row(4)));
    assert_ne!(wrong, FORMAT_2);
    let world = opened_from(&wrong);
    let found = findings(&world.store, CheckOptions::default());
    let lines: Vec<_> = found.iter().map(ToString::to_string).collect();
    assert_eq!(found.len(), 3, "{lines:#?}");
    for (finding, line) in found.iter().zip(&lines) {
        assert_eq!(finding.kind, FindingKind::Digest, "{line}");
        assert!(line.contains("each of its blobs is whole"), "{line}");
    }
}

/// In CBOR an array with the number, after its checksum: `docs/format.md`.
fn format_row(number: u8) -> String {
    let record = [0x81, number];
    let frame = [&[1][..], &crc32c::crc32c(&record).to_le_bytes(), &record].concat();
    frame.iter().map(|byte| format!("{byte:02x}")).collect()
}

/// For `/c/x`, in the store of the fixture of format 3.
const TICKET_3: &str = "T7JvPm1pLRcamAf";

#[test]
fn a_store_of_format_3_keeps_its_replicas_access_and_tickets() {
    let world = opened_from(FORMAT_3);
    assert_eq!(
        world.names("/"),
        ["c", "copy", "logged", "open", "patched", "stale", "there", "whole"]
    );
    assert!(world.read("/there") == noise(1_000, 6) && world.read("/whole") == noise(1_000, 5));
    assert!(world.read("/stale") == [noise(1_000, 7), b"more".to_vec()].concat());
    assert_eq!((world.read("/c/x"), world.read_version("/c/x", 1)), (b"new".into(), b"old".into()));
    let replicas = ["/whole", "/there", "/stale", "/copy"].map(|of| world.replicas(of));
    assert_eq!(replicas, ["0 main, 1 a", "0 b", "0 main, 1 a stale", "0 main"]);
    let user = world.store.caller_for(world.store.person_named("u").unwrap().0).unwrap();
    let anonymous = world.store.anonymous().unwrap();
    let rights = |caller, of| world.store.rights(caller, &at(of)).unwrap_or_default();
    for (of, for_user, for_anonymous) in [
        ("/open/x", Rights::READ_OBJECT, Rights::READ_OBJECT),
        ("/logged", Rights::READ_OBJECT, Rights::NONE),
        ("/c/x", Rights::MODIFY_OBJECT, Rights::NONE),
        ("/whole", Rights::NONE, Rights::NONE),
    ] {
        assert_eq!((rights(&user, of), rights(&anonymous, of)), (for_user, for_anonymous), "{of}");
    }
    // It gives no rights.
    world.store.use_ticket(&anonymous, TICKET_3, "::1", TicketUse::Look).unwrap();
    assert_eq!(world.store.tickets(&world.admin, &at("/c/x")).unwrap().len(), 2);
    assert_clean(&world.store);
    let rows = world.rows();
    assert_eq!(world.reopened().rows(), rows);
}

#[test]
fn anonymous_access_is_kept_exactly_as_before() {
    let world = world();
    let lines = |public, anonymous| [("public", public), ("anonymous", anonymous)];
    for (name, scope, lines, expected) in [
        ("/this", Scope::This, lines(Rights::READ_OBJECT, Rights::NONE), Rights::READ_OBJECT),
        ("/subtree", Scope::Subtree, lines(Rights::READ_OBJECT, Rights::NONE), Rights::READ_OBJECT),
        ("/default", Scope::Default, lines(Rights::READ_OBJECT, Rights::NONE), Rights::READ_OBJECT),
        (
            "/less",
            Scope::This,
            lines(Rights::READ_OBJECT, Rights::READ_METADATA),
            Rights::READ_OBJECT,
        ),
        ("/more", Scope::This, lines(Rights::READ_OBJECT, Rights::OWN), Rights::OWN),
        ("/neither", Scope::This, lines(Rights::NONE, Rights::NONE), Rights::NONE),
    ] {
        world.mkdir(name);
        world.put(&format!("{name}/x"), b"x");
        let changes: Vec<_> = lines
            .iter()
            .map(|(who, rights)| AccessChange::Grant((*who).to_owned(), (*rights).into(), scope))
            .collect();
        let what = if scope == Scope::This { format!("{name}/x") } else { name.to_owned() };
        world.store.change_access(&world.admin, &at(&what), &changes).unwrap();
        set_format(&world, 2);
        let upgraded = world.reopened();
        let anonymous = upgraded.store.anonymous().unwrap();
        let rights = upgraded.store.rights(&anonymous, &at(&format!("{name}/x")));
        assert_eq!(rights.unwrap_or_default(), expected, "{name}");
        let once = upgraded.rows();
        set_format(&upgraded, 2);
        assert_eq!(upgraded.reopened().rows(), once, "it changes nothing when it is run again");
    }
}

/// Format 4 kept a description of any size in one record.
#[test]
fn a_large_description_of_format_4_is_read_and_changed() {
    let world = world();
    let id = world.put("/a", b"").id.0;
    world.describe("/a", "k", "v");
    let many: BTreeSet<_> = (0..2_000).map(|n| avu("k", &format!("value number {n}"))).collect();
    let add: Vec<_> = many.iter().cloned().map(AvuChange::Add).collect();
    let change = |world: &World, changes: &[AvuChange]| {
        world.store.change_avus(&world.admin, &at("/a"), changes, &Conditions::default()).unwrap();
    };
    change(&world, &add);
    let (_, graph) = world.store.graph(&world.admin, &at("/a")).unwrap();
    let record = minicbor::to_vec((graph,)).unwrap();
    let checksum = crc32c::crc32c(&record).to_le_bytes();
    world.table(b'Q').iter().for_each(|row| world.raw_delete(row));
    world.raw_put(key(b'G', &[id]), [&[1][..], &checksum, &record].concat().into());
    set_format(&world, 4);
    let upgraded = world.reopened();
    assert_eq!(upgraded.store.avus(&world.admin, &at("/a")).unwrap().len(), 2_001);
    change(&upgraded, &[AvuChange::Remove(avu("k", "v"))]);
    let left: BTreeSet<_> =
        upgraded.store.avus(&world.admin, &at("/a")).unwrap().into_iter().collect();
    assert_eq!((left, upgraded.table(b'Q').len()), (many, 2_000));
    assert_clean(&upgraded.store);
}

#[test]
fn an_upgrade_visits_all_resources() {
    let world = world();
    let public = [AccessChange::Grant("public".into(), Rights::READ_OBJECT.into(), Scope::This)];
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

/// Records this format in the store: in CBOR an array with a number, after its checksum (`docs/format.md`).
fn set_format(world: &World, format: u8) {
    let record = [0x81, format];
    let checksum = crc32c::crc32c(&record).to_le_bytes();
    world.raw_put(b"sformat".to_vec(), [&[1][..], &checksum, &record].concat().into());
}

#[test]
fn a_store_of_a_later_format_is_left_unchanged() {
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

#[test]
fn grants_of_a_store_of_format_4_are_found_by_user() {
    let world = world();
    populated(&world);
    let entries = world.table(b'S');
    assert_eq!(entries.len(), 1);
    entries.iter().for_each(|entry| world.raw_delete(entry));
    set_format(&world, 4);
    let upgraded = world.reopened();
    assert_eq!(upgraded.table(b'S'), entries);
    assert_clean(&upgraded.store);
}

/// Format 5 had one order, of statements about the resource itself, by hashes of both terms.
#[test]
fn statements_of_format_5_are_found_in_three_orders() {
    let world = world();
    populated(&world);
    let triple = |subject: Option<&str>, value: &str| Statement {
        subject: subject.map(Into::into),
        predicate: "http://p/1".into(),
        object: Term::string(value),
        unit: None,
    };
    let graph = [triple(None, "12"), triple(None, "x"), triple(Some("http://s"), "2020-01-01")];
    world.state("/c/x", &graph);
    (0..3).for_each(|n| drop(world.describe("/c", "k", &n.to_string().repeat(20_000))));
    let index = |world: &World| [b'I', b'i', b'q'].map(|table| world.table(table));
    let entries = index(&world);
    entries.iter().flatten().for_each(|entry| world.raw_delete(entry));
    let id = world.stat("/c/x").unwrap().id.0;
    for value in ["12", "x"] {
        let hashes = ["http://p/1", value].map(|text| xxhash_rust::xxh3::xxh3_64(text.as_bytes()));
        world.raw_put(key(b'I', &[hashes[0], hashes[1], id]), Bytes::new());
    }
    set_format(&world, 5);
    let upgraded = world.reopened();
    assert_eq!(index(&upgraded), entries);
    assert_clean(&upgraded.store);
}

/// The tickets of the fixture of format 4, which are known only to their recipients.
const TICKETS: [&str; 3] = ["BYy5xH4vBCWARJJ", "yRSs7lGX07eW5WP", "O4LEvN3ISWChfTf"];

#[test]
fn tickets_of_format_4_are_hashed_and_stay_valid() {
    let world = opened_from(FORMAT_4);
    for (key, value) in world.rows() {
        for bytes in [&key, &value] {
            let has = |ticket: &str| bytes.windows(ticket.len()).any(|at| at == ticket.as_bytes());
            assert!(!TICKETS.iter().any(|ticket| has(ticket)), "{key:?} {value:?}");
        }
    }
    assert_clean(&world.store);
    let anonymous = world.store.anonymous().unwrap();
    let show = |ticket: &str| world.store.use_ticket(&anonymous, ticket, "::1", TicketUse::Read);
    for (ticket, what) in TICKETS.iter().zip(["/a", "/a", "/a/x"]) {
        let holder = anonymous.clone().with_ticket(show(ticket).unwrap());
        assert!(world.store.stat(&holder, &at(what)).is_ok(), "{ticket}");
    }
    let first = world.store.use_ticket(&anonymous, TICKETS[0], "::1", TicketUse::More(0)).unwrap();
    let upload = "2003-8a770919e8676cff".parse().unwrap();
    assert_eq!(kind(world.store.upload(&anonymous, upload)), ErrorKind::NotFound);
    let other = anonymous.clone().with_ticket(show(TICKETS[1]).unwrap());
    assert_eq!(kind(world.store.upload(&other, upload)), ErrorKind::NotFound);
    world.store.upload(&anonymous.clone().with_ticket(first), upload).unwrap();
    show(TICKETS[0]).unwrap();
    assert_eq!(kind(show(TICKETS[0])), ErrorKind::Unauthenticated, "three uses");
    assert_eq!(world.store.tickets(&world.admin, &at("/a")).unwrap().len(), 2);
}

#[test]
fn an_interrupted_upgrade_continues_where_it_stopped() {
    let whole = opened_from(FORMAT_4);
    let format = key(b's', &[]).into_iter().chain(*b"format").collect::<Vec<u8>>();
    let before = FORMAT_4.lines().find(|line| line.starts_with("73666f726d6174 ")).unwrap();
    whole.raw_put(format, bytes(before.split_once(' ').unwrap().1));
    let again = whole.reopened();
    assert_eq!(again.table(b'T').len(), 3);
    assert_eq!(again.table(b'w').len(), 3);
    assert_clean(&again.store);
}

/// Created by `u`, and by the administrator for `/c`, in the store of the fixture of format 5.
const TOKEN_5: &str = "cn_9017ca29e43caff08f4a5b0c0b0bc764afec512727877516af7acd9a859c679b";
const TICKET_5: &str = "yYKw4oFkVWWxXhE";

#[test]
fn levels_of_format_5_become_their_sets_of_rights() {
    let world = opened_from(FORMAT_5);
    let user = world.store.caller_for(world.store.person_named("u").unwrap().0).unwrap();
    let limited = world.store.authenticate_token(TOKEN_5).unwrap();
    for (level, rights) in Vocabulary::IRODS.names() {
        let what = at(&format!("/{level}"));
        assert_eq!(world.store.rights(&user, &what).unwrap_or_default(), rights, "{level}");
        let within = rights.intersection(Rights::MODIFY_OBJECT);
        assert_eq!(world.store.rights(&limited, &what).unwrap_or_default(), within, "{level}");
    }
    let in_c = Rights::CREATE_OBJECT.union(Rights::READ_OBJECT);
    assert_eq!(world.store.rights(&user, &at("/c/x")).unwrap(), in_c);
    let anonymous = world.store.anonymous().unwrap();
    let grant = world.store.use_ticket(&anonymous, TICKET_5, "::1", TicketUse::Look).unwrap();
    let holder = anonymous.with_ticket(grant);
    assert_eq!(world.store.rights(&holder, &at("/c/x")).unwrap(), Rights::READ_OBJECT);
    assert_clean(&world.store);
}

#[test]
fn a_grant_of_a_level_has_the_same_bytes_as_in_format_5() {
    let world = opened_from(FORMAT_5);
    let before = world.table(b'N').len();
    let id = world.stat("/own").unwrap().id.0;
    let record = |world: &World| {
        let rows = world.rows();
        rows.into_iter().find(|(at, _)| **at == *key(b'N', &[id])).unwrap().1[5..].to_vec()
    };
    let grants = |world: &World| {
        let record: NewAccess = minicbor::decode(&record(world)).unwrap();
        record.access
    };
    let first = grants(&world);
    let set = |rights: Rights| {
        let change = [AccessChange::Grant("u".into(), rights.into(), Scope::This)];
        world.store.change_access(&world.admin, &at("/own"), &change).unwrap();
    };
    set(Rights::LIST);
    assert_ne!(grants(&world), first);
    set(Rights::OWN);
    assert_eq!((grants(&world), world.table(b'N').len()), (first, before));
}

/// The access list of a resource, as it was recorded in format 5: a level is a number of one byte.
#[derive(Debug, PartialEq, minicbor::Decode)]
struct NewAccess {
    #[n(10)]
    access: (Vec<(u64, u16, u8)>, bool, bool),
}

/// Lists of format 6 have no restricted lines, and records no classes: they are recorded from the descriptions, for lines that are set later.
#[test]
fn classes_of_format_6_are_recorded() {
    let world = opened_from(FORMAT_6);
    let user = world.store.caller_for(world.store.person_named("u").unwrap().0).unwrap();
    let class = Only::Class("http://xmlns.com/foaf/0.1/Document".into());
    let read = Rights::READ_OBJECT.into();
    let change = [AccessChange::GrantOnly("u".into(), read, Scope::Default, class)];
    world.store.change_access(&world.admin, &at("/c"), &change).unwrap();
    for (name, expected) in
        [("document", true), ("typed", true), ("untyped", false), ("part", false)]
    {
        let seen = world.store.stat(&user, &at(&format!("/c/{name}"))).is_ok();
        assert_eq!(seen, expected, "{name}");
    }
    assert_clean(&world.store);
}

#[test]
fn an_interrupted_record_of_classes_continues_where_it_stopped() {
    let whole = opened_from(FORMAT_6);
    let records = whole.rows();
    let before = FORMAT_6
        .lines()
        .filter(|line| line.starts_with("4e") || line.starts_with("73666f726d6174 "));
    // The format is written last, and some resources are not recorded yet.
    for line in before.step_by(2) {
        let (at, value) = line.split_once(' ').unwrap();
        whole.raw_put(bytes(at).to_vec(), bytes(value));
    }
    let format = FORMAT_6.lines().find(|line| line.starts_with("73666f726d6174 ")).unwrap();
    let (at, value) = format.split_once(' ').unwrap();
    whole.raw_put(bytes(at).to_vec(), bytes(value));
    // Their placements had been counted, which a later step does.
    let uncounted = |rows: Vec<cenote_kv::Row>| {
        let counter = [key(b'c', &[PlaceId::MAIN.0]), b"r".to_vec()].concat();
        rows.into_iter().filter(|(key, _)| key[..] != counter[..]).collect::<Vec<_>>()
    };
    assert!(uncounted(whole.reopened().rows()) == uncounted(records));
}

/// In format 7 the index by object had a row for each statement, also for one with a literal.
#[test]
fn the_index_by_object_of_format_7_becomes_one_of_iris() {
    let before = FORMAT_7.lines().filter(|line| line.starts_with("69")).count();
    let world = opened_from(FORMAT_7);
    // Of `/c/a`: `http://x/1`, the link by resource and by path, the missing path; of `/c/b`: `x`.
    assert_eq!((before, world.table(b'i').len()), (16, 5));
    assert_clean(&world.store);
    let count = |object: Term| {
        let pattern = Pattern { object: Some(object), ..Pattern::default() };
        found(&world, &world.admin, &pattern).len()
    };
    let iri = |iri: &str| count(Term::Iri(iri.into()));
    assert_eq!([count(Term::string("x")), count(Term::string("12.0"))], [2, 1]);
    assert_eq!([iri("http://x/1"), iri("cenote:/c/to"), iri("cenote:/c/missing")], [3, 1, 1]);
    assert_eq!(iri("cenote:/c/to#part"), 1);
    let rows = world.rows();
    assert_eq!(world.reopened().rows(), rows);
}

#[test]
fn an_interrupted_rebuild_of_the_index_by_object_is_finished() {
    let whole = opened_from(FORMAT_7);
    let rows = whole.rows();
    let new = whole.table(b'i');
    // Some rows are of the former index, and some of the new one are missing.
    new.iter().step_by(2).for_each(|row| whole.raw_delete(row));
    for line in FORMAT_7.lines().filter(|line| line.starts_with("69")).step_by(2) {
        whole.raw_put(bytes(line).to_vec(), Bytes::new());
    }
    set_format(&whole, 7);
    assert_eq!(whole.reopened().rows(), rows);
}

/// In format 8 the record of an object said where its content is only if somebody had named a place.
#[test]
fn where_each_content_of_format_8_is_becomes_recorded() {
    let world = opened_from(FORMAT_8);
    for (object, replicas) in [
        ("/small", "0 main"),
        ("/large", "0 b"),
        ("/patched", "0 main"),
        ("/copy", "0 main"),
        ("/named", "0 a"),
        ("/twice", "0 main, 1 b"),
        ("/elsewhere", "0 b"),
        ("/assigned", "0 main"),
    ] {
        assert_eq!(world.replicas(object), replicas, "{object}");
    }
    let count = |status: PlaceStatus| (status.info.name, status.replicas);
    let counts: Vec<_> = world.store.places().unwrap().into_iter().map(count).collect();
    let expected = [("main", 5), ("a", 1), ("b", 3)].map(|(name, count)| (name.into(), count));
    assert_eq!(counts, expected);
    assert!(world.read("/large")[200..] == noise(300, 1)[200..]);
    assert_clean(&world.store);
    let rows = world.rows();
    set_format(&world, 8);
    assert!(world.reopened().rows() == rows, "nothing is recorded or counted twice");
}

#[test]
fn a_store_of_format_8_can_be_drained() {
    let world = opened_from(FORMAT_8);
    let [a, b, main] = ["a", "b", "main"].map(|name| world.place(name));
    world.store.set_default_place(&world.admin, a).unwrap();
    for from in [main, b] {
        let job = world.store.drain_place(&world.admin, from, Some(a)).unwrap();
        assert_eq!(run(world.store.finish(job.id)).unwrap().failed, 0);
    }
    for object in ["/small", "/large", "/patched", "/copy", "/named", "/elsewhere", "/assigned"] {
        assert_eq!(world.replicas(object), "0 a", "{object}");
    }
    run(world.store.remove_place(&world.admin, b)).unwrap();
    assert!(world.read("/copy") == noise(300, 1));
    assert_clean(&world.store);
}
