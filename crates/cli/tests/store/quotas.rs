//! Quotas: set, shown, enforced and removed.

use crate::world::World;

/// `/lab` with an object of 60 bytes, and files of 41 and 40.
fn lab(world: &World) {
    for (name, size) in [("a", 60), ("large", 41), ("small", 40)] {
        world.file(name, vec![7; size]);
    }
    world.ok(&["mkdir", "/lab"]);
    world.ok(&["put", "a", ":/lab/a"]);
}

#[test]
fn a_quota_of_a_collection_is_set_shown_enforced_and_removed() {
    for world in World::both() {
        lab(&world);
        let shown = "/lab: 60 B of 100 B; 1 resource of 3\n";
        assert_eq!(
            world.ok(&["quota", "set", "/lab", "--bytes", "100", "--resources", "3"]),
            shown
        );
        assert_eq!(world.ok(&["quota", "ls"]), shown);
        assert_eq!(world.ok(&["quota", "ls", "/lab/a"]), shown);
        assert_eq!(world.ok(&["quota", "ls", "/"]), "");
        let (code, stderr) = world.refused(&["put", "large", ":/lab/b"]);
        assert_eq!(code, 9, "{stderr}");
        assert!(stderr.contains("the quota of /lab allows 100 bytes, and has 60"), "{stderr}");
        assert!(stderr.contains("hint: "), "{stderr}");
        assert_eq!(world.refused(&["stat", "/lab/b"]).0, 3);
        world.ok(&["put", "small", ":/lab/b"]);
        assert_eq!(world.refused(&["cp", ":/lab/a", ":/lab/c"]).0, 9);
        world.ok(&["mkdir", "/lab/c"]);
        let (code, stderr) = world.refused(&["mkdir", "/lab/d"]);
        assert_eq!(code, 9, "{stderr}");
        assert!(stderr.contains("the quota of /lab allows 3 resources, and has 3"), "{stderr}");
        world.ok(&["quota", "set", "/lab", "--bytes", "1KiB"]);
        assert_eq!(world.ok(&["quota", "ls"]), "/lab: 100 B of 1.00 KiB; 3 resources\n");
        world.ok(&["put", "large", ":/lab/d"]);
        assert_eq!(world.ok(&["quota", "rm", "/lab"]), "removed the quota of /lab\n");
        assert_eq!(world.ok(&["quota", "ls"]), "");
        assert_eq!(world.refused(&["quota", "rm", "/lab"]).0, 3);
    }
}

#[test]
fn files_of_a_tree_beyond_the_quota_are_reported_and_the_others_stored() {
    for world in World::both() {
        world.ok(&["mkdir", "/lab"]);
        world.ok(&["quota", "set", "/lab", "--bytes", "100"]);
        world.file("tree/fits", vec![7; 90]);
        world.file("tree/large", vec![7; 101]);
        let output = world.run(&["put", "-r", "tree", ":/lab/tree"]);
        let stderr = String::from_utf8(output.stderr).unwrap();
        assert_eq!(output.status.code(), Some(11), "{stderr}");
        assert!(stderr.contains("large: the quota of /lab allows 100 bytes"), "{stderr}");
        assert_eq!(world.ok(&["ls", "/lab/tree"]), "fits\n");
    }
}

#[test]
fn users_and_groups_have_quotas_for_what_they_own() {
    let world = World::served();
    lab(&world);
    for user in ["ben", "eve"] {
        world.with_input(&["user", "add", user, "--password-stdin"], "another secret");
    }
    world.ok(&["group", "add", "crew"]);
    world.ok(&["group", "join", "crew", "ben"]);
    let set = world.ok(&["quota", "set", "--owner", "ben", "--bytes", "100"]);
    assert_eq!(set, "user ben: 0 B of 100 B; 2 resources\n");
    let set =
        world.ok(&["quota", "set", "--group", "crew", "--soft-resources", "2", "--grace", "1h"]);
    assert_eq!(set, "group crew: 0 B; 2 resources (soft limit 2)\n");
    let run = |user: &str, arguments: &[&str]| {
        let mut command = world.command(arguments);
        command.env("CENOTE_USER", user).env("CENOTE_PASSWORD", "another secret");
        let output = command.output().unwrap();
        let printed =
            [output.stdout, output.stderr].map(|printed| String::from_utf8(printed).unwrap());
        (output.status.code(), printed.concat())
    };
    assert_eq!(run("ben", &["put", "a", ":/home/ben/a"]).0, Some(0));
    let (code, printed) = run("ben", &["put", "large", ":/home/ben/b"]);
    assert!(code == Some(9) && printed.contains("the quota of user ben allows"), "{printed}");
    let (_, shown) = run("ben", &["quota", "ls"]);
    assert!(shown.starts_with("user ben: 60 B of 100 B; 3 resources\n"), "{shown}");
    assert!(
        shown.contains("3 resources (soft limit 2); soft limit exceeded, enforced from 20"),
        "{shown}"
    );
    assert_eq!(run("eve", &["quota", "ls"]), (Some(0), String::new()));
    assert_eq!(run("ben", &["quota", "set", "--owner", "ben", "--bytes", "1TB"]).0, Some(5));
}

#[test]
fn invalid_quotas_are_refused() {
    for world in World::both() {
        for (arguments, code) in [
            (&["quota", "set", "--bytes", "1"][..], 2),
            (&["quota", "set", "/"], 2),
            (&["quota", "set", "/", "--bytes", "1x"], 2),
            (&["quota", "set", "/", "--bytes", "1", "--grace", "1h"], 2),
            (&["quota", "set", "/", "--owner", "ada", "--bytes", "1"], 2),
            (&["quota", "set", "/", "--bytes", "1", "--soft-bytes", "2"], 2),
            (&["quota", "set", "/none", "--bytes", "1"], 3),
            (&["quota", "set", "--owner", "nobody", "--bytes", "1"], 3),
            (&["quota", "rm"], 2),
        ] {
            assert_eq!(world.refused(arguments).0, code, "{arguments:?}");
        }
    }
}
