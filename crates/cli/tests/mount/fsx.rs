//! The program `fsx` (`cargo install fsx`): random operations on one file, by read, write, truncation and mappings of memory, each of which it
//! verifies. It is run if `CENOTE_FSX` names it; `CENOTE_FSX_STEPS` sets how many operations there are.

use std::path::{Path, PathBuf};
use std::process::Command;

use crate::support::{World, can_mount};

/// Its options: all operations that a mount supports.
const WEIGHTS: &str = "[opsize]
max = 70000
[weights]
read = 10
write = 10
mapread = 5
mapwrite = 5
truncate = 1
close_open = 0.1
invalidate = 0
fsync = 0.1
fdatasync = 0.1
posix_fallocate = 1
punch_hole = 1
sendfile = 1
copy_file_range = 1
";

fn program() -> Option<PathBuf> {
    let program = std::env::var_os("CENOTE_FSX").map(PathBuf::from);
    if program.is_none() {
        println!("skipped: CENOTE_FSX does not name the program fsx");
    }
    program
}

/// Exercises a file of at most this size.
fn exercise(program: &Path, size: u64, steps: u64) {
    let world = World::new();
    std::fs::write(world.path("fsx.toml"), format!("flen = {size}\n{WEIGHTS}")).unwrap();
    let mount = world.mount(&["--write"]);
    let mut command = Command::new(program);
    command.arg("-f").arg(world.path("fsx.toml")).args(["-N", &steps.to_string()]);
    command.arg("-P").arg(world.path("")).arg(mount.path("exercised"));
    let done = command.output().unwrap();
    let output = String::from_utf8_lossy(&[done.stdout, done.stderr].concat()).into_owned();
    assert!(done.status.success(), "{output}");
    assert_eq!(mount.log(), "");
}

#[test]
fn fsx_reads_back_what_it_wrote() {
    let Some(program) = program().filter(|_| can_mount()) else { return };
    let steps = std::env::var("CENOTE_FSX_STEPS").ok().and_then(|steps| steps.parse().ok());
    let steps: u64 = steps.unwrap_or(2_000);
    exercise(&program, 300_000, steps);
    // Larger than the memory for one file: each sync sends some megabytes.
    exercise(&program, 6_000_000, steps / 100);
}
