//! `cenote migrate-dnanexus`: from a cenote server, which implements the API.

use cenote_client::dnanexus::{Platform, PresignedRequest};
use serde_json::{Value, json};
use tokio::runtime::Runtime;

use crate::world::World;

/// A server to migrate from, with a client of its API and a token for it.
struct Source {
    world: World,
    platform: Platform,
    project: String,
    token: String,
}

fn block<T>(work: impl Future<Output = T>) -> T {
    Runtime::new().unwrap().block_on(work)
}

fn call(platform: &Platform, resource: &str, method: &str, input: Value) -> Value {
    block(platform.call(resource, method, &input)).unwrap()
}

fn id(answer: &Value) -> String {
    answer["id"].as_str().unwrap().to_owned()
}

impl Source {
    fn new() -> Self {
        let world = World::served();
        world.ok(&["mkdir", "/mammals"]);
        let made = world.ok(&["token", "add", "migration"]);
        let token = made.split_whitespace().nth(1).unwrap().to_owned();
        let platform = Platform::at(world.url(), &token, None).unwrap();
        let found = call(&platform, "system", "findProjects", json!({ "name": "mammals" }));
        let project = id(&found["results"][0]);
        Self { world, platform, project, token }
    }

    /// A file of two parts.
    fn file(&self, name: &str, parts: [&'static [u8]; 2]) -> String {
        let new = json!({
            "project": self.project, "folder": "/reads/raw", "parents": true, "name": name,
            "tags": ["t"], "properties": { "k": "v" }, "types": ["Reads"], "hidden": true,
            "details": { "n": [1] }, "media": "text/x-reads",
        });
        let file = id(&call(&self.platform, "file", "new", new));
        for (number, part) in parts.iter().enumerate() {
            let request = json!({ "index": number + 1, "size": part.len() });
            let request: PresignedRequest =
                serde_json::from_value(call(&self.platform, &file, "upload", request)).unwrap();
            let body = cenote_client::body_of((*part).into());
            block(self.platform.send(&request, part.len() as u64, body)).unwrap();
        }
        call(&self.platform, &file, "close", json!({}));
        file
    }

    fn bring(&self, to: &World, more: &[&str]) -> String {
        let file = to.file("token", &self.token);
        let bring = ["migrate-dnanexus", "mammals", ":/lab/mammals", "--from", self.world.url()];
        let token = ["--token-file", file.to_str().unwrap()];
        // Skipped resources are reported on stderr.
        let run = to.run(&[&bring[..], &token, more].concat());
        assert!(run.status.success(), "{}", String::from_utf8_lossy(&run.stderr));
        String::from_utf8(run.stdout).unwrap()
    }
}

const FIELDS: [&str; 11] = [
    "name",
    "folder",
    "tags",
    "properties",
    "types",
    "details",
    "hidden",
    "media",
    "size",
    "parts",
    "created",
];

/// The compared attributes of an object.
fn described(platform: &Platform, id: &str) -> Value {
    let fields: serde_json::Map<_, _> =
        FIELDS.iter().map(|name| ((*name).to_owned(), true.into())).collect();
    let mut described = call(platform, id, "describe", json!({ "fields": fields }));
    described.as_object_mut().unwrap().remove("id");
    described
}

/// The current id of an object with this id on the source.
fn found(platform: &Platform, known: &str) -> String {
    let input = json!({ "objects": [{ "knownAs": known }] });
    let answer = call(platform, "system", "describeDataObjects", input);
    id(&answer["results"][0]["describe"])
}

#[test]
fn a_project_is_migrated_with_ids_and_descriptions_and_only_once() {
    let source = Source::new();
    let file = source.file("a", [b"abc", b"defg"]);
    let same = source.file("a", [b"the other", b""]);
    source.world.file("x", "by the native opening");
    source.world.ok(&["put", "x", ":/mammals/x.txt"]);
    call(&source.platform, &source.project, "newFolder", json!({ "folder": "/empty" }));
    let link = json!({ "of": { "$dnanexus_link": file } });
    let record = json!({ "project": source.project, "name": "r", "details": link, "close": true });
    let record = id(&call(&source.platform, "record", "new", record));
    let open = json!({ "project": source.project, "name": "open" });
    call(&source.platform, "file", "new", open);

    let target = World::served();
    // So that the two stores do not assign the same ids.
    target.ok(&["mkdir", "/one", "/two", "/three"]);
    let first = source.bring(&target, &[]);
    assert_eq!(first, "brought 3 files, 37 B; 1 records; 1 left out\n");
    assert_eq!(
        source.bring(&target, &[]),
        "brought 0 files, 0 B; 0 records; 4 unchanged; 1 left out\n"
    );
    assert_eq!(target.ok(&["ls", "/lab/mammals"]), "empty/\nr\nreads/\nx.txt\n");
    assert_eq!(target.ok(&["cat", "/lab/mammals/x.txt"]), "by the native opening");

    let platform = Platform::of_store(target.client());
    for object in [&file, &same, &record] {
        let own = found(&platform, object);
        let (there, mut here) = (described(&source.platform, object), described(&platform, &own));
        let folder = here["folder"].as_str().unwrap().strip_prefix("/mammals").unwrap().to_owned();
        here["folder"] = if folder.is_empty() { "/".into() } else { folder.into() };
        assert_eq!(there, here, "by the id that it had");
    }
    let own = found(&platform, &file);
    let known = call(&platform, &own, "describe", json!({ "fields": { "knownAs": true } }));
    assert_eq!(known["knownAs"], file);
}

#[test]
fn an_interrupted_run_continues_with_what_is_missing() {
    for target in World::both() {
        let source = Source::new();
        let file = source.file("a", [b"abc", b"defg"]);
        source.bring(&target, &["--jobs", "1"]);
        source.file("b", [b"new", b""]);
        let again = source.bring(&target, &[]);
        assert_eq!(again, "brought 1 files, 3 B; 0 records; 1 unchanged\n");
        assert_eq!(target.ok(&["cat", "/lab/mammals/reads/raw/a"]), "abcdefg");
        // As after a run that was killed while sending this file.
        target.ok(&["rm", "/lab/mammals/reads/raw/a"]);
        let platform = |work: &dyn Fn(&Platform)| work(&Platform::of_store(target.client()));
        if target.url().starts_with("http") {
            platform(&|platform| {
                let at = json!({ "path": "/lab/mammals" });
                let to = call(platform, "system", "findFolder", at);
                let open = json!({
                    "project": to["project"], "folder": "/mammals/reads/raw", "name": "a", "knownAs": file,
                });
                call(platform, "file", "new", open);
            });
        }
        assert_eq!(source.bring(&target, &[]), "brought 1 files, 7 B; 0 records; 1 unchanged\n");
        assert_eq!(target.ok(&["cat", "/lab/mammals/reads/raw/a"]), "abcdefg");
        assert_eq!(target.ok(&["ls", "/lab/mammals/reads/raw"]), "a\nb\n");
    }
}

#[test]
fn a_migrated_project_is_found_by_its_former_id() {
    let source = Source::new();
    source.file("a", [b"abc", b""]);
    let target = World::served();
    let token = target.file("token", &source.token);
    let lines = target.ok(&[
        "--json",
        "migrate-dnanexus",
        &source.project,
        ":/mammals",
        "--folder",
        "/reads",
        "--from",
        source.world.url(),
        "--token-file",
        token.to_str().unwrap(),
    ]);
    let lines: Vec<Value> = lines.lines().map(|line| serde_json::from_str(line).unwrap()).collect();
    assert_eq!((&lines[0]["path"], &lines[0]["bytes"]), (&json!("/raw/a"), &json!(3)));
    assert_eq!((&lines[1]["files"], &lines[1]["failed"]), (&json!(1), &json!(0)));
    let platform = Platform::of_store(target.client());
    let project = call(&platform, &source.project, "describe", json!({}));
    assert_eq!(project["name"], "mammals");
}

#[test]
fn projects_that_cannot_be_migrated_are_refused() {
    let source = Source::new();
    let target = World::served();
    let token = target.file("token", &source.token);
    let wrong = target.file("wrong", "cn_0000");
    let bring = |project: &str, token: &std::path::Path| {
        let from = ["--from", source.world.url(), "--token-file", token.to_str().unwrap()];
        target.refused(&[&["migrate-dnanexus", project, ":/lab"][..], &from].concat())
    };
    assert_eq!(bring("nothing", &token).0, 3);
    assert_eq!(bring("project-000000000000000000000000", &token).0, 3);
    assert_eq!(bring("mammals", &wrong).0, 6);
    let without =
        target.refused(&["migrate-dnanexus", "mammals", ":/lab", "--from", source.world.url()]);
    assert_eq!(without.0, 2, "{without:?}");
}
