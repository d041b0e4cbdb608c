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
        let (code, stderr) = world.refused(&["import", "ro-crate", "crate", "/kept"]);
        assert_eq!(code, 8, "{what}: {stderr}");
        assert!(stderr.contains(what) && stderr.contains("nothing was imported"), "{stderr}");
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

/// The names in a zip, by another program than the one that wrote it.
fn unzipped(world: &World, zip: &str, to: &str) {
    let unzip = "import sys, zipfile; z = zipfile.ZipFile(sys.argv[1]); assert z.testzip() is None; z.extractall(sys.argv[2])";
    let status = std::process::Command::new("python3")
        .args(["-c", unzip])
        .args([world.path(zip), world.path(to)])
        .status();
    assert!(status.unwrap().success());
}

#[test]
fn a_zip_comes_back() {
    for world in World::both() {
        lab(&world);
        let exported = world.ok(&["export", "ro-crate", "/lab", "crate.zip"]);
        assert_eq!(exported, "exported 1 files, 5 B; 4 descriptions\n");
        assert!(!world.path("crate.zip.partial").exists());
        world.ok(&["export", "ro-crate", "/lab", "crate"]);
        unzipped(&world, "crate.zip", "unzipped");
        for file in ["ro-crate-metadata.json", "ro-crate-preview.html", "a sample/raw.txt"] {
            let read = |dir: &str| fs::read(world.path(&format!("{dir}/{file}"))).unwrap();
            assert_eq!(read("unzipped"), read("crate"), "{file}");
        }
        assert!(world.path("unzipped/a sample/empty").is_dir());
        let imported = world.ok(&["import", "ro-crate", "crate.zip", "/kept/here"]);
        assert_eq!(imported, "imported 1 files, 5 B; 3 descriptions\n");
        assert_eq!(stated(&world, "/kept/here"), stated(&world, "/lab"));
        assert_eq!(world.ok(&["cat", "/kept/here/a sample/raw.txt"]), "three");
        let again = world.ok(&["import", "ro-crate", "crate.zip", "/kept/here"]);
        assert_eq!(again, "imported 0 files, 0 B; 0 descriptions; 4 unchanged\n");
    }
}

/// A zip in the directory of an export that broke off, with some files.
fn broken_off(world: &World, files: &[(&str, &str)]) {
    fs::create_dir_all(world.path("crate.zip.partial")).unwrap();
    let zip = "import sys, zipfile\nwith zipfile.ZipFile(sys.argv[1], 'w') as z:\n  for i in range(2, len(sys.argv), 2): z.writestr(sys.argv[i], sys.argv[i + 1])";
    let files = files.iter().flat_map(|(name, bytes)| [*name, *bytes]);
    let mut python = std::process::Command::new("python3");
    let python = python.args(["-c", zip]).arg(world.path("crate.zip.partial/crate.zip"));
    assert!(python.args(files).status().unwrap().success());
}

#[test]
fn a_zip_that_broke_off_goes_on_with_what_is_the_same() {
    let world = World::local();
    lab(&world);
    world.file("more.txt", "more");
    world.ok(&["put", "more.txt", ":/lab/more.txt"]);
    broken_off(&world, &[("more.txt", "more")]);
    let exported = world.ok(&["export", "ro-crate", "/lab", "crate.zip"]);
    assert_eq!(exported, "exported 1 files, 5 B; 5 descriptions; 1 unchanged\n");
    assert!(world.ok(&["import", "ro-crate", "crate.zip", "--check"]).starts_with("2 files as"));
    for other in [[("more.txt", "erom")], [("gone.txt", "more")], [("ro-crate-metadata.json", "")]]
    {
        broken_off(&world, &other);
        let exported = world.ok(&["export", "ro-crate", "/lab", "crate.zip"]);
        assert_eq!(exported, "exported 2 files, 9 B; 5 descriptions\n", "{other:?}");
        assert!(
            world.ok(&["import", "ro-crate", "crate.zip", "--check"]).starts_with("2 files as")
        );
    }
    fs::create_dir_all(world.path("crate.zip.partial")).unwrap();
    world.file("crate.zip.partial/crate.zip", "no zip");
    world.ok(&["export", "ro-crate", "/lab", "crate.zip"]);
}

