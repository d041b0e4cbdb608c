//! Tickets, tokens, groups and the change feed; and a server that speaks TLS.

use std::collections::BTreeSet;
use std::process::Output;

use serde_json::Value;

use crate::world::World;

/// The JSON lines that a verb prints.
fn json(world: &World, arguments: &[&str]) -> Vec<Value> {
    let lines = world.ok(&[&["--json"], arguments].concat());
    lines.lines().map(|line| serde_json::from_str(line).unwrap()).collect()
}

/// The program without an account, presenting another credential.
fn as_stranger(world: &World, variable: &str, shown: &str, arguments: &[&str]) -> Output {
    let mut command = world.command(arguments);
    command.env_remove("CENOTE_USER").env_remove("CENOTE_PASSWORD").env(variable, shown);
    command.output().unwrap()
}

fn with_file() -> World {
    let world = World::served();
    world.ok(&["mkdir", "/lab"]);
    world.file("a.txt", "abc");
    world.ok(&["put", "a.txt", ":/lab/a.txt"]);
    world
}

#[test]
fn a_ticket_gives_access_to_one_resource_within_its_limits() {
    let world = with_file();
    let made = json(&world, &["ticket", "add", "/lab/a.txt", "--uses", "1"]);
    let ticket = made[0]["ticket"].as_str().unwrap();
    let cat = |path: &str| as_stranger(&world, "CENOTE_TICKET", ticket, &["cat", path]);
    assert_eq!(cat("/lab/a.txt").stdout, b"abc");
    assert!(!cat("/lab/a.txt").status.success(), "it was for one use");
    assert_eq!(json(&world, &["ticket", "ls", "/lab/a.txt"]).len(), 1);
    world.ok(&["ticket", "rm", ticket]);
    assert!(json(&world, &["ticket", "ls"]).is_empty());
}

#[test]
fn a_token_grants_its_rights_until_it_is_revoked() {
    let world = with_file();
    let made = json(&world, &["token", "add", "robot", "--level", "read", "--within", "/lab"]);
    let token = made[0]["token"].as_str().unwrap();
    let robot = |arguments: &[&str]| as_stranger(&world, "CENOTE_TOKEN", token, arguments);
    assert_eq!(robot(&["cat", "/lab/a.txt"]).stdout, b"abc");
    assert_eq!(robot(&["rm", "/lab/a.txt"]).status.code(), Some(5));
    let id = json(&world, &["token", "ls"])[0]["id"].to_string();
    world.ok(&["token", "rm", id.trim_matches('"')]);
    assert_eq!(robot(&["cat", "/lab/a.txt"]).status.code(), Some(6));
}

#[test]
fn members_have_the_rights_of_their_groups() {
    let world = with_file();
    world.with_input(&["user", "add", "ben", "--password-stdin"], "another secret");
    world.ok(&["group", "add", "crew"]);
    world.ok(&["acl", "set", "/lab", "crew=read"]);
    let ben = || {
        let mut command = world.command(&["cat", "/lab/a.txt"]);
        command.env("CENOTE_USER", "ben").env("CENOTE_PASSWORD", "another secret");
        command.output().unwrap()
    };
    assert_eq!(ben().status.code(), Some(3));
    world.ok(&["group", "join", "crew", "ben"]);
    assert_eq!(ben().stdout, b"abc");
    world.ok(&["group", "leave", "crew", "ben"]);
    assert_eq!(ben().status.code(), Some(3));
    world.ok(&["group", "rm", "crew"]);
    assert!(json(&world, &["group", "ls"]).iter().all(|group| group["name"] != "crew"));
}

