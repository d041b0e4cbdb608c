//! The results of `stat(2)` and similar calls, as programs expect them of a file system.

use std::time::{Duration, SystemTime};

use cenote_client::{NewQuota, QuotaLimits, QuotaTarget, XattrMode};
use cenote_mount::{Options, Room, SetAttr, Stale};

use crate::support::{ROOT, World, options};

#[tokio::test(flavor = "multi_thread")]
async fn an_open_file_without_a_name_has_no_links() {
    let world = World::new();
    world.put("/lab/a", "x").await;
    let mount = world.mount().await;
    let (dir, ino) = (mount.find("/lab").await.unwrap(), mount.find("/lab/a").await.unwrap());
    let links = async |ino| mount.system.getattr(ino).await.unwrap().attr.links;
    assert_eq!((links(dir).await, links(ino).await), (1, 1));
    let (new, _open) = mount.system.create(ROOT, "new", 0o644, false).await.unwrap();
    mount.system.open_file(ino, false).await.unwrap();
    mount.system.unlink(dir, "a").await.unwrap();
    mount.system.unlink(ROOT, "new").await.unwrap();
    assert_eq!((links(ino).await, links(new.ino).await), (0, 0));
}

#[tokio::test(flavor = "multi_thread")]
async fn an_access_time_is_shown_as_it_was_set() {
    let world = World::new();
    let mount = world.mount().await;
    let ino = mount.write_new("a", "x").await.unwrap();
    let time = |seconds| SystemTime::UNIX_EPOCH + Duration::from_secs(seconds);
    let set = SetAttr { mtime: Some(time(5)), ..SetAttr::default() };
    let attr = mount.system.setattr(ino, set).await.unwrap().attr;
    assert_eq!((attr.atime, attr.mtime), (time(5), time(5)));
    let set = SetAttr { atime: Some(time(9)), ..SetAttr::default() };
    let attr = mount.system.setattr(ino, set).await.unwrap().attr;
    assert_eq!((attr.atime, attr.mtime), (time(9), time(5)));
}

