//! The iRODS opening: all of its operations.

use super::super::support::Answer;
use super::world::{Caller, World};
use super::{Differences, Pair, callers};

/// All operations, as listed by the server: one per line, `METHOD endpoint op`.
const OPERATIONS: &str = include_str!("irods-operations.txt");

/// Requests, with a placeholder for the resource. `@` stands for each way to send bytes.
const REQUESTS: &str = include_str!("irods-requests.txt");

#[test]
fn every_operation_is_covered_by_requests() {
    for operation in OPERATIONS.lines() {
        let (start, op) = operation.rsplit_once(' ').unwrap();
        let begins = format!("{start} op={op}");
        let has = |line: &str| {
            line.strip_prefix(&begins).is_some_and(|rest| rest.is_empty() || rest.starts_with('&'))
        };
        assert!(REQUESTS.lines().any(has), "no request of {operation}");
    }
}

#[tokio::test]
async fn no_operation_distinguishes_hidden_from_missing_resources() {
    let world = World::new().await;
    let (mut differences, mut n) = (Differences::default(), 0);
    for line in REQUESTS.lines().filter(|line| line.contains('<')) {
        let request = Request::parse(line);
        for pair in pairs(&world, line) {
            for carrier in request.carriers() {
                for caller in callers_for(&world, line, n) {
                    let send =
                        async |subject: &str| request.send(&world, caller, *carrier, subject).await;
                    let answers = [send(&pair.hidden).await, send(&pair.missing).await];
                    let what = || format!("{}: {line} {carrier:?} {pair:?}", caller.name);
                    differences.compare(what, &pair, [&answers[0], &answers[1]]);
                }
                n += 1;
            }
        }
    }
    differences.assert_none(1_000);
}

#[tokio::test]
async fn no_response_reveals_hidden_resources() {
    let world = World::new().await;
    for line in REQUESTS.lines().filter(|line| line.starts_with("GET ")) {
        let request = Request::parse(line);
        for caller in &world.callers {
            for subject in ["/shown", "/shown/second"] {
                let answer = request.send(&world, caller, Carrier::Form, subject).await;
                let body = String::from_utf8_lossy(&answer.body);
                assert!(!body.contains(super::HIDDEN), "{}: {line}: {body}", caller.name);
            }
        }
    }
}

/// The possible subjects of a request.
fn pairs(world: &World, line: &str) -> Vec<Pair> {
    match () {
        () if line.contains("<handle>") => world.handles.clone(),
        () if line.contains("<user>") => {
            vec![Pair { hidden: "gina".to_owned(), missing: "anig".to_owned() }]
        }
        () => world.paths.clone(),
    }
}

/// Users may look up each other; only anonymous callers may not.
fn callers_for<'a>(world: &'a World, line: &str, n: usize) -> Vec<&'a Caller> {
    match line.contains("<user>") {
        true => world.callers.iter().filter(|caller| caller.bearer == "anonymous").collect(),
        false => callers(world, n),
    }
}

/// How the parameters of a call are sent.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Carrier {
    Form,
    Parts,
    Headers,
}

struct Request<'a> {
    method: &'a str,
    endpoint: &'a str,
    form: &'a str,
}

impl<'a> Request<'a> {
    fn parse(line: &'a str) -> Self {
        let mut words = line.splitn(3, ' ');
        let mut word = || words.next().unwrap();
        Self { method: word(), endpoint: word(), form: word() }
    }

    fn carriers(&self) -> &'static [Carrier] {
        match self.form.starts_with("op=write") {
            true => &[Carrier::Form, Carrier::Parts, Carrier::Headers],
            false => &[Carrier::Form],
        }
    }

    /// The parameters, for a subject.
    fn parameters(&self, subject: &str) -> Vec<(String, String)> {
        let pair = |pair: &str| {
            let (name, value) = pair.split_once('=').unwrap();
            (name.to_owned(), filled(value, subject))
        };
        self.form.split('&').map(pair).collect()
    }

    async fn send(&self, world: &World, who: &Caller, carrier: Carrier, subject: &str) -> Answer {
        let mut parameters = self.parameters(subject);
        parameters.extend(who.ticket.iter().map(|ticket| ("ticket".to_owned(), ticket.clone())));
        let pairs: Vec<_> =
            parameters.iter().map(|(name, value)| (name.as_str(), value.as_str())).collect();
        let encoded = super::super::irods::encode(&pairs);
        let address = format!("/irods-http-api/0.7.0/{}", self.endpoint);
        let uri = if self.method == "GET" { format!("{address}?{encoded}") } else { address };
        let request = world.server.request_as(None, self.method, &uri);
        let mut request = request.header("authorization", &format!("Bearer {}", who.bearer));
        match (self.method, carrier) {
            ("GET", _) => {}
            (_, Carrier::Form) => {
                request = request
                    .header("content-type", "application/x-www-form-urlencoded")
                    .body(encoded);
            }
            (_, Carrier::Parts) => {
                request = request.header("content-type", "multipart/form-data; boundary=x");
                request = request.body(parts(&pairs));
            }
            (_, Carrier::Headers) => {
                for (name, value) in pairs.iter().filter(|(name, _)| *name != "bytes") {
                    let name = format!("irods-api-request-{name}");
                    request = request.header(name.leak(), value);
                }
                request = request.body("bytes");
            }
        }
        request.send().await
    }
}

/// A value with the subject in place of the placeholder; paths are those of the zone.
fn filled(value: &str, subject: &str) -> String {
    let path = format!("/tempZone{subject}");
    let (above, name) = path.rsplit_once('/').unwrap();
    let value = value.replace("<path>", &path).replace("<handle>", subject);
    value.replace("<user>", subject).replace("<above>", above).replace("<name>", name)
}

fn parts(parameters: &[(&str, &str)]) -> String {
    let part = |(name, value): &(&str, &str)| {
        format!("--x\r\nContent-Disposition: form-data; name=\"{name}\"\r\n\r\n{value}\r\n")
    };
    parameters.iter().map(part).chain(["--x--\r\n".to_owned()]).collect()
}
