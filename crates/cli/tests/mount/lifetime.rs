//! How a mount starts and ends, and how it behaves without its server.

use std::fs;
use std::path::Path;
use std::process::Command;

use crate::support::{World, can_mount, eventually};
use crate::writer::Writer;

fn is_mounted(world: &World) -> bool {
    let mounts = fs::read_to_string("/proc/self/mounts").unwrap();
    mounts.contains(&*world.path("mnt").to_string_lossy())
}

#[test]
fn umount_ends_a_mount_and_its_process() {
    if !can_mount() {
        return;
    }
    let world = World::new();
    let mount = world.mount(&["--write"]);
    fs::write(mount.path("a"), "kept").unwrap();
    assert!(is_mounted(&world));
    assert!(world.ok(&["umount", "mnt"]).starts_with("unmounted"));
    assert!(!is_mounted(&world));
    assert_eq!(world.ok(&["cat", "/a"]), "kept");
    let again = world.cenote(&["umount", "mnt"]).output().unwrap();
    assert_eq!(again.status.code(), Some(3));
    for wrong in [&["mount", "missing"][..], &["mount", "/missing", "mnt"]] {
        let refused = world.cenote(wrong).output().unwrap();
        assert_eq!(refused.status.code(), Some(3), "{wrong:?}");
        assert!(!refused.stderr.is_empty());
    }
}

#[test]
fn sigterm_publishes_what_was_written_and_unmounts() {
    if !can_mount() {
        return;
    }
    let world = World::new();
    let mut process = world.mount_in_foreground(&["--write"]);
    let mut open = Writer::create(&world.path("mnt/open"));
    assert_eq!(open.write('w', 7), "ok");
    let id = process.id().to_string();
    assert!(Command::new("kill").args(["-TERM", &id]).status().unwrap().success());
    drop(open);
    assert!(process.wait().unwrap().success());
    assert!(!is_mounted(&world));
    assert_eq!(world.ok(&["cat", "/open"]), "wwwwwww");
}

#[test]
fn sigterm_publishes_what_open_files_hold_before_the_mount_is_detached() {
    if !can_mount() {
        return;
    }
    let world = World::new();
    let mut process = world.mount_in_foreground(&["--write"]);
    let files = [("small", 7), ("large", 6_000_000)].map(|(name, size)| {
        let mut open = Writer::create(&world.path("mnt").join(name));
        assert_eq!(open.write('w', size), "ok");
        (name, size, open)
    });
    let id = process.id().to_string();
    assert!(Command::new("kill").args(["-TERM", &id]).status().unwrap().success());
    eventually("the mount is detached", || !is_mounted(&world));
    // What a service manager does to a process that does not end.
    process.kill().unwrap();
    process.wait().unwrap();
    for (name, size, open) in files {
        assert!(world.ok(&["cat", &format!("/{name}")]) == "w".repeat(size), "{name}");
        drop(open);
    }
}

#[test]
fn the_mount_reconnects_to_a_restarted_server() {
    if !can_mount() {
        return;
    }
    let mut world = World::new();
    fs::write(world.path("source"), "one").unwrap();
    world.ok(&["put", "source", "/lab/a"]);
    let (path, log) = (world.path("mnt"), world.path("mount.log"));
    world.ok(&["mount", "--write", "--deadline", "5s", "--log", log.to_str().unwrap(), "mnt"]);
    assert_eq!(fs::read_to_string(path.join("lab/a")).unwrap(), "one");
    world.kill();
    assert!(fs::read(path.join("other")).is_err());
    assert!(fs::write(path.join("lab/new"), "x").is_err());
    world.serve();
    eventually("a write", || fs::write(path.join("lab/new"), "x").is_ok());
    world.ok(&["put", "source", "/lab/b"]);
    eventually("a change", || fs::read_to_string(path.join("lab/b")).is_ok_and(|it| it == "one"));
    world.ok(&["umount", "--lazy", "mnt"]);
}