#[test]
fn entries_for_a_class_or_one_resource_are_set_shown_and_removed() {
    for world in World::both() {
        world.ok(&["mkdir", "/lab"]);
        world.with_input(&["user", "add", "ben", "--password-stdin"], "another secret");
        world.file("a.txt", "abc");
        world.ok(&["put", "a.txt", ":/lab/a.txt"]);
        let class = ["--class", "http://xmlns.com/foaf/0.1/Document"];
        world.ok(&[&["acl", "set", "/lab", "ben=read"], &class[..]].concat());
        world.ok(&["acl", "set", "/lab", "ben=write", "--only", "/lab/a.txt"]);
        let shown = || world.ok(&["acl", "ls", "/lab"]);
        let of_class = "read_object      subtree, only of class http://xmlns.com/foaf/0.1/Document";
        assert!(shown().contains(of_class), "{}", shown());
        assert!(shown().contains("subtree, only /lab/a.txt"), "{}", shown());
        let why = world.ok(&["acl", "why", "ben", "/lab/a.txt"]);
        assert!(why.contains("ben=modify_object, subtree of /lab, only resource "), "{why}");
        assert!(why.contains("(the resource does not have the class)"), "{why}");
        world.ok(&[&["acl", "set", "/lab", "ben=none"], &class[..]].concat());
        assert!(!shown().contains("of class") && shown().contains("only /lab/a.txt"));
        world.ok(&["acl", "set", "/lab", "ben=none", "--only", "/lab/a.txt"]);
        assert!(!shown().contains("ben"), "{}", shown());
        let no_class = ["acl", "set", "/lab", "ben=read", "--class", "Document"];
        assert!(world.refused(&no_class).1.contains("not the IRI of a class"));
    }
}

#[test]
fn explain_shows_what_decides_each_right() {
    for world in World::both() {
        world.ok(&["mkdir", "/lab"]);
        world.with_input(&["user", "add", "ben", "--password-stdin"], "another secret");
        world.ok(&["group", "add", "crew"]);
        world.ok(&["group", "join", "crew", "ben"]);
        world.ok(&["acl", "set", "/lab", "crew=read"]);
        world.ok(&["acl", "set", "/lab", "--scope", "this", "ben=create+append"]);
        world.ok(&["acl", "set", "/lab", "--scope", "default", "ben=own"]);
        assert_eq!(
            world.ok(&["acl", "why", "ben", "/lab"]),
            "/lab: ben has read_description+read_content+list+create+append
  read_description    crew=read_object, subtree of /lab
  read_content        crew=read_object, subtree of /lab
  list                crew=read_object, subtree of /lab
  add_description     -
  change_description  -
  remove_description  -
  create              ben=create+append, this of /lab
  append              ben=create+append, this of /lab
  write_content       -
  remove              -
  control             -
without effect: ben=own, default of /lab (for what lies below only)
"
        );
        let explained = json(&world, &["acl", "why", "ada", "/lab"]);
        assert_eq!(explained[0]["level"], "own");
        let kinds = |line: &serde_json::Value| {
            let by = line["by"].as_array().unwrap();
            by.iter().map(|reason| reason["kind"].as_str().unwrap().to_owned()).collect::<Vec<_>>()
        };
        let rights = explained[0]["rights"].as_array().unwrap();
        assert!(rights.iter().all(|line| kinds(line) == ["role", "grant"]), "{explained:?}");
        assert_eq!(world.refused(&["acl", "why", "crew", "/lab"]).0, 2);
        assert_eq!(world.refused(&["acl", "why", "ben", "/none"]).0, 3);
    }
}

#[test]
fn a_withheld_right_is_shown_with_what_gives_it() {
    let world = with_file();
    let made = json(&world, &["token", "add", "robot", "--level", "read"]);
    let token = made[0]["token"].as_str().unwrap();
    let output = as_stranger(&world, "CENOTE_TOKEN", token, &["acl", "why", "ada", "/lab/a.txt"]);
    let stdout = String::from_utf8(output.stdout).unwrap();
    assert!(stdout.starts_with("/lab/a.txt: ada has read_object\n"), "{stdout}");
    assert!(
        stdout.contains("  read_content        the role admin; ada=own, this of /lab/a.txt\n"),
        "{stdout}"
    );
    assert!(
        stdout.contains("  control             - withheld by the token (the role admin; ada=own,"),
        "{stdout}"
    );
    assert!(stdout.ends_with("the token leaves at most read_object\n"), "{stdout}");
}

