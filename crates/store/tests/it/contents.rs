//! Contents: whole, in ranges, written in place, shared, with conditions and digests.

use cenote_blob::Place;
use cenote_kv::{FjallEngine, FjallOptions, MemoryEngine};
use cenote_store::{
    AccessChange, Algorithm, At, Conditions, Digests, ErrorKind, Expected, PutOptions, ReadOptions,
    Rights, Scope, Stat, Where,
};
use proptest::collection::vec;
use proptest::prelude::*;
use sha2::{Digest, Sha256};

use crate::world::{
    INLINE, World, assert_clean, at, cases, crc64nvme, kind, noise, once, path, run, world,
    world_on,
};

fn sha256(bytes: &[u8]) -> [u8; 32] {
    Sha256::digest(bytes).into()
}

fn expecting(expected: Expected) -> PutOptions {
    PutOptions { expected, ..PutOptions::default() }
}

fn only_if(conditions: Conditions) -> PutOptions {
    PutOptions { conditions, ..PutOptions::default() }
}

fn range(world: &World, from: &str, range: std::ops::Range<u64>) -> cenote_store::Result<Vec<u8>> {
    use futures_util::TryStreamExt;
    let opened = world.store.open(&world.admin, &at(from), &ReadOptions::default())?;
    let here = opened.clone();
    let chunks: Vec<bytes::Bytes> = run(opened.bytes(range.clone())?.try_collect())?;
    let at_once: Vec<_> = run(async { here.bytes_here(range)?.try_collect().await })?;
    assert!(at_once.concat() == chunks.concat());
    Ok(chunks.concat())
}

#[test]
fn bytes_are_read_back_completely_and_in_ranges() {
    let world = world();
    for size in [0, 1, INLINE, INLINE + 1, 5_000_000] {
        let bytes = noise(size, 1);
        let stat = world.put("/a", &bytes);
        assert_eq!(stat.size(), size as u64);
        assert_eq!(stat.resource.content.unwrap().digests.sha256, Some(sha256(&bytes)));
        assert!(world.read("/a") == bytes, "size {size}");
        let middle = size as u64 / 3..size as u64 / 2;
        let expected = &bytes[middle.start as usize..middle.end as usize];
        assert!(range(&world, "/a", middle).unwrap() == expected);
        assert_eq!(kind(range(&world, "/a", 0..size as u64 + 1)), ErrorKind::Range);
    }
}

#[test]
fn a_short_range_on_a_disk_is_read_by_the_requesting_thread() {
    use futures_util::{FutureExt, StreamExt};
    let dir = tempfile::tempdir().unwrap();
    let world = world_on(MemoryEngine::new(), Place::local("main", dir.path()).unwrap());
    let bytes = noise(2_000_000, 1);
    world.put("/a", &bytes);
    let open = || world.store.open(&world.admin, &at("/a"), &ReadOptions::default()).unwrap();
    // There is no runtime here, so no other thread can read.
    let mut chunks = open().bytes_here(70_000..80_000).unwrap();
    let first = chunks.next().now_or_never().unwrap().unwrap().unwrap();
    assert!(first == bytes[70_000..80_000]);
    assert!(chunks.next().now_or_never().unwrap().is_none());
    let long = open().bytes_here(0..2_000_000).unwrap();
    assert!(run(long.map(Result::unwrap).collect::<Vec<_>>()).concat() == bytes);
}

#[test]
fn small_contents_need_no_blob() {
    let world = world();
    world.put("/small", &[0; INLINE]);
    assert!(world.table(b'B').is_empty());
    world.put("/large", &[0; INLINE + 1]);
    assert_eq!(world.table(b'B').len(), 1);
}

