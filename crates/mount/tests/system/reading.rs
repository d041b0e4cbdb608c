//! Reading through a mount.

use std::sync::{Arc, Mutex};
use std::time::{Duration, SystemTime};

use cenote_client::{NewResource, ResourceKind, XattrMode};
use cenote_mount::{DirEntry, FileKind, Log, Options, Stale};

use crate::support::{ROOT, World, options};

fn pattern(length: usize) -> Vec<u8> {
    (0..length).map(|at| (at / 7 + at % 251) as u8).collect()
}

#[tokio::test(flavor = "multi_thread")]
async fn files_are_read_sequentially_and_at_random() {
    let world = World::new();
    let bytes = pattern(5_000_000);
    world.put("/lab/a", bytes.clone()).await;
    world.put("/lab/empty", "").await;
    let mount = world.mount().await;
    assert_eq!(mount.read("/lab/a").await.unwrap(), bytes);
    assert_eq!(mount.read("/lab/empty").await.unwrap(), b"");
    let ino = mount.find("/lab/a").await.unwrap();
    let open = mount.system.open_file(ino, false).await.unwrap().handle;
    for (offset, length) in [(4_999_990, 100), (3, 5), (2_500_000, 70_000), (2_570_000, 9), (0, 1)]
    {
        let read = mount.system.read(open, offset, length).await.unwrap();
        let end = bytes.len().min(offset as usize + length as usize);
        assert_eq!(read, bytes[offset as usize..end], "{offset} {length}");
    }
    assert!(mount.system.read(open, 5_000_000, 10).await.unwrap().is_empty());
    assert!(mount.system.read(open, u64::MAX, 10).await.unwrap().is_empty());
}

#[tokio::test(flavor = "multi_thread")]
async fn attributes_are_those_of_the_resource() {
    let world = World::new();
    let put = world.put("/lab/a", "hello").await;
    let link = NewResource {
        to: "/lab/l".into(),
        kind: ResourceKind::Link,
        target: Some("a/b".into()),
        parents: false,
        exist_ok: false,
        mode: None,
        mtime: None,
    };
    world.client.create(&link).await.unwrap();
    let mount = world.mount().await;
    let attr = async |path| {
        let ino = mount.find(path).await.unwrap();
        mount.system.getattr(ino).await.unwrap().attr
    };
    let file = attr("/lab/a").await;
    assert_eq!((file.kind, file.size, file.mode), (FileKind::File, 5, 0o644));
    assert_eq!(file.mtime, std::time::SystemTime::from(put.content_modified.unwrap()));
    assert_eq!(attr("/lab").await.kind, FileKind::Directory);
    let link = mount.find("/lab/l").await.unwrap();
    assert_eq!(attr("/lab/l").await.kind, FileKind::Symlink);
    assert_eq!(mount.system.readlink(link).await.unwrap(), "a/b");
    assert_eq!(mount.names("/lab").await.unwrap(), ["a", "l"]);
}

#[tokio::test(flavor = "multi_thread")]
async fn changes_by_others_are_visible_once_reported() {
    let world = World::new();
    world.put("/lab/a", "one").await;
    let mut mount = world.mount().await;
    assert_eq!(mount.read("/lab/a").await.unwrap(), b"one");
    assert_eq!(mount.names("/lab").await.unwrap(), ["a"]);
    assert_eq!(mount.read("/lab/b").await.unwrap_err().errno, libc::ENOENT);
    let (ino, dir) = (mount.find("/lab/a").await.unwrap(), mount.find("/lab").await.unwrap());
    world.put("/lab/a", "another").await;
    world.put("/lab/b", "new").await;
    world.settle(&mount).await;
    assert_eq!(mount.read("/lab/a").await.unwrap(), b"another");
    assert_eq!(mount.read("/lab/b").await.unwrap(), b"new");
    assert_eq!(mount.names("/lab").await.unwrap(), ["a", "b"]);
    let mut stale = Vec::new();
    while let Ok(next) = mount.stale.try_recv() {
        stale.push(next);
    }
    assert!(stale.contains(&Stale::Content(ino)), "{stale:?}");
    assert!(stale.contains(&Stale::Entry(dir, "b".into())), "{stale:?}");
    world.client.remove("/lab/a", &Default::default()).await.unwrap();
    world.settle(&mount).await;
    assert_eq!(mount.read("/lab/a").await.unwrap_err().errno, libc::ENOENT);
    assert_eq!(mount.names("/lab").await.unwrap(), ["b"]);
}

