//! A file that others replace while it is open: what is open stands for one content.

use std::time::Duration;

use cenote_client::{At, Destination, Relocation, Removal};
use cenote_mount::{Options, Stale};
use proptest::prelude::*;
use proptest::test_runner::{Config, TestRunner};

use crate::support::{Mount, ROOT, World, options};

/// Sizes around those at which contents are read in another way.
const SIZES: [usize; 12] = [
    1,
    (64 << 10) - 1,
    64 << 10,
    (64 << 10) + 1,
    (512 << 10) + 1,
    (1 << 20) - 1,
    (1 << 20) + 1,
    (2 << 20) + 1,
    8 << 20,
    (8 << 20) + 1,
    (13 << 20) + 5,
    20 << 20,
];

/// Bytes that differ everywhere from those of another number.
fn content(size: usize, number: u8) -> Vec<u8> {
    (0..size).map(|at| (at / 7) as u8 ^ (at / 70_000) as u8 ^ number).collect()
}

/// A mount that reads through the server, and reads little ahead.
fn remote() -> Options {
    Options { local: false, read_ahead: 2 << 20, ..options() }
}

async fn open(mount: &Mount, path: &str) -> u64 {
    let ino = mount.find(path).await.unwrap();
    mount.system.open_file(ino, false).await.unwrap().handle
}

/// The rest of a file, in reads of the kernel.
async fn rest(mount: &Mount, handle: u64, from: usize) -> cenote_mount::Result<Vec<u8>> {
    let mut all = Vec::new();
    loop {
        let bytes = mount.system.read(handle, (from + all.len()) as u64, 128 << 10).await?;
        if bytes.is_empty() {
            return Ok(all);
        }
        all.extend_from_slice(&bytes);
    }
}

/// Waits until a content is leased, if it was read with several requests.
async fn leased(world: &World, from: usize) {
    let is_leased = || {
        let weather = world.gate.1.lock().unwrap();
        weather.answered[from..].iter().any(|target| target == "/v1/leases")
    };
    while !is_leased() {
        tokio::time::sleep(Duration::from_millis(1)).await;
    }
}

async fn remove(world: &World, path: &str) {
    world.client.remove(path, &Removal::default()).await.unwrap();
}

