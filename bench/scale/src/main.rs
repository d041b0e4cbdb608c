//! How the store's costs grow: a collection of many children, and a restart.
//!
//! `bench-scale DIR [CHILDREN]` fills a new store in `DIR` and prints, in milliseconds, the medians of typical
//! operations among those children, then kills itself without warning in a child process and measures how long a
//! reopening takes. `bench-scale DIR OBJECTS space` measures how long it takes until the space of removed objects
//! is reclaimed.

mod depth;
mod space;

use std::error::Error;
use std::path::Path;
use std::time::{Duration, Instant};

use cenote_blob::Place;
use cenote_kv::{FjallEngine, FjallOptions};
use cenote_store::{
    At, BatchItem, BatchWhat, Caller, CreateOptions, Draft, Expected, ListOptions, MoveOptions,
    Name, Parts, PutOptions, Received, Store, StorePath,
};

#[global_allocator]
static ALLOCATOR: mimalloc::MiMalloc = mimalloc::MiMalloc;

type Outcome<T = ()> = Result<T, Box<dyn Error>>;

/// The number of objects put per commit while filling.
const BATCH: usize = 500;
/// The number of measurements of each operation.
const ROUNDS: usize = 201;

fn main() -> Outcome {
    let mut args = std::env::args().skip(1);
    let dir = args.next().ok_or("usage: bench-scale DIR [CHILDREN [space]]")?;
    let children: usize = args.next().map_or(Ok(1_000_000), |n| n.parse())?;
    match args.next().as_deref() {
        None => parent(Path::new(&dir), children),
        Some("reopen") => reopen(Path::new(&dir)),
        Some("space") => space::space(Path::new(&dir), children),
        Some(_) => child(Path::new(&dir), children),
    }
}

/// Runs the child until it is killed, then reopens its store.
fn parent(dir: &Path, children: usize) -> Outcome {
    let program = std::env::current_exe()?;
    std::process::Command::new(program).arg(dir).arg(children.to_string()).arg("child").status()?;
    reopen(dir)
}

fn reopen(dir: &Path) -> Outcome {
    let started = Instant::now();
    let store = Store::open_existing(parts(dir)?)?;
    let caller = store.caller_for(store.person_named("admin")?.0)?;
    store.stat(&caller, &path("/many")?.into())?;
    println!("{:<44}{:>10.1}", "reopen after a kill, and answer", millis(started.elapsed()));
    Ok(())
}

fn child(dir: &Path, children: usize) -> Outcome {
    let store = Store::create_new(parts(dir)?, "admin", "secret")?;
    let caller = store.authenticate_password("admin", "secret")?;
    for collection in ["/many", "/empty"] {
        store.create(&caller, &path(collection)?, Draft::Collection, CreateOptions::default())?;
    }
    let started = Instant::now();
    fill(&store, &caller, children)?;
    let rate = children as f64 / started.elapsed().as_secs_f64();
    println!("{:<44}{rate:>10.0} a second", format!("put {children} children, {BATCH} a commit"));
    measure(&store, &caller)?;
    depth::measure(&store, &caller)?;
    std::process::abort()
}

fn measure(store: &Store, caller: &Caller) -> Outcome {
    let many = At::from(path("/many")?);
    let first = ListOptions { after: None, limit: 1_000 };
    report("first page of 1,000", || Ok(store.list(caller, &many, &first).map(drop)?))?;
    let middle = ListOptions { after: Some(Name::new("0500000")?), limit: 1_000 };
    report("page of 1,000 from the middle", || {
        Ok(store.list(caller, &many, &middle).map(drop)?)
    })?;
    let mut count = 0;
    for collection in ["/empty", "/many"] {
        report(&format!("create in {collection}"), || {
            count += 1;
            put_one(store, caller, &path(&format!("{collection}/new{count}"))?)
        })?;
    }
    let names = [path("/many")?, path("/renamed")?];
    let mut round = 0;
    report("rename /many", || {
        let (from, to) = (&names[round % 2], &names[(round + 1) % 2]);
        round += 1;
        Ok(store.relocate(caller, &from.into(), to, MoveOptions::default()).map(drop)?)
    })?;
    store.relocate(
        caller,
        &(&names[round % 2]).into(),
        &names[0],
        MoveOptions { replace: true, parents: false, versions: false },
    )?;
    let started = Instant::now();
    let mut seen = 0;
    let mut after = None;
    loop {
        let page = store.walk(caller, &many, after.as_ref(), 10_000)?;
        seen += page.entries.len();
        after = page.next;
        if after.is_none() {
            break;
        }
    }
    println!(
        "{:<44}{:>10.0} a second",
        format!("walk of {seen}"),
        seen as f64 / started.elapsed().as_secs_f64()
    );
    Ok(())
}

fn report(what: &str, mut work: impl FnMut() -> Outcome) -> Outcome {
    let times: Vec<_> = (0..ROUNDS).map(|_| timed(&mut work)).collect::<Outcome<_>>()?;
    let worst = times.iter().max().map_or(0.0, |worst| millis(*worst));
    println!("{what:<44}{:>10.3} median {worst:>10.3} worst", median(times));
    Ok(())
}

fn timed(work: impl FnOnce() -> Outcome) -> Outcome<Duration> {
    let started = Instant::now();
    work()?;
    Ok(started.elapsed())
}

/// In milliseconds.
fn median(mut times: Vec<Duration>) -> f64 {
    times.sort();
    millis(times[times.len() / 2])
}

fn fill(store: &Store, caller: &Caller, children: usize) -> Outcome {
    for start in (0..children).step_by(BATCH) {
        let items = (start..children.min(start + BATCH)).map(|i| item(&format!("/many/{i:07}")));
        for answer in store.publish_many(caller, &items.collect::<Outcome<Vec<_>>>()?)? {
            answer?;
        }
    }
    Ok(())
}

fn item(at: &str) -> Outcome<BatchItem> {
    let received = Received::inline(at.as_bytes(), &Expected::default())?;
    Ok(BatchItem {
        path: path(at)?,
        what: BatchWhat::Object(Box::new(received)),
        options: PutOptions::default(),
    })
}

fn put_one(store: &Store, caller: &Caller, at: &StorePath) -> Outcome {
    let received = Received::inline(b"some bytes", &Expected::default())?;
    store.publish(caller, at, &received, &PutOptions::default())?;
    Ok(())
}

fn parts(dir: &Path) -> Outcome<Parts> {
    let engine = FjallEngine::open(dir.join("catalog"), FjallOptions::default())?;
    Ok(Parts::new(engine, Place::local("main", dir.join("contents"))?))
}

fn path(path: &str) -> Outcome<StorePath> {
    Ok(path.parse()?)
}

fn millis(time: Duration) -> f64 {
    time.as_secs_f64() * 1e3
}
