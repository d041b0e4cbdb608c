//! `cenote find --text`.

use crate::world::World;

#[test]
fn words_are_found_at_once_and_with_other_conditions() {
    for world in World::both() {
        world.file("Run_7.dat", "bytes");
        world.ok(&["put", "Run_7.dat", ":/lab/Run_7.dat"]);
        world.ok(&["meta", "add", "/lab/Run_7.dat", "note", "Über the water box"]);
        let found = |arguments: &[&str]| world.ok(&[&["find"], arguments].concat());
        for words in ["run", "uber BOX", "\"water box\"", "wat*", "run_7.dat"] {
            assert_eq!(found(&["--text", words]), "/lab/Run_7.dat\n", "{words}");
        }
        assert_eq!(found(&["/lab", "-t", "box", "--name", "*.dat"]), "/lab/Run_7.dat\n");
        assert_eq!(found(&["--text", "box", "--kind", "collection"]), "");
        assert_eq!(found(&["--text", "\"box water\""]), "");
        world.ok(&["mv", "/lab/Run_7.dat", "/lab/second.dat"]);
        assert_eq!(found(&["--text", "run"]), "");
        assert_eq!(found(&["--text", "second"]), "/lab/second.dat\n");
        let json = world.ok(&["--json", "find", "--text", "second"]);
        assert!(json.contains("\"path\":\"/lab/second.dat\""), "{json}");
        let found = "SELECT ?x { ?x text:query 'second' }";
        assert_eq!(world.ok(&["sparql", found]), "cenote:/lab/second.dat\n");
        for wrong in ["", "...", "\"open", "a*"] {
            assert_eq!(world.refused(&["find", "--text", wrong]).0, 2, "{wrong}");
        }
    }
}

#[test]
fn words_of_the_past_are_found() {
    for world in World::both() {
        world.ok(&["versions", "policy", "/", "each-change"]);
        world.file("a", "bytes");
        world.ok(&["put", "a", ":/lab/a"]);
        world.ok(&["meta", "set", "/lab/a", "note", "red"]);
        let changes = world.ok(&["changes"]);
        let moment = changes.lines().last().unwrap().strip_prefix("next=").unwrap().to_owned();
        world.ok(&["meta", "set", "/lab/a", "note", "blue"]);
        assert_eq!(world.ok(&["find", "--text", "red"]), "");
        assert_eq!(world.ok(&["find", "--text", "red", "--as-of", &moment]), "/lab/a\n");
    }
}
