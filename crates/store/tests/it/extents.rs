//! Contents of many parts: the cost of reading a range of them, and of checking them.

use std::sync::Arc;
use std::time::Instant;

use cenote_blob::Place;
use cenote_kv::{FaultyEngine, MemoryEngine};
use cenote_store::{Expected, ReadOptions, UploadOptions};
use futures_util::TryStreamExt;

use crate::world::{INLINE, World, assert_clean, at, noise, once, path, run, world_on};

/// Bytes of a part: more than are stored in the catalog.
const PART: usize = 2 * INLINE;

/// Puts an object of this many parts, each a blob, and returns its bytes.
fn put_parts(world: &World, to: &str, count: usize) -> Vec<u8> {
    let (bytes, expected) = (noise(count * PART, 7), Expected::default());
    let options = UploadOptions::default();
    let upload = world.store.begin_upload(&world.admin, path(to), &options).unwrap().id;
    for (n, part) in bytes.chunks(PART).enumerate() {
        let offset = (n * PART) as u64;
        run(world.store.put_part(&world.admin, upload, offset, once(part), &expected)).unwrap();
    }
    run(world.store.complete_upload(&world.admin, upload, None)).unwrap();
    bytes
}

/// Opens an object and reads the bytes around its middle, across the seam of two parts.
fn read_middle(world: &World, from: &str) -> Vec<u8> {
    let opened = world.store.open(&world.admin, &at(from), &ReadOptions::default()).unwrap();
    let middle = opened.size() / 2;
    let range = middle - PART as u64 / 2..middle + PART as u64 / 2;
    run(async {
        let chunks: Vec<_> = opened.bytes(range).unwrap().try_collect().await.unwrap();
        chunks.concat()
    })
}

#[test]
fn the_catalog_reads_of_a_range_do_not_depend_on_the_number_of_parts() {
    let engine = FaultyEngine::new(Arc::new(MemoryEngine::new()));
    let world = world_on(engine.clone(), Place::memory("main"));
    let reads = |name: &str, count: usize| {
        let bytes = put_parts(&world, name, count);
        let before = engine.steps();
        assert_eq!(read_middle(&world, name), middle(&bytes));
        engine.steps() - before
    };
    assert_eq!(reads("/few", 4), reads("/many", 400));
    assert_clean(&world.store);
}

fn middle(bytes: &[u8]) -> &[u8] {
    let middle = bytes.len() / 2;
    &bytes[middle - PART / 2..middle + PART / 2]
}

/// `cargo test --release -p cenote-store --test it -- --ignored --nocapture extents::growth`
#[test]
#[ignore = "measures, and holds nothing"]
#[expect(clippy::disallowed_methods, reason = "measures with the clock of the machine")]
fn growth() {
    for count in [1_000, 10_000, 60_000] {
        let world = world_on(MemoryEngine::new(), Place::memory("main"));
        put_parts(&world, "/a", count);
        let begun = Instant::now();
        let times = 3;
        for _ in 0..times {
            read_middle(&world, "/a");
        }
        println!("{count} parts: range {:?}", begun.elapsed() / times);
        if count <= 10_000 {
            let begun = Instant::now();
            assert_clean(&world.store);
            println!("{count} parts: check {:?}", begun.elapsed());
        }
    }
}
