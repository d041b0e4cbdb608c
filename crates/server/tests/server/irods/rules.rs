//! Rules: the few that are supported.

use serde_json::{Value, json};

use super::super::support::USER;
use super::{Irods, code};

async fn execute(irods: &Irods, text: &str) -> Value {
    irods.post("rules", &[("op", "execute"), ("rule-text", text)]).await.expect(200)
}

#[tokio::test]
async fn the_output_of_writeline_is_returned_to_the_caller() {
    let irods = Irods::new().await;
    let engines = irods.get("rules", &[("op", "list_rule_engines")]).await.expect(200);
    let engine = engines["rule_engine_plugin_instances"][0].as_str().unwrap();
    assert_eq!(engine, "irods_rule_engine_plugin-irods_rule_language-instance");
    let written = execute(&irods, r#"writeLine("stdout", "hello")"#).await;
    assert_eq!((&written["stdout"], &written["stderr"]), (&json!("hello\n"), &Value::Null));
    let both = execute(&irods, r#"writeLine("stderr", "a"); writeLine("stderr", "b");"#).await;
    assert_eq!((&both["stdout"], &both["stderr"]), (&Value::Null, &json!("a\nb\n")));
    let unknown = execute(&irods, "hh").await;
    assert_eq!(unknown["irods_response"]["status_code"], -1_102_000);
    assert_eq!((&unknown["stdout"], &unknown["stderr"]), (&Value::Null, &Value::Null));
    let form =
        [("op", "execute"), ("rule-text", r#"writeLine("stdout", "x")"#), ("rep-instance", "none")];
    assert_eq!(code(&irods.post("rules", &form).await), -816_000);
    assert_eq!(irods.post("rules", &[("op", "execute")]).await.status, 400);
}

#[tokio::test]
async fn a_delayed_rule_waits_until_it_is_removed() {
    let irods = Irods::new().await;
    let delay = r#"delay("<PLUSET>1h</PLUSET>") { writeLine("serverLog", "later"); }"#;
    let grace = irods.other(USER).await;
    assert_eq!(execute(&irods, delay).await["irods_response"]["status_code"], 0);
    assert_eq!(execute(&grace, delay).await["irods_response"]["status_code"], 0);
    let rules = irods.rows("select RULE_EXEC_ID, RULE_EXEC_USER_NAME, RULE_EXEC_NAME").await;
    let rules = rules.as_array().unwrap();
    assert_eq!((rules.len(), &rules[0][1], &rules[1][1]), (2, &json!("ada"), &json!("grace")));
    assert_eq!(rules[0][2], r#" writeLine("serverLog", "later"); "#);
    assert_eq!(irods.rows("select max(RULE_EXEC_ID)").await, json!([[rules[1][0]]]));
    let remove = async |who: &Irods, id: &str| {
        who.post("rules", &[("op", "remove_delay_rule"), ("rule-id", id)]).await
    };
    let (first, second) = (rules[0][0].as_str().unwrap(), rules[1][0].as_str().unwrap());
    assert_eq!(code(&remove(&grace, first).await), -818_000);
    assert_eq!(code(&remove(&grace, second).await), 0);
    assert_eq!(code(&remove(&irods, first).await), 0);
    assert_eq!(code(&remove(&irods, first).await), -808_000);
    assert_eq!(remove(&irods, "x").await.status, 400);
    assert_eq!(irods.rows("select RULE_EXEC_ID").await, json!([]));
}