#[tokio::test(flavor = "multi_thread")]
async fn a_directory_that_is_read_from_its_beginning_has_the_present_entries() {
    let world = World::new();
    for name in ["a", "b"] {
        world.put(&format!("/lab/{name}"), "x").await;
    }
    let mount = world.mount().await;
    let dir = mount.find("/lab").await.unwrap();
    let handle = mount.system.opendir(dir).await.unwrap();
    let names = |listing: &[DirEntry]| {
        listing.iter().skip(2).map(|entry| entry.name.clone()).collect::<Vec<_>>()
    };
    // Before it is read for the first time, as after `rewinddir`.
    let (_, open) = mount.system.create(dir, "c", 0o644, false).await.unwrap();
    mount.system.flush(open.handle).await.unwrap();
    mount.system.release(open.handle).await;
    let begun = mount.system.list_again(handle).await.unwrap();
    assert_eq!(names(&begun), ["a", "b", "c"]);
    mount.system.unlink(dir, "a").await.unwrap();
    world.put("/lab/d", "x").await;
    world.settle(&mount).await;
    assert_eq!(names(&mount.system.listing(handle).unwrap()), ["a", "b", "c"], "one listing");
    assert_eq!(names(&mount.system.list_again(handle).await.unwrap()), ["b", "c", "d"]);
    mount.system.releasedir(handle);
    assert_eq!(mount.system.list_again(handle).await.unwrap_err().errno, libc::EBADF);
}

#[tokio::test(flavor = "multi_thread")]
async fn listing_a_directory_is_one_request() {
    let world = World::new();
    world.put("/lab/a", "x").await;
    let mount = world.mount().await;
    let dir = mount.find("/lab").await.unwrap();
    world.gate.sent();
    for _ in 0..3 {
        let handle = mount.system.opendir(dir).await.unwrap();
        mount.system.list_again(handle).await.unwrap();
        mount.system.releasedir(handle);
    }
    let sent = world.gate.sent();
    let listings = sent.iter().filter(|target| target.starts_with("/v1/list"));
    assert_eq!(listings.count(), 1, "{sent:?}");
}

#[tokio::test(flavor = "multi_thread")]
async fn cached_data_is_not_shown_after_access_was_revoked() {
    let world = World::new();
    world.put("/lab/a", "one").await;
    world.put("/open/b", "two").await;
    let mut mount = world.mount_of_reader("ben", "/lab").await;
    world.grant("ben", "/open", "read").await;
    world.settle(&mount).await;
    assert_eq!(mount.read("/lab/a").await.unwrap(), b"one");
    assert_eq!(mount.read("/open/b").await.unwrap(), b"two");
    let (lab, file) = (mount.find("/lab").await.unwrap(), mount.find("/lab/a").await.unwrap());
    let open = mount.system.open_file(file, false).await.unwrap().handle;
    while mount.stale.try_recv().is_ok() {}
    world.grant("ben", "/lab", "none").await;
    world.settle(&mount).await;
    assert_eq!(mount.read("/lab/a").await.unwrap_err().errno, libc::ENOENT);
    assert!(!mount.names("/").await.unwrap().contains(&"lab".to_owned()));
    assert!(mount.system.read(open, 0, 10).await.is_err(), "also where it was open");
    assert!(mount.system.getattr(file).await.is_err());
    let mut stale = Vec::new();
    while let Ok(next) = mount.stale.try_recv() {
        stale.push(next);
    }
    assert!(stale.contains(&Stale::Content(file)), "{stale:?}");
    assert!(stale.contains(&Stale::Entry(lab, "a".into())), "{stale:?}");
    assert_eq!(mount.read("/open/b").await.unwrap(), b"two");
}

#[tokio::test(flavor = "multi_thread")]
async fn extended_attributes_are_the_description() {
    let world = World::new();
    world.put("/a", "x").await;
    let mount = world.mount().await;
    let (system, ino) = (&mount.system, mount.find("/a").await.unwrap());
    let set = async |name: &str, value: &'static [u8], mode| {
        system.setxattr(ino, name, value.into(), mode).await.map_err(|fault| fault.errno)
    };
    assert_eq!(set("user.k", b"v", XattrMode::Replace).await, Err(libc::ENODATA));
    assert_eq!(set("user.k", b"v", XattrMode::Create).await, Ok(()));
    assert_eq!(set("user.k", b"v", XattrMode::Create).await, Err(libc::EEXIST));
    assert_eq!(set("user.k", b"\xff\0", XattrMode::Any).await, Ok(()));
    assert_eq!(set("trusted.k", b"v", XattrMode::Any).await, Err(libc::EOPNOTSUPP));
    assert_eq!(system.listxattr(ino).await.unwrap(), b"user.k\0");
    assert_eq!(system.getxattr(ino, "user.k").await.unwrap(), &b"\xff\0"[..]);
    assert_eq!(system.getxattr(ino, "user.x").await.unwrap_err().errno, libc::ENODATA);
    system.removexattr(ino, "user.k").await.unwrap();
    assert_eq!(system.removexattr(ino, "user.k").await.unwrap_err().errno, libc::ENODATA);
    assert!(world.client.meta(&"/a".into()).await.unwrap().is_empty());
}

