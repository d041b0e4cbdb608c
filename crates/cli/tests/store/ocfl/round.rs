//! Exported resources round-trip.

use cenote_client::VersionChange;

use super::{everything, history, lab, objects};
use crate::world::World;

#[test]
fn a_collection_round_trips_with_its_versions() {
    for world in World::both() {
        lab(&world);
        let exported = world.ok(&["export", "ocfl", "/lab", "archive"]);
        assert_eq!(exported, "exported 4 resources with 6 versions, 37 B\n");
        assert_eq!(objects(&world, "archive").len(), 4);
        let other = World::local();
        std::fs::rename(world.path("archive"), other.path("archive")).unwrap();
        let imported = other.ok(&["import", "ocfl", "archive", "/kept/here"]);
        assert_eq!(imported, "imported 3 resources with 5 versions, 37 B; 1 unchanged\n");
        assert_eq!(everything(&other, "/kept/here"), everything(&world, "/lab"));
        let file = "/a sample/raw.dat";
        let (now, was) = (
            history(&other, &format!("/kept/here{file}")),
            history(&world, &format!("/lab{file}")),
        );
        // The current state is a version, too: its time cannot be stored otherwise.
        assert_eq!(now[..1], was[..]);
        assert_eq!((now.len(), now[0].1.as_str()), (2, "\"first\""));
        let first = |path: &str| {
            let listed = other.ok(&["--json", "versions", "ls", "--by-time", path]);
            let last = listed.lines().last().unwrap();
            serde_json::from_str::<serde_json::Value>(last).unwrap()["version"].to_string()
        };
        let (sample, file) = ("/kept/here/a sample", "/kept/here/a sample/raw.dat");
        assert_eq!(other.ok(&["cat", "--version", &first(file), file]), "one");
        // The version has the description that was current at its time.
        let changed = other.ok(&["versions", "diff", sample, &first(sample)]);
        assert!(changed.contains("More") && !changed.contains("chantillon"), "{changed}");
        let checked = other.ok(&["import", "ocfl", "archive", "/kept/here", "--check"]);
        assert_eq!(checked, "4 are the same\n");
        // An export of what was imported has the same history.
        other.ok(&["export", "ocfl", "/kept/here", "again"]);
        let versions = |object: &cenote_ocfl::Object| object.inventory().versions.len();
        let count = |name| objects(&other, name).iter().map(versions).sum::<usize>();
        assert_eq!(count("again"), count("archive"));
    }
}

/// It takes a storage root of OCFL 1.0 in which each resource has a parent; the root is its own.
#[test]
fn an_export_has_what_fcrepo_requires() {
    let world = World::local();
    lab(&world);
    world.ok(&["export", "ocfl", "/lab", "archive"]);
    assert!(world.path("archive/0=ocfl_1.0").exists());
    for object in objects(&world, "archive") {
        let digest = &object.inventory().newest().state[".fcrepo/fcr-root.json"];
        let header = object.read(digest, 1 << 20).unwrap();
        let header: serde_json::Value = serde_json::from_slice(&header).unwrap();
        let [id, parent] = ["id", "parent"].map(|field| header[field].as_str().unwrap());
        let above = id.rsplit_once('/').map_or("info:fedora", |(above, _)| above);
        assert_eq!(parent, above);
    }
}

#[test]
fn existing_content_is_not_written_again() {
    let world = World::local();
    lab(&world);
    world.ok(&["export", "ocfl", "/lab", "archive"]);
    let again = world.ok(&["export", "ocfl", "/lab", "archive"]);
    assert_eq!(again, "exported 0 resources with 0 versions, 0 B; 4 unchanged\n");
    assert_eq!(world.ok(&["export", "ocfl", "/lab", "archive", "--check"]), "4 are the same\n");
    world.ok(&["import", "ocfl", "archive", "/kept"]);
    let again = world.ok(&["import", "ocfl", "archive", "/kept"]);
    assert_eq!(again, "imported 0 resources with 0 versions, 0 B; 4 unchanged\n");

    // What has changed is added to its object.
    world.file("raw.dat", "the third");
    world.ok(&["put", "raw.dat", ":/lab/a sample/raw.dat"]);
    world.ok(&["rm", "/lab/.fcrepo"]);
    let check = world.run(&["export", "ocfl", "/lab", "archive", "--check"]);
    assert_eq!(check.status.code(), Some(12), "{check:?}");
    let more = world.run(&["export", "ocfl", "/lab", "archive"]);
    let text = String::from_utf8(more.stdout).unwrap();
    assert_eq!(text, "exported 1 resources with 1 versions, 9 B; 2 unchanged; 1 left out\n");
    let check = world.run(&["import", "ocfl", "archive", "/kept", "--check"]);
    assert_eq!(check.status.code(), Some(12), "{check:?}");
    let more = world.ok(&["import", "ocfl", "archive", "/kept"]);
    assert!(more.starts_with("imported 1 resources with 1 versions, 9 B; 3 unchanged"), "{more}");
    assert_eq!(world.ok(&["cat", "/kept/a sample/raw.dat"]), "the third");
}

