//! Mounts of users with limited rights.

use std::fs::{self, OpenOptions};
use std::io::{ErrorKind, Write};
use std::os::unix::fs::{FileExt, PermissionsExt};

use crate::support::{PASSWORD, World, can_mount, eventually};

/// A store with a file that Ben may read, and one that he may not.
fn shared() -> World {
    let world = World::new();
    fs::write(world.path("source"), "one").unwrap();
    for path in ["/lab/open", "/lab/other", "/private/secret"] {
        world.ok(&["put", "source", path]);
    }
    world.feed(&["user", "add", "ben", "--password-stdin"]);
    world.ok(&["acl", "set", "/lab", "ben=read"]);
    world
}

#[test]
fn a_user_with_read_access_only_cannot_change_anything() {
    if !can_mount() {
        return;
    }
    let world = shared();
    let ben = [("CENOTE_USER", "ben"), ("CENOTE_PASSWORD", PASSWORD)];
    let mount = world.mount_as(&ben, &["--write"]);
    let (open, new) = (mount.path("lab/open"), mount.path("lab/new"));
    assert_eq!(fs::read_to_string(&open).unwrap(), "one");
    let written = |options: &mut OpenOptions, path| {
        let mut file = options.write(true).open(path)?;
        file.write_all(b"changed")?;
        file.sync_all()
    };
    let refused = [
        written(&mut OpenOptions::new(), &open),
        written(OpenOptions::new().create_new(true), &new),
        fs::create_dir(mount.path("lab/dir")),
        fs::remove_file(&open),
        fs::rename(&open, mount.path("lab/moved")),
        fs::set_permissions(&open, fs::Permissions::from_mode(0o600)),
    ];
    for (number, refused) in refused.into_iter().enumerate() {
        assert_eq!(refused.unwrap_err().kind(), ErrorKind::PermissionDenied, "{number}");
    }
    // The kernel reports the last close of a file after `close` has returned; until then this mount shows what was written.
    eventually("what was refused is lost", || {
        fs::read_to_string(&open).is_ok_and(|it| it == "one")
    });
    eventually("the new file is lost", || !new.exists());
    assert_eq!(world.ok(&["cat", "/lab/open"]), "one");
}

#[test]
fn hidden_resources_are_no_longer_listed_or_readable() {
    if !can_mount() {
        return;
    }
    let world = shared();
    let ben = [("CENOTE_USER", "ben"), ("CENOTE_PASSWORD", PASSWORD)];
    let mount = world.mount_as(&ben, &[]);
    let (open, secret) = (mount.path("lab/open"), mount.path("private/secret"));
    assert!(fs::read(&secret).is_err());
    assert!(!mount.sh("ls").contains("private"));
    assert_eq!(fs::read_to_string(&open).unwrap(), "one");
    world.ok(&["acl", "set", "/lab", "ben=none"]);
    assert!(fs::read(mount.path("lab/other")).is_err(), "it was not read before");
    eventually("the revocation", || fs::read(&open).is_err());
    eventually("the listing", || !mount.sh("ls").contains("lab"));
    world.ok(&["acl", "set", "/lab", "ben=read"]);
    eventually("the grant", || fs::read(mount.path("lab/other")).is_ok_and(|it| it == b"one"));
    assert!(fs::read(&secret).is_err());
}

#[test]
fn a_revoked_token_gives_no_access() {
    if !can_mount() {
        return;
    }
    let world = shared();
    let made: serde_json::Value = serde_json::from_str(&world.ok(&[
        "--json",
        "token",
        "add",
        "robot",
        "--level",
        "read",
        "--expires",
        "1d",
    ]))
    .unwrap();
    let token = [("CENOTE_TOKEN", made["token"].as_str().unwrap())];
    let mount = world.mount_as(&token, &["--write"]);
    let open = mount.path("lab/open");
    assert_eq!(fs::read_to_string(&open).unwrap(), "one");
    let refused = fs::create_dir(mount.path("lab/new")).unwrap_err();
    assert_eq!(refused.kind(), ErrorKind::PermissionDenied, "it is for reading");
    let tokens = world.ok(&["--json", "token", "ls"]);
    let listed =
        tokens.lines().map(|line| serde_json::from_str::<serde_json::Value>(line).unwrap());
    let robot = listed.into_iter().find(|token| token["label"] == "robot").unwrap();
    world.ok(&["token", "rm", robot["id"].to_string().trim_matches('"')]);
    let refused = fs::read(mount.path("lab/other")).unwrap_err();
    assert_eq!(refused.kind(), ErrorKind::PermissionDenied, "it is revoked");
    eventually("what was read before", || fs::read(&open).is_err());
}

#[test]
fn files_of_a_group_are_there_for_its_members_only_while_they_are() {
    if !can_mount() {
        return;
    }
    let world = shared();
    world.ok(&["group", "add", "board"]);
    world.ok(&["acl", "set", "/private", "board=read"]);
    let ben = [("CENOTE_USER", "ben"), ("CENOTE_PASSWORD", PASSWORD)];
    let mount = world.mount_as(&ben, &[]);
    let secret = mount.path("private/secret");
    mount.sh("ls");
    // The kernel keeps that the name is missing.
    assert!(fs::read(&secret).is_err());
    world.ok(&["group", "join", "board", "ben"]);
    eventually("the membership", || fs::read_to_string(&secret).is_ok_and(|it| it == "one"));
    let open = fs::File::open(&secret).unwrap();
    world.ok(&["group", "leave", "board", "ben"]);
    eventually("its end", || fs::read(&secret).is_err());
    eventually("where it was open", || open.read_at(&mut [0; 10], 0).is_err());
}