#[tokio::test(flavor = "multi_thread")]
async fn a_name_that_is_too_long_is_refused_as_such() {
    let world = World::new();
    let mount = world.mount().await;
    let (system, long) = (&mount.system, "n".repeat(1025));
    mount.write_new(&long[1..], "x").await.unwrap();
    let refused = [
        system.lookup(ROOT, &long).await.map(drop),
        system.mkdir(ROOT, &long, 0o755).await.map(drop),
        system.unlink(ROOT, &long).await,
        system.rename((ROOT, &long), (ROOT, "x"), true).await,
        system.rename((ROOT, &long[1..]), (ROOT, &long), true).await,
    ];
    for refused in refused {
        assert_eq!(refused.unwrap_err().errno, libc::ENAMETOOLONG);
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn attributes_of_other_name_spaces_are_not_kept() {
    let world = World::new();
    let mount = world.mount().await;
    let (system, ino) = (&mount.system, mount.write_new("a", "x").await.unwrap());
    for name in ["security.selinux", "system.posix_acl_access", "trusted.x", "user."] {
        let refused = [
            system.getxattr(ino, name).await.map(drop),
            system.setxattr(ino, name, "v".into(), XattrMode::Any).await,
            system.removexattr(ino, name).await,
        ];
        for refused in refused {
            assert_eq!(refused.unwrap_err().errno, libc::EOPNOTSUPP, "{name}");
        }
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn a_change_by_another_user_clears_setuid() {
    let world = World::new();
    let mount = world.mount().await;
    let ino = mount.write_new("a", "x").await.unwrap();
    let group = mount.system.options().owner.gid;
    for (before, by, after) in [
        (0o6755, None, 0o755),
        (0o2644, None, 0o2644),
        (0o2644, Some(group), 0o2644),
        (0o6666, Some(group + 1), 0o666),
        (0o2676, Some(group), 0o676),
        (0o1777, Some(group + 1), 0o1777),
    ] {
        let set = SetAttr { mode: Some(before), ..SetAttr::default() };
        mount.system.setattr(ino, set).await.unwrap();
        mount.system.drop_privileges(ino, by).await.unwrap();
        assert_eq!(mount.system.getattr(ino).await.unwrap().attr.mode, after, "{before:o} {by:?}");
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn the_kernel_caches_a_new_file_until_it_is_lost() {
    let world = World::new();
    let mut mount = world.mount().await;
    let (entry, open) = mount.system.create(ROOT, "a", 0o644, false).await.unwrap();
    assert!(entry.keep, "nobody else changes what is not in the store yet");
    mount.system.write(open.handle, 0, "x".into(), false).await.unwrap();
    world.gate.set(|weather| weather.away = true);
    mount.system.flush(open.handle).await.unwrap_err();
    mount.system.release(open.handle).await;
    let mut stale = Vec::new();
    while let Ok(next) = mount.stale.try_recv() {
        stale.push(next);
    }
    for lost in [Stale::Content(entry.ino), Stale::Entry(ROOT, "a".to_owned())] {
        assert!(stale.contains(&lost), "{stale:?}");
    }
    world.gate.set(|weather| weather.away = false);
    assert_eq!(mount.find("/a").await.unwrap_err().errno, libc::ENOENT);
}

#[tokio::test(flavor = "multi_thread")]
async fn free_space_is_that_of_the_tightest_quota() {
    let world = World::new();
    world.put("/lab/a", vec![1; 300]).await;
    let mount = world.mount().await;
    let unlimited = mount.system.space().await;
    assert!(unlimited.bytes.free > 1000 && unlimited.files.free > 1000);
    let limit = async |of, bytes, resources| {
        let hard = QuotaLimits { bytes, resources };
        let quota = NewQuota { of, hard, soft: QuotaLimits::default(), grace: None };
        world.client.set_quota(&quota).await.unwrap();
    };
    limit(QuotaTarget::Path("/".to_owned()), Some(1000), None).await;
    limit(QuotaTarget::Path("/lab".to_owned()), Some(500), Some(20)).await;
    let counted = async || {
        let quotas = world.client.quotas(None).await.unwrap();
        quotas.iter().all(|quota| quota.total.is_some())
    };
    while !counted().await {}
    let whole = mount.system.space().await;
    assert_eq!((whole.bytes, whole.files), (Room { limit: 1000, free: 700 }, unlimited.files));
    let part = world.mount_with(Options { root: "/lab".to_owned(), ..options() }).await;
    let space = part.system.space().await;
    assert_eq!(space.bytes, Room { limit: 500, free: 200 });
    assert_eq!(space.files.limit, 20);
    world.gate.set(|weather| weather.away = true);
    assert!(part.system.space().await.bytes.free > 1 << 40, "programs that ask go on");
}

#[tokio::test(flavor = "multi_thread")]
async fn a_path_that_is_too_deep_is_refused_as_such_when_something_is_made() {
    let world = World::new();
    world.put("/lab/x", "x").await;
    let root = Options { root: "/lab".into(), ..options() };
    let lab = world.mount_with(root).await;
    let mut at = ROOT;
    for _ in 0..254 {
        at = lab.system.mkdir(at, "d", 0o755).await.unwrap().ino;
    }
    let (_, open) = lab.system.create(at, "deepest", 0o644, false).await.unwrap();
    lab.system.flush(open.handle).await.unwrap();
    let dir = lab.system.mkdir(at, "d", 0o755).await.unwrap().ino;
    let refused = [
        lab.system.create(dir, "file", 0o644, false).await.map(drop),
        lab.system.mkdir(dir, "dir", 0o755).await.map(drop),
        lab.system.symlink(dir, "link", "x").await.map(drop),
        lab.system.rename((ROOT, "x"), (dir, "x"), true).await,
    ];
    for refused in refused {
        assert_eq!(refused.unwrap_err().errno, libc::ENAMETOOLONG);
    }
}
