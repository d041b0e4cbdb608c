//! Staged writing: against a plain vector of bytes, at the boundary sizes; and that the object is unchanged until the
//! stage is published.

use std::ops::Range;
use std::sync::Arc;

use cenote_blob::Place;
use cenote_kv::{CountingEngine, MemoryEngine};
use cenote_store::{
    AccessChange, At, AttributeChange, Completion, Conditions, ErrorKind, Expected, Limits,
    PutOptions, Ranges, Result, Retention, Rights, Scope, StageFrom, Stat, UploadId, UploadOptions,
    Versioning, Where,
};
use proptest::collection::vec;
use proptest::prelude::*;
use proptest::sample::select;
use sha2::{Digest, Sha256};

use crate::changesets::{begun, commit};
use crate::uploads::part;
use crate::world::{World, assert_clean, at, cases, kind, noise, once, path, run, world, world_on};

fn from(from: StageFrom) -> UploadOptions {
    UploadOptions { stage: Some(from), ..UploadOptions::default() }
}

fn begin(world: &World, to: &str, options: &UploadOptions) -> Result<UploadId> {
    world.store.begin_upload(&world.admin, path(to), options).map(|upload| upload.id)
}

fn stage(world: &World, of: &str) -> UploadId {
    begin(world, of, &from(StageFrom::Object)).unwrap()
}

fn write(world: &World, id: UploadId, position: Where, bytes: &[u8]) -> Result<u64> {
    let expected = Expected::default();
    run(world.store.write_stage(&world.admin, id, position, once(bytes), &expected))
}

fn write_ranges(world: &World, id: UploadId, to: Vec<Range<u64>>, bytes: &[u8]) -> Result<u64> {
    let (ranges, expected) = (Ranges::new(to).unwrap(), Expected::default());
    run(world.store.write_stage(&world.admin, id, ranges, once(bytes), &expected))
}

fn read(world: &World, id: UploadId, range: Option<Range<u64>>) -> Vec<u8> {
    use futures_util::TryStreamExt;
    let staged = world.store.open_stage(&world.admin, id).unwrap();
    let range = range.unwrap_or(0..staged.size());
    let chunks: Vec<bytes::Bytes> =
        run(async { staged.bytes(range).unwrap().try_collect().await }).unwrap();
    chunks.concat()
}

fn publish(world: &World, id: UploadId) -> Result<Stat> {
    run(world.store.complete_upload(&world.admin, id, None))
}

fn force(world: &World, id: UploadId) -> Result<Stat> {
    let how = Completion { force: true, ..Completion::default() };
    run(world.store.complete_upload(&world.admin, id, how))
}

fn truncate(world: &World, id: UploadId, size: u64) -> Result<u64> {
    run(world.store.truncate_stage(&world.admin, id, size))
}

#[derive(Debug, Clone)]
enum Step {
    Write(usize, usize),
    Append(usize),
    /// Runs of this length, at so many places this far from each other.
    Ranges(usize, usize, usize),
    Truncate(usize),
    Read(usize, usize),
    /// Publish, and create another one from the result.
    Publish,
    Reopen,
}

fn step(sizes: BoxedStrategy<usize>, runs: BoxedStrategy<usize>) -> impl Strategy<Value = Step> {
    prop_oneof![
        6 => (sizes.clone(), runs.clone()).prop_map(|(at, n)| Step::Write(at, n)),
        2 => runs.clone().prop_map(Step::Append),
        2 => (sizes.clone(), runs, 1usize..90).prop_map(|(gap, n, count)| Step::Ranges(gap / count, n / count + 1, count)),
        2 => sizes.clone().prop_map(Step::Truncate),
        2 => (sizes.clone(), sizes).prop_map(|(a, b)| Step::Read(a.min(b), a.max(b))),
        1 => Just(Step::Publish),
        1 => Just(Step::Reopen),
    ]
}

