//! Logging in to a server, and logging out.

use std::process::{Command, Output};

use crate::world::World;

/// The program without any setting but a home directory, so that it only has a login.
fn bare(world: &World, arguments: &[&str]) -> Command {
    let mut command = world.command(arguments);
    for name in ["CENOTE_URL", "CENOTE_USER", "CENOTE_PASSWORD", "CENOTE_CONFIG"] {
        command.env_remove(name);
    }
    command.env("HOME", world.path("home"));
    command
}

fn run(world: &World, arguments: &[&str]) -> Output {
    bare(world, arguments).stdin(std::process::Stdio::null()).output().unwrap()
}

fn ok(world: &World, arguments: &[&str]) -> String {
    let output = run(world, arguments);
    assert!(output.status.success(), "{arguments:?}: {output:?}");
    String::from_utf8(output.stdout).unwrap()
}

/// The exit code and the message of a run that fails.
fn refused(world: &World, arguments: &[&str]) -> (i32, String) {
    let output = run(world, arguments);
    (output.status.code().unwrap(), String::from_utf8(output.stderr).unwrap())
}

/// Logs in with the password of the environment.
fn log_in(world: &World, password: &str) -> Output {
    let mut command = bare(world, &["login", world.url(), "--user", "ada"]);
    command.env("CENOTE_PASSWORD", password).output().unwrap()
}

fn logged_in() -> World {
    let world = World::served();
    let output = log_in(&world, PASSWORD);
    assert!(output.status.success(), "{output:?}");
    world
}

const PASSWORD: &str = crate::world::PASSWORD;

#[test]
fn a_login_is_used_until_logout_revokes_it() {
    let world = logged_in();
    let whoami = ok(&world, &["whoami"]);
    assert_eq!(whoami, format!("ada (admin) at {}\n", world.url()));
    ok(&world, &["mkdir", "/lab"]);
    ok(&world, &["user", "add", "bob"]);
    let kept = std::fs::read_to_string(world.path("home/.config/cenote/logins.toml")).unwrap();
    let token = kept.lines().find_map(|line| line.strip_prefix("token = ")).unwrap();
    let stdout = ok(&world, &["logout"]);
    assert_eq!(stdout, format!("logged out of {} as ada\n", world.url()));
    assert_eq!(refused(&world, &["whoami"]).0, 2, "there is no store any more");
    let mut command = bare(&world, &["whoami"]);
    command.env("CENOTE_URL", world.url()).env("CENOTE_TOKEN", token.trim_matches('"'));
    assert_eq!(command.output().unwrap().status.code(), Some(6), "the token is revoked");
    assert_eq!(world.ok(&["token", "ls"]), "");
}

#[test]
fn only_the_owner_can_read_the_file() {
    use std::os::unix::fs::PermissionsExt;

    let world = logged_in();
    let file = world.path("home/.config/cenote/logins.toml");
    let mode = |file| std::fs::metadata(file).unwrap().permissions().mode() & 0o777;
    assert_eq!(mode(&file), 0o600);
    std::fs::set_permissions(&file, std::fs::Permissions::from_mode(0o644)).unwrap();
    let (code, stderr) = refused(&world, &["whoami"]);
    assert_eq!(code, 2);
    assert!(stderr.contains("hint: run `chmod 600"), "{stderr}");
}

#[test]
fn a_second_login_replaces_the_first() {
    let world = logged_in();
    assert!(log_in(&world, PASSWORD).status.success());
    assert_eq!(world.ok(&["token", "ls"]).lines().count(), 1);
    ok(&world, &["ls", "/"]);
}

#[test]
fn a_refused_login_stores_nothing() {
    let world = World::served();
    assert_eq!(log_in(&world, "wrong").status.code(), Some(6));
    assert_eq!(refused(&world, &["login", "/a/directory"]).0, 2);
    assert_eq!(refused(&world, &["login", world.url()]).0, 2, "no user, and no terminal");
    assert_eq!(refused(&world, &["logout", world.url()]).0, 3);
    assert!(!world.path("home/.config/cenote/logins.toml").exists());
}

#[test]
fn another_user_a_token_and_another_store_take_precedence_over_a_login() {
    let world = logged_in();
    let (code, stderr) = refused(&world, &["whoami", "--user", "bob"]);
    assert_eq!(code, 6);
    assert!(stderr.contains("a password is required"), "{stderr}");
    assert_eq!(ok(&world, &["whoami", "--user", "ada"]), ok(&world, &["whoami"]));
    let mut command = bare(&world, &["whoami"]);
    assert_eq!(command.env("CENOTE_TOKEN", "wrong").output().unwrap().status.code(), Some(6));
    let other = World::served();
    let (code, stderr) = refused(&world, &["mkdir", "/x", "--store", other.url()]);
    assert_eq!(code, 3, "a token is sent to its own store only");
    assert!(stderr.contains("hint: you are not logged in"), "{stderr}");
}

#[test]
fn a_password_that_is_set_for_another_store_is_not_sent_to_this_one() {
    let world = World::served();
    let mut command = bare(&world, &["login", world.url(), "--user", "ada"]);
    command.env("CENOTE_URL", "http://192.0.2.1").env("CENOTE_PASSWORD", PASSWORD);
    let output = command.output().unwrap();
    assert_eq!(output.status.code(), Some(2));
    assert!(String::from_utf8(output.stderr).unwrap().contains("is not sent to"));
}

#[test]
fn a_logout_while_the_server_is_down_removes_the_login() {
    let mut world = logged_in();
    let url = world.url().to_owned();
    world.kill();
    let output = run(&world, &["logout", &url]);
    assert!(output.status.success(), "{output:?}");
    assert!(String::from_utf8(output.stderr).unwrap().contains("not revoked"));
    assert_eq!(refused(&world, &["whoami"]).0, 2);
}
