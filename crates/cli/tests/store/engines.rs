//! `cenote migrate`: a whole store from a directory to a database and a bucket, and back.

use std::io::{BufRead, BufReader};
use std::process::Stdio;

use crate::backing::Outside;
use crate::world::World;

/// A store with something of each kind: versions, trash, descriptions, a user with a token, a quota, large and small contents.
pub(crate) fn furnished(world: &World) {
    for (name, size) in [("small", 10), ("inline", 65_536), ("large", 20 << 20)] {
        let bytes: Vec<u8> = (0..size).map(|at| (at * 31 / 7) as u8).collect();
        world.file(&format!("tree/{name}"), &bytes);
    }
    for arguments in [
        &["mkdir", "/lab"][..],
        &["versions", "policy", "/lab", "each-change"],
        &["put", "tree/small", "tree/inline", "tree/large", ":/lab"],
        &["put", "tree/small", ":/lab/inline"],
        &["meta", "set", "/lab/large", "topic", "engines"],
        &["user", "add", "bob"],
        &["quota", "set", "--owner", "bob", "--bytes", "1GiB"],
        &["token", "add", "of the tests"],
        &["put", "tree/small", ":/lab/gone"],
        &["rm", "/lab/gone"],
    ] {
        world.ok(arguments);
    }
}

/// What a store answers.
pub(crate) fn answers(world: &World) -> Vec<String> {
    let commands: [&[&str]; 10] = [
        &["ls", "-l", "--json", "/lab"],
        &["stat", "--json", "/lab/inline"],
        &["versions", "ls", "--json", "/lab/inline"],
        &["trash", "ls", "--json"],
        &["meta", "show", "/lab/large"],
        &["find", "/", "--meta", "topic=engines"],
        &["user", "ls", "--json"],
        &["quota", "ls", "--json"],
        &["token", "ls", "--json"],
        &["changes", "--json"],
    ];
    let mut answers: Vec<_> = commands.iter().map(|arguments| world.ok(arguments)).collect();
    let large = world.run(&["cat", "/lab/large"]);
    assert!(large.stdout.len() == 20 << 20, "{:?}", large.stderr);
    answers.push(format!("{:x}", crc(&large.stdout)));
    answers
}

fn crc(bytes: &[u8]) -> u64 {
    // Enough to tell bytes from others.
    bytes.iter().fold(0, |sum: u64, byte| sum.wrapping_mul(31).wrapping_add(u64::from(*byte)))
}

#[test]
fn a_store_goes_to_a_database_and_a_bucket_and_back() {
    let Some(outside) = Outside::start() else { return };
    let world = outside.world();
    assert!(world.init(&[]).status.success());
    furnished(&world);
    let expected = answers(&world);
    let there = [&["migrate", "store", "there"][..], &outside.flags()].concat();
    world.ok(&there);
    let (code, stderr) = world.refused(&["ls"]);
    assert!(code == 3 && stderr.contains("was migrated"), "{stderr}");
    world.ok(&["--store", "there", "check"]);
    world.ok(&["migrate", "there", "back", "--read-back"]);
    std::fs::rename(world.path("back"), world.path("store2")).unwrap();
    std::fs::remove_dir_all(world.path("store")).unwrap();
    std::fs::rename(world.path("store2"), world.path("store")).unwrap();
    assert_eq!(answers(&world), expected);
    assert_eq!(world.ok(&["check"]), "no differences found\n");
    world.ok(&["put", "tree/small", ":/lab/new"]);
    let next = expected[9].lines().last().and_then(|line| line.split('"').nth(3)).unwrap();
    let since = world.ok(&["changes", "--json", "--since", next]);
    assert_eq!(since.lines().count(), 2, "the feed goes on where it ended: {since}");
}

#[test]
fn a_migration_that_is_killed_is_completed_by_the_next() {
    let world = World::local();
    furnished(&world);
    let expected = answers(&world);
    let migrate = ["migrate", "store", "new", "--listen", "127.0.0.1:0"];
    let mut child = world.command(&migrate).stdout(Stdio::piped()).spawn().unwrap();
    BufReader::new(child.stdout.take().unwrap()).read_line(&mut String::new()).unwrap();
    child.kill().unwrap();
    child.wait().unwrap();
    if world.path("store/store.toml").exists() {
        world.ok(&["migrate", "store", "new"]);
    }
    std::fs::rename(world.path("store"), world.path("old")).unwrap();
    std::fs::rename(world.path("new"), world.path("store")).unwrap();
    assert_eq!(answers(&world), expected);
}

#[test]
fn a_store_is_read_while_it_is_migrated_and_takes_no_changes() {
    // A bucket that never answers: the migration lasts as long as the test.
    let silent = std::net::TcpListener::bind("127.0.0.1:0").unwrap();
    let endpoint = format!("http://{}", silent.local_addr().unwrap());
    let variables = [
        ("AWS_ENDPOINT", endpoint.as_str()),
        ("AWS_ALLOW_HTTP", "true"),
        ("AWS_ACCESS_KEY_ID", "key"),
        ("AWS_SECRET_ACCESS_KEY", "secret"),
    ];
    let world = World::empty(variables.map(|(name, value)| (name.into(), value.into())).into());
    assert!(world.init(&[]).status.success());
    world.ok(&["mkdir", "/lab"]);
    let arguments =
        ["migrate", "store", "new", "--contents", "s3://b/x", "--listen", "127.0.0.1:0"];
    let world = world.serve_as(&arguments);
    assert_eq!(world.ok(&["ls", "/"]), "home/\nlab/\ntrash/\n");
    let (code, stderr) = world.refused(&["mkdir", "/other"]);
    assert!(code == 10 && stderr.contains("it is being migrated"), "{code} {stderr}");
    assert!(world.path("store/store.toml").exists());
}