fn play(mut world: World, first: &[u8], steps: &[Step]) {
    world.put("/object", first);
    let (mut published, mut bytes) = (first.to_vec(), first.to_vec());
    let mut id = stage(&world, "/object");
    for (n, step) in steps.iter().enumerate() {
        let run = |length: usize| noise(length, n as u64 + 1);
        match *step {
            Step::Write(at, length) => {
                bytes.resize(bytes.len().max(at + length), 0);
                bytes[at..at + length].copy_from_slice(&run(length));
                let size = write(&world, id, Where::Offset(at as u64), &run(length)).unwrap();
                assert_eq!(size, bytes.len() as u64);
            }
            Step::Append(length) => {
                bytes.extend(run(length));
                write(&world, id, Where::Append, &run(length)).unwrap();
            }
            Step::Ranges(gap, length, count) => {
                let at = |nth: usize| nth * (gap + length);
                let ranges = (0..count).map(|nth| at(nth) as u64..(at(nth) + length) as u64);
                let runs = run(length * count);
                bytes.resize(bytes.len().max(at(count - 1) + length), 0);
                for (nth, run) in runs.chunks(length).enumerate() {
                    bytes[at(nth)..at(nth) + length].copy_from_slice(run);
                }
                let size = write_ranges(&world, id, ranges.collect(), &runs).unwrap();
                assert_eq!(size, bytes.len() as u64);
            }
            Step::Truncate(size) => {
                bytes.resize(size, 0);
                truncate(&world, id, size as u64).unwrap();
            }
            Step::Read(start, end) => {
                let (start, end) = (start.min(bytes.len()), end.min(bytes.len()));
                let there = read(&world, id, Some(start as u64..end as u64));
                assert!(there == bytes[start..end], "{start}..{end}");
            }
            Step::Publish => {
                let sha256 = (n % 2 == 0).then(|| Sha256::digest(&bytes).into());
                let stat = crate::world::run(world.store.complete_upload(&world.admin, id, sha256));
                assert_eq!(stat.unwrap().size(), bytes.len() as u64);
                published.clone_from(&bytes);
                id = stage(&world, "/object");
            }
            Step::Reopen => world = world.reopened(),
        }
        assert!(world.read("/object") == published, "the object is what was published");
        assert!(read(&world, id, None) == bytes);
    }
    assert_clean(&world.store);
    world.sweep();
    assert!(read(&world, id, None) == bytes);
    publish(&world, id).unwrap();
    assert!(world.read("/object") == bytes);
    world.sweep();
    assert!(world.read("/object") == bytes);
    assert_clean(&world.store);
    world.rm("/object").unwrap();
    world.sweep();
    for table in *b"KkRBbgPp" {
        assert!(world.table(table).is_empty(), "{} stays", table as char);
    }
    assert_eq!(world.blobs_in("main"), 0);
}

proptest! {
    #![proptest_config(cases(100))]

    #[test]
    fn a_stage_agrees_with_a_byte_vector(
        first in 0usize..200,
        steps in vec(step((0usize..200).boxed(), (1usize..90).boxed()), 1..60),
    ) {
        play(world(), &noise(first, 77), &steps);
    }
}

proptest! {
    #![proptest_config(cases(4))]

    #[test]
    fn a_stage_agrees_with_a_byte_vector_at_real_sizes(
        first in select(vec![0, (64 << 10) - 1, 64 << 10, (64 << 10) + 1, 512 << 10, (8 << 20) + 1]),
        steps in vec(step(
            (select(vec![64 << 10, 512 << 10, 1 << 20, 8 << 20]), 0usize..5).prop_map(|(edge, more): (usize, usize)| edge + more - 2).boxed(),
            prop_oneof![1usize..100, 65_000usize..66_000, 1usize..1_500_000].boxed(),
        ), 1..12),
    ) {
        let dir = tempfile::tempdir().unwrap();
        let place = Place::local("main", dir.path()).unwrap();
        play(world_on(MemoryEngine::new(), place).with_limits(Limits::default()), &noise(first, 77), &steps);
    }
}