#[tokio::test(flavor = "multi_thread")]
async fn a_mount_of_a_moment_shows_the_state_of_that_moment() {
    let world = World::new();
    world.put("/lab/a", "one").await;
    let versioned =
        cenote_client::Attributes { versioning: Some("each-change".into()), ..Default::default() };
    world.client.set_attributes(&"/lab".into(), &versioned).await.unwrap();
    let moment = world.client.changes(None, Some("now"), 0).await.unwrap().next;
    world.put("/lab/a", "another").await;
    world.put("/lab/b", "new").await;
    let past = Options { as_of: Some(moment), ..options() };
    let mount = world.mount_with(past).await;
    assert_eq!(mount.names("/lab").await.unwrap(), ["a"]);
    assert_eq!(mount.read("/lab/a").await.unwrap(), b"one");
    assert_eq!(mount.find("/lab/b").await.unwrap_err().errno, libc::ENOENT);
    let refused = mount.system.create(ROOT, "x", 0o644, false).await.unwrap_err();
    assert_eq!(refused.errno, libc::EROFS);
}

#[tokio::test(flavor = "multi_thread")]
async fn a_mount_of_a_moment_dates_directories_and_says_what_was_not_kept() {
    let world = World::new();
    world.put("/lab/sub/x", "x").await;
    world.put("/lab/replaced", "one").await;
    let moment = world.client.changes(None, Some("now"), 0).await.unwrap().next;
    world.put("/lab/replaced", "another").await;
    let log = Arc::<Mutex<Vec<String>>>::default();
    let (lines, as_of) = (Arc::clone(&log), Some(moment));
    let log_to = Log(Arc::new(move |fault| lines.lock().unwrap().push(fault.to_string())));
    let mount = world.mount_with(Options { as_of, log: log_to, ..options() }).await;
    for _ in 0..2 {
        assert_eq!(mount.names("/lab").await.unwrap(), ["sub"]);
    }
    for path in ["/", "/lab", "/lab/sub", "/lab/sub/x"] {
        let attr = mount.system.getattr(mount.find(path).await.unwrap()).await.unwrap().attr;
        for time in [attr.mtime, attr.ctime] {
            assert!(time > SystemTime::UNIX_EPOCH + Duration::from_secs(1), "{path}: {attr:?}");
        }
    }
    assert_eq!(mount.system.status().lost, 1);
    let log = log.lock().unwrap();
    assert!(log.len() == 1 && log[0].starts_with("/lab: ") && log[0].ends_with(": 1"), "{log:?}");
}

#[tokio::test(flavor = "multi_thread")]
async fn a_part_of_the_store_is_mounted() {
    let world = World::new();
    world.put("/lab/run/a", "x").await;
    world.put("/other", "y").await;
    let mount = world.mount_with(Options { root: "/lab".into(), ..options() }).await;
    assert_eq!(mount.names("/").await.unwrap(), ["run"]);
    assert_eq!(mount.read("/run/a").await.unwrap(), b"x");
    let missing = Options { root: "/missing".into(), ..options() };
    let file = Options { root: "/other".into(), ..options() };
    for (options, errno) in [(missing, libc::ENOENT), (file, libc::ENOTDIR)] {
        let refused = cenote_mount::FileSystem::open(world.client.clone(), options).await;
        assert_eq!(refused.unwrap_err().errno, errno);
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn local_contents_are_read_directly_from_disk() {
    let world = World::new();
    let bytes = pattern(300_000);
    world.put("/lab/a", bytes.clone()).await;
    world.put("/lab/small", "small").await;
    let mount = world.mount().await;
    mount.names("/lab").await.unwrap();
    world.gate.sent();
    for _ in 0..2 {
        assert!(mount.read("/lab/a").await.unwrap() == bytes);
    }
    let sent = world.gate.sent();
    assert_eq!(sent.len(), 2, "a lease and its end: {sent:?}");
    assert!(sent.iter().all(|target| target.starts_with("/v1/leases")), "{sent:?}");
    assert_eq!(mount.read("/lab/small").await.unwrap(), b"small");
    world.put("/lab/a", pattern(200_000)).await;
    world.settle(&mount).await;
    assert!(mount.read("/lab/a").await.unwrap() == pattern(200_000));
    let remote = world.mount_with(Options { local: false, ..options() }).await;
    world.gate.sent();
    assert!(remote.read("/lab/a").await.unwrap() == pattern(200_000));
    assert!(!world.gate.sent().iter().any(|target| target.starts_with("/v1/leases")));
}

#[tokio::test(flavor = "multi_thread")]
async fn a_server_without_leases_is_queried_once() {
    let world = World::with_leases(0);
    world.put("/a", pattern(300_000)).await;
    world.put("/b", pattern(300_000)).await;
    let mount = world.mount().await;
    for path in ["/a", "/b", "/a"] {
        assert!(mount.read(path).await.unwrap() == pattern(300_000));
    }
    let sent = world.gate.sent();
    assert_eq!(sent.iter().filter(|target| target.starts_with("/v1/leases")).count(), 1);
}
