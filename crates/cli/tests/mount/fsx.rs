//! The program `fsx` (`cargo install fsx`): random operations on one file, by read, write, truncation and mappings of memory, each of which it
//! verifies. It is run if `CENOTE_FSX` names it; `CENOTE_FSX_STEPS` sets how many operations there are.

use std::path::PathBuf;
use std::process::Command;

use crate::support::{World, can_mount};

/// What it does: all operations that a mount has, on a file that is larger than what is held in memory of one.
const SETTINGS: &str = "flen = 6000000
[opsize]
max = 70000
[weights]
read = 10
write = 10
mapread = 5
mapwrite = 0
truncate = 1
close_open = 1
invalidate = 0
fsync = 1
fdatasync = 1
";

fn program() -> Option<PathBuf> {
    let program = std::env::var_os("CENOTE_FSX").map(PathBuf::from);
    if program.is_none() {
        println!("skipped: CENOTE_FSX does not name the program fsx");
    }
    program
}

#[test]
fn the_file_system_exerciser_finds_what_it_wrote() {
    let Some(program) = program().filter(|_| can_mount()) else { return };
    let steps = std::env::var("CENOTE_FSX_STEPS").unwrap_or_else(|_| "2000".to_owned());
    let world = World::new();
    std::fs::write(world.path("fsx.toml"), SETTINGS).unwrap();
    let mount = world.mount(&["--write"]);
    let mut command = Command::new(program);
    command.arg("-f").arg(world.path("fsx.toml")).args(["-N", &steps, "-P"]).arg(world.path(""));
    let done = command.arg(mount.path("exercised")).output().unwrap();
    let said = String::from_utf8_lossy(&[done.stdout, done.stderr].concat()).into_owned();
    assert!(done.status.success(), "{said}");
    assert_eq!(mount.log(), "");
}
