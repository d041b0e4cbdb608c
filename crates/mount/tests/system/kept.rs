//! Contents in a cache on the local disk, and the status of a mount.

use std::path::Path;

use cenote_mount::{CacheOptions, FileSystem, Options};

use crate::support::{Mount, World, options};

fn caching(dir: &Path) -> Options {
    let (dir, store) = (dir.to_owned(), "http://store".to_owned());
    let cache = Some(CacheOptions { dir, limit: 64 << 20, store, user: "ada".to_owned() });
    Options { cache, local: false, ..options() }
}

fn bytes(size: usize) -> Vec<u8> {
    (0..size).map(|at| (at / 3) as u8).collect()
}

/// The requests for contents.
fn contents(world: &World) -> Vec<String> {
    let mut sent = world.gate.sent();
    sent.retain(|target| target.contains("/v1/fs") || target.contains("/v1/contents"));
    sent
}

/// Reads files until the cache has this many bytes: with a slow disk, not everything that is read
/// is cached.
async fn kept(mount: &Mount, paths: &[&str], bytes: u64) {
    while mount.system.status().cache.unwrap().bytes.used < bytes {
        for path in paths {
            mount.read(path).await.unwrap();
        }
        tokio::task::yield_now().await;
    }
}

/// Mounts again, as soon as the last mount has finished writing.
async fn again(world: &World, dir: &Path) -> Mount {
    loop {
        match FileSystem::open(world.client.clone(), caching(dir)).await {
            Ok((system, stale)) => return Mount { system, stale },
            Err(fault) => assert_eq!(fault.errno, libc::EBUSY, "{fault}"),
        }
        tokio::task::yield_now().await;
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn contents_outlive_the_mount_on_the_local_disk() {
    let (world, dir) = (World::new(), tempfile::tempdir().unwrap());
    let large = bytes((5 << 20) + 17);
    world.put("/lab/large", large.clone()).await;
    world.put("/lab/small", "small").await;
    let mount = world.mount_with(caching(dir.path())).await;
    assert!(mount.read("/lab/large").await.unwrap() == large);
    assert_eq!(mount.read("/lab/small").await.unwrap(), b"small");
    kept(&mount, &["/lab/large", "/lab/small"], large.len() as u64 + 5).await;
    drop(mount);
    let mount = again(&world, dir.path()).await;
    world.gate.sent();
    assert!(mount.read("/lab/large").await.unwrap() == large);
    assert_eq!(mount.read("/lab/small").await.unwrap(), b"small");
    assert_eq!(contents(&world), [""; 0]);
    assert!(mount.system.status().cache.unwrap().read >= large.len() as u64 + 5);
}

#[tokio::test(flavor = "multi_thread")]
async fn cached_contents_are_read_without_the_server_unless_replaced() {
    let (world, dir) = (World::new(), tempfile::tempdir().unwrap());
    world.put("/lab/a", bytes(3 << 20)).await;
    world.put("/lab/b", bytes(2 << 20)).await;
    let mount = world.mount_with(caching(dir.path())).await;
    mount.read("/lab/a").await.unwrap();
    mount.names("/lab").await.unwrap();
    kept(&mount, &["/lab/a"], 3 << 20).await;
    world.gate.set(|weather| weather.away = true);
    assert!(mount.read("/lab/a").await.unwrap() == bytes(3 << 20));
    assert_eq!(mount.read("/lab/b").await.unwrap_err().errno, libc::EIO);
    world.gate.set(|weather| weather.away = false);
    let other: Vec<u8> = bytes(3 << 20).iter().map(|byte| !byte).collect();
    world.put("/lab/a", other.clone()).await;
    world.settle(&mount).await;
    assert!(mount.read("/lab/a").await.unwrap() == other);
}

#[tokio::test(flavor = "multi_thread")]
async fn a_cache_is_used_by_one_mount_at_a_time() {
    let (world, dir) = (World::new(), tempfile::tempdir().unwrap());
    let mount = world.mount_with(caching(dir.path())).await;
    let open = |options| FileSystem::open(world.client.clone(), options);
    let refused = open(caching(dir.path())).await.unwrap_err();
    assert_eq!(refused.errno, libc::EBUSY);
    assert!(refused.message.contains("another mount"), "{refused}");
    drop(mount);
    let file = dir.path().join("file");
    std::fs::write(&file, "x").unwrap();
    assert_eq!(open(caching(&file)).await.unwrap_err().errno, libc::EIO);
}

#[tokio::test(flavor = "multi_thread")]
async fn the_status_shows_open_and_unpublished_files() {
    let world = World::new();
    world.put("/lab/a", "x").await;
    let mount = world.mount().await;
    let idle = mount.system.status();
    assert_eq!((idle.root.as_str(), idle.write, idle.open_files), ("/", true, 0));
    assert!(idle.follows && idle.unpublished.is_empty() && idle.cache.is_none());
    let lab = mount.find("/lab").await.unwrap();
    let (_, open) = mount.system.create(lab, "new", 0o644, false).await.unwrap();
    mount.system.write(open.handle, 0, vec![0; 100].into(), false).await.unwrap();
    let busy = mount.system.status();
    assert_eq!((busy.open_files, busy.write_memory.used), (1, 100));
    assert_eq!(busy.unpublished.len(), 1);
    assert_eq!(
        (busy.unpublished[0].path.as_deref(), busy.unpublished[0].size),
        (Some("/lab/new"), 100)
    );
    let shown = mount.system.getxattr(crate::support::ROOT, cenote_mount::STATUS).await.unwrap();
    assert_eq!(serde_json::from_slice::<cenote_mount::Status>(&shown).unwrap(), busy);
    mount.system.flush(open.handle).await.unwrap();
    mount.system.release(open.handle).await;
    let idle = mount.system.status();
    assert_eq!((idle.open_files, idle.write_memory.used), (0, 0));
    assert!(idle.unpublished.is_empty());
}
