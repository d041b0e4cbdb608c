//! The truth table of credentials over HTTP: every operation on accounts, tokens, groups, places and the store, through
//! the native opening, the iRODS openings and the DNAnexus opening, with every kind of credential. The store has the
//! same table (`crates/store/tests/it/credentials.rs`); here it is verified that an opening passes on how its caller
//! was authenticated.

mod dnanexus;

use cenote_server::{Config, LocalCaller, router};
use cenote_store::{
    AccessChange, Caller, CreateOptions, Draft, NewTicket, NewToken, NewUser, Rights, Role, Scope,
    Store, StorePath,
};
use percent_encoding::{NON_ALPHANUMERIC, utf8_percent_encode};
use serde_json::{Value, json};

use crate::support::{ADMIN, Answer, TestRequest, TestServer, USER, basic, store};

/// An account that may manage users and groups.
const GROUPADMIN: (&str, &str) = ("gert", "group administrator");

/// An account, how its user is authenticated, and the permitted operations.
type Row = (Option<(&'static str, &'static str)>, &'static str, &'static str);

/// Every credential, and what it permits: changing the own `p`assword, managing the own `t`okens, `d`eferring work,
/// operations of a `g`roupadmin, operations of an `a`dministrator.
const TABLE: [Row; 24] = [
    (None, "nothing", ""),
    (None, "ticket", ""),
    (None, "irods", ""),
    (Some(USER), "password", "ptd"),
    (Some(USER), "directory", "ptd"),
    (Some(USER), "login", "d"),
    (Some(USER), "token", "d"),
    (Some(USER), "read", ""),
    (Some(USER), "within", ""),
    (Some(USER), "tokens", "td"),
    (Some(USER), "account", "pd"),
    (Some(USER), "admin", "d"),
    (Some(GROUPADMIN), "password", "ptgd"),
    (Some(GROUPADMIN), "token", "d"),
    (Some(GROUPADMIN), "admin", "gd"),
    (Some(ADMIN), "password", "ptgad"),
    (Some(ADMIN), "directory", "ptgad"),
    (Some(ADMIN), "login", "pgad"),
    (Some(ADMIN), "token", "d"),
    (Some(ADMIN), "read", ""),
    (Some(ADMIN), "within", ""),
    (Some(ADMIN), "tokens", "td"),
    (Some(ADMIN), "account", "pd"),
    (Some(ADMIN), "admin", "pgad"),
];

/// A credential as presented with each request.
enum Shown {
    Header(&'static str, String),
    Directory(LocalCaller),
    Nothing,
}

impl Shown {
    fn with<'a>(&self, request: TestRequest<'a>) -> TestRequest<'a> {
        match self {
            Self::Header(name, value) => request.header(name, value),
            Self::Directory(caller) => request.extension(caller.clone()),
            Self::Nothing => request,
        }
    }
}

/// A server with the accounts of the table, and a collection owned by all of them.
struct Accounts {
    server: TestServer,
    store: Store,
}

impl Accounts {
    fn new() -> Self {
        let store = store();
        let admin = caller(&store, ADMIN.0);
        let (name, password) = (GROUPADMIN.0.to_owned(), Some(GROUPADMIN.1.to_owned()));
        store.add_user(&admin, &NewUser { name, password, role: Role::GroupAdmin }).unwrap();
        store.create(&admin, &lab(), Draft::Collection, CreateOptions::default()).unwrap();
        let grant = [AccessChange::Grant("public".into(), Rights::OWN.into(), Scope::Subtree)];
        store.change_access(&admin, &lab().into(), &grant).unwrap();
        Self { server: TestServer { router: router(store.clone(), &Config::default()) }, store }
    }

    fn token(&self, account: &str, new: &NewToken) -> (String, u64) {
        let (secret, made) = self.store.add_token(&caller(&self.store, account), new).unwrap();
        (secret, made.id)
    }

