//! Refused bytes: not received if the refusal is known before, and never kept.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use axum::body::Body;
use bytes::Bytes;
use cenote_blob::Place;
use cenote_server::{Config, router};
use futures_util::{StreamExt, stream};
use tokio_tar::{Builder, Header};

use super::super::catalog::is_shared;
use super::super::support::{ADMIN, Answer, TestServer, USER, basic, store_with};
use super::{BASE, Irods, code};

/// More than is stored in the catalog.
const LARGE: usize = 100_000;

/// A server whose blobs can be counted.
async fn irods() -> (Irods, Place) {
    let main = Place::memory("main");
    let server = TestServer { router: router(store_with(main.clone()), &Config::default()) };
    (Irods::log_in(server, ADMIN).await, main)
}

/// Checks that there are so many blobs; more, where those that are not needed stay for a while.
async fn assert_blobs(main: &Place, count: usize) {
    let blobs = main.list().count().await;
    assert!(blobs == count || is_shared() && blobs > count, "{blobs}, not {count}");
}

impl Irods {
    /// Writes a body with its parameters in headers.
    async fn raw(&self, parameters: &[(&'static str, &str)], body: impl Into<Body>) -> Answer {
        let request = self.server.request_as(None, "POST", &format!("{BASE}/data-objects"));
        let request = request.header("authorization", &format!("Bearer {}", self.token));
        let request = request.header("irods-api-request-op", "write");
        let request =
            parameters.iter().fold(request, |request, (name, value)| request.header(name, value));
        request.body(body).send().await
    }

    /// The same, which has to be refused before any byte is read.
    async fn unread(&self, parameters: &[(&'static str, &str)]) -> Answer {
        let read = Arc::new(AtomicBool::new(false));
        let noted = read.clone();
        let chunk = move || {
            noted.store(true, Ordering::SeqCst);
            Ok::<_, std::io::Error>(Bytes::from(vec![7; LARGE]))
        };
        let body = Body::from_stream(stream::once(async move { chunk() }));
        let answer = self.raw(parameters, body).await;
        assert!(!read.load(Ordering::SeqCst), "bytes were read for {parameters:?}");
        answer
    }

    async fn handle(&self, name: &str) -> String {
        let path = self.path(name);
        let form = [("op", "parallel_write_init"), ("lpath", path.as_str()), ("stream-count", "2")];
        let begun = self.post("data-objects", &form).await.expect(200);
        begun["parallel_write_handle"].as_str().unwrap().to_owned()
    }

    async fn shut_down(&self, handle: &str) -> i64 {
        let form = [("op", "parallel_write_shutdown"), ("parallel-write-handle", handle)];
        code(&self.post("data-objects", &form).await)
    }
}

const LPATH: &str = "irods-api-request-lpath";
const HANDLE: &str = "irods-api-request-parallel-write-handle";
const TICKET: &str = "irods-api-request-ticket";
const OFFSET: &str = "irods-api-request-offset";

#[tokio::test]
async fn a_denied_write_is_refused_before_the_bytes_are_sent() {
    let (ada, main) = irods().await;
    let nobody = ada.other(("anonymous", "")).await;
    let path = ada.path("o");
    assert_eq!(nobody.unread(&[(HANDLE, "bogus")]).await.status, 400);
    assert_eq!(nobody.unread(&[(HANDLE, "10001...L28")]).await.status, 400);
    let ticket = nobody.unread(&[(LPATH, &path), (TICKET, "made-up")]).await;
    assert_eq!((ticket.status.as_u16(), code(&ticket)), (500, -890_000));
    assert_eq!(code(&nobody.unread(&[(LPATH, &path)]).await), -818_000);
    assert_eq!(nobody.unread(&[]).await.status, 400);
    let handle = ada.handle("o").await;
    assert_eq!(nobody.unread(&[(HANDLE, &handle)]).await.status, 400, "it is another's");
    assert_eq!(code(&ada.unread(&[(LPATH, &path)]).await), -1_803_000, "it is locked");
    assert_blobs(&main, 0).await;
}

#[tokio::test]
async fn a_ticket_for_writing_is_accepted() {
    let (ada, main) = irods().await;
    ada.write("o", "old").await;
    let path = ada.path("o");
    let form = [("op", "create"), ("lpath", path.as_str()), ("type", "write")];
    let form = [&form[..], &[("write-data-object-count", "1")]].concat();
    let made = ada.post("tickets", &form).await.expect(200);
    let ticket = [(LPATH, path.as_str()), (TICKET, made["ticket"].as_str().unwrap())];
    let nobody = ada.other(("anonymous", "")).await;
    assert_eq!(code(&nobody.raw(&ticket, vec![b'x'; LARGE]).await), 0);
    assert_eq!(ada.read("o").await, "x".repeat(LARGE));
    assert_eq!(nobody.raw(&ticket, vec![b'y'; LARGE]).await.status, 500, "it is used up");
    assert_blobs(&main, 1).await;
}

#[tokio::test]
async fn bytes_of_failed_writes_are_not_kept() {
    let (ada, main) = irods().await;
    let grace = ada.other(USER).await;
    let (path, bytes) = (ada.path("o"), vec![7; LARGE]);
    let (lpath, bytes) = (("lpath", path.as_bytes()), ("bytes", &bytes[..]));
    let write = ("op", &b"write"[..]);
    let refused = grace.parts(&[bytes, write, lpath]).await;
    assert_eq!(code(&refused), -818_000, "no right");
    for parts in [
        &[bytes, lpath, write, ("offset", b"x")][..],
        &[bytes, lpath, write, ("resource", b"elsewhere")],
        &[bytes, lpath, ("op", b"nothing")],
        &[bytes, bytes, write, lpath],
        &[bytes, write],
        &[bytes, write, ("parallel-write-handle", b"bogus")],
    ] {
        assert_eq!(ada.parts(parts).await.status, 400);
    }
    let text = String::from_utf8(bytes.1.to_vec()).unwrap();
    let form = [("op", "write"), ("lpath", path.as_str()), ("bytes", &text)];
    assert_eq!(code(&grace.post("data-objects", &form).await), -818_000, "no right");
    let touch = ada.parts(&[bytes, ("op", b"touch"), lpath]).await;
    assert_eq!(code(&touch), 0, "an operation that has no use for bytes");
    assert_blobs(&main, 0).await;
    assert_eq!(code(&ada.parts(&[bytes, write, lpath]).await), 0);
    assert_blobs(&main, 1).await;
}

/// The order of rirods 0.3.0; the object is locked by this same write.
#[tokio::test]
async fn a_handle_may_follow_the_path_and_the_bytes() {
    let (ada, main) = irods().await;
    let (handle, path, bytes) = (ada.handle("o").await, ada.path("o"), vec![b'x'; LARGE]);
    let (op, lpath) = (("op", &b"write"[..]), ("lpath", path.as_bytes()));
    let behind = ("parallel-write-handle", handle.as_bytes());
    let written = ada.parts(&[op, lpath, ("bytes", &bytes), behind]).await;
    assert_eq!(code(&written), 0);
    assert_eq!(ada.shut_down(&handle).await, 0);
    assert_eq!(ada.read("o").await.into_bytes(), bytes);
    assert_blobs(&main, 1).await;
}

#[tokio::test]
async fn irods_rest_refuses_a_denied_write_before_the_bytes() {
    let (ada, main) = irods().await;
    let grace = ada.other(USER).await;
    let put = async |who: &Irods, path: &str| {
        let uri = format!("/irods-rest/0.9.3/stream?logical-path={path}");
        let request = who.server.request_as(None, "PUT", &uri).header("authorization", &who.token);
        request.body(vec![7; LARGE]).send().await
    };
    let path = ada.path("o");
    assert_eq!(put(&grace, &path).await.status, 400);
    assert_eq!(put(&ada, &ada.home).await.status, 400, "a collection");
    assert_blobs(&main, 0).await;
    assert_eq!(put(&ada, &path).await.status, 200);
    assert_blobs(&main, 1).await;
}

#[tokio::test]
async fn a_refused_entry_of_a_batch_is_not_kept() {
    let (ada, main) = irods().await;
    ada.server.put("/o/x", "an object").await;
    let mut tar = Builder::new(Vec::new());
    for (name, size) in [("o", LARGE), ("o/x/y", LARGE), ("small", 10), ("large", LARGE)] {
        let mut header = Header::new_gnu();
        header.set_size(size as u64);
        header.set_mode(0o644);
        tar.append_data(&mut header, name, &vec![7; size][..]).await.unwrap();
    }
    let tar = tar.into_inner().await.unwrap();
    let batch = async |who: (&str, &str)| {
        let request = ada
            .server
            .request("POST", "/v1/batch?path=/")
            .header("content-type", "application/x-tar")
            .body(tar.clone());
        request.header("authorization", &basic(who)).send().await
    };
    let refused = |answer: &Answer| {
        let lines = String::from_utf8(answer.body.to_vec()).unwrap();
        lines.lines().map(|line| line.contains("\"status\":4")).collect::<Vec<_>>()
    };
    assert_eq!(refused(&batch(USER).await), [true; 4]);
    assert_blobs(&main, 0).await;
    assert_eq!(refused(&batch(ADMIN).await), [true, true, false, false]);
    assert_blobs(&main, 1).await;
}

#[tokio::test]
async fn many_writes_of_64_kib_through_a_handle_become_one_object() {
    const WRITE: usize = 64 << 10;
    let (ada, main) = irods().await;
    let handle = ada.handle("o").await;
    for n in (0..300).rev() {
        let offset = (n * WRITE).to_string();
        let bytes = vec![b'a' + (n % 26) as u8; WRITE];
        assert_eq!(code(&ada.raw(&[(HANDLE, &handle), (OFFSET, &offset)], bytes).await), 0);
    }
    assert_eq!(ada.shut_down(&handle).await, 0);
    let read = ada.read("o").await;
    assert_eq!(read.len(), 300 * WRITE);
    let right =
        |(n, write): (usize, &[u8])| write.iter().all(|byte| *byte == b'a' + (n % 26) as u8);
    assert!(read.as_bytes().chunks(WRITE).enumerate().all(right));
    assert_blobs(&main, 1).await;
}
