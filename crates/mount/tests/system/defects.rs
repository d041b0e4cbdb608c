//! Known defects of dxfuse not covered by other tests; `docs/mount.md` lists them.

use std::sync::Arc;
use std::time::{Duration, SystemTime};

use tokio::sync::Barrier;

use crate::support::{ROOT, World};

#[tokio::test(flavor = "multi_thread")]
async fn sequential_reads_have_several_requests_in_flight() {
    let world = World::with_leases(0);
    let bytes: Vec<u8> = (0..40_000_000_u32).map(|at| (at / 3) as u8).collect();
    world.put("/lab/large", bytes.clone()).await;
    let mount = world.mount().await;
    let ino = mount.find("/lab/large").await.unwrap();
    let open = mount.system.open_file(ino, false).await.unwrap().handle;
    let mut read = mount.system.read(open, 0, 1 << 20).await.unwrap().to_vec();
    read.extend_from_slice(&mount.system.read(open, read.len() as u64, 1 << 20).await.unwrap());
    // The next two requests are answered only once both have been made.
    let meeting = (2, Arc::new(Barrier::new(2)));
    world.gate.set(|weather| weather.meeting = Some(("/v1/fs".into(), meeting.0, meeting.1)));
    while read.len() < bytes.len() {
        let next = mount.system.read(open, read.len() as u64, 1 << 20).await.unwrap();
        read.extend_from_slice(&next);
    }
    assert!(read == bytes);
}

#[tokio::test(flavor = "multi_thread")]
async fn the_twelfth_open_file_is_read_ahead_like_the_first() {
    let world = World::with_leases(0);
    const SIZE: usize = 2 << 20;
    for n in 0..12 {
        world.put(&format!("/lab/f{n}"), vec![n; SIZE]).await;
    }
    let mount = world.mount().await;
    let mut open = Vec::new();
    for n in 0..12 {
        let ino = mount.find(&format!("/lab/f{n}")).await.unwrap();
        open.push(mount.system.open_file(ino, false).await.unwrap().handle);
    }
    world.gate.sent();
    const STEP: usize = 64 << 10;
    for at in (0..SIZE).step_by(STEP) {
        for (n, open) in (0..).zip(&open) {
            let bytes = mount.system.read(*open, at as u64, STEP as u32).await.unwrap();
            assert!(bytes == vec![n; STEP]);
        }
    }
    let requests = world.gate.sent().len();
    assert!(requests < 12 * SIZE / STEP / 4, "{requests} requests");
}

#[tokio::test(flavor = "multi_thread")]
async fn a_move_can_change_directory_and_name_at_once() {
    let world = World::new();
    for path in ["/from/file", "/from/dir/inside", "/to/x"] {
        world.put(path, path).await;
    }
    let mount = world.mount().await;
    let (from, to) = (mount.find("/from").await.unwrap(), mount.find("/to").await.unwrap());
    mount.system.rename((from, "file"), (to, "other"), true).await.unwrap();
    mount.system.rename((from, "dir"), (to, "moved"), true).await.unwrap();
    assert_eq!(world.get("/to/other").await, b"/from/file");
    assert_eq!(world.get("/to/moved/inside").await, b"/from/dir/inside");
    assert_eq!(mount.read("/to/moved/inside").await.unwrap(), b"/from/dir/inside");
    assert_eq!(mount.names("/from").await.unwrap(), [""; 0]);
}

#[tokio::test(flavor = "multi_thread")]
async fn moving_a_directory_does_not_affect_names_with_the_same_prefix() {
    let world = World::new();
    let alike = ["A", "AB", "A_", "A%", "a", "A'", "A B"];
    for name in alike {
        world.put(&format!("/{name}/inside"), name).await;
        world.put(&format!("/{name}/sub/deep"), name).await;
    }
    let mount = world.mount().await;
    for name in alike {
        assert_eq!(mount.names(&format!("/{name}")).await.unwrap(), ["inside", "sub"]);
    }
    mount.system.rename((ROOT, "A"), (ROOT, "C"), true).await.unwrap();
    world.settle(&mount).await;
    for name in alike {
        let path = if name == "A" { "/C".to_owned() } else { format!("/{name}") };
        for inside in ["inside", "sub/deep"] {
            let bytes = mount.read(&format!("{path}/{inside}")).await.unwrap();
            assert_eq!(bytes, name.as_bytes());
        }
    }
    assert_eq!(mount.find("/A").await.unwrap_err().errno, libc::ENOENT);
}

#[tokio::test(flavor = "multi_thread")]
async fn directory_times_are_those_of_their_last_changes() {
    let world = World::new();
    let before = SystemTime::from(jiff::Timestamp::now()) - Duration::from_secs(60);
    world.put("/lab/dir/file", "x").await;
    let mount = world.mount().await;
    for path in ["/lab", "/lab/dir"] {
        let ino = mount.find(path).await.unwrap();
        let attr = mount.system.getattr(ino).await.unwrap().attr;
        assert!(attr.mtime > before && attr.ctime > before && attr.atime > before, "{path}");
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn a_file_being_written_can_be_read_reopened_and_closed_twice() {
    let world = World::new();
    let mount = world.mount().await;
    let system = &mount.system;
    let (entry, first) = system.create(ROOT, "a", 0o644, false).await.unwrap();
    system.write(first.handle, 0, "one".into(), false).await.unwrap();
    assert_eq!(&system.read(first.handle, 0, 10).await.unwrap()[..], b"one");
    let second = system.open_file(entry.ino, true).await.unwrap();
    assert_eq!(&system.read(second.handle, 0, 10).await.unwrap()[..], b"one");
    assert_eq!(system.getattr(entry.ino).await.unwrap().attr.size, 3);
    // A duplicate of the first descriptor is closed, and the other one stays usable.
    system.flush(first.handle).await.unwrap();
    system.write(first.handle, 3, " two".into(), false).await.unwrap();
    system.write(second.handle, 7, " three".into(), false).await.unwrap();
    system.flush(first.handle).await.unwrap();
    assert_eq!(world.get("/a").await, b"one two three");
    assert_eq!(system.getattr(entry.ino).await.unwrap().attr.size, 13, "at once");
    for open in [first, second] {
        system.flush(open.handle).await.unwrap();
        system.release(open.handle).await;
    }
    assert_eq!(mount.read("/a").await.unwrap(), b"one two three");
}
