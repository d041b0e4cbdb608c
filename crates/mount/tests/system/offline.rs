//! Known files are shown without the server.

use std::path::Path;

use cenote_mount::{CacheOptions, FileSystem, Options, Result as Outcome};

use crate::support::{Mount, World, options};

fn caching(dir: &Path) -> Options {
    let (dir, store) = (dir.to_owned(), "http://store".to_owned());
    let cache = Some(CacheOptions { dir, limit: 64 << 20, store, user: "ada".to_owned() });
    Options { cache, local: false, ..options() }
}

fn offline(dir: &Path) -> Options {
    Options { offline: true, ..caching(dir) }
}

/// Mounts as soon as the last mount has finished writing.
async fn open(world: &World, options: Options) -> Outcome<Mount> {
    loop {
        match FileSystem::open(world.client.clone(), options.clone()).await {
            Ok((system, stale)) => return Ok(Mount { system, stale }),
            Err(fault) if fault.errno == libc::EBUSY => tokio::task::yield_now().await,
            Err(fault) => return Err(fault),
        }
    }
}

/// The text of the journals.
fn journals(dir: &Path) -> String {
    let Ok(files) = std::fs::read_dir(dir.join("trees")) else { return String::new() };
    // A journal being rewritten may have been renamed before it is read.
    files.filter_map(|file| std::fs::read_to_string(file.unwrap().path()).ok()).collect()
}

/// Ends a mount once this was recorded, and this many bytes of contents are cached.
async fn end(dir: &Path, mount: Mount, noted: &[&str], bytes: u64) {
    loop {
        mount.system.publish_all().await.unwrap();
        let (has, used) = (journals(dir), mount.system.status().cache.unwrap().bytes.used);
        if noted.iter().all(|text| has.contains(text)) && used >= bytes {
            return;
        }
        mount.read("/lab/large").await.unwrap();
        tokio::task::yield_now().await;
    }
}

fn large() -> Vec<u8> {
    (0..(3 << 20) + 5).map(|at: u32| (at / 3) as u8).collect()
}

/// A store of which a mount knows `/lab` and the content of `/lab/large`, but neither `/lab/other` nor the children of
/// `/lab/sub`.
async fn partly_cached(dir: &Path) -> World {
    let world = World::new();
    world.put("/lab/large", large()).await;
    world.put("/lab/other", "not read").await;
    world.put("/lab/sub/x", "not seen").await;
    let mount = open(&world, caching(dir)).await.unwrap();
    mount.names("/lab").await.unwrap();
    end(dir, mount, &["\"sub\"", "reached"], large().len() as u64).await;
    world
}

async fn errno<T: std::fmt::Debug>(outcome: impl Future<Output = Outcome<T>>) -> i32 {
    outcome.await.unwrap_err().errno
}

#[tokio::test(flavor = "multi_thread")]
async fn known_files_are_read_without_the_server_and_others_fail_at_once() {
    let dir = tempfile::tempdir().unwrap();
    let world = partly_cached(dir.path()).await.reconnected();
    let mount = open(&world, offline(dir.path())).await.unwrap();
    assert!(mount.system.is_offline() && mount.system.status().offline);
    assert!(mount.read("/lab/large").await.unwrap() == large());
    assert_eq!(mount.names("/lab").await.unwrap(), ["large", "other", "sub"]);
    assert_eq!(errno(mount.read("/lab/missing")).await, libc::ENOENT);
    let away = libc::ENETUNREACH;
    assert_eq!(errno(mount.read("/lab/other")).await, away);
    assert_eq!(errno(mount.names("/lab/sub")).await, away);
    assert_eq!(errno(mount.read("/elsewhere")).await, away);
    assert_eq!(errno(mount.write_new("new", "x")).await, away);
    let lab = mount.find("/lab").await.unwrap();
    assert_eq!(errno(mount.system.mkdir(lab, "dir", 0o755)).await, away);
    assert_eq!(errno(mount.system.unlink(lab, "large")).await, away);
    assert_eq!(world.gate.sent(), [""; 0]);
    drop(mount);
    let of = |change: &dyn Fn(&mut CacheOptions)| {
        let mut options = offline(dir.path());
        options.cache.as_mut().map(change).unwrap();
        open(&world, options)
    };
    assert_eq!(errno(of(&|cache| cache.user = "ben".into())).await, away, "another user's");
    assert_eq!(errno(of(&|cache| cache.store = "http://b".into())).await, away, "another store's");
}

