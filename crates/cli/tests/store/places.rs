//! Places and replicas.

use crate::world::World;

#[test]
fn contents_are_replicated_trimmed_and_moved_off_a_place() {
    for world in World::both_with_vaults() {
        let address = format!("file://{}", world.path("vault").display());
        let added = world.ok(&["place", "add", "vault", &address]);
        assert!(added.contains("name=vault") && added.contains("state=up"), "{added}");
        world.file("a.txt", "abc");
        world.ok(&["put", "a.txt", ":/lab/a.txt"]);
        world.ok(&["put", "--place", "vault", "a.txt", ":/lab/b.txt"]);
        assert!(world.ok(&["replicate", "/lab/b.txt"]).contains("place=vault"));
        assert_eq!(
            world.ok(&["replicate", "-n", "--to", "vault", "/lab/a.txt"]),
            "would replicate /lab/a.txt to vault\n"
        );
        assert_eq!(
            world.ok(&["replicate", "-r", "--to", "vault", "/lab"]),
            "replicate: 2 done, 0 failed\n"
        );
        assert_eq!(
            world.ok(&["trim", "-n", "--place", "main", "/lab/a.txt"]),
            "would remove replica 0 of /lab/a.txt\n"
        );
        assert_eq!(
            world.ok(&["trim", "--replica", "0", "/lab/a.txt"]),
            "removed replica 0 of /lab/a.txt\n"
        );
        let last = world.run(&["trim", "--replica", "1", "/lab/a.txt"]);
        assert!(!last.status.success());
        let full = world.run(&["place", "rm", "vault"]);
        assert!(String::from_utf8_lossy(&full.stderr).contains("cenote place drain"), "{full:?}");
        let would = world.ok(&["place", "drain", "-n", "vault"]);
        assert_eq!(would, "would drain vault: 2 stored contents, 6 bytes\n");
        assert_eq!(world.ok(&["place", "drain", "vault"]), "drain: 2 done, 0 failed\n");
        assert_eq!(world.ok(&["place", "rm", "vault"]), "remove vault: done\n");
        assert_eq!(world.ok(&["cat", ":/lab/a.txt"]), "abc");
        assert!(!world.ok(&["place", "ls"]).contains("vault"));
        let json = world.ok(&["--json", "place", "ls"]);
        let place: serde_json::Value = serde_json::from_str(json.trim()).unwrap();
        assert_eq!((&place["name"], &place["default"]), (&"main".into(), &true.into()));
    }
}

#[test]
fn a_group_can_be_the_default_for_new_contents() {
    let world = World::local();
    for name in ["one", "two"] {
        let address = format!("file://{}", world.path(name).display());
        world.ok(&["place", "add", name, &address]);
    }
    world.ok(&["place", "add", "pair"]);
    for name in ["one", "two"] {
        assert!(world.ok(&["place", "set", name, "--into", "pair"]).contains("group=pair"));
    }
    world.ok(&["place", "set", "pair", "--default"]);
    world.file("big", vec![7; 100_000]);
    world.ok(&["put", "big", ":/big"]);
    let replicas = world.ok(&["replicate", "/big"]);
    assert!(replicas.contains("place=one") && replicas.contains("place=two"), "{replicas}");
    world.ok(&["place", "set", "one", "--down"]);
    assert_eq!(world.ok(&["cat", ":/big"]).len(), 100_000);
}

#[test]
fn trees_are_stored_in_the_given_place() {
    for world in World::both_with_vaults() {
        let address = format!("file://{}", world.path("vault").display());
        world.ok(&["place", "add", "vault", &address]);
        world.file("t/small", "abc");
        world.file("t/middle", vec![7; 300_000]);
        world.ok(&["put", "-r", "--place", "vault", "t", ":/put"]);
        world.ok(&["sync", "--place", "vault", "t", ":/synced"]);
        for path in ["/put/small", "/put/middle", "/synced/small", "/synced/middle"] {
            let replicas = world.ok(&["replicate", path]);
            assert!(replicas.contains("place=vault"), "{path}: {replicas}");
        }
        let (code, stderr) = world.refused(&["sync", "--place", "vault", ":/put", "t"]);
        assert_eq!(code, 2, "{stderr}");
        let lost = world.run(&["put", "-r", "--place", "nowhere", "t", ":/new"]);
        assert_eq!(lost.status.code(), Some(11));
        assert!(String::from_utf8_lossy(&lost.stderr).contains("nowhere"), "{lost:?}");
    }
}

#[test]
fn a_file_is_registered_in_place_if_the_store_may_read_it() {
    for local in [true, false] {
        let world = World::local();
        world.file("data/seen", "hello");
        world.file("data/more", "more");
        let (_, stderr) = world.refused(&["register", "data/seen", ":/o"]);
        assert!(stderr.contains("register"), "{stderr}");
        world.may_register("data");
        let world = if local { world } else { world.serve(&[]) };
        let seen = world.path("data/seen");
        let would = world.ok(&["register", "-n", "data/seen", ":/o"]);
        assert_eq!(would, format!("would register {} as /o\n", seen.display()));
        let done = world.ok(&["register", "data/seen", ":/o"]);
        assert_eq!(done, format!("registered {} as /o\n", seen.display()));
        assert_eq!(world.ok(&["cat", ":/o"]), "hello");
        let (code, stderr) = world.refused(&["register", "data/more", ":/o"]);
        assert_eq!(code, 7, "{stderr}");
        world.ok(&["register", "--replace", "data/more", ":/o"]);
        assert_eq!(world.ok(&["cat", ":/o"]), "more");
        world.ok(&["rm", ":/o"]);
        assert!(seen.exists() && world.path("data/more").exists());
        let (code, stderr) = world.refused(&["register", "--place", "none", "data/seen", ":/o"]);
        assert_eq!(code, 3, "{stderr}");
    }
}

#[test]
fn a_place_is_added_over_http_only_in_allowed_directories() {
    let world = World::served();
    for address in [format!("file://{}", world.path("vault").display()), "file:///etc".into()] {
        let (code, stderr) = world.refused(&["place", "add", "vault", &address]);
        assert_eq!(code, 5, "{stderr}");
        assert!(stderr.contains("`vaults`"), "{stderr}");
    }
    assert!(!world.path("vault").exists());
}
