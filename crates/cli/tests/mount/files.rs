//! Files through the kernel.

use std::fs::{self, OpenOptions};
use std::io::{ErrorKind, Read, Seek, SeekFrom, Write};
use std::os::unix::fs::{FileExt, MetadataExt, PermissionsExt, symlink};
use std::os::unix::process::CommandExt;

use crate::support::{World, can_mount, eventually};

#[test]
fn written_data_is_read_back_through_the_mount_and_from_the_store() {
    if !can_mount() {
        return;
    }
    let world = World::new();
    let mount = world.mount(&["--write"]);
    let bytes: Vec<u8> = (0..9_000_000_u32).map(|at| (at / 3) as u8).collect();
    for size in [0, 1, 70_000, 9_000_000] {
        let file = mount.path(&format!("f{size}"));
        fs::write(&file, &bytes[..size]).unwrap();
        assert!(fs::read(&file).unwrap() == bytes[..size]);
        let stored = world.cenote(&["cat", &format!("/f{size}")]).output().unwrap();
        assert!(stored.stdout == bytes[..size], "{size}");
    }
    assert_eq!(fs::read_dir(mount.path("")).unwrap().count(), 4);
    assert_eq!(mount.log(), "");
}

#[test]
fn files_are_changed_in_place() {
    if !can_mount() {
        return;
    }
    let world = World::new();
    let mount = world.mount(&["--write"]);
    let path = mount.path("a");
    fs::write(&path, "0123456789").unwrap();
    let mut file = OpenOptions::new().read(true).write(true).open(&path).unwrap();
    file.write_all_at(b"xyz", 4).unwrap();
    file.seek(SeekFrom::End(0)).unwrap();
    file.write_all(b"end").unwrap();
    let mut all = String::new();
    file.seek(SeekFrom::Start(0)).unwrap();
    file.read_to_string(&mut all).unwrap();
    assert_eq!(all, "0123xyz789end");
    file.sync_all().unwrap();
    assert_eq!(world.ok(&["cat", "/a"]), "0123xyz789end");
    file.set_len(5).unwrap();
    drop(file);
    assert_eq!(world.ok(&["cat", "/a"]), "0123x");
    OpenOptions::new().append(true).open(&path).unwrap().write_all(b"+").unwrap();
    assert_eq!(fs::read_to_string(&path).unwrap(), "0123x+");
    fs::set_permissions(&path, fs::Permissions::from_mode(0o600)).unwrap();
    assert_eq!(fs::metadata(&path).unwrap().permissions().mode() & 0o7777, 0o600);
}

#[test]
fn an_open_listing_does_not_undo_the_size_of_a_file() {
    if !can_mount() {
        return;
    }
    let world = World::new();
    let mount = world.mount(&["--write"]);
    let path = mount.path("a");
    fs::write(&path, "0123456789").unwrap();
    for size in [70_000, 3] {
        // The listing is opened before the size changes, and read afterwards.
        let listing = fs::read_dir(mount.path("")).unwrap();
        let file = OpenOptions::new().write(true).open(&path).unwrap();
        file.set_len(0).unwrap();
        file.write_all_at(&vec![1; size], 0).unwrap();
        assert_eq!(listing.count(), 1);
        assert_eq!(file.metadata().unwrap().len(), size as u64);
        assert_eq!(fs::read(&path).unwrap().len(), size);
        drop(file);
        assert_eq!(fs::metadata(&path).unwrap().len(), size as u64);
    }
}

