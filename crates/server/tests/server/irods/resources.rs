//! Storage resources, and replicas of objects in them.

use cenote_server::embedded::Embedded;
use cenote_server::{Config, router};
use serde_json::{Value, json};

use cenote_store::{NewUser, Role};

use super::super::catalog::{Directory, is_shared};
use super::super::support::{ADMIN, Answer, TestServer, USER, basic};
use super::{Irods, code};

/// A store in a directory, in which files may be registered.
struct Disk {
    irods: Irods,
    embedded: Embedded,
    dir: Directory,
}

impl Disk {
    async fn new() -> Self {
        let dir = Directory::new();
        let embedded = dir.open();
        let router = router(embedded.store().clone(), &Config::default());
        let irods = Irods::log_in(TestServer { router }, ADMIN).await;
        Self { irods, embedded, dir }
    }

    fn file(&self, name: &str) -> String {
        self.dir.path().join(name).to_str().unwrap().to_owned()
    }

    async fn resource(&self, form: &[(&str, &str)]) -> Answer {
        self.irods.post("resources", form).await
    }

    async fn leaf(&self, name: &str) {
        let vault = self.file(name);
        let form = [("op", "create"), ("name", name), ("type", "unixfilesystem"), ("host", "h")];
        let form = [&form[..], &[("vault-path", &vault)]].concat();
        assert_eq!(code(&self.resource(&form).await), 0);
    }

    async fn group(&self, kind: &str, children: &[&str]) {
        let form = [("op", "create"), ("name", kind), ("type", kind)];
        assert_eq!(code(&self.resource(&form).await), 0);
        for child in children {
            let form = [("op", "add_child"), ("parent-name", kind), ("child-name", child)];
            assert_eq!(code(&self.resource(&form).await), 0);
        }
    }

    async fn info(&self, name: &str) -> Value {
        self.irods.get("resources", &[("op", "stat"), ("name", name)]).await.expect(200)
    }

    /// Posts a request about the object `o`.
    async fn object(&self, operation: &str, more: &[(&str, &str)]) -> Answer {
        let path = self.irods.path("o");
        let form = [&[("op", operation), ("lpath", &path)], more].concat();
        self.irods.post("data-objects", &form).await
    }

    async fn read(&self, more: (&str, &str)) -> Answer {
        let path = self.irods.path("o");
        self.irods.get("data-objects", &[("op", "read"), ("lpath", &path), more]).await
    }

    /// Number, resource, status and size of each replica of `o`.
    async fn replicas(&self) -> Value {
        let columns = "select DATA_REPL_NUM, RESC_NAME, DATA_REPL_STATUS, DATA_SIZE";
        self.irods.rows(&format!("{columns} where DATA_NAME = 'o'")).await
    }
}

#[tokio::test]
async fn resources_are_created_changed_described_and_removed() {
    let disk = Disk::new().await;
    assert_eq!(disk.info("demoResc").await["info"]["type"], "unixfilesystem");
    assert_eq!(
        disk.info("none").await,
        json!({"exists": false, "info": {}, "irods_response": {"status_code": 0}})
    );
    disk.leaf("a").await;
    disk.group("replication", &["a"]).await;
    let group = disk.info("replication").await["info"].clone();
    assert_eq!(
        (&group["host"], &group["vault_path"]),
        (&json!("EMPTY_RESC_HOST"), &json!("EMPTY_RESC_PATH"))
    );
    let leaf = disk.info("a").await["info"].clone();
    assert_eq!((&leaf["parent_id"], &leaf["vault_path"]), (&group["id"], &json!(disk.file("a"))));
    let modify = async |property: &str, value: &str| {
        let form =
            [("op", "modify"), ("name", "replication"), ("property", property), ("value", value)];
        disk.resource(&form).await
    };
    for (property, value) in [
        ("type", "passthru"),
        ("host", "example.org"),
        ("status", "down"),
        ("status", "up"),
        ("comments", "c"),
        ("information", "i"),
        ("free_space", "f"),
        ("context", "x"),
    ] {
        assert_eq!(code(&modify(property, value).await), 0, "{property}");
        assert_eq!(disk.info("replication").await["info"][property], value);
    }
    for (property, value) in [("status", "sideways"), ("type", "unixfilesystem"), ("colour", "x")] {
        assert_eq!(modify(property, value).await.status, 400, "{property}");
    }
    let operations =
        json!([{"operation": "add", "attribute": "speed", "value": "slow"}]).to_string();
    let form = [("op", "modify_metadata"), ("name", "a"), ("operations", operations.as_str())];
    assert_eq!(code(&disk.resource(&form).await), 0);
    let found = disk.irods.rows("select RESC_NAME where META_RESC_ATTR_NAME = 'speed'").await;
    assert_eq!(found, json!([["a"]]));
    let remove = async |name: &str| code(&disk.resource(&[("op", "remove"), ("name", name)]).await);
    assert_eq!((remove("a").await, remove("none").await), (-831_000, -78_000));
    let out = [("op", "remove_child"), ("parent-name", "replication"), ("child-name", "a")];
    assert_eq!(code(&disk.resource(&out).await), 0);
    assert_eq!((remove("a").await, remove("replication").await), (0, 0));
    let make = [("op", "create"), ("name", "x"), ("type", "tape")];
    assert_eq!(code(&disk.resource(&make).await), -816_000);
}

