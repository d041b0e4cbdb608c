//! Transfers with the real server in this process, over an unreliable connection.

#![allow(clippy::unwrap_used, reason = "a test that cannot go on should stop")]

use std::num::NonZeroUsize;
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};

use bytes::Bytes;
use cenote_client::transfer::{Arrival, LocalFile, Options, Transfer, Unobserved, Wanted};
use cenote_client::{
    Body, Client, Kind, PutOptions, ReadOptions, Removal, Resource, Retry, ServiceTransport,
    Transport, TransportError,
};
use cenote_server::embedded::{Embedded, init_dir};
use cenote_server::{Config, LocalCaller, router};
use futures_util::future::BoxFuture;
use futures_util::{FutureExt, StreamExt, TryStreamExt};
use http::{Method, Request, Response};
use http_body_util::{BodyExt, StreamBody};

const PART: usize = 64 << 10;

/// A connection that counts requests, and fails in ways that a test chooses.
#[derive(Debug)]
struct Line {
    inner: Box<dyn Transport>,
    /// How many more parts and ranges get through.
    passes: AtomicUsize,
    /// How many requests got through, by their kind.
    parts: AtomicUsize,
    ranges: AtomicUsize,
    reads: AtomicUsize,
    /// Responses to reads are truncated after this many bytes.
    cut: AtomicUsize,
    /// The first byte of what is put is changed in transit.
    damage: AtomicBool,
}

#[derive(Debug, Clone)]
struct Shared(Arc<Line>);

impl Transport for Shared {
    fn send(
        &self,
        request: Request<Body>,
    ) -> BoxFuture<'_, Result<Response<Body>, TransportError>> {
        let line = Arc::clone(&self.0);
        async move {
            let path = request.uri().path().to_owned();
            let part = request.method() == Method::PUT && path.starts_with("/v1/uploads/");
            let read = request.method() == Method::GET && path.starts_with("/v1/fs/");
            let read_range = read && request.headers().contains_key(http::header::RANGE);
            if (part || read_range)
                && line
                    .passes
                    .fetch_update(Ordering::SeqCst, Ordering::SeqCst, |n| n.checked_sub(1))
                    .is_err()
            {
                return Err(TransportError("the line is broken".into()));
            }
            line.parts.fetch_add(usize::from(part), Ordering::SeqCst);
            line.reads.fetch_add(usize::from(read), Ordering::SeqCst);
            line.ranges.fetch_add(usize::from(read_range), Ordering::SeqCst);
            let damaged = line.damage.load(Ordering::SeqCst) && request.method() == Method::PUT;
            let request = if damaged { request.map(damage_first) } else { request };
            let answer = line.inner.send(request).await?;
            let cut = line.cut.load(Ordering::SeqCst);
            Ok(if read { answer.map(|body| cut_off(body, cut)) } else { answer })
        }
        .boxed()
    }
}

/// The first bytes of a body, then an error, as when a connection is lost.
fn cut_off(body: Body, bytes: usize) -> Body {
    if bytes == usize::MAX {
        return body;
    }
    let mut left = bytes;
    let frames = body.into_data_stream().map(move |chunk: Result<Bytes, _>| {
        let mut chunk = chunk?;
        if left == 0 {
            return Err(TransportError("the line is broken".into()));
        }
        chunk.truncate(left);
        left -= chunk.len();
        Ok(http_body::Frame::data(chunk))
    });
    Body::new(StreamBody::new(frames))
}

/// A body whose first byte is changed.
fn damage_first(body: Body) -> Body {
    let mut first = true;
    let frames = body.into_data_stream().map(move |chunk: Result<Bytes, _>| {
        let mut chunk = Vec::from(chunk?);
        if std::mem::take(&mut first) {
            chunk[0] ^= 1;
        }
        Ok(http_body::Frame::data(chunk.into()))
    });
    Body::new(StreamBody::new(frames))
}

struct World {
    dir: tempfile::TempDir,
    line: Shared,
    client: Client,
    _store: Embedded,
}

impl World {
    fn new() -> Self {
        let dir = tempfile::tempdir().unwrap();
        let store = init_dir(dir.path().join("store"), "ada", "a secret of the tests").unwrap();
        let caller = LocalCaller::administrator(store.store()).unwrap();
        let service =
            router(store.store().clone(), &Config::default()).layer(axum::Extension(caller));
        let line = Shared(Arc::new(Line {
            inner: Box::new(ServiceTransport::new(service)),
            passes: AtomicUsize::new(usize::MAX),
            parts: AtomicUsize::new(0),
            ranges: AtomicUsize::new(0),
            reads: AtomicUsize::new(0),
            cut: AtomicUsize::new(usize::MAX),
            damage: AtomicBool::new(false),
        }));
        let once = Retry { attempts: 1, ..Retry::default() };
        let client = Client::new(line.clone()).with_retry(once);
        Self { dir, line, client, _store: store }
    }