#[tokio::test(flavor = "multi_thread")]
async fn a_mount_starts_without_the_server_and_uses_it_once_it_is_back() {
    let dir = tempfile::tempdir().unwrap();
    let world = partly_cached(dir.path()).await;
    world.gate.set(|weather| weather.away = true);
    let mount = open(&world, caching(dir.path())).await.unwrap();
    assert!(mount.system.is_offline());
    assert!(mount.read("/lab/large").await.unwrap() == large());
    assert_eq!(errno(mount.read("/lab/other")).await, libc::ENETUNREACH);
    world.gate.set(|weather| weather.away = false);
    while mount.system.is_offline() {
        tokio::task::yield_now().await;
    }
    world.put("/lab/new", "new").await;
    world.settle(&mount).await;
    assert_eq!(mount.read("/lab/other").await.unwrap(), b"not read");
    assert_eq!(mount.names("/lab").await.unwrap(), ["large", "new", "other", "sub"]);
    drop(mount);
    world.gate.set(|weather| weather.away = true);
    let empty = tempfile::tempdir().unwrap();
    assert_eq!(errno(open(&world, caching(empty.path()))).await, libc::EIO, "nothing was seen");
}

/// Changes made while nothing was mounted are applied once a mount has contacted the server.
#[tokio::test(flavor = "multi_thread")]
async fn resources_removed_or_revoked_meanwhile_are_not_shown() {
    let dir = tempfile::tempdir().unwrap();
    let world = partly_cached(dir.path()).await;
    world.client.remove("/lab/other", &Default::default()).await.unwrap();
    let touch = async |noted: &str| {
        let mount = open(&world, caching(dir.path())).await.unwrap();
        while !journals(dir.path()).contains(noted) {
            tokio::task::yield_now().await;
        }
        drop(mount);
        open(&world, offline(dir.path())).await.unwrap()
    };
    let mount = touch("gone").await;
    assert_eq!(mount.names("/lab").await.unwrap(), ["large", "sub"]);
    drop(mount);
    world.client.add_user(&crate::support::user("ben")).await.unwrap();
    world.grant("ben", "/lab", "read").await;
    let mount = touch("clear").await;
    assert_eq!(errno(mount.find("/lab")).await, libc::ENETUNREACH);
}

/// Where a collection is now, other rights may be inherited.
#[tokio::test(flavor = "multi_thread")]
async fn what_was_below_a_moved_collection_is_not_shown() {
    let dir = tempfile::tempdir().unwrap();
    let world = partly_cached(dir.path()).await;
    let mount = open(&world, caching(dir.path())).await.unwrap();
    assert_eq!(mount.names("/lab/sub").await.unwrap(), ["x"]);
    end(dir.path(), mount, &["\"x\""], 0).await;
    world.move_to("/lab/sub", "/sub").await;
    let mount = open(&world, caching(dir.path())).await.unwrap();
    assert!(mount.names("/").await.unwrap().contains(&"sub".to_owned()));
    end(dir.path(), mount, &["below", "\"listed\":[1,"], 0).await;
    let mount = open(&world, offline(dir.path())).await.unwrap();
    assert!(mount.find("/sub").await.is_ok());
    assert_eq!(errno(mount.names("/sub")).await, libc::ENETUNREACH);
}

/// Changes by this mount, and concurrent ones by others.
#[tokio::test(flavor = "multi_thread")]
async fn notes_are_updated_as_resources_change() {
    let dir = tempfile::tempdir().unwrap();
    let world = partly_cached(dir.path()).await;
    let mount = open(&world, caching(dir.path())).await.unwrap();
    let lab = mount.find("/lab").await.unwrap();
    assert_eq!(mount.names("/").await.unwrap().iter().filter(|name| *name == "lab").count(), 1);
    mount.write_new("mine", "four").await.unwrap();
    mount.system.rename((1, "mine"), (lab, "moved"), true).await.unwrap();
    mount.system.unlink(lab, "other").await.unwrap();
    world.client.remove("/lab/sub/x", &Default::default()).await.unwrap();
    world.client.remove("/lab/sub", &Default::default()).await.unwrap();
    world.settle(&mount).await;
    end(dir.path(), mount, &["\"moved\""], 0).await;
    let mount = open(&world, offline(dir.path())).await.unwrap();
    assert_eq!(mount.names("/lab").await.unwrap(), ["large", "moved"]);
    assert!(!mount.names("/").await.unwrap().contains(&"mine".to_owned()));
    let moved = mount.find("/lab/moved").await.unwrap();
    assert_eq!(mount.system.getattr(moved).await.unwrap().attr.size, 4);
}
