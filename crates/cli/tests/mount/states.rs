//! What is reported of mounts that ended, cannot be seen or are in the way.

use std::fs;
use std::process::Output;

use crate::support::{World, can_mount, eventually};

/// Runs the program; returns its exit code and its standard error.
fn run(world: &World, arguments: &[&str]) -> (Option<i32>, String) {
    let Output { status, stderr, .. } = world.cenote(arguments).output().unwrap();
    (status.code(), String::from_utf8_lossy(&stderr).into_owned())
}

#[test]
fn a_mount_whose_process_was_killed_is_named_as_such() {
    if !can_mount() {
        return;
    }
    let world = World::new();
    let mut process = world.mount_in_foreground(&[]);
    process.kill().unwrap();
    process.wait().unwrap();
    for (arguments, code) in [(&["mount", "--status", "mnt"][..], 1), (&["mount", "mnt"], 4)] {
        let (ended, stderr) = run(&world, arguments);
        assert_eq!(ended, Some(code), "{stderr}");
        assert!(stderr.contains("process of the mount has ended"), "{stderr}");
        assert!(stderr.contains("cenote umount mnt"), "{stderr}");
    }
    world.ok(&["umount", "mnt"]);
    world.ok(&["mount", "mnt"]);
    world.ok(&["umount", "mnt"]);
}

#[test]
fn a_mount_that_cannot_be_seen_is_not_called_missing() {
    if !can_mount() {
        return;
    }
    let world = World::new();
    fs::write(world.path("source"), "one").unwrap();
    world.ok(&["put", "source", "/lab/a"]);
    let made = world.ok(&["--json", "token", "add", "robot", "--level", "read", "--expires", "1d"]);
    let made: serde_json::Value = serde_json::from_str(&made).unwrap();
    let mount = world.mount_as(&[("CENOTE_TOKEN", made["token"].as_str().unwrap())], &[]);
    let listed = world.ok(&["--json", "token", "ls"]);
    let mut tokens =
        listed.lines().map(|line| serde_json::from_str::<serde_json::Value>(line).unwrap());
    let robot = tokens.find(|token| token["label"] == "robot").unwrap();
    world.ok(&["token", "rm", robot["id"].to_string().trim_matches('"')]);
    let status = || run(&world, &["mount", "--status", "mnt"]);
    eventually("the end of the login", || status().0 == Some(5));
    assert!(status().1.contains("the login of the mount has ended"), "{}", status().1);
    drop(mount);
    world.ok(&["mount", ":/lab", "mnt"]);
    world.ok(&["rm", "-r", "/lab"]);
    eventually("the removal", || status().1.contains("the mounted collection was removed"));
    assert_eq!(status().0, Some(3));
    world.ok(&["umount", "mnt"]);
    assert!(status().1.contains("no store is mounted"), "{}", status().1);
}

#[test]
fn a_directory_is_mounted_once_and_what_is_hidden_is_reported() {
    if !can_mount() {
        return;
    }
    let world = World::new();
    let mount = world.mount(&[]);
    let (code, refused) = run(&world, &["mount", "mnt"]);
    assert_eq!(code, Some(4), "{refused}");
    assert!(refused.contains("already mounted") && refused.contains("cenote umount"), "{refused}");
    drop(mount);
    fs::write(world.path("mnt/local"), "x").unwrap();
    let (code, warned) = run(&world, &["mount", "mnt"]);
    assert_eq!(code, Some(0), "{warned}");
    assert!(warned.contains("mnt is not empty"), "{warned}");
    assert!(!world.path("mnt/local").exists());
    std::os::unix::fs::symlink(world.path("mnt"), world.path("link")).unwrap();
    world.ok(&["umount", "link"]);
    assert!(world.path("mnt/local").exists());
}

#[test]
fn a_mount_of_the_past_says_what_was_not_kept() {
    if !can_mount() {
        return;
    }
    let world = World::new();
    fs::write(world.path("source"), "one").unwrap();
    world.ok(&["put", "source", "/lab/a"]);
    let position =
        world.ok(&["mount", "--write", "mnt"]) + &world.ok(&["mount", "--status", "mnt"]);
    let position = position.split_whitespace().skip_while(|word| *word != "to").nth(1).unwrap();
    world.ok(&["umount", "mnt"]);
    fs::write(world.path("source"), "another").unwrap();
    world.ok(&["put", "source", "/lab/a"]);
    let mount = world.mount(&["--as-of", position]);
    assert_eq!(mount.sh("ls lab; stat -c %Y lab . | grep -v ^0$ | wc -l"), "2\n");
    assert!(mount.log().contains("/lab: not shown"), "{}", mount.log());
    let status = world.ok(&["mount", "--status", "mnt"]);
    assert!(status.contains("not shown, since their state was not kept: 1"), "{status}");
}
