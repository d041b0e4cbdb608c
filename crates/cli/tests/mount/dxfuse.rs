//! `cenote mount --dxfuse`, as used by scripts for dxfuse. The cases are those of dxfuse's own scripts; each test names
//! its script.

use std::fs;
use std::path::PathBuf;
use std::process::{Command, Output};

use serde_json::{Value, json};

use crate::support::{PASSWORD, World, can_mount, eventually};

/// Projects as required by the scripts, and a user who may change one and view the other.
struct Projects {
    world: World,
    token: String,
}

impl Projects {
    fn new() -> Self {
        let world = World::new();
        let trees = [
            ("/test_data/mini/small/A.txt", "first"),
            ("/test_data/mini/small/B.txt", "second"),
            ("/test_data/correctness/A.txt", "content"),
            ("/read_only/A.txt", "kept"),
        ];
        for (path, text) in trees {
            fs::write(world.path("source"), text).unwrap();
            world.ok(&["put", "source", path]);
        }
        world.feed(&["user", "add", "ben", "--password-stdin"]);
        world.ok(&["acl", "set", "/test_data", "ben=write"]);
        world.ok(&["acl", "set", "/read_only", "ben=read"]);
        let ben = [("CENOTE_USER", "ben"), ("CENOTE_PASSWORD", PASSWORD)];
        let made = world.cenote(&["--json", "token", "add", "dx"]).envs(ben).output().unwrap();
        let made: Value = serde_json::from_slice(&made.stdout).unwrap();
        Self { token: made["token"].as_str().unwrap().to_owned(), world }
    }

    /// The command, with the variables of `dx` and none of cenote's.
    fn dxfuse(&self, arguments: &[&str]) -> Output {
        let mut command = self.world.cenote(&[&["mount", "--dxfuse"], arguments].concat());
        self.environment(&mut command).output().unwrap()
    }

    fn environment<'a>(&self, command: &'a mut Command) -> &'a mut Command {
        let (host, port) = self.world.address.split_once(':').unwrap();
        let context = json!({ "auth_token_type": "Bearer", "auth_token": self.token });
        command.env_remove("CENOTE_URL").env("DX_APISERVER_HOST", host);
        command.env("DX_APISERVER_PORT", port).env("DX_APISERVER_PROTOCOL", "http");
        command.env("DX_SECURITY_CONTEXT", context.to_string())
    }

    /// Mounts at `mnt`, with the state folder `state`.
    fn mount(&self, arguments: &[&str]) -> Mounted<'_> {
        let state = self.world.path("state");
        let fixed = ["-stateFolder", state.to_str().unwrap()];
        let done = self.dxfuse(&[&fixed, arguments].concat());
        let errors = String::from_utf8_lossy(&done.stderr).into_owned();
        assert!(done.status.success(), "{arguments:?}: {errors}");
        let stdout = String::from_utf8(done.stdout).unwrap();
        let log = format!("The log file is located at {}\n", state.join("dxfuse.log").display());
        let rest = "starting fs daemon\nwait for ready\nDaemon started successfully\n";
        assert_eq!(stdout, format!("{log}{rest}"));
        Mounted(&self.world, "mnt")
    }

    /// A method of the API.
    fn call(&self, resource: &str, method: &str, input: &Value) -> Value {
        let url = format!("{}/{resource}/{method}", self.world.url());
        let done = Command::new("curl")
            .args(["-sS", "-H", &format!("Authorization: Bearer {}", self.token)])
            .args(["-H", "Content-Type: application/json", "-d", &input.to_string(), &url])
            .output()
            .unwrap();
        let answer: Value = serde_json::from_slice(&done.stdout).unwrap();
        assert!(answer.get("error").is_none(), "{answer}");
        answer
    }

    fn project(&self, path: &str) -> String {
        let found = self.call("system", "findFolder", &json!({ "path": path }));
        found["project"].as_str().unwrap().to_owned()
    }

    fn log(&self) -> String {
        fs::read_to_string(self.world.path("state/dxfuse.log")).unwrap()
    }
}

