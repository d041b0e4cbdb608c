//! How long it takes until space is reclaimed: `bench-scale DIR OBJECTS space`.

use std::os::unix::fs::MetadataExt;
use std::path::Path;
use std::time::{Duration, Instant};

use cenote_store::{
    At, BatchItem, BatchWhat, Caller, CreateOptions, Draft, Expected, Pace, PutOptions, Received,
    RemoveOptions, Store,
};
use futures_util::stream;

use crate::{BATCH, Outcome, parts, path};

/// Bytes of a small object, which is stored in the catalog, and of a large one.
const SMALL: usize = 4_096;
const LARGE: usize = 256 << 10;
/// Objects that are overwritten in turn.
const OBJECTS: usize = 64;
/// The maximum size of an emptied catalog, without its reserve.
const EMPTY: u64 = 64 << 20;
/// The maximum wait for space.
const PATIENCE: Duration = Duration::from_secs(120);

pub(crate) fn space(dir: &Path, objects: usize) -> Outcome {
    let runtime = tokio::runtime::Builder::new_multi_thread().enable_all().build()?;
    let store = Store::create_new(parts(dir)?, "admin", "secret")?;
    let caller = store.authenticate_password("admin", "secret")?;
    let upkeep = store.clone();
    runtime.spawn(async move { upkeep.maintain(Pace::default()).await });
    small(dir, &store, &caller, objects)?;
    runtime.block_on(overwritten(dir, &store, &caller, objects / 20))?;
    runtime.block_on(removed(dir, &store, &caller, objects / 20))?;
    runtime.shutdown_background();
    Ok(())
}

fn small(dir: &Path, store: &Store, caller: &Caller, objects: usize) -> Outcome {
    let collection = path("/small")?;
    store.create(caller, &collection, Draft::Collection, CreateOptions::default())?;
    for start in (0..objects).step_by(BATCH) {
        let item = |n: usize| -> Outcome<BatchItem> {
            let received = Received::inline(&noise(SMALL, n as u64), &Expected::default())?;
            let what = BatchWhat::Object(Box::new(received));
            Ok(BatchItem {
                path: path(&format!("/small/{n}"))?,
                what,
                options: PutOptions::default(),
            })
        };
        let items = (start..objects.min(start + BATCH)).map(item).collect::<Outcome<Vec<_>>>()?;
        for answer in store.publish_many(caller, &items)? {
            answer?;
        }
    }
    let before = catalog(dir);
    let options = RemoveOptions { recursive: true, ..RemoveOptions::default() };
    store.remove(caller, &At::from(collection), &options)?;
    let waited = wait(|| catalog(dir) < EMPTY)?;
    println!(
        "catalog of {objects} objects of {SMALL} bytes: {} MB; {} MB {waited:.1} s after their removal",
        before >> 20,
        catalog(dir) >> 20,
    );
    Ok(())
}

async fn overwritten(dir: &Path, store: &Store, caller: &Caller, puts: usize) -> Outcome {
    let started = Instant::now();
    for n in 0..puts {
        put(store, caller, (n % OBJECTS, n as u64)).await?;
    }
    let rate = puts as f64 / started.elapsed().as_secs_f64();
    let contents = dir.join("contents");
    let (at_the_end, live) = (on_disk(&contents), (OBJECTS.min(puts) * LARGE) as u64);
    let waited = wait(|| on_disk(&contents) < live + live / 10 + (2 << 20))?;
    println!(
        "{puts} puts of {LARGE} bytes over {OBJECTS} objects, {rate:.0} a second: {} MB at the end, {} MB live {waited:.1} s later",
        at_the_end >> 20,
        on_disk(&contents) >> 20,
    );
    Ok(())
}

/// Removes objects one after the other, as fast as it can.
async fn removed(dir: &Path, store: &Store, caller: &Caller, objects: usize) -> Outcome {
    for n in 0..objects {
        put(store, caller, (n, n as u64)).await?;
    }
    let contents = dir.join("contents");
    let (before, started) = (on_disk(&contents), Instant::now());
    for n in 0..objects {
        store.remove(caller, &At::from(path(&format!("/{n}"))?), &RemoveOptions::default())?;
    }
    let rate = objects as f64 / started.elapsed().as_secs_f64();
    let at_the_end = on_disk(&contents);
    let waited = wait(|| on_disk(&contents) < 2 << 20)?;
    println!(
        "{objects} removals of {LARGE} bytes, {rate:.0} a second: {} MB before, {} MB at the end, {} MB {waited:.1} s later",
        before >> 20,
        at_the_end >> 20,
        on_disk(&contents) >> 20,
    );
    Ok(())
}

/// Puts a large object under the name `n`, with bytes determined by a seed.
async fn put(store: &Store, caller: &Caller, (n, seed): (usize, u64)) -> Outcome {
    let bytes = stream::iter([Ok::<_, std::io::Error>(noise(LARGE, seed).into())]);
    store.put(caller, &path(&format!("/{n}"))?, bytes, PutOptions::default()).await?;
    Ok(())
}

/// Waits until the condition holds; returns the seconds it took.
fn wait(holds: impl Fn() -> bool) -> Outcome<f64> {
    let started = Instant::now();
    while !holds() {
        if started.elapsed() > PATIENCE {
            return Err("the space does not come back".into());
        }
        std::thread::sleep(Duration::from_millis(50));
    }
    Ok(started.elapsed().as_secs_f64())
}

/// The catalog without its reserve.
fn catalog(dir: &Path) -> u64 {
    let dir = dir.join("catalog");
    let reserve = std::fs::metadata(dir.join("reserve")).map_or(0, |found| found.blocks() * 512);
    on_disk(&dir).saturating_sub(reserve)
}

/// The size on disk of the files below a directory.
fn on_disk(dir: &Path) -> u64 {
    let bytes = |entry: std::fs::DirEntry| match entry.metadata() {
        Ok(found) if found.is_dir() => on_disk(&entry.path()),
        found => found.map_or(0, |found| found.blocks() * 512),
    };
    std::fs::read_dir(dir).map_or(0, |entries| entries.flatten().map(bytes).sum())
}

/// Bytes that do not compress.
fn noise(size: usize, seed: u64) -> Vec<u8> {
    let mut state = seed.wrapping_mul(0x9e37_79b9_7f4a_7c15) | 1;
    let next = || {
        state ^= state << 13;
        state ^= state >> 7;
        state ^= state << 17;
        Some(state.to_le_bytes())
    };
    std::iter::from_fn(next).take(size / 8).flatten().collect()
}
