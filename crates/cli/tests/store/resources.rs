//! Looking, describing, moving, sharing.

use snapbox::{assert_data_eq, str};

use crate::world::World;

#[test]
fn resources_are_created_listed_moved_and_removed() {
    for world in World::both() {
        assert_data_eq!(
            world.ok(&["mkdir", "/lab", "-p", "/lab/run7/deep"]),
            str![[r#"
made /lab
made /lab/run7/deep

"#]]
        );
        world.file("a.txt", "abc");
        assert_data_eq!(
            world.ok(&["put", "a.txt", ":/lab/run7"]),
            str![[r#"
put a.txt -> /lab/run7/a.txt

"#]]
        );
        assert_data_eq!(
            world.ok(&["ls", "/lab/run7"]),
            str![[r#"
a.txt
deep/

"#]]
        );
        assert_data_eq!(
            world.ok(&["mv", "/lab/run7/a.txt", "/lab/b.txt"]),
            str![[r#"
move /lab/run7/a.txt -> /lab/b.txt

"#]]
        );
        assert_data_eq!(
            world.ok(&["cp", ":/lab/b.txt", ":/lab/run7/"]),
            str![[r#"
copy /lab/b.txt -> /lab/run7/b.txt

"#]]
        );
        assert_data_eq!(
            world.ok(&["tree", "/lab"]),
            str![[r#"
/lab
├── b.txt
└── run7/
    ├── b.txt
    └── deep/

2 collections, 2 other resources

"#]]
        );
        assert_data_eq!(
            world.ok(&["rm", "-r", "/lab/run*"]),
            str![[r#"
removed /lab/run7 (undo: cenote trash restore [..])

"#]]
        );
        assert_eq!(world.ok(&["ls", "-R", "/lab"]), "b.txt\n");
        assert_eq!(world.ok(&["cat", "/lab/b.txt", "--offset", "1"]), "bc");
    }
}

#[test]
fn the_trash_is_listed_restored_from_and_emptied() {
    for world in World::both() {
        world.file("a.txt", "abc");
        world.ok(&["mkdir", "-p", "/lab/run7"]);
        world.ok(&["put", "a.txt", ":/lab/run7/a.txt"]);
        world.ok(&["meta", "add", "/lab/run7/a.txt", "k", "v"]);
        world.ok(&["rm", "-r", "/lab/run7"]);
        let listed = world.ok(&["trash", "ls"]);
        assert!(listed.contains(" ada ") && listed.ends_with(" /lab/run7\n"), "{listed}");
        assert!(world.ok(&["du", "/lab"]).contains("(trash: "));
        assert_eq!(world.ok(&["trash", "restore", "/lab/run7"]), "restored /lab/run7\n");
        assert_eq!(world.ok(&["cat", "/lab/run7/a.txt"]), "abc");
        assert!(world.ok(&["meta", "show", "/lab/run7/a.txt"]).contains("k"));
        assert_eq!(world.refused(&["trash", "restore", "/lab/run7"]).0, 3);
        world.ok(&["rm", "/lab/run7/a.txt"]);
        world.ok(&["put", "a.txt", ":/lab/run7/a.txt"]);
        let (_, refused) = world.refused(&["trash", "restore", "/lab/run7/a.txt"]);
        assert!(refused.contains("--to"), "{refused}");
        world.ok(&["trash", "restore", "/lab/run7/a.txt", "--to", "/b.txt"]);
        assert_eq!(world.ok(&["rm", "--permanent", "/b.txt"]), "removed /b.txt\n");
        world.ok(&["rm", "-r", "/lab"]);
        assert_eq!(world.ok(&["trash", "empty"]), "removed 1 item for good\n");
        assert_eq!(world.ok(&["trash", "ls"]), "");
        assert_eq!(
            world.ok(&["trash", "keep", "/", "1d", "--at-most", "2KiB"]),
            "what is removed below / is kept for 1 day; at most 2.00 KiB are kept\n"
        );
        assert_eq!(
            world.ok(&["trash", "keep", "/", "--at-most", "none"]),
            "what is removed below / is kept for 1 day\n"
        );
        assert_eq!(world.refused(&["trash", "keep", "/"]).0, 2);
        world.ok(&["trash", "keep", "/", "0s"]);
        world.ok(&["put", "a.txt", ":/a.txt"]);
        assert_eq!(world.ok(&["rm", "/a.txt"]), "removed /a.txt\n");
    }
}

#[test]
fn json_output_is_one_object_per_line() {
    for world in World::both() {
        world.file("a.txt", "abc");
        let put = world.ok(&["--json", "put", "a.txt", ":/a.txt"]);
        assert_eq!(
            put,
            "{\"action\":\"put\",\"from\":\"a.txt\",\"to\":\"/a.txt\",\"dry_run\":false}\n"
        );
        let line = world.ok(&["ls", "/a.txt", "--json"]);
        let line: serde_json::Value = serde_json::from_str(line.trim()).unwrap();
        assert_eq!((&line["path"], &line["size"]), (&"/a.txt".into(), &3.into()));
        assert_eq!(line["kind"], "object");
    }
}

#[test]
fn resources_are_found_by_their_descriptions() {
    for world in World::both() {
        world.file("a.txt", "abc");
        world.ok(&["put", "a.txt", ":/lab/a.txt"]);
        world.ok(&["put", "a.txt", ":/lab/b.txt"]);
        assert_data_eq!(
            world.ok(&["meta", "add", "/lab/a.txt", "temp", "300", "K"]),
            str![[r#"
described /lab/a.txt

"#]]
        );
        world.ok(&["meta", "set", "/lab/*.txt", "project", "ice"]);
        assert_data_eq!(
            world.ok(&["meta", "show", "/lab/a.txt"]),
            str![[r#"
project = ice
temp = 300 K

"#]]
        );
        assert_eq!(world.ok(&["find", "/lab", "--meta", "temp>=299"]), "/lab/a.txt\n");
        assert_eq!(world.ok(&["find", "--meta", "project=ice", "--name", "b*"]), "/lab/b.txt\n");
        world.ok(&["meta", "rm", "/lab/a.txt", "temp"]);
        assert_eq!(world.ok(&["find", "--meta", "temp"]), "");
    }
}

#[test]
fn users_are_added_and_have_the_rights_granted() {
    let world = World::served();
    let added = world.with_input(&["user", "add", "ben", "--password-stdin"], "another secret");
    assert!(added.status.success(), "{added:?}");
    world.ok(&["mkdir", "/lab"]);
    world.file("a.txt", "abc");
    let as_ben = |arguments: &[&str]| {
        let mut command = world.command(arguments);
        command.env("CENOTE_USER", "ben").env("CENOTE_PASSWORD", "another secret");
        command.output().unwrap()
    };
    assert_ne!(as_ben(&["put", "a.txt", ":/lab/a.txt"]).status.code(), Some(0));
    world.ok(&["acl", "set", "/lab", "ben=write"]);
    assert_eq!(as_ben(&["put", "a.txt", ":/lab/a.txt"]).status.code(), Some(0));
    assert_data_eq!(
        world.ok(&["acl", "show", "/lab/a.txt"]),
        str![[r#"
...
ben              modify_object    subtree  (from /lab)
...
"#]]
    );
}

#[test]
fn versions_are_kept_listed_and_restored() {
    for world in World::both() {
        world.ok(&["mkdir", "/lab"]);
        world.ok(&["versions", "policy", "/lab", "each-change"]);
        for text in ["one", "two"] {
            world.file("a.txt", text);
            world.ok(&["put", "a.txt", ":/lab/a.txt"]);
        }
        assert_eq!(world.ok(&["versions", "ls", "/lab/a.txt"]).lines().count(), 1);
        world.ok(&["versions", "restore", "/lab/a.txt", "1"]);
        assert_eq!(world.ok(&["cat", "/lab/a.txt"]), "one");
    }
}

#[test]
fn versions_are_compared_labelled_dated_and_pruned() {
    for world in World::both() {
        world.ok(&["mkdir", "/lab"]);
        world.ok(&[
            "versions",
            "policy",
            "/lab",
            "each-change",
            "--keep",
            "5",
            "--keep-daily",
            "7",
        ]);
        world.file("a.txt", "one");
        world.ok(&["put", "a.txt", ":/lab/a.txt"]);
        world.ok(&[
            "versions",
            "keep",
            "/lab/a.txt",
            "--label",
            "paper",
            "--time",
            "2020-01-01T00:00:00Z",
        ]);
        world.ok(&["meta", "add", "/lab/a.txt", "T", "300", "K"]);
        world.file("a.txt", "other");
        world.ok(&["put", "a.txt", ":/lab/a.txt"]);
        let listed = world.ok(&["--json", "versions", "ls", "/lab/a.txt", "--by-time"]);
        let last = listed.lines().last().unwrap();
        assert!(last.contains("\"paper\"") && last.contains("2020-01-01T00:00:00Z"), "{listed}");
        let one = "7692c3ad3540bb803c020b3aee66cd8887123234ea0c6e7143c0add73ff431ed";
        let other = "d9298a10d1b0735837dc4bd85dac641b0f3cef27a47e5d53a54f2f3f5b2fcffa";
        let expected = format!(
            "- content: 3 bytes, SHA-256 {one}\n+ content: 5 bytes, SHA-256 {other}\n+ T = 300 K\n"
        );
        assert_eq!(world.ok(&["versions", "diff", "/lab/a.txt", "1"]), expected);
        assert_eq!(
            world.ok(&["versions", "diff", "/lab/a.txt", "1", "2"]),
            format!("  content: 3 bytes, SHA-256 {one}\n+ T = 300 K\n")
        );
        let json = world.ok(&["--json", "versions", "diff", "/lab/a.txt", "2", "1"]);
        assert!(
            json.contains(r#""removed":[{"attribute":"T","value":"300","unit":"K"}]"#),
            "{json}"
        );
        for wrong in [
            &["versions", "label", "/lab/a.txt", "2", "paper"][..],
            &["versions", "keep", "/lab/a.txt", "--time", "2999-01-01"],
            &["versions", "diff", "/lab/a.txt", "99"],
        ] {
            assert!(!world.run(wrong).status.success(), "{wrong:?}");
        }
        world.ok(&["versions", "prune", "/lab/a.txt", "--keep", "0"]);
        assert_eq!(world.ok(&["versions", "ls", "/lab/a.txt"]).lines().count(), 1);
        world.ok(&["versions", "label", "/lab/a.txt", "1"]);
        world.ok(&["versions", "prune", "/lab/a.txt", "--keep", "0"]);
        assert_eq!(world.ok(&["versions", "ls", "/lab/a.txt"]), "");
    }
}

#[test]
fn the_store_is_shown_as_of_a_moment() {
    for world in World::both() {
        world.ok(&["mkdir", "/lab"]);
        world.ok(&["versions", "policy", "/lab", "each-change"]);
        for name in ["a.txt", "b.txt"] {
            world.file(name, "one");
            world.ok(&["put", name, &format!(":/lab/{name}")]);
        }
        world.ok(&["mkdir", "/lab/sub"]);
        world.ok(&["meta", "add", "/lab/a.txt", "T", "300", "K"]);
        let position = newest(&world);
        world.file("a.txt", "other");
        world.ok(&["put", "a.txt", ":/lab/a.txt"]);
        world.ok(&["meta", "set", "/lab/a.txt", "T", "7"]);
        world.ok(&["mv", "/lab/b.txt", "/lab/sub/c.txt"]);
        let past = |words: &[&str]| world.ok(&[words, &["--as-of", &position]].concat());
        let read = |name: &str| std::fs::read_to_string(world.path(name)).unwrap();
        assert_eq!(past(&["ls", "/lab"]), "a.txt\nb.txt\nsub/\n");
        assert_eq!(past(&["ls", "-R", "/lab"]), "a.txt\nb.txt\nsub/\n");
        assert_eq!(past(&["ls", "/lab/a.txt"]), "/lab/a.txt\n");
        assert_eq!(past(&["cat", "/lab/a.txt", "/lab/b.txt"]), "oneone");
        assert_eq!(past(&["cat", "--offset", "1", "/lab/a.txt"]), "ne");
        assert_eq!(past(&["meta", "show", "/lab/a.txt"]), "T = 300 K\n");
        let json = past(&["--json", "stat", "/lab/b.txt"]);
        assert!(json.contains("\"path\":\"/lab/b.txt\"") && json.contains("\"size\":3"), "{json}");
        assert_eq!(world.ok(&["ls", "/lab", "--as-of", "0s"]), "a.txt\nsub/\n");
        let found = past(&["find", "/lab", "--name", "*.txt"]);
        assert_eq!(found, "/lab/a.txt\n/lab/b.txt\n");
        assert_eq!(past(&["find", "/lab", "--meta", "T=300"]), "/lab/a.txt\n");
        assert_eq!(past(&["find", "/lab", "--limit", "1"]), "/lab/a.txt\n");
        past(&["get", "-r", ":/lab", "lab"]);
        assert_eq!(read("lab/a.txt") + &read("lab/b.txt"), "oneone");
        assert!(world.path("lab/sub").is_dir() && !world.path("lab/sub/c.txt").exists());
        past(&["get", ":/lab/b.txt", "b.past"]);
        assert_eq!(read("b.past"), "one");
        assert_eq!(past(&["get", ":/lab/a.txt", "-"]), "one");
        let restored = past(&["restore", "-r", "/lab", "--to", "/lab.before"]);
        assert_eq!(restored, "restore: 3 done, 0 failed\n");
        assert_eq!(world.ok(&["ls", "-R", "/lab.before"]), "a.txt\nb.txt\nsub/\n");
        assert_eq!(world.ok(&["cat", "/lab.before/a.txt", "/lab.before/b.txt"]), "oneone");
        assert_eq!(world.ok(&["meta", "show", "/lab.before/a.txt"]), "T = 300 K\n");
        let one = past(&["restore", "/lab/b.txt", "--parents", "--to", "/new/b.txt"]);
        assert_eq!(one, "restored /new/b.txt\n");
        let taken = ["restore", "-r", "/lab", "--to", "/lab", "--as-of", &position];
        assert_eq!(world.run(&taken).status.code(), Some(4));
        for wrong in ["/lab/none", "/lab/sub/c.txt"] {
            assert!(!world.run(&["stat", wrong, "--as-of", &position]).status.success());
        }
        assert!(!world.run(&["ls", "/lab", "--as-of", "2999-01-01"]).status.success());
        world.ok(&["versions", "prune", "/lab/a.txt", "--keep", "0"]);
        let lost = world.run(&["ls", "/lab", "--as-of", &position]);
        let stderr = String::from_utf8(lost.stderr).unwrap();
        assert!(stderr.contains("not kept: /lab/a.txt"), "{stderr}");
        assert_eq!(String::from_utf8(lost.stdout).unwrap(), "b.txt\nsub/\n");
        for words in [&["find", "/lab"][..], &["get", "-r", ":/lab", "part"]] {
            let lost = world.run(&[words, &["--as-of", &position]].concat());
            assert_eq!(lost.status.code(), Some(11), "{words:?}");
            let stderr = String::from_utf8(lost.stderr).unwrap();
            assert!(stderr.contains("not kept") && stderr.contains("/lab/a.txt"), "{stderr}");
        }
        assert_eq!(read("part/b.txt"), "one");
        let again = ["restore", "-r", "/lab", "--to", "/again", "--as-of", &position];
        let failed = world.run(&again);
        let stderr = String::from_utf8(failed.stderr).unwrap();
        assert!(
            failed.status.code() == Some(1) && stderr.contains("not kept: /lab/a.txt"),
            "{stderr}"
        );
        assert!(!world.run(&["stat", "/again"]).status.success());
        assert!(!world.run(&[&again[..], &["--partial"]].concat()).status.success());
        assert_eq!(world.ok(&["ls", "-R", "/again"]), "b.txt\nsub/\n");
    }
}

/// The position of the newest change.
fn newest(world: &World) -> String {
    let last = world.ok(&["--json", "changes"]);
    let last = last.lines().last().unwrap();
    let after = last.split("\"next\":\"").nth(1).unwrap();
    after[..24].to_owned()
}

#[test]
fn versions_are_lost_only_on_request() {
    for world in World::both() {
        world.ok(&["trash", "keep", "/", "0s"]);
        world.ok(&["mkdir", "/lab"]);
        world.ok(&["versions", "policy", "/lab", "each-change"]);
        world.file("a.txt", "one");
        world.ok(&["put", "a.txt", ":/lab/a.txt"]);
        world.ok(&["versions", "keep", "/lab/a.txt", "--label", "paper"]);
        world.file("other/b.txt", "two");
        world.ok(&["put", "other/b.txt", ":/lab/b.txt"]);
        let refused: [&[&str]; 4] = [
            &["rm", "/lab/a.txt"],
            &["rm", "-r", "/lab"],
            &["mv", "-f", "/lab/b.txt", "/lab/a.txt"],
            &["sync", "--delete", "other", ":/lab"],
        ];
        for command in refused {
            let output = world.run(command);
            let stderr = String::from_utf8(output.stderr).unwrap();
            assert!(
                !output.status.success() && stderr.contains("--versions"),
                "{command:?}: {stderr}"
            );
            assert_eq!(world.ok(&["versions", "ls", "/lab/a.txt"]).lines().count(), 1);
        }
        world.ok(&["mv", "-f", "--versions", "/lab/b.txt", "/lab/a.txt"]);
        world.ok(&["versions", "keep", "/lab/a.txt"]);
        world.ok(&["sync", "--delete", "--versions", "other", ":/lab"]);
        assert_eq!(world.ok(&["ls", "/lab"]).lines().count(), 1);
    }
}
