//! `cenote kdb` on files of every format.

use std::io::Write;
use std::os::unix::fs::PermissionsExt;
use std::path::Path;
use std::process::{Command, Output, Stdio};

use tempfile::TempDir;

struct Case {
    directory: TempDir,
}

impl Case {
    fn new() -> Self {
        Self { directory: tempfile::tempdir().expect("a directory") }
    }

    fn command(&self, arguments: &[&str]) -> Command {
        let mut command = Command::new(env!("CARGO_BIN_EXE_cenote"));
        command.current_dir(self.directory.path()).arg("kdb").args(arguments);
        command
    }

    fn run(&self, arguments: &[&str]) -> Output {
        self.command(arguments).output().expect("the program runs")
    }

    fn run_with(&self, arguments: &[&str], input: &str) -> Output {
        let mut child = self
            .command(arguments)
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .spawn()
            .expect("the program runs");
        child.stdin.take().expect("a pipe").write_all(input.as_bytes()).expect("it reads");
        child.wait_with_output().expect("it ends")
    }

    /// What a command that succeeds prints.
    fn out(&self, arguments: &[&str]) -> String {
        let output = self.run(arguments);
        let error = String::from_utf8_lossy(&output.stderr).into_owned();
        assert!(output.status.success(), "{arguments:?}: {error}");
        String::from_utf8(output.stdout).expect("UTF-8")
    }

    /// The exit code and the message of a command that fails.
    fn fails(&self, arguments: &[&str]) -> (i32, String) {
        let output = self.run(arguments);
        let code = output.status.code().expect("an exit code");
        assert_ne!(code, 0, "{arguments:?}");
        (code, String::from_utf8(output.stderr).expect("UTF-8"))
    }

    fn write(&self, name: &str, text: &str) {
        std::fs::write(self.path().join(name), text).expect("it is written");
    }

    fn path(&self) -> &Path {
        self.directory.path()
    }
}

fn json(text: &str) -> serde_json::Value {
    serde_json::from_str(text).expect("JSON")
}

#[test]
fn set_and_get_in_every_format() {
    for format in ["quickdump", "dump", "json", "toml", "ini"] {
        let (case, file) = (Case::new(), format!("keys.{format}"));
        assert_eq!(
            case.out(&["set", &file, "a/b", "v1"]),
            "Create a new key user:/a/b with string \"v1\"\n"
        );
        assert_eq!(case.out(&["set", &file, "user:/a/b", "v2"]), "Set string to \"v2\"\n");
        assert_eq!(case.out(&["get", &file, "a/b"]), "v2\n");
        assert_eq!(case.out(&["get", &file, "-n", "/a/b"]), "v2");
        assert_eq!(case.fails(&["get", &file, "none"]).0, 3);
    }
}

#[test]
fn values_may_be_bytes_or_null() {
    let case = Case::new();
    case.out(&["set", "k.dump", "bytes", "--base64", "AP8="]);
    case.out(&["set", "k.dump", "none", "--null"]);
    case.out(&["set", "k.dump", "minus", "--", "-5"]);
    assert_eq!(case.out(&["set", "k.dump", "bytes", "--base64", "AP8="]), "Set to 2 bytes\n");
    assert_eq!(case.out(&["set", "k.dump", "none", "--null"]), "Set to null value\n");
    assert_eq!(case.run(&["get", "k.dump", "-n", "bytes"]).stdout, [0, 255]);
    let line = json(&case.out(&["get", "k.dump", "bytes", "--json"]));
    assert_eq!(line["base64"], "AP8=");
    assert_eq!(line["binary"], true);
    assert!(json(&case.out(&["get", "k.dump", "none", "--json"]))["value"].is_null());
    assert_eq!(case.out(&["get", "k.dump", "minus"]), "-5\n");
    assert_eq!(case.fails(&["set", "k.dump", "x"]).0, 2);
    let (code, message) = case.fails(&["set", "k.dump", "x", "--base64", "AP8"]);
    assert!(code == 2 && message.contains("`AP8` is not base64"), "{message}");
}

