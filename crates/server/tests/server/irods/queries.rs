//! Attributes, and queries for them.

use serde_json::{Value, json};

use super::super::support::USER;
use super::{Irods, code};

#[tokio::test]
async fn attributes_change_together_and_are_found() {
    let irods = Irods::new().await;
    irods.write("o", "x").await;
    let path = irods.path("o");
    let modify = async |operations: Value| {
        let operations = operations.to_string();
        let form = [
            ("op", "modify_metadata"),
            ("lpath", path.as_str()),
            ("operations", operations.as_str()),
        ];
        irods.post("data-objects", &form).await
    };
    let add = |name: &str, value: &str| json!({"operation": "add", "attribute": name, "value": value, "units": "u"});
    let done = modify(json!([add("a", "c+d"), add("b", "2")])).await.expect(200);
    assert_eq!(done, json!({"irods_response": {"failed_operation": {}, "status_code": 0}}));
    let failed = modify(json!([add("c", "1"), {"operation": "dance"}])).await;
    assert_eq!(failed.status, 400);
    assert_eq!(failed.json()["irods_response"]["failed_operation"]["operation_index"], 1);
    assert_eq!(modify(json!({"not": "a list"})).await.status, 400);
    let columns = "select META_DATA_ATTR_NAME, META_DATA_ATTR_VALUE, META_DATA_ATTR_UNITS";
    let shown = irods
        .rows(&format!("{columns} where COLL_NAME = '{}' and DATA_NAME = 'o'", irods.home))
        .await;
    assert_eq!(shown, json!([["a", "c+d", "u"], ["b", "2", "u"]]));
    let both = "select DATA_NAME where META_DATA_ATTR_NAME = 'a' and META_DATA_ATTR_VALUE = 'c+d'
        and META_DATA_ATTR_NAME = 'b' and META_DATA_ATTR_VALUE n> '1'";
    assert_eq!(irods.rows(both).await, json!([["o"]]));
    assert_eq!(irods.rows(&both.replace("n> '1'", "n> '2'")).await, json!([]));
}

#[tokio::test]
async fn the_result_of_a_query_is_sorted_text_without_duplicates() {
    let irods = Irods::new().await;
    for name in ["b", "a", "c"] {
        irods.write(name, name).await;
    }
    irods.mkdir("d").await;
    irods.write("d/a", "12").await;
    let home = &irods.home;
    let names = irods.rows(&format!("select DATA_NAME where COLL_NAME like '{home}%'")).await;
    assert_eq!(names, json!([["a"], ["b"], ["c"]]));
    let sizes = format!("select sum(DATA_SIZE), count(DATA_ID) where COLL_NAME like '{home}%'");
    assert_eq!(irods.rows(&sizes).await, json!([["5", "4"]]));
    let collections =
        irods.rows(&format!("select COLL_NAME where COLL_PARENT_NAME = '{home}'")).await;
    assert_eq!(collections, json!([[irods.path("d")]]));
    assert_eq!(irods.rows("select max(RULE_EXEC_ID)").await, json!([[""]]));
    assert_eq!(irods.rows("select RESC_NAME").await, json!([["demoResc"]]));
    assert_eq!(irods.rows("select COLL_NAME where COLL_NAME = '/x'").await, json!([]));
    let page = [
        ("op", "execute_genquery"),
        ("query", "select DATA_NAME"),
        ("offset", "1"),
        ("count", "1"),
    ];
    assert_eq!(irods.get("query", &page).await.expect(200)["rows"], json!([["b"]]));
    let all = [("op", "execute_genquery"), ("query", "select DATA_NAME"), ("distinct", "0")];
    assert_eq!(irods.get("query", &all).await.expect(200)["rows"].as_array().unwrap().len(), 4);
    let capital = "select DATA_NAME where DATA_NAME = 'B'";
    let any_case = [("op", "execute_genquery"), ("query", capital), ("case-sensitive", "0")];
    assert_eq!(irods.get("query", &any_case).await.expect(200)["rows"], json!([["b"]]));
    let wrong = irods.get("query", &[("op", "execute_genquery"), ("query", "selec")]).await;
    assert_eq!((wrong.status.as_u16(), code(&wrong) < 0), (200, true));
    for (name, value) in [("offset", "x"), ("case-sensitive", "2"), ("distinct", "yes")] {
        let query = [("op", "execute_genquery"), ("query", "select DATA_NAME"), (name, value)];
        assert_eq!(irods.get("query", &query).await.status, 400, "{name}");
    }
}

