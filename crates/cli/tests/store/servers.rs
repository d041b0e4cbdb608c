//! Three servers over one database and one bucket, and clients that meet another one with each request.

use std::collections::BTreeMap;
use std::sync::Mutex;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};

use serde_json::{Value, json};

use crate::backing::Outside;
use crate::world::World;

/// The servers, and whose turn it is.
pub(crate) struct Servers {
    pub(crate) worlds: Vec<World>,
    turn: AtomicUsize,
    /// Of the administrator.
    pub(crate) token: String,
    _outside: Outside,
}

/// A status and a body.
pub(crate) type Answer = (u16, String);

impl Servers {
    pub(crate) fn start() -> Option<Self> {
        let outside = Outside::start()?;
        let first = outside.made().serve(&[]);
        let others = [(); 2].map(|()| outside.joined().serve(&[]));
        let added =
            first.ok(&["token", "add", "test", "--scope", "tokens", "--scope", "admin", "--json"]);
        let added: Value = serde_json::from_str(&added).unwrap();
        let token = added["token"].as_str().unwrap().to_owned();
        let worlds = [first].into_iter().chain(others).collect();
        Some(Self { worlds, turn: AtomicUsize::default(), token, _outside: outside })
    }

    /// The next server in turn.
    fn next(&self) -> &World {
        &self.worlds[self.turn.fetch_add(1, Ordering::Relaxed) % self.worlds.len()]
    }

    fn send(&self, request: &str, body: &str) -> Answer {
        send(self.next(), &self.token, request, body)
    }

    fn json(&self, request: &str, body: &Value) -> Value {
        json_of(self.send(request, &body.to_string()))
    }
}

fn send(world: &World, token: &str, request: &str, body: &str) -> Answer {
    answer_of(&world.send(request, &head(token, body), body))
}

/// The lines of the header of a request with this body.
pub(crate) fn head(token: &str, body: &str) -> String {
    let kind = if body.starts_with('{') { "application/json" } else { "application/octet-stream" };
    let length = body.len();
    format!("Authorization: Bearer {token}\r\nContent-Type: {kind}\r\nContent-Length: {length}\r\n")
}

/// The status of a response, 0 if there is none, and its body.
pub(crate) fn answer_of(answer: &str) -> Answer {
    let status = answer.get(9..12).and_then(|status| status.parse().ok()).unwrap_or(0);
    (status, answer.split_once("\r\n\r\n").map_or("", |(_, body)| body).to_owned())
}

pub(crate) fn json_of((status, body): Answer) -> Value {
    assert!((200..300).contains(&status), "{status} {body}");
    let (from, to) = (body.find('{').unwrap(), body.rfind('}').unwrap());
    serde_json::from_str(&body[from..=to]).unwrap()
}

/// Text of which neither end is that of another size.
pub(crate) fn text(size: usize, seed: usize) -> String {
    (0..size).map(|at| char::from(b'a' + ((at * 7 + seed * 3 + at / 26) % 26) as u8)).collect()
}

#[test]
fn a_client_may_meet_another_server_with_each_request() {
    let Some(it) = Servers::start() else { return };
    for (name, size) in [("small", 100), ("large", 200_000)] {
        assert_eq!(it.send(&format!("PUT /v1/fs/{name}"), &text(size, 1)).0, 201);
        for _ in 0..3 {
            assert!(it.send(&format!("GET /v1/fs/{name}"), "") == (200, text(size, 1)), "{name}");
        }
    }
    let upload = it.json("POST /v1/uploads", &json!({ "path": "/parts" }));
    let id = upload["id"].to_string().replace('"', "");
    for (offset, part) in [(0, text(100_000, 1)), (100_000, text(70_000, 2))] {
        json_of(it.send(&format!("PUT /v1/uploads/{id}/{offset}"), &part));
    }
    it.json(&format!("POST /v1/uploads/{id}/complete"), &json!({}));
    assert!(it.send("GET /v1/fs/parts", "").1 == text(100_000, 1) + &text(70_000, 2));

    let removed = it.send("DELETE /v1/fs/parts", "");
    assert_eq!(removed.0, 204, "{}", removed.1);
    let trash = json_of(it.send("GET /v1/trash", ""));
    it.json("POST /v1/trash/restore", &json!({ "id": trash["items"][0]["id"] }));
    assert_eq!(it.send("GET /v1/fs/parts", "").0, 200);
}