#[test]
fn a_cascading_name_sets_only_the_key_that_a_lookup_finds() {
    let case = Case::new();
    case.out(&["set", "k.dump", "a", "1"]);
    assert_eq!(case.out(&["set", "k.dump", "/a", "2"]), "Set string to \"2\"\n");
    let (code, message) = case.fails(&["set", "k.dump", "/b", "2"]);
    assert_eq!(code, 3);
    assert!(message.contains("choose the namespace"), "{message}");
}

#[test]
fn ls_lists_subtrees_by_depth() {
    let case = Case::new();
    ["a", "a/b", "a/b/c", "d"].iter().for_each(|name| {
        case.out(&["set", "k.quickdump", name, "v"]);
    });
    assert_eq!(case.out(&["ls", "k.quickdump"]), "user:/a\nuser:/a/b\nuser:/a/b/c\nuser:/d\n");
    let levels = |arguments: &[&str]| case.out(&[&["ls", "k.quickdump"], arguments].concat());
    assert_eq!(levels(&["a", "-M", "1"]), "user:/a\n");
    assert_eq!(levels(&["a", "-m", "1", "-M", "2"]), "user:/a/b\n");
    assert_eq!(levels(&["a/", "-M", "1"]), "user:/a/b\n");
    assert_eq!(levels(&["a/", "-m", "1"]), "user:/a/b/c\n");
    assert_eq!(levels(&["user:/", "-M", "1"]), "user:/a\nuser:/d\n");
    assert_eq!(levels(&["-M", "2"]), "user:/a\nuser:/a/b\nuser:/d\n");
    assert_eq!(case.fails(&["ls", "k.quickdump", "a", "-m", "1", "-M", "1"]).0, 2);
    assert_eq!(case.out(&["ls", "k.quickdump", "d", "-0"]), "user:/d\0");
    assert_eq!(json(&case.out(&["ls", "k.quickdump", "d", "--json"]))["name"], "user:/d");
}

#[test]
fn rm_cp_and_mv() {
    let case = Case::new();
    ["a", "a/b", "c"].iter().for_each(|name| {
        case.out(&["set", "k.dump", name, name]);
    });
    assert_eq!(case.out(&["cp", "k.dump", "-r", "a", "x"]), "Copied 2 keys\n");
    let (code, message) = case.fails(&["cp", "k.dump", "a", "c"]);
    assert_eq!(code, 4);
    assert!(message.contains("the key `user:/c` already exists"), "{message}");
    case.out(&["cp", "k.dump", "-f", "a", "c"]);
    assert_eq!(case.out(&["get", "k.dump", "c"]), "a\n");
    assert_eq!(case.out(&["mv", "k.dump", "-r", "a", "a/deeper"]), "Moved 2 keys\n");
    assert_eq!(
        case.out(&["ls", "k.dump"]),
        "user:/a/deeper\nuser:/a/deeper/b\nuser:/c\nuser:/x\nuser:/x/b\n"
    );
    assert_eq!(case.out(&["rm", "k.dump", "-r", "a"]), "Removed 2 keys\n");
    assert_eq!(case.fails(&["rm", "k.dump", "a"]).0, 3);
    case.out(&["rm", "k.dump", "-f", "a"]);
    assert_eq!(case.fails(&["mv", "k.dump", "none", "y"]).0, 3);
    assert_eq!(case.fails(&["mv", "k.dump", "/c", "y"]).0, 2);
}

#[test]
fn metadata() {
    let case = Case::new();
    case.out(&["set", "k.dump", "a", "1"]);
    case.out(&["meta-set", "k.dump", "a", "comment/#0", "why"]);
    case.out(&["meta-set", "k.dump", "a", "meta:/type", "long"]);
    assert_eq!(case.out(&["meta-ls", "k.dump", "a"]), "comment/#0\ntype\n");
    assert_eq!(case.out(&["meta-get", "k.dump", "a", "type"]), "long\n");
    assert_eq!(case.fails(&["meta-get", "k.dump", "a", "none"]).0, 3);
    case.out(&["meta-rm", "k.dump", "a", "type"]);
    assert_eq!(case.fails(&["meta-rm", "k.dump", "a", "type"]).0, 3);
    let line = json(&case.out(&["get", "k.dump", "a", "--json"]));
    assert_eq!(line["meta"], serde_json::json!({ "comment/#0": "why" }));
}

