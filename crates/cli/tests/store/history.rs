//! What the commands about versions, the past and the trash print.

use snapbox::{assert_data_eq, str};

use crate::world::World;

/// A store with `/lab/a.txt`, a collection that keeps each change.
fn filled(world: &World) {
    world.ok(&["mkdir", "/lab"]);
    world.ok(&["versions", "policy", "/lab", "each-change"]);
    world.file("a.txt", "one");
    world.ok(&["put", "a.txt", ":/lab/a.txt"]);
}

#[test]
fn versions_are_listed_with_the_time_they_represent_and_who_kept_them() {
    for world in World::both() {
        filled(&world);
        let (label, time) = (["--label", "paper"], ["--time", "2020-01-01T12:00:00Z"]);
        world.ok(&[&["versions", "keep", "/lab/a.txt"][..], &label, &time].concat());
        let listed = world.ok(&["versions", "ls", "/lab/a.txt"]);
        let columns: Vec<&str> = listed.split_whitespace().collect();
        assert!(["1", "2020-01-01"].iter().eq(&columns[..2]), "{listed}");
        assert!(columns.ends_with(&["3", "ada", "paper"]), "{listed}");
    }
}

#[test]
fn a_versioning_policy_is_printed_with_what_it_keeps() {
    for world in World::both() {
        world.ok(&["mkdir", "/lab"]);
        let set = |words: &[&str]| world.ok(&[&["versions", "policy", "/lab"], words].concat());
        assert_eq!(set(&["each-change"]), "versions below /lab: each-change, all are kept\n");
        assert_eq!(
            set(&["each-change", "--keep", "5", "--keep-daily", "7", "--keep-weekly", "1"]),
            "versions below /lab: each-change; kept: the newest 5, 7 daily, 1 weekly, and labelled ones\n"
        );
        assert_eq!(set(&["off"]), "versions below /lab: off\n");
    }
}

#[test]
fn a_restoration_of_which_nothing_was_kept_says_so_and_leaves_nothing() {
    for world in World::both() {
        filled(&world);
        let newest = world.ok(&["--json", "changes"]);
        let position = &newest.rsplit("\"next\":\"").next().unwrap()[..24];
        world.file("a.txt", "two");
        world.ok(&["put", "a.txt", ":/lab/a.txt"]);
        world.ok(&["versions", "prune", "/lab/a.txt", "--keep", "0"]);
        let restore = ["restore", "-r", "/lab", "--to", "/back", "--partial", "--as-of", position];
        let output = world.run(&restore);
        let stderr = String::from_utf8(output.stderr).unwrap();
        assert_eq!(output.status.code(), Some(1), "{stderr}");
        assert!(stderr.contains("hint: nothing was restored"), "{stderr}");
        assert_eq!(world.ok(&["ls", "/"]).matches("back").count(), 0);
    }
}

#[test]
fn a_move_that_replaces_says_how_to_undo_that() {
    for world in World::both() {
        world.ok(&["mkdir", "/lab"]);
        for name in ["a.txt", "b.txt"] {
            world.file(name, name);
            world.ok(&["put", name, &format!(":/lab/{name}")]);
        }
        let moved = world.ok(&["mv", "-f", "/lab/a.txt", "/lab/b.txt"]);
        assert_data_eq!(
            &moved,
            str![[r#"
move /lab/a.txt -> /lab/b.txt (replaced: cenote trash restore [..] --to PATH)

"#]]
        );
        let id = moved.split("restore ").nth(1).unwrap().split(' ').next().unwrap();
        world.ok(&["trash", "restore", id, "--to", "/lab/old.txt"]);
        assert_eq!(world.ok(&["cat", "/lab/b.txt", "/lab/old.txt"]), "a.txtb.txt");
        assert!(!world.ok(&["mv", "/lab/b.txt", "/lab/c.txt"]).contains("trash"));
        world.ok(&["trash", "keep", "/", "0s"]);
        assert!(!world.ok(&["mv", "-f", "/lab/c.txt", "/lab/old.txt"]).contains("trash"));
    }
}