#[test]
fn unchanged_bytes_are_shared_and_publishing_is_one_commit_and_one_version() {
    let world = world();
    world.mkdir("/d");
    let each = Some(Some(Versioning::EachChange(Retention::default())));
    let change = AttributeChange { versioning: each, ..AttributeChange::default() };
    world.store.set_attributes(&world.admin, &at("/d"), &change).unwrap();
    let bytes = noise(100_000, 1);
    let id = world.put("/d/x", &bytes).id;
    let blobs = world.blobs_in("main");
    let upload = stage(&world, "/d/x");
    for n in 0..100 {
        write(&world, upload, Where::Offset(n * 7), b"again").unwrap();
    }
    let version = || world.parts.engine.snapshot().unwrap().version();
    let before = version();
    let stat = publish(&world, upload).unwrap();
    assert!(version() <= before + 2, "folding, and one commit");
    assert_eq!(stat.id, id);
    assert_eq!(world.store.versions(&world.admin, &at("/d/x")).unwrap().len(), 1);
    let written = world.table(b'B').len() - blobs;
    assert!(written <= 3, "{written} blobs of small writes");
    assert!(world.read_version("/d/x", 1) == bytes);
    let (read, mut expected) = (world.read("/d/x"), bytes);
    (0..100).for_each(|n| expected[n * 7..n * 7 + 5].copy_from_slice(b"again"));
    assert!(read == expected);
    assert_clean(&world.store);
}

#[test]
fn several_ranges_are_written_in_one_commit_or_not_at_all() {
    let world = world();
    world.put("/x", &noise(100_000, 1));
    let upload = stage(&world, "/x");
    let version = || world.parts.engine.snapshot().unwrap().version();
    let (before, there) = (version(), read(&world, upload, None));
    let ranges = || vec![10..13, 13..14, 50_000..50_004, 120_000..120_001];
    assert_eq!(kind(write_ranges(&world, upload, ranges(), b"too few")), ErrorKind::Mismatch);
    assert_eq!(kind(write_ranges(&world, upload, ranges(), b"much too many")), ErrorKind::Mismatch);
    assert_eq!(version(), before);
    assert!(read(&world, upload, None) == there);
    assert_eq!(write_ranges(&world, upload, ranges(), b"abcdefghi").unwrap(), 120_001);
    assert_eq!(version(), before + 1);
    let mut expected = there;
    expected.resize(120_001, 0);
    expected[10..14].copy_from_slice(b"abcd");
    expected[50_000..50_004].copy_from_slice(b"efgh");
    expected[120_000] = b'i';
    assert!(read(&world, upload, None) == expected);
    publish(&world, upload).unwrap();
    assert!(world.read("/x") == expected);
    assert_clean(&world.store);
}

#[test]
fn a_changed_object_is_not_replaced_without_force() {
    type Change = fn(&World);
    let changes: [Change; 4] = [
        |w| drop(w.put("/x", b"others")),
        |w| drop(w.write_at("/x", Where::Append, b"others").unwrap()),
        |w| w.rm("/x").unwrap(),
        |w| {
            w.rm("/x").unwrap();
            w.put("/x", b"made anew");
        },
    ];
    for change in changes {
        let world = world();
        world.put("/x", b"base");
        let upload = stage(&world, "/x");
        write(&world, upload, Where::Append, b" and mine").unwrap();
        change(&world);
        let error = publish(&world, upload).unwrap_err();
        assert_eq!(error.kind(), ErrorKind::Precondition, "{error}");
        assert!(error.to_string().contains("since the stage was begun"), "{error}");
        assert!(error.hint().unwrap().contains("force"), "{error}");
        assert_eq!(read(&world, upload, None), b"base and mine", "the stage is still there");
        force(&world, upload).unwrap();
        assert_eq!(world.read("/x"), b"base and mine");
    }
    // A changed description does not change the content.
    let world = world();
    world.put("/x", b"base");
    let upload = stage(&world, "/x");
    world.describe("/x", "k", "v");
    write(&world, upload, Where::Append, b"!").unwrap();
    publish(&world, upload).unwrap();
    assert_eq!(world.read("/x"), b"base!");
    assert_eq!(world.store.avus(&world.admin, &at("/x")).unwrap().len(), 1);
}

