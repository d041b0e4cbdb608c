//! Mounts and servers that are killed while something is written.

use std::fs::File;
use std::os::unix::fs::FileExt;
use std::path::Path;
use std::process::{Command, Stdio};

use crate::support::{World, can_mount, eventually};
use crate::writer::Writer;

#[test]
fn synced_data_survives_killing_the_mount() {
    if !can_mount() {
        return;
    }
    let world = World::new();
    for (name, size) in [("small", 1000), ("large", 6_000_000)] {
        let mut mount = world.mount_in_foreground(&["--write"]);
        let mut file = Writer::create(&world.path("mnt").join(name));
        assert_eq!([file.write('s', size), file.sync(), file.write('u', size)], ["ok"; 3]);
        mount.kill().unwrap();
        mount.wait().unwrap();
        drop(file);
        world.ok(&["umount", "--lazy", "mnt"]);
        let stored = world.cenote(&["cat", &format!("/{name}")]).output().unwrap().stdout;
        assert!(stored == vec![b's'; size], "{name}: {} bytes", stored.len());
    }
}

#[test]
fn a_program_writes_and_syncs_while_the_server_is_killed_and_restarted() {
    if !can_mount() {
        return;
    }
    let mut world = World::new();
    let (path, log) = (world.path("mnt"), world.path("mount.log"));
    world.ok(&["mount", "--write", "--deadline", "60s", "--log", log.to_str().unwrap(), "mnt"]);
    let mut expected = Vec::new();
    let mut file = Writer::create(&path.join("file"));
    for (byte, size) in [('a', 100), ('b', 5_000_000), ('c', 3_000_000), ('d', 70_000)] {
        assert_eq!(file.write(byte, size), "ok");
        expected.extend(std::iter::repeat_n(byte as u8, size));
        world.kill();
        file.begin("sync");
        world.serve();
        assert_eq!(file.answer(), "ok", "{byte}: {:?}", std::fs::read_to_string(&log));
        let stored = world.cenote(&["cat", "/file"]).output().unwrap().stdout;
        assert!(stored == expected, "{byte}: {} bytes", stored.len());
    }
    assert_eq!(file.close(), "ok");
    world.ok(&["umount", "--lazy", "mnt"]);
}

#[test]
fn a_large_file_outlives_an_outage_that_is_longer_than_the_deadline() {
    if !can_mount() {
        return;
    }
    let mut world = World::new();
    world.ok(&["mount", "--write", "--deadline", "1s", "mnt"]);
    let mut file = Writer::create(&world.path("mnt/file"));
    assert_eq!(file.write('a', 12 << 20), "ok");
    world.kill();
    assert_eq!(file.sync(), "EIO");
    world.serve();
    eventually("it is synced", || file.sync() == "ok");
    assert_eq!(file.write('b', 5 << 20), "ok");
    assert_eq!(file.close(), "ok");
    let stored = world.cenote(&["cat", "/file"]).output().unwrap().stdout;
    assert!(stored == [vec![b'a'; 12 << 20], vec![b'b'; 5 << 20]].concat(), "{}", stored.len());
    world.ok(&["umount", "--lazy", "mnt"]);
}

#[test]
fn the_tree_is_changed_while_the_server_is_killed_and_restarted() {
    if !can_mount() {
        return;
    }
    let mut world = World::new();
    world.ok(&["mount", "--write", "--deadline", "60s", "mnt"]);
    for script in ["mkdir dir", "echo x >dir/a", "mv dir/a dir/b", "rm dir/b", "rmdir dir"] {
        world.kill();
        let mut command = Command::new("sh");
        let mut change =
            command.args(["-euc", script]).current_dir(world.path("mnt")).spawn().unwrap();
        world.serve();
        assert!(change.wait().unwrap().success(), "{script}");
    }
    world.ok(&["umount", "--lazy", "mnt"]);
}

#[test]
fn small_files_that_were_read_ahead_are_read_without_asking_the_mount() {
    if !can_mount() {
        return;
    }
    let world = World::new();
    std::fs::create_dir(world.path("files")).unwrap();
    for number in 0..20 {
        std::fs::write(world.path(&format!("files/{number:02}")), format!("{number}")).unwrap();
    }
    world.ok(&["put", "-r", "files", ":/files"]);
    let mut mount = world.mount_in_foreground(&[]);
    let path = |number: usize| world.path(&format!("mnt/files/{number:02}"));
    for number in 0..10 {
        assert_eq!(std::fs::read_to_string(path(number)).unwrap(), format!("{number}"));
    }
    let files: Vec<File> = (10..20).map(|number| File::open(path(number)).unwrap()).collect();
    mount.kill().unwrap();
    mount.wait().unwrap();
    for (number, file) in (10..).zip(&files) {
        let mut bytes = [0; 2];
        file.read_exact_at(&mut bytes, 0).unwrap();
        assert_eq!(bytes, *format!("{number}").as_bytes());
    }
    drop(files);
    world.ok(&["umount", "--lazy", "mnt"]);
}

/// The program `fio`, which writes blocks of a file at random, syncs now and then, and marks each block so that it is recognized.
fn fio(file: &Path) -> Command {
    let mut command = Command::new("fio");
    command.args(["--name=blocks", "--rw=randwrite", "--bs=64k", "--size=24m", "--fsync=32"]);
    command.args(["--verify=crc32c", "--verify_fatal=1", "--thread"]);
    command.arg(format!("--filename={}", file.display()));
    command.current_dir(file.parent().unwrap().parent().unwrap());
    command
}

#[test]
fn fio_verifies_its_blocks_while_the_server_is_killed_and_restarted() {
    if !can_mount() || Command::new("fio").arg("--version").output().is_err() {
        return;
    }
    let mut world = World::new();
    let (path, log) = (world.path("mnt"), world.path("mount.log"));
    let mount = ["mount", "--write", "--deadline", "60s", "--log", log.to_str().unwrap(), "mnt"];
    world.ok(&mount);
    let mut writing = fio(&path.join("file")).stdout(Stdio::null()).spawn().unwrap();
    for number in 0..4 {
        world.kill();
        world.serve();
        // The server is used again before it is killed once more.
        std::fs::write(path.join(format!("other{number}")), "x").unwrap();
    }
    assert!(writing.wait().unwrap().success(), "{:?}", std::fs::read_to_string(&log));
    world.ok(&["umount", "mnt"]);
    world.ok(&mount);
    let read = fio(&path.join("file")).arg("--verify_only").output().unwrap();
    assert!(read.status.success(), "{}", String::from_utf8_lossy(&read.stderr));
    assert_eq!(std::fs::read_to_string(&log).unwrap(), "");
    world.ok(&["umount", "mnt"]);
}
