//! The trash of iRODS is a view of that of the store: resources removed through any opening are visible, restored and
//! purged in it.

use cenote_server::Irods as Settings;
use serde_json::{Value, json};

use super::super::support::USER;
use super::{Irods, code};

const TRASH: &str = "/tempZone/trash/home/ada";

impl Irods {
    /// A server that keeps removed resources for a month.
    async fn keeping() -> Self {
        let irods = Self::new().await;
        irods.keep(2_592_000).await;
        irods
    }

    async fn keep(&self, seconds: u64) {
        let keep = json!({"path": "/", "keep_removed": seconds});
        self.server.request("PATCH", "/v1/attributes").json(&keep).send().await.expect(200);
    }

    /// Removes through the native opening.
    async fn discard(&self, path: &str) {
        let uri = format!("/v1/fs{path}?recursive=true");
        assert_eq!(self.server.request("DELETE", &uri).send().await.status, 204, "{path}");
    }

    async fn remove(&self, endpoint: &str, path: &str, more: &[(&str, &str)]) -> i64 {
        let mut form = vec![("op", "remove"), ("lpath", path), ("catalog-only", "0")];
        form.extend_from_slice(more);
        code(&self.post(endpoint, &form).await)
    }

    async fn rename(&self, endpoint: &str, from: &str, to: &str) -> i64 {
        let form = [("op", "rename"), ("old-lpath", from), ("new-lpath", to)];
        code(&self.post(endpoint, &form).await)
    }

    /// The paths in the trash, relative to it.
    async fn trashed(&self) -> Vec<String> {
        let names = self.list(TRASH, "1").await;
        let name = |name: &Value| name.as_str().unwrap()[TRASH.len()..].to_owned();
        let mut names: Vec<_> = names.as_array().into_iter().flatten().map(name).collect();
        names.sort();
        names
    }

    async fn id(&self, path: &str) -> Value {
        let uri = format!("/v1/stat?path={}", path.strip_prefix("/tempZone").unwrap());
        self.server.request("GET", &uri).send().await.expect(200)["id"].clone()
    }
}

#[tokio::test]
async fn resources_removed_by_any_opening_are_readable_searchable_and_restorable_in_the_trash() {
    let irods = Irods::keeping().await;
    irods.mkdir("c").await;
    irods.write("c/o", "bytes").await;
    let operations = r#"[{"operation":"add","attribute":"k","value":"v"}]"#;
    let (collection, object) = (irods.path("c"), irods.path("c/o"));
    let describe =
        [("op", "modify_metadata"), ("lpath", object.as_str()), ("operations", operations)];
    assert_eq!(code(&irods.post("data-objects", &describe).await), 0);
    let id = irods.id(&object).await;
    irods.discard("/home/ada/c").await;

    assert_eq!(irods.trashed().await, ["/c", "/c/o"]);
    let (kept, inside) = (format!("{TRASH}/c"), format!("{TRASH}/c/o"));
    let stat = irods.stat("data-objects", &inside).await;
    assert_eq!((&stat["size"], &stat["irods_response"]["status_code"]), (&json!(5), &json!(0)));
    assert_eq!(irods.stat("collections", &kept).await["type"], "collection");
    let read = irods.get("data-objects", &[("op", "read"), ("lpath", &inside)]).await;
    assert_eq!((read.status.as_u16(), &read.body[..]), (200, &b"bytes"[..]));
    let row = json!([[kept, "o", id.as_u64().unwrap().to_string()]]);
    for condition in [
        "COLL_NAME like '/tempZone/trash/%'",
        "COLL_NAME = '/tempZone/trash/home/ada/c'",
        "COLL_NAME = '/tempZone/trash/home/ada/c' and DATA_NAME = 'o'",
        "META_DATA_ATTR_NAME = 'k' and META_DATA_ATTR_VALUE = 'v'",
        "DATA_NAME = 'o'",
    ] {
        let query = format!("select COLL_NAME, DATA_NAME, DATA_ID where {condition}");
        assert_eq!(irods.rows(&query).await, row, "{condition}");
    }
    let parent = format!("select COLL_NAME where COLL_PARENT_NAME = '{TRASH}'");
    assert_eq!(irods.rows(&parent).await, json!([[kept]]));

    // A resource removed with its collection can be neither restored nor purged individually.
    assert_eq!(irods.rename("data-objects", &inside, &irods.path("o")).await, -130_000);
    assert_eq!(irods.remove("data-objects", &inside, &[("no-trash", "1")]).await, -130_000);
    assert_eq!(irods.rename("collections", &kept, &collection).await, 0);
    assert_eq!((irods.id(&object).await, irods.read("c/o").await), (id, "bytes".to_owned()));
    assert_eq!(irods.trashed().await, [""; 0]);
}