#[test]
fn bytes_that_do_not_match_the_announcement_change_nothing() {
    let world = world();
    for size in [10, 100] {
        let bytes = noise(size, 1);
        let wrong = [
            Expected { length: Some(9), ..Expected::default() },
            Expected { length: Some(101), ..Expected::default() },
            Expected { sha256: Some([0; 32]), ..Expected::default() },
            Expected { crc64nvme: Some(0), ..Expected::default() },
            Expected { others: vec![(Algorithm::Md5, vec![0; 16])], ..Expected::default() },
            Expected { others: vec![(Algorithm::Sha512, vec![0; 64])], ..Expected::default() },
        ];
        for expected in wrong {
            let put = world.try_put(&world.admin, "/a", &bytes, expecting(expected));
            assert_eq!(kind(put), ErrorKind::Mismatch);
        }
        assert_eq!(kind(world.stat("/a")), ErrorKind::NotFound);
    }
    assert_eq!(stored_blobs(&world), 0, "refused bytes are not kept");
}

#[test]
fn a_truncated_stream_is_distinguished_from_a_complete_one() {
    let world = world();
    for size in [10, 1_000] {
        let cut: [Result<bytes::Bytes, &str>; 2] = [Ok(noise(size, 1).into()), Err("hung up")];
        let stream = futures_util::stream::iter(cut);
        let put = run(world.store.put(&world.admin, path("/a"), stream, PutOptions::default()));
        assert_eq!(kind(put), ErrorKind::Mismatch);
    }
    assert_eq!(kind(world.stat("/a")), ErrorKind::NotFound);
    assert_eq!(stored_blobs(&world), 0);
}

#[test]
fn a_new_object_gets_the_first_free_name_whatever_has_the_others() {
    let world = world();
    let grace = world.user("grace");
    world.mkdir("/lab");
    world.put("/lab/hidden", b"kept");
    let create = AccessChange::Grant("grace".into(), Rights::CREATE_OBJECT.into(), Scope::This);
    world.store.change_access(&world.admin, &at("/lab"), &[create]).unwrap();
    let put = |names: &[&str], bytes: &[u8]| {
        let paths: Vec<_> = names.iter().map(|name| path(&format!("/lab/{name}"))).collect();
        run(world.store.put_new(&grace, &paths, once(bytes), PutOptions::default(), None))
    };
    for (names, made) in [
        (&["first", "other"][..], "/lab/first"),
        (&["first", "second"], "/lab/second"),
        (&["hidden", "second", "third"], "/lab/third"),
    ] {
        let bytes = noise(INLINE + 1, names.len() as u64);
        assert_eq!(put(names, &bytes).unwrap().path.to_string(), made);
        assert!(world.read(made) == bytes);
    }
    let blobs = stored_blobs(&world);
    for names in [&["hidden", "first"][..], &[]] {
        assert_eq!(kind(put(names, &noise(INLINE + 1, 9))), ErrorKind::Exists);
    }
    assert_eq!((stored_blobs(&world), world.read("/lab/hidden").as_slice()), (blobs, &b"kept"[..]));
    assert_clean(&world.store);
}

fn stored_blobs(world: &World) -> usize {
    use futures_util::StreamExt;
    run(world.parts.main.list().count())
}

#[test]
fn digests_on_demand() {
    let world = world();
    let bytes = b"123456789";
    let md5 = [
        0x25, 0xf9, 0xe7, 0x94, 0x32, 0x3b, 0x45, 0x38, 0x85, 0xf5, 0x18, 0x1f, 0x1b, 0x62, 0x4d,
        0x0b,
    ];
    let expected = Expected {
        length: Some(9),
        sha256: Some(sha256(bytes)),
        crc64nvme: Some(0xae8b_1486_0a79_9888),
        others: vec![(Algorithm::Md5, md5.to_vec())],
        also: vec![Algorithm::Crc32c],
        keep_short: false,
    };
    let stat = world.try_put(&world.admin, "/a", bytes, expecting(expected)).unwrap();
    let digests = stat.resource.content.unwrap().digests;
    assert_eq!(digests.crc64nvme, Some(0xae8b_1486_0a79_9888));
    assert_eq!(digests.get(Algorithm::Md5), Some(&md5[..]));
    assert_eq!(digests.get(Algorithm::Crc32c), Some(&[0xe3, 0x06, 0x92, 0x83][..]));
    assert_eq!(digests.get(Algorithm::Sha1), None);
}

