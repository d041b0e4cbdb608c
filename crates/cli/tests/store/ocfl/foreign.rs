//! Storage roots of other programs.

use cenote_ocfl::{Draft, Root, Stamp, User};
use serde_json::json;

use crate::world::World;

/// The seconds of its time, the message, and the files.
type Version<'a> = (i64, &'a str, &'a [(&'a str, &'a str)]);

/// Writes an object of these versions.
pub(super) fn object(world: &World, id: &str, versions: &[Version<'_>]) {
    let root = Root::create(&world.path("archive")).unwrap();
    let mut draft = Draft::new(&root, id).unwrap();
    for (second, message, files) in versions {
        for (path, text) in *files {
            draft.add_bytes(path, text.as_bytes()).unwrap();
        }
        let created = jiff::Timestamp::from_second(*second).unwrap();
        let user = Some(User { name: "fedoraAdmin".to_owned(), address: None });
        let message = Some((*message).to_owned());
        draft.end_version(Stamp { created, message, user }).unwrap();
    }
    draft.publish().unwrap();
    root.tidy().unwrap();
}

pub(super) fn header(id: &str, model: &str, content: &str) -> String {
    json!({
        "id": id, "parent": "info:fedora", "interactionModel": model, "contentPath": content, "mimeType": "text/plain",
        "createdDate": "2021-02-03T04:05:06.789123Z", "archivalGroup": false, "objectRoot": true, "deleted": false,
        "headersVersion": "1.0", "stateToken": "ABC", "digests": [], "contentSize": 3, "mystery": {},
    })
    .to_string()
}

const BASIC: &str = "http://www.w3.org/ns/ldp#BasicContainer";
const BINARY: &str = "http://www.w3.org/ns/ldp#NonRDFSource";
const DESCRIPTION: &str = "http://fedora.info/definitions/v4/repository#NonRdfSourceDescription";

#[test]
fn an_archival_group_of_fedora_becomes_its_resources() {
    let world = World::local();
    let group = header("info:fedora/group", BASIC, "fcr-container.nt");
    let part = header("info:fedora/group/part", BINARY, "part");
    let described = header("info:fedora/group/part/fcr:metadata", DESCRIPTION, "part~fcr-desc.nt");
    let acl = header(
        "info:fedora/group/fcr:acl",
        "http://fedora.info/definitions/v4/webac#Acl",
        "fcr-container~fcr-acl.nt",
    );
    let gone = header("info:fedora/group/gone", BASIC, "gone/fcr-container.nt")
        .replace("\"deleted\":false", "\"deleted\":true");
    let title = "<info:fedora/group> <http://purl.org/dc/terms/title> \"Group\" .\n<info:fedora/group> <urn:has> <info:fedora/group/part> .\n";
    let about = "<info:fedora/group/part> <http://purl.org/dc/terms/title> \"Part\" .\n";
    let common = [
        (".fcrepo/fcr-root.json", group.as_str()),
        (".fcrepo/fcr-root~fcr-acl.json", &acl),
        ("fcr-container~fcr-acl.nt", ""),
        (".fcrepo/gone.json", &gone),
        ("fcr-container.nt", title),
    ];
    let with_part = |text: &'static str| {
        let part = [
            (".fcrepo/part.json", part.as_str()),
            (".fcrepo/part~fcr-desc.json", &described),
            ("part", text),
            ("part~fcr-desc.nt", about),
        ];
        [&common[..], &part].concat()
    };
    object(
        &world,
        "info:fedora/group",
        &[(100, "", &common), (200, "", &with_part("one")), (300, "done", &with_part("two"))],
    );
    let run = world.run(&["import", "ocfl", "archive", "/kept"]);
    let stderr = String::from_utf8(run.stderr).unwrap();
    assert!(stderr.contains("access lists") && stderr.contains("it was removed there"), "{stderr}");
    assert_eq!(
        String::from_utf8(run.stdout).unwrap(),
        "imported 2 resources with 3 versions, 6 B; 2 left out\n"
    );
    assert_eq!(world.ok(&["cat", "/kept/group/part"]), "two");
    let shown = world.ok(&["meta", "show", "/kept/group/part"]);
    assert!(shown.contains("Part"), "{shown}");
    assert!(world.ok(&["meta", "show", "/kept/group"]).contains("/kept/group/part"));
    let versions = super::history(&world, "/kept/group/part");
    let expected = [("\"1970-01-01T00:03:20Z\"", "null"), ("\"1970-01-01T00:05:00Z\"", "\"done\"")];
    assert_eq!(versions, expected.map(|(time, label)| (time.to_owned(), label.to_owned())));
    assert!(world.ok(&["stat", "/kept/group/part"]).contains("text/plain"));
    let (code, stderr) = world.refused(&["ls", "/kept/group/gone"]);
    assert_eq!(code, 3, "{stderr}");
}

