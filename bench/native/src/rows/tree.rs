//! A real tree of many files: stored, read back, compared; with rclone and rsync for comparison.

use std::path::Path;
use std::process::{Command, Stdio};

use crate::report::{median, seconds, timed};
use crate::served::Served;
use crate::tools::{has, run};
use crate::{Bench, Outcome};

pub(crate) fn measure(bench: &mut Bench) -> Outcome {
    let Ok(tree) = std::env::var("TREE") else {
        eprintln!("TREE names no directory: no row for a real tree");
        return Ok(());
    };
    let tree = Path::new(&tree);
    let files = Command::new("find").arg(tree).args(["-type", "f"]).output()?.stdout;
    let files = files.iter().filter(|byte| **byte == b'\n').count();
    let (mut put, mut got, mut peers) = (Vec::new(), Vec::new(), [Vec::new(), Vec::new()]);
    for round in 0..bench.rounds {
        let served = Served::new(bench, &format!("tree{round}"))?;
        put.push(timed(|| run(served.command().args(["put", "-r"]).arg(tree).arg("/tree")))?);
        let back = bench.dir.join("back");
        got.push(timed(|| run(served.command().args(["get", "-r", "/tree"]).arg(&back)))?);
        run(Command::new("diff")
            .args(["-r", "--no-dereference"])
            .arg(tree)
            .arg(&back)
            .stdout(Stdio::null()))?;
        std::fs::remove_dir_all(&back)?;
        for (peer, times) in PEERS.iter().zip(&mut peers) {
            if has(peer[0]) {
                times.push(timed(|| {
                    run(Command::new(peer[0])
                        .args(&peer[1..])
                        .arg(format!("{}/", tree.display()))
                        .arg(&back))
                })?);
                std::fs::remove_dir_all(&back)?;
            }
        }
    }
    let put = median(&mut put);
    bench.report.row(&format!("put a tree of {files} files"), &seconds(put), "", "", "");
    bench.report.row(
        "get it back (every byte compared afterwards)",
        &seconds(median(&mut got)),
        "",
        "",
        "",
    );
    for (peer, mut times) in PEERS.iter().zip(peers).filter(|(_, times)| !times.is_empty()) {
        bench.report.times(
            &format!("put the tree, beside `{}`", peer.join(" ")),
            put,
            (peer[0], median(&mut times)),
            "",
        );
    }
    Ok(())
}

/// Copying the same tree to a directory, without any sync.
const PEERS: [&[&str]; 2] = [&["rclone", "copy", "--links"], &["rsync", "-a"]];