#[test]
fn data_read_before_can_be_read_without_the_server() {
    if !can_mount() {
        return;
    }
    let mut world = World::new();
    fs::write(world.path("source"), "one".repeat(100_000)).unwrap();
    for path in ["/lab/a", "/lab/b"] {
        world.ok(&["put", "source", path]);
    }
    let cached = ["--no-local", "--cache", "kept"];
    let mount = [&["mount"][..], &cached, &["mnt"]].concat();
    let (path, trees) = (world.path("mnt"), world.path("kept/trees"));
    let read = |name: &str| fs::read(path.join(name));
    world.ok(&mount);
    let used = || -> Option<u64> {
        let status = world.ok(&["--json", "mount", "--status", "mnt"]);
        let status: serde_json::Value = serde_json::from_str(&status).unwrap();
        status["cache"]["bytes"]["used"].as_u64()
    };
    assert_eq!(fs::read_dir(path.join("lab")).unwrap().count(), 2);
    eventually("the content is kept", || read("lab/a").is_ok() && used() == Some(300_000));
    let is_noted = |file: &Path| fs::read_to_string(file).is_ok_and(|it| it.contains("\"b\""));
    eventually("the tree is noted", || {
        let files = fs::read_dir(&trees).into_iter().flatten().flatten();
        files.into_iter().any(|file| is_noted(&file.path()))
    });
    world.ok(&["umount", "mnt"]);
    world.kill();
    assert!(world.ok(&mount).contains("offline"));
    assert!(world.ok(&["mount", "--status", "mnt"]).contains("offline"));
    assert_eq!(fs::read_dir(path.join("lab")).unwrap().count(), 2);
    assert_eq!(read("lab/a").unwrap().len(), 300_000);
    let refused = read("lab/b").unwrap_err();
    assert_eq!(refused.raw_os_error(), Some(libc::ENETUNREACH), "{refused}");
    world.serve();
    eventually("the server", || read("lab/b").is_ok_and(|it| it.len() == 300_000));
    world.ok(&["umount", "--lazy", "mnt"]);
}

#[test]
fn mount_cenote_accepts_the_options_of_fstab() {
    if !can_mount() {
        return;
    }
    let world = World::new();
    fs::write(world.path("source"), "one").unwrap();
    world.ok(&["put", "source", "/lab/a"]);
    let helper = world.path("mount.cenote");
    std::os::unix::fs::symlink(env!("CARGO_BIN_EXE_cenote"), &helper).unwrap();
    let source = format!("{}/lab", world.url());
    let options = "rw,noexec,_netdev,nofail,deadline=9s";
    let mut command = Command::new(&helper);
    command.args([&source, "mnt", "-n", "-o", options]).current_dir(world.path(""));
    command.env("HOME", world.path("home"));
    let done = command.output().unwrap();
    assert!(done.status.success(), "{}", String::from_utf8_lossy(&done.stderr));
    assert_eq!((done.stdout, done.stderr), (Vec::new(), Vec::new()), "helpers are silent");
    assert_eq!(fs::read_to_string(world.path("mnt/a")).unwrap(), "one");
    fs::write(world.path("mnt/b"), "two").unwrap();
    assert_eq!(world.ok(&["cat", "/lab/b"]), "two");
    let mounts = fs::read_to_string("/proc/self/mounts").unwrap();
    let here = world.path("mnt").to_string_lossy().into_owned();
    let line = mounts.lines().find(|line| line.contains(&here)).unwrap();
    assert!(line.contains("noexec"), "{line}");
    let mut command = Command::new(&helper);
    command.args([&source, "mnt", "-o", "rw,remount"]).current_dir(world.path(""));
    let done = command.output().unwrap();
    let stderr = String::from_utf8_lossy(&done.stderr);
    assert!(done.status.code() == Some(2) && stderr.contains("cannot be changed"), "{stderr}");
    world.ok(&["umount", "mnt"]);
    let gone = "http://127.0.0.1:1/lab";
    let done = Command::new(&helper).args([gone, "mnt"]).current_dir(world.path("")).output();
    let done = done.unwrap();
    assert!(!done.status.success() && !done.stderr.is_empty(), "errors are shown");
    assert_eq!(world.ok(&["--quiet", "mount", "mnt"]), "");
    world.ok(&["umount", "mnt"]);
}

#[test]
fn a_cache_outlives_the_mount_and_status_shows_it() {
    if !can_mount() {
        return;
    }
    let world = World::new();
    let bytes: Vec<u8> = (0..3 << 20).map(|at: u32| (at / 5) as u8).collect();
    fs::write(world.path("large"), &bytes).unwrap();
    world.ok(&["put", "large", "/large"]);
    let cached = ["--no-local", "--cache", "kept"];
    let mount = world.mount(&cached);
    assert_eq!(fs::read(mount.path("large")).unwrap(), bytes);
    let status = || -> serde_json::Value {
        serde_json::from_str(&world.ok(&["--json", "mount", "--status", "mnt"])).unwrap()
    };
    eventually("the content is kept", || {
        status()["cache"]["bytes"]["used"].as_u64() == Some(bytes.len() as u64)
    });
    let shown = world.ok(&["mount", "--status", "mnt"]);
    assert!(shown.contains("cache kept: 3.00 MiB of 10.00 GiB in 1 contents"), "{shown}");
    drop(mount);
    let mount = world.mount(&cached);
    assert_eq!(fs::read(mount.path("large")).unwrap(), bytes);
    assert_eq!(status()["cache"]["read"].as_u64(), Some(bytes.len() as u64));
    assert_eq!(status()["cache"]["fetched"].as_u64(), Some(0));
    drop(mount);
    let refused = world.cenote(&["mount", "--status", "mnt"]).output().unwrap();
    assert_eq!(refused.status.code(), Some(3));
}
