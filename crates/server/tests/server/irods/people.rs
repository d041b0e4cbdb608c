//! Users, groups, rights and tickets.

use serde_json::json;

use super::super::support::USER;
use super::{Irods, code};

#[tokio::test]
async fn users_see_their_own_and_shared_resources() {
    let ada = Irods::new().await;
    let grace = ada.other(USER).await;
    ada.write("o", "secret").await;
    let path = ada.path("o");
    let read = async || grace.get("data-objects", &[("op", "read"), ("lpath", &path)]).await.status;
    assert_eq!(read().await, 404);
    assert_eq!(grace.stat("data-objects", &path).await["irods_response"]["status_code"], -171_000);
    let form = [
        ("op", "set_permission"),
        ("lpath", path.as_str()),
        ("entity-name", "grace"),
        ("permission", "read"),
    ];
    assert_eq!(code(&ada.post("data-objects", &form).await), 0);
    assert_eq!(read().await, 200);
    let stat = ada.stat("data-objects", &path).await;
    assert_eq!(stat["permissions"][1]["perm"], "read_object");
    let write = [("op", "write"), ("lpath", path.as_str()), ("bytes", "mine")];
    assert_eq!(code(&grace.post("data-objects", &write).await), -818_000);
    let operations = json!([{"entity_name": "grace", "acl": "null"}]).to_string();
    let form =
        [("op", "modify_permissions"), ("lpath", path.as_str()), ("operations", &operations)];
    assert_eq!(code(&ada.post("data-objects", &form).await), 0);
    assert_eq!(read().await, 404);
    let hers = grace.path("o");
    grace.write("o", "x").await;
    let write = [("op", "write"), ("lpath", hers.as_str()), ("bytes", "theirs")];
    assert_eq!(code(&ada.post("data-objects", &write).await), -818_000, "without `admin=1`");
}

/// iRODS has no restricted lines: one is not shown as a permission, and stays when another line of the same user is changed.
#[tokio::test]
async fn a_restricted_line_is_no_permission_and_stays() {
    let ada = Irods::new().await;
    let _grace = ada.other(USER).await;
    ada.write("o", "secret").await;
    let path = ada.path("o");
    let own = path.strip_prefix("/tempZone").unwrap();
    let restricted = json!({"path": own, "operations": [
        {"name": "grace", "level": "own", "only": {"class": "urn:c"}}]});
    ada.server.post("/v1/access", restricted).await.expect(200);
    let shown = async || ada.stat("data-objects", &path).await["permissions"].to_string();
    assert!(!shown().await.contains("grace"));
    for (level, is_shown) in [("read", true), ("null", false)] {
        let form = [
            ("op", "set_permission"),
            ("lpath", path.as_str()),
            ("entity-name", "grace"),
            ("permission", level),
        ];
        assert_eq!(code(&ada.post("data-objects", &form).await), 0);
        assert_eq!(shown().await.contains("grace"), is_shown);
    }
    let list = ada.server.request("GET", &format!("/v1/access?path={own}")).send().await.text();
    assert!(list.contains("urn:c"), "{list}");
    let columns = "select DATA_ACCESS_USER_NAME, DATA_ACCESS_NAME where DATA_NAME = 'o'";
    let rows = ada.rows(columns).await.to_string();
    assert!(!rows.contains("grace"), "{rows}");
}