#[test]
fn of_two_stages_of_one_object_the_first_publication_wins() {
    let world = world();
    world.put("/x", b"base");
    let [one, two] = [stage(&world, "/x"), stage(&world, "/x")];
    write(&world, one, Where::Append, b"1").unwrap();
    write(&world, two, Where::Append, b"2").unwrap();
    publish(&world, two).unwrap();
    assert_eq!(kind(publish(&world, one)), ErrorKind::Precondition);
    assert_eq!(world.read("/x"), b"base2");
    world.store.abandon_upload(&world.admin, one).unwrap();
    world.sweep();
    assert_eq!(world.read("/x"), b"base2");
    assert!(world.table(b'P').is_empty() && world.table(b'g').is_empty());
    assert_clean(&world.store);
}

#[test]
fn an_empty_stage_creates_an_object_that_is_visible_when_it_is_published() {
    let world = world();
    let upload = begin(&world, "/new", &from(StageFrom::Nothing)).unwrap();
    write(&world, upload, Where::Offset(5), b"later").unwrap();
    write(&world, upload, Where::Offset(0), b"first").unwrap();
    assert_eq!(kind(world.stat("/new")), ErrorKind::NotFound);
    let sha256: [u8; 32] = Sha256::digest(b"firstlater").into();
    let wrong = run(world.store.complete_upload(&world.admin, upload, Some([0; 32])));
    assert_eq!(kind(wrong), ErrorKind::Mismatch);
    let stat = run(world.store.complete_upload(&world.admin, upload, Some(sha256))).unwrap();
    assert_eq!(stat.resource.content.unwrap().digests.sha256, Some(sha256));
    assert_eq!(world.read("/new"), b"firstlater");
    assert_eq!(kind(publish(&world, upload)), ErrorKind::NotFound, "it has ended");
    let empty = begin(&world, "/empty", &from(StageFrom::Nothing)).unwrap();
    assert_eq!(publish(&world, empty).unwrap().size(), 0);
}

#[test]
fn errors_of_a_stage_are_reported_and_change_nothing() {
    let world = world();
    world.put("/x", b"base");
    let parts = world.store.begin_upload(&world.admin, path("/p"), &UploadOptions::default());
    let parts = parts.unwrap().id;
    assert_eq!(kind(write(&world, parts, Where::Append, b"x")), ErrorKind::WrongKind);
    assert_eq!(kind(world.store.open_stage(&world.admin, parts)), ErrorKind::WrongKind);
    assert_eq!(kind(truncate(&world, parts, 1)), ErrorKind::WrongKind);
    let upload = stage(&world, "/x");
    assert_eq!(kind(part(&world, upload, 0, b"x")), ErrorKind::WrongKind);
    assert_eq!(kind(begin(&world, "/missing", &from(StageFrom::Object))), ErrorKind::NotFound);
    world.mkdir("/d");
    assert_eq!(kind(begin(&world, "/d", &from(StageFrom::Object))), ErrorKind::WrongKind);
    let most = crate::world::LIMITS.content;
    assert_eq!(kind(write(&world, upload, Where::Offset(most), b"x")), ErrorKind::TooLarge);
    assert_eq!(kind(write(&world, upload, Where::Offset(u64::MAX), b"x")), ErrorKind::TooLarge);
    let cut = truncate(&world, upload, most + 1);
    assert_eq!(kind(cut), ErrorKind::TooLarge);
    let limited = UploadOptions { size: Some(6), ..from(StageFrom::Object) };
    let limited = begin(&world, "/x", &limited).unwrap();
    assert_eq!(kind(write(&world, limited, Where::Append, b"three")), ErrorKind::Mismatch);
    assert_eq!(kind(publish(&world, limited)), ErrorKind::Conflict, "4 bytes of 6");
    write(&world, limited, Where::Append, b"56").unwrap();
    assert_eq!(publish(&world, limited).unwrap().size(), 6);
    assert_eq!(read(&world, upload, None), b"base");
    let conditions = Conditions { if_match: Some("other".into()), ..Conditions::default() };
    let put = PutOptions { conditions, ..PutOptions::default() };
    let options = UploadOptions { put, ..from(StageFrom::Object) };
    assert_eq!(kind(begin(&world, "/x", &options)), ErrorKind::Precondition);
}

