//! Mounts of several resources, each at its own path.

use cenote_client::{At, Removal, XattrMode};
use cenote_mount::{FileKind, Layout, Options, Placed, SetAttr};

use crate::support::{Mount, ROOT, World, options};

fn placed(at: &str, path: &str) -> Placed {
    Placed { at: at.into(), resource: At::Path(path.into()), write: true, folder: None }
}

async fn mount(world: &World, places: Vec<Placed>) -> Mount {
    let layout = Some(Layout::new(places).unwrap());
    world.mount_with(Options { layout, ..options() }).await
}

async fn world() -> World {
    let world = World::new();
    world.put("/lab/d/a", "one").await;
    world.put("/lab/d/sub/b", "two").await;
    world.put("/other/c", "three").await;
    world
}

#[tokio::test(flavor = "multi_thread")]
async fn only_files_and_folders_of_the_layout_are_shown() {
    let world = world().await;
    let places = vec![
        placed("/in/x", "/lab/d/a"),
        placed("/in/y", "/lab/d/a"),
        placed("/data/deep/d", "/lab/d"),
        placed("/data/other", "/other"),
    ];
    let mount = mount(&world, places).await;
    assert_eq!(mount.names("/").await.unwrap(), ["data", "in"]);
    assert_eq!(mount.names("/data").await.unwrap(), ["deep", "other"]);
    assert_eq!(mount.names("/data/deep/d").await.unwrap(), ["a", "sub"]);
    assert_eq!(mount.read("/in/x").await.unwrap(), b"one");
    assert_eq!(mount.read("/data/deep/d/sub/b").await.unwrap(), b"two");
    let inodes = [mount.find("/in/x").await.unwrap(), mount.find("/in/y").await.unwrap()];
    assert_ne!(inodes[0], inodes[1], "each appearance is a file of its own");
    let above = mount.system.getattr(mount.find("/data").await.unwrap()).await.unwrap().attr;
    assert_eq!((above.kind, above.mode), (FileKind::Directory, 0o555));
    assert_eq!(mount.find("/lab").await.unwrap_err().errno, libc::ENOENT);
    world.gate.sent();
    mount.names("/data").await.unwrap();
    assert_eq!(mount.find("/data/missing").await.unwrap_err().errno, libc::ENOENT);
    assert_eq!(world.gate.sent(), [""; 0], "the directories above the places are the mount's own");
}

