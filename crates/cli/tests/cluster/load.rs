//! Clients that change and read objects through all servers, each in a collection of its own, and compare what they find with a model.
//!
//! Invariants: a request that begins and ends while nothing fails succeeds; one that fails is answered with a problem that the
//! documentation has, or its connection breaks.

mod looks;
mod several;

use std::collections::BTreeMap;
use std::io::ErrorKind;
use std::sync::atomic::{AtomicBool, AtomicU64, AtomicUsize, Ordering};

use serde_json::{Value, json};

use crate::model::{Change, Possible, bytes};
use crate::requests::Answer;
use crate::servers::Cluster;

/// What failures of the catalog or the contents are answered with (`docs/native-api.md`).
const PROBLEMS: [&str; 4] = ["unavailable", "unknown", "no-space", "overloaded"];

const NAMES: [&str; 4] = ["a", "b", "c", "d"];

/// An attribute has at most so many values.
const VALUES: usize = 8;

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
    /// Those of them that were answered.
    pub(crate) refused: AtomicUsize,
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

    /// Waits until so many more requests have failed.
    pub(crate) fn wait_for_failures(&self, requests: usize) {
        let until = self.failed.load(Ordering::SeqCst) + requests;
        let is_over = || self.failed.load(Ordering::SeqCst) >= until || self.has_stopped();
        Cluster::until("requests fail", is_over);
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

/// How a request is made.
pub(super) struct Way {
    node: usize,
    /// More lines of its header, each after the end of the line before.
    pub(super) header: String,
    /// The weather when what it belongs to was begun.
    since: u64,
}

/// A client.
pub(crate) struct Client<'a> {
    cluster: &'a Cluster,
    weather: &'a Weather,
    of: usize,
    dice: Dice,
    possible: Possible,
    /// A login of the iRODS opening.
    irods: String,
    /// How many changes of each kind were made.
    pub(crate) made: BTreeMap<&'static str, usize>,
}

impl<'a> Client<'a> {
    pub(crate) fn new(cluster: &'a Cluster, weather: &'a Weather, of: usize, seed: u64) -> Self {
        let path = format!("/storm/{of}");
        let create = json!({ "path": path, "kind": "collection", "parents": true });
        cluster.json(0, "POST /v1/create", &create.to_string());
        let versions = json!({ "path": path, "versioning": "on-request" });
        cluster.json(0, "PATCH /v1/attributes", &versions.to_string());
        let dice = Dice(seed.wrapping_add(of as u64).wrapping_mul(0x9e37_79b9_7f4a_7c15));
        let (possible, irods, made) = (Possible::nothing(), cluster.irods_login(), BTreeMap::new());
        Self { cluster, weather, of, dice, possible, irods, made }
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
        let small = 1 + self.dice.below(3_000);
        let large = 66_000 + self.dice.below(100_000);
        let change = match self.dice.below(100) {
            0..15 => Change::Put(one, small, seed),
            15..23 => Change::Put(one, large, seed),
            23 => Change::Put(one, 9 << 20, seed),
            24..32 => Change::Append(one, small, seed),
            32..34 => Change::Append(one, 70_000, seed),
            34..42 if one != other => Change::Move(one, other),
            42..49 => Change::Remove(one),
            49..54 => Change::Note(one, seed),
            54..59 => Change::Add(one, seed % VALUES),
            59..64 => Change::Keep(one),
            64..67 => Change::Replace(one, small, seed),
            67..69 => Change::Replace(one, large, seed),
            69..74 => Change::Upload(one, [small, large], seed),
            74..79 => Change::Set(vec![(one, small, seed), (other, large, seed + 1)]),
            79..84 => return self.list(),
            84..87 => return self.attributes(&one),
            87..90 => return self.versions(&one),
            90..92 => return self.read_as_linked_data(&one),
            _ => return self.read(&one),
        };
        self.make(&change);
    }

    /// Makes a change; of several requests only the last one changes anything.
    fn make(&mut self, change: &Change) {
        let last = match change {
            Change::Upload(name, sizes, seed) => self.upload(name, *sizes, *seed),
            Change::Set(all) => self.gather(all),
            change => {
                let (request, body) = request_of(&format!("/storm/{}", self.of), change);
                Some(self.send(&request, &body))
            }
        };
        let Some(last) = last else { return };
        match last.map(|answer| (status_of(change, &answer), answer)) {
            // The set is gone with its server, or an earlier change, late, has changed what it depends on.
            Some((400..500, _)) if matches!(change, Change::Set(_)) => {}
            Some((status, _)) if status < 500 => {
                *self.made.entry(change.name()).or_default() += usize::from(status < 300);
                self.possible.answered(change, status);
            }
            // Nothing was changed, unless the problem says that this is unknown.
            Some((_, answer)) if answer.problem() != "unknown" => {}
            _ => self.possible.lost(change),
        }
    }

