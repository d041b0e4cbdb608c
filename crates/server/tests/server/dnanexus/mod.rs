//! The DNAnexus opening, according to its protocol; the real clients are tested in
//! `python/tests/dnanexus`.

mod archive;
mod clones;
mod files;
mod folders;
mod former_ids;
mod found;
mod hostile;
mod logins;
mod objects;
mod outsider;
mod projects;

use base64::Engine;
use base64::prelude::BASE64_STANDARD;
use bytes::Bytes;
use cenote_server::{Config, Dnanexus, router};
use cenote_store::{NewToken, Rights, Store};
use serde_json::{Value, json};

use crate::support::{ADMIN, Answer, TestServer, USER, store};

/// A server, and clients with a token each.
pub(super) struct Platform {
    pub(super) server: TestServer,
    pub(super) store: Store,
}

/// A client: the token that it presents.
#[derive(Clone)]
pub(super) struct Client<'a> {
    server: &'a TestServer,
    bearer: String,
}

impl Platform {
    pub(super) fn new() -> Self {
        Self::configured(store(), Dnanexus::default())
    }

    pub(super) fn configured(store: Store, dnanexus: Dnanexus) -> Self {
        let config = Config { dnanexus, ..Config::default() };
        Self { server: TestServer { router: router(store.clone(), &config) }, store }
    }

    pub(super) fn client(&self, user: &str) -> Client<'_> {
        let caller = self.store.caller_for(self.store.person_named(user).unwrap().0).unwrap();
        let new = NewToken { label: "dx".into(), rights: Rights::OWN, ..NewToken::default() };
        let (token, _) = self.store.add_token(&caller, &new).unwrap();
        Client { server: &self.server, bearer: format!("Bearer {token}") }
    }

    pub(super) fn ada(&self) -> Client<'_> {
        self.client(ADMIN.0)
    }

    pub(super) fn grace(&self) -> Client<'_> {
        self.client(USER.0)
    }
}

impl Client<'_> {
    pub(super) async fn try_call(&self, resource: &str, method: &str, input: &Value) -> Answer {
        let uri = format!("/{resource}/{method}");
        let request =
            self.server.request_as(None, "POST", &uri).header("authorization", &self.bearer);
        request.header("host", "dx.example:1").json(input).send().await
    }

    /// The response to a call that succeeds.
    pub(super) async fn call(&self, resource: &str, method: &str, input: Value) -> Value {
        self.try_call(resource, method, &input).await.expect(200)
    }

    /// The error message of a call that is refused with this type.
    pub(super) async fn refused(
        &self,
        resource: &str,
        method: &str,
        input: Value,
        kind: &str,
    ) -> String {
        let answer = self.try_call(resource, method, &input).await;
        refusal(&answer, kind)
    }

    /// The id that a call returns.
    pub(super) async fn id(&self, resource: &str, method: &str, input: Value) -> String {
        text(&self.call(resource, method, input).await["id"])
    }

    pub(super) async fn project(&self, name: &str) -> String {
        self.id("project", "new", json!({ "name": name })).await
    }

    /// Sends a part to the address returned by the server.
    pub(super) async fn part(&self, file: &str, number: u64, bytes: &[u8]) -> Answer {
        let input = json!({ "index": number, "size": bytes.len(), "md5": md5(bytes) });
        let target = self.call(file, "upload", input).await;
        self.send(&target, bytes).await
    }

    pub(super) async fn send(&self, target: &Value, bytes: &[u8]) -> Answer {
        let mut request = self.server.request_as(None, "PUT", path(&target["url"]));
        for (name, value) in target["headers"].as_object().unwrap() {
            let name: &'static str =
                if name == "Content-MD5" { "content-md5" } else { "authorization" };
            request = request.header(name, value.as_str().unwrap());
        }
        request.body(Bytes::copy_from_slice(bytes)).send().await
    }

    /// A closed file of one part.
    pub(super) async fn file(
        &self,
        project: &str,
        folder: &str,
        name: &str,
        bytes: &[u8],
    ) -> String {
        let input = json!({ "project": project, "folder": folder, "name": name, "parents": true });
        let file = self.id("file", "new", input).await;
        self.part(&file, 1, bytes).await.expect(200);
        self.call(&file, "close", json!({})).await;
        file
    }

    /// The content of a file, from the address returned by the server.
    pub(super) async fn read(&self, file: &str, range: Option<&str>) -> Answer {
        let target = self.call(file, "download", json!({})).await;
        let mut request = self.server.request_as(None, "GET", path(&target["url"]));
        request =
            request.header("authorization", target["headers"]["Authorization"].as_str().unwrap());
        if let Some(range) = range {
            request = request.header("range", range);
        }
        request.send().await
    }

    /// The names in a folder, each as often as there is one.
    pub(super) async fn names(&self, project: &str, folder: &str) -> Vec<String> {
        let input = json!({ "folder": folder, "describe": true, "includeHidden": true });
        let listed = self.call(project, "listFolder", input).await;
        let objects = listed["objects"].as_array().unwrap();
        let mut names: Vec<_> = objects.iter().map(|one| text(&one["describe"]["name"])).collect();
        names.sort();
        names
    }
}

pub(super) fn text(value: &Value) -> String {
    value.as_str().unwrap_or_else(|| panic!("not a text: {value}")).to_owned()
}

/// The path of an address of the server.
pub(super) fn path(url: &Value) -> &str {
    url.as_str().unwrap().strip_prefix("http://dx.example:1").unwrap()
}

#[track_caller]
pub(super) fn refusal(answer: &Answer, kind: &str) -> String {
    let status = match kind {
        "MalformedJSON" => 400,
        "InvalidAuthentication" | "PermissionDenied" => 401,
        "ResourceNotFound" => 404,
        "SpendingLimitExceeded" => 403,
        _ => 422,
    };
    let error = answer.expect(status);
    assert_eq!(error["error"]["type"], kind, "{error}");
    text(&error["error"]["message"])
}

pub(super) fn md5(bytes: &[u8]) -> String {
    let mut hasher = cenote_blob::Hasher::new([cenote_store::Algorithm::Md5]);
    hasher.update(bytes);
    hex::encode(hasher.finish().get(cenote_store::Algorithm::Md5).unwrap())
}

/// The header of RFC 1864.
pub(super) fn content_md5(bytes: &[u8]) -> String {
    BASE64_STANDARD.encode(hex::decode(md5(bytes)).unwrap())
}
