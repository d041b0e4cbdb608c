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
fn a_cascading_name_sets_only_what_a_lookup_finds() {
    let case = Case::new();
    case.out(&["set", "k.dump", "a", "1"]);
    assert_eq!(case.out(&["set", "k.dump", "/a", "2"]), "Set string to \"2\"\n");
    let (code, message) = case.fails(&["set", "k.dump", "/b", "2"]);
    assert_eq!(code, 3);
    assert!(message.contains("name the namespace"), "{message}");
}

#[test]
fn ls_lists_subtrees_by_depth() {
    let case = Case::new();
    ["a", "a/b", "a/b/c", "d"].iter().for_each(|name| {
        case.out(&["set", "k.quickdump", name, "v"]);
    });
    assert_eq!(case.out(&["ls", "k.quickdump"]), "user:/a\nuser:/a/b\nuser:/a/b/c\nuser:/d\n");
    assert_eq!(case.out(&["ls", "k.quickdump", "a", "-m", "1", "-M", "1"]), "user:/a/b\n");
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
    assert!(message.contains("there is a key `user:/c` already"), "{message}");
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
fn convert_goes_from_any_format_to_any() {
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
fn damage_is_told_with_its_place() {
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
    assert!(message.contains("in the store it is called :/none.dump"), "{message}");
    let (code, message) = case.fails(&["meta-set", "k.dump", "a", "x\\", "v"]);
    assert!(code == 2 && message.contains("metakey `x\\`"), "{message}");
    assert_eq!(case.fails(&["set", "k.dump", "dir:/x", "1"]).0, 2);
}