    /// The credentials that an account presents.
    async fn shown(&self, account: Option<(&str, &str)>, credential: &str) -> Shown {
        let Some(account) = account else { return self.shown_without_account(credential) };
        let mut new = new_token(credential);
        match credential {
            "password" => return Shown::Header("authorization", basic(account)),
            "directory" => {
                return Shown::Directory(LocalCaller::named(&self.store, account.0).unwrap());
            }
            "login" => {
                let uri = "/irods-http-api/0.7.0/authenticate";
                let answer = self.server.request_as(Some(account), "POST", uri).send().await;
                return bearer(std::str::from_utf8(&answer.body).unwrap());
            }
            "token" => {}
            "read" => new.rights = Rights::READ_OBJECT,
            "within" => new.within = Some(lab().into()),
            scope => new.scopes = vec![scope.parse().unwrap()],
        }
        bearer(&self.token(account.0, &new).0)
    }

    fn shown_without_account(&self, credential: &str) -> Shown {
        match credential {
            "nothing" => Shown::Nothing,
            "irods" => bearer("anonymous"),
            _ => {
                let new = NewTicket { rights: Rights::MODIFY_OBJECT, ..NewTicket::default() };
                let admin = caller(&self.store, ADMIN.0);
                let (ticket, _) = self.store.add_ticket(&admin, &lab().into(), &new).unwrap();
                Shown::Header("cenote-ticket", ticket)
            }
        }
    }
}

fn lab() -> StorePath {
    "/lab".parse().unwrap()
}

fn caller(store: &Store, name: &str) -> Caller {
    store.caller_for(store.person_named(name).unwrap().0).unwrap()
}

fn bearer(token: &str) -> Shown {
    Shown::Header("authorization", format!("Bearer {token}"))
}

fn new_token(label: &str) -> NewToken {
    NewToken { label: label.to_owned(), rights: Rights::OWN, ..NewToken::default() }
}

/// A request of the native opening whose change is not governed by an access list.
struct Operation {
    needs: char,
    /// The preparation, done by the administrator.
    before: Vec<(&'static str, &'static str, Value)>,
    method: &'static str,
    uri: String,
    body: Value,
}

fn operation(needs: char, method: &'static str, uri: &str, body: Value) -> Operation {
    Operation { needs, before: Vec::new(), method, uri: uri.to_owned(), body }
}

impl Operation {
    fn after(mut self, method: &'static str, uri: &'static str, body: Value) -> Self {
        self.before.push((method, uri, body));
        self
    }
}

/// All such requests; `account` is the caller's, and `token` one of its tokens. The password is last, since changing it
/// ends logins.
fn native(account: &str, token: u64) -> Vec<Operation> {
    let user = |name: &str| json!({"name": name});
    let place = |name: &str| json!({"name": name});
    vec![
        operation('t', "GET", "/v1/tokens", Value::Null),
        operation('t', "POST", "/v1/tokens", json!({"label": "x", "level": "null"})),
        operation('t', "DELETE", &format!("/v1/tokens?id={token}"), Value::Null),
        operation('g', "POST", "/v1/users", user("new")),
        operation('a', "POST", "/v1/users", json!({"name": "new2", "role": "groupadmin"})),
        operation('a', "POST", "/v1/users", json!({"name": "new3", "role": "admin"})),
        operation('a', "PATCH", "/v1/users", json!({"name": "u1", "role": "admin"})).after(
            "POST",
            "/v1/users",
            user("u1"),
        ),
        operation('a', "PATCH", "/v1/users", json!({"name": "u2", "password": "x"})).after(
            "POST",
            "/v1/users",
            user("u2"),
        ),
        operation('a', "DELETE", "/v1/users?name=u3", Value::Null).after(
            "POST",
            "/v1/users",
            user("u3"),
        ),
        operation('g', "POST", "/v1/groups", user("g1")),
        operation('g', "PATCH", "/v1/groups", json!({"name": "g2", "add": [USER.0]})).after(
            "POST",
            "/v1/groups",
            user("g2"),
        ),
        operation('a', "DELETE", "/v1/groups?name=g3", Value::Null).after(
            "POST",
            "/v1/groups",
            user("g3"),
        ),
        operation('a', "POST", "/v1/places", place("p1")),
        operation('a', "PATCH", "/v1/places", json!({"name": "p2", "state": "down"})).after(
            "POST",
            "/v1/places",
            place("p2"),
        ),
        operation('a', "DELETE", "/v1/places?name=p3", Value::Null).after(
            "POST",
            "/v1/places",
            place("p3"),
        ),
        operation('a', "PUT", "/v1/quotas", json!({"user": USER.0, "hard": {"bytes": 1_000_000}})),
        operation('a', "DELETE", &format!("/v1/quotas?user={}", USER.0), Value::Null).after(
            "PUT",
            "/v1/quotas",
            json!({"user": USER.0, "soft": {"resources": 1_000_000}}),
        ),
        operation('a', "POST", "/v1/check", json!({"repair": true})),
        operation('a', "GET", "/v1/backup", Value::Null),
        operation('a', "GET", "/v1/scrub", Value::Null),
        operation('a', "POST", "/v1/scrub", json!({})),
        operation('a', "POST", "/v1/upgrade", json!({})),
        operation('p', "PATCH", "/v1/users", json!({"name": account, "password": "another"})),
    ]
}