#[test]
fn changes_are_reported_from_a_position_on() {
    for world in World::both() {
        let now = json(&world, &["changes", "--since", "now"]);
        let now = now.last().unwrap()["next"].as_str().unwrap();
        world.ok(&["mkdir", "/lab"]);
        world.ok(&["mv", "/lab", "/study"]);
        let changes = json(&world, &["changes", "--since", now]);
        let kinds: Vec<&str> =
            changes.iter().filter_map(|change| change["kind"].as_str()).collect();
        assert_eq!(kinds, ["created", "moved"]);
        let next = changes.last().unwrap()["next"].as_str().unwrap();
        assert_eq!(json(&world, &["changes", "--since", next]).len(), 1, "only where to go on");
    }
}

#[test]
fn a_client_accepts_a_certificate_that_it_trusts() {
    let world = World::served_with_tls();
    let trusting = |arguments: &[&str]| {
        let ca = world.path("cert.pem");
        world.command(arguments).env("CENOTE_CA_FILE", ca).output().unwrap()
    };
    assert!(trusting(&["mkdir", "/lab"]).status.success());
    assert_eq!(trusting(&["ls"]).stdout, b"home/\nlab/\ntrash/\n");
    let (code, stderr) = world.refused(&["ls"]);
    assert!(code == 10 && stderr.contains("certificate"), "{stderr}");
}

#[test]
fn a_token_is_not_its_account() {
    let world = with_file();
    let token = |arguments: &[&str]| {
        let made = json(&world, &[&["token", "add"], arguments].concat());
        made[0]["token"].as_str().unwrap().to_owned()
    };
    let (plain, maker) =
        (token(&["plain"]), token(&["maker", "--scope", "tokens", "--expires", "1h"]));
    for arguments in [
        &["token", "add", "more"][..],
        &["token", "ls"],
        &["user", "passwd", "ada"],
        &["user", "add", "eve"],
        &["group", "add", "crew"],
        &["place", "add", "vault"],
    ] {
        let output = as_stranger(&world, "CENOTE_TOKEN", &plain, arguments);
        assert_eq!(output.status.code(), Some(5), "{arguments:?}: {output:?}");
        let stderr = String::from_utf8(output.stderr).unwrap();
        assert!(stderr.contains("log in with the password"), "{stderr}");
    }
    let make = |arguments: &[&str]| {
        let arguments = [&["token", "add", "child"], arguments].concat();
        as_stranger(&world, "CENOTE_TOKEN", &maker, &arguments)
    };
    assert!(make(&["--expires", "30m"]).status.success());
    let stderr = String::from_utf8(make(&[]).stderr).unwrap();
    assert!(stderr.contains("outlives") && stderr.contains("shorter lifetime"), "{stderr}");
    assert_eq!(world.refused(&["token", "add", "x", "--scope", "dance"]).0, 2);
}

#[test]
fn a_new_user_has_a_home_and_anonymous_access_is_refused() {
    let world = with_file();
    let added = world.with_input(&["user", "add", "ben", "--password-stdin"], "another secret");
    assert_eq!(added.stdout, b"added user ben, with /home/ben\n");
    let ben = |arguments: &[&str]| {
        let mut command = world.command(arguments);
        command.env("CENOTE_USER", "ben").env("CENOTE_PASSWORD", "another secret");
        command.output().unwrap()
    };
    assert!(ben(&["put", "a.txt", ":/home/ben/a.txt"]).status.success());
    assert_eq!(ben(&["ls"]).stdout, b"home/\ntrash/\n");
    world.ok(&["acl", "set", "/lab/a.txt", "public=read"]);
    assert_eq!(ben(&["cat", "/lab/a.txt"]).stdout, b"abc");
    assert_eq!(ben(&["ls"]).stdout, b"home/\ntrash/\n/lab/a.txt\n");
    assert_eq!(ben(&["ls", "--shared"]).stdout, b"/lab/a.txt\n");
    let stranger = |arguments: &[&str]| {
        let output = as_stranger(&world, "CENOTE_CONFIG", "config.toml", arguments);
        (output.status.code(), output.stdout, String::from_utf8(output.stderr).unwrap())
    };
    let (code, _, stderr) = stranger(&["cat", "/lab/a.txt"]);
    assert_eq!(code, Some(3));
    assert!(stderr.contains("hint: you are not logged in: use `cenote login`"), "{stderr}");
    assert_eq!(stranger(&["ls"]).0, Some(3));
    world.ok(&["acl", "set", "/lab/a.txt", "anonymous=read"]);
    assert_eq!(stranger(&["cat", "/lab/a.txt"]), (Some(0), b"abc".into(), String::new()));
    assert_eq!(stranger(&["ls", "--shared"]).1, b"/lab/a.txt\n");
    let (code, stderr) = world.refused(&["cat", "/lab/none"]);
    assert!(code == 3 && !stderr.contains("logged in"), "{stderr}");
}

