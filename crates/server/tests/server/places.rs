//! Places, replicas and jobs over HTTP, on a store in a directory.

use cenote_server::embedded::Embedded;
use cenote_server::{Config, LocalCaller, router};
use serde_json::{Value, json};

use crate::catalog::Directory;
use crate::support::{TestServer, USER};

struct Disk {
    embedded: Embedded,
    server: TestServer,
    dir: Directory,
}

/// A store in a directory, with the places `a` and `b` beside it.
async fn disk() -> Disk {
    let dir = Directory::new();
    let embedded = dir.open();
    let server = TestServer { router: router(embedded.store().clone(), &Config::default()) };
    for name in ["a", "b"] {
        let address = format!("file://{}/{name}", dir.path().display());
        let place = json!({"name": name, "address": address});
        assert_eq!(server.post("/v1/places", place).await.expect(201)["kind"], "leaf");
    }
    Disk { embedded, server, dir }
}

impl Disk {
    /// The number of blobs in a place.
    fn blobs_in(&self, name: &str) -> usize {
        let fans = std::fs::read_dir(self.dir.path().join(name).join("blobs")).unwrap();
        fans.map(|fan| std::fs::read_dir(fan.unwrap().path()).unwrap().count()).sum()
    }

    async fn finish(&self, job: Value) -> Value {
        self.embedded.store().run_moves().await.unwrap();
        self.server.request("GET", &format!("/v1/jobs/{}", job["job"])).send().await.expect(200)
    }

    async fn places_of(&self, path: &str) -> Vec<String> {
        let replicas = self
            .server
            .request("GET", &format!("/v1/replicas?path={path}"))
            .send()
            .await
            .expect(200);
        let items = replicas["items"].as_array().unwrap().iter();
        items
            .map(|item| {
                format!("{} {} {}", item["number"], item["place"].as_str().unwrap(), item["good"])
            })
            .collect()
    }
}

#[tokio::test]
async fn an_empty_group_does_not_become_the_default() {
    let disk = disk().await;
    let group = json!({"name": "pair", "default": true});
    disk.server.post("/v1/places", group.clone()).await.problem(400, "invalid");
    disk.server.post("/v1/places", json!({"name": "pair"})).await.expect(201);
    disk.server.request("PATCH", "/v1/places").json(&group).send().await.problem(400, "invalid");
}

#[tokio::test]
async fn contents_are_stored_in_the_place_given_in_a_put() {
    let disk = disk().await;
    disk.server.post("/v1/places", json!({"name": "pair"})).await.expect(201);
    for name in ["a", "b"] {
        let into = json!({"name": name, "group": "pair"});
        let change =
            disk.server.request("PATCH", "/v1/places").json(&into).send().await.expect(200);
        assert_eq!(change["group"], "pair");
    }
    disk.server.request("PUT", "/v1/fs/x?place=pair").body("hello").send().await.expect(201);
    assert_eq!((disk.blobs_in("a"), disk.blobs_in("b")), (1, 1));
    assert_eq!(disk.places_of("/x").await, ["0 a true", "1 b true"]);
    assert_eq!(
        disk.server.request("GET", "/v1/fs/x?replica=1&verify=true").send().await.body,
        "hello"
    );
    disk.server.request("GET", "/v1/fs/x?replica=7").send().await.problem(404, "not-found");
    let nowhere = disk.server.request("PUT", "/v1/fs/x?place=nowhere").body("hello").send().await;
    nowhere.problem(404, "not-found");
    let refused = disk.server.request("DELETE", "/v1/places?name=pair").send().await;
    refused.problem(409, "not-empty");
    let user = disk.server.request_as(Some(USER), "GET", "/v1/places").send().await;
    user.problem(401, "unauthenticated");
}

#[tokio::test]
async fn objects_and_trees_are_replicated_and_trimmed() {
    let disk = disk().await;
    disk.server.put("/lab/x", "one").await.expect(201);
    disk.server.put("/lab/y", "two").await.expect(201);
    let one = json!({"path": "/lab/x", "place": "a"});
    let made = disk.server.post("/v1/replicas", one).await.expect(200);
    assert_eq!(made["items"][1]["place"], "a");
    let all = json!({"path": "/lab", "place": "b", "recursive": true});
    let job = disk.server.post("/v1/replicas", all).await.expect(202);
    let job = disk.finish(job).await;
    assert_eq!((&job["done"], &job["finished"]), (&json!(2), &json!(true)));
    assert_eq!(disk.places_of("/lab/y").await, ["0 main true", "1 b true"]);
    let which = json!({"path": "/lab/x", "replica": 0, "dry_run": true});
    assert_eq!(disk.server.post("/v1/trim", which).await.expect(200)["trimmed"], json!([0]));
    let which = json!({"path": "/lab/x", "replica": 0});
    disk.server.post("/v1/trim", which).await.expect(200);
    assert_eq!(disk.places_of("/lab/x").await, ["1 a true", "2 b true"]);
    let job = json!({"path": "/lab", "recursive": true, "keep": 1});
    let job = disk.server.post("/v1/trim", job).await.expect(202);
    assert_eq!(disk.finish(job).await["failed"], 0);
    let last = json!({"path": "/lab/x", "replica": 1});
    disk.server.post("/v1/trim", last).await.problem(412, "precondition");
}