#[test]
fn meta_set_creates_the_key() {
    let case = Case::new();
    case.out(&["meta-set", "k.dump", "spec:/port", "type", "long", "--parent", "spec:/"]);
    assert_eq!(case.out(&["get", "k.dump", "spec:/port", "--parent", "spec:/"]), "\n");
    case.out(&["meta-set", "j.json", "a/b", "comment/#0", "why"]);
    assert_eq!(case.out(&["meta-show", "j.json", "a/b"]), "comment/#0: why\n");
    assert_eq!(case.fails(&["meta-set", "j.json", "/none", "type", "long"]).0, 3);
}

#[test]
fn find_lists_matching_names() {
    let case = Case::new();
    ["server/port", "server/Host", "client/port"].iter().for_each(|name| {
        case.out(&["set", "k.dump", name, "v"]);
    });
    assert_eq!(case.out(&["find", "k.dump", "port$"]), "user:/client/port\nuser:/server/port\n");
    assert_eq!(case.out(&["find", "k.dump", "-i", "^user:/server/h"]), "user:/server/Host\n");
    assert_eq!(case.out(&["find", "k.dump", "-0", "Host"]), "user:/server/Host\0");
    assert_eq!(case.out(&["find", "k.dump", "none"]), "");
    assert_eq!(case.fails(&["find", "k.dump", "("]).0, 2);
}

#[test]
fn sget_prints_a_default() {
    let case = Case::new();
    case.out(&["set", "k.dump", "a", "1"]);
    assert_eq!(case.out(&["sget", "k.dump", "a", "other"]), "1");
    assert_eq!(case.out(&["sget", "k.dump", "b", "other"]), "other");
    assert_eq!(case.out(&["sget", "none.dump", "b", "other"]), "other");
    assert_eq!(case.fails(&["sget", "k.dump", "users:/b", "other"]).0, 2);
}

#[test]
fn file_prints_where_keys_are_stored() {
    let case = Case::new();
    case.out(&["set", "k.dump", "a", "1"]);
    std::os::unix::fs::symlink("k.dump", case.path().join("link.dump")).expect("a link");
    let whole = case.path().canonicalize().expect("a path").join("k.dump");
    assert_eq!(case.out(&["file", "link.dump", "a"]), format!("{}\n", whole.display()));
    assert_eq!(json(&case.out(&["file", "k.dump", "--json"]))["format"], "dump");
    assert_eq!(case.fails(&["file", "k.dump", "b"]).0, 3);
    assert_eq!(case.fails(&["file", "none.dump"]).0, 3);
}