#[test]
fn ranges_are_allocated_and_punched() {
    if !can_mount() {
        return;
    }
    let world = World::new();
    let mount = world.mount(&["--write"]);
    let path = mount.path("a");
    fs::write(&path, [1; 10_000]).unwrap();
    let mut wanted = vec![1; 10_000];
    let fallocate = |options: &str| {
        let mut command = std::process::Command::new("fallocate");
        command.args(options.split(' ')).arg(&path).status().unwrap().success()
    };
    assert!(fallocate("--punch-hole --offset 5 --length 6000"));
    wanted[5..6_005].fill(0);
    // The kernel has the file in memory.
    assert!(fs::read(&path).unwrap() == wanted);
    assert!(fallocate("--zero-range --offset 9990 --length 100"));
    wanted[9_990..].fill(0);
    wanted.resize(10_090, 0);
    assert!(fs::read(&path).unwrap() == wanted);
    assert!(fallocate("--length 9000000"));
    wanted.resize(9_000_000, 0);
    assert!(fs::read(&path).unwrap() == wanted);
    assert!(fallocate("--posix --offset 9000000 --length 5"));
    assert!(fallocate("--keep-size --length 10000000"));
    wanted.resize(9_000_005, 0);
    assert!(!fallocate("--collapse-range --length 4096"));
    assert!(fs::read(&path).unwrap() == wanted);
    drop(mount);
    let again = world.mount(&[]);
    assert!(fs::read(again.path("a")).unwrap() == wanted);
}

#[test]
fn an_allocation_by_another_user_clears_setuid() {
    let is_root = fs::metadata("/proc/self").unwrap().uid() == 0;
    if !can_mount() || !is_root {
        return;
    }
    let world = World::new();
    let mount = world.mount(&["--write", "--allow-other"]);
    let path = mount.path("a");
    // Longer than the file, and within it.
    let cases = [(None, 1, 0o6666), (Some(65_534), 1, 0o666), (Some(65_534), 20_000, 0o666)];
    for (user, size, left) in cases {
        fs::write(&path, vec![1; size]).unwrap();
        fs::set_permissions(&path, fs::Permissions::from_mode(0o6666)).unwrap();
        let open = OpenOptions::new().write(true).open(&path).unwrap();
        // Another user cannot reach the directory, but this file.
        let mut command = std::process::Command::new("fallocate");
        command.args(["--length", "20000", "/dev/stdin"]).stdin(open);
        if let Some(user) = user {
            command.uid(user).gid(user);
        }
        assert!(command.status().unwrap().success());
        let is = fs::metadata(&path).unwrap();
        assert_eq!((is.mode() & 0o7777, is.len()), (left, 20_000), "{user:?} {size}");
    }
}

#[test]
fn names_of_every_kind_round_trip() {
    if !can_mount() {
        return;
    }
    let world = World::new();
    let mount = world.mount(&["--write"]);
    let long = "n".repeat(255);
    for name in ["it's", "a\\b", "per%cent", "under_score", "ü", "two words", "-", long.as_str()] {
        fs::write(mount.path(name), name).unwrap();
        let other = mount.path("other");
        fs::rename(mount.path(name), &other).unwrap();
        fs::rename(&other, mount.path(name)).unwrap();
        assert_eq!(fs::read_to_string(mount.path(name)).unwrap(), name);
    }
    fs::create_dir(mount.path("A")).unwrap();
    fs::create_dir(mount.path("AB")).unwrap();
    fs::write(mount.path("AB/x"), "x").unwrap();
    fs::rename(mount.path("A"), mount.path("C")).unwrap();
    assert_eq!(fs::read_to_string(mount.path("AB/x")).unwrap(), "x", "a sibling stays");
    symlink("AB/x", mount.path("link")).unwrap();
    assert_eq!(fs::read_to_string(mount.path("link")).unwrap(), "x");
    assert_eq!(
        fs::hard_link(mount.path("AB/x"), mount.path("y")).unwrap_err().kind(),
        ErrorKind::PermissionDenied
    );
}

#[test]
fn changes_by_others_are_visible_without_remounting() {
    if !can_mount() {
        return;
    }
    let world = World::new();
    world.feed_put("/lab/a", "one");
    let mount = world.mount(&[]);
    assert_eq!(fs::read_to_string(mount.path("lab/a")).unwrap(), "one");
    assert!(fs::metadata(mount.path("lab/b")).is_err());
    world.feed_put("/lab/a", "another");
    world.feed_put("/lab/b", "new");
    eventually("the new content", || fs::read_to_string(mount.path("lab/a")).unwrap() == "another");
    eventually("the new name", || {
        fs::read_to_string(mount.path("lab/b")).is_ok_and(|it| it == "new")
    });
    world.ok(&["rm", "/lab/a"]);
    eventually("the removal", || fs::metadata(mount.path("lab/a")).is_err());
    let refused = fs::write(mount.path("x"), "x").unwrap_err();
    assert_eq!(refused.kind(), ErrorKind::ReadOnlyFilesystem);
}