/// Reading through a stage requires the right to read the object, as writing requires the right to write.
#[test]
fn a_stage_gives_no_rights_that_its_creator_lacks() {
    let world = world();
    world.put("/x", b"secret");
    let user = world.user("u");
    let grant = |rights: Rights| {
        let grant = [AccessChange::Grant("u".into(), rights.into(), Scope::This)];
        world.store.change_access(&world.admin, &at("/x"), &grant).unwrap();
    };
    let options = from(StageFrom::Object);
    let begin = || world.store.begin_upload(&user, At::from(path("/x")), &options);
    grant(Rights::WRITE_CONTENT.union(Rights::READ_DESCRIPTION));
    assert_eq!(kind(begin()), ErrorKind::Denied);
    grant(Rights::READ_OBJECT);
    assert_eq!(kind(begin()), ErrorKind::Denied);
    grant(Rights::MODIFY_OBJECT);
    let upload = begin().unwrap().id;
    let write = || {
        let expected = Expected::default();
        run(world.store.write_stage(&user, upload, Where::Append, once(b"x"), &expected))
    };
    write().unwrap();
    assert_eq!(kind(world.store.open_stage(&world.user("v"), upload)), ErrorKind::NotFound);
    grant(Rights::READ_OBJECT);
    assert_eq!(kind(write()), ErrorKind::Denied);
    assert_eq!(kind(run(world.store.complete_upload(&user, upload, None))), ErrorKind::Denied);
    grant(Rights::WRITE_CONTENT.union(Rights::READ_DESCRIPTION));
    assert_eq!(kind(world.store.open_stage(&user, upload)), ErrorKind::Denied);
    grant(Rights::NONE);
    // The same error as for a missing path where they may not create.
    assert_eq!(kind(world.store.open_stage(&user, upload)), ErrorKind::Denied);
    assert_eq!(world.read("/x"), b"secret");
}

#[test]
fn a_stage_is_published_in_a_change_set() {
    let world = world();
    world.put("/x", &noise(500, 1));
    let (set, id) = begun(&world);
    let upload = stage(&world, "/x");
    for n in 0..70 {
        write(&world, upload, Where::Offset(n), b"s").unwrap();
    }
    write(&world, upload, Where::Append, &noise(300, 2)).unwrap();
    publish(&set, upload).unwrap();
    assert_eq!(set.read("/x").len(), 800);
    assert_eq!(world.read("/x").len(), 500);
    commit(&world, id).unwrap();
    drop(set);
    world.sweep();
    let whole = [vec![b's'; 70], noise(500, 1)[70..].to_vec(), noise(300, 2)].concat();
    assert!(world.read("/x") == whole);
    assert_clean(&world.store);
}

#[test]
fn a_stage_is_stored_where_the_object_is() {
    let world = crate::world::world_with_places();
    world.put("/x", &noise(500, 1));
    world.replicate("/x", "a").unwrap();
    let trimmed = world.replicas("/x");
    world.trim("/x", 0).unwrap();
    assert_eq!(world.replicas("/x"), "1 a", "{trimmed}");
    let upload = stage(&world, "/x");
    write(&world, upload, Where::Offset(100), &noise(200, 2)).unwrap();
    publish(&world, upload).unwrap();
    assert_eq!(world.replicas("/x"), "1 a");
    assert_eq!(world.blobs_in("main"), 0);
    assert_clean(&world.store);
}

