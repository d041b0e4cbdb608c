//! A server that is slow, unreachable or back, and the number of requests of operations.

use std::time::Duration;

use cenote_mount::Options;
use tokio::time::timeout;

use crate::support::{ROOT, World, options};

#[tokio::test(flavor = "multi_thread")]
async fn one_file_that_hangs_does_not_block_others() {
    let world = World::new();
    world.put("/lab/fine", "fine").await;
    let slow = world.put("/lab/slow", "slow").await.id;
    let mount = world.mount().await;
    mount.names("/lab").await.unwrap();
    world.gate.set(|weather| weather.swallowed = Some(format!("/v1/fs?id={slow}")));
    let hanging = timeout(Duration::ZERO, mount.read("/lab/slow"));
    assert!(hanging.await.is_err());
    let ino = mount.find("/lab/slow").await.unwrap();
    let open = mount.system.open_file(ino, false).await.unwrap().handle;
    let system = mount.system.clone();
    let hanging = tokio::spawn(async move { system.read(open, 0, 10).await });
    assert_eq!(mount.read("/lab/fine").await.unwrap(), b"fine");
    assert_eq!(mount.names("/lab").await.unwrap(), ["fine", "slow"]);
    assert!(!hanging.is_finished());
    hanging.abort();
}

#[tokio::test(flavor = "multi_thread")]
async fn an_operation_without_a_response_fails_at_its_deadline_and_works_later() {
    let world = World::new();
    world.put("/lab/a", vec![1; 3_000_000]).await;
    let deadline = Duration::from_millis(50);
    let mount = world.mount_with(Options { deadline, ..options() }).await;
    let ino = mount.find("/lab/a").await.unwrap();
    let open = mount.system.open_file(ino, true).await.unwrap().handle;
    world.gate.set(|weather| weather.swallowed = Some("/v1/".into()));
    assert_eq!(mount.system.read(open, 0, 10).await.unwrap_err().errno, libc::EIO);
    assert_eq!(mount.find("/other/b").await.unwrap_err().errno, libc::EIO);
    assert_eq!(mount.write_new("new", "x").await.unwrap_err().errno, libc::EIO);
    world.gate.set(|weather| (weather.swallowed, weather.away) = (None, true));
    assert_eq!(mount.system.read(open, 0, 10).await.unwrap_err().errno, libc::EIO);
    world.gate.set(|weather| weather.away = false);
    let system = &mount.system;
    // The deadline is short for a machine under load: what matters is that it works again.
    let works = async || system.read(open, 0, 10).await.is_ok_and(|bytes| *bytes == [1; 10]);
    while !works().await {}
    assert_eq!(mount.find("/other/b").await.unwrap_err().errno, libc::ENOENT);
}

#[tokio::test(flavor = "multi_thread")]
async fn a_write_that_failed_is_published_by_the_next_close() {
    let world = World::new();
    let mount = world.mount().await;
    let (_, open) = mount.system.create(ROOT, "a", 0o644, false).await.unwrap();
    mount.system.write(open.handle, 0, "kept".into(), false).await.unwrap();
    world.gate.set(|weather| weather.away = true);
    assert_eq!(mount.system.flush(open.handle).await.unwrap_err().errno, libc::EIO);
    world.gate.set(|weather| weather.away = false);
    mount.system.fsync(open.handle).await.unwrap();
    assert_eq!(world.get("/a").await, b"kept");
}

#[tokio::test(flavor = "multi_thread")]
async fn cached_attributes_cost_no_request() {
    let world = World::new();
    for n in 0..30 {
        world.put(&format!("/lab/f{n:02}"), "x").await;
    }
    let mount = world.mount().await;
    world.gate.sent();
    assert_eq!(mount.names("/lab").await.unwrap().len(), 30);
    let listed = world.gate.sent();
    assert_eq!(listed.len(), 2, "the name of the collection, and its listing: {listed:?}");
    for n in 0..30 {
        let ino = mount.find(&format!("/lab/f{n:02}")).await.unwrap();
        mount.system.getattr(ino).await.unwrap();
    }
    assert_eq!(mount.find("/lab/missing").await.unwrap_err().errno, libc::ENOENT);
    mount.names("/lab").await.unwrap();
    assert_eq!(world.gate.sent(), [""; 0]);
}

