//! Collections: the attributes of resources, and their changes.

use serde_json::{Value, json};

use super::super::batch::archive;
use super::{Irods, code};

#[tokio::test]
async fn collections_are_created_and_removed() {
    let irods = Irods::new().await;
    let answer = irods.mkdir("a").await;
    assert_eq!(answer.to_string(), r#"{"created":true,"irods_response":{"status_code":0}}"#);
    assert_eq!(irods.mkdir("a").await["created"], false);
    let missing = irods.mkdir("x/y").await;
    assert_eq!(missing["irods_response"]["status_code"], -358_000);
    let message = &missing["irods_response"]["status_message"];
    assert_eq!(message, "path does not exist: OBJ_PATH_DOES_NOT_EXIST");
    let deep = irods.path("x/y");
    let form = [("op", "create"), ("lpath", deep.as_str()), ("create-intermediates", "1")];
    assert_eq!(code(&irods.post("collections", &form).await), 0);
    irods.write("a/o", "x").await;
    assert_eq!(irods.mkdir("a/o").await["irods_response"]["status_code"], -809_000);
    let of = |names: &[&str]| names.iter().map(|name| irods.path(name)).collect::<Vec<_>>();
    assert_eq!(irods.list(&irods.home, "1").await, json!(of(&["a", "a/o", "x", "x/y"])));
    assert_eq!(irods.list(&irods.home, "0").await, json!(of(&["a", "x"])));
    assert_eq!(irods.list(&deep, "1").await, Value::Null);
    let remove = async |name: &str, recurse: &str| {
        let path = irods.path(name);
        let form =
            [("op", "remove"), ("lpath", path.as_str()), ("recurse", recurse), ("no-trash", "1")];
        irods.post("collections", &form).await
    };
    assert_eq!(code(&remove("x", "0").await), -79_000);
    assert_eq!(code(&remove("x", "1").await), 0);
    let object = remove("a/o", "1").await;
    assert_eq!((object.status.as_u16(), code(&object)), (400, -170_000));
    assert_eq!(irods.list(&irods.home, "0").await, json!(of(&["a"])));
}

#[tokio::test]
async fn a_stat_returns_all_fields_or_only_the_code() {
    let irods = Irods::new().await;
    irods.write("o", "hello").await;
    let path = irods.path("o");
    let stat = irods.stat("data-objects", &path).await;
    assert_eq!((&stat["type"], &stat["size"]), (&json!("data_object"), &json!(5)));
    assert_eq!(stat["registered"], true);
    assert_eq!(stat["checksum"], "sha2:LPJNul+wow4m6DsqxbninhsWHlwfp0JecwQzYpOLmCQ=");
    assert!(stat["modified_at"].is_i64());
    let owner = json!([{"name": "ada", "perm": "own", "type": "rodsadmin", "zone": "tempZone"}]);
    assert_eq!(stat["permissions"], owner);
    let stat = irods.stat("collections", &irods.home).await;
    assert_eq!(
        (&stat["type"], &stat["inheritance_enabled"]),
        (&json!("collection"), &json!(false))
    );
    for (endpoint, path, expected) in [
        ("data-objects", irods.home.clone(), -171_000),
        ("data-objects", irods.path("none"), -171_000),
        ("collections", path, -170_000),
        ("collections", "/other/home".to_owned(), -170_000),
        ("collections", "relative".to_owned(), -170_000),
    ] {
        let only = json!({"irods_response": {"status_code": expected}});
        assert_eq!(irods.stat(endpoint, &path).await, only, "{path}");
    }
    let relative = irods.get("collections", &[("op", "list"), ("lpath", "x")]).await;
    assert_eq!((relative.status.as_u16(), code(&relative)), (400, -170_000));
}

#[tokio::test]
async fn removed_objects_are_in_the_trash_unless_removed_permanently() {
    let irods = Irods::new().await;
    let remove = async |name: &str, no_trash: &str| {
        let path = irods.path(name);
        let form = [
            ("op", "remove"),
            ("lpath", path.as_str()),
            ("catalog-only", "0"),
            ("no-trash", no_trash),
        ];
        irods.post("data-objects", &form).await
    };
    for _ in 0..2 {
        irods.write("o", "x").await;
        assert_eq!(code(&remove("o", "0").await), 0);
    }
    let trash = "/tempZone/trash/home/ada";
    let kept = irods.list(trash, "1").await;
    assert_eq!(kept.as_array().unwrap().len(), 2);
    assert_eq!(kept[0], format!("{trash}/o"));
    irods.write("o", "x").await;
    assert_eq!(code(&remove("o", "1").await), 0);
    assert_eq!(code(&remove("o", "1").await), -358_000);
    assert_eq!(irods.list(trash, "1").await.as_array().unwrap().len(), 2);
    let path = irods.path("o");
    let form = [("op", "remove"), ("lpath", path.as_str())];
    assert_eq!(irods.post("data-objects", &form).await.status, 400);
    assert_eq!(irods.post("data-objects", &[("op", "remove")]).await.status, 400);
}

#[tokio::test]
async fn resources_with_versions_are_only_removed_into_the_trash() {
    let irods = Irods::new().await;
    irods.write("o", "x").await;
    let path = irods.path("o").strip_prefix("/tempZone").unwrap().to_owned();
    let keep = json!({"path": path, "versioning": "on-request"});
    irods.server.request("PATCH", "/v1/attributes").json(&keep).send().await.expect(200);
    let keep = json!({"path": path, "op": "keep", "label": "paper"});
    irods.server.post("/v1/versions", keep).await.expect(200);
    let remove = async |path: String, no_trash: &str| {
        let form =
            [("op", "remove"), ("lpath", &*path), ("catalog-only", "0"), ("no-trash", no_trash)];
        code(&irods.post("data-objects", &form).await)
    };
    assert_ne!(remove(irods.path("o"), "1").await, 0);
    assert_eq!(remove(irods.path("o"), "0").await, 0);
    assert_eq!(remove("/tempZone/trash/home/ada/o".to_owned(), "1").await, 0);
}

#[tokio::test]
async fn resources_are_renamed_and_copied_with_the_codes_of_irods() {
    let irods = Irods::new().await;
    irods.mkdir("c").await;
    irods.write("o", "x").await;
    let rename = async |endpoint: &str, from: &str, to: &str| {
        let (from, to) = (irods.path(from), irods.path(to));
        let form = [("op", "rename"), ("old-lpath", from.as_str()), ("new-lpath", to.as_str())];
        irods.post(endpoint, &form).await
    };
    assert_eq!(code(&rename("data-objects", "o", "c/p").await), 0);
    assert_eq!(code(&rename("collections", "c", "d").await), 0);
    assert_eq!(irods.read("d/p").await, "x");
    let wrong = rename("data-objects", "d", "e").await;
    assert_eq!((wrong.status.as_u16(), code(&wrong)), (400, -171_000));
    irods.write("o", "y").await;
    let taken = rename("data-objects", "o", "d/p").await;
    assert_eq!((taken.status.as_u16(), code(&taken)), (200, -809_000));
    irods.mkdir("c").await;
    assert_eq!(rename("collections", "c", "d").await.status, 400);
    let copy = async |from: &str, to: &str, overwrite: &str| {
        let (from, to) = (irods.path(from), irods.path(to));
        let form = [
            ("op", "copy"),
            ("src-lpath", from.as_str()),
            ("dst-lpath", to.as_str()),
            ("overwrite", overwrite),
        ];
        code(&irods.post("data-objects", &form).await)
    };
    assert_eq!(copy("o", "p", "0").await, 0);
    assert_eq!(copy("d/p", "p", "0").await, -312_000);
    assert_eq!(copy("d/p", "p", "1").await, 0);
    assert_eq!(irods.read("p").await, "x");
    assert_eq!(copy("o", "c", "1").await, -833_000);
    assert_eq!(copy("c", "q", "0").await, -171_000);
}

#[tokio::test]
async fn times_and_checksums_are_shown_and_set() {
    let irods = Irods::new().await;
    let path = irods.path("o");
    let touch = [("op", "touch"), ("lpath", path.as_str()), ("seconds-since-epoch", "1000")];
    assert_eq!(code(&irods.post("data-objects", &touch).await), 0);
    assert_eq!(irods.stat("data-objects", &path).await["modified_at"], 1000);
    assert_eq!(code(&irods.post("data-objects", &touch).await), 0);
    let home = irods.home.clone();
    let reference = [("op", "touch"), ("lpath", home.as_str()), ("reference", path.as_str())];
    assert_eq!(code(&irods.post("collections", &reference).await), 0);
    assert_eq!(irods.stat("collections", &home).await["modified_at"], 1000);
    let none = irods.path("none");
    assert_eq!(code(&irods.post("collections", &[("op", "touch"), ("lpath", &none)]).await), 0);
    let wrong = irods.post("collections", &[("op", "touch"), ("lpath", &path)]).await;
    assert_eq!((wrong.status.as_u16(), code(&wrong)), (400, -170_000));
    let sum = irods.post("data-objects", &[("op", "calculate_checksum"), ("lpath", &path)]).await;
    let empty = "sha2:47DEQpj8HBSa+/TImW+5JCeuQeRkm5NMpJWZG3hSuFU=";
    assert_eq!(sum.expect(200)["checksum"], empty);
    let sum = irods.post("data-objects", &[("op", "calculate_checksum"), ("lpath", &none)]).await;
    assert_eq!(code(&sum), -808_000);
    let verify = irods.get("data-objects", &[("op", "verify_checksum"), ("lpath", &path)]).await;
    assert_eq!(verify.expect(200)["r_error_info"], json!([]));
    let cut = [("op", "truncate"), ("lpath", path.as_str()), ("size", "3")];
    assert_eq!(code(&irods.post("data-objects", &cut).await), 0);
    assert_eq!(irods.stat("data-objects", &path).await["size"], 3);
    assert_eq!(
        code(
            &irods
                .post("data-objects", &[("op", "truncate"), ("lpath", &none), ("size", "0")])
                .await
        ),
        -358_000
    );
}

#[tokio::test]
async fn a_long_listing_is_returned_in_pages_and_completely() {
    let irods = Irods::new().await;
    let names: Vec<String> = (0..10_500).map(|number| format!("m/\"{number:05}")).collect();
    let entries: Vec<(&str, &[u8])> = names.iter().map(|name| (name.as_str(), &b""[..])).collect();
    let sent = archive(&entries).await;
    let request = irods
        .server
        .request("POST", "/v1/batch?path=/home/ada")
        .header("content-type", "application/x-tar");
    assert_eq!(request.body(sent).send().await.status, 200);
    let many = irods.path("m");
    let expected: Vec<String> = names.iter().map(|name| irods.path(name)).collect();
    assert!(irods.list(&many, "0").await == json!(expected));
    assert!(irods.list(&many, "1").await == json!(expected));
}
