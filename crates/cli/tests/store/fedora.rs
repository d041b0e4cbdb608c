//! `cenote migrate-fedora`: from a cenote server, through each of its mount points for linked data.

use cenote_client::Credential;
use cenote_client::ldp::{LinkedData, Model};
use serde_json::{Value, json};
use tokio::runtime::Runtime;

use crate::world::{PASSWORD, World};

fn block<T>(work: impl Future<Output = T>) -> T {
    Runtime::new().unwrap().block_on(work)
}

fn web(world: &World) -> LinkedData {
    let credential = Credential::Password { user: "ada".to_owned(), password: PASSWORD.to_owned() };
    LinkedData::at(world.url(), Some(&credential), None).unwrap().0
}

/// A server with resources of each kind below `/lab`.
struct Source(World);

impl Source {
    fn new() -> Self {
        let source = Self(World::served());
        let address = |path: &str| format!("<{}/rest/lab{path}>", source.0.url());
        let (lab, sample) = (address(""), address("/a%20sample"));
        let (title, part) = ("<http://purl.org/dc/terms/title>", "<urn:part>");
        source.graph("/lab", Model::Basic, &format!("{lab} {title} \"Lab\" ."));
        source.graph(
            "/lab/a%20sample",
            Model::Basic,
            &format!(
                "{sample} {title} \"\u{e9}\"@fr . {sample} {part} _:b . _:b <urn:n> \"1\" .
                 {sample} {part} <{0}/rest/lab/a%20sample#h> . {sample} <urn:of> <{0}/rest/lab/raw.dat> .",
                source.0.url()
            ),
        );
        source.graph(
            "/lab/members",
            Model::Direct,
            &format!(
                "<{0}/rest/lab/members> <http://www.w3.org/ns/ldp#membershipResource> {sample} .
                 <{0}/rest/lab/members> <http://www.w3.org/ns/ldp#hasMemberRelation> <urn:has> .",
                source.0.url()
            ),
        );
        source.graph("/lab/members/one", Model::Source, "");
        source.0.file("raw.dat", "the bytes");
        source.0.ok(&["put", "raw.dat", ":/lab/raw.dat"]);
        source.0.ok(&["meta", "add", ":/lab/raw.dat", "temperature", "300", "K"]);
        source
    }

    fn graph(&self, path: &str, model: Model, triples: &str) {
        let path = format!("/rest{path}");
        let lines = triples.replace(" . ", " .\n");
        block(web(&self.0).put_graph(&path, model, lines.into())).unwrap();
    }

    fn arguments(&self, mount: &str) -> Vec<String> {
        let url = format!("{}{mount}/lab", self.0.url());
        ["migrate-fedora", &url, ":/kept/here", "--source-user", "ada", "--source-password-file"]
            .map(str::to_owned)
            .to_vec()
    }

    fn bring(&self, to: &World, mount: &str, more: &[&str]) -> std::process::Output {
        let secret = to.file("secret", PASSWORD);
        let mut arguments = self.arguments(mount);
        arguments.push(secret.to_str().unwrap().to_owned());
        let arguments: Vec<&str> = arguments.iter().map(String::as_str).collect();
        to.run(&[&arguments[..], more].concat())
    }

    fn brought(&self, to: &World, mount: &str, more: &[&str]) -> String {
        let run = self.bring(to, mount, more);
        assert!(run.status.success(), "{}", String::from_utf8_lossy(&run.stderr));
        String::from_utf8(run.stdout).unwrap()
    }
}

#[test]
fn a_repository_is_migrated_completely_and_only_once() {
    for mount in ["/rest", "/ldp", "/w3c"] {
        let source = Source::new();
        for target in World::both() {
            let first = source.brought(&target, mount, &[]);
            assert_eq!(first, "brought 1 files, 9 B; 4 graphs; 5 verified\n", "{mount}");
            let again = source.brought(&target, mount, &[]);
            assert_eq!(
                again, "brought 0 files, 0 B; 0 graphs; 5 unchanged; 5 verified\n",
                "{mount}"
            );
            let listed = target.ok(&["ls", "-r", "/kept/here"]);
            for name in ["a sample", "members", "one", "raw.dat"] {
                assert!(listed.contains(name), "{mount}: {listed}");
            }
            assert_eq!(target.ok(&["cat", "/kept/here/raw.dat"]), "the bytes");
            let title = target.ok(&["meta", "show", "/kept/here/a sample"]);
            assert!(title.contains("\u{e9}") && title.contains("/kept/here/raw.dat"), "{title}");
        }
    }
}

