//! --include and --exclude, as in rclone: excluded files are not sent, and nothing is skipped silently.

use snapbox::{assert_data_eq, str};

use crate::world::World;

fn world() -> World {
    let world = World::local();
    for name in ["a.gsd", "b.txt", "adr/1.md", "sub/adr/2.md", "tmp/c.gsd", "sub/d.gsd"] {
        world.file(&format!("t/{name}"), name);
    }
    world
}

/// The files of a new collection after this transfer of `t`, which prints this on stderr.
fn put(world: &World, flags: &[&str], warning: &str) -> Vec<String> {
    let _ = world.run(&["rm", "-r", "/t"]);
    let output = world.run(&[&["put", "-r", "t", ":/t"], flags].concat());
    assert!(output.status.success(), "{output:?}");
    assert_eq!(String::from_utf8(output.stderr).unwrap(), warning);
    let listed = world.ok(&["ls", "-R", "/t"]);
    listed.lines().filter(|name| !name.ends_with('/')).map(str::to_owned).collect()
}

#[test]
fn a_directory_pattern_excludes_everything_below() {
    let world = world();
    let all_but_adr = ["a.gsd", "b.txt", "sub/d.gsd", "tmp/c.gsd"];
    for pattern in ["adr/", "adr/**", "{adr,nothing}/", "[a]dr/"] {
        assert_eq!(put(&world, &["--exclude", pattern], ""), all_but_adr, "{pattern}");
    }
    for pattern in ["/adr/", "/adr/*", "/*dr/"] {
        let left = put(&world, &["--exclude", pattern], "");
        assert!(left.contains(&"sub/adr/2.md".to_owned()), "{pattern}: {left:?}");
        assert!(!left.contains(&"adr/1.md".to_owned()), "{pattern}: {left:?}");
    }
}

#[test]
fn an_exclude_takes_precedence_over_an_include() {
    let world = world();
    let left = put(&world, &["--include", "*.gsd", "--exclude", "tmp/"], "");
    assert_eq!(left, ["a.gsd", "sub/d.gsd"]);
    assert_eq!(world.ok(&["ls", "-R", "/t"]), "a.gsd\nsub/\nsub/d.gsd\n");
}

#[test]
fn a_pattern_matching_only_directories_is_refused_before_anything_is_sent() {
    let world = world();
    let (code, stderr) = world.refused(&["put", "-r", "t", ":/t", "--exclude", "adr"]);
    assert_eq!(code, 2);
    assert_data_eq!(
        stderr,
        str![[r#"
cenote: --exclude adr: a directory has this name, but no file
  hint: use --exclude adr/ to exclude the directory and everything below it

"#]]
    );
    assert_eq!(world.refused(&["stat", "/t"]).0, 3);
    let (code, stderr) = world.refused(&["put", "-r", "t", ":/t", "--exclude", "a[dr"]);
    assert!(code == 2 && stderr.contains("a `[` has no `]`"), "{stderr}");
}

#[test]
fn a_pattern_that_matches_nothing_is_reported() {
    let world = world();
    let all = ["a.gsd", "adr/1.md", "b.txt", "sub/adr/2.md", "sub/d.gsd", "tmp/c.gsd"];
    let unused = "cenote: warning: --exclude *.o matches nothing\n";
    assert_eq!(put(&world, &["--exclude", "*.o"], unused), all);
    let near = "cenote: warning: --exclude ad* matches nothing\n  \
                hint: to match a directory and everything below it, use --exclude ad*/\n";
    assert_eq!(put(&world, &["--exclude", "ad*"], near), all);
    let near = "cenote: warning: --include adr/ matches nothing\n  \
                hint: to match a directory and everything below it, use --include adr/**\n";
    assert!(put(&world, &["--include", "adr/"], near).is_empty());
    for arguments in
        [&["get", "-r", ":/t", "back"][..], &["sync", "t", ":/s"], &["sync", ":/t", ":/s"]]
    {
        let output = world.run(&[arguments, &["--exclude", "none/"]].concat());
        let stderr = String::from_utf8(output.stderr).unwrap();
        assert_eq!(stderr, "cenote: warning: --exclude none/ matches nothing\n");
    }
    let output = world.run(&["--json", "sync", "t", ":/s", "--exclude", "none/"]);
    let stderr = String::from_utf8(output.stderr).unwrap();
    assert_eq!(
        stderr,
        "{\"warning\":{\"message\":\"--exclude none/ matches nothing\",\"hints\":[]}}\n"
    );
}

#[test]
fn arguments_can_be_excluded_too() {
    let world = world();
    world.ok(&[
        "put",
        "-r",
        "t/adr",
        "t/sub",
        "t/a.gsd",
        "t/b.txt",
        ":/t/",
        "--exclude",
        "adr/",
        "--exclude",
        "*.txt",
    ]);
    assert_eq!(world.ok(&["ls", "-R", "/t"]), "a.gsd\nsub/\nsub/d.gsd\n");
    std::fs::create_dir(world.path("back")).unwrap();
    world.ok(&["get", "-r", ":/t/*", "back/", "--exclude", "sub/"]);
    assert_eq!(std::fs::read_dir(world.path("back")).unwrap().count(), 1);
}