#[test]
fn local_contents_are_read_by_kernel_passthrough() {
    if !can_mount() {
        return;
    }
    let world = World::new();
    let bytes: Vec<u8> = (0..3_000_000_u32).map(|at| (at / 5) as u8).collect();
    for name in ["large", "small"] {
        let size = if name == "large" { bytes.len() } else { 1000 };
        fs::write(world.path("source"), &bytes[..size]).unwrap();
        world.ok(&["put", "source", &format!("/{name}")]);
    }
    let mount = world.mount(&["--passthrough"]);
    for _ in 0..2 {
        assert!(fs::read(mount.path("large")).unwrap() == bytes);
        assert!(fs::read(mount.path("small")).unwrap() == bytes[..1000]);
    }
    let open = fs::File::open(mount.path("large")).unwrap();
    let mut part = [0; 100];
    open.read_exact_at(&mut part, 1_000_000).unwrap();
    assert_eq!(part, bytes[1_000_000..1_000_100]);
    drop(open);
    world.feed_put("/large", "changed");
    eventually("the new content", || fs::read(mount.path("large")).unwrap() == b"changed");
    assert_eq!(mount.log(), "");
}

impl World {
    fn feed_put(&self, path: &str, text: &str) {
        fs::write(self.path("source"), text).unwrap();
        self.ok(&["put", "source", path]);
    }
}

#[test]
fn an_open_file_keeps_its_content_while_others_replace_it() {
    if !can_mount() {
        return;
    }
    let world = World::new();
    let content = |size: usize, number: u8| -> Vec<u8> {
        (0..size).map(|at| (at / 7) as u8 ^ (at / 70_000) as u8 ^ number).collect()
    };
    let put = |name: &str, bytes: &[u8]| {
        fs::write(world.path("source"), bytes).unwrap();
        world.ok(&["put", "source", &format!(":{name}")]);
    };
    world.ok(&["mkdir", "/lab"]);
    // So that there is a content to go on with if a lease comes too late.
    world.ok(&["versions", "policy", "/lab", "each-change"]);
    let sizes = [1000, 70_000, 3_000_000, 40_000_000];
    for size in sizes {
        put(&format!("/lab/f{size}"), &content(size, 0));
    }
    let mount = world.mount(&["--no-local"]);
    for size in sizes {
        let (old, new) = (content(size, 0), content(size / 2 + 9, 0x55));
        let (name, path) = (format!("/lab/f{size}"), mount.path(&format!("lab/f{size}")));
        let mut open = fs::File::open(&path).unwrap();
        let mut read = vec![0; size / 4];
        open.read_exact(&mut read).unwrap();
        put(&name, &new);
        eventually("the new content", || fs::read(&path).is_ok_and(|read| read == new));
        open.read_to_end(&mut read).unwrap();
        assert!(read == old, "{size}");
        assert_eq!(open.metadata().unwrap().len(), size as u64);
        assert_eq!(fs::metadata(&path).unwrap().len(), new.len() as u64);
        // Both are in the caches of the kernel.
        let mut again = Vec::new();
        open.seek(SeekFrom::Start(0)).unwrap();
        open.read_to_end(&mut again).unwrap();
        assert!(again == old && fs::read(&path).unwrap() == new, "{size}");
        let mut other = fs::File::open(&path).unwrap();
        put(&name, &old);
        eventually("the old content", || fs::read(&path).is_ok_and(|read| read == old));
        again.clear();
        other.read_to_end(&mut again).unwrap();
        assert!(again == new, "{size}");
    }
    assert_eq!(mount.log(), "");
}
