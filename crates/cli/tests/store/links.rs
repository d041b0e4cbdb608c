//! Links in descriptions, and the requirements of collections.

use crate::world::World;

#[test]
fn a_dangling_link_is_kept_bound_late_or_refused_according_to_the_collection() {
    for world in World::both() {
        world.file("x", "x");
        for object in [":/lab/d", ":/lab/e"] {
            world.ok(&["put", "x", object]);
        }
        let set = |word: &str| world.ok(&["meta", "integrity", "/lab", word]);
        assert_eq!(set("strict"), "links below /lab: strict\n");
        let (code, stderr) = world.refused(&["meta", "link", "/lab/d", "cites", "/new"]);
        assert_eq!(code, 3, "{stderr}");
        assert!(stderr.contains("the target of the link does not exist: cenote:/new"), "{stderr}");
        assert!(stderr.contains("hint: create the target first"), "{stderr}");
        set("lenient");
        world.ok(&["meta", "link", "/lab/d", "cites", "/new"]);
        set("none");
        world.ok(&["meta", "link", "/lab/e", "cites", "/other"]);
        set("lenient");
        world.ok(&["put", "x", ":/new"]);
        world.ok(&["mv", "/new", "/moved"]);
        assert_eq!(world.ok(&["meta", "show", "/lab/d"]), "cites = cenote:/moved\n");
        assert_eq!(world.ok(&["meta", "links", "/moved"]), "/lab/d  cites\n");
        assert!(world.ok(&["--json", "stat", "/lab"]).contains("\"link_integrity\":\"lenient\""));
        assert_eq!(world.refused(&["meta", "integrity", "/lab", "loose"]).0, 2);
    }
}