#[tokio::test(flavor = "multi_thread")]
async fn a_first_listing_with_attributes_costs_one_request_a_page() {
    let world = World::new();
    for n in 0..30 {
        world.put(&format!("/lab/f{n:02}"), "x").await;
    }
    let mount = world.mount().await;
    let lab = mount.find("/lab").await.unwrap();
    world.gate.sent();
    assert_eq!(mount.names("/lab").await.unwrap().len(), 30);
    // What `ls -l` asks of each file.
    for n in 0..30 {
        let ino = mount.system.lookup(lab, &format!("f{n:02}")).await.unwrap().ino;
        for name in ["security.capability", "security.selinux", "system.posix_acl_access"] {
            let refused = mount.system.getxattr(ino, name).await.unwrap_err();
            assert_eq!(refused.errno, libc::EOPNOTSUPP);
        }
    }
    let sent = world.gate.sent();
    assert_eq!(sent.len(), 1, "{sent:?}");
    assert!(sent[0].starts_with("/v1/list/brief?"), "{sent:?}");
}

#[tokio::test(flavor = "multi_thread")]
async fn a_missing_name_is_looked_up_once() {
    let world = World::new();
    world.put("/lab/a", "x").await;
    let mount = world.mount().await;
    assert_eq!(mount.find("/lab/missing").await.unwrap_err().errno, libc::ENOENT);
    world.gate.sent();
    for _ in 0..3 {
        assert_eq!(mount.find("/lab/missing").await.unwrap_err().errno, libc::ENOENT);
    }
    assert_eq!(world.gate.sent(), [""; 0]);
}

#[tokio::test(flavor = "multi_thread")]
async fn a_small_new_file_costs_one_request() {
    let world = World::new();
    world.put("/home/x", "x").await;
    let mount = world.mount().await;
    mount.names("/").await.unwrap();
    world.gate.sent();
    mount.write_new("small", "bytes").await.unwrap();
    let sent = world.gate.sent();
    assert_eq!(sent.len(), 1, "{sent:?}");
    assert_eq!(mount.read("/small").await.unwrap(), b"bytes");
}

#[tokio::test(flavor = "multi_thread")]
async fn many_small_files_of_a_directory_are_read_with_few_requests() {
    let world = World::new();
    for n in 0..40 {
        world.put(&format!("/lab/f{n:02}"), format!("content {n}")).await;
    }
    let mount = world.mount().await;
    mount.names("/lab").await.unwrap();
    world.gate.sent();
    for n in 0..40 {
        let bytes = mount.read(&format!("/lab/f{n:02}")).await.unwrap();
        assert_eq!(bytes, format!("content {n}").into_bytes());
    }
    assert!(world.gate.sent().len() <= 4);
    world.put("/lab/f30", "another").await;
    world.settle(&mount).await;
    assert_eq!(mount.read("/lab/f30").await.unwrap(), b"another");
}

#[tokio::test(flavor = "multi_thread")]
async fn small_files_are_read_with_few_requests_in_any_order_of_names_that_nobody_listed() {
    let world = World::new();
    // As many as are listed after two lookups, and more than these.
    for (dir, count) in [("/some", 1_000), ("/more", 1_001)] {
        for n in 0..count {
            world.put(&format!("{dir}/{n}"), format!("{n}")).await;
        }
        let mount = world.mount().await;
        world.gate.sent();
        for n in 0..count {
            let bytes = mount.read(&format!("{dir}/{n}")).await.unwrap();
            assert_eq!(bytes, format!("{n}").into_bytes());
        }
        let sent = world.gate.sent().len();
        assert!(sent <= if count > 1_000 { 150 } else { 16 }, "{dir}: {sent}");
    }
}