#[tokio::test]
async fn a_write_to_a_group_is_stored_in_each_of_its_members() {
    let disk = Disk::new().await;
    disk.leaf("a").await;
    disk.leaf("b").await;
    disk.group("replication", &["a", "b"]).await;
    let write = async |resource: &str| {
        code(&disk.object("write", &[("resource", resource), ("bytes", "hello")]).await)
    };
    assert_eq!((write("a").await, write("none").await), (-1_816_000, -78_000));
    assert_eq!(write("replication").await, 0);
    assert_eq!(disk.replicas().await, json!([["0", "a", "1", "5"], ["1", "b", "1", "5"]]));
    assert_eq!(code(&disk.object("trim", &[("replica-number", "0")]).await), 0);
    assert_eq!(code(&disk.object("trim", &[("replica-number", "0")]).await), -164_000);
    assert_eq!(
        code(&disk.object("trim", &[("replica-number", "1")]).await),
        0,
        "the last one stays"
    );
    assert_eq!(disk.replicas().await, json!([["1", "b", "1", "5"]]));
    let rebalance = [("op", "rebalance"), ("name", "replication")];
    assert_eq!(code(&disk.resource(&rebalance).await), 0);
    let init =
        disk.object("parallel_write_init", &[("resource", "a"), ("stream-count", "2")]).await;
    assert_eq!(code(&init), -1_816_000);
}

#[tokio::test]
async fn the_target_place_precedes_the_bytes() {
    let disk = Disk::new().await;
    disk.leaf("a").await;
    let path = disk.irods.path("o");
    let lpath = ("lpath", path.as_bytes());
    let [write, bytes, a] =
        [("op", "write"), ("bytes", "hello"), ("resource", "a")].map(|(n, v)| (n, v.as_bytes()));
    assert_eq!(disk.irods.parts(&[write, lpath, bytes, a]).await.status, 400);
    assert_eq!(code(&disk.irods.parts(&[write, lpath, a, bytes]).await), 0);
    assert_eq!(disk.replicas().await, json!([["0", "a", "1", "5"]]));
    for resource in ["demoResc", "a"] {
        let init = [("resource", resource), ("stream-count", "1")];
        let begun = disk.object("parallel_write_init", &init).await.expect(200);
        let handle = begun["parallel_write_handle"].as_str().unwrap();
        let late = ("parallel-write-handle", handle.as_bytes());
        assert_eq!(disk.irods.parts(&[write, bytes, late]).await.status, 400, "{resource}");
        let first = disk.irods.parts(&[write, late, bytes]).await;
        assert_eq!(code(&first), 0);
        let shutdown = [("op", "parallel_write_shutdown"), ("parallel-write-handle", handle)];
        assert_eq!(code(&disk.irods.post("data-objects", &shutdown).await), 0);
    }
    let shown = json!([["0", "a", "1", "5"], ["1", "demoResc", "0", "5"]]);
    assert_eq!(disk.replicas().await, shown);
    let init = disk.object("parallel_write_init", &[("stream-count", "1")]).await.expect(200);
    let handle = init["parallel_write_handle"].as_str().unwrap();
    let late = ("parallel-write-handle", handle.as_bytes());
    assert_eq!(code(&disk.irods.parts(&[write, bytes, late]).await), 0);
}