    /// The answer of some server, if there is one.
    pub(super) fn send(&mut self, request: &str, body: &[u8]) -> Option<Answer> {
        let way = self.any_way();
        self.send_via(&way, request, body)
    }

    pub(super) fn any_way(&mut self) -> Way {
        let node = self.dice.below(self.cluster.nodes.len());
        Way { node, header: String::new(), since: self.weather.changes.load(Ordering::SeqCst) }
    }

    pub(super) fn send_via(&mut self, way: &Way, request: &str, body: &[u8]) -> Option<Answer> {
        let Way { node, header, since: before } = way;
        let (node, before) = (*node, *before);
        let irods = request.contains("/irods-http-api/");
        let token = if irods { &self.irods } else { &self.cluster.token };
        let login = format!("Bearer {token}{header}");
        let answer = self.cluster.nodes[node].send(request, &login, body);
        let outcome = answer.as_ref().map(|answer| (answer.status, answer.problem()));
        self.possible
            .log_request(format!("{request} ({} bytes) at {node}: {outcome:?}", body.len()));
        let after = self.weather.changes.load(Ordering::SeqCst);
        let has_failed = answer.as_ref().map_or(true, |answer| answer.status >= 500);
        if has_failed {
            let was_calm = before == after && before.is_multiple_of(2);
            assert!(!was_calm, "{request} at {node} failed without a reason: {answer:?}");
            self.weather.failed.fetch_add(1, Ordering::SeqCst);
            self.weather.refused.fetch_add(usize::from(answer.is_ok()), Ordering::SeqCst);
        }
        self.weather.ended.fetch_add(1, Ordering::SeqCst);
        let answer = match answer {
            // Nothing was sent, so nothing has happened.
            Err(error) if error.kind() == ErrorKind::ConnectionRefused => Answer::unavailable(),
            answer => answer.ok()?,
        };
        let is_known = !has_failed || PROBLEMS.contains(&answer.problem().as_str());
        assert!(is_known, "{request} at {node}: {} {}", answer.status, answer.json());
        Some(answer)
    }

    /// Compares everything, as each server shows it.
    pub(crate) fn compare(&mut self) {
        for _ in 0..2 * self.cluster.nodes.len() {
            self.list();
            for name in NAMES {
                self.read(name);
                self.read_as_linked_data(name);
                self.attributes(name);
                self.versions(name);
            }
        }
    }
}

/// The status of an answer; of one of iRODS that which its code stands for.
fn status_of(change: &Change, answer: &Answer) -> u16 {
    let code = match change {
        Change::Add(..) if answer.status < 500 => {
            answer.json()["irods_response"]["status_code"].as_i64()
        }
        _ => None,
    };
    match code {
        None => answer.status,
        Some(0) => 200,
        Some(-171_000) => 404,
        Some(-110_000) => 507,
        Some(other) => panic!("{change:?} was answered {other}"),
    }
}

fn request_of(under: &str, change: &Change) -> (String, Vec<u8>) {
    let posted = |path: &str, body: Value| (format!("POST /v1/{path}"), body.to_string().into());
    match change {
        Change::Put(name, size, seed) => (format!("PUT /v1/fs{under}/{name}"), bytes(*size, *seed)),
        Change::Append(name, size, seed) => {
            (format!("PATCH /v1/fs{under}/{name}?append=true"), bytes(*size, *seed))
        }
        Change::Replace(name, size, seed) => {
            (format!("PUT /ldp{under}/{name}"), bytes(*size, *seed))
        }
        Change::Remove(name) => {
            (format!("DELETE /v1/fs{under}/{name}?permanent=true&versions=true"), Vec::new())
        }
        Change::Move(from, to) => {
            let from = json!({ "path": format!("{under}/{from}") });
            posted("move", json!({ "from": from, "to": format!("{under}/{to}") }))
        }
        Change::Note(name, value) => {
            let set = json!({ "op": "set", "attribute": "note", "value": value.to_string() });
            posted("meta", json!({ "path": format!("{under}/{name}"), "operations": [set] }))
        }
        Change::Add(name, value) => {
            let add =
                json!([{ "operation": "add", "attribute": "value", "value": value.to_string() }]);
            let form = format!("op=modify_metadata&lpath=/tempZone{under}/{name}&operations={add}");
            ("POST /irods-http-api/0.7.0/data-objects".to_owned(), form.into_bytes())
        }
        Change::Keep(name) => {
            posted("versions", json!({ "path": format!("{under}/{name}"), "op": "keep" }))
        }
        Change::Upload(..) | Change::Set(_) => unreachable!("they take several requests"),
    }
}