/// fcrepo 6 writes the description of a file as statements about `…/fcr:metadata`, and shows them as statements about the file.
#[test]
fn what_fedora_states_of_the_description_of_a_file_is_stated_of_the_file() {
    let world = World::local();
    // It encodes more characters of a name than is done here.
    let id = "info:fedora/files/with%20space%2B";
    let file = header(id, BINARY, "with%20space%2B")
        .replace("{\"id\"", "{\"filename\":\"a b.bin\",\"id\"");
    let about = format!("{id}/fcr:metadata");
    let described = header(&about, DESCRIPTION, "with%20space%2B~fcr-desc.nt");
    let stated = format!(
        "<{about}> <http://purl.org/dc/terms/title> \"Title\" .\n<{about}#part> <urn:of> <{about}> .\n<{id}#x> <urn:of> <{id}> .\n"
    );
    let files = [
        (".fcrepo/fcr-root.json", file.as_str()),
        (".fcrepo/fcr-root~fcr-desc.json", &described),
        ("with%20space%2B", "bytes"),
        ("with%20space%2B~fcr-desc.nt", &stated),
    ];
    object(&world, id, &[(100, "", &files)]);
    world.ok(&["import", "ocfl", "archive", "/kept"]);
    let shown = world.ok(&["meta", "show", "/kept/files/with space+"]);
    assert!(shown.contains("Title") && shown.contains("ebucore#filename = a b.bin"), "{shown}");
    let check = world.ok(&["import", "ocfl", "archive", "/kept", "--check"]);
    assert!(check.contains("are the same"), "{check}");
    world.ok(&["export", "ocfl", "/kept", "again"]);
    world.ok(&["import", "ocfl", "again", "/twice"]);
    assert_eq!(world.ok(&["meta", "show", "/twice/files/with space+"]), shown);
}

#[test]
fn any_other_object_becomes_a_collection_of_its_files() {
    let world = World::local();
    let first = [("a.txt", "one"), ("b/c.txt", "deep"), ("A.TXT", "case")];
    let second = [("a.txt", "two"), ("b/c.txt", "deep"), ("A.TXT", "case")];
    object(&world, "ark:/12345/x", &[(100, "first", &first), (200, "second", &second)]);
    object(&world, "urn:alone", &[(100, "first", &[("same", "two")])]);
    let imported = world.ok(&["import", "ocfl", "archive", "/kept"]);
    assert_eq!(imported, "imported 6 resources with 7 versions, 17 B\n");
    assert_eq!(world.ok(&["cat", "/kept/ark:%2F12345%2Fx/a.txt"]), "two");
    assert_eq!(world.ok(&["cat", "--version", "1", "/kept/ark:%2F12345%2Fx/a.txt"]), "one");
    assert_eq!(world.ok(&["cat", "/kept/ark:%2F12345%2Fx/A.TXT"]), "case");
    assert_eq!(world.ok(&["cat", "/kept/urn:alone/same"]), "two");
}

#[test]
fn earlier_versions_are_skipped_if_versions_are_off() {
    let world = World::local();
    world.ok(&["mkdir", "/kept"]);
    world.ok(&["versions", "policy", "/kept", "off"]);
    object(&world, "urn:x", &[(100, "a", &[("f", "one")]), (200, "b", &[("f", "two")])]);
    let run = world.run(&["import", "ocfl", "archive", "/kept"]);
    assert!(run.status.success(), "{run:?}");
    assert!(String::from_utf8(run.stderr).unwrap().contains("versions are off at /kept"));
    assert_eq!(world.ok(&["cat", "/kept/urn:x/f"]), "two");
    assert_eq!(world.ok(&["versions", "ls", "/kept/urn:x/f"]), "");
}
