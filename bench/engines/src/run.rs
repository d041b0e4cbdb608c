//! The steps of a measurement.

use std::io::{BufRead, BufReader};
use std::process::{Child, Command, Stdio};
use std::sync::Arc;
use std::time::{Duration, Instant};

use bytes::Bytes;
use cenote_kv::{Engine, KeyRange, ScanOptions};

use crate::Options;
use crate::random::Random;
use crate::report::{Latencies, seconds};
use crate::target::Target;
use crate::workload::{self, Size};

type Result<T> = std::result::Result<T, String>;

/// Prints a row of the table; as the child, its first cells.
pub(crate) fn run(options: &Options) -> Result<()> {
    if options.child {
        println!("{}", write(&*options.target.open()?, options.size)?);
        return park();
    }
    let row = match &options.target {
        Target::Fjall(parent) => embedded(parent, options.size)?,
        target => in_process(target, options.size)?,
    };
    println!(
        "| engine | mean ms | median ms | p99 ms | max ms | last tenth, mean ms | on disk MB | reopen after kill s | reopen after close s | get us | absent get us | scan us a row |"
    );
    println!("|---|---|---|---|---|---|---|---|---|---|---|---|");
    println!("{row}");
    Ok(())
}

/// Writes in this process; nothing is killed.
fn in_process(target: &Target, size: Size) -> Result<String> {
    let engine = target.open()?;
    let written = write(&*engine, size)?;
    let reads = read(&*engine, size)?;
    Ok(format!("| {} | {written} | - | - | - | {reads} |", engine.name()))
}

/// Writes in a child that is killed, then opens its store.
fn embedded(parent: &std::path::Path, size: Size) -> Result<String> {
    let dir = tempfile::tempdir_in(parent).map_err(|error| error.to_string())?;
    let target = Target::Fjall(dir.path().to_owned());
    let written = killed(&target, size)?;
    let (engine, after_kill) = reopen(&target)?;
    let disk = target.disk().map_or(0, |bytes| bytes / 1_000_000);
    drop(engine);
    let (engine, after_close) = reopen(&target)?;
    let reads = read(&*engine, size)?;
    let (after_kill, after_close) = (seconds(Some(after_kill)), seconds(Some(after_close)));
    Ok(format!(
        "| {} | {written} | {disk} | {after_kill} | {after_close} | {reads} |",
        engine.name()
    ))
}

/// The cells that the child printed before it was killed.
fn killed(target: &Target, size: Size) -> Result<String> {
    let message = |error: std::io::Error| error.to_string();
    let Target::Fjall(dir) = target else { return Err("only an embedded engine dies".to_owned()) };
    let mut child = Command::new(std::env::current_exe().map_err(message)?)
        .args([&target.name(), "--child", "--resources", &size.resources.to_string()])
        .args(["--triples", &size.triples.to_string(), "--dir"])
        .arg(dir)
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .spawn()
        .map_err(message)?;
    let line = first_line(&mut child).map_err(message)?;
    child.kill().and_then(|()| child.wait()).map_err(message)?;
    match line.trim() {
        "" => Err("the writing process failed".to_owned()),
        cells => Ok(cells.to_owned()),
    }
}

fn first_line(child: &mut Child) -> std::io::Result<String> {
    let mut line = String::new();
    if let Some(output) = child.stdout.take() {
        BufReader::new(output).read_line(&mut line)?;
    }
    Ok(line)
}

/// Waits to be killed, or for the end of the parent.
fn park() -> Result<()> {
    std::io::stdin().read_line(&mut String::new()).map_err(|error| error.to_string())?;
    Ok(())
}

fn write(engine: &dyn Engine, size: Size) -> Result<String> {
    let mut samples = Vec::new();
    for resource in 0..size.resources {
        let mut batch = workload::batch(size, resource);
        let start = Instant::now();
        batch.seen = engine.snapshot().map_err(|error| error.to_string())?.version();
        engine.commit(batch).map_err(|error| error.to_string())?;
        samples.push(start.elapsed());
    }
    Ok(Latencies::of(&samples).cells())
}

/// The time until the engine has completed a read.
fn reopen(target: &Target) -> Result<(Arc<dyn Engine>, Duration)> {
    let start = Instant::now();
    let engine = target.open()?;
    engine
        .snapshot()
        .and_then(|view| view.get(&workload::resource_key(0)))
        .map_err(|error| error.to_string())?
        .ok_or("the first resource was lost")?;
    Ok((engine, start.elapsed()))
}

const GETS: u32 = 20_000;
const SCANS: u32 = 500;
const SCANNED: usize = 200;

/// Cells with microseconds for a read: of an existing term, of a missing one, of a row in a scan.
fn read(engine: &dyn Engine, size: Size) -> Result<String> {
    let mut random = Random::new(7);
    let mut literal = move || {
        let resource = random.next() % size.resources;
        10_000 + resource * size.triples + 2 * (random.next() % (size.triples / 2).max(1))
    };
    let found = gets(engine, || workload::hash_key(literal()))?;
    let mut absent = 0;
    let missing = gets(engine, || {
        absent += 1;
        workload::hash_key(u64::MAX - absent)
    })?;
    let scanned = scans(engine)?;
    Ok(format!("{found:.1} | {missing:.1} | {scanned:.2}"))
}

fn gets(engine: &dyn Engine, mut key: impl FnMut() -> Vec<u8>) -> Result<f64> {
    let view = engine.snapshot().map_err(|error| error.to_string())?;
    let keys: Vec<Vec<u8>> = (0..GETS).map(|_| key()).collect();
    let start = Instant::now();
    for key in &keys {
        view.get(key).map_err(|error| error.to_string())?;
    }
    Ok(start.elapsed().as_secs_f64() * 1e6 / f64::from(GETS))
}

fn scans(engine: &dyn Engine) -> Result<f64> {
    let view = engine.snapshot().map_err(|error| error.to_string())?;
    let mut random = Random::new(11);
    let mut rows = 0u32;
    let start = Instant::now();
    for _ in 0..SCANS {
        let from = [b"o".as_slice(), &random.next().to_be_bytes()].concat();
        let range = KeyRange { start: Bytes::from(from), end: Some("p".into()) };
        for row in view.scan(&range, ScanOptions::limit(SCANNED)) {
            row.map_err(|error| error.to_string())?;
            rows += 1;
        }
    }
    Ok(start.elapsed().as_secs_f64() * 1e6 / f64::from(rows.max(1)))
}