#[test]
fn migrated_resources_have_the_statements_of_the_source() {
    let source = Source::new();
    let target = World::served();
    source.brought(&target, "/rest", &[]);
    for path in ["", "/a%20sample", "/members", "/raw.dat/fcr:metadata"] {
        let own = |world: &World, root: &str| {
            let prefer = "return=representation; omit=\"http://fedora.info/definitions/fcrepo#ServerManaged\"";
            let text = block(web(world).graph(&format!("/rest{root}{path}"), prefer)).unwrap().1;
            let text = String::from_utf8(text.to_vec()).unwrap();
            let text = text.replace(&format!("{}/rest{root}", world.url()), "lab:");
            let triples =
                cenote_rdf::read(text.as_bytes(), cenote_rdf::Syntax::NTriples, "urn:", LIMITS);
            cenote_rdf::canonical(&triples.unwrap())
        };
        assert_eq!(own(&source.0, "/lab"), own(&target, "/kept/here"), "{path}");
    }
    let (here, there) = (web(&target), web(&source.0));
    let model = |web: &LinkedData, path: String| block(web.head(&path, None)).unwrap().model;
    for (path, root) in [(&there, "/rest/lab"), (&here, "/rest/kept/here")] {
        assert_eq!(model(path, format!("{root}/members")), Model::Direct);
        assert_eq!(model(path, format!("{root}/members/one")), Model::Source);
    }
}

const LIMITS: cenote_rdf::Limits = cenote_rdf::Limits { triples: 1_000, term: 1_000 };

#[test]
fn a_later_run_migrates_missing_and_changed_resources() {
    let source = Source::new();
    for target in World::both() {
        source.brought(&target, "/rest", &["--jobs", "1"]);
        target.ok(&["rm", "--permanent", "/kept/here/raw.dat"]);
        target.ok(&["meta", "add", "/kept/here/a sample", "temperature", "4", "K"]);
        let check = source.bring(&target, "/rest", &["--check"]);
        assert_eq!(check.status.code(), Some(12), "{}", String::from_utf8_lossy(&check.stderr));
        let again = source.brought(&target, "/rest", &[]);
        assert_eq!(again, "brought 1 files, 9 B; 1 graphs; 3 unchanged; 5 verified\n");
        assert_eq!(
            source.brought(&target, "/rest", &["--check"]),
            "brought 0 files, 0 B; 0 graphs; 5 verified\n"
        );
        target.file("other", "THE BYTES");
        target.ok(&["put", "other", ":/kept/here/raw.dat"]);
        let mended = source.brought(&target, "/rest", &["--json"]);
        let lines: Vec<Value> =
            mended.lines().map(|line| serde_json::from_str(line).unwrap()).collect();
        assert_eq!(
            (&lines[0]["path"], &lines[0]["bytes"]),
            (&json!("/kept/here/raw.dat"), &json!(9))
        );
        assert_eq!((&lines[1]["binaries"], &lines[1]["verified"]), (&json!(1), &json!(5)));
        assert_eq!(target.ok(&["cat", "/kept/here/raw.dat"]), "the bytes");
    }
}

#[test]
fn resources_that_cannot_be_migrated_are_reported() {
    let source = Source::new();
    let target = World::served();
    // The path of the file is occupied by a collection.
    target.ok(&["mkdir", "-p", "/kept/here/raw.dat"]);
    let run = source.bring(&target, "/rest", &[]);
    assert_eq!(run.status.code(), Some(11), "{}", String::from_utf8_lossy(&run.stderr));
    assert!(String::from_utf8_lossy(&run.stdout).contains("4 verified"));
    assert!(String::from_utf8_lossy(&run.stderr).contains("raw.dat"));

    let without = format!("{}/rest/lab", source.0.url());
    assert_eq!(target.refused(&["migrate-fedora", &without, ":/kept"]).0, 6);
    let nothing = format!("{}/rest/nothing", source.0.url());
    let arguments = [
        "migrate-fedora",
        &nothing,
        ":/kept",
        "--source-user",
        "ada",
        "--source-password-file",
        "secret",
    ];
    assert_eq!(target.refused(&arguments).0, 3);
    assert_eq!(target.refused(&["migrate-fedora", "lake", ":/kept"]).0, 2);
}
