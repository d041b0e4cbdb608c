//! A store with hidden resources, and all callers who may not see them.

use cenote_server::Limits;
use serde_json::{Value, json};

use super::super::support::{ADMIN, TestServer, USER, basic};
use super::Pair;

/// A caller who can only see `/shown`, `/drop` and the resources in them without the hidden token.
#[derive(Debug, Clone)]
pub(super) struct Caller {
    pub(super) name: String,
    /// The header of the native opening.
    pub(super) authorization: Option<String>,
    /// The token of the iRODS opening.
    pub(super) bearer: String,
    pub(super) ticket: Option<String>,
}

pub(super) struct World {
    pub(super) server: TestServer,
    /// The first one is a user with a password.
    pub(super) callers: Vec<Caller>,
    /// A removed user with their password, which costs an Argon2 computation each time: only for some requests.
    pub(super) removed: Caller,
    /// Paths of resources.
    pub(super) paths: Vec<Pair>,
    /// Ids of resources, in decimal.
    pub(super) ids: Vec<Pair>,
    /// Uploads in progress.
    pub(super) uploads: Vec<Pair>,
    /// Jobs.
    pub(super) jobs: Vec<Pair>,
    /// Parallel writes through the iRODS opening.
    pub(super) handles: Vec<Pair>,
}

/// An object that everyone may read.
pub(super) const OPEN: &str = "/shown/open";
/// A path at which everyone may create.
pub(super) const FREE: &str = "/drop/new";

const REMOVED: (&str, &str) = ("rita", "soon to be gone");
/// The replacement for a digit of an id or handle, to make an unused one.
const NO_ID: &str = "77777777";

impl World {
    pub(super) async fn new() -> Self {
        // The removed user's password is wrong, and used often.
        let limits =
            Limits { login_failures: u32::MAX, local_file_leases: 100_000, ..Limits::default() };
        let server = TestServer::with(limits);
        let setup = Setup { server: &server };
        setup.tree().await;
        let paths = [
            "/veiled",
            "/veiled/inside",
            "/veiled/new",
            "/veiled/deep/er/new",
            "/closed/veiled",
            "/shown/veiled",
            "/shown/veiled.link",
            "/shown/veiled.said",
            "/shown/veiled.dir",
            "/shown/veiled.dir/new",
            "/shown/veiled/new",
        ];
        let mut ids = Vec::new();
        for path in ["/veiled", "/shown/veiled", "/shown/veiled.link"] {
            ids.push(unused(setup.id(path).await));
        }
        let (trashed, trashed_ids) = setup.trash().await;
        ids.extend(trashed_ids);
        let uploads = vec![setup.upload().await];
        let jobs = vec![setup.job().await];
        let handles = vec![setup.handle().await];
        let mut callers = setup.callers().await;
        let removed = callers.iter().position(|caller| caller.name == REMOVED.0).unwrap();
        let removed = callers.remove(removed);
        let paths = paths.into_iter().map(Pair::of).chain(trashed).collect();
        Self { server, callers, removed, paths, ids, uploads, jobs, handles }
    }
}

/// An id, and an unused one of the same length: ids are allocated in order, and there are few.
fn unused(hidden: String) -> Pair {
    assert!(hidden.parse::<u64>().is_ok_and(|id| (1_000..9_000).contains(&id)), "{hidden}");
    let missing = format!("9{}", &hidden[1..]);
    Pair { hidden, missing }
}

struct Setup<'a> {
    server: &'a TestServer,
}

