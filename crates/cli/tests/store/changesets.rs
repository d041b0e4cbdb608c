//! Change sets: commands that take effect together.

use std::process::Output;

use crate::world::World;

/// A server with a collection, and a directory beside it.
fn filled() -> World {
    let world = World::served();
    world.ok(&["mkdir", "/lab"]);
    for (name, text) in [("a.txt", "a"), ("run/b.txt", "b"), ("run/deep/c.txt", "c")] {
        world.file(name, text);
    }
    world.ok(&["versions", "policy", "/lab", "each-change"]);
    world.ok(&["put", "a.txt", ":/lab/a.txt"]);
    world
}

fn begin(world: &World) -> String {
    world.ok(&["changeset", "begin"]).trim().to_owned()
}

/// The program with the set in its environment.
fn within(world: &World, id: &str, arguments: &[&str]) -> Output {
    world.command(arguments).env("CENOTE_CHANGESET", id).output().unwrap()
}

fn done(world: &World, id: &str, arguments: &[&str]) -> String {
    let output = within(world, id, arguments);
    let stderr = String::from_utf8(output.stderr).unwrap();
    assert!(output.status.success() && stderr.is_empty(), "{arguments:?}: {stderr}");
    String::from_utf8(output.stdout).unwrap()
}

fn refused(world: &World, id: &str, arguments: &[&str]) -> (i32, String) {
    let output = within(world, id, arguments);
    (output.status.code().unwrap(), String::from_utf8(output.stderr).unwrap())
}

/// Everything that is visible.
fn visible_state(world: &World) -> String {
    let shown = ["tree", "find", "acl ls", "meta show", "versions ls"].map(|verb| {
        let path = if verb == "tree" || verb == "find" { "/" } else { "/lab/a.txt" };
        let words: Vec<&str> = verb.split(' ').chain([path]).collect();
        String::from_utf8(world.run(&words).stdout).unwrap()
    });
    shown.concat()
}

#[test]
fn commands_of_a_change_set_take_effect_together() {
    for commits in [true, false] {
        let world = filled();
        let (before, id) = (visible_state(&world), begin(&world));
        let run = |arguments: &[&str]| done(&world, &id, arguments);
        run(&["mkdir", "/lab/new"]);
        run(&["put", "-r", "run", ":/lab/new/run"]);
        run(&["put", "a.txt", ":/lab/new/a.txt"]);
        run(&["meta", "set", "/lab/a.txt", "k", "v"]);
        run(&["acl", "set", "/lab/a.txt", "public=read"]);
        run(&["versions", "keep", "/lab/a.txt"]);
        run(&["cp", "-r", ":/lab/new/run", ":/lab/copy"]);
        run(&["mv", "/lab/new/run/b.txt", "/lab/moved.txt"]);
        run(&["rm", "/lab/copy/b.txt"]);
        run(&["sync", "run", ":/lab/synced"]);
        assert_eq!(run(&["cat", "/lab/moved.txt"]), "b");
        assert_eq!(run(&["find", "/lab", "--meta", "k=v"]), "/lab/a.txt\n");
        assert_eq!(run(&["ls", "/lab/new"]), "a.txt\nrun/\n");
        assert!(run(&["stat", "/lab/moved.txt"]).contains("/lab/moved.txt"));
        run(&["get", "-r", ":/lab/synced", "back"]);
        assert_eq!(std::fs::read(world.path("back/deep/c.txt")).unwrap(), b"c");
        run(&["du", "/lab"]);
        assert_eq!(run(&["whoami"]), world.ok(&["whoami"]));
        assert_eq!(visible_state(&world), before, "nobody else sees it");
        let shown = run(&["changeset", "show"]);
        assert!(shown.contains(&id) && shown.contains("open"), "{shown}");
        assert_eq!(world.ok(&["changeset", "ls"]), shown);
        // The flag takes precedence over the environment.
        let by_flag = within(&world, "no id", &["--changeset", &id, "cat", "/lab/moved.txt"]);
        assert_eq!(by_flag.stdout, b"b");
        if commits {
            let committed = run(&["changeset", "commit"]);
            assert!(committed.starts_with("committed 1"), "{committed}");
            assert_eq!(world.ok(&["cat", "/lab/moved.txt"]), "b");
            assert_eq!(world.ok(&["cat", "/lab/copy/deep/c.txt"]), "c");
            assert_eq!(world.ok(&["find", "/lab", "--meta", "k=v"]), "/lab/a.txt\n");
            assert_ne!(visible_state(&world), before);
        } else {
            assert_eq!(world.ok(&["changeset", "drop", &id]), format!("dropped {id}\n"));
            assert_eq!(visible_state(&world), before);
        }
        let (code, stderr) = refused(&world, &id, &["ls", "/lab"]);
        assert!(code == 13 && stderr.contains("the change set has ended"), "{stderr}");
        assert!(stderr.contains("hint: begin another one"), "{stderr}");
        assert!(!stderr.contains("server's log"), "{stderr}");
        assert!(world.ok(&["changeset", "ls"]).is_empty());
        let state = if commits { "committed" } else { "dropped" };
        assert!(world.ok(&["changeset", "show", &id]).contains(state));
    }
}