#[tokio::test]
async fn a_ticket_gives_access_to_its_resource_within_its_limits() {
    let ada = Irods::new().await;
    let grace = ada.other(USER).await;
    ada.write("o", "secret").await;
    let path = ada.path("o");
    let form = [("op", "create"), ("lpath", path.as_str()), ("use-count", "1")];
    let made = ada.post("tickets", &form).await.expect(200);
    let ticket = made["ticket"].as_str().unwrap();
    assert_eq!(ticket.len(), 15);
    let read = async |ticket: &str| {
        let query = [("op", "read"), ("lpath", path.as_str()), ("ticket", ticket)];
        grace.get("data-objects", &query).await
    };
    assert_eq!(read("").await.status, 404);
    assert_eq!(read(ticket).await.body, "secret");
    let used_up = read(ticket).await;
    assert_eq!(used_up.status, 500);
    let message = &used_up.json()["irods_response"]["status_message"];
    assert_eq!(message, "Error enabling ticket on connection.");
    let columns = "select TICKET_STRING, TICKET_TYPE, TICKET_DATA_NAME, TICKET_USES_LIMIT";
    let row = &ada.rows(columns).await[0];
    let id = row[0].as_str().unwrap().to_owned();
    assert_eq!(*row, json!([id, "read", "o", "1"]));
    assert_ne!(id, ticket, "a ticket is not shown again");
    assert_eq!(read(&id).await.status, 500);
    assert_eq!(grace.rows(columns).await, json!([]));
    let remove = [("op", "remove"), ("name", ticket)];
    assert_eq!(code(&ada.post("tickets", &remove).await), 0);
    assert_eq!(code(&ada.post("tickets", &remove).await), -890_000);
    ada.post("tickets", &form).await.expect(200);
    let id = ada.rows(columns).await[0][0].as_str().unwrap().to_owned();
    assert_eq!(code(&ada.post("tickets", &[("op", "remove"), ("name", id.as_str())]).await), 0);
    for (name, value) in [("type", "dance"), ("seconds-until-expiration", "0")] {
        let form = [("op", "create"), ("lpath", path.as_str()), (name, value)];
        assert_eq!(ada.post("tickets", &form).await.status, 400, "{name}");
    }
}

#[tokio::test]
async fn users_and_groups_are_created_queried_and_removed() {
    let ada = Irods::new().await;
    let zone = ("zone", "tempZone");
    let make = [("op", "create_user"), ("name", "alan"), zone];
    assert_eq!(code(&ada.post("users-groups", &make).await), 0);
    let password = [("op", "set_password"), ("name", "alan"), zone, ("new-password", "enigma")];
    assert_eq!(code(&ada.post("users-groups", &password).await), 0);
    let alan = ada.other(("alan", "enigma")).await;
    assert_eq!(alan.stat("collections", &alan.home).await["type"], "collection");
    for form in [&make[..], &password[..]] {
        assert_eq!(code(&alan.post("users-groups", form).await), -13_000);
    }
    let users = alan.get("users-groups", &[("op", "users")]).await.expect(200);
    assert!(
        users["users"].as_array().unwrap().contains(&json!({"name": "alan", "zone": "tempZone"}))
    );
    let groups = alan.get("users-groups", &[("op", "groups")]).await.expect(200);
    assert_eq!(groups["groups"], json!(["public"]));
    assert_eq!(
        code(&ada.post("users-groups", &[("op", "create_group"), ("name", "lab")]).await),
        0
    );
    let join = [("op", "add_to_group"), ("user", "alan"), zone, ("group", "lab")];
    assert_eq!(code(&ada.post("users-groups", &join).await), 0);
    let query = [("op", "is_member_of_group"), ("user", "alan"), zone, ("group", "lab")];
    assert_eq!(ada.get("users-groups", &query).await.expect(200)["is_member"], true);
    let stat = ada.get("users-groups", &[("op", "stat"), ("name", "alan"), zone]).await.expect(200);
    assert_eq!((&stat["exists"], &stat["type"]), (&json!(true), &json!("rodsuser")));
    assert_eq!(stat["local_unique_name"], "alan#tempZone");
    let kind = [("op", "set_user_type"), ("name", "alan"), zone, ("new-user-type", "groupadmin")];
    assert_eq!(code(&ada.post("users-groups", &kind).await), 0);
    let operations = json!([{"operation": "add", "attribute": "a", "value": "v"}]).to_string();
    let describe = [("op", "modify_metadata"), ("name", "alan"), ("operations", &operations)];
    assert_eq!(code(&ada.post("users-groups", &describe).await), 0);
    let found = ada.rows("select USER_NAME where META_USER_ATTR_NAME = 'a'").await;
    assert_eq!(found, json!([["alan"]]));
    alan.write("o", "x").await;
    let remove = [("op", "remove_user"), ("name", "alan"), zone];
    assert_eq!(code(&ada.post("users-groups", &remove).await), -821_000, "the home is not empty");
    let path = alan.path("o");
    let form =
        [("op", "remove"), ("lpath", path.as_str()), ("catalog-only", "0"), ("no-trash", "1")];
    assert_eq!(code(&alan.post("data-objects", &form).await), 0);
    assert_eq!(code(&ada.post("users-groups", &remove).await), 0);
    assert_eq!(
        ada.stat("collections", &alan.home).await["irods_response"]["status_code"],
        -170_000
    );
    let gone = alan.get("users-groups", &[("op", "users")]).await;
    assert_eq!(gone.status, 401);
}