/// Operations that cannot succeed in a store in memory: permitted callers are refused for another reason than their
/// credential.
fn native_in_vain() -> Vec<Operation> {
    let file = json!({"path": "/lab/x", "place": "main", "file": "/nowhere", "size": 1});
    vec![
        operation('a', "POST", "/v1/drain", json!({"name": "p4"})).after(
            "POST",
            "/v1/places",
            json!({"name": "p4"}),
        ),
        operation('a', "POST", "/v1/register", file),
        operation('a', "GET", "/v1/backup/blobs/{blob}", Value::Null),
    ]
}

#[tokio::test]
async fn each_credential_permits_the_operations_in_its_row_through_the_native_opening() {
    for (account, credential, permitted) in TABLE {
        let accounts = Accounts::new();
        let server = &accounts.server;
        let name = account.map_or("anonymous", |(name, _)| name);
        let token = account.map_or(1, |_| accounts.token(name, &new_token("to be revoked")).1);
        let (admin, shown) = (
            accounts.shown(Some(ADMIN), "directory").await,
            accounts.shown(account, credential).await,
        );
        let in_vain = native_in_vain().into_iter().map(|operation| (operation, true));
        let native = native(name, token).into_iter().map(|operation| (operation, false));
        for (operation, in_vain) in in_vain.chain(native) {
            for (method, uri, body) in &operation.before {
                let before =
                    admin.with(server.request_as(None, method, uri).json(body)).send().await;
                assert!(before.status.is_success(), "{before:?}");
            }
            let request = server.request_as(None, operation.method, &operation.uri);
            let request =
                if operation.body.is_null() { request } else { request.json(&operation.body) };
            let answer = shown.with(request).send().await;
            let row = format!("{} {} by {name}, {credential}", operation.method, operation.uri);
            let refused = [401, 403].contains(&answer.status.as_u16());
            match permitted.contains(operation.needs) {
                true if in_vain => assert!(!is_refused_for_role(&answer), "{row}: {answer:?}"),
                true => assert!(answer.status.is_success(), "{row}: {answer:?}"),
                false => assert!(refused, "{row}: {answer:?}"),
            }
        }
    }
}

fn is_refused_for_role(answer: &Answer) -> bool {
    let detail = answer.json()["detail"].as_str().unwrap_or_default().to_owned();
    detail.contains("role") || detail.contains("this token")
}