impl Setup<'_> {
    async fn tree(&self) {
        for path in ["/shown", "/drop", "/elsewhere"] {
            self.create(path, "collection").await;
        }
        for path in ["/veiled/inside", "/veiled/deep/x", "/closed/veiled", "/shown/veiled", OPEN] {
            self.server.put(path, "content").await.expect(201);
        }
        self.create("/shown/veiled.dir", "collection").await;
        self.create("/shown/veiled.link", "link").await;
        self.create("/shown/veiled.said", "description").await;
        self.history().await;
        for (path, level) in [("/shown", "read"), (OPEN, "read"), ("/drop", "create_object")] {
            for name in ["public", "anonymous"] {
                self.grant(path, name, level).await;
            }
        }
    }

    /// Formerly hidden objects: one that was removed, and two that are visible now, under other names.
    async fn history(&self) {
        for path in ["/shown/veiled.gone", "/shown/veiled.first", "/closed/veiled.before"] {
            self.server.put(path, "content").await.expect(201);
        }
        self.server.request("DELETE", "/v1/fs/shown/veiled.gone").send().await.expect(204);
        for (from, to) in
            [("/shown/veiled.first", "/shown/second"), ("/closed/veiled.before", "/shown/after")]
        {
            let body = json!({"from": {"path": from}, "to": to});
            self.server.post("/v1/move", body).await.expect(200);
            self.grant(to, "public", "read").await;
            self.grant(to, "anonymous", "read").await;
        }
    }

    /// A described tree owned by everyone until an administrator removed it, which is kept in the trash. Its top was
    /// visible, so the change feed reports its removal by name.
    async fn trash(&self) -> (Vec<Pair>, Vec<Pair>) {
        let keep = json!({"path": "/shown", "keep_removed": 3600});
        self.server.request("PATCH", "/v1/attributes").json(&keep).send().await.expect(200);
        let (top, inside) = ("/shown/recalled", "/shown/recalled/veiled.kept");
        self.server.put(inside, "content").await.expect(201);
        let describe = json!({"op": "add", "attribute": "veiled", "value": "veiled"});
        let mut ids = Vec::new();
        for path in [top, inside] {
            let body = json!({"path": path, "operations": [describe]});
            self.server.post("/v1/meta", body).await.expect(200);
            self.ticket(json!({"path": path, "level": "write"})).await;
            for name in ["public", "anonymous"] {
                self.grant(path, name, "own").await;
            }
            ids.push(unused(self.id(path).await));
        }
        let remove =
            self.server.request("DELETE", "/v1/fs/shown/recalled?recursive=true").send().await;
        assert!(!remove.header("cenote-trash").is_empty(), "{remove:?}");
        let top = Pair { hidden: top.to_owned(), missing: "/shown/dellacer".to_owned() };
        (vec![top, Pair::of(inside)], ids)
    }

    async fn create(&self, path: &str, kind: &str) {
        let mut body = json!({"path": path, "kind": kind});
        if kind == "link" {
            body["target"] = json!("open");
        }
        self.server.post("/v1/create", body).await.expect(201);
    }

    async fn grant(&self, path: &str, name: &str, level: &str) {
        let line = json!({"name": name, "level": level, "scope": "this"});
        self.server
            .post("/v1/access", json!({"path": path, "operations": [line]}))
            .await
            .expect(200);
    }

    async fn id(&self, path: &str) -> String {
        let stat = self.server.request("GET", &format!("/v1/stat?path={path}")).send().await;
        stat.expect(200)["id"].to_string()
    }

    async fn upload(&self) -> Pair {
        let begun =
            self.server.post("/v1/uploads", json!({"path": "/veiled/up"})).await.expect(201);
        let hidden = begun["id"].as_str().unwrap().to_owned();
        // Another caller's number and its successors give no access, nor does an invented one.
        let missing = hidden.replacen(|digit: char| digit.is_ascii_digit(), NO_ID, 1);
        Pair { hidden, missing }
    }

    async fn job(&self) -> Pair {
        let body = json!({"path": "/veiled", "place": "main", "recursive": true});
        let job = self.server.post("/v1/replicas", body).await.expect(202);
        unused(job["job"].to_string())
    }

    async fn handle(&self) -> Pair {
        let token = self.log_in(ADMIN).await;
        let form = "op=parallel_write_init&lpath=/tempZone/veiled/inside&stream-count=2";
        let request = self.server.request_as(None, "POST", "/irods-http-api/0.7.0/data-objects");
        let request = request.header("authorization", &format!("Bearer {token}"));
        let request =
            request.header("content-type", "application/x-www-form-urlencoded").body(form);
        let begun = request.send().await.expect(200);
        let hidden = begun["parallel_write_handle"].as_str().unwrap().to_owned();
        let missing = hidden.replacen(|digit: char| digit.is_ascii_digit(), NO_ID, 1);
        Pair { hidden, missing }
    }

    async fn log_in(&self, who: (&str, &str)) -> String {
        let request = self.server.request_as(None, "POST", "/irods-http-api/0.7.0/authenticate");
        let answer = request.header("authorization", &basic(who)).send().await;
        assert_eq!(answer.status, 200, "{answer:?}");
        String::from_utf8(answer.body.to_vec()).unwrap()
    }

    async fn callers(&self) -> Vec<Caller> {
        let user = Caller {
            name: "a user".to_owned(),
            authorization: Some(basic(USER)),
            bearer: self.log_in(USER).await,
            ticket: None,
        };
        let nobody = Caller {
            name: "anonymous".to_owned(),
            authorization: None,
            bearer: "anonymous".to_owned(),
            ticket: None,
        };
        let mut callers = vec![user.clone(), nobody.clone()];
        callers.push(self.group_admin().await);
        callers.extend(self.tokens().await);
        callers.extend(self.removed().await);
        for (name, ticket) in self.tickets().await {
            for who in [&user, &nobody] {
                let name = format!("{} with {name}", who.name);
                callers.push(Caller { name, ticket: Some(ticket.clone()), ..who.clone() });
            }
        }
        callers
    }

    async fn add_user(&self, (name, password): (&str, &str), role: &str) {
        let user = json!({"name": name, "password": password, "role": role});
        self.server.post("/v1/users", user).await.expect(201);
    }

    async fn group_admin(&self) -> Caller {
        let who = ("gina", "runs a lab");
        self.add_user(who, "groupadmin").await;
        Caller {
            name: "a group administrator".to_owned(),
            authorization: Some(basic(who)),
            bearer: self.log_in(who).await,
            ticket: None,
        }
    }

    /// Tokens of every level and of some sets without a level, for the whole store and for a subtree; of an
    /// administrator only for another subtree.
    async fn tokens(&self) -> Vec<Caller> {
        let mut callers = Vec::new();
        for level in [
            "null",
            "read_metadata",
            "read",
            "create_object",
            "write",
            "delete_object",
            "own",
            "list+create",
            "read_content+append",
            "control",
        ] {
            for (who, within) in [(USER, None), (USER, Some("/shown")), (ADMIN, Some("/elsewhere"))]
            {
                let token = self.token(who, level, within).await;
                let within = within.map(|path| format!(" within {path}")).unwrap_or_default();
                callers.push(by_token(format!("a token of {} for {level}{within}", who.0), token));
            }
        }
        callers
    }

    async fn token(&self, who: (&str, &str), level: &str, within: Option<&str>) -> String {
        let wanted = json!({"label": "x", "level": level, "within": within});
        let made =
            self.server.request_as(Some(who), "POST", "/v1/tokens").json(&wanted).send().await;
        text(&made.expect(201)["token"])
    }

    /// A removed user still has a password, a token, and a ticket that they created.
    async fn removed(&self) -> Vec<Caller> {
        self.add_user(REMOVED, "user").await;
        self.grant("/veiled", REMOVED.0, "own").await;
        let token = self.token(REMOVED, "own", None).await;
        let wanted = json!({"path": "/veiled", "level": "write"});
        let made =
            self.server.request_as(Some(REMOVED), "POST", "/v1/tickets").json(&wanted).send();
        let ticket = text(&made.await.expect(201)["ticket"]);
        let gone = format!("/v1/users?name={}", REMOVED.0);
        self.server.request("DELETE", &gone).send().await.expect(204);
        let password = Some(basic(REMOVED));
        vec![
            by_token("a removed user by token".to_owned(), token.clone()),
            Caller {
                name: REMOVED.0.to_owned(),
                authorization: password,
                bearer: token,
                ticket: None,
            },
            Caller {
                name: "the ticket of a removed user".to_owned(),
                authorization: None,
                bearer: "anonymous".to_owned(),
                ticket: Some(ticket),
            },
        ]
    }

    async fn tickets(&self) -> Vec<(&'static str, String)> {
        let open = self.ticket(json!({"path": OPEN, "level": "write"})).await;
        let mut tickets = vec![("a ticket for something else", open)];
        let over = self.ticket(json!({"path": "/veiled", "expires_in": 0})).await;
        tickets.push(("a ticket that has expired", over));
        for (name, path, read) in [
            ("a used-up ticket for a collection", "/veiled", "/veiled/inside"),
            ("a used-up ticket for an object", "/shown/veiled", "/shown/veiled"),
        ] {
            let ticket = self.ticket(json!({"path": path, "level": "write", "uses": 1})).await;
            let request = self.server.request_as(None, "GET", &format!("/v1/fs{read}"));
            assert_eq!(request.header("cenote-ticket", &ticket).send().await.status, 200);
            tickets.push((name, ticket));
        }
        tickets.push(("a made-up ticket", "madeup123456789".to_owned()));
        tickets
    }

    async fn ticket(&self, wanted: Value) -> String {
        text(&self.server.post("/v1/tickets", wanted).await.expect(201)["ticket"])
    }
}

fn by_token(name: String, token: String) -> Caller {
    Caller { name, authorization: Some(format!("Bearer {token}")), bearer: token, ticket: None }
}

fn text(value: &Value) -> String {
    value.as_str().unwrap().to_owned()
}
