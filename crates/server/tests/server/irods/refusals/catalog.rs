//! Refusals of queries, resources, zones, rules, tickets and users; and of operations in several
//! parts.

use serde_json::Value;

use super::How::{Coded, Plain};
use super::Who::{Ada, Grace};
use super::{HOME, World, code, hold};

#[rustfmt::skip] // a row is a line
#[tokio::test]
async fn of_queries() {
    hold(&[
        ("no query", Ada, "GET query", "op=execute_genquery", Plain(400)),
        ("no such parser", Ada, "GET query", "op=execute_genquery&query=select COLL_NAME&parser=sql", Plain(400)),
        ("offset by a word", Ada, "GET query", "op=execute_genquery&query=select COLL_NAME&offset=x", Plain(400)),
        ("count by a word", Ada, "GET query", "op=execute_genquery&query=select COLL_NAME&count=x", Plain(400)),
        ("half distinct", Ada, "GET query", "op=execute_genquery&query=select COLL_NAME&distinct=2", Plain(400)),
        ("half case-sensitive", Ada, "GET query", "op=execute_genquery&query=select COLL_NAME&case-sensitive=x", Plain(400)),
        ("no such specific query", Ada, "GET query", "op=execute_specific_query&name=none", Coded(200, -853_000)),
        ("add as a user", Grace, "query", "op=add_specific_query&name=q&sql=select COLL_NAME", Coded(200, -13_000)),
        ("add what is no query", Ada, "query", "op=add_specific_query&name=q&sql=dance", Coded(200, -806_000)),
        ("remove as a user", Grace, "query", "op=remove_specific_query&name=q", Coded(200, -13_000)),
        ("remove no such query", Ada, "query", "op=remove_specific_query&name=q", Coded(200, -853_000)),
        ("columns", Ada, "GET query", "op=list_genquery_columns", Plain(501)),
    ])
    .await;
}

#[rustfmt::skip] // a row is a line
#[tokio::test]
async fn of_resources_and_zones() {
    hold(&[
        ("create as a user", Grace, "resources", "op=create&name=r&type=passthru", Coded(200, -13_000)),
        ("create no such kind", Ada, "resources", "op=create&name=r&type=tape", Coded(200, -816_000)),
        ("create what is there", Ada, "resources", "op=create&name=demoResc&type=passthru", Coded(200, -809_000)),
        ("create what", Ada, "resources", "op=create&type=passthru", Plain(400)),
        ("remove no such resource", Ada, "resources", "op=remove&name=none", Coded(200, -78_000)),
        ("neither up nor down", Ada, "resources", "op=modify&name=demoResc&property=status&value=x", Coded(400, -816_000)),
        ("no such property", Ada, "resources", "op=modify&name=demoResc&property=x&value=x", Coded(400, -816_000)),
        ("modify no such resource", Ada, "resources", "op=modify&name=none&property=comments&value=x", Coded(400, -78_000)),
        ("a child of nothing", Ada, "resources", "op=add_child&parent-name=none&child-name=demoResc", Coded(200, -78_000)),
        ("rebalance nothing", Ada, "resources", "op=rebalance&name=none", Coded(200, -78_000)),
        ("metadata of nothing", Ada, "resources", "op=modify_metadata&name=none&operations=[]", Coded(200, -78_000)),
        ("a zone as a user", Grace, "zones", "op=add&name=z", Coded(200, -13_000)),
        ("remove a zone as a user", Grace, "zones", "op=remove&name=z", Coded(200, -13_000)),
        ("modify a zone as a user", Grace, "zones", "op=modify&name=tempZone&property=comment&value=x", Coded(200, -13_000)),
        ("our own zone again", Ada, "zones", "op=add&name=tempZone", Coded(200, -809_000)),
        ("no such zone", Ada, "zones", "op=remove&name=z", Coded(200, -816_000)),
        ("no such property", Ada, "zones", "op=modify&name=tempZone&property=x&value=x", Plain(400)),
        ("no host", Ada, "zones", "op=modify&name=z&property=connection_info&value=:1247", Coded(200, -855_000)),
        ("no port", Ada, "zones", "op=modify&name=z&property=connection_info&value=host", Coded(200, -816_000)),
    ])
    .await;
}

