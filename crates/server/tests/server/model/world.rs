//! The store, its model, and the changes of both.

use std::time::Duration;

use base64::Engine;
use base64::prelude::BASE64_STANDARD;
use cenote_blob::Hasher;
use cenote_server::Config;
use cenote_server::embedded::Embedded;
use cenote_store::Pace;
use serde_json::json;

use super::change::{Change, Pieces, Way};
use super::connection::{Connection, Http, TestRequest};
use super::contents::lay;
use super::{OBJECTS, Step};
use crate::catalog::Directory;
use crate::running::Running;

/// Contents do not grow beyond this, in bytes.
const LARGEST: usize = 20 << 20;

/// The expected state of an object.
#[derive(Debug, Default)]
pub(super) struct Object {
    pub(super) content: Vec<u8>,
    pub(super) versions: Vec<(u64, Vec<u8>)>,
}

pub(super) struct World {
    pub(super) objects: [Option<Object>; OBJECTS],
    pub(super) connection: Connection,
    server: Running,
    embedded: Embedded,
    dir: Directory,
}

pub(super) fn path(object: usize) -> String {
    format!("/m/o{object}")
}

pub(super) fn lpath(object: usize) -> String {
    format!("/tempZone/m/o{object}")
}

const OBJECTS_ROUTE: &str = "/irods-http-api/0.7.0/data-objects";

fn form(pairs: &[(&str, &str)]) -> TestRequest {
    let body = pairs.iter().map(|(name, value)| format!("{name}={value}")).collect::<Vec<_>>();
    TestRequest::new("POST", OBJECTS_ROUTE)
        .header("content-type", "application/x-www-form-urlencoded")
        .body(body.join("&"))
}

