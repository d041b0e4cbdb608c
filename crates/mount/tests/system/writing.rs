//! Writing through a mount.

use std::sync::Arc;
use std::time::Duration;

use bytes::Bytes;
use cenote_mount::{Allocation, Options, SetAttr};
use tokio::sync::Barrier;

use crate::support::{Mount, ROOT, World, options};

async fn open(mount: &Mount, path: &str) -> u64 {
    let ino = mount.find(path).await.unwrap();
    mount.system.open_file(ino, true).await.unwrap().handle
}

#[tokio::test(flavor = "multi_thread")]
async fn a_file_is_in_the_store_when_it_is_closed_and_not_before() {
    let world = World::new();
    let mount = world.mount().await;
    let (entry, open) = mount.system.create(ROOT, "a", 0o600, true).await.unwrap();
    mount.system.write(open.handle, 0, "hello".into(), false).await.unwrap();
    assert!(world.client.find("/a").await.unwrap().is_none());
    assert_eq!(mount.system.read(open.handle, 1, 3).await.unwrap(), "ell");
    let before = mount.system.getattr(entry.ino).await.unwrap().attr;
    mount.system.flush(open.handle).await.unwrap();
    assert_eq!(world.get("/a").await, b"hello");
    let stat = world.client.stat(&"/a".into()).await.unwrap();
    assert_eq!(stat.mode, Some(0o600));
    let after = mount.system.getattr(entry.ino).await.unwrap().attr;
    assert_eq!((before.mtime, before.ctime), (after.mtime, after.ctime), "times do not jump");
    mount.system.release(open.handle).await;
    assert_eq!(mount.find("/a").await.unwrap(), entry.ino, "the number stays");
}