#[test]
fn a_stage_for_a_place_begins_from_the_replica_there_and_makes_it_the_good_one() {
    let world = crate::world::world_with_places();
    let in_b = || {
        let put = PutOptions { place: Some(world.place("b")), ..PutOptions::default() };
        begin(&world, "/x", &UploadOptions { put, ..from(StageFrom::Object) })
    };
    world.put("/x", &noise(500, 1));
    assert_eq!(kind(in_b()), ErrorKind::NotFound, "it has no replica there");
    world.replicate("/x", "b").unwrap();
    world.put_in("a", "/x", &noise(400, 2));
    let before = world.replicas("/x");
    let upload = in_b().unwrap();
    write(&world, upload, Where::Offset(100), &noise(200, 3)).unwrap();
    write(&world, upload, Where::Append, b"small").unwrap();
    assert_eq!(world.replicas("/x"), before);
    assert!(world.read("/x") == noise(400, 2), "not published");
    publish(&world, upload).unwrap();
    let whole = [&noise(500, 1)[..100], &noise(200, 3), &noise(500, 1)[300..], b"small"].concat();
    assert!(world.read("/x") == whole);
    assert_eq!(world.replicas("/x"), "0 main stale, 1 b, 2 a stale", "{before}");
    world.sweep();
    assert!(world.read("/x") == whole);
    let upload = in_b().unwrap();
    world.put("/x", b"changed");
    assert_eq!(kind(publish(&world, upload)), ErrorKind::Precondition);
    assert_clean(&world.store);
}

/// The object may be stored elsewhere, moved by a drain, or removed: the published content is completely in one of its
/// current places.
#[test]
fn a_stage_is_published_to_a_moved_object() {
    type Change = fn(&World);
    let changes: [(Change, &str); 4] = [
        (|w| drop(w.put_in("a", "/x", &noise(300, 3))), "0 main stale, 1 a"),
        (|w| drop(w.replicate("/x", "b").and_then(|_| w.trim("/x", 0)).unwrap()), "1 b"),
        (|w| w.rm("/x").unwrap(), "0 main"),
        (|_| {}, "0 main"),
    ];
    for (change, places) in changes {
        let world = crate::world::world_with_places();
        world.put("/x", &noise(500, 1));
        let upload = stage(&world, "/x");
        write(&world, upload, Where::Offset(100), &noise(200, 2)).unwrap();
        change(&world);
        write(&world, upload, Where::Append, &noise(100, 4)).unwrap();
        write(&world, upload, Where::Append, b"small").unwrap();
        force(&world, upload).unwrap();
        assert_eq!(world.replicas("/x"), places);
        let first = noise(500, 1);
        let whole = [&first[..100], &noise(200, 2), &first[300..], &noise(100, 4), b"small"];
        let good = if places == "0 main" { 0 } else { 1 };
        assert!(world.read_replica("/x", good).unwrap() == whole.concat(), "{places}");
        world.sweep();
        assert!(world.read("/x") == whole.concat());
        assert_clean(&world.store);
    }
}

/// Snapshots, reads and commits of each call for a stage, of an object of increasing size.
#[test]
fn the_cost_of_a_stage_does_not_depend_on_the_size_of_the_object() {
    // Blobs of several blocks have rows with the checksums of those.
    let costs = [2_000_000, 8_000_000].map(|size| {
        let engine = CountingEngine::new(Arc::new(MemoryEngine::new()));
        let world = world_on(engine.clone(), Place::memory("main"));
        world.put("/x", &noise(size, 1));
        let mut id = None;
        let mut calls = vec![engine.cost(|| id = Some(stage(&world, "/x")))];
        let id = id.unwrap();
        let write = || assert!(write(&world, id, Where::Offset(50), &[7; 20]).is_ok());
        calls.push(engine.cost(write));
        calls.push(engine.cost(|| drop(publish(&world, id).unwrap())));
        calls.push(engine.cost(|| drop(world.write_at("/x", Where::Offset(60), b"y").unwrap())));
        calls.into_iter().map(|cost| [cost.snapshots, cost.reads(), cost.commits]).collect()
    });
    let [small, large]: [Vec<[u64; 3]>; 2] = costs;
    assert_eq!(small, large);
    println!("begin, write, publish, and a write in place: {large:?}");
    let [snapshots, reads, commits] = large[3];
    assert_eq!(large[1], [snapshots, reads + 1, commits], "the record of the stage is read, too");
}

