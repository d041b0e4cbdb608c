//! `cenote sync` between two collections: descriptions are kept in sync, too.

use std::io::Read;
use std::os::unix::fs::PermissionsExt;
use std::process::Stdio;

use snapbox::{assert_data_eq, str};

use crate::world::World;

/// The collection `/a` with an object, a link and a collection, each with a description, and its
/// copy `/b`.
fn mirrored(world: &World) {
    world.file("a/sub/x", "1");
    world.file("a/y", "22");
    std::os::unix::fs::symlink("y", world.path("a/link")).unwrap();
    world.ok(&["put", "-r", "a", ":/a"]);
    for path in ["/a", "/a/sub", "/a/sub/x", "/a/link"] {
        world.ok(&["meta", "set", path, "topic", "wells"]);
    }
    world.ok(&["meta", "set", "/a/y", "depth", "12", "m"]);
    world.ok(&["sync", ":/a", ":/b"]);
}

fn described(world: &World, path: &str) -> String {
    world.ok(&["--json", "meta", "show", path])
}

/// Checks that each resource of `/b` has the description of its counterpart in `/a`.
fn assert_mirrored(world: &World) {
    for path in ["", "/sub", "/sub/x", "/link", "/y"] {
        let [here, there] = ["/a", "/b"].map(|top| described(world, &format!("{top}{path}")));
        assert_eq!(here, there, "{path}");
    }
    assert_data_eq!(
        world.ok(&["sync", "--delete", ":/a", ":/b"]),
        str![[r#"
copy 0 files, 0 B; 3 unchanged

"#]]
    );
}

#[test]
fn a_new_copy_has_every_description() {
    for world in World::both() {
        mirrored(&world);
        assert!(described(&world, "/b").contains("wells"));
        assert_mirrored(&world);
    }
}

#[test]
fn a_change_of_the_description_alone_is_copied() {
    for world in World::both() {
        mirrored(&world);
        for path in ["/a", "/a/sub", "/a/link"] {
            world.ok(&["meta", "set", path, "topic", "caves"]);
        }
        world.ok(&["meta", "add", "/b/sub/x", "only", "in the copy"]);
        world.ok(&["meta", "set", "/a/y", "depth", "12", "ft"]);
        assert_data_eq!(
            world.ok(&["sync", "--dry-run", ":/a", ":/b"]),
            str![[r#"
would describe /b
would describe /b/link
would describe /b/sub
would describe /b/sub/x
would describe /b/y
would copy 0 files, 0 B; 5 described

"#]]
        );
        assert!(described(&world, "/b").contains("wells"), "a dry run does nothing");
        let lines = world.ok(&["--json", "sync", "--jobs", "1", ":/a", ":/b"]);
        assert_data_eq!(
            lines,
            str![[r#"
{"action":"describe","path":"/b","size":null,"dry_run":false}
{"action":"describe","path":"/b/link","size":null,"dry_run":false}
{"action":"describe","path":"/b/sub","size":null,"dry_run":false}
{"action":"describe","path":"/b/sub/x","size":null,"dry_run":false}
{"action":"describe","path":"/b/y","size":null,"dry_run":false}
{"action":"summary","transferred":0,"bytes":0,"updated":0,"described":5,"removed":0,"unchanged":0,"failed":0,"dry_run":false}

"#]]
        );
        assert_mirrored(&world);
    }
}

#[test]
fn a_removed_description_is_removed_from_the_copy() {
    for world in World::both() {
        mirrored(&world);
        world.ok(&["meta", "rm", "/a/sub", "topic", "wells"]);
        world.ok(&["meta", "rm", "/a/y", "depth", "12", "m"]);
        assert!(world.ok(&["sync", ":/a", ":/b"]).contains("2 described"));
        assert_mirrored(&world);
    }
}

#[test]
fn the_whole_graph_is_copied_and_access_is_unchanged() {
    for world in World::both() {
        mirrored(&world);
        let triples = "<> <http://x/has> _:part . _:part <http://x/is> \"old\"@en, <> .";
        world.file("graph.nt", triples);
        world.ok(&["meta", "graph", "--replace", "graph.nt", "/a/sub"]);
        world.ok(&["acl", "set", "/a/y", "public=read"]);
        let lists = world.ok(&["--json", "acl", "show", "/b/y"]);
        world.ok(&["sync", ":/a", ":/b"]);
        assert_eq!(world.ok(&["--json", "acl", "show", "/b/y"]), lists);
        let [here, there] = ["/a/sub", "/b/sub"].map(|path| world.ok(&["meta", "graph", path]));
        assert_eq!((here.lines().count(), here), (3, there));
        assert_mirrored(&world);
    }
}

#[test]
fn a_changed_mode_and_description_are_one_change() {
    let world = World::local();
    mirrored(&world);
    let mode = std::fs::Permissions::from_mode(0o600);
    std::fs::set_permissions(world.path("a/y"), mode).unwrap();
    world.ok(&["put", "-r", "a", ":/a"]);
    assert!(world.ok(&["sync", "--dry-run", ":/a", ":/b"]).contains("would update /b/y\n"));
    world.ok(&["meta", "set", "/a/y", "depth", "13"]);
    assert!(world.ok(&["sync", ":/a", ":/b"]).contains("; 1 described; 2 unchanged"));
    assert!(world.ok(&["--json", "stat", "/b/y"]).contains("\"mode\":384"));
    assert_mirrored(&world);
}

#[test]
fn excluded_resources_keep_their_descriptions() {
    let world = World::local();
    mirrored(&world);
    for path in ["/a/sub/x", "/a/y"] {
        world.ok(&["meta", "set", path, "topic", "caves"]);
    }
    world.ok(&["sync", "--exclude", "sub/", ":/a", ":/b"]);
    assert!(described(&world, "/b/sub/x").contains("wells"));
    assert!(described(&world, "/b/y").contains("caves"));
    // As after an interruption: completed work is not repeated.
    assert!(world.ok(&["sync", ":/a", ":/b"]).contains("; 1 described; 2 unchanged"));
    assert_mirrored(&world);
}

/// Many objects with other modes than their copies, with paths so long that the output about them
/// does not fit into a pipe.
fn many_to_update(world: &World) -> Vec<String> {
    let top = "t".repeat(240);
    let names: Vec<_> = (0..400).map(|n| format!("{top}/{n:03}{}", "n".repeat(237))).collect();
    names.iter().for_each(|name| drop(world.file(&format!("many/{name}"), "")));
    world.ok(&["put", "-r", "many", ":/many"]);
    world.ok(&["sync", ":/many", ":/copy"]);
    for name in &names {
        let mode = std::fs::Permissions::from_mode(0o600);
        std::fs::set_permissions(world.path(&format!("many/{name}")), mode).unwrap();
    }
    world.ok(&["put", "-r", "many", ":/many"]);
    names
}

#[test]
fn concurrent_changes_of_descriptions_are_left_to_the_next_run() {
    let world = World::served();
    let names = many_to_update(&world);
    let mut sync = world.command(&["--json", "sync", "--jobs", "1", ":/many", ":/copy"]);
    let mut sync = sync.stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap();
    // It has started, and blocks as soon as the pipe is full.
    let mut stdout = sync.stdout.take().unwrap();
    stdout.read_exact(&mut [0]).unwrap();
    let last = format!("/copy/{}", names[399]);
    world.ok(&["meta", "set", &last, "seen", "by somebody"]);
    let rest = std::thread::spawn(move || std::io::copy(&mut stdout, &mut std::io::sink()));
    let output = sync.wait_with_output().unwrap();
    rest.join().unwrap().unwrap();
    assert_eq!(output.status.code(), Some(11));
    assert!(String::from_utf8(output.stderr).unwrap().contains("it has changed"));
    assert!(described(&world, &last).contains("by somebody"));
    assert!(world.ok(&["sync", ":/many", ":/copy"]).contains("; 1 described; 399 unchanged"));
}

#[test]
fn an_interrupted_run_is_continued() {
    let world = World::served();
    many_to_update(&world);
    let mut sync = world.command(&["--json", "sync", "--jobs", "1", ":/many", ":/copy"]);
    let mut sync = sync.stdout(Stdio::piped()).spawn().unwrap();
    sync.stdout.take().unwrap().read_exact(&mut [0]).unwrap();
    sync.kill().unwrap();
    sync.wait().unwrap();
    let dry = world.ok(&["sync", "--dry-run", ":/many", ":/copy"]);
    let (left, total) = (dry.lines().filter(|line| line.contains("would update")).count(), 400);
    assert!(left > 0 && left < total, "{left}");
    let done = world.ok(&["sync", ":/many", ":/copy"]);
    assert!(done.contains(&format!("; {left} updated; {} unchanged", total - left)), "{done}");
    assert!(world.ok(&["sync", ":/many", ":/copy"]).contains("; 400 unchanged"));
}

#[test]
fn a_resource_that_is_a_description_only_is_mirrored() {
    let world = World::served();
    world.file("a/x", "1");
    world.ok(&["put", "-r", "a", ":/a"]);
    world.create_description("/a/sample");
    world.ok(&["meta", "set", "/a/sample", "species", "olm"]);
    world.ok(&["sync", ":/a", ":/b"]);
    assert!(described(&world, "/b/sample").contains("olm"));
    world.ok(&["meta", "set", "/a/sample", "species", "axolotl"]);
    assert!(world.ok(&["sync", ":/a", ":/b"]).contains("; 1 described; 1 unchanged"));
    // Files have no descriptions: syncing with a directory neither copies nor removes them.
    world.ok(&["sync", "--delete", ":/b", "here"]);
    assert!(world.ok(&["sync", "--delete", "here", ":/b"]).contains("; 1 unchanged"));
    assert!(described(&world, "/b/sample").contains("axolotl"));
    world.ok(&["rm", "/a/sample"]);
    assert!(world.ok(&["sync", "--delete", ":/a", ":/b"]).contains("; 1 removed"));
}

#[test]
fn unchanged_resources_need_no_requests_of_their_own() {
    let world = World::served();
    (0..50).for_each(|n| drop(world.file(&format!("many/{}/{n}", n / 5), "1")));
    world.ok(&["put", "-r", "many", ":/many"]);
    world.ok(&["meta", "set", "/many/*/*", "topic", "wells"]);
    world.ok(&["sync", ":/many", ":/copy"]);
    let before = world.requests();
    assert!(world.ok(&["sync", ":/many", ":/copy"]).contains("; 50 unchanged"));
    // A stat and a walk of each side, and the request that reads the counter.
    assert_eq!(world.requests() - before, 5);
}
