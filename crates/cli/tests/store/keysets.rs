//! `cenote kdb` on key sets in the store: every verb has the same effect as on a file.

use std::io::Write;
use std::process::Stdio;

use crate::world::World;

const QUICKDUMP: &str = "application/vnd.elektra.quickdump";

/// A run of verbs; `FILE` is the key set.
const STORY: [&[&str]; 17] = [
    &["set", "FILE", "server/port", "8080"],
    &["set", "FILE", "server/icon", "--base64", "AAE="],
    &["set", "FILE", "/server/port", "80"],
    &["meta-set", "FILE", "server/port", "type", "long"],
    &["meta-set", "FILE", "server/port", "comment/#0", "plain HTTP"],
    &["meta-rm", "FILE", "server/port", "comment/#0"],
    &["meta-ls", "FILE", "server/port"],
    &["meta-get", "FILE", "server/port", "type"],
    &["get", "FILE", "server/port", "--json"],
    &["cp", "FILE", "-r", "server", "backup"],
    &["mv", "FILE", "backup/port", "old/port"],
    &["rm", "FILE", "backup/icon"],
    &["import", "FILE", "imported", "--input", "more.json"],
    &["ls", "FILE"],
    &["export", "FILE", "--to", "toml"],
    &["convert", "FILE", "--to", "dump"],
    &["diff", "FILE", "FILE"],
];

fn kdb(world: &World, file: &str, verb: &[&str]) -> String {
    let words = verb.iter().map(|word| if *word == "FILE" { file } else { word });
    world.ok(&["kdb"].into_iter().chain(words).collect::<Vec<_>>())
}

fn media_type(world: &World, path: &str) -> serde_json::Value {
    let stat: serde_json::Value =
        serde_json::from_str(&world.ok(&["stat", path, "--json"])).unwrap();
    stat["media_type"].clone()
}