#[test]
fn an_interrupted_export_or_import_is_continued() {
    let world = World::local();
    lab(&world);
    world.ok(&["export", "ocfl", "/lab", "archive"]);
    // As if the run had been interrupted before one object, while writing another, and while moving a version into a
    // third one.
    let root = cenote_ocfl::Root::open(&world.path("archive")).unwrap();
    let place = |id| root.place(id).unwrap();
    std::fs::remove_dir_all(place("info:fedora/.fcrepo")).unwrap();
    world.file("archive/extensions/cenote-staging/object-1/v1/content/half", "half");
    let file = place("info:fedora/a%20sample/raw.dat");
    std::fs::remove_file(file.join("inventory.json.sha512")).unwrap();
    world.ok(&["export", "ocfl", "/lab", "archive"]);
    assert_eq!(objects(&world, "archive").len(), 4);
    assert!(!world.path("archive/extensions/cenote-staging").exists());

    // As if the import had been interrupted in the middle of a history.
    world.ok(&["import", "ocfl", "archive", "/kept"]);
    world.file("first", "one");
    world.ok(&["put", "first", ":/kept/a sample/raw.dat"]);
    world.ok(&["rm", "/kept/.fcrepo"]);
    world.ok(&["import", "ocfl", "archive", "/kept"]);
    assert_eq!(everything(&world, "/kept"), everything(&world, "/lab"));
}

#[test]
fn each_result_is_a_line_of_json() {
    let world = World::local();
    lab(&world);
    let lines = world.ok(&["--json", "export", "ocfl", "/lab", "archive"]);
    let lines: Vec<serde_json::Value> =
        lines.lines().map(|line| serde_json::from_str(line).unwrap()).collect();
    assert_eq!(lines.len(), 5, "{lines:?}");
    let ids: Vec<_> = lines.iter().map(|line| line["id"].as_str().unwrap_or_default()).collect();
    assert!(ids.contains(&"info:fedora/a%20sample/raw.dat") && ids.contains(&"info:fedora"));
    assert_eq!(lines[4]["versions"], 6);
}

#[test]
fn descriptions_links_and_classes_round_trip() {
    let world = World::served();
    world.ok(&["mkdir", "/lab"]);
    world.create_description("/lab/notes");
    world.ok(&["meta", "add", "/lab/notes", "author", "Ada"]);
    world.ok(&["mkdir", "/lab/members"]);
    let class = "http://www.w3.org/1999/02/22-rdf-syntax-ns#type";
    world.ok(&[
        "meta",
        "link",
        "/lab/members",
        "http://www.w3.org/ns/ldp#membershipResource",
        "/lab/notes",
    ]);
    let client = world.client();
    let graph = format!(
        "<> <{class}> <http://www.w3.org/ns/ldp#DirectContainer> .\n<> <urn:to> <cenote:/lab/notes> .\n<#part> <urn:n> _:b .\n_:b <urn:is> \"1\"@en .\n"
    );
    let runtime = tokio::runtime::Runtime::new().unwrap();
    runtime.block_on(client.set_graph(&"/lab/members".into(), graph.into())).unwrap();
    world.ok(&["export", "ocfl", "/lab", "archive"]);
    let objects = objects(&world, "archive");
    let members = objects.iter().find(|it| it.inventory().id == "info:fedora/members").unwrap();
    let read = |path: &str| {
        let digest = &members.inventory().newest().state[path];
        String::from_utf8(members.read(digest, 1 << 20).unwrap()).unwrap()
    };
    assert!(read(".fcrepo/fcr-root.json").contains("ldp#DirectContainer"));
    let graph = read("fcr-container.nt");
    assert!(graph.contains("<info:fedora/members> <urn:to> <info:fedora/notes> ."), "{graph}");
    assert!(!graph.contains("DirectContainer"), "{graph}");
    world.ok(&["import", "ocfl", "archive", "/kept"]);
    assert_eq!(world.ok(&["import", "ocfl", "archive", "/kept", "--check"]), "3 are the same\n");
    let graph = runtime.block_on(client.graph(&"/kept/members".into())).unwrap();
    let graph = String::from_utf8(graph.to_vec()).unwrap();
    assert!(graph.contains("<> <urn:to> <cenote:/kept/notes>"), "{graph}");
    assert!(graph.contains("DirectContainer") && graph.contains("<#part>"), "{graph}");
    assert!(world.ok(&["--json", "stat", "/kept/notes"]).contains("\"description\""));
}

/// Versions of a state that did not change, with and without labels, and with the same time.
fn keep_again(world: &World, path: &str, labels: &[Option<&str>]) {
    let (client, runtime) = (world.client(), tokio::runtime::Runtime::new().unwrap());
    for label in labels {
        let label = label.map(str::to_owned);
        let keep = VersionChange::Keep { label, time: None, another: true };
        runtime.block_on(client.change_versions(&path.into(), &keep)).unwrap();
    }
}