#[test]
fn of_two_conflicting_change_sets_the_first_commit_wins() {
    let world = filled();
    let ids = [begin(&world), begin(&world)];
    for id in &ids {
        done(&world, id, &["meta", "set", "/lab/a.txt", "by", id]);
    }
    world.ok(&["changeset", "commit", &ids[1]]);
    let (code, stderr) = world.refused(&["changeset", "commit", &ids[0]]);
    assert!(
        code == 7 && stderr.contains("/lab/a.txt") && stderr.contains("begin another"),
        "{stderr}"
    );
    assert!(world.ok(&["meta", "show", "/lab/a.txt"]).contains(&ids[1]));
    assert!(world.ok(&["changeset", "show", &ids[0]]).contains("conflicted"));
}

#[test]
fn unsupported_commands_in_a_change_set_are_refused_with_a_hint() {
    let world = filled();
    let (before, id) = (visible_state(&world), begin(&world));
    let outside: [&[&str]; 11] = [
        &["stats"],
        &["changes"],
        &["user", "ls"],
        &["group", "add", "crew"],
        &["token", "add", "robot"],
        &["ticket", "add", "/lab/a.txt"],
        &["place", "ls"],
        &["replicate", "/lab/a.txt", "--to", "main"],
        &["trim", "/lab/a.txt"],
        &["check"],
        &["cat", "--as-of", "1s", "/lab/a.txt"],
    ];
    for arguments in outside {
        let (code, stderr) = refused(&world, &id, arguments);
        assert_eq!(code, 2, "{arguments:?}: {stderr}");
        assert!(
            stderr.contains("without --changeset and CENOTE_CHANGESET"),
            "{arguments:?}: {stderr}"
        );
    }
    assert_eq!(visible_state(&world), before);
    for (id, arguments, code, part) in [
        ("nonsense", &["ls", "/"][..], 2, "not the id of a change set"),
        (&"0".repeat(32), &["ls", "/"], 3, "no such change set"),
        ("", &["changeset", "commit"], 2, "no change set given"),
        ("", &["changeset", "begin", "--idle", "100d"], 2, "kept unused"),
    ] {
        let (is, stderr) = refused(&world, id, arguments);
        assert!(is == code && stderr.contains(part) && stderr.contains("hint: "), "{is}: {stderr}");
    }
}

#[test]
fn a_store_in_a_directory_has_no_change_sets() {
    let world = World::local();
    for arguments in [&["changeset", "begin"][..], &["--changeset", "x", "ls", "/"]] {
        let (code, stderr) = world.refused(arguments);
        assert!(code == 2 && stderr.contains("cenote serve"), "{stderr}");
    }
}