#[tokio::test]
async fn a_place_is_drained_and_removed() {
    let disk = disk().await;
    disk.server.request("PUT", "/v1/fs/x?place=a").body("hello").send().await.expect(201);
    disk.server.request("DELETE", "/v1/places?name=a").send().await.problem(409, "not-empty");
    let job = disk.server.post("/v1/drain", json!({"name": "a", "to": "b"})).await.expect(202);
    assert_eq!(disk.finish(job).await["done"], 1);
    assert_eq!((disk.blobs_in("a"), disk.blobs_in("b")), (0, 1));
    disk.server.request("DELETE", "/v1/places?name=a").send().await.expect(204);
    let places = disk.server.request("GET", "/v1/places").send().await.expect(200);
    let names = places["items"].as_array().unwrap().iter().map(|place| &place["name"]);
    assert_eq!(names.collect::<Vec<_>>(), ["main", "b"]);
    assert_eq!(disk.server.request("GET", "/v1/fs/x").send().await.body, "hello");
}

#[tokio::test]
async fn places_are_added_only_where_the_settings_allow() {
    let disk = disk().await;
    std::os::unix::fs::symlink("/etc", disk.dir.path().join("link")).unwrap();
    let dir = disk.dir.path().display();
    let outside = tempfile::tempdir().unwrap();
    let mut refused = ["", "etc", "etc/cenote", "root", "proc/self"].map(str::to_owned).to_vec();
    refused.push(outside.path().join("vault").display().to_string());
    refused.extend([format!("{dir}/link/vault"), format!("{dir}/../vault"), format!("{dir}2")]);
    for path in refused {
        let address = format!("file:///{}", path.trim_start_matches('/'));
        let new = json!({"name": "vault", "address": address});
        disk.server.post("/v1/places", new).await.problem(403, "denied");
        let moved = json!({"name": "a", "address": address});
        let moved = disk.server.request("PATCH", "/v1/places").json(&moved).send().await;
        assert!(moved.status.is_client_error(), "{address}: {moved:?}");
    }
    assert_eq!(std::fs::read_dir(outside.path()).unwrap().count(), 0, "nothing was made there");
    // A caller with direct access to the directory controls the account on the machine, too.
    let owner = LocalCaller::administrator(disk.embedded.store()).unwrap();
    let new = json!({"name": "vault", "address": format!("file://{}/x", outside.path().display())});
    let request = disk.server.request_as(None, "POST", "/v1/places").json(&new).extension(owner);
    request.send().await.expect(201);
}

#[tokio::test]
async fn an_existing_place_stays_open_whatever_the_settings() {
    let disk = disk().await;
    disk.server.request("PUT", "/v1/fs/x?place=a").body("hello").send().await.expect(201);
    let Disk { dir, embedded, server } = disk;
    drop((server, embedded));
    let settings = dir.store().join("store.toml");
    let now = std::fs::read_to_string(&settings).unwrap();
    let catalog = now.lines().filter(|line| line.starts_with("catalog")).collect::<String>();
    std::fs::write(&settings, format!("format = 1\n{catalog}\n")).unwrap();
    let embedded = dir.open();
    let server = TestServer { router: router(embedded.store().clone(), &Config::default()) };
    assert_eq!(server.get("/x").await.body, "hello");
    let address = format!("file://{}/c", dir.path().display());
    let new = json!({"name": "c", "address": address});
    let problem = server.post("/v1/places", new).await.problem(403, "denied");
    assert!(problem["hint"].as_str().unwrap().contains("vaults"), "{problem}");
}

#[tokio::test]
async fn files_are_registered_only_where_the_settings_allow() {
    let disk = disk().await;
    let file = json!({"path": "/x", "place": "a", "file": "/etc/hostname"});
    disk.server.post("/v1/register", file).await.problem(403, "denied");
}

#[tokio::test]
async fn no_place_is_added_inside_another_or_inside_the_store() {
    let disk = disk().await;
    for path in ["a", "a/blobs/00", "store", "store/contents", "store/new", "b/../a/x"] {
        let address = format!("file://{}/{path}", disk.dir.path().display());
        let place = json!({"name": "c", "address": address.clone()});
        disk.server.post("/v1/places", place).await.problem(400, "invalid");
        let change = json!({"name": "b", "address": address});
        disk.server
            .request("PATCH", "/v1/places")
            .json(&change)
            .send()
            .await
            .problem(400, "invalid");
    }
    let around = format!("file://{}", disk.dir.path().display());
    let place = json!({"name": "c", "address": around});
    disk.server.post("/v1/places", place).await.problem(400, "invalid");
    assert!(!disk.dir.path().join("a/x").exists() && !disk.dir.path().join("store/new").exists());
    let same = json!({"name": "b", "address": format!("file://{}/b", disk.dir.path().display())});
    disk.server.request("PATCH", "/v1/places").json(&same).send().await.expect(200);
}