#[test]
fn a_damaged_zip_is_refused_whole() {
    let world = World::local();
    lab(&world);
    world.ok(&["export", "ro-crate", "/lab", "crate.zip"]);
    let whole = fs::read(world.path("crate.zip")).unwrap();
    fs::write(world.path("half.zip"), &whole[..whole.len() / 2]).unwrap();
    let (code, stderr) = world.refused(&["import", "ro-crate", "half.zip", "/kept"]);
    assert!(code == 8 && stderr.contains("nothing was imported"), "{stderr}");
    let checked = world.run(&["import", "ro-crate", "half.zip", "--check"]);
    assert_eq!(checked.status.code(), Some(12), "{checked:?}");
    world.file("none.zip", "");
    assert_eq!(world.refused(&["import", "ro-crate", "none.zip", "/kept"]).0, 8);
    assert_eq!(world.refused(&["ls", "/kept"]).0, 3);
}

#[test]
fn a_check_reports_each_fault_and_writes_nothing() {
    let world = World::local();
    lab(&world);
    world.ok(&["export", "ro-crate", "/lab", "crate"]);
    let check = ["--json", "import", "ro-crate", "crate", "--check"];
    let whole: Value = serde_json::from_str(&world.ok(&check)).unwrap();
    assert_eq!(whole, json!({ "files": 1, "bytes": 5, "faults": 0 }));
    world.file("crate/more.txt", "not described");
    world.file("crate/a sample/in a described directory.txt", "");
    world.file("crate/a sample/raw.txt", "eerht");
    let faults = |problems: &[(&str, &str)]| {
        let output = world.run(&check);
        assert_eq!(output.status.code(), Some(12), "{output:?}");
        let stdout = String::from_utf8(output.stdout).unwrap();
        let lines: Vec<Value> =
            stdout.lines().map(|it| serde_json::from_str(it).unwrap()).collect();
        let found: Vec<_> = lines
            .iter()
            .map(|line| (line["file"].as_str().unwrap(), line["problem"].as_str().unwrap()))
            .collect();
        assert_eq!(found, problems, "{stdout}");
    };
    faults(&[("a sample/raw.txt", "sha256"), ("more.txt", "undescribed")]);
    world.file("crate/a sample/raw.txt", "longer");
    fs::remove_file(world.path("crate/more.txt")).unwrap();
    faults(&[("a sample/raw.txt", "size")]);
    fs::remove_file(world.path("crate/a sample/raw.txt")).unwrap();
    faults(&[("a sample/raw.txt", "missing")]);
    let text = fs::read_to_string(world.path("crate/ro-crate-metadata.json")).unwrap();
    let root = text.replace("\"Dataset\"", "\"Thing\"").replace("\"File\"", "\"Thing\"");
    world.file("crate/ro-crate-metadata.json", root);
    faults(&[("", "root"), ("a sample/in a described directory.txt", "undescribed")]);
    world.file("crate/ro-crate-metadata.json", "{");
    faults(&[("", "unreadable")]);
    assert_eq!(world.refused(&["import", "ro-crate", ".", "--check"]).0, 2);
    assert_eq!(world.refused(&["import", "ro-crate", "crate", "/kept", "--check"]).0, 2);
    assert_eq!(world.refused(&["import", "ro-crate", "crate"]).0, 2);
}

#[test]
fn a_preview_is_written_and_is_no_file_of_the_crate() {
    let world = World::local();
    lab(&world);
    world.ok(&[
        "meta",
        "add",
        "/lab",
        "http://schema.org/description",
        "<script>alert(1)</script>",
    ]);
    world.ok(&["export", "ro-crate", "/lab", "crate"]);
    let page = fs::read_to_string(world.path("crate/ro-crate-preview.html")).unwrap();
    assert!(
        page.contains("<h1>The lab</h1>") && page.contains("href=\"./a%20sample/raw.txt\""),
        "{page}"
    );
    assert!(page.contains("&lt;script&gt;") && !page.contains("<script"), "{page}");
    world.ok(&["import", "ro-crate", "crate", "/kept"]);
    assert_eq!(world.refused(&["stat", "/kept/ro-crate-preview.html"]).0, 3);
}

#[test]
fn a_file_that_is_there_gets_the_media_type_of_the_crate() {
    let world = World::local();
    lab(&world);
    world.ok(&["export", "ro-crate", "/lab", "crate"]);
    let metadata = world.path("crate/ro-crate-metadata.json");
    let text = fs::read_to_string(&metadata).unwrap().replace("text/plain", "text/x-raw");
    fs::write(&metadata, text).unwrap();
    world.ok(&["import", "ro-crate", "crate", "/lab"]);
    assert!(world.ok(&["stat", "/lab/a sample/raw.txt"]).contains("text/x-raw"));
    let again = world.ok(&["import", "ro-crate", "crate", "/lab"]);
    assert_eq!(again, "imported 0 files, 0 B; 0 descriptions; 4 unchanged\n");
}
