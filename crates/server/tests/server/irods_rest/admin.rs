//! The actions of `iadmin`.

use serde_json::json;

use super::{Rest, USER, refused};

#[tokio::test]
async fn users_are_created_and_removed() {
    let rest = Rest::new().await;
    let admin = async |rest: &Rest, words: [&str; 5]| {
        let names = ["action", "target", "arg2", "arg3", "arg4"];
        let query: Vec<_> = names.into_iter().zip(words).collect();
        rest.send("POST", "admin", &query, "").await
    };
    assert_eq!(admin(&rest, ["add", "user", "alan", "rodsuser", ""]).await.status, 200);
    let password = ["modify", "user", "alan", "password", "enigma"];
    assert_eq!(admin(&rest, password).await.status, 200);
    let alan = Rest::log_in(rest.server.clone(), ("alan", "enigma")).await;
    refused(&admin(&alan, ["add", "user", "x", "rodsuser", ""]).await, -13_000);
    assert_eq!(admin(&rest, ["remove", "user", "alan", "", ""]).await.status, 200);
    refused(&admin(&rest, ["dance", "user", "alan", "", ""]).await, -130_000);
}

#[tokio::test]
async fn the_actions_of_iadmin_are_supported() {
    let rest = Rest::new().await;
    let admin = async |rest: &Rest, words: &str| {
        let names = ["action", "target", "arg2", "arg3", "arg4", "arg5", "arg6", "arg7"];
        let query: Vec<_> = names.into_iter().zip(words.split(',').map(str::trim)).collect();
        rest.send("POST", "admin", &query, "").await
    };
    let grace = Rest::log_in(rest.server.clone(), USER).await;
    for words in [
        "add, group, lab, ,,,,",
        "add, user, team, rodsgroup,,,,",
        "modify, group, lab, add, grace, tempZone,,",
        "modify, group, lab, remove, grace, tempZone,,",
        "remove, group, lab, ,,,,",
        "rm, user, team, ,,,,",
        "modify, user, grace, type, groupadmin,,,",
        "modify, user, grace, type, rodsuser,,,",
        "add, zone, far, remote, far.org:1247, a comment,,",
        "modify, zone, far, conn, farther.org:1247,,,",
        "modify, zone, far, comment, another,,,",
        "remove, zone, far, ,,,,",
        "add, resource, both, replication, , ctx,,",
        "add, resource, one, passthru, ,,,",
        "modify, resource, both, comment, hello,,,",
        "modify, resource, both, info, hello,,,",
        "modify, resource, both, rebalance, ,,,",
        "modify, rebalance, both, ,,,,",
        "add, childtoresc, both, one, ,,,",
        "remove, childfromresc, both, one, ,,,",
        "remove, resource, one, ,,,,",
        "remove, resource, both, ,,,,",
        "add, specificQuery, select COLL_NAME, all,,,,",
        "remove, specificQuery, all, ,,,,",
        "remove, unusedAVUs, ,,,,,",
    ] {
        refused(&admin(&grace, words).await, -13_000);
        let done = admin(&rest, words).await;
        assert_eq!(done.expect(200), json!({"code": 0, "message": "Success"}), "{words}");
    }
    for (words, code) in [
        ("add, token, data_type, x,,,,", -130_000),
        ("dance, user, grace,,,,,", -130_000),
        ("add, zone, far, local,,,,", -130_000),
        ("add, resource, r, tape, h:/v,,,", -816_000),
        ("remove, resource, none,,,,,", -78_000),
        ("add, childtoresc, none, demoResc,,,,", -78_000),
        ("remove, user, nobody,,,,,", -827_000),
        ("remove, specificQuery, none,,,,,", -853_000),
    ] {
        refused(&admin(&rest, words).await, code);
    }
}