#[test]
fn versions_of_an_unchanged_state_round_trip() {
    let world = World::served();
    world.ok(&["mkdir", "-p", "/lab/box"]);
    world.ok(&["mkdir", "/lab/once"]);
    world.ok(&["versions", "policy", "/lab", "on-request"]);
    world.file("raw.dat", "one");
    for name in ["raw.dat", "once.dat", "never.dat"] {
        world.ok(&["put", "raw.dat", &format!(":/lab/{name}")]);
    }
    keep_again(&world, "/lab/box", &[None; 32]);
    let labelled = [Some("released"), Some("second"), None];
    keep_again(&world, "/lab/raw.dat", &labelled);
    keep_again(&world, "/lab/once.dat", &[None]);
    keep_again(&world, "/lab/once", &[Some("released")]);
    let exported = world.ok(&["export", "ocfl", "/lab", "archive"]);
    assert_eq!(exported, "exported 6 resources with 39 versions, 9 B\n");
    assert_eq!(world.ok(&["export", "ocfl", "/lab", "archive", "--check"]), "6 are the same\n");
    let imported = world.ok(&["import", "ocfl", "archive", "/kept"]);
    assert!(imported.contains(" 9 B"), "equal bytes are sent once: {imported}");
    for (name, count) in
        [("box", 32), ("raw.dat", 3), ("once.dat", 1), ("once", 1), ("never.dat", 0)]
    {
        let (was, now) =
            (history(&world, &format!("/lab/{name}")), history(&world, &format!("/kept/{name}")));
        assert_eq!((now.len(), now), (count, was), "{name}");
    }
    assert_eq!(everything(&world, "/kept"), everything(&world, "/lab"));
    let check = ["import", "ocfl", "archive", "/kept", "--check"];
    assert_eq!(world.ok(&check), "6 are the same\n");
    let again = world.ok(&["import", "ocfl", "archive", "/kept"]);
    assert_eq!(again, "imported 0 resources with 0 versions, 0 B; 6 unchanged\n");
}

#[test]
fn missing_versions_and_labels_are_differences() {
    let world = World::served();
    world.ok(&["mkdir", "-p", "/lab/box"]);
    world.ok(&["versions", "policy", "/lab", "on-request"]);
    keep_again(&world, "/lab/box", &[Some("released"), Some("second")]);
    world.ok(&["export", "ocfl", "/lab", "archive"]);
    world.ok(&["import", "ocfl", "archive", "/kept"]);
    let number = |label: &str| {
        let listed = world.ok(&["--json", "versions", "ls", "/kept/box"]);
        let mut versions =
            listed.lines().map(|line| serde_json::from_str::<serde_json::Value>(line).unwrap());
        versions.find(|it| it["label"] == label).unwrap()["version"].to_string()
    };
    let check = ["import", "ocfl", "archive", "/kept", "--check"];
    let (client, runtime) = (world.client(), tokio::runtime::Runtime::new().unwrap());
    let version = number("second").parse().unwrap();
    let unlabel = VersionChange::Label { version, label: None };
    runtime.block_on(client.change_versions(&"/kept/box".into(), &unlabel)).unwrap();
    let differs = |what: &str| {
        let run = world.run(&check);
        let stderr = String::from_utf8(run.stderr).unwrap();
        assert!(
            run.status.code() == Some(12) && stderr.contains(what),
            "{:?}: {stderr}",
            run.status
        );
    };
    differs("another label");
    world.ok(&["import", "ocfl", "archive", "/kept"]);
    assert_eq!(world.ok(&check), "2 are the same\n");
    world.ok(&["mv", "/kept/box", "/before"]);
    world.ok(&["mkdir", "/kept/box"]);
    differs("does not have 2 of its versions");
    world.ok(&["import", "ocfl", "archive", "/kept"]);
    assert_eq!(world.ok(&check), "2 are the same\n");
    assert_eq!(history(&world, "/kept/box").len(), 2);
}

/// A state may become a version after it was exported, and have other versions after that.
#[test]
fn a_state_that_became_a_version_later_is_one_version() {
    let world = World::served();
    world.ok(&["mkdir", "-p", "/lab/box"]);
    world.ok(&["versions", "policy", "/lab", "on-request"]);
    world.ok(&["export", "ocfl", "/lab", "archive"]);
    keep_again(&world, "/lab/box", &[Some("released")]);
    world.ok(&["export", "ocfl", "/lab", "archive"]);
    world.ok(&["import", "ocfl", "archive", "/kept"]);
    assert_eq!(history(&world, "/kept/box"), history(&world, "/lab/box"));
    assert_eq!(world.ok(&["export", "ocfl", "/lab", "archive", "--check"]), "2 are the same\n");
}
