//! `cenote gsd` on trajectories in the store: only the required parts are read.

use std::os::unix::fs::PermissionsExt;
use std::path::PathBuf;
use std::process::{Output, Stdio};

use crate::world::World;

const FIXTURE: &[u8] = include_bytes!("../../../gsd/tests/fixtures/files/g5_hoomd_full.gsd");

#[test]
fn a_file_in_the_store_is_handled_like_a_local_one() {
    for world in World::both() {
        world.file("traj.gsd", FIXTURE);
        world.ok(&["put", "traj.gsd", ":/traj.gsd"]);
        for arguments in [
            &["gsd", "ls"][..],
            &["gsd", "ls", "--frame", "-1"],
            &["gsd", "check"],
            &["gsd", "extract", "--frame", "0", "--format", "text"],
        ] {
            let of = |file: &str| {
                let mut arguments = arguments.to_vec();
                arguments.push(file);
                if arguments[1] == "extract" {
                    arguments.push("particles/position");
                }
                world.ok(&arguments)
            };
            assert_eq!(of(":/traj.gsd"), of("traj.gsd"), "{arguments:?}");
        }
        world.ok(&["gsd", "repack", ":/traj.gsd", "packed.gsd"]);
        assert!(world.ok(&["gsd", "check", "packed.gsd"]).starts_with("sound: 5 frames"));
    }
}

#[test]
fn missing_trajectories_give_exit_code_3() {
    let world = World::local();
    let (code, stderr) = world.refused(&["gsd", "info", ":/gone.gsd"]);
    assert_eq!(code, 3);
    assert!(stderr.contains("nothing is at /gone.gsd"), "{stderr}");
    let (code, stderr) = world.refused(&["gsd", "info", ":/"]);
    assert_eq!(code, 8);
    assert!(stderr.contains("no content"), "{stderr}");
    assert_eq!(world.refused(&["gsd", "info", "-"]).0, 2);
}

/// An interpreter that prints how it was started, and its rights at the given address.
fn interpreter(world: &World) -> PathBuf {
    let cenote = env!("CARGO_BIN_EXE_cenote");
    let script = format!(
        r#"#!/bin/sh
for file; do :; done
echo "${{file##*/}}"
url=${{file#cenote+}}
authority=${{url#http://}}
CENOTE_URL=http://${{authority%%/*}}
export CENOTE_URL
{cenote} stat /traj.gsd >/dev/null && echo readable
{cenote} rm /traj.gsd 2>/dev/null && echo writable
exit 0
"#
    );
    let path = world.file("python", script);
    std::fs::set_permissions(&path, PermissionsExt::from_mode(0o700)).unwrap();
    path
}

fn read(world: &World, arguments: &[&str]) -> Output {
    let mut command = world.command(&[&["gsd", "read"], arguments].concat());
    command.env("CENOTE_PYTHON", interpreter(world)).stdin(Stdio::null()).output().unwrap()
}

#[test]
fn an_interpreter_opens_a_file_in_the_store() {
    let local = World::local();
    local.file("traj.gsd", FIXTURE);
    local.ok(&["put", "traj.gsd", ":/traj.gsd"]);
    let output = read(&local, &[":/traj.gsd"]);
    assert_eq!(String::from_utf8_lossy(&output.stdout), "traj.gsd\nreadable\n", "{output:?}");
    assert!(output.status.success(), "{output:?}");
    assert_eq!(local.ok(&["token", "ls"]), "", "what was granted was taken back");
    let served = World::served();
    served.file("traj.gsd", FIXTURE);
    served.ok(&["put", "traj.gsd", ":/a file?.gsd"]);
    served.ok(&["put", "traj.gsd", ":/traj.gsd"]);
    let output = read(&served, &[":/a file?.gsd"]);
    let stdout = String::from_utf8_lossy(&output.stdout);
    assert!(stdout.starts_with("a%20file%3F.gsd\nreadable\n"), "{output:?}");
}

#[test]
fn no_interpreter_is_started_for_an_unreadable_file() {
    let world = World::local();
    world.file("traj.gsd", FIXTURE);
    world.file("notes.txt", "no trajectory");
    world.ok(&["put", "traj.gsd", ":/traj.gsd"]);
    for (arguments, code) in [
        (&[":/gone.gsd"][..], 3),
        (&["gone.gsd"], 3),
        (&["notes.txt"], 8),
        (&["--mode", "r+", ":/traj.gsd"], 2),
        (&["--mode", "w", ":/new.gsd"], 2),
        (&["-"], 2),
    ] {
        let output = read(&world, arguments);
        assert_eq!(output.status.code(), Some(code), "{arguments:?}: {output:?}");
        assert!(output.stdout.is_empty(), "{arguments:?}: {output:?}");
    }
    let mut command = world.command(&["gsd", "read", "traj.gsd"]);
    let output = command.env("CENOTE_PYTHON", "/no/python").output().unwrap();
    assert!(String::from_utf8_lossy(&output.stderr).contains("CENOTE_PYTHON"), "{output:?}");
}