#[tokio::test]
async fn a_parallel_write_to_a_resource_that_keeps_the_content_is_visible_after_shutdown() {
    let disk = Disk::new().await;
    disk.leaf("a").await;
    disk.irods.write("o", "0123456789").await;
    let form = [("resource", "a"), ("stream-count", "1"), ("truncate", "0")];
    let init = async || disk.object("parallel_write_init", &form).await;
    assert_ne!(code(&init().await), 0, "it has no replica there");
    assert_eq!(code(&disk.object("replicate", &[("dst-resource", "a")]).await), 0);
    let begun = init().await.expect(200);
    let handle = begun["parallel_write_handle"].as_str().unwrap();
    let write =
        [("op", "write"), ("parallel-write-handle", handle), ("offset", "2"), ("bytes", "ab")];
    assert_eq!(code(&disk.irods.post("data-objects", &write).await), 0);
    for resource in ["a", "demoResc"] {
        assert_eq!(disk.read(("resource", resource)).await.body, "0123456789");
    }
    let shutdown = [("op", "parallel_write_shutdown"), ("parallel-write-handle", handle)];
    assert_eq!(code(&disk.irods.post("data-objects", &shutdown).await), 0);
    assert_eq!(disk.read(("resource", "a")).await.body, "01ab456789");
    assert_eq!(disk.read(("resource", "demoResc")).await.body, "0123456789");
    let shown = json!([["0", "demoResc", "0", "10"], ["1", "a", "1", "10"]]);
    assert_eq!(disk.replicas().await, shown);
}

#[tokio::test]
async fn replicas_are_read_written_and_listed_by_number() {
    let disk = Disk::new().await;
    disk.leaf("a").await;
    disk.irods.write("o", "old").await;
    let replicate = async |more: &[(&str, &str)]| {
        let form = [&[("dst-resource", "a")], more].concat();
        code(&disk.object("replicate", &form).await)
    };
    assert_eq!(replicate(&[]).await, 0);
    assert_eq!(replicate(&[]).await, 0, "it is there already");
    assert_eq!(replicate(&[("src-replica-number", "x")]).await, -403_000);
    assert_eq!(replicate(&[("src-replica-number", "-1")]).await, -168_000);
    assert_eq!(replicate(&[("src-resource", "none")]).await, -78_000);
    let new = [("replica-number", "0"), ("bytes", "newer")];
    assert_eq!(code(&disk.object("write", &new).await), 0);
    assert_eq!(disk.replicas().await, json!([["0", "demoResc", "1", "5"], ["1", "a", "0", "3"]]));
    assert_eq!(disk.read(("replica-number", "1")).await.body, "old");
    assert_eq!(disk.read(("resource", "demoResc")).await.body, "newer");
    for (parameter, value) in [("replica-number", "7"), ("replica-number", "x"), ("resource", "no")]
    {
        assert_eq!(disk.read((parameter, value)).await.status, 400, "{value}");
    }
    assert_eq!(code(&disk.object("truncate", &[("size", "2"), ("replica-number", "1")]).await), 0);
    assert_eq!(disk.read(("replica-number", "1")).await.body, "ol");
    assert_eq!(disk.read(("replica-number", "0")).await.body, "newer");
    let sum = disk.object("calculate_checksum", &[("replica-number", "0")]).await.expect(200);
    let other = disk.object("calculate_checksum", &[("replica-number", "1")]).await.expect(200);
    assert_ne!(sum["checksum"], other["checksum"]);
    let modify = async |more: &[(&str, &str)]| {
        let form = [&[("replica-number", "0")], more].concat();
        disk.object("modify_replica", &form).await
    };
    assert_eq!(modify(&[]).await.status, 400);
    assert_eq!(code(&modify(&[("new-data-size", "15"), ("new-data-comments", "c")]).await), 0);
    let noted = disk.irods.rows("select DATA_SIZE, DATA_COMMENTS where DATA_REPL_NUM = '0'").await;
    assert_eq!(noted, json!([["15", "c"]]));
    // The documentation of the HTTP API uses one name, the table in its server the other.
    for name in ["new-data-expiry", "new-data-expiry-time"] {
        assert_eq!(code(&modify(&[(name, "01800000000")]).await), 0, "{name}");
    }
}