#[tokio::test]
async fn the_second_language_has_its_own_parser() {
    let irods = Irods::new().await;
    irods.write("o", "x").await;
    let request = async |query: &str, more: &[(&str, &str)]| {
        let mut form = vec![("op", "execute_genquery"), ("parser", "genquery2"), ("query", query)];
        form.extend_from_slice(more);
        irods.get("query", &form).await
    };
    let homes =
        request("select COLL_NAME where COLL_NAME like '%/ada' order by COLL_NAME desc", &[]);
    let expected = json!([["/tempZone/trash/home/ada"], ["/tempZone/home/ada"]]);
    assert_eq!(homes.await.expect(200)["rows"], expected);
    let sql = request("SELECT coll_name LIMIT 2", &[("sql-only", "1")]).await.expect(200);
    assert_eq!(sql["sql"], "select COLL_NAME limit 2");
    let wrong = request("select COLL_NAME where", &[]).await;
    assert_eq!((wrong.status.as_u16(), code(&wrong)), (400, -816_000));
    let form = [("op", "execute_genquery"), ("parser", "genquery3"), ("query", "select COLL_NAME")];
    assert_eq!(irods.get("query", &form).await.status, 400);
}

#[tokio::test]
async fn specific_queries_are_stored_by_administrators_and_run_by_everyone() {
    let ada = Irods::new().await;
    let grace = ada.other(USER).await;
    let sql = "select token_id from R_TOKN_MAIN where token_name = ?";
    let add = [("op", "add_specific_query"), ("name", "token"), ("sql", sql)];
    let remove = [("op", "remove_specific_query"), ("name", "token")];
    let run = async |name: &str, arguments: &str| {
        let form = [("op", "execute_specific_query"), ("name", name), ("args", arguments)];
        grace.get("query", &form).await
    };
    assert_eq!(code(&grace.post("query", &add).await), -13_000);
    assert_eq!(code(&ada.post("query", &add).await), 0);
    assert_eq!(code(&ada.post("query", &add).await), -809_000);
    assert_eq!(run("token", "rodsgroup").await.expect(200)["rows"], json!([["200"]]));
    assert_eq!(code(&run("token", "").await), -806_000);
    assert_eq!(code(&grace.post("query", &remove).await), -13_000);
    let list = grace.get("query", &[("op", "list_specific_queries")]).await.expect(200);
    assert_eq!(list["specific_queries"][1], json!({"name": "token", "sql": sql}));
    assert_eq!(code(&ada.post("query", &remove).await), 0);
    assert_eq!(code(&ada.post("query", &remove).await), -853_000);
    assert_eq!(code(&run("token", "rodsgroup").await), -853_000);
    let bad = [("op", "add_specific_query"), ("name", "x"), ("sql", "drop table R_COLL_MAIN")];
    assert_eq!(code(&ada.post("query", &bad).await), -806_000);
    let own = run("ShowCollAcls", &grace.home).await.expect(200);
    assert_eq!(own["rows"], json!([["grace", "tempZone", "own", "rodsuser"]]));
    assert_eq!(run("ShowCollAcls", &ada.home).await.expect(200)["rows"], json!([]));
}

#[tokio::test]
async fn a_query_beyond_its_limits_is_refused_with_the_code_of_the_protocol() {
    use cenote_server::Irods as Settings;
    for (settings, what) in [
        (Settings { query_rows: 2, ..Settings::default() }, "more than 2 rows"),
        (Settings { query_bytes: 10, ..Settings::default() }, "more than 10 bytes"),
        (Settings { query_seconds: 0, ..Settings::default() }, "takes too long"),
    ] {
        let irods = Irods::with(settings).await;
        for (parser, status) in [("genquery1", 200), ("genquery2", 400)] {
            let form =
                [("op", "execute_genquery"), ("parser", parser), ("query", "select COLL_NAME")];
            let refused = irods.get("query", &form).await;
            assert_eq!((refused.status.as_u16(), code(&refused)), (status, -806_000), "{what}");
            let message = refused.json()["irods_response"]["status_message"].to_string();
            assert!(message.contains(what), "{message}");
        }
    }
}
