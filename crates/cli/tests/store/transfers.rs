//! Files and trees, in both directions.

use std::os::unix::fs::symlink;

use snapbox::{assert_data_eq, str};

use crate::world::{World, contents};

/// A tree with everything that is preserved: small and large files, empty ones, links, directories.
fn make_tree(world: &World) {
    let large: Vec<u8> = (0..3_000_000_u32).map(|n| (n.wrapping_mul(n) >> 7) as u8).collect();
    world.file("tree/large.bin", large);
    world.file("tree/empty", "");
    world.file("tree/a b/ü #%.txt", "a name with everything");
    world.file(&format!("tree/{}/x", "long".repeat(40)), "1");
    (0..30).for_each(|n| drop(world.file(&format!("tree/many/{n}"), format!("number {n}"))));
    std::fs::create_dir_all(world.path("tree/nothing/in it")).unwrap();
    symlink("a b/ü #%.txt", world.path("tree/link")).unwrap();
    symlink("gone", world.path("tree/dangling")).unwrap();
}

#[test]
fn a_tree_round_trips_and_is_transferred_only_once() {
    for world in World::both() {
        make_tree(&world);
        assert_data_eq!(
            world.ok(&["put", "-r", "tree", ":/lab/tree"]),
            str![[r#"
put 36 files, 2.86 MiB

"#]]
        );
        assert_data_eq!(
            world.ok(&["put", "-r", "tree", ":/lab/tree"]),
            str![[r#"
put 0 files, 0 B; 36 unchanged

"#]]
        );
        world.ok(&["get", "-r", ":/lab/tree", "back"]);
        assert_eq!(contents(&world.path("tree")), contents(&world.path("back")));
        assert_data_eq!(
            world.ok(&["sync", ":/lab/tree", "back"]),
            str![[r#"
get 0 files, 0 B; 36 unchanged

"#]]
        );
        let time = |name: &str| world.path(name).metadata().unwrap().modified().unwrap();
        assert_eq!(time("tree/many/7"), time("back/many/7"));
    }
}

#[test]
fn nothing_is_written_through_an_existing_link() {
    let world = World::local();
    std::fs::create_dir_all(world.path("outside")).unwrap();
    std::fs::create_dir_all(world.path("tree")).unwrap();
    symlink("../outside", world.path("tree/a")).unwrap();
    world.ok(&["put", "-r", "tree", ":/t"]);
    world.ok(&["get", "-r", ":/t", "back"]);
    world.ok(&["rm", ":/t/a"]);
    world.file("other/x.txt", "1");
    world.ok(&["put", "-r", "other", ":/t/a"]);
    for filter in [&[][..], &["--include", "*.txt"]] {
        let output = world.run(&[&["get", "-r", ":/t", "back"], filter].concat());
        assert_eq!(output.status.code(), Some(11), "{output:?}");
        assert_eq!(std::fs::read_dir(world.path("outside")).unwrap().count(), 0);
    }
    world.ok(&["sync", "--delete", ":/t", "back"]);
    assert_eq!(std::fs::read(world.path("back/a/x.txt")).unwrap(), b"1");
}

#[test]
fn sync_transfers_changes_and_deletes_only_on_request() {
    for world in World::both() {
        make_tree(&world);
        world.ok(&["sync", "tree", ":/t"]);
        world.file("tree/many/7", "another text");
        std::fs::remove_dir_all(world.path("tree/a b")).unwrap();
        assert_data_eq!(
            world.ok(&["sync", "--delete", "--dry-run", "tree", ":/t"]),
            str![[r#"
would remove /t/a b
would put /t/many/7
would put 1 file, 12 B; 1 removed; 34 unchanged

"#]]
        );
        assert_data_eq!(
            world.ok(&["sync", "tree", ":/t"]),
            str![[r#"
put 1 file, 12 B; 34 unchanged

"#]]
        );
        assert_eq!(world.ok(&["ls", "/t/a b"]), "ü #%.txt\n");
        world.ok(&["sync", "--delete", "tree", ":/t"]);
        world.ok(&["get", "-r", ":/t", "back"]);
        assert_eq!(contents(&world.path("tree")), contents(&world.path("back")));
    }
}

#[test]
fn sync_between_two_collections_copies_differences() {
    for world in World::both() {
        make_tree(&world);
        world.ok(&["put", "-r", "tree", ":/t"]);
        world.ok(&["meta", "set", "/t/many/7", "topic", "numbers"]);
        assert_data_eq!(
            world.ok(&["sync", ":/t", ":/backup/t"]),
            str![[r#"
copy 36 files, 2.86 MiB

"#]]
        );
        assert!(world.ok(&["meta", "show", "/backup/t/many/7"]).contains("numbers"));
        assert_data_eq!(
            world.ok(&["sync", ":/t", ":/backup/t"]),
            str![[r#"
copy 0 files, 0 B; 36 unchanged

"#]]
        );
        world.file("7", "another text");
        world.ok(&["put", "7", ":/t/many/7"]);
        world.ok(&["rm", "-r", "/t/a b"]);
        assert_data_eq!(
            world.ok(&["sync", "--delete", "--dry-run", ":/t", ":/backup/t"]),
            str![[r#"
would remove /backup/t/a b
would copy /backup/t/many/7
would copy 1 file, 12 B; 1 removed; 34 unchanged

"#]]
        );
        world.ok(&["sync", "--delete", ":/t", ":/backup/t"]);
        world.ok(&["get", "-r", ":/t", "one"]);
        world.ok(&["get", "-r", ":/backup/t", "two"]);
        assert_eq!(contents(&world.path("one")), contents(&world.path("two")));
    }
}

#[test]
fn a_trailing_slash_means_into() {
    let world = World::local();
    world.file("t/a", "1");
    world.ok(&["put", "-r", "t", ":/lab/"]);
    assert_eq!(world.ok(&["ls", "-R", "/lab"]), "t/\nt/a\n");
    std::fs::create_dir(world.path("here")).unwrap();
    world.ok(&["get", "-r", ":/lab/t", "here/"]);
    assert_eq!(std::fs::read(world.path("here/t/a")).unwrap(), b"1");
    world.ok(&["get", ":/lab/t/a", "here"]);
    assert_eq!(std::fs::read(world.path("here/a")).unwrap(), b"1");
}

#[test]
fn standard_input_and_output_can_be_used_as_files() {
    for world in World::both() {
        let output = world.with_input(&["put", "-", ":/a"], "from a pipe");
        assert!(output.status.success(), "{output:?}");
        assert_eq!(world.ok(&["get", ":/a", "-"]), "from a pipe");
        assert_eq!(world.ok(&["cat", ":/a"]), "from a pipe");
    }
}

#[test]
fn a_pipe_is_read_to_its_end() {
    let world = World::local();
    let made = std::process::Command::new("mkfifo").arg(world.path("pipe")).status().unwrap();
    assert!(made.success());
    let mut put = world.command(&["put", "--quiet", "pipe", ":/a"]).spawn().unwrap();
    std::fs::write(world.path("pipe"), vec![b'x'; 300_000]).unwrap();
    assert!(put.wait().unwrap().success());
    assert!(world.ok(&["cat", "/a"]) == "x".repeat(300_000));
}

#[test]
fn a_closed_pipe_is_not_a_failure() {
    let world = World::local();
    world.file("big", vec![b'x'; 4_000_000]);
    world.ok(&["put", "big", ":/big"]);
    let mut command = world.command(&["cat", "/big"]);
    let mut child = command.stdout(std::process::Stdio::piped()).spawn().unwrap();
    drop(child.stdout.take());
    assert_eq!(child.wait().unwrap().code(), Some(0));
}