#[test]
fn conditional_writes() {
    let world = world();
    let put = |conditions| world.try_put(&world.admin, "/a", b"new", only_if(conditions));
    let absent = Conditions { if_absent: true, ..Conditions::default() };
    let tagged = |tag: String| Conditions { if_match: Some(tag), ..Conditions::default() };
    for tag in ["x", "*"] {
        assert_eq!(kind(put(tagged(tag.into()))), ErrorKind::Precondition);
    }
    let first = put(absent.clone()).unwrap();
    assert_eq!(kind(put(absent)), ErrorKind::Precondition);
    let second = put(tagged(first.state_tag())).unwrap();
    assert_eq!(kind(put(tagged(first.state_tag()))), ErrorKind::Precondition);
    put(tagged(second.content_tag().unwrap())).unwrap();
    put(tagged("*".into())).unwrap();
}

#[test]
fn writing_bytes_never_drops_the_description() {
    let world = world();
    world.put("/a", b"x");
    world.describe("/a", "k", "v");
    let media = PutOptions { media_type: Some("text/plain".into()), ..PutOptions::default() };
    world.try_put(&world.admin, "/a", b"y", media).unwrap();
    let stat = world.put("/a", b"z");
    assert_eq!(stat.resource.content.unwrap().media_type.as_deref(), Some("text/plain"));
    world.write_at("/a", Where::Append, b"!").unwrap();
    world.truncate("/a", 1).unwrap();
    assert_eq!(world.store.avus(&world.admin, &at("/a")).unwrap().len(), 1);
}

#[test]
fn holes_read_as_zeros() {
    let world = world();
    world.put("/a", b"ab");
    world.write_at("/a", Where::Offset(5), b"z").unwrap();
    assert_eq!(world.read("/a"), b"ab\0\0\0z");
    world.truncate("/a", 1_000_000).unwrap();
    assert_eq!(world.stat("/a").unwrap().size(), 1_000_000);
    assert_eq!(range(&world, "/a", 999_999..1_000_000).unwrap(), [0]);
    world.truncate("/a", 1).unwrap();
    world.truncate("/a", 3).unwrap();
    assert_eq!(world.read("/a"), b"a\0\0", "what was cut off does not come back");
}

#[test]
fn writes_in_place_do_not_affect_copies_and_versions() {
    let world = world();
    let bytes = noise(200, 1);
    world.put("/a", &bytes);
    world.write_at("/a", Where::Append, b"1").unwrap();
    world.cp("/a", "/b").unwrap();
    world.write_at("/a", Where::Offset(0), b"2").unwrap();
    world.write_at("/b", Where::Append, b"3").unwrap();
    let mut a = bytes.clone();
    a.push(b'1');
    let mut b = a.clone();
    a[0] = b'2';
    b.push(b'3');
    world.sweep();
    assert_eq!((world.read("/a"), world.read("/b")), (a, b));
}

#[test]
fn the_cost_of_a_small_write_does_not_depend_on_the_content() {
    let written = |size: usize| {
        let world = world();
        world.put("/a", &noise(size, 1));
        let before: std::collections::BTreeSet<_> = world.rows().into_iter().collect();
        world.write_at("/a", Where::Offset(0), b"x").unwrap();
        let rows = world.rows();
        let changed = rows.iter().filter(|row| !before.contains(row));
        changed.map(|(key, value)| key.len() + value.len()).sum::<usize>()
    };
    assert!(written(1_000_000).abs_diff(written(1_000)) < 32);
}

