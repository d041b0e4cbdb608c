//! Power cuts of a whole store: the writes to the disk are recorded, and the possible states of the disk at any point
//! are opened, read and checked.

#![cfg(all(target_os = "linux", any(target_arch = "x86_64", target_arch = "aarch64")))]

#[path = "../../../kv/tests/disk/cut.rs"]
mod cut;
#[path = "../../../kv/tests/disk/image.rs"]
mod image;
#[path = "../../../kv/tests/disk/trace.rs"]
mod trace;

use std::panic::{AssertUnwindSafe, catch_unwind};

use self::cut::Disk;
use self::trace::Op;
use crate::history::{dice, dice::Dice};
use crate::{STEPS, WRITERS, acknowledged, number, prepare, verify, writing};

/// Cuts the power `cuts` times; returns the failures.
fn faults(mut disk: Disk, ops: &[Op], (cuts, seed): (u64, u64)) -> Vec<String> {
    let scratch = image::scratch();
    let mut dice = Dice::new(&[seed]);
    let mut points: Vec<usize> =
        (0..cuts).map(|_| dice.below(ops.len() as u64 + 1) as usize).collect();
    points.sort_unstable();
    let (mut played, mut done, mut faults) = (0, vec![0; WRITERS as usize], Vec::new());
    for point in points {
        for op in &ops[played..point] {
            disk.play(op);
            if let Some((writer, step)) = printed(op) {
                done[writer] = step + 1;
            }
        }
        played = point;
        disk.cut(&mut dice).restore(scratch.path());
        let verified = AssertUnwindSafe(|| verify(scratch.path(), 0, seed, &done));
        if catch_unwind(verified).is_err() {
            faults.push(format!("seed {seed}, cut at {point} of {}", ops.len()));
        }
    }
    println!("{cuts} power cuts in {} operations, {} faults", ops.len(), faults.len());
    faults
}

fn printed(op: &Op) -> Option<(usize, u64)> {
    let Op::Print(bytes) = op else { return None };
    acknowledged(std::str::from_utf8(bytes).ok()?)
}

#[test]
fn every_acknowledged_change_survives_a_power_cut_and_none_is_partial() {
    let seed = number("CENOTE_CRASH_SEED").unwrap_or_else(|| u64::from(std::process::id()));
    let (dir, steps) = (image::scratch(), 60);
    prepare(dir.path(), 0);
    let disk = Disk::of(dir.path());
    let mut command = writing(dir.path(), 0, seed);
    let ops = trace::record(command.env(STEPS, steps.to_string()), dir.path());
    assert_eq!(ops.iter().filter_map(printed).count() as u64, steps * WRITERS);
    let cuts = number("CENOTE_CRASH_ROUNDS").unwrap_or(40);
    let found = faults(disk.clone(), &ops, (cuts, seed));
    assert!(found.is_empty(), "{}", found.join("\n"));
    // The test would detect a disk that does not sync.
    assert!(!faults(disk.ignoring_syncs(), &ops, (10, seed)).is_empty());
}
