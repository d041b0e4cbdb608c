//! Mounts and servers that are killed while something is written.

use std::io::{BufRead, BufReader};
use std::process::Stdio;

use crate::support::{World, can_mount};
use crate::writer::Writer;

#[test]
fn synced_data_survives_killing_the_mount() {
    if !can_mount() {
        return;
    }
    let world = World::new();
    for (name, size) in [("small", 1000), ("large", 6_000_000)] {
        let mut command = world.cenote(&["mount", "--write", "--foreground", "mnt"]);
        let mut mount = command.stdout(Stdio::piped()).spawn().unwrap();
        let mut line = String::new();
        BufReader::new(mount.stdout.take().unwrap()).read_line(&mut line).unwrap();
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
