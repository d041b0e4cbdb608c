//! Random operations on one file through the kernel, as `fsx` makes them, compared with a copy in memory. `CENOTE_FSX_STEPS` sets how many.

use std::fs::{File, OpenOptions};
use std::os::unix::fs::FileExt;
use std::process::Command;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread::JoinHandle;

use proptest::prelude::*;
use proptest::strategy::ValueTree;
use proptest::test_runner::TestRunner;

use crate::support::{World, can_mount};

/// The maximum size of the file: more than is held in memory for one file.
const LONGEST: usize = 6 << 20;

#[derive(Debug, Clone)]
enum Step {
    Write(usize, usize, u8),
    Read(usize, usize),
    Truncate(usize),
    Sync,
    Reopen,
}

fn step() -> impl Strategy<Value = Step> {
    let offset = prop_oneof![0..5_000_usize, 0..LONGEST - 100_000];
    let length = prop_oneof![1..10_000_usize, 1..100_000_usize];
    prop_oneof![
        10 => (offset.clone(), length.clone(), any::<u8>()).prop_map(|(a, b, c)| Step::Write(a, b, c)),
        10 => (offset.clone(), length).prop_map(|(a, b)| Step::Read(a, b)),
        2 => offset.prop_map(Step::Truncate),
        1 => Just(Step::Sync),
        2 => Just(Step::Reopen),
    ]
}

/// Starts programs until it is dropped. Each inherits the open file for a moment, and closes it when it starts: the
/// file is published between any two operations.
struct Children(Arc<AtomicBool>, Option<JoinHandle<()>>);

impl Children {
    fn begin() -> Self {
        let done = Arc::new(AtomicBool::new(false));
        let is_done = Arc::clone(&done);
        let start = move || {
            while !is_done.load(Ordering::Relaxed) {
                Command::new("true").status().unwrap();
            }
        };
        Self(done, Some(std::thread::spawn(start)))
    }
}

impl Drop for Children {
    fn drop(&mut self) {
        self.0.store(true, Ordering::Relaxed);
        if let Some(started) = self.1.take() {
            started.join().unwrap();
        }
    }
}

fn open(path: &std::path::Path) -> File {
    OpenOptions::new().read(true).write(true).create(true).truncate(false).open(path).unwrap()
}

#[test]
fn random_writes_are_read_back() {
    if !can_mount() {
        return;
    }
    let steps = std::env::var("CENOTE_FSX_STEPS").ok().and_then(|steps| steps.parse().ok());
    let world = World::new();
    let mount = world.mount(&["--write"]);
    let (path, mut runner) = (mount.path("fsx"), TestRunner::default());
    let (mut file, mut wanted) = (open(&path), Vec::new());
    let _children = Children::begin();
    for number in 0..steps.unwrap_or(400) {
        let step = step().new_tree(&mut runner).unwrap().current();
        match &step {
            Step::Write(at, length, byte) => {
                file.write_all_at(&vec![*byte; *length], *at as u64).unwrap();
                wanted.resize(wanted.len().max(at + length), 0);
                wanted[*at..at + length].fill(*byte);
            }
            Step::Read(at, length) => {
                let mut bytes = vec![0; *length];
                let read = file.read_at(&mut bytes, *at as u64).unwrap();
                let end = wanted.len().min(at + length);
                let part = wanted.get(*at..end).unwrap_or_default();
                assert!(read <= part.len() && bytes[..read] == part[..read], "{number}: {step:?}");
                assert!(read > 0 || part.is_empty(), "{number}: {step:?}");
            }
            Step::Truncate(size) => {
                file.set_len(*size as u64).unwrap();
                wanted.resize(*size, 0);
            }
            Step::Sync => file.sync_all().unwrap(),
            Step::Reopen => {
                drop(file);
                file = open(&path);
            }
        }
        assert_eq!(file.metadata().unwrap().len(), wanted.len() as u64, "{number}: {step:?}");
    }
    drop(file);
    let stored = world.cenote(&["cat", "/fsx"]).output().unwrap().stdout;
    assert!(stored == wanted);
    assert_eq!(mount.log(), "");
}