fn append_at_once(world: &World, writers: u8, times: usize) {
    world.put("/a", b"");
    std::thread::scope(|scope| {
        for writer in 0..writers {
            let append = move || world.write_at("/a", Where::Append, &[writer]).unwrap();
            scope.spawn(move || (0..times).for_each(|_| drop(append())));
        }
    });
    let bytes = world.read("/a");
    for writer in 0..writers {
        assert_eq!(bytes.iter().filter(|byte| **byte == writer).count(), times);
    }
}

#[test]
fn concurrent_appends_are_all_applied() {
    append_at_once(&world(), 4, 10);
}

/// Commits that take as long as a disk sync: of the concurrent ones in one group, one is applied.
#[test]
fn thirty_two_concurrent_appends_on_a_disk_are_all_applied() {
    let dir = tempfile::tempdir().unwrap();
    let options = FjallOptions { reserve: 0, ..FjallOptions::default() };
    let engine = FjallEngine::open(dir.path(), options).unwrap();
    append_at_once(&world_on(engine, Place::memory("main")), 32, 10);
}

#[test]
fn many_small_writes_are_folded_and_keep_bytes_and_tag() {
    let world = world();
    world.put("/a", b"");
    let mut expected = Vec::new();
    for n in 0..300u32 {
        let line = format!("line {n}\n");
        expected.extend_from_slice(line.as_bytes());
        let stat = world.write_at("/a", Where::Append, line.as_bytes()).unwrap();
        let now = world.stat("/a").unwrap();
        assert_eq!(stat.content_tag(), now.content_tag(), "folding is no change of the bytes");
        assert_eq!(stat.state_tag(), now.state_tag());
    }
    assert!(world.read("/a") == expected);
    world.sweep();
    assert!(world.read("/a") == expected);
    assert!(world.table(b'k').len() < 64, "patches are folded in");
}

#[test]
fn scattered_writes_stay_out_of_the_catalog() {
    let world = world();
    world.put("/a", b"");
    for n in 0..400u64 {
        world.write_at("/a", Where::Offset(n * 100), &[n as u8; 50]).unwrap();
    }
    world.sweep();
    let inline: usize = world
        .rows()
        .iter()
        .filter(|(key, _)| matches!(key.first(), Some(b'K' | b'k')))
        .map(|(_, value)| value.len())
        .sum();
    assert!(inline < 400 * 50, "most of it is in a blob: {inline}");
    let bytes = world.read("/a");
    assert!((0..400).all(|n| bytes[n * 100..n * 100 + 50] == [n as u8; 50]));
}

/// The number of blobs of a content of this many appended runs.
fn blobs_after(rounds: u64) -> usize {
    let world = world();
    world.put("/a", b"");
    let mut expected = Vec::new();
    for n in 0..rounds * 64 {
        let run = [n as u8; 200];
        expected.extend(run);
        world.write_at("/a", Where::Append, &run).unwrap();
    }
    world.sweep();
    assert!(world.read("/a") == expected);
    world.table(b'B').len()
}

#[test]
fn a_content_written_in_small_pieces_is_stored_in_few_blobs() {
    for rounds in [4, 16, 40] {
        let blobs = blobs_after(rounds);
        assert!((1..16).contains(&blobs), "{blobs} blobs after {rounds} folds");
    }
}

#[test]
fn an_unknown_digest_can_be_computed() {
    let world = world();
    world.put("/a", b"ab");
    let stat = world.write_at("/a", Where::Append, b"c").unwrap();
    let digests = |stat: &Stat| stat.resource.content.as_ref().unwrap().digests.clone();
    assert_eq!(digests(&stat), Digests::default());
    run(world.store.compute_digest(stat.id)).unwrap();
    let now = world.stat("/a").unwrap();
    assert_eq!(digests(&now).sha256, Some(sha256(b"abc")));
    assert_eq!(now.content_tag(), stat.content_tag());
    assert_eq!(digests(&now).crc64nvme, Some(crc64nvme(b"abc")));
    let conditions = Conditions { if_match: stat.content_tag(), ..Conditions::default() };
    world
        .try_put(&world.admin, "/a", b"d", only_if(conditions))
        .expect("the tag from before the digest still stands for the same bytes");
}

