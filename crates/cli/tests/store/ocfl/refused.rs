//! Invalid roots are refused, and nothing of them is imported.

use std::fs;

use super::foreign::{header, object};
use crate::world::World;

/// The exit code and the output of an import; nothing may have been created.
fn refused(world: &World) -> (i32, String) {
    let (code, stderr) = world.refused(&["import", "ocfl", "archive", "/kept"]);
    assert_eq!(world.ok(&["ls", "-r", "/kept"]), "", "{stderr}");
    (code, stderr)
}

#[test]
fn one_invalid_object_makes_the_import_fail() {
    let world = World::local();
    object(&world, "urn:good", &[(100, "", &[("f", "good")])]);
    object(&world, "urn:bad", &[(100, "", &[("f", "fine")])]);
    let root = cenote_ocfl::Root::open(&world.path("archive")).unwrap();
    fs::write(root.place("urn:bad").unwrap().join("v1/content/f"), "evil").unwrap();
    let (code, stderr) = refused(&world);
    assert_eq!(code, 8);
    assert!(stderr.contains("E092") && stderr.contains("nothing was imported"), "{stderr}");
    assert!(stderr.contains("1 objects are not valid"), "{stderr}");
}

#[test]
fn a_directory_that_is_not_a_root_is_refused_for_import_and_export() {
    let world = World::local();
    world.ok(&["mkdir", "/lab"]);
    world.file("precious/notes", "mine");
    for arguments in
        [["export", "ocfl", "/lab", "precious"], ["import", "ocfl", "precious", "/lab"]]
    {
        let (code, stderr) = world.refused(&arguments);
        assert_eq!(code, 2, "{stderr}");
        assert!(stderr.contains("storage root") && stderr.contains("hint"), "{stderr}");
    }
    assert_eq!(fs::read_dir(world.path("precious")).unwrap().count(), 1);
    assert_eq!(world.refused(&["export", "ocfl", "/missing", "archive"]).0, 3);
}

#[test]
fn ids_outside_the_root_are_skipped() {
    let world = World::local();
    world.ok(&["mkdir", "/secret"]);
    let basic = "http://www.w3.org/ns/ldp#BasicContainer";
    for id in [
        "info:fedora/../secret/x",
        "info:fedora/a%2F..%2F..%2Fsecret",
        "info:fedora//x",
        "info:fedoraX",
    ] {
        let text = header(id, basic, "fcr-container.nt");
        let files = [(".fcrepo/fcr-root.json", text.as_str()), ("fcr-container.nt", "")];
        object(&world, id, &[(100, "", &files)]);
    }
    object(&world, "..", &[(100, "", &[("f", "up")])]);
    let run = world.run(&["import", "ocfl", "archive", "/kept"]);
    let stderr = String::from_utf8(run.stderr).unwrap();
    assert_eq!(stderr.matches("does not name a resource").count(), 4, "{stderr}");
    assert_eq!(world.ok(&["ls", "/secret"]), "");
    assert_eq!(world.ok(&["cat", "/kept/%2E%2E/f"]), "up");
}

#[test]
fn unreadable_graphs_and_headers_fail_individually() {
    let world = World::local();
    let basic = "http://www.w3.org/ns/ldp#BasicContainer";
    let text = header("info:fedora/x", basic, "fcr-container.nt");
    let files = [(".fcrepo/fcr-root.json", text.as_str()), ("fcr-container.nt", "not a graph")];
    object(&world, "info:fedora/x", &[(100, "", &files)]);
    object(&world, "urn:good", &[(100, "", &[("f", "good")])]);
    let run = world.run(&["import", "ocfl", "archive", "/kept"]);
    assert_eq!(run.status.code(), Some(11), "{run:?}");
    assert_eq!(world.ok(&["cat", "/kept/urn:good/f"]), "good");
    let world = World::local();
    object(&world, "info:fedora/y", &[(100, "", &[(".fcrepo/fcr-root.json", "[")])]);
    assert_eq!(refused(&world).0, 8);
}

#[cfg(unix)]
#[test]
fn links_in_a_root_are_not_followed() {
    let world = World::local();
    object(&world, "urn:x", &[(100, "", &[("f", "fine")])]);
    world.file("elsewhere", "fine");
    let root = cenote_ocfl::Root::open(&world.path("archive")).unwrap();
    let file = root.place("urn:x").unwrap().join("v1/content/f");
    fs::remove_file(&file).unwrap();
    std::os::unix::fs::symlink(world.path("elsewhere"), &file).unwrap();
    let (code, stderr) = refused(&world);
    assert!(code == 8 && stderr.contains("E090"), "{stderr}");
}