/// Read-only operations of these families.
const TELLING: [&str; 6] = [
    "get /v1/whoami",
    "get /v1/users",
    "get /v1/groups",
    "get /v1/places",
    "get /v1/jobs/{id}",
    "get /v1/stats",
];
/// Operations of these families governed by access lists.
const RESOURCES: [&str; 3] = ["get /v1/replicas", "post /v1/replicas", "post /v1/trim"];

#[tokio::test]
async fn every_operation_of_the_native_opening_is_in_the_table() {
    let server = TestServer::new();
    let document = server.request_as(None, "GET", "/openapi.json").send().await.expect(200);
    let [some, more] = [native("x", 1), native_in_vain()];
    let route = |operation: &Operation| {
        let path = operation.uri.split('?').next().unwrap();
        format!("{} {path}", operation.method.to_lowercase())
    };
    let known: Vec<String> = some.iter().chain(&more).map(route).collect();
    for (path, item) in document["paths"].as_object().unwrap() {
        for (method, operation) in item.as_object().unwrap() {
            let concerns = ["people", "places", "status"].iter();
            let route = format!("{method} {path}");
            let is_known = known.contains(&route)
                || TELLING.contains(&route.as_str())
                || RESOURCES.contains(&route.as_str());
            let mut concerned = concerns.filter(|tag| operation["tags"][0] == **tag);
            assert!(concerned.next().is_none() || is_known, "{route} is in no table");
        }
    }
}

/// A change through the iRODS opening: the permission it requires, the endpoint, and its parameters.
type Change = (char, &'static str, &'static [(&'static str, &'static str)]);

const ZONE: (&str, &str) = ("zone", "tempZone");

