//! Writes and reads one blob on a local disk, alternating with plain system calls for the same work, and prints the
//! median of each.
//!
//! ```sh
//! cargo run --release -p cenote-blob --example throughput -- DIR [MIB] [ROUNDS]
//! ```

#![expect(clippy::disallowed_methods, reason = "measures with the clock of the machine")]
#![allow(clippy::unwrap_used, reason = "a benchmark fails by panicking")]

use std::fs::File;
use std::io::{Read, Write};
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

use bytes::Bytes;
use cenote_blob::{Algorithm, BlobId, Hasher, Place, ReadStream, Written};
use futures_util::TryStreamExt;
use rustix::fs::{Advice, fadvise};

const RUN: usize = 256 << 10;

struct Bench {
    dir: PathBuf,
    place: Place,
    data: Bytes,
    runs: usize,
}

impl Bench {
    fn plain_path(&self) -> PathBuf {
        self.dir.join("plain")
    }

    fn total(&self) -> u64 {
        (self.runs * RUN) as u64
    }

    /// Every run has the same bytes, but 64 consecutive ones have different addresses.
    fn run(&self, n: usize) -> Bytes {
        let start = (n % 64) * RUN;
        self.data.slice(start..start + RUN)
    }

    fn plain_hash(&self) {
        let mut hasher = Hasher::default();
        (0..self.runs).for_each(|n| hasher.update(&self.run(n)));
        std::hint::black_box(hasher.finish());
    }

    fn plain_write(&self) {
        let mut file = File::create(self.plain_path()).unwrap();
        (0..self.runs).for_each(|n| file.write_all(&self.run(n)).unwrap());
        file.sync_all().unwrap();
    }

    fn plain_read(&self) {
        let mut file = File::open(self.plain_path()).unwrap();
        let mut buffer = vec![0; RUN];
        while file.read(&mut buffer).unwrap() > 0 {}
    }

    /// Drops the page cache, so that reads through `path` come from the disk again.
    fn cool(&self, path: &Path) {
        let file = File::open(path).unwrap();
        fadvise(&file, 0, None, Advice::DontNeed).unwrap();
    }

    async fn put(&self, digests: &[Algorithm]) -> Written {
        let mut writer = self.place.writer(id(), digests.iter().copied());
        for n in 0..self.runs {
            writer.write(self.run(n)).await.unwrap();
        }
        writer.finish().await.unwrap()
    }
}

fn id() -> BlobId {
    BlobId::from_bytes([7; 16])
}

async fn drain(mut chunks: ReadStream) {
    while let Some(chunk) = chunks.try_next().await.unwrap() {
        std::hint::black_box(chunk);
    }
}

#[derive(Default)]
struct Table(Vec<(&'static str, Vec<Duration>)>);

impl Table {
    fn add(&mut self, name: &'static str, begun: Instant) {
        let took = begun.elapsed();
        match self.0.iter_mut().find(|row| row.0 == name) {
            Some(row) => row.1.push(took),
            None => self.0.push((name, vec![took])),
        }
    }

    fn print(mut self, bytes: u64) {
        for (name, times) in &mut self.0 {
            times.sort();
            let median = times[times.len() / 2].as_secs_f64();
            let rate = bytes as f64 / median / 1e6;
            println!("{name:<36} {median:>7.3} s {rate:>7.0} MB/s  {times:.2?}");
        }
    }
}

fn peak_memory() -> String {
    let status = std::fs::read_to_string("/proc/self/status").unwrap_or_default();
    status.lines().find(|line| line.starts_with("VmHWM")).unwrap_or("VmHWM: unknown").to_owned()
}

async fn measure(bench: &Bench, rounds: usize) -> Table {
    let mut table = Table::default();
    for _ in 0..rounds {
        round(bench, &mut table).await;
        bench.place.delete(id()).await.unwrap();
        std::fs::remove_file(bench.plain_path()).unwrap();
    }
    table
}

async fn round(bench: &Bench, table: &mut Table) {
    let begun = Instant::now();
    bench.plain_hash();
    table.add("plain SHA-256", begun);

    let begun = Instant::now();
    bench.plain_write();
    table.add("plain write + fsync", begun);

    let begun = Instant::now();
    let written = bench.put(&[]).await;
    table.add("blob put (SHA-256)", begun);
    bench.place.delete(id()).await.unwrap();

    let begun = Instant::now();
    bench.put(&[Algorithm::Md5]).await;
    table.add("blob put (SHA-256 and MD5)", begun);

    let begun = Instant::now();
    bench.plain_read();
    table.add("plain read (256 KiB)", begun);

    let begun = Instant::now();
    drain(bench.place.read(id(), 0..bench.total())).await;
    table.add("blob read", begun);

    let begun = Instant::now();
    drain(bench.place.read_verified(
        id(),
        bench.total(),
        written.digests.sha256.expect("it is computed"),
    ))
    .await;
    table.add("blob verified read", begun);

    bench.cool(&bench.plain_path());
    let begun = Instant::now();
    bench.plain_read();
    table.add("plain read, from the disk", begun);

    bench.cool(&bench.place.local_path(id()).unwrap());
    let begun = Instant::now();
    drain(bench.place.read(id(), 0..bench.total())).await;
    table.add("blob read, from the disk", begun);

    let begun = Instant::now();
    for n in 0..1000 {
        let start = n * 4096 % (bench.total() - 4096);
        bench.place.read_all(id(), start..start + 4096).await.unwrap();
    }
    table.add("1,000 ranges of 4 KiB (not MB/s)", begun);
}

#[tokio::main]
async fn main() {
    let mut args = std::env::args().skip(1);
    let dir = PathBuf::from(args.next().expect("the first argument is a directory"));
    let mib = args.next().map_or(1024, |text| text.parse().unwrap());
    let rounds = args.next().map_or(3, |text| text.parse().unwrap());
    let begun = Instant::now();
    let place = Place::local("main", Path::new(&dir).join("place")).unwrap();
    println!("opened the place in {:.2?}", begun.elapsed());
    let data = (0..64 * RUN).map(|n| (n * 31 % 251) as u8).collect();
    let bench = Bench { dir, place, data, runs: mib * (1 << 20) / RUN };
    measure(&bench, rounds).await.print(bench.total());
    println!("{}", peak_memory());
}
