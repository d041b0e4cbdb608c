//! Sets of rights without a level, granted through one opening, effective and shown through the others.

use cenote_store::{Rights, Vocabulary};
use proptest::prelude::*;
use proptest::sample::{select, subsequence};
use serde_json::{Value, json};

use crate::support::{ADMIN, Answer, TestServer, USER, basic};

/// A request: a method, an address, and a body. `O` stands for the object, `C` for the collection on which the user has
/// the rights.
type Request = (&'static str, &'static str, &'static str);

/// Requests, with the rights that each requires; `|` separates alternatives.
const REQUESTS: [(Request, &str); 23] = [
    (("GET", "/v1/stat?path=O", ""), "read_description"),
    (("GET", "/v1/du?path=O", ""), "read_description"),
    (("GET", "/v1/meta?path=O", ""), "read_description"),
    (("GET", "/v1/access?path=O", ""), "read_description|control"),
    (("GET", "/v1/access/why?path=O", ""), "read_description|control"),
    (("GET", "/v1/fsO", ""), "read_content"),
    (("GET", "/v1/list?path=C", ""), "list"),
    (("GET", "/v1/list/brief?path=C", ""), "list"),
    (("GET", "/v1/walk?path=C", ""), "list"),
    (
        (
            "POST",
            "/v1/meta",
            r#"{"path":"O","operations":[{"op":"add","attribute":"a","value":"v"}]}"#,
        ),
        "read_description+add_description",
    ),
    (("PATCH", "/v1/attributes", r#"{"path":"O","mode":384}"#), "change_description"),
    (("PATCH", "/v1/fsO?append=true", "more"), "append"),
    (("PUT", "/v1/fsO", "other"), "write_content"),
    (("PUT", "/v1/fsC/new", "new"), "create"),
    (("POST", "/v1/access", r#"{"path":"O","inherit":true}"#), "control"),
    (("POST", "/v1/tickets", r#"{"path":"O"}"#), "control"),
    (("DELETE", "/v1/fsO", ""), "remove"),
    (("GET", "data-objects", "op=stat&lpath=/tempZoneO"), "read_description"),
    (("GET", "collections", "op=list&lpath=/tempZoneC"), "read_description+list"),
    (("POST", "collections", "op=create&lpath=/tempZoneC/sub"), "create"),
    (
        (
            "POST",
            "data-objects",
            "op=set_permission&lpath=/tempZoneO&entity-name=ada&permission=own",
        ),
        "read_description+control",
    ),
    (
        ("POST", "data-objects", "op=truncate&lpath=/tempZoneO&size=0"),
        "read_description+write_content",
    ),
    (
        ("POST", "data-objects", "op=remove&lpath=/tempZoneO&catalog-only=0&no-trash=1"),
        "read_description+remove",
    ),
];

struct World {
    server: TestServer,
    token: String,
}

impl World {
    async fn new() -> Self {
        let server = TestServer::new();
        let request = server.request_as(None, "POST", "/irods-http-api/0.7.0/authenticate");
        let answer = request.header("authorization", &basic(USER)).send().await;
        let token = String::from_utf8(answer.body.to_vec()).unwrap();
        Self { server, token }
    }

    /// An object and a collection of this number, on which the user has these rights.
    async fn planted(&self, number: usize, rights: Rights) -> [String; 2] {
        let [object, collection] = [format!("/o{number}"), format!("/c{number}")];
        self.server.put(&object, "bytes").await.expect(201);
        let body = json!({"path": collection, "kind": "collection"});
        self.server.post("/v1/create", body).await.expect(201);
        for path in [&object, &collection] {
            self.grant(path, &rights.to_string()).await;
        }
        [object, collection]
    }

    async fn grant(&self, path: &str, level: &str) {
        let line = json!({"name": USER.0, "level": level, "scope": "this"});
        let body = json!({"path": path, "operations": [line]});
        self.server.post("/v1/access", body).await.expect(200);
    }

    /// The response to the user, and whether it succeeded.
    async fn send(
        &self,
        (method, address, body): Request,
        [object, collection]: &[String; 2],
    ) -> (bool, Answer) {
        let filled = |text: &str| {
            let text = text
                .replace("/fsO", &format!("/fs{object}"))
                .replace("/fsC", &format!("/fs{collection}"));
            let text = text
                .replace("ZoneO", &format!("Zone{object}"))
                .replace("ZoneC", &format!("Zone{collection}"));
            text.replace("=O", &format!("={object}"))
                .replace("=C", &format!("={collection}"))
                .replace("\"O\"", &format!("\"{object}\""))
        };
        if address.starts_with('/') {
            let request = self.server.request_as(Some(USER), method, &filled(address));
            let request = if body.starts_with('{') {
                request.header("content-type", "application/json")
            } else {
                request
            };
            let answer = request.body(filled(body)).send().await;
            return (answer.status.is_success(), answer);
        }
        let uri = format!("/irods-http-api/0.7.0/{address}");
        let in_query = method == "GET";
        let uri = if in_query { format!("{uri}?{}", filled(body)) } else { uri };
        let request = self.server.request_as(None, method, &uri);
        let request = request.header("authorization", &format!("Bearer {}", self.token));
        let request = request.header("content-type", "application/x-www-form-urlencoded");
        let answer = request.body(if in_query { String::new() } else { filled(body) }).send().await;
        let code = answer
            .status
            .is_success()
            .then(|| answer.json()["irods_response"]["status_code"].as_i64());
        (code == Some(Some(0)), answer)
    }

    /// Everything that an administrator sees of both.
    async fn visible(&self, [object, collection]: &[String; 2]) -> Vec<Value> {
        let mut visible = Vec::new();
        for uri in [
            format!("/v1/stat?path={object}&description_tag=true"),
            format!("/v1/access?path={object}"),
            format!("/v1/tickets?path={object}"),
            format!("/v1/list?path={collection}"),
        ] {
            visible.push(self.server.request("GET", &uri).send().await.expect(200));
        }
        visible
    }

    /// What each opening shows of the grant.
    async fn shown(&self, object: &str) -> [Option<String>; 2] {
        let list = self
            .server
            .request("GET", &format!("/v1/access?path={object}"))
            .send()
            .await
            .expect(200);
        let lines = list["grants"].as_array().unwrap();
        let native = lines.iter().find(|line| line["name"] == USER.0).map(|line| &line["level"]);
        let uri = format!("/irods-http-api/0.7.0/data-objects?op=stat&lpath=/tempZone{object}");
        let admin = self.server.request_as(None, "POST", "/irods-http-api/0.7.0/authenticate");
        let token = admin.header("authorization", &basic(ADMIN)).send().await;
        let token = format!("Bearer {}", std::str::from_utf8(&token.body).unwrap());
        let stat =
            self.server.request_as(None, "GET", &uri).header("authorization", &token).send().await;
        let stat = stat.json();
        let lines = stat["permissions"].as_array().unwrap();
        let irods = lines.iter().find(|line| line["name"] == USER.0).map(|line| &line["perm"]);
        [native, irods].map(|word| word.map(|word| word.as_str().unwrap().to_owned()))
    }
}

fn sets() -> impl Strategy<Value = Rights> {
    let levels: Vec<Rights> = Vocabulary::IRODS.names().map(|(_, rights)| rights).collect();
    let any = subsequence(Rights::ALL.each().collect::<Vec<_>>(), 0..=11);
    prop_oneof![1 => select(levels), 3 => any.prop_map(|rights| rights.into_iter().collect())]
}

fn suffice(rights: Rights, needs: &str) -> bool {
    needs.split('|').any(|needs| rights.contains(needs.parse().unwrap()))
}

fn cases() -> ProptestConfig {
    let cases = std::env::var_os("PROPTEST_CASES").is_none().then_some(6);
    cases.map_or_else(ProptestConfig::default, ProptestConfig::with_cases)
}

proptest! {
    #![proptest_config(cases())]

    #[test]
    fn every_set_of_rights_permits_its_operations_through_both_openings(sets in proptest::collection::vec(sets(), 1..3)) {
        let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
        runtime.block_on(async {
            let (world, mut number) = (World::new().await, 0);
            for rights in sets {
                for (request, needs) in REQUESTS {
                    number += 1;
                    let planted = world.planted(number, rights).await;
                    let before = world.visible(&planted).await;
                    let (done, answer) = world.send(request, &planted).await;
                    prop_assert_eq!(done, suffice(rights, needs), "{:?} with {}: {:?}", request, rights, answer);
                    if !done {
                        prop_assert_eq!(world.visible(&planted).await, before, "{:?} with {}", request, rights);
                    }
                }
            }
            Ok(())
        })?;
    }

    #[test]
    fn a_set_is_shown_as_it_is_or_as_the_largest_level_within_it(rights in sets(), level in sets()) {
        let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
        runtime.block_on(async {
            let world = World::new().await;
            let [object, _] = world.planted(0, rights).await;
            let of = |rights: Rights| (!rights.is_empty()).then(|| rights.level().to_owned());
            let exact = |rights: Rights| (!rights.is_empty()).then(|| rights.to_string());
            prop_assert_eq!(world.shown(&object).await, [exact(rights), of(rights)]);
            let level = level.level();
            let set = format!("op=set_permission&lpath=/tempZone{object}&entity-name={}&permission={level}&admin=1", USER.0);
            let admin = world.server.request_as(None, "POST", "/irods-http-api/0.7.0/authenticate");
            let token = admin.header("authorization", &basic(ADMIN)).send().await;
            let token = format!("Bearer {}", std::str::from_utf8(&token.body).unwrap());
            let request = world.server.request_as(None, "POST", "/irods-http-api/0.7.0/data-objects");
            let request = request.header("authorization", &token).header("content-type", "application/x-www-form-urlencoded");
            request.body(set).send().await.expect(200);
            let level: Rights = level.parse().unwrap();
            prop_assert_eq!(world.shown(&object).await, [exact(level), of(level)]);
            Ok(())
        })?;
    }
}