#[tokio::test]
async fn a_replica_has_no_checksum_until_it_was_calculated() {
    let disk = Disk::new().await;
    disk.leaf("a").await;
    disk.irods.write("o", "hello").await;
    assert_eq!(code(&disk.object("replicate", &[("dst-resource", "a")]).await), 0);
    let path = disk.irods.path("o");
    let verify = async || {
        let form = [("op", "verify_checksum"), ("lpath", path.as_str())];
        disk.irods.get("data-objects", &form).await.expect(200)
    };
    let warned = verify().await;
    assert_eq!(warned["irods_response"]["status_code"], -407_000);
    let warning = json!([{"error_code": -862_000, "message": "WARNING: No checksum available for replica [1].", "severity": "warning"}]);
    assert_eq!(warned["results"], warning);
    let all = disk.object("calculate_checksum", &[("all", "1")]).await.expect(200);
    assert_eq!(all["checksum"], "sha2:LPJNul+wow4m6DsqxbninhsWHlwfp0JecwQzYpOLmCQ=");
    assert_eq!(verify().await["irods_response"]["status_code"], 0);
    let vault = walk(disk.dir.path().join("a").as_path());
    vault.iter().for_each(|file| std::fs::write(file, "hellO").unwrap());
    let damaged = verify().await;
    assert_eq!(damaged["results"][0]["error_code"], -314_000);
}

/// The blobs in a vault.
fn walk(dir: &std::path::Path) -> Vec<std::path::PathBuf> {
    let entries = std::fs::read_dir(dir).unwrap().map(|entry| entry.unwrap().path());
    let (dirs, files): (Vec<_>, Vec<_>) = entries.partition(|path| path.is_dir());
    files.into_iter().chain(dirs.iter().flat_map(|dir| walk(dir))).collect()
}

#[tokio::test]
async fn files_are_registered_in_place_and_stay_there() {
    let disk = Disk::new().await;
    disk.leaf("a").await;
    let file = disk.file("data.bin");
    std::fs::write(&file, "data").unwrap();
    let register = async |more: &[(&str, &str)]| {
        let form = [&[("ppath", file.as_str()), ("resource", "a")], more].concat();
        code(&disk.object("register", &form).await)
    };
    assert_eq!(register(&[("checksum", "0")]).await, 0);
    assert_eq!(register(&[]).await, -809_000);
    assert_eq!(register(&[("checksum", "sha2:short"), ("force", "1")]).await, -130_000);
    let shown = disk.irods.rows("select DATA_PATH, RESC_NAME where DATA_NAME = 'o'").await;
    assert_eq!(shown, json!([[file, "a"]]));
    assert_eq!(disk.irods.read("o").await, "data");
    assert_eq!(code(&disk.object("remove", &[("catalog-only", "1")]).await), 0);
    assert!(std::fs::exists(&file).unwrap());
    // Where other servers may be reading it, its copy there is noted for a while longer.
    if !is_shared() {
        assert_eq!(code(&disk.resource(&[("op", "remove"), ("name", "a")]).await), 0);
    }
    let outside = [("ppath", "/etc/hostname"), ("resource", "demoResc")];
    assert_eq!(code(&disk.object("register", &outside).await), -818_000);
}

#[tokio::test]
async fn the_modification_time_is_the_one_set_last() {
    let disk = Disk::new().await;
    disk.irods.write("o", "hello").await;
    let path = disk.irods.path("o");
    for (secs, form) in [
        (1_600_000_000, vec![("op", "touch"), ("seconds-since-epoch", "1600000000")]),
        (1_700_000_000, vec![("op", "modify_replica"), ("new-data-modify-time", "01700000000")]),
        (1_500_000_000, vec![("op", "touch"), ("seconds-since-epoch", "1500000000")]),
    ] {
        let form = [&[("lpath", path.as_str()), ("replica-number", "0")], &form[..]].concat();
        assert_eq!(code(&disk.irods.post("data-objects", &form).await), 0);
        let shown = disk.irods.rows("select DATA_MODIFY_TIME where DATA_NAME = 'o'").await;
        assert_eq!(shown, json!([[format!("{secs:011}")]]));
        assert_eq!(disk.irods.stat("data-objects", &path).await["modified_at"], secs);
    }
}

