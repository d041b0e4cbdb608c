//! Media types, as shown and set by the program.

use crate::world::World;

/// The line of the media type.
fn shown(world: &World, path: &str) -> String {
    let stat = world.ok(&["stat", path]);
    let line = stat.lines().find_map(|line| line.strip_prefix("type "));
    line.unwrap_or_default().trim().to_owned()
}

#[test]
fn stat_shows_whether_a_media_type_was_set_or_guessed() {
    for world in World::both() {
        world.file("a.csv", "a,b\n");
        world.ok(&["put", "a.csv", ":/a.csv"]);
        assert_eq!(shown(&world, "/a.csv"), "text/csv (guessed)");
        world.ok(&["put", "--type", "text/x", "a.csv", ":/a.csv"]);
        assert_eq!(shown(&world, "/a.csv"), "text/x");
        world.ok(&["put", "a.csv", ":/a.csv"]);
        assert_eq!(shown(&world, "/a.csv"), "text/x", "what was said stays");
        world.file("noise", [0, 1, 2, 3]);
        world.ok(&["put", "noise", ":/noise"]);
        assert_eq!(shown(&world, "/noise"), "");
    }
}

#[test]
fn uploaded_trees_have_guessed_types_and_sync_compares_only_explicit_ones() {
    let world = World::local();
    world.file("t/a.csv", "a,b\n");
    world.file("t/b.md", "# b\n");
    world.ok(&["put", "-r", "t", ":/t"]);
    assert_eq!(shown(&world, "/t/b.md"), "text/markdown (guessed)");
    // The same bytes, which had another name when the guess was made.
    world.ok(&["put", "t/a.csv", ":/u/words"]);
    world.ok(&["mv", ":/u/words", ":/u/a.csv"]);
    assert_eq!(shown(&world, "/u/a.csv"), "text/plain (guessed)");
    world.ok(&["sync", ":/t", ":/u"]);
    assert_eq!(shown(&world, "/u/a.csv"), "text/plain (guessed)");
    world.ok(&["put", "--type", "text/x", "t/a.csv", ":/t/a.csv"]);
    world.ok(&["sync", ":/t", ":/u"]);
    assert_eq!(shown(&world, "/u/a.csv"), "text/x");
}
