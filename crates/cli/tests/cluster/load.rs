//! Clients that change and read objects through all servers, each in a collection of its own, and compare what they find with a model.
//!
//! Invariants: a request that begins and ends while nothing fails succeeds; one that fails is answered with a problem that the
//! documentation has, or its connection breaks.

use std::sync::atomic::{AtomicBool, AtomicU64, AtomicUsize, Ordering};

use serde_json::{Value, json};

use crate::model::{Change, Item, Possible, bytes};
use crate::requests::Answer;
use crate::servers::Cluster;

/// What failures of the catalog or the contents are answered with (`docs/native-api.md`).
const PROBLEMS: [&str; 4] = ["unavailable", "unknown", "no-space", "overloaded"];

const NAMES: [&str; 4] = ["a", "b", "c", "d"];

/// Numbers that look random and are the same each time.
#[derive(Debug)]
pub(crate) struct Dice(pub(crate) u64);

impl Dice {
    pub(crate) fn below(&mut self, most: usize) -> usize {
        self.0 =
            self.0.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (self.0 >> 33) as usize % most
    }
}

/// What the clients and those who make faults tell each other.
#[derive(Debug, Default)]
pub(crate) struct Weather {
    stopped: AtomicBool,
    /// Even while nothing fails.
    changes: AtomicU64,
    /// Requests that ended, and those of them that failed.
    pub(crate) ended: AtomicUsize,
    pub(crate) failed: AtomicUsize,
}

impl Weather {
    /// It changes between calm and storm.
    pub(crate) fn turn(&self) {
        self.changes.fetch_add(1, Ordering::SeqCst);
    }

    pub(crate) fn stop(&self) {
        self.stopped.store(true, Ordering::SeqCst);
    }

    /// Waits until so many more requests have ended.
    pub(crate) fn wait(&self, requests: usize) {
        let until = self.ended.load(Ordering::SeqCst) + requests;
        let is_over = || {
            let ended = self.ended.load(Ordering::SeqCst) >= until;
            ended || self.stopped.load(Ordering::SeqCst)
        };
        Cluster::until("requests end", is_over);
    }

    pub(crate) fn has_stopped(&self) -> bool {
        self.stopped.load(Ordering::SeqCst)
    }
}

/// Stops all when a client found something wrong.
struct Alarm<'a>(&'a Weather);

impl Drop for Alarm<'_> {
    fn drop(&mut self) {
        if std::thread::panicking() {
            self.0.stop();
        }
    }
}

/// A client.
pub(crate) struct Client<'a> {
    cluster: &'a Cluster,
    weather: &'a Weather,
    of: usize,
    dice: Dice,
    possible: Possible,
}

impl<'a> Client<'a> {
    pub(crate) fn new(cluster: &'a Cluster, weather: &'a Weather, of: usize, seed: u64) -> Self {
        let path = json!({ "path": format!("/storm/{of}"), "kind": "collection", "parents": true });
        cluster.json(0, "POST /v1/create", &path.to_string());
        let dice = Dice(seed.wrapping_add(of as u64).wrapping_mul(0x9e37_79b9_7f4a_7c15));
        Self { cluster, weather, of, dice, possible: Possible::nothing() }
    }

    /// Goes on until it is stopped.
    pub(crate) fn work(&mut self) {
        let _alarm = Alarm(self.weather);
        for seed in 0.. {
            if self.weather.has_stopped() {
                return;
            }
            self.step(seed);
        }
    }

    fn step(&mut self, seed: usize) {
        let name = |dice: &mut Dice| NAMES[dice.below(NAMES.len())].to_owned();
        let (one, other) = (name(&mut self.dice), name(&mut self.dice));
        let change = match self.dice.below(100) {
            0..25 => Change::Put(one, self.dice.below(3_000), seed),
            25..38 => Change::Put(one, 66_000 + self.dice.below(100_000), seed),
            38 => Change::Put(one, 9 << 20, seed),
            39..49 => Change::Append(one, 1 + self.dice.below(2_000), seed),
            49..51 => Change::Append(one, 70_000, seed),
            51..60 if one != other => Change::Move(one, other),
            60..68 => Change::Remove(one),
            68..76 => Change::Note(one, seed),
            76..84 => return self.list(),
            84..88 => return self.notes(&one),
            _ => return self.read(&one),
        };
        self.make(&change);
    }