/// A write of the iRODS opening, in headers or in a form.
fn irods_write(way: Way, parameters: &[(&'static str, String)], bytes: Vec<u8>) -> TestRequest {
    if way == Way::Form {
        let field =
            |name: &str| format!("--x\r\nContent-Disposition: form-data; name=\"{name}\"\r\n\r\n");
        let mut body = format!("{}write\r\n", field("op")).into_bytes();
        for (name, value) in parameters {
            body.extend(format!("{}{value}\r\n", field(name)).into_bytes());
        }
        body.extend(field("bytes").into_bytes());
        body.extend(bytes);
        body.extend(b"\r\n--x--\r\n");
        let request = TestRequest::new("POST", OBJECTS_ROUTE).body(body);
        return request.header("content-type", "multipart/form-data; boundary=x");
    }
    let header = |name: &str| match name {
        "lpath" => "irods-api-request-lpath",
        "offset" => "irods-api-request-offset",
        "truncate" => "irods-api-request-truncate",
        "append" => "irods-api-request-append",
        _ => "irods-api-request-parallel-write-handle",
    };
    let request =
        TestRequest::new("POST", OBJECTS_ROUTE).header("irods-api-request-op", "write").body(bytes);
    parameters
        .iter()
        .fold(request, |request, (name, value)| request.header(header(name), value.clone()))
}

impl World {
    pub(super) async fn start() -> Self {
        let dir = Directory::new();
        let embedded = dir.open();
        let server = Running::with_store(embedded.store().clone(), Config::default()).await;
        let connection = Connection::to(&server).await;
        let mut world = Self { objects: Default::default(), connection, server, embedded, dir };
        let place =
            json!({"name": "far", "address": format!("file://{}/far", world.dir.path().display())});
        world.post("/v1/places", place, 201).await.unwrap();
        world.post("/v1/create", json!({"path": "/m", "kind": "collection"}), 201).await.unwrap();
        let versions = json!({"path": "/m", "versioning": "on-request"});
        let kept = world
            .connection
            .native(Http::One, TestRequest::new("PATCH", "/v1/attributes").json(&versions));
        kept.await.unwrap().expect(200).unwrap();
        world
    }

    pub(super) async fn post(
        &mut self,
        route: &str,
        body: serde_json::Value,
        status: u16,
    ) -> Result<serde_json::Value, String> {
        let request = TestRequest::new("POST", route).json(&body);
        Ok(self.connection.native(Http::One, request).await?.expect(status)?.json())
    }

    /// Applies a change to the store and to the model.
    pub(super) async fn apply(&mut self, Step { object, change }: &Step) -> Result<(), String> {
        let (object, there) = (*object, self.objects[*object].is_some());
        match change {
            Change::Put(way, contents) => self.put(object, *way, contents.bytes()).await,
            Change::Write(Way::Native, ..) | Change::Append(Way::Native, _) if !there => Ok(()),
            Change::Write(way, offset, contents) => {
                self.write(object, *way, (*offset, false), contents.bytes()).await
            }
            Change::CutAndWrite(way, offset, contents) => {
                self.write(object, *way, (*offset, true), contents.bytes()).await
            }
            Change::Append(way, contents) => self.append(object, *way, contents.bytes()).await,
            Change::Upload(pieces, with_digest) => self.upload(object, pieces, *with_digest).await,
            Change::Stage(true, ..) if !there => Ok(()),
            Change::Stage(from, edits, end) => self.stage(object, *from, edits, *end).await,
            Change::Parallel(pieces, keep) => self.parallel(object, pieces, *keep).await,
            Change::Upkeep => self.keep_up().await,
            _ if !there => Ok(()),
            Change::Cut(size) => self.cut(object, *size).await,
            Change::Copy(to, native) => self.copy(object, *to, *native).await,
            Change::Move(to) => self.rename(object, *to).await,
            Change::Keep => self.keep(object).await,
            Change::Restore(number) => self.restore(object, *number).await,
            Change::Replicate => {
                let far = json!({"path": path(object), "place": "far"});
                self.post("/v1/replicas", far, 200).await.map(drop)
            }
            Change::Trim => {
                let one = json!({"path": path(object), "keep": 1});
                self.post("/v1/trim", one, 200).await.map(drop)
            }
            Change::Remove => {
                // Without a trash, versions are not kept.
                let request =
                    TestRequest::new("DELETE", format!("/v1/fs{}?versions=true", path(object)));
                self.connection.native(Http::One, request).await?.expect(204)?;
                self.objects[object] = None;
                Ok(())
            }
        }
    }

    /// The content in the model, which is created if it is missing.
    pub(super) fn content(&mut self, object: usize) -> &mut Vec<u8> {
        &mut self.objects[object].get_or_insert_default().content
    }

    async fn send(&mut self, way: Way, request: TestRequest) -> Result<(), String> {
        match way {
            Way::Native => {
                let answer = self.connection.native(Http::One, request).await?;
                let status = if answer.status == 201 { 201 } else { 200 };
                answer.expect(status).map(drop)
            }
            _ => self.connection.irods(Http::One, request).await?.done().map(drop),
        }
    }

    pub(super) async fn put(
        &mut self,
        object: usize,
        way: Way,
        bytes: Vec<u8>,
    ) -> Result<(), String> {
        let request = match way {
            Way::Native => {
                TestRequest::new("PUT", format!("/v1/fs{}", path(object))).body(bytes.clone())
            }
            Way::Rest => TestRequest::new("PUT", rest(object)).body(bytes.clone()),
            way => irods_write(way, &[("lpath", lpath(object))], bytes.clone()),
        };
        self.send(way, request).await?;
        *self.content(object) = bytes;
        Ok(())
    }

    async fn write(
        &mut self,
        object: usize,
        way: Way,
        (offset, cut): (usize, bool),
        bytes: Vec<u8>,
    ) -> Result<(), String> {
        let truncate = u8::from(cut).to_string();
        let request = match way {
            Way::Native => {
                TestRequest::new("PATCH", format!("/v1/fs{}?offset={offset}", path(object)))
                    .body(bytes.clone())
            }
            Way::Rest => {
                let uri = format!("{}&offset={offset}&truncate={cut}", rest(object));
                TestRequest::new("PUT", uri).body(bytes.clone())
            }
            way => {
                let parameters = [
                    ("lpath", lpath(object)),
                    ("offset", offset.to_string()),
                    ("truncate", truncate),
                ];
                irods_write(way, &parameters, bytes.clone())
            }
        };
        self.send(way, request).await?;
        let content = self.content(object);
        if cut {
            content.clear();
        }
        lay(content, offset, &bytes);
        Ok(())
    }

    async fn append(&mut self, object: usize, way: Way, bytes: Vec<u8>) -> Result<(), String> {
        if self.objects[object].as_ref().is_some_and(|known| known.content.len() > LARGEST) {
            return Ok(());
        }
        let request = match way {
            Way::Native => TestRequest::new("PATCH", format!("/v1/fs{}?append=true", path(object)))
                .body(bytes.clone()),
            way => {
                let more = [("lpath", lpath(object)), ("append", "1".to_owned())];
                irods_write(way, &more, bytes.clone())
            }
        };
        self.send(way, request).await?;
        self.content(object).extend(bytes);
        Ok(())
    }

    async fn cut(&mut self, object: usize, size: usize) -> Result<(), String> {
        let request = TestRequest::new("PATCH", format!("/v1/fs{}?truncate={size}", path(object)));
        self.send(Way::Native, request).await?;
        self.content(object).resize(size, 0);
        Ok(())
    }

    async fn upload(
        &mut self,
        object: usize,
        pieces: &Pieces,
        with_digest: bool,
    ) -> Result<(), String> {
        let begun = self.post("/v1/uploads", json!({"path": path(object)}), 201).await?;
        let id = begun["id"].as_str().unwrap().to_owned();
        let placed = pieces.placed();
        for (offset, bytes) in &placed {
            let request =
                TestRequest::new("PUT", format!("/v1/uploads/{id}/{offset}")).body(bytes.clone());
            self.connection.native(Http::Two, request).await?.expect(200)?;
        }
        let whole = whole(placed);
        let digest = with_digest.then(|| hex::encode(sha256(&whole)));
        let complete = json!({"sha256": digest});
        self.post(&format!("/v1/uploads/{id}/complete"), complete, 200).await?;
        *self.content(object) = whole;
        Ok(())
    }

    async fn parallel(&mut self, object: usize, pieces: &Pieces, keep: bool) -> Result<(), String> {
        let truncate = if keep { "0" } else { "1" };
        let path = lpath(object);
        let begin = [
            ("op", "parallel_write_init"),
            ("lpath", &path),
            ("stream-count", "2"),
            ("truncate", truncate),
        ];
        let begun = self.connection.irods(Http::One, form(&begin)).await?.done()?.json();
        let handle = begun["parallel_write_handle"].as_str().unwrap().to_owned();
        let placed = pieces.placed();
        for (number, (offset, bytes)) in placed.iter().enumerate() {
            let parameters =
                [("parallel-write-handle", handle.clone()), ("offset", offset.to_string())];
            let way = if number % 2 == 0 { Way::Headers } else { Way::Form };
            self.send(way, irods_write(way, &parameters, bytes.clone())).await?;
        }
        let end = [("op", "parallel_write_shutdown"), ("parallel-write-handle", handle.as_str())];
        self.connection.irods(Http::One, form(&end)).await?.done()?;
        match keep {
            true => {
                placed.iter().for_each(|(offset, bytes)| lay(self.content(object), *offset, bytes))
            }
            false => *self.content(object) = whole(placed),
        }
        Ok(())
    }

    async fn copy(&mut self, from: usize, to: usize, native: bool) -> Result<(), String> {
        if from == to {
            return Ok(());
        }
        if native {
            let how = json!({"from": {"path": path(from)}, "to": path(to), "replace": true});
            let request = TestRequest::new("POST", "/v1/copy").json(&how);
            self.send(Way::Native, request).await?;
        } else {
            let (from, to) = (lpath(from), lpath(to));
            let copy = [
                ("op", "copy"),
                ("src-lpath", from.as_str()),
                ("dst-lpath", &to),
                ("overwrite", "1"),
            ];
            self.connection.irods(Http::One, form(&copy)).await?.done()?;
        }
        let content = self.content(from).clone();
        self.objects[to] = Some(Object { content, versions: Vec::new() });
        Ok(())
    }

    async fn rename(&mut self, from: usize, to: usize) -> Result<(), String> {
        if self.objects[to].is_some() {
            return Ok(());
        }
        let how = json!({"from": {"path": path(from)}, "to": path(to)});
        self.post("/v1/move", how, 200).await?;
        self.objects[to] = self.objects[from].take();
        Ok(())
    }

    async fn keep(&mut self, object: usize) -> Result<(), String> {
        let kept =
            self.post("/v1/versions", json!({"path": path(object), "op": "keep"}), 200).await?;
        let number = kept["version"]["version"].as_u64().ok_or_else(|| kept.to_string())?;
        let content = self.content(object).clone();
        let versions = &mut self.objects[object].as_mut().unwrap().versions;
        versions.retain(|(known, _)| *known != number);
        versions.push((number, content));
        Ok(())
    }

    async fn restore(&mut self, object: usize, which: usize) -> Result<(), String> {
        let versions = &self.objects[object].as_ref().unwrap().versions;
        let Some((number, content)) = versions.get(which).cloned() else { return Ok(()) };
        let restore = json!({"path": path(object), "op": "restore", "version": number});
        self.post("/v1/versions", restore, 200).await?;
        *self.content(object) = content;
        Ok(())
    }

    pub(super) async fn keep_up(&mut self) -> Result<(), String> {
        let pace = Pace { grace: Duration::ZERO, quiet: Duration::ZERO, ..Pace::default() };
        self.embedded.store().maintain_once(&pace).await.map_err(|error| error.to_string())
    }

    /// Checks the store, reopens it, and compares everything.
    pub(super) async fn finish(mut self) -> Result<(), String> {
        self.keep_up().await?;
        self.look_at_all().await?;
        let check = TestRequest::new("POST", "/v1/check").json(&json!({"contents_percent": 100}));
        let found = self.connection.native(Http::One, check).await?.expect(200)?;
        if !found.body.is_empty() {
            return Err(format!("the check finds {}", String::from_utf8_lossy(&found.body)));
        }
        let Self { objects, connection, server, embedded, dir } = self;
        drop(connection);
        server.stop.send(()).unwrap();
        server.task.await.unwrap();
        drop((server.store, embedded));
        let embedded = dir.open();
        let server = Running::with_store(embedded.store().clone(), Config::default()).await;
        let connection = Connection::to(&server).await;
        Self { objects, connection, server, embedded, dir }.look_at_all().await
    }
}

fn rest(object: usize) -> String {
    format!("/irods-rest/0.9.3/stream?logical-path={}", lpath(object))
}

/// The content of parts: a later one at the same offset replaces the earlier, and of two overlapping ones, the one
/// that starts later takes effect.
fn whole(sent: Vec<(usize, Vec<u8>)>) -> Vec<u8> {
    let parts: std::collections::BTreeMap<usize, Vec<u8>> = sent.into_iter().collect();
    let mut whole = Vec::new();
    parts.iter().for_each(|(offset, bytes)| lay(&mut whole, *offset, bytes));
    whole
}

pub(super) fn digests(bytes: &[u8]) -> cenote_blob::Digests {
    let mut hasher = Hasher::default();
    hasher.update(bytes);
    hasher.finish()
}

pub(super) fn sha256(bytes: &[u8]) -> [u8; 32] {
    digests(bytes).sha256.unwrap()
}

/// A SHA-256 in the form of the iRODS opening.
pub(super) fn sha2(bytes: &[u8]) -> String {
    format!("sha2:{}", BASE64_STANDARD.encode(sha256(bytes)))
}
