//! Every error that the specification of irods-rest lists, with its number.

use serde_json::json;

use super::{HOME, Rest, USER, refused};

/// Each row is one call, and the number it is refused with.
#[rustfmt::skip] // a row is a line
#[tokio::test]
async fn every_refusal_has_its_number() {
    let rest = Rest::new().await;
    rest.put("o", "0", "true", "hello").await;
    let grace = Rest::log_in(rest.server.clone(), USER).await;
    let mut wrong = Vec::new();
    for (method, what, query, body, code) in [
        ("GET", "list", "logical-path=/tempZone/none", "", -130_000),
        ("GET", "list", "logical-path=/otherZone", "", -130_000),
        ("GET", "list", "", "", -130_000),
        ("GET", "list", "logical-path=~&limit=x", "", -130_000),
        ("GET", "stream", "logical-path=~/o", "", -130_000),
        ("GET", "stream", "logical-path=~/o&count=-1", "", -130_000),
        ("GET", "stream", "logical-path=~/o&count=1&offset=-1", "", -130_000),
        ("GET", "stream", "logical-path=~/none&count=1", "", -130_000),
        ("PUT", "stream", "logical-path=/otherZone/x", "x", -358_000),
        ("PUT", "stream", "logical-path=~/o&offset=x", "x", -130_000),
        ("POST", "logicalpath", "logical-path=~/none/x&collection=1", "", -358_000),
        ("POST", "logicalpath", "logical-path=~/o&collection=1", "", -809_000),
        ("POST", "logicalpath", "collection=1", "", -130_000),
        ("DELETE", "logicalpath", "logical-path=~", "", -402_000),
        ("DELETE", "logicalpath", "logical-path=~/none", "", -358_000),
        ("POST", "logicalpath/rename", "src=~/none&dst=~/x", "", -358_000),
        ("POST", "logicalpath/rename", "src=~/o", "", -130_000),
        ("POST", "logicalpath/replicate", "logical-path=~&dst-resource=demoResc", "", -402_000),
        ("POST", "logicalpath/replicate", "logical-path=~/o", "", -130_000),
        ("POST", "logicalpath/trim", "logical-path=~/none", "", -358_000),
        ("POST", "metadata", "", "no JSON", -130_000),
        ("POST", "metadata", "", r#"{"entity_name":"~/o","entity_type":"dance","operations":[]}"#, -130_000),
        ("POST", "metadata", "", r#"{"entity_name":"none","entity_type":"resource","operations":[]}"#, -78_000),
        ("GET", "query", "query=dance&limit=1&offset=0&type=general", "", -816_000),
        ("GET", "query", "query=select COLL_NAME&limit=1&offset=0&type=dance", "", -130_000),
        ("GET", "query", "query=select COLL_NAME&limit=1&offset=0&type=general&distinct=2", "", -130_000),
        ("GET", "query", "query=none&limit=1&offset=0&type=specific", "", -853_000),
        ("GET", "ticket", "logical-path=~/none&type=read", "", -358_000),
        ("GET", "ticket", "logical-path=~/o&type=dance", "", -130_000),
        ("POST", "admin", "action=dance&target=user", "", -130_000),
    ] {
        let home = |text: &str| text.replace('~', HOME);
        let query = home(query);
        let query: Vec<(&str, &str)> = query.split('&').filter_map(|pair| pair.split_once('=')).collect();
        let answer = rest.send(method, what, &query, &home(body)).await;
        if (answer.status.as_u16(), &answer.json()["error_code"]) != (400, &json!(code)) {
            wrong.push(format!("{method} {what} {query:?}: {} instead of {code}", answer.json()));
        }
    }
    assert!(wrong.is_empty(), "{wrong:#?}");
    refused(&grace.send("GET", "zonereport", &[], "").await, -13_000);
    assert_eq!(rest.send("GET", "get_configuration", &[], "").await.status, 404);
}