struct Mounted<'a>(&'a World, &'static str);

impl Mounted<'_> {
    fn path(&self, name: &str) -> PathBuf {
        self.0.path(self.1).join(name)
    }

    /// Runs a script in the mount; returns what it prints.
    fn sh(&self, script: &str) -> String {
        let mut command = Command::new("bash");
        command.args(["-c", &format!("exec 2>&1; {script}")]).env("LC_ALL", "C");
        let done = command.current_dir(self.path("")).output().unwrap();
        String::from_utf8(done.stdout).unwrap()
    }

    /// The same, for a script that has to succeed.
    fn ok(&self, script: &str) -> String {
        let output = self.sh(&format!("set -e; {script}; echo DONE"));
        output.strip_suffix("DONE\n").unwrap_or_else(|| panic!("{script}: {output}")).to_owned()
    }
}

impl Drop for Mounted<'_> {
    fn drop(&mut self) {
        let at = self.0.path(self.1);
        let _unmounted = Command::new("fusermount3").args(["-u", "-z"]).arg(at).status();
    }
}

/// `fs_test_cases.sh`.
#[test]
fn files_and_directories_are_created_moved_and_removed_and_other_operations_are_refused() {
    if !can_mount() {
        return;
    }
    let projects = Projects::new();
    let mount = projects.mount(&["-limitedWrite", "mnt", "test_data", "read_only"]);
    let log = projects.log();
    assert!(log.contains("Mounting dxfuse succeeded") && !log.contains(&projects.token), "{log}");
    assert_eq!(mount.sh("ls"), "read_only\ntest_data\n");
    let refused = mount.sh("echo hello > read_only/new");
    assert!(refused.contains("Operation not permitted"), "{refused}");
    mount.ok("mkdir test_data/w; cd test_data/w; mkdir T; cp ../mini/small/* T/
        diff -r ../mini/small T; mkdir T/E T/F; echo 'catch 22' > T/E/Z.txt; rm -r T
        mkdir N; mkdir N/E; echo x > N/E/X.txt; ! rmdir N/E; ! rmdir N/missing; ! mkdir N/E; rm -r N
        echo one > X; mv X Z; mv Z X; rm X; mkdir A B; echo two > A/X; mv A/X A/Y; mv A/Y B/Y; rm -r A B
        mkdir A; echo x > A/X; mv A B; test -f B/X; mkdir D D/K; mv B D/K/; grep -q x D/K/B/X; rm -r D");
    let existing =
        mount.sh("cd test_data/w; echo happy > hello; echo nothing > hello; rm -f hello");
    assert!(existing.contains("Operation not supported"), "{existing}");
    for (script, text) in [
        ("rm missing", "No such file or directory"),
        ("mv missing other", "No such file or directory"),
        ("mkdir X; echo zz > Y; mv -f X Y", "cannot overwrite non-directory"),
        ("mkdir new", "Operation not permitted"),
    ] {
        let at = if script == "mkdir new" { "." } else { "test_data/w" };
        let output = mount.sh(&format!("cd {at}; {script}"));
        assert!(output.contains(text), "{script}: {output}");
    }
}

/// `faux_dirs.sh`.
#[test]
fn objects_of_one_name_are_in_numbered_directories() {
    if !can_mount() {
        return;
    }
    let projects = Projects::new();
    let id = projects.project("/test_data");
    for name in ["Chicago.txt", "Chicago.txt", "NewYork.txt", "NewYork.txt"] {
        let input = json!({ "project": id, "folder": "/faux", "parents": true, "name": name, "close": true });
        projects.call("record", "new", &input);
    }
    let mount = projects.mount(&["-limitedWrite", "mnt", &id]);
    let listed = mount.ok("cd test_data/faux; ls . 1");
    assert_eq!(listed, ".:\n1\nChicago.txt\nNewYork.txt\n\n1:\nChicago.txt\nNewYork.txt\n");
    mount.ok("cd test_data/faux; ! mv 1 2; ! mv -f NewYork.txt 1/; mkdir T
        mv 1/NewYork.txt T; rm -rf T; rm -rf 1; test ! -e 1");
    assert_eq!(mount.ok("ls test_data/faux"), "Chicago.txt\nNewYork.txt\n");
}

/// `file_write_slow.sh`, and `dx_download_compare.sh`.
#[test]
fn written_files_are_in_the_store_after_close() {
    if !can_mount() {
        return;
    }
    let projects = Projects::new();
    let mount = projects.mount(&["-limitedWrite", "mnt", ":/test_data"]);
    mount.ok("cd test_data; echo small > s; : > empty; head -c 9000000 /dev/zero > large");
    let large = mount.sh("cat test_data/large | md5sum");
    let stored = projects.world.path("got");
    projects.world.ok(&["get", "/test_data/large", stored.to_str().unwrap()]);
    assert_eq!(fs::metadata(&stored).unwrap().len(), 9_000_000);
    assert_eq!(large, mount.sh(&format!("cat {} | md5sum", stored.display())));
    assert_eq!(projects.world.ok(&["cat", "/test_data/s"]), "small\n");
    assert_eq!(projects.world.ok(&["cat", "/test_data/empty"]), "");
    let tree = projects.world.path("tree");
    projects.world.ok(&["get", "-r", "/test_data/mini", tree.to_str().unwrap()]);
    mount.ok(&format!("diff -r test_data/mini {}", tree.display()));
}

/// `file_overwrite.sh`.
#[test]
fn files_are_overwritten_if_that_is_allowed() {
    if !can_mount() {
        return;
    }
    let projects = Projects::new();
    let mount = projects.mount(&["-limitedWrite", "-allowOverwrite", "mnt", "test_data"]);
    let get = || projects.world.ok(&["cat", "/test_data/A"]);
    mount.ok("cd test_data; echo one > A; echo two > A");
    assert_eq!(get(), "two\n");
    mount.ok("cd test_data; echo three | tee A");
    assert_eq!(get(), "three\n");
    mount.ok("cd test_data; sed -i s/three/four/ A; tail -n 1 A > B; mv B A");
    assert_eq!(get(), "four\n");
    let listed =
        projects.call(&projects.project("/test_data"), "listFolder", &json!({ "folder": "/" }));
    assert_eq!(listed["objects"].as_array().unwrap().len(), 1);
}

/// `xattr_test.sh`.
#[test]
fn tags_and_properties_are_extended_attributes() {
    if !can_mount() {
        return;
    }
    let projects = Projects::new();
    let mount =
        projects.mount(&["-limitedWrite", "-debugFuse", "-verbose", "2", "mnt", "test_data"]);
    let path = mount.path("test_data/mini/small/A.txt");
    let get = |name: &str| {
        let mut value = vec![0; 100];
        rustix::fs::getxattr(&path, name, &mut value[..]).map(|length| {
            value.truncate(length);
            String::from_utf8(value).unwrap()
        })
    };
    let flags = rustix::fs::XattrFlags::empty();
    rustix::fs::setxattr(&path, "prop.family", b"mammal", flags).unwrap();
    rustix::fs::setxattr(&path, "tag.high", b"X", flags).unwrap();
    assert_eq!(get("prop.family").unwrap(), "mammal");
    assert_eq!(get("tag.high").unwrap(), "");
    let mut names = vec![0; 1000];
    let length = rustix::fs::listxattr(&path, &mut names[..]).unwrap();
    let names = String::from_utf8(names[..length].to_vec()).unwrap();
    assert_eq!(names, "tag.high\0prop.family\0base.state\0base.archivalState\0base.id\0");
    let fields = json!({ "fields": { "properties": true, "tags": true } });
    let described = projects.call(&get("base.id").unwrap(), "describe", &fields);
    assert_eq!(described["properties"], json!({ "family": "mammal" }));
    assert_eq!(described["tags"], json!(["high"]));
    rustix::fs::removexattr(&path, "prop.family").unwrap();
    assert_eq!(get("prop.family").unwrap_err(), rustix::io::Errno::NODATA);
}

/// `manifest_test.sh`.
#[test]
fn a_manifest_shows_files_and_folders_at_its_paths() {
    if !can_mount() {
        return;
    }
    let projects = Projects::new();
    let id = projects.project("/test_data");
    let found = json!({ "class": "file", "name": "A.txt", "scope": { "project": id, "folder": "/correctness" } });
    let found = projects.call("system", "findDataObjects", &found);
    let file = found["results"][0]["id"].as_str().unwrap();
    let files = json!([
        { "proj_id": id, "file_id": file, "parent": "/" },
        { "proj_id": id, "file_id": file, "parent": "/in/deep", "fname": "B.txt" },
        { "proj_id": "/test_data", "file_id": "/mini/small/B.txt", "parent": "/in" },
    ]);
    let directories = json!([
        { "proj_id": id, "folder": "/mini/small", "dirname": "/data/d1" },
        { "proj_id": projects.project("/read_only"), "folder": "/", "dirname": "/fish" },
    ]);
    let manifest = json!({ "Files": files, "directories": directories });
    fs::write(projects.world.path("m.json"), manifest.to_string()).unwrap();
    let mount = projects.mount(&["-limitedWrite", "mnt", "m.json"]);
    assert_eq!(mount.ok("ls; cat A.txt in/deep/B.txt"), "A.txt\ndata\nfish\nin\ncontentcontent");
    assert_eq!(mount.ok("cat in/B.txt data/d1/A.txt fish/A.txt"), "secondfirstkept");
    assert_eq!(mount.ok("stat -c '%a %h' . A.txt data/d1"), "555 1\n444 1\n777 1\n");
    mount.ok("echo new > data/d1/new; ! touch in/new; ! rm A.txt");
    assert_eq!(projects.world.ok(&["cat", "/test_data/mini/small/new"]), "new\n");
    let kept = fs::read(projects.world.path("state/dxfuse_manifest.json")).unwrap();
    let kept: Value = serde_json::from_slice(&kept).unwrap();
    assert_eq!(kept["files"][0]["fname"], "A.txt");
    assert_eq!(kept["files"][0]["size"], 7);
}

/// `multiple_mounts.sh`.
#[test]
fn two_mounts_have_state_folders_of_their_own() {
    if !can_mount() {
        return;
    }
    let projects = Projects::new();
    let one = projects.mount(&["mnt", "test_data"]);
    fs::create_dir(projects.world.path("mnt2")).unwrap();
    let done = projects.dxfuse(&["-stateFolder", "state2", "mnt2", "test_data"]);
    assert!(done.status.success(), "{}", String::from_utf8_lossy(&done.stderr));
    let two = Mounted(&projects.world, "mnt2");
    for mount in [&one, &two] {
        assert_eq!(mount.ok("cat test_data/correctness/A.txt"), "content");
    }
    let mounts = fs::read_to_string("/proc/self/mounts").unwrap();
    let dir = projects.world.path("");
    let ours = |line: &&str| line.starts_with("dxfuse ") && line.contains(dir.to_str().unwrap());
    assert_eq!(mounts.lines().filter(ours).count(), 2);
    assert!(projects.world.path("state2/dxfuse.log").exists());
    let processes = fs::read_dir("/proc").unwrap().flatten();
    let names = processes.filter_map(|it| fs::read_to_string(it.path().join("comm")).ok());
    assert!(names.filter(|name| name == "dxfuse\n").count() >= 2);
    drop((one, two));
    eventually("the log says so", || projects.log().contains("Shutting down dxfuse"));
}

/// The exit code of dxfuse is 1 if it refuses to start, and 2 for a wrong command line.
#[test]
fn mount_errors_are_reported() {
    let projects = Projects::new();
    let manifest = json!({ "directories": [
        { "proj_id": "/test_data", "folder": "/", "dirname": "/a/b" },
        { "proj_id": "/test_data", "folder": "/", "dirname": "/a" },
    ] });
    fs::write(projects.world.path("leaf.json"), manifest.to_string()).unwrap();
    fs::write(projects.world.path("bad.json"), "[]").unwrap();
    for (arguments, code, text) in [
        (&["-help"][..], 0, "usage:"),
        (&["mnt"], 2, "a project, or a manifest, is missing"),
        (&["-verbose", "mnt", "p"], 2, "invalid value"),
        (&["-stateFolder", "s", "missing", "test_data"], 1, "not a directory: missing"),
        (&["-stateFolder", "s", "mnt", "nothing"], 1, "Could not find project with name nothing"),
        (&["-stateFolder", "s", "mnt", "project-1"], 1, "Could not describe project project-1"),
        (
            &["-stateFolder", "s", "mnt", "leaf.json"],
            1,
            "/a is a not leaf on the directory scaffolding",
        ),
        (&["-stateFolder", "s", "mnt", "bad.json"], 1, "it is no manifest"),
        (&["-stateFolder", "s/t/u", "mnt", "test_data"], 1, "the state folder"),
    ] {
        let done = projects.dxfuse(arguments);
        let stderr = String::from_utf8_lossy(&done.stderr).into_owned();
        assert_eq!(done.status.code(), Some(code), "{arguments:?}: {stderr}");
        assert!(stderr.contains(text), "{arguments:?}: {stderr}");
    }
    assert_eq!(projects.dxfuse(&["-version"]).stdout, b"v1.6.1\n");
    let link = projects.world.path("dxfuse");
    std::os::unix::fs::symlink(env!("CARGO_BIN_EXE_cenote"), &link).unwrap();
    let done = Command::new(link).arg("-version").output().unwrap();
    assert_eq!(done.stdout, b"v1.6.1\n", "it is the same command under that name");
}

#[test]
fn a_manifest_can_be_mounted_with_the_options_of_this_program() {
    if !can_mount() {
        return;
    }
    let projects = Projects::new();
    let manifest = json!({
        "files": [{ "proj_id": "/test_data", "file_id": "/correctness/A.txt", "parent": "/", "fname": "A" }],
        "directories": [{ "proj_id": "/read_only", "folder": "/", "dirname": "/d" }],
    });
    fs::write(projects.world.path("places.json"), manifest.to_string()).unwrap();
    let mount = projects.world.mount(&["--write", "--manifest", "places.json"]);
    assert_eq!(mount.sh("ls; cat A d/A.txt"), "A\nd\ncontentkept");
    mount.sh("echo more >> A; mv d/A.txt d/B.txt");
    assert_eq!(projects.world.ok(&["cat", "/test_data/correctness/A.txt"]), "contentmore\n");
    assert_eq!(projects.world.ok(&["cat", "/read_only/B.txt"]), "kept");
}

#[test]
fn umount_ends_mounts_in_the_manner_of_dxfuse() {
    if !can_mount() {
        return;
    }
    let projects = Projects::new();
    let mount = projects.mount(&["mnt", "test_data"]);
    assert!(projects.world.ok(&["mount", "--status", "mnt"]).contains("mounted"));
    let again = projects.dxfuse(&["mnt", "test_data"]);
    let stderr = String::from_utf8_lossy(&again.stderr).into_owned();
    assert!(again.status.code() == Some(1) && stderr.contains("already mounted"), "{stderr}");
    projects.world.ok(&["umount", "mnt"]);
    assert!(!mount.path("test_data").exists());
}