#[tokio::test(flavor = "multi_thread")]
async fn a_write_at_one_path_is_visible_at_the_other() {
    let world = world().await;
    let places = vec![placed("/one", "/lab/d"), placed("/two", "/lab"), placed("/f", "/lab/d/a")];
    let mount = mount(&world, places).await;
    for path in ["/one/a", "/two/d/a", "/f"] {
        assert_eq!(mount.read(path).await.unwrap(), b"one");
    }
    let ino = mount.find("/one/a").await.unwrap();
    let open = mount.system.open_file(ino, true).await.unwrap().handle;
    mount.system.write(open, 3, "more".into(), false).await.unwrap();
    mount.system.flush(open).await.unwrap();
    mount.system.release(open).await;
    let one = mount.find("/one").await.unwrap();
    mount.system.mkdir(one, "new", 0o755).await.unwrap();
    world.settle(&mount).await;
    for path in ["/one/a", "/two/d/a", "/f"] {
        assert_eq!(mount.read(path).await.unwrap(), b"onemore", "{path}");
    }
    assert_eq!(mount.names("/two/d").await.unwrap(), ["a", "new", "sub"]);
    world.put("/lab/d/sub/later", "x").await;
    world.client.remove("/lab/d/sub/b", &Removal::default()).await.unwrap();
    world.settle(&mount).await;
    for path in ["/one/sub", "/two/d/sub"] {
        assert_eq!(mount.names(path).await.unwrap(), ["later"]);
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn placed_items_cannot_be_moved() {
    let world = world().await;
    let read_only = Placed { write: false, ..placed("/data/other", "/other") };
    let mount = mount(&world, vec![placed("/data/d", "/lab/d"), read_only]).await;
    let system = &mount.system;
    let data = mount.find("/data").await.unwrap();
    let (d, other) =
        (mount.find("/data/d").await.unwrap(), mount.find("/data/other").await.unwrap());
    let c = mount.find("/data/other/c").await.unwrap();
    let mode = SetAttr { mode: Some(0o700), ..SetAttr::default() };
    let refused = [
        (libc::EPERM, system.mkdir(data, "new", 0o755).await.map(drop)),
        (libc::EPERM, system.create(data, "new", 0o644, false).await.map(drop)),
        (libc::EPERM, system.symlink(ROOT, "new", "x").await.map(drop)),
        (libc::EPERM, system.rmdir(data, "d").await),
        (libc::EPERM, system.rename((data, "d"), (data, "e"), true).await),
        (libc::EPERM, system.rename((d, "a"), (data, "a"), true).await),
        (libc::EPERM, system.rename((ROOT, "data"), (d, "data"), true).await),
        (libc::EPERM, system.setattr(data, mode).await.map(drop)),
        (libc::EPERM, system.setxattr(data, "user.k", "v".into(), XattrMode::Any).await),
        (libc::EACCES, system.create(other, "new", 0o644, false).await.map(drop)),
        (libc::EACCES, system.mkdir(other, "new", 0o755).await.map(drop)),
        (libc::EACCES, system.unlink(other, "c").await),
        (libc::EACCES, system.open_file(c, true).await.map(drop)),
        (libc::EACCES, system.setattr(c, mode).await.map(drop)),
    ];
    for (number, (errno, refused)) in refused.into_iter().enumerate() {
        assert_eq!(refused.unwrap_err().errno, errno, "{number}");
    }
    let sub = mount.find("/data/d/sub").await.unwrap();
    system.rename((d, "a"), (sub, "a"), true).await.unwrap();
    assert_eq!(mount.read("/data/d/sub/a").await.unwrap(), b"one");
    assert_eq!(mount.read("/data/other/c").await.unwrap(), b"three");
}

#[tokio::test(flavor = "multi_thread")]
async fn a_move_between_places_makes_programs_copy() {
    let world = world().await;
    let mount = mount(&world, vec![placed("/d", "/lab/d"), placed("/o", "/other")]).await;
    let (d, o) = (mount.find("/d").await.unwrap(), mount.find("/o").await.unwrap());
    let refused = mount.system.rename((d, "a"), (o, "a"), true).await.unwrap_err();
    assert_eq!(refused.errno, libc::EXDEV);
    assert_eq!(mount.read("/d/a").await.unwrap(), b"one");
}

#[tokio::test(flavor = "multi_thread")]
async fn a_placed_item_stays_if_it_is_moved_in_the_store_and_disappears_if_removed() {
    use cenote_client::{Destination, Relocation};
    let world = world().await;
    let mount = mount(&world, vec![placed("/d", "/lab/d"), placed("/c", "/other/c")]).await;
    assert_eq!(mount.names("/d").await.unwrap(), ["a", "sub"]);
    let relocation = Relocation {
        from: At::Path("/lab/d".into()),
        to: Destination::Path("/other/e".into()),
        replace: false,
        parents: false,
        versions: false,
    };
    world.client.relocate(&relocation).await.unwrap();
    world.client.remove("/other/c", &Removal::default()).await.unwrap();
    world.settle(&mount).await;
    assert_eq!(mount.names("/").await.unwrap(), ["d"]);
    assert_eq!(mount.find("/c").await.unwrap_err().errno, libc::ENOENT);
    world.put("/other/e/new", "x").await;
    world.settle(&mount).await;
    assert_eq!(mount.names("/d").await.unwrap(), ["a", "new", "sub"]);
    assert_eq!(mount.read("/d/a").await.unwrap(), b"one");
}

#[tokio::test(flavor = "multi_thread")]
async fn a_missing_item_of_a_layout_is_reported() {
    let world = world().await;
    let layout = Layout::new(vec![placed("/d", "/lab/d"), placed("/x", "/missing")]).unwrap();
    let options = Options { layout: Some(layout), ..options() };
    let refused = cenote_mount::FileSystem::open(world.client.clone(), options).await.unwrap_err();
    assert_eq!(refused.errno, libc::ENOENT);
    assert!(refused.message.starts_with("/x: "), "{refused}");
}