    fn make(&mut self, change: &Change) {
        let (request, body) = request_of(&format!("/storm/{}", self.of), change);
        match self.ask(&request, &body) {
            Some(answer) if answer.status < 500 => self.possible.answered(change, answer.status),
            // Nothing was changed, unless the problem says that this is unknown.
            Some(answer) if answer.problem() != "unknown" => {}
            _ => self.possible.lost(change),
        }
    }

    /// The answer of some server, if there is one.
    fn ask(&mut self, request: &str, body: &[u8]) -> Option<Answer> {
        let node = self.dice.below(self.cluster.nodes.len());
        let before = self.weather.changes.load(Ordering::SeqCst);
        let answer = self.cluster.ask(node, request, body);
        let after = self.weather.changes.load(Ordering::SeqCst);
        let has_failed = answer.as_ref().map_or(true, |answer| answer.status >= 500);
        if has_failed {
            let was_calm = before == after && before.is_multiple_of(2);
            assert!(!was_calm, "{request} at {node} failed without a reason: {answer:?}");
            self.weather.failed.fetch_add(1, Ordering::SeqCst);
        }
        self.weather.ended.fetch_add(1, Ordering::SeqCst);
        let answer = answer.ok()?;
        let is_known = !has_failed || PROBLEMS.contains(&answer.problem().as_str());
        assert!(is_known, "{request} at {node}: {} {}", answer.status, answer.json());
        Some(answer)
    }

    /// The answer to a question, if there is one.
    fn see(&mut self, request: &str) -> Option<Answer> {
        self.ask(request, b"").filter(|answer| answer.status < 500)
    }

    fn read(&mut self, name: &str) {
        let request = format!("GET /v1/fs/storm/{}/{name}", self.of);
        let Some(answer) = self.see(&request) else { return };
        let what = format!("{request}: {} with {} bytes", answer.status, answer.body.len());
        self.possible.saw(&what, |tree| match tree.get(name) {
            Some(item) => answer.status == 200 && answer.body == item.bytes(),
            None => answer.status == 404,
        });
    }

    fn list(&mut self) {
        let Some(answer) = self.see(&format!("GET /v1/list?path=/storm/{}", self.of)) else {
            return;
        };
        let listed = answer.json();
        let entry = |entry: &Value| {
            (entry["name"].as_str().unwrap().to_owned(), entry["size"].as_u64().unwrap() as usize)
        };
        let found: Vec<_> = listed["entries"].as_array().unwrap().iter().map(entry).collect();
        let sizes = |(name, item): (&String, &Item)| (name.clone(), item.size());
        self.possible.saw(&format!("the list {found:?}"), |tree| {
            tree.iter().map(sizes).collect::<Vec<_>>() == found
        });
    }

    fn notes(&mut self, name: &str) {
        let path = format!("GET /v1/meta?path=/storm/{}/{name}", self.of);
        let Some(answer) = self.see(&path) else { return };
        let listed = answer.json();
        let values = listed["items"].as_array().into_iter().flatten();
        let values: Vec<String> =
            values.map(|item| item["value"].as_str().unwrap().to_owned()).collect();
        self.possible.saw(&format!("{path}: {values:?}"), |tree| match tree.get(name) {
            None => answer.status == 404,
            Some(item) => item.note.map(|note| note.to_string()).into_iter().eq(values.clone()),
        });
    }

    /// Compares everything, as each server shows it.
    pub(crate) fn compare(&mut self) {
        for _ in 0..2 * self.cluster.nodes.len() {
            self.list();
            for name in NAMES {
                self.read(name);
                self.notes(name);
            }
        }
    }
}

fn request_of(under: &str, change: &Change) -> (String, Vec<u8>) {
    let posted = |path: &str, body: Value| (format!("POST /v1/{path}"), body.to_string().into());
    match change {
        Change::Put(name, size, seed) => (format!("PUT /v1/fs{under}/{name}"), bytes(*size, *seed)),
        Change::Append(name, size, seed) => {
            (format!("PATCH /v1/fs{under}/{name}?append=true"), bytes(*size, *seed))
        }
        Change::Remove(name) => (format!("DELETE /v1/fs{under}/{name}?permanent=true"), Vec::new()),
        Change::Move(from, to) => {
            let from = json!({ "path": format!("{under}/{from}") });
            posted("move", json!({ "from": from, "to": format!("{under}/{to}") }))
        }
        Change::Note(name, value) => {
            let set = json!({ "op": "set", "attribute": "note", "value": value.to_string() });
            posted("meta", json!({ "path": format!("{under}/{name}"), "operations": [set] }))
        }
    }
}
