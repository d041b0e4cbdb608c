//! Refusals: the exit code gives the kind, the hint what to do.

use snapbox::{assert_data_eq, str};

use crate::world::World;

#[test]
fn missing_resources_give_exit_code_3() {
    for world in World::both() {
        let (code, stderr) = world.refused(&["stat", "/gone"]);
        assert_eq!(code, 3);
        assert_data_eq!(
            stderr,
            str![[r#"
cenote: nothing is at /gone
  hint: check the spelling, or whether you may read it

"#]]
        );
        let (code, stderr) = world.refused(&["mkdir", "/gone/below"]);
        assert_eq!(code, 3);
        assert!(
            stderr.ends_with("hint: use -p to create missing parent collections\n"),
            "{stderr}"
        );
        assert_eq!(world.refused(&["put", "gone", ":/x"]).0, 3);
        assert_eq!(world.refused(&["get", ":/gone", "x"]).0, 3);
        assert_eq!(world.refused(&["ls", "/*.gone"]).0, 3);
    }
}

#[test]
fn a_wrong_command_line_gives_exit_code_2() {
    let world = World::local();
    world.file("a", "1");
    std::fs::create_dir(world.path("d")).unwrap();
    for (arguments, expected) in [
        (&["cp", "a", "b"][..], "neither side is in the store"),
        (&["sync", "d", "e"], "neither side is in the store"),
        (&["sync", ":/a", ":/a/b"], "one collection is inside the other"),
        (&["sync", ":/a/b", ":/a"], "one collection is inside the other"),
        (&["put", "d", ":/d"], "a directory: d"),
        (&["put", ":/x", ":/y"], "not a path on this machine"),
        (&["ls", "lab"], "not a path in the store: lab"),
        (&["ls", "lab"], "hint: paths in the store begin with `/`"),
        (&["ls", "/a/../b"], "`..` is not a valid name in the store"),
        (&["ls", "/a["], "not a pattern"),
        (&["get", "-r"], "required arguments"),
        (&["find", "--meta", "=3"], "the condition has no attribute"),
        (&["token", "add", "x", "--expires", "3"], "not a duration"),
        (&["nonsense"], "unrecognized subcommand"),
        (&["acl", "set", "/"], "nothing to set"),
    ] {
        let (code, stderr) = world.refused(arguments);
        assert_eq!(code, 2, "{arguments:?}: {stderr}");
        assert!(stderr.contains(expected), "{arguments:?}: {stderr}");
    }
}

#[test]
fn conflicts_give_exit_code_4() {
    for world in World::both() {
        world.file("a", "1");
        world.ok(&["put", "a", ":/a"]);
        world.ok(&["mkdir", "/c"]);
        world.ok(&["put", "a", ":/c/a"]);
        let before = world.ok(&["ls", "-R", "/"]);
        assert_eq!(world.refused(&["mkdir", "/a"]).0, 4);
        assert_eq!(world.refused(&["mv", "/a", "/c/a"]).0, 4);
        let (code, stderr) = world.refused(&["rm", "/c"]);
        assert!(code == 4 && stderr.contains("hint: use -r to remove it"), "{stderr}");
        assert_eq!(world.ok(&["ls", "-R", "/"]), before);
    }
}

#[test]
fn failed_authentication_gives_exit_code_6_and_denied_access_5_or_3() {
    let world = World::served();
    let wrong = |user: &str, password: &str| {
        let mut command = world.command(&["mkdir", "/x"]);
        let output = command.env("CENOTE_USER", user).env("CENOTE_PASSWORD", password).output();
        output.unwrap().status.code()
    };
    assert_eq!(wrong("ada", "wrong"), Some(6));
    assert_eq!(wrong("nobody", "wrong"), Some(6));
    world.with_input(&["user", "add", "ben", "--password-stdin"], "another secret");
    assert!(matches!(wrong("ben", "another secret"), Some(3 | 5)));
}

#[test]
fn an_unreachable_store_gives_exit_code_10() {
    let world = World::served();
    let address = "http://127.0.0.1:1";
    let output = world.command(&["mkdir", "/x"]).env("CENOTE_URL", address).output().unwrap();
    let stderr = String::from_utf8(output.stderr).unwrap();
    assert!(output.status.code() == Some(10), "{stderr}");
    assert!(stderr.contains("the store cannot be reached"), "{stderr}");
    let dir = world.path("store");
    let (code, stderr) = world.refused(&["--store", dir.to_str().unwrap(), "ls"]);
    assert!(code == 10 && stderr.contains("another process has the store open"), "{stderr}");
}

#[test]
fn secrets_are_not_sent_to_other_servers() {
    let world = World::served();
    let other = ["--store", "http://127.0.0.1:1", "mkdir", "/x"];
    let (code, stderr) = world.refused(&other);
    assert!(
        code == 2 && stderr.contains("the password set in environment CENOTE_PASSWORD"),
        "{stderr}"
    );
    assert!(stderr.contains("is not sent to http://127.0.0.1:1"), "{stderr}");
    let secret = |name: &str| {
        let mut command = world.command(&other);
        command.env_remove("CENOTE_USER").env_remove("CENOTE_PASSWORD").env(name, "secret");
        command.output().unwrap().status.code()
    };
    assert_eq!(secret("CENOTE_TOKEN"), Some(2));
    assert_eq!(secret("CENOTE_TICKET"), Some(2));
    // Without an address from the same source, it is for the given one.
    let mut alone = world.command(&other);
    assert_eq!(alone.env_remove("CENOTE_URL").output().unwrap().status.code(), Some(10));
}

#[test]
fn errors_are_json_if_results_are() {
    let world = World::local();
    let (code, stderr) = world.refused(&["--json", "stat", "/gone"]);
    let error: serde_json::Value = serde_json::from_str(&stderr).unwrap();
    assert_eq!((code, &error["error"]["kind"]), (3, &"not-found".into()));
}

#[test]
fn a_missing_store_is_explained() {
    let world = World::local();
    let output = world.command(&["ls"]).env_remove("CENOTE_URL").output().unwrap();
    assert_eq!(output.status.code(), Some(2));
    assert!(String::from_utf8(output.stderr).unwrap().contains("cenote init DIR"));
    let (code, stderr) = world.refused(&["--store", "/nowhere/at/all", "ls"]);
    assert!(code == 3 && stderr.contains("there is no store in /nowhere/at/all"), "{stderr}");
}

#[test]
fn a_store_is_not_created_over_another() {
    let world = World::local();
    let store = world.path("store");
    assert_eq!(world.refused(&["init", store.to_str().unwrap()]).0, 4);
    world.file("full/x", "1");
    assert_eq!(world.refused(&["init", "full"]).0, 4);
}

#[test]
fn secrets_are_masked_and_sources_shown() {
    let world = World::served();
    let shown = world.ok(&["config", "show"]);
    assert!(!shown.contains("a secret of the tests"), "{shown}");
    assert!(shown.contains("********") && shown.contains("(environment CENOTE_USER)"), "{shown}");
}

#[test]
fn one_failed_file_of_many_gives_exit_code_11_and_the_others_are_stored() {
    let world = World::local();
    world.file("t/a", "1");
    world.ok(&["mkdir", "-p", "/t/a"]);
    world.file("t/b", "1");
    let output = world.run(&["put", "-r", "t", ":/t"]);
    assert_eq!(output.status.code(), Some(11));
    assert_eq!(world.ok(&["ls", "/t"]), "a/\nb\n");
}

#[test]
fn a_catalog_that_lost_commits_gives_exit_code_8_until_the_loss_is_accepted() {
    let world = World::local();
    world.file("a", "1");
    world.run(&["put", "a", ":/a"]);
    let catalog = world.path("store/catalog");
    std::fs::remove_file(catalog.join("log")).unwrap();
    std::fs::File::create(catalog.join("0.jnl")).unwrap();
    let (code, stderr) = world.refused(&["ls", "/"]);
    assert_eq!(code, 8, "{stderr}");
    assert!(stderr.contains("are lost\n  hint: restore a backup"), "{stderr}");
    // All commits: nothing of the store is left.
    let (_, stderr) = world.refused(&["check", "--accept-loss"]);
    assert!(stderr.contains("are lost permanently\n"), "{stderr}");
    assert!(!world.refused(&["ls", "/"]).1.contains("are lost"));
}