#[test]
fn validate_reports_invalid_values() {
    let case = Case::new();
    case.write(
        "k.ini",
        "[server]\n;@ type = long\nport = many\n;@ check/range = 1-10,20\nload = 15\n\
         ;@ check/enum/#0 = a\n;@ check/enum/#1 = b\nmode = c\n\
         ;@ check/validation = [a-z]+\n;@ check/validation/match = LINE\nname = Ada\n\
         ;@ check/length/max = 2\nlong = abc\n;@ array = \"#1\"\nhosts = \n[server/hosts]\n\"#0\" = x\n",
    );
    let output = case.run(&["validate", "k.ini"]);
    assert_eq!(output.status.code(), Some(12));
    let stdout = String::from_utf8(output.stdout).expect("UTF-8");
    for line in [
        "user:/server/port: \"many\" is not a valid long",
        "user:/server/load: \"15\" is not in 1-10,20",
        "user:/server/mode: \"c\" is not one of a, b",
        "user:/server/name: \"Ada\" does not match [a-z]+",
        "user:/server/long: \"abc\" is longer than 2 bytes",
        "user:/server/hosts: the last element is `#0`, and `array` says `#1`",
    ] {
        assert!(stdout.contains(line), "{line} in {stdout}");
    }
    assert_eq!(stdout.lines().count(), 6, "{stdout}");
    assert_eq!(case.fails(&["validate", "k.ini", "server/hosts"]).0, 12);
    case.write("j.json", r#"{"port": 8080, "load": -1.5e3, "on": true, "name": "x"}"#);
    assert_eq!(case.out(&["validate", "j.json"]), "Checked 4 keys\n");
}

#[test]
fn validate_uses_the_specification() {
    let case = Case::new();
    for (name, meta, value) in [
        ("server/#/port", "type", "unsigned_short"),
        ("server/_", "check/enum/#0", "a"),
        ("needed", "require", ""),
    ] {
        case.out(&["meta-set", "spec.dump", name, meta, value, "--parent", "spec:/"]);
    }
    case.out(&["set", "k.json", "server/#0/port", "70000"]);
    assert_eq!(case.out(&["validate", "k.json"]), "Checked 1 key\n");
    let output = case.run(&["validate", "k.json", "--spec", "spec.dump"]);
    case.out(&["set", "l.dump", "server/kind", "b"]);
    let other = case.run(&["validate", "l.dump", "--spec", "spec.dump"]);
    assert_eq!([output.status.code(), other.status.code()], [Some(12), Some(12)]);
    let stdout = String::from_utf8([output.stdout, other.stdout].concat()).expect("UTF-8");
    for line in [
        "user:/server/#0/port: \"70000\" is not a valid unsigned_short",
        "user:/server/kind: \"b\" is not one of a",
        "/needed: the key is required",
    ] {
        assert!(stdout.contains(line), "{line} in {stdout}");
    }
}

#[test]
fn editor_saves_the_edited_file() {
    let case = Case::new();
    case.write("c.toml", "# mine\n[server]\nport = 80 # plain\nhost = \"a\"\n");
    let sed = "sed -i s/^host.*/host=b/";
    assert_eq!(case.out(&["editor", "c.toml", "server", "--editor", sed]), "Saved 2 keys\n");
    let text = std::fs::read_to_string(case.path().join("c.toml")).expect("a file");
    assert_eq!(text, "# mine\n[server]\nport = 80 # plain\nhost = \"b\"\n");
    assert_eq!(case.out(&["editor", "c.toml", "--editor", "true"]), "Nothing changed\n");
    assert_eq!(case.fails(&["editor", "c.toml", "--editor", "false"]).0, 1);
    let broken = "sh -c 'echo [broken > $0'";
    let (code, message) = case.fails(&["editor", "c.toml", "--editor", broken]);
    assert_eq!(code, 2);
    let kept = message.split("saved to ").nth(1).expect("a path").trim();
    assert_eq!(std::fs::read_to_string(kept).expect("a draft"), "[broken\n");
    std::fs::remove_file(kept).expect("it goes");
    assert_eq!(std::fs::read_to_string(case.path().join("c.toml")).expect("a file"), text);
}

#[test]
fn a_document_preserves_other_entries() {
    let case = Case::new();
    let json = "{\n  \"@context\": \"https://w3id.org\",\n  \"@id\": \"x\",\n  \"z\": [],\n  \"a\": 1.50,\n  \"a\": 2\n}\n";
    let toml = "# first\nwhen = 1979-05-27\nz.b = 0xff\na = [ 1, # one\n 2 ]\nz.a = 'x'";
    let ini = "; first\r\n[z]\r\nb=1\r\n\r\n# why\r\na = 2\r\n";
    for (file, text, name, from, to) in [
        ("c.json", json, "@id", "\"@id\": \"x\"", "\"@id\": \"new\""),
        ("c.toml", toml, "z/a", "'x'", "\"new\""),
        ("c.ini", ini, "z/a", "a = 2", "a = new"),
    ] {
        case.write(file, text);
        case.out(&["set", file, name, "new"]);
        let edited = std::fs::read_to_string(case.path().join(file)).expect("a file");
        assert_eq!(edited, text.replace(from, to));
        case.out(&["rm", file, name]);
        let edited = std::fs::read_to_string(case.path().join(file)).expect("a file");
        assert_eq!(case.fails(&["get", file, name]).0, 3);
        assert!(edited.len() < text.len() && !edited.contains("new"), "{edited}");
    }
}

#[test]
fn keys_that_a_document_cannot_represent_are_refused_before_writing() {
    let case = Case::new();
    let text = r#"{"port": 80, "hosts": ["a", "b"]}"#;
    case.write("c.json", text);
    for (arguments, expected) in [
        (&["set", "c.json", "port", "many"][..], "metakey `type`"),
        (&["set", "c.json", "hosts/#5", "x"], "after its last one"),
        (&["rm", "c.json", "hosts/#0"], "other names"),
        (&["cp", "c.json", "port", "hosts"], "an array"),
    ] {
        let (code, message) = case.fails(arguments);
        assert_eq!(code, 2, "{message}");
        assert!(message.contains(expected), "{message}");
        assert_eq!(std::fs::read_to_string(case.path().join("c.json")).expect("a file"), text);
    }
}

#[test]
fn an_error_in_a_text_is_reported_with_line_and_column() {
    let case = Case::new();
    for (file, text, expected) in [
        ("a.json", "{\n  \"a\": 1,\n}", "at byte 12: json: trailing comma (line 3, column 1)"),
        ("b.json", "{\n  \"@\": 1\n}", "at byte 9: json: the member `@` is an object"),
        ("c.json", "{\"a\": {\"@\": {\"value\": 1}}}", "are text (line 1, column 23)"),
        ("d.toml", "a = 1\nb = = 2\n", "(line 2, column 5)"),
        ("e.ini", "a = 1\n[open\n", "at byte 6: ini: a section ends with `]` (line 2, column 1)"),
    ] {
        case.write(file, text);
        let (code, message) = case.fails(&["ls", file]);
        assert_eq!(code, 8, "{message}");
        assert!(message.contains(expected), "{message}");
    }
}

#[test]
fn concurrent_sets_are_all_applied() {
    let case = Case::new();
    for file in ["k.json", "k.quickdump"] {
        let names: Vec<_> = (0..12).map(|number| format!("a/k{number}")).collect();
        let children: Vec<_> = names
            .iter()
            .map(|name| case.command(&["set", file, name, "v"]).stdout(Stdio::null()).spawn())
            .collect();
        for child in children {
            assert!(child.expect("the program runs").wait().expect("it ends").success());
        }
        assert_eq!(case.out(&["ls", file]).lines().count(), names.len());
    }
}

#[test]
fn convert_supports_every_pair_of_formats() {
    let case = Case::new();
    case.out(&["set", "k.dump", "a/b", "1"]);
    case.out(&["meta-set", "k.dump", "a/b", "comment/#0", "why"]);
    for to in ["quickdump", "json", "toml", "ini"] {
        case.out(&["convert", "k.dump", &format!("k.{to}")]);
        let back = case.out(&["convert", &format!("k.{to}"), "--to", "dump"]);
        assert_eq!(back.as_bytes(), std::fs::read(case.path().join("k.dump")).expect("a file"));
    }
    assert_eq!(case.fails(&["convert", "k.dump"]).0, 2);
}

#[test]
fn import_and_export() {
    let case = Case::new();
    case.out(&["set", "k.dump", "app/port", "80"]);
    let text = r#"{"port": 8080, "hosts": ["a", "b"]}"#;
    let import = |strategy: &str| {
        let arguments = ["import", "k.dump", "app", "--from", "json", "-s", strategy];
        assert!(case.run_with(&arguments, text).status.success());
    };
    import("ours");
    assert_eq!(case.out(&["get", "k.dump", "app/port"]), "80\n");
    import("theirs");
    assert_eq!(case.out(&["get", "k.dump", "app/hosts/#1"]), "b\n");
    case.out(&["set", "k.dump", "app/old", "x"]);
    import("cut");
    assert_eq!(
        json(&case.out(&["export", "k.dump", "app"])),
        serde_json::json!({ "hosts": ["a", "b"], "port": 8080 })
    );
    let toml = case.out(&["export", "k.dump", "app", "--to", "toml"]);
    assert!(toml.contains("port = 8080"), "{toml}");
    assert_eq!(case.fails(&["export", "k.dump", "none"]).0, 3);
}

#[test]
fn merge_and_diff() {
    let case = Case::new();
    case.write("base.ini", "a = 1\nb = 1\n");
    case.write("ours.ini", "a = 2\nb = 1\n");
    case.write("theirs.ini", "a = 1\nc = 1\n");
    case.out(&["merge", "ours.ini", "theirs.ini", "base.ini", "merged.ini"]);
    assert_eq!(
        std::fs::read_to_string(case.path().join("merged.ini")).expect("a file"),
        "a = 2\nc = 1\n"
    );
    let differences = case.run(&["diff", "base.ini", "merged.ini"]);
    assert_eq!(differences.status.code(), Some(12));
    assert_eq!(
        String::from_utf8(differences.stdout).expect("UTF-8"),
        "- user:/a string \"1\"\n+ user:/a string \"2\"\n- user:/b string \"1\"\n+ user:/c string \"1\"\n"
    );
    assert_eq!(case.out(&["diff", "base.ini", "base.ini"]), "");
    case.write("theirs.ini", "a = 3\nb = 1\n");
    let (code, message) = case.fails(&["merge", "ours.ini", "theirs.ini", "base.ini", "no.ini"]);
    assert_eq!(code, 12);
    assert!(message.contains("both sides changed user:/a"), "{message}");
    assert!(!case.path().join("no.ini").exists());
    let theirs =
        ["merge", "ours.ini", "theirs.ini", "base.ini", "-", "--to", "ini", "-s", "theirs"];
    assert_eq!(case.out(&theirs), "a = 3\nb = 1\n");
}

#[test]
fn a_file_is_replaced_with_its_mode() {
    let case = Case::new();
    case.out(&["set", "k.dump", "a", "1"]);
    let path = case.path().join("k.dump");
    std::fs::set_permissions(&path, std::fs::Permissions::from_mode(0o600)).expect("a mode");
    case.out(&["set", "k.dump", "a", "2"]);
    assert_eq!(std::fs::metadata(&path).expect("a file").permissions().mode() & 0o777, 0o600);
}

#[test]
fn damage_is_reported_with_its_location() {
    let case = Case::new();
    case.write("k.dump", "kdbOpen 2\n$key string 1 1\na\nb\n$what\n");
    let (code, message) = case.fails(&["ls", "k.dump"]);
    assert_eq!(code, 8);
    assert!(message.contains("k.dump: at byte 30: `$what` is no command"), "{message}");
    case.write("k.dump", "kdbOpen 2\n$key string 1 1\na\nb\n");
    case.out(&["ls", "k.dump"]);
    assert_eq!(case.fails(&["ls", "k.dump", "--strict"]).0, 8);
    case.write("k.txt", "what");
    assert_eq!(case.fails(&["ls", "k.txt"]).0, 2);
    assert_eq!(case.fails(&["ls", "none.dump"]).0, 3);
    let (_, message) = case.fails(&["ls", "/none.dump"]);
    assert!(message.contains("for the store write :/none.dump"), "{message}");
    let (code, message) = case.fails(&["meta-set", "k.dump", "a", "x\\", "v"]);
    assert!(code == 2 && message.contains("metakey `x\\`"), "{message}");
    assert_eq!(case.fails(&["set", "k.dump", "dir:/x", "1"]).0, 2);
}