#[test]
fn contents_have_a_maximum_size() {
    let world = world();
    world.put("/a", b"x");
    let most = world.parts.limits.content;
    assert_eq!(kind(world.truncate("/a", most + 1)), ErrorKind::TooLarge);
    for offset in [most, u64::MAX] {
        assert_eq!(kind(world.write_at("/a", Where::Offset(offset), b"x")), ErrorKind::TooLarge);
    }
    assert_eq!(world.read("/a"), b"x");
}

#[test]
fn unreferenced_contents_are_swept_after_a_grace_period() {
    use std::time::Duration;
    let world = world();
    world.put("/a", &noise(1_000, 1));
    world.put("/a", &noise(1_000, 2));
    let sweep = || run(world.store.sweep_contents(Duration::from_secs(60))).unwrap();
    assert_eq!(sweep().blobs, 0, "somebody may be reading it");
    world.clock.advance(Duration::from_secs(61));
    let swept = sweep();
    assert_eq!((swept.contents, swept.blobs), (1, 1));
    assert_eq!(stored_blobs(&world), 1);
    assert!(world.read("/a") == noise(1_000, 2));
}

#[test]
fn blobs_that_were_never_referenced_are_swept() {
    use std::time::Duration;
    let world = world();
    world.put("/a", &noise(1_000, 1));
    let received =
        run(world.store.receive(crate::world::once(&noise(500, 2)), &Expected::default()));
    received.unwrap();
    assert_eq!(stored_blobs(&world), 2);
    let sweep = || run(world.store.sweep_orphans(Duration::from_secs(60))).unwrap();
    assert_eq!(sweep().blobs, 0);
    world.clock.advance(Duration::from_secs(100 * 365 * 24 * 3600));
    assert_eq!(sweep().blobs, 1);
    assert!(world.read("/a") == noise(1_000, 1));
}

#[test]
fn an_opened_content_can_be_read_to_its_end() {
    let world = world();
    let bytes = noise(1_000, 1);
    world.put("/a", &bytes);
    let opened = world.store.open(&world.admin, &at("/a"), &ReadOptions::default()).unwrap();
    world.put("/a", b"other");
    assert!(run(opened.read_all()).unwrap() == bytes);
}

/// A change of the bytes of an object.
#[derive(Debug, Clone)]
enum Change {
    Put(usize),
    Write(usize, usize),
    Append(usize),
    Truncate(usize),
    Copy,
    CopyBack,
    Keep,
    Sweep,
}

fn change() -> impl Strategy<Value = Change> {
    prop_oneof![
        1 => (0usize..200).prop_map(Change::Put),
        4 => (0usize..300, 0usize..100).prop_map(|(at, size)| Change::Write(at, size)),
        4 => (0usize..100).prop_map(Change::Append),
        2 => (0usize..300).prop_map(Change::Truncate),
        1 => Just(Change::Copy),
        1 => Just(Change::CopyBack),
        1 => Just(Change::Keep),
        1 => Just(Change::Sweep),
    ]
}

fn write(bytes: &mut Vec<u8>, at: usize, run: &[u8]) {
    if !run.is_empty() {
        bytes.resize(bytes.len().max(at + run.len()), 0);
        bytes[at..at + run.len()].copy_from_slice(run);
    }
}

fn copy(world: &World, from: &str, to: &str) {
    let options = cenote_store::CopyOptions { replace: true, ..Default::default() };
    world.store.copy(&world.admin, &at(from), &path(to), options).unwrap();
}