#[test]
fn secrets_and_pages_are_those_of_all_servers() {
    let Some(it) = Servers::start() else { return };
    let made = it.json("POST /v1/tokens", &json!({ "label": "second" }));
    let token = made["token"].as_str().unwrap();
    for world in &it.worlds {
        assert_eq!(send(world, token, "GET /v1/whoami", "").0, 200);
    }
    let list = json_of(it.send("GET /v1/tokens", ""));
    let mine = list["items"].as_array().unwrap();
    let mine = mine.iter().find(|token| token["label"] == "second").unwrap();
    assert!(it.send(&format!("DELETE /v1/tokens?id={}", mine["id"]), "").0 < 300);
    for world in &it.worlds {
        assert_eq!(send(world, token, "GET /v1/whoami", "").0, 401, "at once");
    }

    for name in ["a", "b", "c", "d"] {
        assert_eq!(it.send(&format!("PUT /v1/fs/{name}"), "x").0, 201);
    }
    let ticket = it.json("POST /v1/tickets", &json!({ "path": "/a", "level": "read", "uses": 2 }));
    let ticket = ticket["ticket"].as_str().unwrap();
    let shown =
        |world: &World| world.send("GET /v1/fs/a", &format!("Cenote-Ticket: {ticket}\r\n"), "");
    let allowed = it.worlds.iter().filter(|world| shown(world).starts_with("HTTP/1.1 200"));
    assert_eq!(allowed.count(), 2, "all servers count its uses together");

    let (mut found, mut after) = (0, Value::Null);
    for _ in 0..100 {
        let search = json!({ "under": "/", "kind": "object", "limit": 1, "after": after });
        let page = it.json("POST /v1/search", &search);
        found += page["items"].as_array().unwrap().len();
        after = page["next"].clone();
        if after.is_null() {
            break;
        }
    }
    assert_eq!(found, 4, "a cursor of one server goes on at another");
}

#[test]
fn changes_through_one_server_wake_those_who_wait_at_another() {
    let Some(it) = Servers::start() else { return };
    let [a, b, _] = &it.worlds[..] else { unreachable!("there are three") };
    let since = json_of(send(b, &it.token, "GET /v1/changes?since=now", ""))["next"].clone();
    let since = since.as_str().unwrap();
    std::thread::scope(|scope| {
        let wait = || send(b, &it.token, &format!("GET /v1/changes?since={since}&wait=60"), "");
        let waiting = scope.spawn(wait);
        assert_eq!(send(a, &it.token, "PUT /v1/fs/new", "x").0, 201);
        let changes = json_of(waiting.join().unwrap());
        assert_eq!(changes["items"][0]["name"], "new");
    });
}

#[test]
fn a_change_set_stays_with_its_server() {
    let Some(it) = Servers::start() else { return };
    let [a, b, _] = &it.worlds[..] else { unreachable!("there are three") };
    let set = json_of(send(a, &it.token, "POST /v1/changesets", "{}"));
    let commit = format!("POST /v1/changesets/{}/commit", set["id"].as_str().unwrap());
    let (status, body) = send(b, &it.token, &commit, "{}");
    assert_eq!(status, 503, "{body}");
    assert!(body.contains("the server that began it"), "{body}");
    assert_eq!(json_of(send(a, &it.token, &commit, "{}"))["state"], "committed");
}

/// Numbers that look random and are the same each time.
struct Dice(u64);

impl Dice {
    fn below(&mut self, most: usize) -> usize {
        self.0 =
            self.0.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (self.0 >> 33) as usize % most
    }
}

#[test]
fn a_history_over_three_servers_has_the_effect_of_one() {
    let Some(it) = Servers::start() else { return };
    let (mut model, mut dice) = (BTreeMap::<String, String>::new(), Dice(7));
    it.json("POST /v1/create", &json!({ "path": "/m", "kind": "collection" }));
    for step in 0..250 {
        let name = |dice: &mut Dice| ["a", "b", "c", "d"][dice.below(4)].to_owned();
        let (one, other) = (name(&mut dice), name(&mut dice));
        match dice.below(4) {
            0 | 1 => {
                let bytes = text([0, 10, 70_000][dice.below(3)], step);
                let status = it.send(&format!("PUT /v1/fs/m/{one}"), &bytes).0;
                let replaced = model.insert(one.clone(), bytes).is_some();
                assert_eq!(status, if replaced { 200 } else { 201 }, "{step}: put {one}");
            }
            2 => {
                let status = it.send(&format!("DELETE /v1/fs/m/{one}"), "").0;
                let expected = if model.remove(&one).is_some() { 204 } else { 404 };
                assert_eq!(status, expected, "{step}: rm {one}");
            }
            _ => {
                let relocation =
                    json!({ "from": { "path": format!("/m/{one}") }, "to": format!("/m/{other}") });
                let (status, body) = it.send("POST /v1/move", &relocation.to_string());
                match model.get(&one).cloned() {
                    Some(bytes) if !model.contains_key(&other) => {
                        assert!(status < 300, "{step}: {status} {body}");
                        model.remove(&one);
                        model.insert(other, bytes);
                    }
                    Some(_) if one == other => {}
                    Some(_) => assert_eq!(status, 409, "{step}: {body}"),
                    None => assert_eq!(status, 404, "{step}: {body}"),
                }
            }
        }
        let listed = json_of(it.send("GET /v1/list?path=/m", ""));
        let names: Vec<_> = listed["entries"]
            .as_array()
            .unwrap()
            .iter()
            .map(|item| item["name"].as_str().unwrap())
            .collect();
        assert_eq!(names, model.keys().collect::<Vec<_>>(), "{step}");
        if let Some(bytes) = model.get(&one) {
            assert!(it.send(&format!("GET /v1/fs/m/{one}"), "") == (200, bytes.clone()), "{step}");
        }
    }
}

