//! `cenote export ocfl` and `cenote import ocfl`.

mod foreign;
mod random;
mod refused;
mod round;

use cenote_ocfl::{Object, Root};

use crate::world::World;

/// The resources of a world below `/lab`: their kinds and names, statements and versions, without what differs between
/// stores.
fn everything(world: &World, collection: &str) -> String {
    let mut all = String::new();
    let listed = world.ok(&["--json", "ls", "-r", collection]);
    let mut paths = vec![collection.to_owned()];
    for line in listed.lines() {
        let item: serde_json::Value = serde_json::from_str(line).unwrap();
        let (path, kind) = (item["path"].as_str().unwrap(), &item["kind"]);
        let below = &path[collection.len()..];
        all += &format!("{below} {kind} {} {} {}\n", item["sha256"], item["target"], item["mode"]);
        paths.push(path.to_owned());
    }
    for path in paths {
        let shown = world.ok(&["--json", "meta", "show", &path]).replace(collection, "");
        let mut lines: Vec<_> = shown.lines().collect();
        lines.sort_unstable();
        all += &format!("{} {lines:?}\n", &path[collection.len()..]);
    }
    all
}

/// The times and labels of the versions of a resource, the earliest first.
fn history(world: &World, path: &str) -> Vec<(String, String)> {
    let listed = world.ok(&["--json", "versions", "ls", "--by-time", path]);
    let versions = listed.lines().map(|line| {
        let version: serde_json::Value = serde_json::from_str(line).unwrap();
        (version["time"].to_string(), version["label"].to_string())
    });
    let mut versions: Vec<_> = versions.collect();
    versions.reverse();
    versions
}

/// Checks every object below a directory beside a world; returns their number.
fn objects(world: &World, directory: &str) -> Vec<Object> {
    let root = Root::open(&world.path(directory)).unwrap();
    let open = |directory: &std::path::PathBuf| {
        let object = Object::open(directory).unwrap();
        object.check().unwrap();
        object
    };
    root.objects().unwrap().iter().map(open).collect()
}

/// A store with resources of each kind, and histories.
fn lab(world: &World) {
    world.ok(&["mkdir", "-p", "/lab/a sample"]);
    world.ok(&["versions", "policy", "/lab", "on-request"]);
    world.file("raw.dat", "one");
    world.ok(&["put", "raw.dat", ":/lab/a sample/raw.dat"]);
    world.ok(&["meta", "add", "/lab/a sample/raw.dat", "temperature", "300", "K"]);
    world.ok(&[
        "versions",
        "keep",
        "/lab/a sample/raw.dat",
        "--label",
        "first",
        "--time",
        "2020-01-02T03:04:05Z",
    ]);
    world.file("raw.dat", "the second");
    world.ok(&["put", "raw.dat", ":/lab/a sample/raw.dat"]);
    world.ok(&["meta", "add", "/lab/a sample", "http://purl.org/dc/terms/title", "Échantillon"]);
    world.ok(&["versions", "keep", "/lab/a sample", "--label", "titled"]);
    world.ok(&["meta", "add", "/lab/a sample", "http://purl.org/dc/terms/title", "More"]);
    world.file(".fcrepo", "a name that objects have");
    world.ok(&["put", ".fcrepo", ":/lab/.fcrepo"]);
}