/// In an order in which each finds the resources it needs, if those before it were permitted.
const IRODS: [Change; 21] = [
    ('g', "users-groups", &[("op", "create_user"), ("name", "alan"), ZONE]),
    (
        'a',
        "users-groups",
        &[("op", "create_user"), ("name", "root"), ZONE, ("user-type", "rodsadmin")],
    ),
    ('g', "users-groups", &[("op", "create_group"), ("name", "crew")]),
    ('g', "users-groups", &[("op", "add_to_group"), ("user", "grace"), ZONE, ("group", "crew")]),
    (
        'g',
        "users-groups",
        &[("op", "remove_from_group"), ("user", "grace"), ZONE, ("group", "crew")],
    ),
    (
        'a',
        "users-groups",
        &[("op", "set_password"), ("name", "alan"), ZONE, ("new-password", "enigma")],
    ),
    (
        'a',
        "users-groups",
        &[("op", "set_user_type"), ("name", "alan"), ZONE, ("new-user-type", "groupadmin")],
    ),
    (
        'a',
        "users-groups",
        &[
            ("op", "modify_metadata"),
            ("name", "grace"),
            ("operations", r#"[{"operation":"add","attribute":"a","value":"v"}]"#),
        ],
    ),
    ('a', "users-groups", &[("op", "remove_user"), ("name", "alan"), ZONE]),
    ('a', "users-groups", &[("op", "remove_group"), ("name", "crew")]),
    ('a', "zones", &[("op", "add"), ("name", "far"), ("connection-info", "far.org:1247")]),
    ('a', "zones", &[("op", "modify"), ("name", "far"), ("property", "comment"), ("value", "x")]),
    ('a', "zones", &[("op", "remove"), ("name", "far")]),
    ('a', "resources", &[("op", "create"), ("name", "both"), ("type", "replication")]),
    (
        'a',
        "resources",
        &[("op", "modify"), ("name", "both"), ("property", "comments"), ("value", "x")],
    ),
    ('a', "resources", &[("op", "rebalance"), ("name", "both")]),
    ('a', "resources", &[("op", "remove"), ("name", "both")]),
    ('a', "query", &[("op", "add_specific_query"), ("name", "all"), ("sql", "select COLL_NAME")]),
    ('a', "query", &[("op", "remove_specific_query"), ("name", "all")]),
    (
        'd',
        "rules",
        &[
            ("op", "execute"),
            ("rule-text", r#"delay("<PLUSET>1h</PLUSET>") { writeLine("serverLog", "later"); }"#),
        ],
    ),
    (
        'a',
        "users-groups",
        &[("op", "set_password"), ("name", "grace"), ZONE, ("new-password", "nanoseconds")],
    ),
];

fn encode(parameters: &[(&str, &str)]) -> String {
    let pair = |(name, value): &(&str, &str)| {
        format!("{name}={}", utf8_percent_encode(value, NON_ALPHANUMERIC))
    };
    parameters.iter().map(pair).collect::<Vec<_>>().join("&")
}

/// The actions of `iadmin`, and the permissions they require.
const WORDS: [(char, [&str; 4]); 3] = [
    ('g', ["add", "user", "kurt", "rodsuser"]),
    ('a', ["add", "user", "emmy", "rodsadmin"]),
    ('a', ["modify", "user", "kurt", "type"]),
];

#[tokio::test]
async fn each_credential_permits_the_operations_in_its_row_through_the_irods_openings() {
    for (account, credential, permitted) in TABLE {
        let accounts = Accounts::new();
        let server = &accounts.server;
        // These openings only accept tokens.
        let Shown::Header("authorization", shown) = accounts.shown(account, credential).await
        else {
            continue;
        };
        if credential == "password" {
            continue;
        }
        let (admin, _) = accounts.token(ADMIN.0, &scoped_to_administer());
        for (needs, endpoint, parameters) in IRODS {
            let request = async |token: &str| {
                let uri = format!("/irods-http-api/0.7.0/{endpoint}");
                let request = server.request_as(None, "POST", &uri).header("authorization", token);
                let form = request.header("content-type", "application/x-www-form-urlencoded");
                let answer = form.body(encode(parameters)).send().await.json();
                answer["irods_response"]["status_code"].as_i64().unwrap()
            };
            let (code, row) = (request(&shown).await, format!("{parameters:?} by {account:?}"));
            match permitted.contains(needs) {
                true => assert_eq!(code, 0, "{row}, {credential}"),
                false => {
                    assert!([-13_000, -818_000].contains(&code), "{row}, {credential}: {code}");
                    assert_eq!(request(&format!("Bearer {admin}")).await, 0, "{row}");
                }
            }
        }
        // A password was set, which ended the logins of one account.
        let Shown::Header(_, shown) = accounts.shown(account, credential).await else { continue };
        for (needs, words) in WORDS {
            let names = ["action", "target", "arg2", "arg3"];
            let mut query: Vec<_> = names.into_iter().zip(words).collect();
            query.push(("arg4", "rodsuser"));
            let request = async |token: &str| {
                let uri = format!("/irods-rest/0.9.3/admin?{}", encode(&query));
                server.request_as(None, "POST", &uri).header("authorization", token).send().await
            };
            let (answer, row) = (request(&shown).await, format!("{words:?} by {account:?}"));
            match permitted.contains(needs) {
                true => assert_eq!(answer.status, 200, "{row}, {credential}: {answer:?}"),
                false => {
                    assert_eq!(answer.expect(400)["error_code"], -13_000, "{row}, {credential}");
                    assert_eq!(request(&format!("Bearer {admin}")).await.status, 200, "{row}");
                }
            }
        }
    }
}

fn scoped_to_administer() -> NewToken {
    NewToken { scopes: vec!["admin".parse().unwrap()], ..new_token("administers") }
}

#[tokio::test]
async fn a_read_token_of_an_administrator_reads_and_changes_nothing() {
    let accounts = Accounts::new();
    let server = &accounts.server;
    server.put("/lab/x", "x").await.expect(201);
    let shown = accounts.shown(Some(ADMIN), "read").await;
    let path = json!({"path": "/lab/x"});
    let of = |extra: Value| {
        let mut body = path.clone();
        body.as_object_mut().unwrap().extend(extra.as_object().unwrap().clone());
        body
    };
    let whole = |answer: Answer| (answer.status, answer.body);
    let now = async || {
        let uris =
            ["/v1/fs/lab/x", "/v1/stat?path=/lab/x", "/v1/walk?path=/", "/v1/tickets", "/v1/trash"];
        let mut seen = Vec::new();
        for uri in uris {
            seen.push(whole(server.request("GET", uri).send().await));
        }
        seen
    };
    let ticket = server.post("/v1/tickets", path.clone()).await.expect(201);
    let ticket = format!("/v1/tickets?ticket={}", ticket["ticket"].as_str().unwrap());
    let [restored, emptied] = trashed(server).await;
    let before = now().await;
    let changes = [
        (
            "POST",
            "/v1/meta",
            of(json!({"operations": [{"op": "add", "attribute": "a", "value": "v"}]})),
        ),
        ("PATCH", "/v1/attributes", of(json!({"versioning": "on-request"}))),
        ("POST", "/v1/versions", of(json!({"op": "keep"}))),
        ("POST", "/v1/access", of(json!({"operations": [{"name": USER.0, "level": "own"}]}))),
        ("POST", "/v1/tickets", path.clone()),
        ("DELETE", &ticket, Value::Null),
        ("POST", "/v1/uploads", json!({"path": "/lab/z"})),
        ("POST", "/v1/replicas", json!({"path": "/lab", "place": "main", "recursive": true})),
        ("POST", "/v1/trim", json!({"path": "/lab", "place": "main", "recursive": true})),
        ("PUT", "/v1/fs/lab/x", json!("y")),
        ("PATCH", "/v1/fs/lab/x?offset=0", json!("y")),
        ("PUT", "/v1/xattr?path=/lab/x&name=n", json!("v")),
        ("DELETE", "/v1/xattr?path=/lab/x&name=n", Value::Null),
        ("POST", "/v1/create", json!({"path": "/lab/c", "kind": "collection"})),
        ("POST", "/v1/copy", json!({"from": {"path": "/lab/x"}, "to": "/lab/y"})),
        ("POST", "/v1/move", json!({"from": {"path": "/lab/y"}, "to": "/lab/z"})),
        ("DELETE", "/v1/fs/lab/z", Value::Null),
        ("POST", "/v1/trash/restore", json!({"id": restored})),
        ("POST", "/v1/trash/empty", json!({"id": emptied})),
    ];
    let request = |(method, uri, body): &(&str, &str, Value)| {
        let request = server.request_as(None, method, uri);
        if body.is_null() { request } else { request.json(body) }
    };
    for change in &changes {
        let answer = shown.with(request(change)).send().await;
        assert!(answer.status.is_client_error(), "{change:?}: {answer:?}");
        assert!(now().await == before, "{change:?} changed something");
    }
    let tickets =
        shown.with(server.request_as(None, "GET", "/v1/tickets")).send().await.expect(200);
    assert_eq!(tickets["items"], json!([]), "a ticket is a secret that opens more than it may");
    let read = shown.with(server.request_as(None, "GET", "/v1/fs/lab/x")).send().await;
    assert_eq!(read.body, "x");
    let admin = accounts.shown(Some(ADMIN), "directory").await;
    for change in &changes {
        let answer = admin.with(request(change)).send().await;
        assert!(answer.status.is_success(), "{change:?}: {answer:?}");
    }
}

/// The ids of two objects that were removed from `/lab` and are in the trash.
async fn trashed(server: &TestServer) -> [u64; 2] {
    let keep = json!({"path": "/lab", "keep_removed": 3600});
    server.request("PATCH", "/v1/attributes").json(&keep).send().await.expect(200);
    let mut ids = [0; 2];
    for id in &mut ids {
        server.put("/lab/gone", "content").await.expect(201);
        let removed = server.request("DELETE", "/v1/fs/lab/gone").send().await;
        *id = removed.header("cenote-trash").parse().unwrap();
    }
    ids
}
