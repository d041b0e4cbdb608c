//! `cenote backup`: of a directory and through a server, verified and restored.

use crate::backing::Outside;
use crate::engines::{answers, furnished};
use crate::world::World;

/// A copy of the world's program and files on another store.
fn on(world: &World, store: &str, arguments: &[&str]) -> String {
    world.ok(&[&["--store", store], arguments].concat())
}

fn names(world: &World) -> Vec<String> {
    let listed = world.ok(&["backup", "ls", "--json", "backups"]);
    listed.lines().map(|line| line.split('"').nth(3).unwrap().to_owned()).collect()
}

#[test]
fn a_store_is_backed_up_and_restored_as_it_was() {
    for world in World::both() {
        furnished(&world);
        let expected = on(&world, world.url(), &["ls", "-l", "--json", "/lab"]);
        let stdout = world.ok(&["backup", "create", "backups"]);
        assert!(stdout.contains("1 contents (20.00 MiB)"), "{stdout}");
        assert!(world.ok(&["backup", "verify", "backups"]).contains("1 backups are whole"));
        world.ok(&["backup", "restore", "backups", "new", "--read-back"]);
        let stored = |arguments: &[&str]| on(&world, "new", arguments);
        assert_eq!(stored(&["ls", "-l", "--json", "/lab"]), expected);
        assert_eq!(stored(&["check"]), "no differences found\n");
        assert_eq!(stored(&["find", "/", "--meta", "topic=engines"]), "/lab/large\n");
        assert!(stored(&["trash", "ls"]).contains("/lab/gone"));
        // Both go on, each for itself.
        stored(&["put", "tree/small", ":/lab/in the new one"]);
        world.ok(&["put", "tree/small", ":/lab/in the old one"]);
    }
}

#[test]
fn a_further_backup_brings_what_is_new_only_and_each_is_restored_by_its_name() {
    let world = World::served();
    furnished(&world);
    world.ok(&["backup", "create", "backups"]);
    world.file("tree/other", [7; 100_000]);
    world.ok(&["put", "tree/other", ":/lab/other"]);
    let stdout = world.ok(&["backup", "create", "backups", "--json"]);
    assert!(stdout.contains("\"contents\":1") && stdout.contains("\"present\":1"), "{stdout}");
    let found = names(&world);
    assert_eq!(found.len(), 2);
    world.ok(&["backup", "restore", "backups", "first", "--at", &found[0]]);
    world.ok(&["backup", "restore", "backups", "second"]);
    assert!(!on(&world, "first", &["ls", "/lab"]).contains("other"));
    assert!(on(&world, "second", &["ls", "/lab"]).contains("other"));
    world.ok(&["backup", "create", "backups", "--keep", "1"]);
    assert_eq!(names(&world).len(), 1);
    assert!(world.ok(&["backup", "verify", "backups"]).contains("are whole"));
}

#[test]
fn a_backup_is_restored_to_a_database_and_a_bucket() {
    let Some(outside) = Outside::start() else { return };
    let world = outside.world();
    assert!(world.init(&[]).status.success());
    furnished(&world);
    let expected = answers(&world);
    world.ok(&["backup", "create", "backups"]);
    std::fs::remove_dir_all(world.path("store")).unwrap();
    world.ok(&[&["backup", "restore", "backups", "store"][..], &outside.flags()].concat());
    assert_eq!(answers(&world), expected);
    assert_eq!(world.ok(&["check"]), "no differences found\n");
    // And from there, through a server.
    let world = world.serve(&[]);
    world.ok(&["backup", "create", "again"]);
    assert!(world.ok(&["backup", "verify", "again"]).contains("are whole"));
}

#[test]
fn damage_of_a_backup_is_reported_and_mended_by_the_next() {
    let world = World::local();
    furnished(&world);
    world.ok(&["backup", "create", "backups"]);
    let blobs = world.path("backups/contents/blobs");
    let fans = std::fs::read_dir(blobs).unwrap().flatten();
    let mut files = fans.flat_map(|fan| std::fs::read_dir(fan.path()).unwrap().flatten());
    std::fs::write(files.next().unwrap().path(), b"rot").unwrap();
    let verified = world.run(&["backup", "verify", "backups"]);
    let stderr = String::from_utf8(verified.stderr).unwrap();
    assert_eq!(verified.status.code(), Some(12), "{stderr}");
    assert!(stderr.contains("1 parts of the backups are damaged or missing"), "{stderr}");
    assert_eq!(verified.stdout.iter().filter(|byte| **byte == b'\n').count(), 1);
    let (code, _) = world.refused(&["backup", "restore", "backups", "new"]);
    assert_eq!(code, 8);
    assert!(!world.path("new/store.toml").exists());
    let removed = world.run(&["backup", "verify", "backups", "--remove-damaged"]);
    assert_eq!(removed.status.code(), Some(12));
    world.ok(&["backup", "create", "backups"]);
    world.ok(&["backup", "verify", "backups"]);
    world.ok(&["backup", "restore", "backups", "new"]);
    assert_eq!(on(&world, "new", &["check"]), "no differences found\n");
}

#[test]
fn backups_are_refused_where_they_cannot_be() {
    let world = World::served();
    world.file("full/of/something", b"else");
    assert_eq!(world.refused(&["backup", "create", "full"]).0, 4);
    assert_eq!(world.refused(&["backup", "ls", "full"]).0, 3);
    assert_eq!(world.refused(&["backup", "restore", "full", "new"]).0, 3);
    world.ok(&["backup", "create", "backups"]);
    let (code, stderr) = world.refused(&["backup", "restore", "backups", "new", "--at", "never"]);
    assert!(code == 3 && stderr.contains("cenote backup ls"), "{stderr}");
    assert_eq!(world.refused(&["backup", "restore", "backups", "store"]).0, 4);
    let (code, stderr) = world.refused(&["--user", "nobody", "backup", "create", "backups"]);
    assert!(code == 6 || code == 5, "{code} {stderr}");
}

#[test]
fn a_directory_without_a_finished_backup_is_not_verified() {
    let world = World::served();
    world.refused(&["--user", "nobody", "backup", "create", "backups"]);
    let (code, stderr) = world.refused(&["backup", "verify", "backups"]);
    assert!(code == 3 && stderr.contains("no backup is finished"), "{stderr}");
}