#[rustfmt::skip] // a row is a line
#[tokio::test]
async fn of_rules_tickets_and_people() {
    hold(&[
        ("no rule that is known", Ada, "rules", "op=execute&rule-text=hh", Coded(200, -1_102_000)),
        ("no rule", Ada, "rules", "op=execute", Plain(400)),
        ("no such delayed rule", Ada, "rules", "op=remove_delay_rule&rule-id=7", Coded(200, -808_000)),
        ("a ticket to dance", Ada, "tickets", "op=create&lpath=~/o&type=dance", Plain(400)),
        ("a ticket that is over", Ada, "tickets", "op=create&lpath=~/o&type=read&seconds-until-expiration=0", Plain(400)),
        ("a ticket for what", Ada, "tickets", "op=create&type=read", Plain(400)),
        ("no such ticket", Ada, "tickets", "op=remove&name=none", Coded(200, -890_000)),
        ("list tickets", Ada, "GET tickets", "op=list", Plain(501)),
        ("stat of a ticket", Ada, "GET tickets", "op=stat&name=none", Plain(501)),
        ("no such kind of user", Ada, "users-groups", "op=create_user&name=x&zone=tempZone&user-type=dancer", Plain(400)),
        ("create as a user", Grace, "users-groups", "op=create_user&name=x&zone=tempZone", Coded(200, -13_000)),
        ("create who is there", Ada, "users-groups", "op=create_user&name=grace&zone=tempZone", Coded(200, -809_000)),
        ("create whom", Ada, "users-groups", "op=create_user&zone=tempZone", Plain(400)),
        ("remove nobody", Ada, "users-groups", "op=remove_user&name=nobody&zone=tempZone", Coded(200, -827_000)),
        ("a password as a user", Grace, "users-groups", "op=set_password&name=grace&zone=tempZone&new-password=x", Coded(200, -13_000)),
        ("a role as a user", Grace, "users-groups", "op=set_user_type&name=grace&zone=tempZone&new-user-type=rodsadmin", Coded(200, -13_000)),
        ("no such role", Ada, "users-groups", "op=set_user_type&name=grace&zone=tempZone&new-user-type=x", Plain(400)),
        ("a group as a user", Grace, "users-groups", "op=create_group&name=g", Coded(200, -13_000)),
        ("into no group", Ada, "users-groups", "op=add_to_group&user=grace&zone=tempZone&group=none", Coded(200, -827_000)),
        ("members", Ada, "GET users-groups", "op=members&group=public", Plain(501)),
        ("a way to log in", Ada, "users-groups", "op=add_user_auth&name=grace", Plain(501)),
    ])
    .await;
}

#[rustfmt::skip] // a row is a line
#[tokio::test]
async fn of_operations_in_several_parts() {
    let world = World::new().await;
    for (endpoint, path, form, number) in [
        ("collections", "c", r#"op=modify_permissions&operations=[{"entity_name":"grace","acl":"read"},{"entity_name":"nobody","acl":"read"}]"#, -827_000),
        ("data-objects", "o", r#"op=modify_permissions&operations=[{"entity_name":"grace","acl":"dance"}]"#, -130_000),
        ("collections", "c", r#"op=modify_metadata&operations=[{"operation":"add","attribute":"a","value":"v"},{"operation":"dance","attribute":"a","value":"v"}]"#, -130_000),
        ("data-objects", "o", r#"op=modify_metadata&operations=[{"operation":"add","attribute":"","value":"v"}]"#, -130_000),
    ] {
        let answer = world.send(Ada, endpoint, &format!("{form}&lpath={HOME}/{path}")).await;
        assert_eq!((answer.status.as_u16(), code(&answer)), (400, number), "{form}: {answer:?}");
        let failed = &answer.json()["irods_response"]["failed_operation"];
        assert!(failed["operation"].is_object() && failed["operation_index"].is_u64(), "{failed}");
        assert!(failed["error_message"].is_string(), "{failed}");
    }
    let metadata = world.ada.rows("select META_COLL_ATTR_NAME").await;
    assert_eq!(metadata, Value::Array(Vec::new()), "none of the parts was done");
}