#[test]
fn the_extents_of_a_content_that_was_written_at_many_places_are_read_once() {
    let engine = CountingEngine::new(Arc::new(MemoryEngine::new()));
    let world = world_on(engine.clone(), Place::memory("main"));
    let mut expected = noise(2_000_000, 1);
    world.put("/x", &expected);
    let upload = stage(&world, "/x");
    let to: Vec<Range<u64>> = (0..300).map(|nth| nth * 5_000..nth * 5_000 + 400).collect();
    write_ranges(&world, upload, to.clone(), &noise(300 * 400, 2)).unwrap();
    for (to, run) in to.into_iter().zip(noise(300 * 400, 2).chunks(400)) {
        expected[to.start as usize..to.end as usize].copy_from_slice(run);
    }
    publish(&world, upload).unwrap();
    assert!(world.read("/x") == expected);
    let reads = engine.cost(|| assert!(world.read("/x") == expected)).reads();
    world.write_at("/x", Where::Offset(7), b"others").unwrap();
    expected[7..13].copy_from_slice(b"others");
    let once = engine.cost(|| assert!(world.read("/x") == expected)).reads();
    let again = engine.cost(|| assert!(world.read("/x") == expected)).reads();
    assert!(again < once, "{again} reads after {once}");
    assert!(reads <= again, "{reads} and {again} reads");
}

#[test]
fn an_expired_stage_leaves_nothing_and_the_object_unchanged() {
    let world = world();
    world.put("/x", &noise(500, 1));
    let upload = stage(&world, "/x");
    write(&world, upload, Where::Append, &noise(500, 2)).unwrap();
    world.rm("/x").unwrap();
    world.sweep();
    assert!(read(&world, upload, None).len() == 1_000, "it keeps what it began from");
    world.clock.advance(std::time::Duration::from_secs(30 * 24 * 3_600));
    assert_eq!(world.store.sweep_uploads().unwrap(), 1);
    world.sweep();
    for table in *b"KkRBbgPp" {
        assert!(world.table(table).is_empty(), "{} stays", table as char);
    }
    assert_eq!(world.blobs_in("main"), 0);
}

#[test]
fn a_change_that_was_given_up_is_refused_once_a_later_attempt_has_changed_the_stage() {
    let world = world();
    world.put("/a", b"0123456789");
    let id = stage(&world, "/a");
    let attempt = |number: u64, offset: u64, bytes: &[u8]| {
        let (expected, position) = (Expected::default(), Where::Offset(offset));
        let stage = id.attempt(number);
        run(world.store.write_stage(&world.admin, stage, position, once(bytes), &expected))
    };
    let cut = |number: u64, size: u64| {
        run(world.store.truncate_stage(&world.admin, id.attempt(number), size))
    };
    let complete = |attempt: u64| {
        let how = Completion { attempt, ..Completion::default() };
        run(world.store.complete_upload(&world.admin, id, how))
    };
    // Of one attempt, in any order.
    attempt(0, 4, b"ab").unwrap();
    attempt(0, 0, b"cd").unwrap();
    attempt(1, 4, b"AB").unwrap();
    attempt(3, 8, b"Z").unwrap();
    attempt(3, 0, b"C").unwrap();
    for earlier in [0, 1, 2] {
        for late in [&b"x"[..], &noise(100_000, 1)] {
            assert_eq!(kind(attempt(earlier, 4, late)), ErrorKind::Conflict, "{earlier}");
        }
        assert_eq!(kind(cut(earlier, 2)), ErrorKind::Conflict);
        assert_eq!(kind(complete(earlier)), ErrorKind::Conflict);
    }
    assert_eq!(read(&world, id, None), b"Cd23AB67Z9");
    assert_eq!(world.read("/a"), b"0123456789");
    cut(4, 6).unwrap();
    assert_eq!(kind(attempt(3, 0, b"x")), ErrorKind::Conflict);
    complete(4).unwrap();
    assert_eq!(world.read("/a"), b"Cd23AB");
    assert_clean(&world.store);
}
