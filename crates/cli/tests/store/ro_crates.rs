//! `cenote export ro-crate` and `cenote import ro-crate`.

use std::fs;

use serde_json::{Value, json};

use crate::world::World;

fn lab(world: &World) {
    world.ok(&["mkdir", "-p", "/lab/a sample/empty"]);
    world.file("raw.txt", "three");
    world.ok(&["put", "raw.txt", ":/lab/a sample/raw.txt"]);
    world.ok(&["meta", "add", "/lab/a sample/raw.txt", "temperature", "300", "K"]);
    world.ok(&["meta", "add", "/lab/a sample/raw.txt", "note", "plain"]);
    world.ok(&["meta", "add", "/lab", "http://schema.org/name", "The lab"]);
    world.ok(&["meta", "add", "/lab", "http://schema.org/license", "CC0"]);
    world.ok(&[
        "meta",
        "link",
        "/lab/a sample",
        "http://schema.org/mentions",
        "/lab/a sample/raw.txt",
    ]);
}

fn metadata(world: &World) -> Value {
    serde_json::from_slice(&fs::read(world.path("crate/ro-crate-metadata.json")).unwrap()).unwrap()
}

fn entity<'a>(metadata: &'a Value, id: &str) -> &'a Value {
    let graph = metadata["@graph"].as_array().unwrap();
    graph.iter().find(|entity| entity["@id"] == id).unwrap()
}

/// The statements about everything below a collection.
fn stated(world: &World, collection: &str) -> Vec<String> {
    let paths = ["", "/a sample", "/a sample/raw.txt", "/a sample/empty"];
    let show = |path: &&str| {
        let shown = world.ok(&["--json", "meta", "show", &format!("{collection}{path}")]);
        let mut lines: Vec<_> = shown.lines().map(str::to_owned).collect();
        lines.sort_unstable();
        lines.join("\n").replace(collection, "")
    };
    paths.iter().map(show).collect()
}

#[test]
fn a_crate_describes_its_files() {
    let world = World::local();
    lab(&world);
    let exported = world.ok(&["export", "ro-crate", "/lab", "crate"]);
    assert_eq!(exported, "exported 1 files, 5 B; 4 descriptions\n");
    let metadata = metadata(&world);
    assert_eq!(metadata["@context"], "https://w3id.org/ro/crate/1.2/context");
    let descriptor = entity(&metadata, "ro-crate-metadata.json");
    assert_eq!(descriptor["about"], json!({ "@id": "./" }));
    let root = entity(&metadata, "./");
    assert_eq!((&root["@type"], &root["name"]), (&json!("Dataset"), &json!("The lab")));
    assert_eq!(root["hasPart"], json!({ "@id": "a%20sample/" }));
    assert!(root["datePublished"].is_string() && root["description"].is_string());
    let file = entity(&metadata, "a%20sample/raw.txt");
    assert_eq!((&file["@type"], &file["contentSize"]), (&json!("File"), &json!("5")));
    assert_eq!(
        (&file["encodingFormat"], &file["cenote:attribute/note"]),
        (&json!("text/plain"), &json!("plain"))
    );
    assert!(file["dateModified"].is_string() && file["sha256"].is_string());
    let unit = entity(&metadata, file["additionalProperty"]["@id"].as_str().unwrap());
    assert_eq!((&unit["value"], &unit["unitText"]), (&json!("300"), &json!("K")));
    assert_eq!(
        entity(&metadata, "a%20sample/")["mentions"],
        json!({ "@id": "a%20sample/raw.txt" })
    );
    assert_eq!(fs::read(world.path("crate/a sample/raw.txt")).unwrap(), b"three");
}