#[tokio::test]
async fn duplicates_and_intermediate_collections_in_the_trash_have_distinct_names() {
    let irods = Irods::keeping().await;
    for _ in 0..2 {
        irods.write("o", "x").await;
        irods.remove("data-objects", &irods.path("o"), &[]).await;
    }
    irods.mkdir("c").await;
    irods.write("c/o", "x").await;
    irods.remove("data-objects", &irods.path("c/o"), &[]).await;
    let id = irods.id(&irods.path("c")).await;
    irods.remove("collections", &irods.path("c"), &[("recurse", "1")]).await;
    irods.server.put("/lab/x", "x").await.expect(201);
    irods.discard("/lab").await;
    let names = irods.trashed().await;
    let (second, rest): (Vec<_>, Vec<_>) = names.iter().partition(|name| name.starts_with("/o."));
    let renamed = format!("/c.{id}");
    assert_eq!(rest, ["/c", &renamed, "/c/o", "/lab", "/lab/x", "/o"]);
    assert_eq!(second.len(), 1);

    // An intermediate collection of the trash is not itself a removed resource, and is purged with everything below it.
    let way = format!("{TRASH}/c");
    assert_eq!(irods.rename("collections", &way, &irods.path("d")).await, -130_000);
    assert_eq!(irods.remove("collections", &way, &[]).await, -79_000);
    assert_eq!(irods.remove("collections", &way, &[("recurse", "1")]).await, 0);
    assert_eq!(irods.trashed().await.len(), 5);
    assert_eq!(irods.remove("collections", TRASH, &[("recurse", "1")]).await, 0);
    assert_eq!(
        irods.server.request("GET", "/v1/trash").send().await.expect(200)["items"],
        json!([])
    );
}

#[tokio::test]
async fn removed_resources_are_visible_only_to_those_who_can_restore_them() {
    let ada = Irods::keeping().await;
    let grace = ada.other(USER).await;
    grace.write("mine", "x").await;
    let path = grace.path("mine");
    grace.remove("data-objects", &path, &[]).await;
    let kept = "/tempZone/trash/home/grace/mine";
    assert_eq!(grace.stat("data-objects", kept).await["irods_response"]["status_code"], 0);
    ada.write("o", "x").await;
    ada.remove("data-objects", &ada.path("o"), &[]).await;
    let hidden = format!("{TRASH}/o");
    let missing = json!({"irods_response": {"status_code": -171_000}});
    assert_eq!(grace.stat("data-objects", &hidden).await, missing);
    let read = grace.get("data-objects", &[("op", "read"), ("lpath", &hidden)]).await;
    assert_eq!(read.status, 404);
    let all = "select DATA_NAME where COLL_NAME like '/tempZone/trash/%'";
    assert_eq!(grace.rows(all).await, json!([["mine"]]));
    assert_eq!(ada.rows(all).await, json!([["mine"], ["o"]]), "an administrator sees all");
    assert!(grace.remove("data-objects", &hidden, &[]).await < 0);
    assert_eq!(ada.stat("data-objects", &hidden).await["irods_response"]["status_code"], 0);
}

#[tokio::test]
async fn resources_moved_to_the_trash_by_an_earlier_version_stay_there() {
    let irods = Irods::keeping().await;
    irods.server.put("/trash/home/ada/c/old", "old").await.expect(201);
    irods.mkdir("c").await;
    irods.write("c/old", "new").await;
    irods.remove("data-objects", &irods.path("c/old"), &[]).await;
    let names = irods.trashed().await;
    assert_eq!(names[..2], ["/c", "/c/old"]);
    assert!(names[2].starts_with("/c/old.") && names.len() == 3, "{names:?}");
    let old = format!("{TRASH}/c/old");
    let read = irods.get("data-objects", &[("op", "read"), ("lpath", &old)]).await;
    assert_eq!(&read.body[..], b"old");
    assert_eq!(irods.remove("data-objects", &old, &[]).await, 0);
    assert_eq!(irods.trashed().await.len(), 2);
    let kept = irods.server.request("GET", "/v1/trash").send().await.expect(200);
    assert_eq!(kept["items"].as_array().unwrap().len(), 1, "the old one was removed for good");
}

#[tokio::test]
async fn without_a_setting_irods_keeps_removed_objects_and_zero_removes_immediately() {
    let irods = Irods::with(Settings::default()).await;
    irods.write("o", "x").await;
    irods.remove("data-objects", &irods.path("o"), &[]).await;
    assert_eq!(irods.trashed().await, ["/o"]);
    irods.keep(0).await;
    irods.write("p", "x").await;
    irods.remove("data-objects", &irods.path("p"), &[]).await;
    assert_eq!(irods.trashed().await, ["/o"]);
}
