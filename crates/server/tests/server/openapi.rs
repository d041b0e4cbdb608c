//! The OpenAPI document of the server, and the conformance of the server.

use std::process::Command;

use cenote_server::{Config, Server};

use crate::support::{ADMIN, TestServer, basic, store};

#[tokio::test]
async fn the_document_describes_every_operation_completely() {
    let server = TestServer::new();
    let document = server.request_as(None, "GET", "/openapi.json").send().await.expect(200);
    assert!(document["openapi"].as_str().unwrap().starts_with("3.1"), "{}", document["openapi"]);
    let paths = document["paths"].as_object().unwrap();
    assert!(paths.contains_key("/v1/fs/{path}") && paths.contains_key("/v1/fs"));
    let mut ids = std::collections::BTreeSet::new();
    for (path, method, operation) in paths.iter().flat_map(|(path, item)| {
        item.as_object().unwrap().iter().map(move |(method, operation)| (path, method, operation))
    }) {
        let at = format!("{method} {path}");
        assert!(operation["summary"].is_string(), "{at} has no summary");
        assert!(operation["responses"]["default"].is_object(), "{at} may fail");
        assert!(ids.insert(operation["operationId"].to_string()), "{at} shares its id");
        assert!(!path.contains('*'), "{at}");
    }
}

/// `scripts/schemathesis` installs the client and runs this.
#[tokio::test(flavor = "multi_thread")]
#[ignore = "scripts/schemathesis runs it"]
#[expect(clippy::disallowed_methods, reason = "another program is waited for")]
async fn every_response_conforms_to_the_document() {
    let config = Config { listen: ([127, 0, 0, 1], 0).into(), ..Config::default() };
    let server = Server::bind(store(), &config).await.unwrap();
    let document = format!("{}/openapi.json", server.url());
    tokio::spawn(server.run(std::future::pending()));
    let program = std::env::var("SCHEMATHESIS").unwrap_or_else(|_| "schemathesis".to_owned());
    let mut client = Command::new(program);
    client.args(["run", &document, "--checks", "all", "--max-examples", "10", "--seed", "1"]);
    // Constraints that a schema cannot express (either a path or an id, a path that begins with `/`) are still
    // enforced. And a completed upload is gone, which that check expects only of `DELETE`.
    let excluded = "positive_data_acceptance,ensure_resource_availability";
    client.args(["--exclude-checks", excluded]);
    // A backup that is held does not end by itself.
    client.args(["--exclude-path", "/v1/backup"]);
    client.env("SCHEMATHESIS_HOOKS", "schemathesis_hooks");
    client.current_dir(concat!(env!("CARGO_MANIFEST_DIR"), "/../../scripts"));
    client.args(["--header", &format!("Authorization: {}", basic(ADMIN))]);
    let status = tokio::task::spawn_blocking(move || client.status()).await.unwrap().unwrap();
    assert!(status.success());
}