/// A mount that waits for its server.
fn patient() -> Options {
    Options { patience: Duration::from_secs(60), ..options() }
}

#[tokio::test(flavor = "multi_thread")]
async fn a_read_goes_on_where_its_connection_was_lost() {
    let world = World::new();
    let all: Vec<u8> = (0..9_000_000_u32).map(|at| (at / 7) as u8).collect();
    world.put("/lab/a", all.clone()).await;
    let mount = world.mount_with(Options { local: false, ..patient() }).await;
    world.gate.set(|weather| weather.cut = Some(("/v1/fs".into(), 8)));
    assert!(mount.read("/lab/a").await.unwrap() == all);
}

#[tokio::test(flavor = "multi_thread")]
async fn operations_wait_for_a_server_that_returns_in_time() {
    let world = World::new();
    world.put("/lab/a", vec![7; 3_000_000]).await;
    let mount = world.mount_with(patient()).await;
    let refuse = |text: &str| world.gate.set(|weather| weather.refused = Some((text.into(), 2)));
    refuse("/v1/");
    assert_eq!(mount.names("/lab").await.unwrap(), ["a"]);
    refuse("/v1/fs");
    assert_eq!(mount.read("/lab/a").await.unwrap(), vec![7; 3_000_000]);
    let large: Vec<u8> = (0..40_000_000_u32).map(|at| (at / 7) as u8).collect();
    for refused in ["/v1/uploads", "/content", "/complete", "/v1/attributes"] {
        refuse(refused);
        mount.write_new("large", large.clone()).await.unwrap();
        assert!(world.get("/large").await == large, "{refused}");
        mount.system.unlink(ROOT, "large").await.unwrap();
    }
    refuse("/v1/fs");
    mount.write_new("small", "bytes").await.unwrap();
    assert_eq!(world.get("/small").await, b"bytes");
}

#[tokio::test(flavor = "multi_thread")]
async fn a_publication_whose_response_was_lost_is_not_repeated() {
    let world = World::new();
    let mount = world.mount_with(patient()).await;
    let lose = |text: &str| world.gate.set(|weather| weather.lost = Some((text.into(), 1)));
    let large = vec![9; 9_000_000];
    for (name, bytes, lost) in [
        ("large", large.clone(), "/complete"),
        ("new", b"one".to_vec(), "/v1/fs"),
        ("large", large.clone(), "/content"),
    ] {
        lose(lost);
        mount.write_new(name, bytes.clone()).await.unwrap();
        assert!(world.get(&format!("/{name}")).await == bytes, "{name} {lost}");
    }
    let ino = mount.find("/new").await.unwrap();
    let open = mount.system.open_file(ino, true).await.unwrap().handle;
    mount.system.write(open, 3, " more".into(), false).await.unwrap();
    lose("/v1/fs?id");
    mount.system.flush(open).await.unwrap();
    assert_eq!(world.get("/new").await, b"one more");
    let (_, open) = mount.system.create(ROOT, "exclusive", 0o644, true).await.unwrap();
    lose("/v1/fs");
    mount.system.flush(open.handle).await.unwrap();
    assert_eq!(world.get("/exclusive").await, b"");
}

#[tokio::test(flavor = "multi_thread")]
async fn operations_do_not_wait_for_a_server_that_was_down_too_long() {
    let world = World::new();
    world.put("/lab/a", "x").await;
    let patience = Duration::from_millis(60);
    let mount = world.mount_with(Options { patience, ..options() }).await;
    world.gate.set(|weather| weather.away = true);
    assert_eq!(mount.find("/lab").await.unwrap_err().errno, libc::EIO);
    world.gate.sent();
    assert_eq!(mount.find("/lab").await.unwrap_err().errno, libc::EIO);
    assert_eq!(world.gate.sent().len(), 1, "it is tried once");
    world.gate.set(|weather| weather.away = false);
    assert_eq!(mount.read("/lab/a").await.unwrap(), b"x");
}