/// Puts other bytes under a name, as other mounts and clients do.
async fn replace(world: &World, how: usize, path: &str, bytes: Vec<u8>) {
    match how {
        0 => drop(world.put(path, bytes).await),
        1 => {
            world.put("/new", bytes).await;
            let relocation = Relocation {
                from: At::Path("/new".into()),
                to: Destination::Path(path.into()),
                replace: true,
                parents: false,
                versions: false,
            };
            world.client.relocate(&relocation).await.unwrap();
        }
        _ => {
            remove(world, path).await;
            world.put(path, bytes).await;
        }
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn an_open_file_keeps_its_content_and_its_name_leads_to_the_new_one() {
    let world = World::new();
    let mount = world.mount_with(remote()).await;
    for how in 0..3 {
        for size in SIZES {
            let path = format!("/lab{how}/f{size}");
            let (old, new) = (content(size, 0), content(size / 2 + 9, 0x55));
            world.put(&path, old.clone()).await;
            world.settle(&mount).await;
            let before = world.gate.1.lock().unwrap().answered.len();
            let handle = open(&mount, &path).await;
            let read = 1.max(size / 4);
            let first = mount.system.read(handle, 0, read as u32).await.unwrap();
            assert!(first[..] == old[..first.len()]);
            if size > 1 << 20 {
                leased(&world, before).await;
            }
            replace(&world, how, &path, new.clone()).await;
            if size % 2 == 0 {
                world.settle(&mount).await;
            }
            let tail = rest(&mount, handle, first.len()).await;
            assert!(tail.as_ref().is_ok_and(|tail| *tail == old[first.len()..]), "{path} {tail:?}");
            world.settle(&mount).await;
            assert!(mount.read(&path).await.unwrap() == new, "{path}");
            assert!(rest(&mount, handle, 0).await.unwrap() == old, "{path}");
            let size_of = async |ino| mount.system.getattr(ino).await.unwrap().attr.size;
            assert_eq!(size_of(mount.find(&path).await.unwrap()).await, new.len() as u64);
            mount.system.release(handle).await;
            assert!(mount.read(&path).await.unwrap() == new, "{path}");
        }
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn a_replaced_content_that_nobody_keeps_cannot_be_read_and_is_never_mixed() {
    let world = World::new();
    // As a server that does not lease contents.
    world.gate.set(|weather| weather.forbidden = Some("/v1/leases".into()));
    let mount = world.mount_with(remote()).await;
    for how in 0..3 {
        for size in SIZES.into_iter().filter(|size| *size > 6 << 20) {
            let path = format!("/lab{how}/f{size}");
            let (old, new) = (content(size, 0), content(size, 0x55));
            world.put(&path, old.clone()).await;
            world.settle(&mount).await;
            let handle = open(&mount, &path).await;
            let mut read = mount.system.read(handle, 0, 1 << 20).await.unwrap().to_vec();
            replace(&world, how, &path, new.clone()).await;
            let fault = loop {
                match mount.system.read(handle, read.len() as u64, 128 << 10).await {
                    Ok(bytes) if bytes.is_empty() => panic!("{path} was read to its end"),
                    Ok(bytes) => read.extend_from_slice(&bytes),
                    Err(fault) => break fault,
                }
            };
            assert_eq!(fault.errno, libc::ESTALE, "{path}: {fault}");
            assert!(read == old[..read.len()], "{path}");
            world.settle(&mount).await;
            assert_eq!(rest(&mount, handle, read.len()).await.unwrap_err().errno, libc::ESTALE);
            assert!(mount.read(&path).await.unwrap() == new, "{path}");
            mount.system.release(handle).await;
        }
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn a_replaced_content_is_read_on_from_its_kept_version() {
    use cenote_client::{Attributes, VersionChange};
    let world = World::new();
    world.gate.set(|weather| weather.forbidden = Some("/v1/leases".into()));
    let mount = world.mount_with(remote()).await;
    let (old, new) = (content(9 << 20, 0), content(9 << 20, 0x55));
    world.put("/a", content(9 << 20, 0x77)).await;
    let on_request = Attributes { versioning: Some("on-request".into()), ..Attributes::default() };
    world.client.set_attributes(&"/a".into(), &on_request).await.unwrap();
    let keep = || VersionChange::Keep { label: None, time: None, another: false };
    world.client.change_versions(&"/a".into(), &keep()).await.unwrap();
    world.put("/a", old.clone()).await;
    world.client.change_versions(&"/a".into(), &keep()).await.unwrap();
    world.settle(&mount).await;
    let handle = open(&mount, "/a").await;
    assert!(mount.system.read(handle, 0, 1 << 20).await.unwrap() == old[..1 << 20]);
    world.put("/a", new.clone()).await;
    assert!(rest(&mount, handle, 0).await.unwrap() == old);
    world.settle(&mount).await;
    assert!(rest(&mount, handle, 0).await.unwrap() == old);
    assert!(mount.read("/a").await.unwrap() == new);
}

#[tokio::test(flavor = "multi_thread")]
async fn a_file_that_is_replaced_before_its_first_byte_was_read_has_the_new_content() {
    let world = World::new();
    // Changes are not reported before the first read.
    let mount = world.mount_with(remote()).await;
    for (size, new_size) in [(1, 300_000), (300_000, 1), (9 << 20, 5 << 20)] {
        let path = format!("/f{size}");
        let (old, new) = (content(size, 0), content(new_size, 0x55));
        world.put(&path, old).await;
        world.settle(&mount).await;
        let handle = open(&mount, &path).await;
        world.put(&path, new.clone()).await;
        let read = rest(&mount, handle, 0).await;
        // If the change was reported first, the former content is not there any more.
        match read {
            Ok(read) => assert!(read == new, "{path}"),
            Err(fault) => assert_eq!(fault.errno, libc::ESTALE),
        }
        mount.system.release(handle).await;
        world.settle(&mount).await;
        assert!(mount.read(&path).await.unwrap() == new, "{path}");
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn the_kernel_keeps_the_pages_of_what_is_open_and_looks_the_name_up_again() {
    let world = World::new();
    world.put("/a", content(100_000, 0)).await;
    let mut mount = world.mount_with(remote()).await;
    let old = mount.find("/a").await.unwrap();
    let handle = mount.system.open_file(old, false).await.unwrap().handle;
    mount.system.read(handle, 0, 10).await.unwrap();
    mount.dropped();
    world.put("/a", content(100_000, 0x55)).await;
    world.settle(&mount).await;
    let dropped = mount.dropped();
    assert!(dropped.contains(&Stale::Entry(ROOT, "a".into())), "{dropped:?}");
    assert!(!dropped.contains(&Stale::Content(old)), "{dropped:?}");
    // Through a name that was not dropped yet.
    assert_eq!(mount.system.open_file(old, false).await.unwrap_err().errno, libc::ESTALE);
    let new = mount.find("/a").await.unwrap();
    assert_ne!(new, old);
    assert!(!mount.system.open_file(new, false).await.unwrap().keep_cache);
    mount.system.release(handle).await;
    mount.system.forget(old, 1);
    assert_eq!(mount.system.getattr(old).await.unwrap_err().errno, libc::ESTALE);
}

#[tokio::test(flavor = "multi_thread")]
async fn reading_a_file_with_one_request_leases_nothing() {
    let world = World::new();
    let mount = world.mount_with(remote()).await;
    for size in [1, 70_000, 1 << 20] {
        world.put("/a", content(size, 0)).await;
        world.settle(&mount).await;
        mount.find("/a").await.unwrap();
        mount.system.getattr(mount.find("/a").await.unwrap()).await.unwrap();
        world.gate.sent();
        assert!(mount.read("/a").await.unwrap() == content(size, 0));
        let sent = world.gate.sent();
        assert_eq!(sent.len(), 1, "{sent:?}");
    }
    world.put("/a", content(9 << 20, 0)).await;
    world.settle(&mount).await;
    let handle = open(&mount, "/a").await;
    assert!(rest(&mount, handle, 0).await.unwrap() == content(9 << 20, 0));
    leased(&world, 0).await;
    mount.system.release(handle).await;
    let ends = |target: &String| target.starts_with("/v1/leases/");
    while !world.gate.1.lock().unwrap().sent.iter().any(ends) {
        tokio::time::sleep(Duration::from_millis(1)).await;
    }
    let sent = world.gate.sent();
    assert_eq!(sent.iter().filter(|target| *target == "/v1/leases").count(), 1, "{sent:?}");
}

#[tokio::test(flavor = "multi_thread")]
async fn a_leased_content_is_not_read_once_access_is_revoked() {
    let world = World::new();
    let old = content(9 << 20, 0);
    world.put("/lab/a", old.clone()).await;
    let mount = world.mount_of_login("grace", Options { root: "/".into(), ..remote() }).await;
    world.grant("grace", "/lab", "read").await;
    world.settle(&mount).await;
    let handle = open(&mount, "/lab/a").await;
    assert!(mount.system.read(handle, 0, 1 << 20).await.unwrap() == old[..1 << 20]);
    // So that it is leased.
    assert!(mount.system.read(handle, 8 << 20, 1 << 20).await.unwrap() == old[8 << 20..]);
    world.put("/lab/a", content(9 << 20, 0x55)).await;
    world.grant("grace", "/lab", "none").await;
    world.settle(&mount).await;
    let refused = mount.system.read(handle, 5 << 20, 1 << 20).await.unwrap_err().errno;
    assert!([libc::EACCES, libc::ENOENT, libc::ESTALE].contains(&refused), "{refused}");
}

#[derive(Debug, Clone)]
enum Step {
    Open(bool),
    Read(usize, usize),
    Close(usize),
    /// By others: how, and the size.
    Replace(usize, usize),
    /// Through the mount.
    Write(usize),
    Settle,
}

fn steps() -> impl Strategy<Value = Vec<Step>> {
    let size = prop_oneof![1_usize..200_000, 1_000_000_usize..7_000_000];
    let step = prop_oneof![
        3 => any::<bool>().prop_map(Step::Open),
        5 => (0_usize..4, 0_usize..7_000_000).prop_map(|(which, at)| Step::Read(which, at)),
        1 => (0_usize..4).prop_map(Step::Close),
        2 => (0_usize..3, size.clone()).prop_map(|(how, size)| Step::Replace(how, size)),
        1 => size.prop_map(Step::Write),
        2 => Just(Step::Settle),
    ];
    prop::collection::vec(step, 1..40)
}

/// A handle, and what was read from it.
struct Reading {
    handle: u64,
    /// The contents of which all that was read could be.
    may_be: Vec<usize>,
    /// Whether anything was read.
    begun: bool,
}

async fn run(steps: Vec<Step>) {
    let world = World::new();
    let mount = world.mount_with(remote()).await;
    let mut contents = vec![content(3_000_000, 0)];
    world.put("/a", contents[0].clone()).await;
    let mut open: Vec<Reading> = Vec::new();
    for step in steps {
        match step {
            Step::Open(_) if open.len() >= 4 => {}
            Step::Open(settled) => {
                if settled {
                    world.settle(&mount).await;
                }
                let Ok(ino) = mount.find("/a").await else { continue };
                let Ok(opened) = mount.system.open_file(ino, false).await else { continue };
                open.push(Reading { handle: opened.handle, may_be: Vec::new(), begun: false });
            }
            Step::Read(which, at) if which < open.len() => {
                let reading = &mut open[which];
                let Ok(read) = mount.system.read(reading.handle, at as u64, 100_000).await else {
                    continue;
                };
                if !reading.begun {
                    (reading.begun, reading.may_be) = (true, (0..contents.len()).collect());
                }
                reading.may_be.retain(|number| {
                    let all = &contents[*number];
                    let (from, to) = (at.min(all.len()), (at + 100_000).min(all.len()));
                    read == all[from..to]
                });
                assert!(!reading.may_be.is_empty(), "a mixture");
            }
            Step::Close(which) if which < open.len() => {
                mount.system.release(open.swap_remove(which).handle).await;
            }
            Step::Read(..) | Step::Close(_) => {}
            Step::Replace(how, size) => {
                contents.push(content(size, contents.len() as u8 ^ 0x55));
                replace(&world, how, "/a", contents[contents.len() - 1].clone()).await;
            }
            Step::Write(size) => {
                world.settle(&mount).await;
                contents.push(content(size, contents.len() as u8 ^ 0x55));
                let bytes = contents[contents.len() - 1].clone();
                mount.write_new("b", bytes).await.unwrap();
                mount.system.rename((ROOT, "b"), (ROOT, "a"), true).await.unwrap();
            }
            Step::Settle => world.settle(&mount).await,
        }
    }
    world.settle(&mount).await;
    assert!(mount.read("/a").await.unwrap() == contents[contents.len() - 1]);
}

#[test]
fn what_one_open_file_returns_is_of_one_content() {
    let cases = std::env::var("CENOTE_MOUNT_CASES").ok().and_then(|cases| cases.parse().ok());
    let config =
        Config { cases: cases.unwrap_or(8), failure_persistence: None, ..Config::default() };
    let runtime = tokio::runtime::Builder::new_multi_thread().enable_all().build().unwrap();
    let histories = TestRunner::new(config).run(&steps(), |steps| {
        runtime.block_on(run(steps));
        Ok(())
    });
    histories.unwrap();
}
