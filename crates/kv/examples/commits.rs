//! How long a commit of one row takes, by the size of its value: `commits DIR [COUNT]` prints medians in microseconds.
//!
//! To compare two programs, run them in turns: what else the machine does shows in both then.

#![allow(clippy::unwrap_used, reason = "a measurement that cannot go on should stop")]

use std::path::PathBuf;
use std::time::Instant;

use cenote_kv::{Batch, Engine, FjallEngine, FjallOptions};

const SIZES: [usize; 5] = [100, 3_000, 20_000, 60_000, 200_000];

fn main() {
    let mut args = std::env::args_os().skip(1);
    let dir = PathBuf::from(args.next().expect("a directory to make catalogs in"));
    let count = args.next().map_or(500, |count| count.to_str().unwrap().parse().unwrap());
    for size in SIZES {
        let dir = tempfile::tempdir_in(&dir).unwrap();
        let engine = FjallEngine::open(dir.path(), FjallOptions::default()).unwrap();
        println!("{size:>7} B {:>8.1} us", median(&engine, size, count));
    }
}

/// The median of `count` commits, each of a value of `size` bytes that cannot be compressed.
#[allow(clippy::disallowed_methods, reason = "it measures time")]
fn median(engine: &FjallEngine, size: usize, count: u64) -> f64 {
    let mut times: Vec<f64> = (0..count)
        .map(|n| {
            let mut batch = Batch::default();
            batch.put(n.to_be_bytes().to_vec(), noise(n, size));
            let begun = Instant::now();
            engine.commit(batch).unwrap();
            begun.elapsed().as_secs_f64() * 1e6
        })
        .collect();
    times.sort_by(f64::total_cmp);
    times[times.len() / 2]
}

fn noise(seed: u64, size: usize) -> Vec<u8> {
    let mut state = seed;
    let words = std::iter::repeat_with(|| {
        state = (state ^ (state >> 29)).wrapping_mul(0xbf58_476d_1ce4_e5b9).wrapping_add(0x9e37);
        state.to_le_bytes()
    });
    words.flatten().take(size).collect()
}