#[test]
fn a_crate_round_trips() {
    for world in World::both() {
        lab(&world);
        world.ok(&["export", "ro-crate", "/lab", "crate"]);
        let again = world.ok(&["export", "ro-crate", "/lab", "crate"]);
        assert_eq!(again, "exported 0 files, 0 B; 4 descriptions; 1 unchanged\n");
        let imported = world.ok(&["import", "ro-crate", "crate", "/kept/here"]);
        assert_eq!(imported, "imported 1 files, 5 B; 3 descriptions\n");
        assert_eq!(stated(&world, "/kept/here"), stated(&world, "/lab"));
        assert_eq!(world.ok(&["cat", "/kept/here/a sample/raw.txt"]), "three");
        let again = world.ok(&["import", "ro-crate", "crate", "/kept/here"]);
        assert_eq!(again, "imported 0 files, 0 B; 0 descriptions; 4 unchanged\n");
    }
}

#[test]
fn an_inconsistent_crate_is_refused_completely() {
    let world = World::local();
    lab(&world);
    let refused = |what: &str| {
        let (code, said) = world.refused(&["import", "ro-crate", "crate", "/kept"]);
        assert_eq!(code, 8, "{what}: {said}");
        assert!(said.contains(what) && said.contains("nothing was imported"), "{said}");
        assert_eq!(world.refused(&["ls", "/kept"]).0, 3);
    };
    world.ok(&["export", "ro-crate", "/lab", "crate"]);
    world.file("crate/a sample/raw.txt", "eerht");
    refused("not what the metadata says");
    fs::remove_file(world.path("crate/a sample/raw.txt")).unwrap();
    refused("the file is missing");
    std::os::unix::fs::symlink("/etc/passwd", world.path("crate/a sample/raw.txt")).unwrap();
    refused("neither a file nor a directory");
    fs::remove_file(world.path("crate/a sample/raw.txt")).unwrap();
    world.file(
        "crate/ro-crate-metadata.json",
        r#"{"@context": "http://example.org/c", "@graph": []}"#,
    );
    refused("is not known, and not fetched");
    world.file("crate/ro-crate-metadata.json", "{");
    refused("not JSON");
    assert_eq!(world.refused(&["import", "ro-crate", ".", "/kept"]).0, 2);
}

#[test]
fn a_crate_of_another_program_is_read() {
    let world = World::local();
    world.file("crate/data/x.csv", "1,2");
    world.file("crate/more.txt", "not in the metadata");
    let metadata = json!({
        "@context": ["https://w3id.org/ro/crate/1.1/context", { "depth": "https://example.org/depth" }],
        "@graph": [
            { "@id": "ro-crate-metadata.json", "@type": "CreativeWork", "about": { "@id": "./" },
              "conformsTo": { "@id": "https://w3id.org/ro/crate/1.1" } },
            { "@id": "./", "@type": "Dataset", "name": "Of others", "author": { "@id": "#ada" },
              "hasPart": [{ "@id": "data/x.csv" }, { "@id": "https://example.org/far.csv" }] },
            { "@id": "data/x.csv", "@type": "File", "contentSize": 3, "encodingFormat": "text/csv", "depth": "7 m",
              "dateModified": "2020-01-02" },
            { "@id": "https://example.org/far.csv", "@type": "File", "contentSize": "99" },
            { "@id": "#ada", "@type": "Person", "name": "Ada" }
        ]
    });
    world.file("crate/ro-crate-metadata.json", metadata.to_string());
    let imported = world.ok(&["import", "ro-crate", "crate", "/kept"]);
    assert_eq!(imported, "imported 2 files, 22 B; 2 descriptions\n");
    let root = world.ok(&["meta", "show", "/kept"]);
    assert!(root.contains("Of others") && root.contains("http://schema.org/author"), "{root}");
    let file = world.ok(&["meta", "show", "/kept/data/x.csv"]);
    assert!(file.contains("https://example.org/depth") && file.contains("7 m"), "{file}");
    assert!(world.ok(&["stat", "/kept/data/x.csv"]).contains("text/csv"));
    assert_eq!(world.ok(&["cat", "/kept/more.txt"]), "not in the metadata");
}
