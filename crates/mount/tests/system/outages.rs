//! What a server that was away for longer than operations wait for it leaves behind: nothing that was written is lost, and nobody waits twice.

use std::sync::Arc;
use std::time::Duration;

use bytes::Bytes;
use cenote_mount::{Options, SetAttr};
use tokio::sync::Barrier;

use crate::support::{Mount, ROOT, World, options};

const MIB: usize = 1 << 20;

fn pattern(size: usize) -> Vec<u8> {
    (0..size).map(|at| (at / 3 + at / 70_000) as u8).collect()
}

/// Writes a range of the bytes, in pieces; returns how far it got.
async fn write(mount: &Mount, open: u64, bytes: &[u8], from: usize, to: usize) -> usize {
    let mut at = from;
    while at < to {
        let piece = Bytes::copy_from_slice(&bytes[at..to.min(at + MIB)]);
        match mount.system.write(open, at as u64, piece, false).await {
            Ok(written) => at += written as usize,
            Err(fault) => {
                assert_eq!(fault.errno, libc::EIO, "{fault}");
                break;
            }
        }
    }
    at
}

#[tokio::test(flavor = "multi_thread")]
async fn a_file_of_any_size_is_synced_once_the_server_is_back() {
    let world = World::new();
    let mount = world.mount().await;
    for size in [1, 4 * MIB - 1, 4 * MIB, 4 * MIB + 1, 12 * MIB, 60 * MIB] {
        let (bytes, name) = (pattern(size), format!("f{size}"));
        let (_, open) = mount.system.create(ROOT, &name, 0o644, false).await.unwrap();
        assert_eq!(write(&mount, open.handle, &bytes, 0, size / 2).await, size / 2);
        world.gate.set(|weather| weather.away = true);
        let taken = write(&mount, open.handle, &bytes, size / 2, size).await;
        assert!(taken < size / 2 + 50 * MIB, "what is taken is bounded");
        for _ in 0..2 {
            assert_eq!(mount.system.fsync(open.handle).await.unwrap_err().errno, libc::EIO);
        }
        world.gate.set(|weather| weather.away = false);
        assert_eq!(write(&mount, open.handle, &bytes, taken, size).await, size);
        mount.system.fsync(open.handle).await.unwrap();
        assert!(world.get(&format!("/{name}")).await == bytes, "{size}");
        assert!(mount.read_all(open.handle).await.unwrap() == bytes, "{size}");
        mount.system.flush(open.handle).await.unwrap();
        mount.system.release(open.handle).await;
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn a_server_that_takes_nothing_for_a_while_gets_all_of_it_later() {
    let world = World::new();
    let deadline = Duration::from_millis(50);
    let mount = world.mount_with(Options { deadline, patience: deadline, ..options() }).await;
    let bytes = pattern(12 * MIB);
    let (_, open) = mount.system.create(ROOT, "a", 0o644, false).await.unwrap();
    let half = write(&mount, open.handle, &bytes, 0, 6 * MIB).await;
    world.gate.set(|weather| weather.swallowed = Some("/v1/".into()));
    let mut taken = write(&mount, open.handle, &bytes, half, bytes.len()).await;
    assert_eq!(mount.system.fsync(open.handle).await.unwrap_err().errno, libc::EIO);
    world.gate.set(|weather| weather.swallowed = None);
    // The deadline is short for a machine under load.
    while taken < bytes.len() {
        taken = write(&mount, open.handle, &bytes, taken, bytes.len()).await;
    }
    while mount.system.fsync(open.handle).await.is_err() {}
    assert!(world.get("/a").await == bytes);
}

#[tokio::test(flavor = "multi_thread")]
async fn random_writes_between_outages_arrive_in_order() {
    let world = World::new();
    let mount = world.mount().await;
    for seed in 1..=6_u64 {
        let mut state = seed.wrapping_mul(0x9E37_79B9_7F4A_7C15);
        let mut random = move |below: usize| {
            state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1);
            (state >> 33) as usize % below
        };
        let (name, mut expected) = (format!("r{seed}"), pattern(6 * MIB));
        let (_, open) = mount.system.create(ROOT, &name, 0o644, false).await.unwrap();
        write(&mount, open.handle, &expected, 0, 6 * MIB).await;
        for _ in 0..60 {
            world.gate.set(|weather| weather.away = random(3) == 0);
            let (offset, length) = (random(6 * MIB), 1 + random(300_000));
            let piece = vec![random(256) as u8; length];
            let write = mount.system.write(open.handle, offset as u64, piece.clone().into(), false);
            if write.await.is_ok() {
                expected.resize(expected.len().max(offset + length), 0);
                expected[offset..offset + length].copy_from_slice(&piece);
            }
            // What was taken is read, also while the server is away, as far as it is in memory.
            let length = 1 + random(9_000);
            if let Ok(read) = mount.system.read(open.handle, offset as u64, length as u32).await {
                let end = expected.len().min(offset + length);
                assert!(read == expected[offset..end.max(offset)], "{seed}");
            }
        }
        world.gate.set(|weather| weather.away = false);
        mount.system.fsync(open.handle).await.unwrap();
        assert!(world.get(&format!("/{name}")).await == expected, "{seed}");
        mount.system.release(open.handle).await;
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn operations_do_not_wait_for_a_server_that_hangs() {
    let world = World::new();
    world.put("/lab/a", "x").await;
    let deadline = Duration::from_millis(50);
    let mount = world.mount_with(Options { deadline, patience: deadline, ..options() }).await;
    world.gate.set(|weather| weather.swallowed = Some("/v1/".into()));
    assert_eq!(mount.find("/lab").await.unwrap_err().errno, libc::EIO);
    world.gate.sent();
    for number in 0..20 {
        assert_eq!(mount.find(&format!("/n{number}")).await.unwrap_err().errno, libc::EIO);
        assert_eq!(mount.write_new("new", "x").await.unwrap_err().errno, libc::EIO);
        assert!(mount.system.mkdir(ROOT, "dir", 0o755).await.is_err());
    }
    let sent = world.gate.sent();
    assert!(sent.iter().all(|target| target.contains("/v1/whoami")), "only probes: {sent:?}");
    world.gate.set(|weather| weather.swallowed = None);
    while mount.read("/lab/a").await.is_err() {}
}

/// A mount that waits for its server.
fn patient() -> Options {
    Options { patience: Duration::from_secs(60), ..options() }
}

#[tokio::test(flavor = "multi_thread")]
async fn changes_of_the_tree_wait_for_a_server_that_is_restarted() {
    let world = World::new();
    let mount = world.mount_with(patient()).await;
    mount.names("/").await.unwrap();
    let restart = || world.gate.set(|weather| weather.refused = Some(("/v1/".into(), 3)));
    restart();
    let dir = mount.system.mkdir(ROOT, "dir", 0o755).await.unwrap().ino;
    restart();
    mount.system.symlink(dir, "link", "nowhere").await.unwrap();
    restart();
    mount.system.rename((dir, "link"), (ROOT, "link"), true).await.unwrap();
    restart();
    mount.system.setattr(dir, SetAttr { mode: Some(0o700), ..Default::default() }).await.unwrap();
    restart();
    mount.system.unlink(ROOT, "link").await.unwrap();
    restart();
    mount.system.rmdir(ROOT, "dir").await.unwrap();
    let names = mount.names("/").await.unwrap();
    assert!(!names.iter().any(|name| name == "dir" || name == "link"), "{names:?}");
}

#[tokio::test(flavor = "multi_thread")]
async fn a_change_that_may_have_been_made_is_not_repeated() {
    let world = World::new();
    let mount = world.mount_with(patient()).await;
    mount.names("/").await.unwrap();
    world.gate.sent();
    world.gate.set(|weather| weather.lost = Some(("/v1/".into(), 1)));
    assert_eq!(mount.system.mkdir(ROOT, "dir", 0o755).await.unwrap_err().errno, libc::EIO);
    assert_eq!(world.gate.sent().len(), 1);
    assert!(world.client.stat(&"/dir".into()).await.is_ok());
}

/// Repeats what may take longer than a short deadline on a machine under load.
async fn until_done<T>(mut work: impl AsyncFnMut() -> cenote_mount::Result<T>) -> T {
    loop {
        match work().await {
            Ok(done) => return done,
            Err(fault) => assert_eq!(fault.errno, libc::EIO, "{fault}"),
        }
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn a_change_of_a_stage_that_arrives_late_changes_nothing() {
    let world = World::new();
    let deadline = Duration::from_millis(200);
    for late in ["content?offset=", "content?truncate=", "/complete"] {
        world.put("/a", pattern(9 * MIB)).await;
        let mount = world.mount_with(Options { deadline, patience: deadline, ..options() }).await;
        let system = &mount.system;
        let ino = until_done(async || mount.find("/a").await).await;
        let open = until_done(async || system.open_file(ino, true).await).await.handle;
        let mut expected = pattern(9 * MIB);
        let mut write = async |at: usize, byte: u8| {
            expected[at..at + MIB].fill(byte);
            let bytes = Bytes::from(vec![byte; MIB]);
            until_done(async || system.write(open, at as u64, bytes.clone(), false).await).await;
        };
        let cut = SetAttr { size: Some(5 * MIB as u64), ..SetAttr::default() };
        // A change of the size waits until the server has all that was written.
        let settle = async || {
            for size in [9 * MIB as u64 + 1, 9 * MIB as u64] {
                let set = SetAttr { size: Some(size), ..SetAttr::default() };
                until_done(async || system.setattr(ino, set).await).await;
            }
        };
        write(MIB, 1).await;
        settle().await;
        let barrier = Arc::new(Barrier::new(2));
        world.gate.set(|weather| weather.late = Some((late.into(), 1, Arc::clone(&barrier))));
        match late {
            "/complete" => assert!(system.fsync(open).await.is_err()),
            "content?truncate=" => assert!(system.setattr(ino, cut).await.is_err()),
            _ => write(2 * MIB, 2).await,
        }
        settle().await;
        // What is written last stays.
        write(2 * MIB, 3).await;
        write(6 * MIB, 4).await;
        settle().await;
        barrier.wait().await;
        barrier.wait().await;
        assert!(world.get("/a").await == pattern(9 * MIB), "{late}: nothing was published");
        until_done(async || system.fsync(open).await).await;
        assert!(world.get("/a").await == expected, "{late}");
        system.release(open).await;
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn a_large_file_that_was_published_without_an_answer_can_be_written_on() {
    let world = World::new();
    let mount = world.mount().await;
    for (name, there) in [("new", false), ("object", true)] {
        let mut expected = pattern(9 * MIB);
        if there {
            world.put(&format!("/{name}"), pattern(7 * MIB)).await;
            world.settle(&mount).await;
        }
        let (entry, open) = mount.system.create(ROOT, name, 0o644, false).await.unwrap();
        write(&mount, open.handle, &expected, 0, 9 * MIB).await;
        for round in 1..4_usize {
            world.gate.set(|weather| weather.lost = Some(("/complete".into(), 1)));
            assert_eq!(mount.system.fsync(open.handle).await.unwrap_err().errno, libc::EIO);
            assert!(world.get(&format!("/{name}")).await == expected, "it was published");
            expected.resize((9 + round) * MIB, 0);
            expected[MIB..2 * MIB].fill(round as u8);
            let bytes = Bytes::from(vec![round as u8; MIB]);
            mount.system.write(open.handle, MIB as u64, bytes, false).await.unwrap();
            let size = Some(expected.len() as u64);
            let grown = SetAttr { size, ..SetAttr::default() };
            mount.system.setattr(entry.ino, grown).await.unwrap();
            assert!(mount.read_all(open.handle).await.unwrap() == expected, "{name} {round}");
        }
        mount.system.fsync(open.handle).await.unwrap();
        assert!(world.get(&format!("/{name}")).await == expected, "{name}");
        // What others put there in the meantime is not written over.
        write(&mount, open.handle, &expected, 0, MIB).await;
        world.gate.set(|weather| weather.lost = Some(("/complete".into(), 1)));
        assert_eq!(mount.system.fsync(open.handle).await.unwrap_err().errno, libc::EIO);
        world.put(&format!("/{name}"), "of others").await;
        write(&mount, open.handle, &expected, 0, MIB).await;
        assert_eq!(mount.system.fsync(open.handle).await.unwrap_err().errno, libc::ESTALE);
        assert_eq!(world.get(&format!("/{name}")).await, b"of others");
        mount.system.release(open.handle).await;
    }
}