proptest! {
    #![proptest_config(cases(64))]

    #[test]
    fn writing_in_place_agrees_with_a_byte_vector(changes in vec(change(), 0..120)) {
        let world = world();
        world.put("/a", b"");
        let (mut a, mut b) = (Vec::new(), None::<Vec<u8>>);
        for (n, change) in changes.into_iter().enumerate() {
            let seed = n as u64 + 1;
            match change {
                Change::Put(size) => {
                    a = noise(size, seed);
                    world.put("/a", &a);
                }
                Change::Write(at, size) => {
                    let run = noise(size, seed);
                    write(&mut a, at, &run);
                    world.write_at("/a", Where::Offset(at as u64), &run).unwrap();
                }
                Change::Append(size) => {
                    let run = noise(size, seed);
                    a.extend_from_slice(&run);
                    world.write_at("/a", Where::Append, &run).unwrap();
                }
                Change::Truncate(size) => {
                    a.resize(size, 0);
                    world.truncate("/a", size as u64).unwrap();
                }
                Change::Copy => {
                    b = Some(a.clone());
                    copy(&world, "/a", "/b");
                }
                Change::CopyBack => if let Some(b) = &b {
                    a.clone_from(b);
                    copy(&world, "/b", "/a");
                },
                Change::Keep => run(world.store.compute_digest(world.stat("/a").unwrap().id)).unwrap(),
                Change::Sweep => world.sweep(),
            }
            prop_assert_eq!(world.stat("/a").unwrap().size(), a.len() as u64);
        }
        prop_assert_eq!(world.read("/a"), a.clone());
        if let Some(b) = b {
            prop_assert_eq!(world.read("/b"), b);
        }
        let middle = a.len() as u64 / 3..a.len() as u64 / 2;
        let expected = &a[middle.start as usize..middle.end as usize];
        prop_assert_eq!(range(&world, "/a", middle).unwrap(), expected);
        for name in ["/a", "/b"] {
            let _ = world.rm(name);
        }
        world.sweep();
        for table in *b"KkRBbg" {
            prop_assert!(world.table(table).is_empty(), "nothing of it stays: {}", table as char);
        }
        prop_assert_eq!(stored_blobs(&world), 0);
    }
}

#[test]
fn an_object_opened_by_id_follows_it() {
    let world = world();
    let id = world.put("/a", b"x").id;
    world.mv("/a", "/b").unwrap();
    let opened = world.store.open(&world.admin, &At::Id(id), &ReadOptions::default()).unwrap();
    assert_eq!(run(opened.read_all()).unwrap(), &b"x"[..]);
}

#[test]
fn a_refused_write_leaves_no_bytes() {
    let world = world();
    let user = world.user("u");
    world.put("/a", b"");
    let write = |to: &str, conditions: Conditions| {
        let (to, expected) = (at(to), Expected::default());
        let bytes = crate::world::once(&[1; 500]);
        let written =
            run(world.store.write_at(&user, &to, Where::Append, bytes, (&conditions, &expected)));
        kind(written)
    };
    assert_eq!(write("/a", Conditions::default()), ErrorKind::NotFound);
    assert_eq!(write("/missing", Conditions::default()), ErrorKind::NotFound);
    assert_eq!(kind(world.write_at("/a", Where::Offset(u64::MAX), &[1; 500])), ErrorKind::TooLarge);
    assert_eq!(stored_blobs(&world), 0);
}

#[test]
fn folds_that_come_too_late_leave_no_bytes() {
    let world = world();
    world.put("/a", b"");
    std::thread::scope(|scope| {
        for writer in 0..4u8 {
            let world = &world;
            scope.spawn(move || {
                (0..150).for_each(|_| {
                    drop(world.write_at("/a", Where::Append, &[writer; 40]).unwrap())
                });
            });
        }
    });
    assert_eq!(world.read("/a").len(), 4 * 150 * 40);
    assert_eq!(stored_blobs(&world), world.table(b'B').len());
}