/// All responses of an opening to a caller about places and replicas.
async fn all_responses(disk: &Disk, who: Option<&Irods>) -> String {
    let anonymous = disk.irods.other(("anonymous", "")).await;
    let irods = who.unwrap_or(&anonymous);
    let mut responses = String::new();
    let columns = "RESC_NAME, RESC_TYPE_NAME, RESC_LOC, RESC_VAULT_PATH, RESC_CONTEXT, RESC_COMMENT, \
                   RESC_INFO, RESC_FREE_SPACE, RESC_STATUS";
    let of_objects =
        "DATA_NAME, DATA_PATH, DATA_RESC_NAME, DATA_RESC_HIER, RESC_NAME, RESC_VAULT_PATH";
    for columns in [columns, of_objects] {
        for parser in ["genquery1", "genquery2"] {
            let query = format!("select {columns}");
            let query = [("op", "execute_genquery"), ("query", &query), ("parser", parser)];
            let answer = irods.get("query", &query).await;
            assert_eq!(code(&answer), 0, "{answer:?}");
            responses += &String::from_utf8_lossy(&answer.body);
        }
    }
    for name in ["demoResc", "vault", "replication"] {
        let stat = irods.get("resources", &[("op", "stat"), ("name", name)]).await;
        responses += &String::from_utf8_lossy(&stat.body);
    }
    let path = disk.irods.path("o");
    for operation in ["stat", "verify_checksum"] {
        let form = [("op", operation), ("lpath", path.as_str())];
        responses += &String::from_utf8_lossy(&irods.get("data-objects", &form).await.body);
    }
    responses
}

#[tokio::test]
async fn the_location_of_a_place_is_shown_only_to_administrators() {
    let disk = Disk::new().await;
    let new = NewUser { name: USER.0.into(), password: Some(USER.1.into()), role: Role::User };
    let store = disk.embedded.store();
    let admin = store.authenticate_password(ADMIN.0, ADMIN.1).unwrap();
    store.add_user(&admin, &new).unwrap();
    disk.leaf("vault").await;
    disk.group("replication", &["vault"]).await;
    let modify = [("op", "modify"), ("name", "vault"), ("property", "context")];
    let modify = [&modify[..], &[("value", "secret-context")]].concat();
    assert_eq!(code(&disk.resource(&modify).await), 0);
    assert_eq!(
        code(&disk.object("write", &[("resource", "replication"), ("bytes", "x")]).await),
        0
    );
    for (endpoint, path) in
        [("collections", disk.irods.home.clone()), ("data-objects", disk.irods.path("o"))]
    {
        for name in [USER.0, "anonymous"] {
            let form = [("op", "set_permission"), ("lpath", path.as_str())];
            let form =
                [&form[..], &[("entity-name", name), ("permission", "read_object")]].concat();
            assert_eq!(code(&disk.irods.post(endpoint, &form).await), 0);
        }
    }
    let machine = disk.dir.path().to_str().unwrap();
    let known = all_responses(&disk, Some(&disk.irods)).await;
    assert!(known.contains(machine) && known.contains("secret-context"), "{known}");
    let user = disk.irods.other(USER).await;
    for (who, names_places) in [(Some(&user), true), (None, false)] {
        let responses = all_responses(&disk, who).await;
        assert!(
            !responses.contains(machine) && !responses.contains("secret-context"),
            "{responses}"
        );
        assert!(
            responses.contains("EMPTY_RESC_PATH") && responses.contains("demoResc"),
            "{responses}"
        );
        assert_eq!(
            responses.contains("vault\"") || responses.contains("replication;"),
            names_places,
            "{responses}"
        );
    }
    let request = disk.irods.server.request_as(None, "GET", "/v1/places");
    let places = request.header("authorization", &basic(USER)).send().await.expect(200).to_string();
    assert!(places.contains("vault") && !places.contains(machine), "{places}");
    assert!(!places.contains("secret-context"), "{places}");
}