#[tokio::test(flavor = "multi_thread")]
async fn large_and_small_files_are_written_anywhere_as_one_version() {
    let world = World::new();
    for size in [10_usize, 300_000, 6_000_000] {
        let name = format!("f{size}");
        let mut wanted = vec![7_u8; size];
        world.put(&format!("/{name}"), wanted.clone()).await;
        let mount = world.mount().await;
        let handle = open(&mount, &name).await;
        for (offset, bytes) in [(size / 2, &b"middle"[..]), (size + 10, b"end"), (0, b"start")] {
            wanted.resize(wanted.len().max(offset + bytes.len()), 0);
            wanted[offset..offset + bytes.len()].copy_from_slice(bytes);
            let bytes = Bytes::copy_from_slice(bytes);
            mount.system.write(handle, offset as u64, bytes, false).await.unwrap();
        }
        assert!(mount.read_all(handle).await.unwrap() == wanted, "read back {size}");
        assert_eq!(world.get(&format!("/{name}")).await, vec![7_u8; size], "not published");
        mount.system.flush(handle).await.unwrap();
        assert!(world.get(&format!("/{name}")).await == wanted, "published {size}");
        mount.system.write(handle, 0, "append".into(), true).await.unwrap();
        wanted.extend_from_slice(b"append");
        mount.system.fsync(handle).await.unwrap();
        assert!(world.get(&format!("/{name}")).await == wanted, "appended {size}");
        mount.system.release(handle).await;
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn a_file_larger_than_memory_is_sent_in_the_background() {
    let world = World::new();
    let mount = world.mount_with(Options { write_memory: 1 << 20, ..options() }).await;
    let (_, open) = mount.system.create(ROOT, "large", 0o644, false).await.unwrap();
    let chunk = |n: u64| Bytes::from(vec![n as u8; 1 << 20]);
    for n in 0..9 {
        mount.system.write(open.handle, n << 20, chunk(n), false).await.unwrap();
    }
    // A part is written again, in small pieces.
    for n in 0..10 {
        mount.system.write(open.handle, 500 + n * 3, "abc".into(), false).await.unwrap();
    }
    mount.system.flush(open.handle).await.unwrap();
    mount.system.release(open.handle).await;
    let mut wanted: Vec<u8> = (0..9).flat_map(chunk).collect();
    wanted[500..530].copy_from_slice("abc".repeat(10).as_bytes());
    assert!(world.get("/large").await == wanted);
    assert!(mount.read("/large").await.unwrap() == wanted);
}

/// Numbers that look random.
fn random(seed: u64) -> impl FnMut(usize) -> usize {
    let mut state = seed.wrapping_mul(0x9E37_79B9_7F4A_7C15);
    move |below| {
        state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1);
        (state >> 33) as usize % below
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn small_writes_anywhere_in_a_large_file_are_few_requests() {
    let world = World::new();
    let mut wanted = vec![7_u8; 9 << 20];
    world.put("/a", wanted.clone()).await;
    let mount = world.mount().await;
    let (handle, mut random) = (open(&mount, "a").await, random(5));
    world.gate.sent();
    for n in 0..1_500 {
        let (at, bytes) = (random(wanted.len() + 9_000), [n as u8; 4_096]);
        wanted.resize(wanted.len().max(at + bytes.len()), 0);
        wanted[at..at + bytes.len()].copy_from_slice(&bytes);
        mount.system.write(handle, at as u64, Bytes::copy_from_slice(&bytes), false).await.unwrap();
        // Some of it is at the server, some on its way, and some was not sent yet.
        let from = at.saturating_sub(random(10_000));
        let read = mount.system.read(handle, from as u64, 20_000).await.unwrap();
        assert!(read == wanted[from..wanted.len().min(from + 20_000)], "read back {n}");
    }
    mount.system.fsync(handle).await.unwrap();
    let sent = world.gate.sent();
    let written = sent.iter().filter(|target| target.contains("content?ranges=")).count();
    assert!((1..=3).contains(&written), "{written} requests for 6 MB");
    assert!(sent.iter().all(|target| !target.contains("content?offset=")), "{sent:?}");
    assert!(world.get("/a").await == wanted);
    mount.system.release(handle).await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_server_that_takes_one_range_at_a_time_gets_small_writes_one_by_one() {
    let world = World::new();
    let mut wanted = vec![7_u8; 9 << 20];
    world.put("/a", wanted.clone()).await;
    let mount = world.mount().await;
    world.gate.set(|weather| weather.unknown = Some("ranges"));
    let (handle, mut random) = (open(&mount, "a").await, random(6));
    for n in 0..40 {
        let (at, bytes) = (random(wanted.len() - 4_096), [n as u8; 4_096]);
        wanted[at..at + bytes.len()].copy_from_slice(&bytes);
        mount.system.write(handle, at as u64, Bytes::copy_from_slice(&bytes), false).await.unwrap();
    }
    mount.system.fsync(handle).await.unwrap();
    assert!(world.get("/a").await == wanted);
    mount.system.release(handle).await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_large_file_that_is_written_is_read_ahead() {
    let world = World::new();
    let mut wanted = vec![7_u8; 9 << 20];
    world.put("/a", wanted.clone()).await;
    let mount = world.mount().await;
    let handle = open(&mount, "a").await;
    mount.system.write(handle, 8 << 20, "begun".into(), false).await.unwrap();
    wanted[8 << 20..][..5].copy_from_slice(b"begun");
    world.gate.sent();
    for page in 0..512_usize {
        // As a program changes a part of each page through a mapping, and now and then one that was read ahead.
        let at = page * 4_096;
        let read = mount.system.read(handle, at as u64, 4_096).await.unwrap();
        assert!(read == wanted[at..at + 4_096], "page {page}");
        for at in [Some(at + 9), (page % 64 == 0).then_some(at + 9_000)].into_iter().flatten() {
            wanted[at..at + 3].copy_from_slice(b"new");
            mount.system.write(handle, at as u64, "new".into(), false).await.unwrap();
        }
    }
    let sent = world.gate.sent();
    let reads = sent.iter().filter(|target| target.ends_with("/content")).count();
    assert!((1..100).contains(&reads), "{reads} requests for 512 pages");
    mount.system.fsync(handle).await.unwrap();
    assert!(world.get("/a").await == wanted);
    mount.system.release(handle).await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_new_file_may_begin_far_from_its_beginning() {
    let (world, far) = (World::new(), 9 << 20);
    let mount = world.mount().await;
    let (_, open) = mount.system.create(ROOT, "a", 0o644, false).await.unwrap();
    for (at, text) in [(far, "end"), (0, "begin")] {
        mount.system.write(open.handle, at, text.into(), false).await.unwrap();
    }
    mount.system.fsync(open.handle).await.unwrap();
    let written = world.get("/a").await;
    assert_eq!(
        (written.len(), &written[..6], &written[far as usize..]),
        ((9 << 20) + 3, &b"begin\0"[..], &b"end"[..])
    );
    mount.system.release(open.handle).await;
}

#[tokio::test(flavor = "multi_thread")]
async fn what_was_written_to_a_large_file_is_read_before_the_server_has_it() {
    let world = World::new();
    world.put("/a", vec![7_u8; 9 << 20]).await;
    let mount = world.mount_with(Options { patience: Duration::ZERO, ..options() }).await;
    let handle = open(&mount, "a").await;
    let write = async |at: u64, text: &'static str| {
        mount.system.write(handle, at, text.into(), false).await.unwrap();
    };
    write(5_000, "one").await;
    world.gate.set(|weather| weather.away = true);
    write(5_006, "two").await;
    write(5_003, "and").await;
    assert_eq!(mount.system.read(handle, 5_001, 7).await.unwrap(), "neandtw");
    assert_eq!(mount.system.read(handle, 5_008, 2).await.unwrap_err().errno, libc::EIO);
    assert_eq!(mount.system.fsync(handle).await.unwrap_err().errno, libc::EIO, "it is reported");
    world.gate.set(|weather| weather.away = false);
    assert_eq!(mount.system.read(handle, 5_008, 2).await.unwrap(), &b"o\x07"[..]);
    mount.system.fsync(handle).await.unwrap();
    assert_eq!(world.get("/a").await[4_999..5_010], *b"\x07oneandtwo\x07");
    mount.system.release(handle).await;
}

/// The longest run of bytes that is sent in one request.
const RUN: u64 = 16 << 20;

async fn fill(mount: &Mount, handle: u64, (offset, fill): (u64, u8), wanted: &mut [u8]) {
    let bytes = Bytes::from(vec![fill; 1 << 20]);
    wanted[offset as usize..][..1 << 20].copy_from_slice(&bytes);
    mount.system.write(handle, offset, bytes, false).await.unwrap();
}

#[tokio::test(flavor = "multi_thread")]
async fn bytes_that_are_written_twice_are_sent_in_order() {
    let world = World::new();
    let mount = world.mount_with(Options { write_memory: 1 << 20, ..options() }).await;
    let (_, open) = mount.system.create(ROOT, "large", 0o644, false).await.unwrap();
    let mut wanted = vec![0; 20 << 20];
    let answer = Arc::new(Barrier::new(2));
    let withheld = ("/content".to_owned(), 1, Arc::clone(&answer));
    world.gate.set(|weather| weather.withheld = Some(withheld));
    for at in (0..RUN).step_by(1 << 20).chain([3 << 20]) {
        fill(&mount, open.handle, (at, 1 + (at >> 20) as u8), &mut wanted).await;
    }
    fill(&mount, open.handle, (3 << 20, 99), &mut wanted).await;
    let (system, handle) = (mount.system.clone(), open.handle);
    let flushed = tokio::spawn(async move { system.flush(handle).await });
    for _ in 0..1_000 {
        tokio::task::yield_now().await;
    }
    let written = world.gate.sent().iter().filter(|sent| sent.contains("/content")).count();
    assert_eq!(written, 1, "the first run has not been answered yet");
    answer.wait().await;
    flushed.await.unwrap().unwrap();
    wanted.truncate(RUN as usize);
    assert!(world.get("/large").await == wanted);
    mount.system.release(open.handle).await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_run_is_sent_while_the_one_before_is_stored() {
    let world = World::new();
    let mount = world.mount_with(Options { write_memory: 1 << 20, ..options() }).await;
    let (_, open) = mount.system.create(ROOT, "large", 0o644, false).await.unwrap();
    let mut wanted = vec![0; 4 * RUN as usize];
    // The first answer comes when the second run has arrived, and so on.
    let withheld = ("/content".to_owned(), 4, Arc::new(Barrier::new(2)));
    world.gate.set(|weather| weather.withheld = Some(withheld));
    for at in (0..4 * RUN).step_by(1 << 20) {
        fill(&mount, open.handle, (at, 1 + (at >> 20) as u8), &mut wanted).await;
    }
    mount.system.flush(open.handle).await.unwrap();
    assert!(world.get("/large").await == wanted);
    mount.system.release(open.handle).await;
}

#[tokio::test(flavor = "multi_thread")]
async fn truncation_is_published_if_the_file_is_not_open() {
    let world = World::new();
    for (size, to) in [(10, 3), (10, 20), (5_000_000, 4_900_000), (5, 0), (0, 7)] {
        let path = format!("/f{size}-{to}");
        world.put(&path, vec![1_u8; size]).await;
        let mount = world.mount().await;
        let ino = mount.find(&path).await.unwrap();
        let set = SetAttr { size: Some(to as u64), ..SetAttr::default() };
        let attr = mount.system.setattr(ino, set).await.unwrap().attr;
        assert_eq!(attr.size, to as u64);
        let mut wanted = vec![1_u8; size];
        wanted.resize(to, 0);
        assert!(world.get(&path).await == wanted, "{path}");
        assert!(mount.read(&path).await.unwrap() == wanted, "{path}");
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn a_range_is_allocated_or_becomes_zeros() {
    let world = World::new();
    let (keeps, extends) = ((true, false), (true, true));
    // In memory, and on a stage, where the zeros are written in several pieces.
    for size in [100_usize, 6_000_000] {
        let (path, mut wanted) = (format!("/f{size}"), vec![1_u8; size]);
        world.put(&path, wanted.clone()).await;
        let mount = world.mount().await;
        let ino = mount.find(&path).await.unwrap();
        let open = mount.system.open_file(ino, true).await.unwrap();
        let part = size / 2;
        for ((zero, extend), range) in [
            ((false, true), 0..part),
            ((false, false), 0..size + 10),
            (keeps, 3..part),
            (keeps, size - 2..size + 50),
            (extends, size - 4..size + 5),
            ((false, true), size..size + 20),
            (keeps, size + 100..size + 200),
        ] {
            let how = Allocation { zero, extend };
            let bytes = range.start as u64..range.end as u64;
            mount.system.allocate(open.handle, bytes, how).await.unwrap();
            let length = if extend { wanted.len().max(range.end) } else { wanted.len() };
            wanted.resize(length, 0);
            if zero {
                wanted[range.start.min(length)..range.end.min(length)].fill(0);
            }
            let attr = mount.system.getattr(ino).await.unwrap().attr;
            assert_eq!(attr.size, length as u64, "{range:?}");
        }
        mount.system.release(open.handle).await;
        mount.system.publish_all().await.unwrap();
        assert!(world.get(&path).await == wanted, "{path}");
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn a_file_that_is_open_for_reading_is_not_allocated() {
    let world = World::new();
    world.put("/f", b"12345".to_vec()).await;
    let mount = world.mount().await;
    let ino = mount.find("/f").await.unwrap();
    let open = mount.system.open_file(ino, false).await.unwrap();
    let how = Allocation { zero: true, extend: true };
    let refused = mount.system.allocate(open.handle, 0..10, how).await.unwrap_err();
    assert_eq!(refused.errno, libc::EBADF);
    mount.system.release(open.handle).await;
    assert!(world.get("/f").await == b"12345");
}

#[tokio::test(flavor = "multi_thread")]
async fn more_than_there_is_space_for_is_not_allocated() {
    let world = World::new();
    world.put("/f", b"12345".to_vec()).await;
    let mount = world.mount().await;
    let ino = mount.find("/f").await.unwrap();
    let open = mount.system.open_file(ino, true).await.unwrap();
    let free = mount.system.space().await.bytes.free;
    for extend in [true, false] {
        let how = Allocation { zero: false, extend };
        let refused = mount.system.allocate(open.handle, 0..free + (1 << 40), how).await;
        assert_eq!(refused.unwrap_err().errno, libc::ENOSPC);
    }
    assert_eq!(mount.system.getattr(ino).await.unwrap().attr.size, 5);
    mount.system.release(open.handle).await;
}

#[tokio::test(flavor = "multi_thread")]
async fn names_are_created_moved_replaced_and_removed() {
    let world = World::new();
    let mount = world.mount().await;
    let system = &mount.system;
    let dir = system.mkdir(ROOT, "d", 0o750).await.unwrap();
    assert_eq!(dir.attr.mode, 0o750);
    assert_eq!(system.mkdir(ROOT, "d", 0o750).await.unwrap_err().errno, libc::EEXIST);
    system.symlink(ROOT, "l", "d/a").await.unwrap();
    mount.write_new("a", "one").await.unwrap();
    mount.write_new("b", "two").await.unwrap();
    assert_eq!(
        system.rename((ROOT, "a"), (ROOT, "b"), false).await.unwrap_err().errno,
        libc::EEXIST
    );
    system.rename((ROOT, "a"), (ROOT, "b"), true).await.unwrap();
    assert_eq!(mount.names("/").await.unwrap(), ["b", "d", "l"]);
    assert_eq!(mount.read("/b").await.unwrap(), b"one");
    system.rename((ROOT, "b"), (dir.ino, "c'%_ü\\"), true).await.unwrap();
    assert_eq!(world.get("/d/c'%_ü\\").await, b"one");
    assert_eq!(system.rmdir(ROOT, "d").await.unwrap_err().errno, libc::ENOTEMPTY);
    assert_eq!(system.rmdir(ROOT, "l").await.unwrap_err().errno, libc::ENOTDIR);
    assert_eq!(system.unlink(ROOT, "d").await.unwrap_err().errno, libc::EISDIR);
    system.unlink(dir.ino, "c'%_ü\\").await.unwrap();
    system.rmdir(ROOT, "d").await.unwrap();
    system.unlink(ROOT, "l").await.unwrap();
    assert_eq!(mount.names("/").await.unwrap(), [""; 0]);
    world.settle(&mount).await;
    assert_eq!(mount.names("/").await.unwrap(), [""; 0]);
    assert!(world.client.find("/d").await.unwrap().is_none());
}

#[tokio::test(flavor = "multi_thread")]
async fn a_directory_replaces_only_an_empty_directory() {
    let world = World::new();
    for path in ["/full/x", "/also/y"] {
        world.put(path, "x").await;
    }
    let mount = world.mount().await;
    let system = &mount.system;
    system.mkdir(ROOT, "empty", 0o755).await.unwrap();
    system.mkdir(ROOT, "other", 0o755).await.unwrap();
    mount.write_new("file", "x").await.unwrap();
    let rename = async |from, to| {
        system.rename((ROOT, from), (ROOT, to), true).await.map_err(|fault| fault.errno)
    };
    assert_eq!(rename("full", "also").await, Err(libc::ENOTEMPTY));
    assert_eq!(rename("full", "file").await, Err(libc::ENOTDIR));
    assert_eq!(rename("file", "full").await, Err(libc::EISDIR));
    assert_eq!(rename("empty", "other").await, Ok(()));
    assert_eq!(rename("full", "other").await, Ok(()));
    assert_eq!(world.get("/other/x").await, b"x");
    let into_itself =
        system.rename((ROOT, "other"), (mount.find("/other").await.unwrap(), "z"), true);
    assert_eq!(into_itself.await.unwrap_err().errno, libc::EINVAL);
}

#[tokio::test(flavor = "multi_thread")]
async fn an_open_file_outlives_its_name() {
    let world = World::new();
    for size in [9_usize, 5_000_000] {
        let bytes = vec![3_u8; size];
        for name in ["/gone", "/replaced"] {
            world.put(name, bytes.clone()).await;
        }
        world.put("/new", "new").await;
        let mount = world.mount().await;
        let (gone, replaced) = (open(&mount, "/gone").await, open(&mount, "/replaced").await);
        mount.system.unlink(ROOT, "gone").await.unwrap();
        mount.system.rename((ROOT, "new"), (ROOT, "replaced"), true).await.unwrap();
        for handle in [gone, replaced] {
            assert!(mount.read_all(handle).await.unwrap() == bytes, "{size}");
            mount.system.write(handle, 2, "xy".into(), false).await.unwrap();
            assert_eq!(mount.system.read(handle, 1, 4).await.unwrap(), "\u{3}xy\u{3}");
            mount.system.flush(handle).await.unwrap();
            mount.system.release(handle).await;
        }
        assert_eq!(mount.names("/").await.unwrap(), ["replaced"]);
        assert_eq!(world.get("/replaced").await, b"new");
        world.client.remove("/replaced", &Default::default()).await.unwrap();
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn a_file_changed_by_others_is_not_partly_overwritten() {
    let world = World::new();
    for size in [9_usize, 5_000_000] {
        world.put("/a", vec![3_u8; size]).await;
        let mount = world.mount().await;
        let handle = open(&mount, "/a").await;
        mount.system.write(handle, 2, "xy".into(), false).await.unwrap();
        world.put("/a", "theirs").await;
        assert_eq!(mount.system.fsync(handle).await.unwrap_err().errno, libc::ESTALE);
        assert_eq!(mount.system.flush(handle).await.unwrap_err().errno, libc::ESTALE);
        mount.system.release(handle).await;
        assert_eq!(world.get("/a").await, b"theirs");
        assert_eq!(mount.read("/a").await.unwrap(), b"theirs");
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn a_complete_new_content_replaces_a_concurrent_change() {
    let world = World::new();
    world.put("/a", "one").await;
    let mount = world.mount().await;
    let handle = open(&mount, "/a").await;
    let ino = mount.find("/a").await.unwrap();
    let cut = SetAttr { size: Some(0), ..SetAttr::default() };
    mount.system.setattr(ino, cut).await.unwrap();
    mount.system.write(handle, 0, "mine".into(), false).await.unwrap();
    world.put("/a", "theirs").await;
    mount.system.flush(handle).await.unwrap();
    assert_eq!(world.get("/a").await, b"mine");
    mount.system.setattr(ino, cut).await.unwrap();
    mount.system.write(handle, 0, "more".into(), false).await.unwrap();
    world.client.remove("/a", &Default::default()).await.unwrap();
    mount.system.flush(handle).await.unwrap();
    assert_eq!(world.get("/a").await, b"more", "a file that somebody removed comes back");
    world.settle(&mount).await;
    assert_eq!(mount.read("/a").await.unwrap(), b"more");
}

#[tokio::test(flavor = "multi_thread")]
async fn attributes_are_set_before_and_after_a_file_is_published() {
    let world = World::new();
    let mount = world.mount().await;
    let then = std::time::SystemTime::UNIX_EPOCH + std::time::Duration::from_secs(1_000_000_000);
    let set = SetAttr { mode: Some(0o640), mtime: Some(then), ..SetAttr::default() };
    let (entry, open) = mount.system.create(ROOT, "a", 0o644, false).await.unwrap();
    mount.system.setattr(entry.ino, set).await.unwrap();
    mount.system.flush(open.handle).await.unwrap();
    let ino = mount.write_new("b", "x").await.unwrap();
    mount.system.setattr(ino, set).await.unwrap();
    for path in ["/a", "/b"] {
        let stat = world.client.stat(&path.into()).await.unwrap();
        assert_eq!((stat.mode, stat.mtime.unwrap().as_second()), (Some(0o640), 1_000_000_000));
        let ino = mount.find(path).await.unwrap();
        let attr = mount.system.getattr(ino).await.unwrap().attr;
        assert_eq!((attr.mode, attr.mtime), (0o640, then));
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn the_mode_of_an_object_is_set_at_once_while_it_is_written() {
    let world = World::new();
    world.put("/lab/a", "one").await;
    let reader = world.mount_of_reader("ben", "/lab").await;
    // A listing does not say who may write to a file, so it can be opened.
    reader.names("/lab").await.unwrap();
    let writer = world.mount().await;
    let mode = SetAttr { mode: Some(0o600), ..SetAttr::default() };
    let begun = async |mount: &Mount| {
        let open = open(mount, "/lab/a").await;
        mount.system.write(open, 0, "changed".into(), false).await.unwrap();
        (mount.find("/lab/a").await.unwrap(), open)
    };
    let (ino, open) = begun(&reader).await;
    let refused = reader.system.setattr(ino, mode).await.unwrap_err();
    assert_eq!(refused.errno, libc::EACCES, "not only once it is published");
    reader.system.release(open).await;

    let (ino, open) = begun(&writer).await;
    let attr = writer.system.setattr(ino, mode).await.unwrap().attr;
    assert_eq!((attr.mode, attr.size), (0o600, 7));
    let stat = world.client.stat(&"/lab/a".into()).await.unwrap();
    assert_eq!((stat.mode, stat.size), (Some(0o600), Some(3)));
    writer.system.flush(open).await.unwrap();
    let attr = writer.system.getattr(ino).await.unwrap().attr;
    assert_eq!((attr.mode, attr.size), (0o600, 7));
    assert_eq!(world.get("/lab/a").await, b"changed");
}

#[tokio::test(flavor = "multi_thread")]
async fn the_mode_of_a_concurrently_removed_file_is_set_once_it_is_published() {
    let world = World::new();
    world.put("/a", "one").await;
    let mount = world.mount().await;
    let open = open(&mount, "/a").await;
    let ino = mount.find("/a").await.unwrap();
    let cut = SetAttr { size: Some(0), ..SetAttr::default() };
    mount.system.setattr(ino, cut).await.unwrap();
    mount.system.write(open, 0, "two".into(), false).await.unwrap();
    world.client.remove("/a", &Default::default()).await.unwrap();
    let mode = SetAttr { mode: Some(0o600), ..SetAttr::default() };
    mount.system.setattr(ino, mode).await.unwrap();
    mount.system.flush(open).await.unwrap();
    let stat = world.client.stat(&"/a".into()).await.unwrap();
    assert_eq!((stat.mode, world.get("/a").await), (Some(0o600), b"two".to_vec()));
}

#[tokio::test(flavor = "multi_thread")]
async fn a_read_only_mount_changes_nothing() {
    let world = World::new();
    world.put("/a", "x").await;
    let mount = world.mount_with(Options { write: false, ..options() }).await;
    let (system, ino) = (&mount.system, mount.find("/a").await.unwrap());
    let errnos = [
        system.create(ROOT, "x", 0, false).await.map(drop),
        system.mkdir(ROOT, "x", 0).await.map(drop),
        system.symlink(ROOT, "x", "y").await.map(drop),
        system.unlink(ROOT, "a").await,
        system.rmdir(ROOT, "a").await,
        system.rename((ROOT, "a"), (ROOT, "b"), true).await,
        system.setattr(ino, SetAttr::default()).await.map(drop),
        system.open_file(ino, true).await.map(drop),
        system.setxattr(ino, "user.k", "v".into(), cenote_client::XattrMode::Any).await,
        system.removexattr(ino, "user.k").await,
    ];
    for outcome in errnos {
        assert_eq!(outcome.unwrap_err().errno, libc::EROFS);
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn exclusive_creation_on_two_mounts_is_decided_at_close() {
    let world = World::new();
    let (one, two) = (world.mount().await, world.mount().await);
    let (_, first) = one.system.create(ROOT, "lock", 0o644, true).await.unwrap();
    let again = one.system.create(ROOT, "lock", 0o644, true).await.unwrap_err();
    assert_eq!(again.errno, libc::EEXIST);
    let (_, second) = two.system.create(ROOT, "lock", 0o644, true).await.unwrap();
    two.system.write(second.handle, 0, "two".into(), false).await.unwrap();
    one.system.flush(first.handle).await.unwrap();
    assert_eq!(two.system.flush(second.handle).await.unwrap_err().errno, libc::EEXIST);
    two.system.release(second.handle).await;
    assert_eq!(world.get("/lock").await, b"");
    world.settle(&two).await;
    assert_eq!(two.read("/lock").await.unwrap(), b"");
}

#[tokio::test(flavor = "multi_thread")]
async fn kept_versions_are_not_lost() {
    let world = World::new();
    let versioned =
        cenote_client::Attributes { versioning: Some("each-change".into()), ..Default::default() };
    world.client.set_attributes(&"/".into(), &versioned).await.unwrap();
    world.put("/a", "one").await;
    world.put("/a", "two").await;
    let mount = world.mount().await;
    mount.write_new("b", "x").await.unwrap();
    assert_eq!(mount.system.unlink(ROOT, "a").await.unwrap_err().errno, libc::EPERM);
    let replaced = mount.system.rename((ROOT, "b"), (ROOT, "a"), true).await;
    assert_eq!(replaced.unwrap_err().errno, libc::EPERM);
    assert_eq!(world.client.versions(&"/a".into()).await.unwrap().len(), 1);
}
