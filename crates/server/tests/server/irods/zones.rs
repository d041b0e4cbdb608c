//! Zones, and their records.

use serde_json::{Value, json};

use super::super::support::USER;
use super::{Irods, code};

async fn info(irods: &Irods, name: &str) -> Value {
    irods.get("zones", &[("op", "stat"), ("name", name)]).await.expect(200)["info"].clone()
}

async fn modify(irods: &Irods, name: &str, property: &str, value: &str) -> i64 {
    let form = [("op", "modify"), ("name", name), ("property", property), ("value", value)];
    code(&irods.post("zones", &form).await)
}

#[tokio::test]
async fn other_zones_are_recorded() {
    let irods = Irods::new().await;
    let add = [("op", "add"), ("name", "other"), ("comment", "far away")];
    assert_eq!(code(&irods.post("zones", &add).await), 0);
    assert_eq!(code(&irods.post("zones", &add).await), -809_000);
    let expected = json!({"comment": "far away", "connection_info": "", "id": 10_001, "name": "other", "type": "remote"});
    assert_eq!(info(&irods, "other").await, expected);
    assert_eq!(modify(&irods, "other", "name", "third").await, 0);
    assert_eq!(modify(&irods, "third", "connection_info", "example.org:1247").await, 0);
    for (value, expected) in
        [("example.org:", -816_000), (":1247", -855_000), (":", -855_000), ("", -816_000)]
    {
        assert_eq!(modify(&irods, "third", "connection_info", value).await, expected, "{value}");
    }
    assert_eq!(info(&irods, "third").await["connection_info"], "example.org:1247");
    assert_eq!(modify(&irods, "other", "comment", "x").await, -816_000);
    assert_eq!(modify(&irods, "third", "name", "tempZone").await, -809_000);
    assert_eq!(modify(&irods, "tempZone", "comment", "home").await, 0);
    assert_eq!(info(&irods, "tempZone").await["comment"], "home");
    assert_eq!(modify(&irods, "tempZone", "name", "x").await, -816_000);
    let form = [("op", "modify"), ("name", "third"), ("property", "colour"), ("value", "x")];
    assert_eq!(irods.post("zones", &form).await.status, 400);
    let zones = irods.rows("select ZONE_NAME, ZONE_TYPE, ZONE_CONNECTION, ZONE_COMMENT").await;
    let third = json!(["third", "remote", "example.org:1247", "far away"]);
    assert_eq!(zones.as_array().unwrap()[1], third);
    assert_eq!(code(&irods.post("zones", &[("op", "remove"), ("name", "third")]).await), 0);
    assert_eq!(info(&irods, "third").await, json!({}));
}

#[tokio::test]
async fn zones_are_for_administrators() {
    let irods = Irods::new().await;
    let grace = irods.other(USER).await;
    for form in [
        &[("op", "add"), ("name", "other")][..],
        &[("op", "remove"), ("name", "tempZone")],
        &[("op", "modify"), ("name", "tempZone"), ("property", "comment"), ("value", "x")],
    ] {
        assert_eq!(code(&grace.post("zones", form).await), -13_000, "{form:?}");
    }
    assert_eq!(code(&grace.get("zones", &[("op", "report")]).await), -13_000);
    let report = irods.get("zones", &[("op", "report")]).await.expect(200);
    assert!(report["zone_report"]["zones"][0]["servers"].is_array());
}