    fn transfer(&self, options: Options) -> Transfer {
        Transfer::new(self.client.clone(), options, Arc::new(Unobserved))
    }

    fn in_parts(&self) -> Transfer {
        // One at a time, so that none is in progress when the connection fails.
        self.transfer(Options { jobs: NonZeroUsize::MIN, ..self.several_parts() })
    }

    fn several_parts(&self) -> Options {
        Options {
            jobs: NonZeroUsize::new(4).unwrap(),
            journal: Some(self.dir.path().join("journal")),
            parts_from: 1,
            part_size: NonZeroUsize::new(PART).unwrap(),
            ..Options::default()
        }
    }

    fn file(&self, size: usize) -> (PathBuf, Vec<u8>) {
        let bytes: Vec<u8> =
            (0..size as u32).map(|n| (n.wrapping_mul(2_654_435_761) >> 11) as u8).collect();
        let path = self.dir.path().join("file");
        std::fs::write(&path, &bytes).unwrap();
        (path, bytes)
    }

    async fn kept(&self, path: &str) -> Vec<u8> {
        let content = self.client.read(path, &ReadOptions::default()).await.unwrap();
        let chunks: Vec<Bytes> = content.into_stream().try_collect().await.unwrap();
        chunks.concat()
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn an_interrupted_upload_sends_only_what_is_missing() {
    let world = World::new();
    let (path, bytes) = world.file(10 * PART + 5);
    let file = LocalFile::new(&path).unwrap();
    let transfer = world.in_parts();
    world.line.0.passes.store(4, Ordering::SeqCst);
    let broken = transfer.put_file(&file, "/file", &PutOptions::default()).await.unwrap_err();
    assert_eq!(broken.kind(), Kind::Unreachable);
    assert!(world.client.find("/file").await.unwrap().is_none());
    world.line.0.passes.store(usize::MAX, Ordering::SeqCst);
    transfer.put_file(&file, "/file", &PutOptions::default()).await.unwrap();
    assert_eq!(world.line.0.parts.load(Ordering::SeqCst), 11);
    assert_eq!(world.kept("/file").await, bytes);
    assert_eq!(std::fs::read_dir(world.dir.path().join("journal")).unwrap().count(), 0);
}

/// In a change set a large file is sent in one request: an upload would be created outside of the set, without its
/// collections.
#[tokio::test(flavor = "multi_thread")]
async fn a_large_file_is_put_into_a_collection_that_exists_only_in_a_change_set() {
    let world = World::new();
    let (path, bytes) = world.file(40 * PART + 5);
    let file = LocalFile::new(&path).unwrap();
    let id = world.client.begin_changeset(None).await.unwrap().id;
    let within = world.client.clone().with_changeset(&id).unwrap();
    let put = PutOptions { parents: true, ..PutOptions::default() };
    within.put_bytes("/new/small", "small".into(), &put).await.unwrap();
    let transfer = Transfer::new(within, world.several_parts(), Arc::new(Unobserved));
    transfer.put_file(&file, "/new/large", &PutOptions::default()).await.unwrap();
    assert!(world.client.find("/new/large").await.unwrap().is_none());
    world.client.commit_changeset(&id).await.unwrap();
    assert_eq!(world.kept("/new/large").await, bytes);
    assert_eq!(world.line.0.parts.load(Ordering::SeqCst), 0);
}

#[tokio::test(flavor = "multi_thread")]
async fn a_content_uploaded_in_parts_in_any_order_can_be_verified_at_once() {
    let world = World::new();
    let (path, bytes) = world.file(10 * PART + 5);
    let file = LocalFile::new(&path).unwrap();
    let transfer = world.transfer(world.several_parts());
    let resource = transfer.put_file(&file, "/file", &PutOptions::default()).await.unwrap();
    let options = PutOptions::default();
    let whole = world.client.put_bytes("/whole", bytes.into(), &options).await.unwrap();
    assert!(resource.crc64nvme.is_some());
    assert_eq!(resource.crc64nvme, whole.crc64nvme);
}

#[tokio::test(flavor = "multi_thread")]
async fn an_upload_of_a_changed_file_starts_over() {
    let world = World::new();
    let (path, _) = world.file(4 * PART);
    let transfer = world.in_parts();
    world.line.0.passes.store(2, Ordering::SeqCst);
    let file = LocalFile::new(&path).unwrap();
    transfer.put_file(&file, "/file", &PutOptions::default()).await.unwrap_err();
    world.line.0.passes.store(usize::MAX, Ordering::SeqCst);
    let (path, bytes) = world.file(3 * PART);
    let file = LocalFile::new(&path).unwrap();
    transfer.put_file(&file, "/file", &PutOptions::default()).await.unwrap();
    assert_eq!(world.kept("/file").await, bytes);
}

async fn put(world: &World, size: usize) -> (cenote_client::Resource, Vec<u8>) {
    let (path, bytes) = world.file(size);
    let file = LocalFile::new(&path).unwrap();
    let transfer = world.transfer(Options::default());
    (transfer.put_file(&file, "/file", &PutOptions::default()).await.unwrap(), bytes)
}

fn only_file(dir: &Path) -> String {
    let names: Vec<_> = std::fs::read_dir(dir).unwrap().map(|e| e.unwrap().file_name()).collect();
    assert_eq!(names.len(), 1, "{names:?}");
    names[0].to_str().unwrap().to_owned()
}

#[tokio::test(flavor = "multi_thread")]
async fn an_interrupted_download_continues_where_it_stopped() {
    let world = World::new();
    let (resource, bytes) = put(&world, 1_000_000).await;
    let target = world.dir.path().join("out");
    std::fs::create_dir(&target).unwrap();
    let transfer = world.transfer(Options::default());
    world.line.0.cut.store(600_000, Ordering::SeqCst);
    let broken = transfer.get_file(&resource, &target.join("x")).await.unwrap_err();
    assert_eq!(broken.kind(), Kind::Unreachable);
    assert!(only_file(&target).ends_with(".cenote-part"));
    world.line.0.cut.store(500_000, Ordering::SeqCst);
    transfer.get_file(&resource, &target.join("x")).await.unwrap();
    assert_eq!(world.line.0.ranges.load(Ordering::SeqCst), 1);
    assert_eq!(only_file(&target), "x");
    assert_eq!(std::fs::read(target.join("x")).unwrap(), bytes);
}

fn mode(path: &Path) -> u32 {
    std::fs::metadata(path).unwrap().permissions().mode() & 0o777
}

#[tokio::test(flavor = "multi_thread")]
async fn a_private_file_is_private_during_the_download() {
    let world = World::new();
    let (path, _) = world.file(1_000_000);
    let file = LocalFile::new(&path).unwrap();
    // As determined by the umask.
    let usual = mode(&path);
    for (path, given, coming, there) in
        [("/a", Some(0o644), 0o600, 0o644), ("/b", None, usual, usual)]
    {
        let options = PutOptions { mode: given, ..PutOptions::default() };
        let put = world.transfer(Options::default()).put_file(&file, path, &options).await;
        let resource = put.unwrap();
        for transfer in [world.transfer(Options::default()), in_ranges(&world)] {
            let target = tempfile::tempdir().unwrap();
            let x = target.path().join("x");
            world.line.0.cut.store(60_000, Ordering::SeqCst);
            transfer.get_file(&resource, &x).await.unwrap_err();
            assert_eq!(mode(&target.path().join(only_file(target.path()))), coming);
            world.line.0.cut.store(usize::MAX, Ordering::SeqCst);
            transfer.get_file(&resource, &x).await.unwrap();
            assert_eq!(mode(&x), there);
        }
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn concurrent_ranges_produce_the_same_file() {
    let world = World::new();
    let (resource, bytes) = put(&world, 40_000_001).await;
    let target = world.dir.path().join("x");
    let transfer = world.transfer(Options { ranges_from: Some(1), ..Options::default() });
    transfer.get_file(&resource, &target).await.unwrap();
    assert_eq!(world.line.0.ranges.load(Ordering::SeqCst), 3);
    assert!(std::fs::read(&target).unwrap() == bytes);
}

fn in_ranges(world: &World) -> Transfer {
    world.transfer(Options {
        // One at a time, so that the test knows which have arrived when the connection fails.
        jobs: NonZeroUsize::MIN,
        ranges_from: Some(1),
        range_size: NonZeroUsize::new(100_000).unwrap(),
        ..Options::default()
    })
}

#[tokio::test(flavor = "multi_thread")]
async fn an_interrupted_download_by_ranges_requests_only_missing_ranges() {
    let world = World::new();
    let (resource, bytes) = put(&world, 1_000_005).await;
    let target = world.dir.path().join("out");
    std::fs::create_dir(&target).unwrap();
    world.line.0.passes.store(4, Ordering::SeqCst);
    let broken = in_ranges(&world).get_file(&resource, &target.join("x")).await.unwrap_err();
    assert_eq!(broken.kind(), Kind::Unreachable);
    assert!(only_file(&target).starts_with(".x."));
    world.line.0.passes.store(usize::MAX, Ordering::SeqCst);
    in_ranges(&world).get_file(&resource, &target.join("x")).await.unwrap();
    assert_eq!(world.line.0.ranges.load(Ordering::SeqCst), 11);
    assert_eq!(only_file(&target), "x");
    assert!(std::fs::read(target.join("x")).unwrap() == bytes);
}

#[tokio::test(flavor = "multi_thread")]
async fn a_truncated_range_is_requested_again() {
    let world = World::new();
    let (resource, bytes) = put(&world, 300_000).await;
    let target = world.dir.path().join("x");
    world.line.0.cut.store(70_000, Ordering::SeqCst);
    in_ranges(&world).get_file(&resource, &target).await.unwrap_err();
    world.line.0.cut.store(usize::MAX, Ordering::SeqCst);
    in_ranges(&world).get_file(&resource, &target).await.unwrap();
    assert_eq!(world.line.0.ranges.load(Ordering::SeqCst), 4);
    assert!(std::fs::read(&target).unwrap() == bytes);
}

#[tokio::test(flavor = "multi_thread")]
async fn a_partial_file_of_ranges_is_not_continued_as_a_stream() {
    let world = World::new();
    let (resource, bytes) = put(&world, 300_000).await;
    let target = world.dir.path().join("x");
    world.line.0.passes.store(1, Ordering::SeqCst);
    in_ranges(&world).get_file(&resource, &target).await.unwrap_err();
    world.line.0.passes.store(usize::MAX, Ordering::SeqCst);
    let unverified = world.transfer(Options { verify: false, ..Options::default() });
    unverified.get_file(&resource, &target).await.unwrap();
    assert!(std::fs::read(&target).unwrap() == bytes);
}

#[tokio::test(flavor = "multi_thread")]
async fn corruption_in_a_stream_is_reported() {
    let world = World::new();
    let stream = || futures_util::stream::iter([Ok(Bytes::from_static(b"from a pipe"))]);
    let options = PutOptions::default();
    world.client.put_stream("/a", stream(), &options).await.unwrap();
    world.line.0.damage.store(true, Ordering::SeqCst);
    let error = world.client.put_stream("/a", stream(), &options).await.unwrap_err();
    assert_eq!(error.kind(), Kind::Mismatch);
}

#[tokio::test(flavor = "multi_thread")]
async fn only_verified_bytes_appear_under_the_target_name() {
    let world = World::new();
    let (resource, _) = put(&world, 1_000).await;
    assert!(resource.crc64nvme.is_some());
    let wrong_crc = Resource { crc64nvme: Some("0".repeat(16)), ..resource.clone() };
    let wrong_sha256 = Resource { sha256: Some("0".repeat(64)), crc64nvme: None, ..resource };
    for wrong in [wrong_crc, wrong_sha256] {
        for ranges_from in [None, Some(1)] {
            let dir = tempfile::tempdir().unwrap();
            let transfer = world.transfer(Options { ranges_from, ..Options::default() });
            let refused = transfer.get_file(&wrong, &dir.path().join("x")).await;
            assert_eq!(refused.unwrap_err().kind(), Kind::Mismatch);
            assert_eq!(dir.path().read_dir().unwrap().count(), 0, "nothing is left");
        }
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn many_objects_are_downloaded_together_and_mismatches_are_reported() {
    let world = World::new();
    let options = PutOptions { parents: true, ..PutOptions::default() };
    let mut wanted = Vec::new();
    for (name, size) in [("a", 0), ("b", 1_000), ("large", 300_000), ("changed", 9), ("gone", 9)] {
        let bytes = Bytes::from(vec![b'x'; size]);
        let resource = world.client.put_bytes(&format!("/in/{name}"), bytes, &options).await;
        wanted.push(Wanted { resource: resource.unwrap(), target: world.dir.path().join(name) });
    }
    let twice = Wanted { target: world.dir.path().join("twice"), ..wanted[1].clone() };
    wanted.push(twice);
    world.client.put_bytes("/in/changed", Bytes::from("new"), &options).await.unwrap();
    world.client.remove("/in/gone", &Removal::default()).await.unwrap();
    let transfer = world.transfer(Options::default());
    let arrivals: Vec<Arrival> = transfer.get_files(wanted).collect().await;
    assert_eq!(arrivals.len(), 6);
    for Arrival { wanted, result } in arrivals {
        let name = wanted.target.file_name().unwrap().to_str().unwrap();
        match name {
            "changed" => assert_eq!(result.unwrap_err().kind(), Kind::Precondition),
            "gone" => assert_eq!(result.unwrap_err().kind(), Kind::NotFound),
            _ => {
                result.unwrap();
                let bytes = std::fs::read(&wanted.target).unwrap();
                assert_eq!(bytes.len() as u64, wanted.resource.size.unwrap(), "{name}");
            }
        }
    }
    assert_eq!(world.line.0.reads.load(Ordering::SeqCst), 4, "the others came together");
}