/// Puts objects until it is stopped, and returns those that were acknowledged.
fn load_apart(
    it: &Servers,
    of: usize,
    stop: &AtomicBool,
    seen: &AtomicUsize,
    broken: &AtomicBool,
) -> Vec<(String, String)> {
    let mut done = Vec::new();
    for number in 0.. {
        if stop.load(Ordering::SeqCst) {
            break;
        }
        let (name, bytes) = (format!("{of}-{number}"), text([50, 70_000][number % 2], number));
        let world = &it.worlds[of];
        let put = std::panic::catch_unwind(std::panic::AssertUnwindSafe(|| {
            send(world, &it.token, &format!("PUT /v1/fs/load/{name}"), &bytes)
        }));
        match put {
            Ok((201, _)) => {
                done.push((name, bytes));
                seen.fetch_add(1, Ordering::SeqCst);
            }
            // Only the connections of the server that was killed end.
            Ok((0, _)) | Err(_) if broken.load(Ordering::SeqCst) && of == 0 => break,
            other => panic!("{of}: {other:?}"),
        }
    }
    done
}

#[test]
fn what_was_acknowledged_survives_a_server_that_is_killed_and_its_work_is_taken_over() {
    let Some(mut it) = Servers::start() else { return };
    let (stop, seen, broken) =
        (AtomicBool::new(false), AtomicUsize::new(0), AtomicBool::new(false));
    it.json("POST /v1/create", &json!({ "path": "/load", "kind": "collection" }));
    it.json("POST /v1/places", &json!({ "name": "second", "address": "s3://bucket/second" }));
    let done = Mutex::new(Vec::new());
    std::thread::scope(|scope| {
        for of in 0..3 {
            let (it, done, stop, seen, broken) = (&it, &done, &stop, &seen, &broken);
            scope
                .spawn(move || done.lock().unwrap().extend(load_apart(it, of, stop, seen, broken)));
        }
        let until = |count: usize| {
            while seen.load(Ordering::SeqCst) < count {
                std::thread::yield_now()
            }
        };
        until(60);
        broken.store(true, Ordering::SeqCst);
        let killed = std::process::Command::new("kill")
            .args(["-9", &it.worlds[0].server_id().to_string()])
            .status();
        assert!(killed.unwrap().success());
        until(150);
        stop.store(true, Ordering::SeqCst);
    });
    it.worlds.remove(0);
    let done = done.into_inner().unwrap();
    assert!(done.len() >= 150);
    for (name, bytes) in &done {
        assert!(it.send(&format!("GET /v1/fs/load/{name}"), "") == (200, bytes.clone()), "{name}");
    }
    let listed = it.next().ok(&["ls", "/load"]).lines().count();
    assert!(
        listed == done.len() || listed == done.len() + 1,
        "one may have been under way: {listed}"
    );

    // The killed server did the background work, and another one takes it over.
    let job = it.json(
        "POST /v1/replicas",
        &json!({ "path": "/load", "place": "second", "recursive": true }),
    );
    let path = format!("GET /v1/jobs/{}", job["job"]);
    let ended =
        std::iter::repeat_with(|| it.json(&path, &json!({}))).find(|job| job["finished"] == true);
    let ended = ended.unwrap();
    assert_eq!((ended["done"].as_u64().unwrap() as usize, &ended["failed"]), (listed, &json!(0)));
    for _ in 0..2 {
        assert_eq!(it.json(&path, &json!({}))["finished"], true, "whoever is asked");
    }
    let rest = it.worlds.pop().unwrap();
    drop(it.worlds);
    drop(rest);
}
