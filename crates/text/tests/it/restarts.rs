//! What an index finds in its directory, and what it makes of it.

use std::fs;

use cenote_store::TextLead;
use cenote_text::TextIndex;

use super::world::World;

fn planted() -> World {
    let world = World::new();
    for name in ["/one", "/two", "/three"] {
        world.mkdir(name).unwrap();
        world.describe(name, &[&format!("text of {}", &name[1..])]).unwrap();
    }
    world
}

/// The marks of what two indices return: how far each was made.
fn mark(world: &World, index: &TextIndex) -> String {
    index.lead(&world.store, &|| true).unwrap().mark().to_string()
}

#[test]
fn an_index_goes_on_after_a_restart() {
    let (world, dir) = (planted(), tempfile::tempdir().unwrap());
    let open = || TextIndex::in_directory(dir.path().join("text"));
    let before = mark(&world, &open());
    world.mkdir("/four").unwrap();
    let index = open();
    assert_eq!(world.led(&index, &world.admin, "four"), ["/four"]);
    assert_eq!(mark(&world, &index), before, "so few changes are looked at one by one");
    for n in 0..300 {
        world.mkdir(&format!("/later {n}")).unwrap();
    }
    assert_eq!(world.led(&index, &world.admin, "later").len(), 300);
    let after = mark(&world, &index);
    assert_ne!(after, before, "many are put into the index");
    drop(index);
    assert_eq!(mark(&world, &open()), after);
}

#[test]
fn a_deleted_or_damaged_index_is_made_anew() {
    let (world, dir) = (planted(), tempfile::tempdir().unwrap());
    let text = dir.path().join("text");
    let open = || TextIndex::in_directory(&text);
    assert_eq!(world.led(&open(), &world.admin, "text of one"), ["/one"]);
    let files: Vec<_> = fs::read_dir(&text).unwrap().map(|file| file.unwrap().path()).collect();
    assert!(files.len() > 3);
    for file in files {
        for bytes in [&b""[..], b"something else"] {
            // Each time the names are new, but for those of the lists of files.
            if file.exists() {
                fs::write(&file, bytes).unwrap();
            }
            assert_eq!(world.led(&open(), &world.admin, "text of one"), ["/one"], "{file:?}");
        }
    }
    fs::remove_dir_all(&text).unwrap();
    assert_eq!(world.led(&open(), &world.admin, "text"), ["/one", "/three", "/two"]);
}

#[test]
fn files_of_others_are_replaced() {
    let (world, dir) = (planted(), tempfile::tempdir().unwrap());
    fs::write(dir.path().join("meta.json"), "{}").unwrap();
    let index = TextIndex::in_directory(dir.path());
    assert_eq!(world.led(&index, &world.admin, "two"), ["/two"]);
}

/// The catalog is replaced by an earlier copy, which then has as many changes as before, but others.
#[test]
fn an_index_of_another_history_is_made_anew() {
    let (mut world, dir) = (planted(), tempfile::tempdir().unwrap());
    let earlier = world.engine.fork();
    world.mkdir("/lost").unwrap();
    let open = || TextIndex::in_directory(dir.path().join("text"));
    assert_eq!(world.led(&open(), &world.admin, "lost"), ["/lost"]);
    world.engine = earlier;
    world.store = World::open(&world.engine);
    world.mkdir("/found").unwrap();
    world.mkdir("/later").unwrap();
    let index = open();
    assert_eq!(world.led(&index, &world.admin, "found"), ["/found"]);
    assert!(world.led(&index, &world.admin, "lost").is_empty());
}

#[test]
fn an_index_is_made_anew_when_changes_since_are_no_longer_kept() {
    let (world, dir) = (planted(), tempfile::tempdir().unwrap());
    let open = || TextIndex::in_directory(dir.path().join("text"));
    let before = mark(&world, &open());
    world.mkdir("/four").unwrap();
    world.mkdir("/five").unwrap();
    world.store.trim_changes(world.store.now().plus(std::time::Duration::from_secs(1))).unwrap();
    let index = open();
    assert_ne!(mark(&world, &index), before);
    assert_eq!(world.led(&index, &world.admin, "four"), ["/four"]);
}
