//! Replicas of one object, and of everything below a collection.

use cenote_server::{Config, router};
use serde_json::json;

use crate::catalog::{Directory, is_shared};
use crate::support::{ADMIN, TestServer};

use super::{HOME, Rest, refused};

#[tokio::test]
async fn replicas_are_created_and_trimmed() {
    let rest = Rest::new().await;
    rest.put("o", "0", "true", "x").await;
    let path = format!("{HOME}/o");
    let request = async |what: &str, parameter: &str, value: &str| {
        let query = [("logical-path", path.as_str()), (parameter, value)];
        rest.send("POST", &format!("logicalpath/{what}"), &query, "").await
    };
    assert_eq!(request("replicate", "dst-resource", "demoResc").await.status, 200);
    refused(&request("replicate", "dst-resource", "none").await, -78_000);
    assert_eq!(request("trim", "replica-number", "0").await.status, 200, "the last one stays");
    assert_eq!(request("trim", "src-resource", "demoResc").await.status, 200);
    refused(&request("trim", "replica-number", "7").await, -164_000);
    let report = rest.send("GET", "zonereport", &[], "").await.expect(200);
    assert!(report["zones"][0]["servers"].is_array());
}

#[tokio::test]
async fn everything_below_a_collection_is_replicated_and_trimmed() {
    // Where several servers may have the store, the one that shows itself runs its jobs, and none does here.
    if is_shared() {
        return;
    }
    let dir = Directory::new();
    let embedded = dir.open();
    let router = router(embedded.store().clone(), &Config::default());
    let rest = Rest::log_in(TestServer { router }, ADMIN).await;
    let vault = format!("h:{}", dir.path().join("b").display());
    let resource = [
        ("action", "add"),
        ("target", "resource"),
        ("arg2", "b"),
        ("arg3", "unixfilesystem"),
        ("arg4", vault.as_str()),
    ];
    rest.send("POST", "admin", &resource, "").await.expect(200);
    for name in ["o", "p"] {
        rest.put(name, "0", "true", "hello").await;
    }
    let request = async |what: &str, more: &[(&str, &str)]| {
        let query = [&[("logical-path", HOME)], more].concat();
        rest.send("POST", &format!("logicalpath/{what}"), &query, "").await
    };
    let replicas = async || {
        let query = [
            ("query", "select DATA_NAME, DATA_REPL_NUM"),
            ("limit", "100"),
            ("offset", "0"),
            ("type", "general"),
        ];
        rest.send("GET", "query", &query, "").await.expect(200)["_embedded"].clone()
    };
    refused(&request("replicate", &[("dst-resource", "b")]).await, -402_000);
    refused(&request("trim", &[("src-resource", "b")]).await, -402_000);
    refused(&request("replicate", &[("dst-resource", "none"), ("recursive", "1")]).await, -78_000);
    assert_eq!(
        request("replicate", &[("dst-resource", "b"), ("recursive", "1")]).await.status,
        200
    );
    let twice = json!([["o", "0"], ["o", "1"], ["p", "0"], ["p", "1"]]);
    assert_eq!(replicas().await, twice, "when it is answered, it is done");
    let keeping = [("recursive", "1"), ("src-resource", "b")];
    assert_eq!(request("trim", &keeping).await.status, 200);
    assert_eq!(replicas().await, twice, "two stay unless fewer are enough");
    let young = [("recursive", "1"), ("minimum-age-in-minutes", "5")];
    refused(&request("trim", &young).await, -402_000);
    let (o, one) = (format!("{HOME}/o"), ("minimum-number-of-remaining-replicas", "1"));
    let trim_o = async |minutes: &str| {
        let query = [("logical-path", o.as_str()), ("minimum-age-in-minutes", minutes), one];
        rest.send("POST", "logicalpath/trim", &query, "").await.expect(200);
    };
    trim_o("5").await;
    assert_eq!(replicas().await, twice, "what is younger stays");
    let one = [keeping[0], keeping[1], one];
    assert_eq!(request("trim", &one).await.status, 200);
    assert_eq!(replicas().await, json!([["o", "0"], ["p", "0"]]));
}
