//! The linked-data opening, according to its specifications: each test names the section that it
//! verifies.

mod acl;
mod admin;
mod binaries;
mod containers;
mod everywhere;
mod external;
mod filenames;
mod fixity;
mod hostile;
mod members;
mod notifications;
mod pages;
mod paging;
mod posts;
mod rdf_xml;
mod references;
mod refusals;
mod round_trips;
mod search;
mod sources;
mod stomp;
mod subtree;
mod tombstones;
mod transactions;
mod updates;
mod validators;
mod versions;
mod webhooks;

use std::collections::BTreeSet;

use cenote_server::{Config, router};
use cenote_store::{AttributeChange, Caller, Store, StorePath};

use crate::support::{self, ADMIN, Answer, TestRequest, TestServer};

/// The mount points of LAKEsuperior's dialect, the Fedora API and strict LDP.
const MOUNTS: [&str; 3] = ["/ldp", "/rest", "/w3c"];
/// The start of addresses without a Host header.
const ORIGIN: &str = "http://localhost";

const LDP: &str = "http://www.w3.org/ns/ldp#";

/// A server, seen through one mount point.
struct Web {
    server: TestServer,
    store: Store,
    mount: &'static str,
    /// The location of the test's resources, below the mount point.
    base: &'static str,
}

impl Web {
    /// A separate server, whose store keeps removed resources.
    fn new(mount: &'static str) -> Self {
        let store = support::store();
        let admin = store.caller_for(store.person_named(ADMIN.0).unwrap().0).unwrap();
        let kept =
            AttributeChange { keep_removed: Some(Some(3_600)), ..AttributeChange::default() };
        store.set_attributes(&admin, &StorePath::root().into(), &kept).unwrap();
        let server = TestServer { router: router(store.clone(), &Config::default()) };
        Self { server, store, mount, base: "" }
    }

    fn admin(&self) -> Caller {
        self.store.caller_for(self.store.person_named(ADMIN.0).unwrap().0).unwrap()
    }

    /// One server through each mount point, each with its own resources.
    fn each() -> impl Iterator<Item = Self> {
        let Self { server, store, .. } = Self::new("");
        let bases = ["/one", "/two", "/three"];
        MOUNTS.into_iter().zip(bases).map(move |(mount, base)| Self {
            server: server.clone(),
            store: store.clone(),
            mount,
            base,
        })
    }

    fn address(&self, path: &str) -> String {
        format!("{ORIGIN}{}{}{path}", self.mount, self.base)
    }

    fn request(&self, method: &str, path: &str) -> TestRequest<'_> {
        self.request_as(Some(ADMIN), method, path)
    }

    fn request_as(&self, who: Option<(&str, &str)>, method: &str, path: &str) -> TestRequest<'_> {
        self.server.request_as(who, method, &format!("{}{}{path}", self.mount, self.base))
    }

    /// Puts a graph; over an existing resource with its current tag.
    async fn put(&self, path: &str, turtle: &str) -> Answer {
        let request = self.request("PUT", path).header("content-type", "text/turtle");
        let there = self.request("HEAD", path).send().await;
        let tag = there.headers.get("etag").and_then(|tag| tag.to_str().ok());
        match tag {
            Some(tag) => request.header("if-match", tag).body(turtle.to_owned()).send().await,
            None => request.body(turtle.to_owned()).send().await,
        }
    }

    async fn get(&self, path: &str) -> Answer {
        self.request("GET", path).send().await
    }

    async fn post(&self, path: &str, slug: &str, turtle: &str) -> Answer {
        let request = self.request("POST", path).header("slug", slug);
        request.header("content-type", "text/turtle").body(turtle.to_owned()).send().await
    }

    /// Creates a container in which a user without other rights has these, and not below it.
    async fn share_only(&self, path: &str, level: &str) {
        assert_eq!(self.put(path, "").await.status, 201);
        let operations =
            serde_json::json!([{ "name": support::USER.0, "level": level, "scope": "this" }]);
        let path = format!("{}{path}", self.base);
        let grant = serde_json::json!({ "path": path, "operations": operations });
        self.server.post("/v1/access", grant).await.expect(200);
    }

    async fn patch(&self, path: &str, update: &str) -> Answer {
        let request =
            self.request("PATCH", path).header("content-type", "application/sparql-update");
        request.body(update.to_owned()).send().await
    }

    /// Updates a resource and all below it.
    async fn update(&self, path: &str, update: &str) -> Answer {
        let request = self.request("POST", &format!("{path}/fcr:sparql"));
        request
            .header("content-type", "application/sparql-update")
            .body(update.to_owned())
            .send()
            .await
    }

    /// The triples of a resource as N-Triples, without the dots.
    async fn triples(&self, path: &str) -> BTreeSet<String> {
        self.preferred(path, "").await
    }

    /// The same with the preferences of a client.
    async fn preferred(&self, path: &str, prefer: &str) -> BTreeSet<String> {
        let request = self.request("GET", path).header("accept", "application/n-triples");
        let answer = request.header("prefer", prefer).send().await;
        assert_eq!(answer.status, 200, "{path}: {}", answer.text());
        answer.text().lines().map(|line| line.trim_end_matches(" .").to_owned()).collect()
    }

    /// Whether a resource has a triple; `<>` is its address.
    async fn has_triple(&self, path: &str, triple: &str) -> bool {
        let own = format!("<{}>", self.address(path));
        let triple = triple.replace("<>", &own).replace("ldp:", LDP);
        self.triples(path).await.contains(&triple)
    }
}

/// The values of all headers of a name.
fn headers<'a>(answer: &'a Answer, name: &str) -> Vec<&'a str> {
    answer.headers.get_all(name).iter().filter_map(|value| value.to_str().ok()).collect()
}

/// Whether a response has a link with this relation.
fn links(answer: &Answer, iri: &str, rel: &str) -> bool {
    let iri = iri.replace("ldp:", LDP);
    let rel = [format!("rel=\"{rel}\""), format!("rel={rel}")];
    headers(answer, "link").iter().any(|link| {
        link.starts_with(&format!("<{iri}>")) && rel.iter().any(|rel| link.contains(rel.as_str()))
    })
}
