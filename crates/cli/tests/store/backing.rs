//! A store whose catalog is in PostgreSQL and whose contents are in a bucket.

use crate::bucket_server::{self, Program};
use crate::postgres_server::fresh_schema;
use crate::world::World;

/// What a store is kept in besides its directory.
pub(crate) struct Outside {
    bucket: bucket_server::Server,
    catalog: String,
}

impl Outside {
    pub(crate) fn start() -> Option<Self> {
        Self::start_with(Program::Moto)
    }

    fn start_with(program: Program) -> Option<Self> {
        let (bucket, catalog) = (bucket_server::Server::start(program)?, fresh_schema()?);
        bucket.make_bucket("bucket");
        Some(Self { bucket, catalog })
    }

    /// A directory, and the credentials for the bucket in the environment.
    pub(crate) fn world(&self) -> World {
        let variable =
            |(name, value): (String, String)| (format!("AWS_{}", name.to_uppercase()), value);
        World::empty(self.bucket.options().into_iter().map(variable).collect())
    }

    pub(crate) fn flags(&self) -> [&str; 4] {
        ["--catalog", &self.catalog, "--contents", "s3://bucket/some/prefix"]
    }

    /// Another directory for the store that was made.
    pub(crate) fn joined(&self) -> World {
        let world = self.world();
        let join = [&["init", "store", "--join"][..], &self.flags()[..]].concat();
        let joined = world.run(&join);
        assert!(joined.status.success(), "{joined:?}");
        world
    }

    pub(crate) fn made(&self) -> World {
        let world = self.world();
        let made = world.init(&self.flags());
        assert!(made.status.success(), "{made:?}");
        world
    }
}

/// Contents on either side of the boundaries at 64 KiB, 512 KiB, and the 8 MiB of a part in a bucket.
fn files(world: &World) -> Vec<(String, Vec<u8>)> {
    let sizes = [0, 1, 65_536, 65_537, 524_289, (8 << 20) + 1, 20 << 20];
    let file = |size: usize| {
        let bytes: Vec<u8> = (0..size).map(|at| (at * 31 / 7) as u8).collect();
        world.file(&format!("tree/{size}"), &bytes);
        (size.to_string(), bytes)
    };
    sizes.into_iter().map(file).collect()
}

fn check(world: &World, files: &[(String, Vec<u8>)]) {
    for (name, bytes) in files {
        let read = world.run(&["cat", &format!("/lab/{name}")]);
        assert!(read.status.success(), "{name}: {read:?}");
        assert!(read.stdout == *bytes, "{name}");
    }
}

#[test]
fn a_store_in_a_database_and_a_bucket_outlives_its_servers_and_directories() {
    outlives(Program::Moto);
}

#[test]
fn a_store_in_a_database_and_a_bucket_of_versitygw_outlives_its_servers_and_directories() {
    outlives(Program::Versitygw);
}

fn outlives(program: Program) {
    let Some(outside) = Outside::start_with(program) else { return };
    let mut world = outside.made().serve(&[]);
    let files = files(&world);
    world.ok(&["put", "-r", "tree", ":/lab"]);
    world.ok(&["meta", "set", "/lab/1", "topic", "buckets"]);
    check(&world, &files);
    world.kill();

    // The directory of the first server is lost and replaced.
    let other = outside.world();
    let joined = other.run(&[
        "init",
        "store",
        "--join",
        outside.flags()[0],
        outside.flags()[1],
        outside.flags()[2],
        outside.flags()[3],
    ]);
    assert!(joined.status.success(), "{joined:?}");
    let other = other.serve(&[]);
    check(&other, &files);
    assert_eq!(other.ok(&["find", "/lab", "--meta", "topic=buckets"]), "/lab/1\n");
    other.ok(&["rm", "-r", "--permanent", "/lab"]);
    assert_eq!(other.refused(&["stat", "/lab/1"]).0, 3);
}

#[test]
fn what_needs_a_store_in_a_database_alone_is_refused_while_servers_have_it() {
    let Some(outside) = Outside::start() else { return };
    let world = outside.made().serve(&[]);
    let other = outside.joined();
    let (code, stderr) = other.refused(&["check", "--repair"]);
    assert_eq!(code, 10, "{stderr}");
    assert!(stderr.contains("another server has the catalog open"), "{stderr}");
    world.ok(&["mkdir", "/lab"]);
    drop(world);
    other.ok(&["check", "--repair"]);
}

#[test]
fn a_store_is_created_in_a_database_once_and_its_address_is_kept_private() {
    use std::os::unix::fs::PermissionsExt;
    let Some(outside) = Outside::start() else { return };
    let world = outside.made();
    let settings = world.path("store/store.toml");
    assert_eq!(settings.metadata().unwrap().permissions().mode() & 0o777, 0o600);
    assert!(std::fs::read_to_string(&settings).unwrap().contains("format = 2"));
    let again = outside.world().init(&outside.flags());
    assert_eq!(again.status.code(), Some(4), "{again:?}");
    let (code, stderr) = world.refused(&["check", "--accept-loss"]);
    assert!(stderr.contains("the catalog is in a database"), "{code} {stderr}");
}

#[test]
fn no_store_is_created_with_an_unreachable_backend() {
    let Some(outside) = Outside::start() else { return };
    let [catalog, _, contents, _] = outside.flags();
    for (flags, expected) in [
        ([catalog, "host=/none user=cenote", contents, "s3://bucket/x"], "No such file"),
        ([catalog, "nonsense", contents, "s3://bucket/x"], "invalid connection string"),
        ([catalog, &outside.catalog, contents, "nowhere://x"], "cannot be opened"),
        ([catalog, &outside.catalog, contents, "s3://none/x"], "NoSuchBucket"),
    ] {
        let world = outside.world();
        let made = world.init(&flags);
        let stderr = String::from_utf8(made.stderr).unwrap();
        assert!(!made.status.success() && stderr.contains("hint"), "{flags:?}: {stderr}");
        assert!(stderr.contains(expected), "{flags:?}: {stderr}");
        assert!(!world.path("store/store.toml").exists(), "{flags:?}");
    }
    let joined = outside.world().run(&[
        "init",
        "store",
        "--join",
        catalog,
        &outside.catalog,
        contents,
        "s3://bucket/x",
    ]);
    assert_eq!(joined.status.code(), Some(3), "{joined:?}");
}