#[test]
fn the_first_administrator_has_a_home_at_once() {
    for world in World::both() {
        world.file("a.txt", "abc");
        world.ok(&["put", "a.txt", ":/home/ada/a.txt"]);
        let json = json(&world, &["stat", "/home/ada"]);
        assert_eq!(json[0]["owner"], "ada");
    }
}

#[test]
fn everyone_is_the_public_and_anonymous_callers() {
    let world = with_file();
    world.ok(&["acl", "set", "/lab/a.txt", "everyone=read"]);
    let stranger = as_stranger(&world, "CENOTE_CONFIG", "config.toml", &["cat", "/lab/a.txt"]);
    assert_eq!(stranger.stdout, b"abc");
    let lines = || {
        let shown = world.ok(&["acl", "show", "/lab/a.txt"]);
        let names = shown.lines().filter_map(|line| line.split_whitespace().next());
        names.filter(|name| *name != "ada").map(str::to_owned).collect::<BTreeSet<_>>()
    };
    assert!(lines().iter().eq(["everyone"]));
    world.ok(&["acl", "set", "/lab/a.txt", "public=write"]);
    assert!(lines().iter().eq(["anonymous", "public"]));
    world.ok(&["acl", "set", "/lab/a.txt", "everyone=none"]);
    assert!(lines().is_empty());
    let (code, stderr) = world.refused(&["group", "add", "everyone"]);
    assert!(code == 2 && stderr.contains("choose another name"), "{stderr}");
}

#[test]
fn the_last_administrator_cannot_be_demoted() {
    for world in World::both() {
        let (code, stderr) = world.refused(&["user", "role", "ada", "user"]);
        assert_eq!(code, 2);
        assert!(stderr.contains("make another user an administrator first"), "{stderr}");
    }
}

#[test]
fn a_secret_in_clear_text_is_warned_of() {
    let world = World::local();
    let stderr_of = |arguments: &[&str]| {
        let mut command = world.command(arguments);
        let command = command.env("CENOTE_USER", "ada").env("CENOTE_PASSWORD", "secret");
        let output = command.env_remove("CENOTE_URL").output().unwrap();
        String::from_utf8(output.stderr).unwrap()
    };
    // This name never resolves: https://www.rfc-editor.org/rfc/rfc6761.
    let warned = stderr_of(&["--store", "http://store.invalid", "mkdir", "/x"]);
    let warning = "cenote: warning: the password, token or ticket is sent to http://store.invalid";
    assert!(warned.starts_with(warning) && warned.contains("https://"), "{warned}");
    for store in ["https://store.invalid", "http://127.0.0.1:1"] {
        assert!(!stderr_of(&["--store", store, "mkdir", "/x"]).contains("warning"), "{store}");
    }
    let served = World::local().serve_on("0.0.0.0:0");
    assert!(served.starts_with("cenote: warning: without TLS, passwords"), "{served}");
    assert_eq!(World::local().serve_on("127.0.0.1:0"), "");
}