#[test]
fn every_verb_has_the_same_effect_in_the_store_as_on_a_file() {
    for world in World::both() {
        world.file("more.json", r#"{"hosts": ["a", "b"]}"#);
        for verb in STORY {
            let there = kdb(&world, ":/lab/app.quickdump", verb);
            assert_eq!(there, kdb(&world, "app.quickdump", verb), "{verb:?}");
        }
        world.ok(&["get", ":/lab/app.quickdump", "got.quickdump"]);
        let bytes = |name| std::fs::read(world.path(name)).unwrap();
        assert_eq!(bytes("got.quickdump"), bytes("app.quickdump"));
        assert_eq!(media_type(&world, "/lab/app.quickdump"), QUICKDUMP);
    }
}

#[test]
fn converting_and_merging_work_between_files_and_the_store() {
    for world in World::both() {
        world.file("base.ini", "a = 1\nb = 1\n");
        world.file("ours.ini", "a = 2\nb = 1\n");
        world.file("theirs.ini", "a = 1\nc = 1\n");
        world.ok(&["kdb", "convert", "base.ini", ":/base.dump"]);
        world.ok(&["kdb", "convert", "theirs.ini", ":/theirs.quickdump"]);
        assert_eq!(media_type(&world, "/base.dump"), "application/vnd.elektra.dump");
        let merge =
            ["kdb", "merge", "ours.ini", ":/theirs.quickdump", ":/base.dump", ":/merged.json"];
        assert_eq!(world.ok(&merge), "Merged 2 keys, 0 with conflicts settled\n");
        assert_eq!(media_type(&world, "/merged.json"), "application/json");
        assert_eq!(world.ok(&["kdb", "convert", ":/merged.json", "--to", "ini"]), "a = 2\nc = 1\n");
        let output = world.run(&["kdb", "diff", ":/base.dump", "base.ini"]);
        assert!(output.status.success() && output.stdout.is_empty(), "{output:?}");
        assert_eq!(
            world.run(&["kdb", "diff", ":/base.dump", ":/merged.json"]).status.code(),
            Some(12)
        );
    }
}

#[test]
fn the_media_type_determines_the_format_of_an_empty_set() {
    let world = World::local();
    world.file("empty", "");
    world.ok(&["put", "--type", "application/vnd.elektra.dump", "empty", ":/settings"]);
    world.ok(&["kdb", "set", ":/settings", "a", "1"]);
    assert_eq!(world.ok(&["cat", "/settings"]), "kdbOpen 2\n$key string 1 1\na\n1\n$end\n");
}

#[test]
fn an_uploaded_key_set_gets_its_media_type() {
    let world = World::local();
    world.ok(&["kdb", "set", "app.quickdump", "a", "1"]);
    world.ok(&["put", "app.quickdump", ":/app"]);
    assert_eq!(media_type(&world, "/app"), QUICKDUMP);
    world.ok(&["put", "--type", "text/plain", "app.quickdump", ":/text"]);
    assert_eq!(media_type(&world, "/text"), "text/plain");
    world.file("t/app.quickdump", std::fs::read(world.path("app.quickdump")).unwrap());
    world.file("t/text", "no keys");
    world.ok(&["put", "-r", "t", ":/tree"]);
    world.ok(&["sync", "t", ":/synced"]);
    for tree in ["/tree", "/synced"] {
        assert_eq!(media_type(&world, &format!("{tree}/app.quickdump")), QUICKDUMP);
        assert_ne!(media_type(&world, &format!("{tree}/text")), QUICKDUMP);
    }
    world.file("short", "EKD");
    world.ok(&["put", "short", ":/short"]);
    assert_ne!(media_type(&world, "/short"), QUICKDUMP);
}

#[test]
fn concurrent_changes_are_not_overwritten() {
    let world = World::served();
    for (target, before) in [(":/app.dump", Some("1")), (":/new.dump", None)] {
        if let Some(value) = before {
            world.ok(&["kdb", "set", target, "a", value]);
        }
        let fifo = world.path("fifo");
        let made = std::process::Command::new("mkfifo").arg(&fifo).status().unwrap();
        assert!(made.success());
        let import = ["kdb", "import", target, "--input", "fifo", "--from", "ini"];
        let import = world.command(&import).stderr(Stdio::piped()).spawn().unwrap();
        // Opening it blocks until the verb opens it, too, which has read the key set by then.
        let mut pipe = std::fs::OpenOptions::new().write(true).open(&fifo).unwrap();
        world.ok(&["kdb", "set", target, "a", "2"]);
        pipe.write_all(b"b = 3\n").unwrap();
        drop(pipe);
        let output = import.wait_with_output().unwrap();
        let stderr = String::from_utf8(output.stderr).unwrap();
        assert_eq!(output.status.code(), Some(7), "{stderr}");
        assert!(
            stderr.contains(&format!("{target}: the file was changed since it was read")),
            "{stderr}"
        );
        assert_eq!(world.ok(&["kdb", "get", target, "a"]), "2\n");
        std::fs::remove_file(fifo).unwrap();
    }
}

#[test]
fn invalid_operations_are_refused_as_on_a_file() {
    for world in World::both() {
        world.ok(&["mkdir", "/c"]);
        world.ok(&["kdb", "set", ":/app.dump", "a", "1"]);
        world.file("broken.dump", "kdbOpen 2\n$what\n");
        world.ok(&["put", "broken.dump", ":/broken.dump"]);
        for (arguments, code, expected) in [
            (&["get", ":/gone.dump", "a"][..], 3, ":/gone.dump: no such file"),
            (&["get", ":/app.dump", "b"], 3, "no such key: `user:/b`"),
            (&["get", ":/app.dump", "users:/b"], 2, "`users` is not a namespace"),
            (&["get", ":/c", "a"], 4, "has no content"),
            (&["set", ":/c", "a", "1"], 4, "has no content"),
            (&["convert", ":/app.dump", ":/c", "--to", "dump"], 4, "it has no content: :/c"),
            (&["set", ":/app.dump", "system:/a", "1"], 2, "`system:/a` is not below the parent"),
            (&["ls", ":/broken.dump"], 8, ":/broken.dump: at byte 10"),
            (&["ls", ":broken"], 2, "not a path in the store"),
            (&["set", "-", "a", "1"], 2, "give a file"),
        ] {
            let (found, stderr) = world.refused(&[&["kdb"], arguments].concat());
            assert_eq!(found, code, "{arguments:?}: {stderr}");
            assert!(stderr.contains(expected), "{arguments:?}: {stderr}");
        }
    }
}
