//! The DNAnexus opening: its methods about projects, objects and names that are hidden, and the addresses of contents.

use super::super::support::{Answer, sha256};
use super::world::{Caller, OPEN, World};
use super::{Differences, HIDDEN, Pair, callers};

/// Requests, one per line: method, address, body.
const REQUESTS: &str = include_str!("dnanexus-requests.txt");
const LETTERS: &[u8; 62] = b"0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz";

/// Hidden objects, with their classes.
const OBJECTS: [(&str, &str); 4] = [
    ("file", "/veiled/inside"),
    ("file", "/shown/veiled"),
    ("record", "/shown/veiled.said"),
    ("file", "/closed/veiled"),
];

/// The values of the placeholders in requests.
struct Subjects {
    shown: String,
    open: String,
    projects: Vec<Pair>,
    objects: Vec<Pair>,
    names: Vec<Pair>,
}

impl Subjects {
    async fn of(world: &World) -> Self {
        let mut objects = Vec::new();
        for (class, path) in OBJECTS {
            objects.push(unused(class, number(world, path).await));
        }
        Self {
            shown: id("project", number(world, "/shown").await),
            open: id("file", number(world, OPEN).await),
            projects: vec![
                unused("project", number(world, "/veiled").await),
                unused("project", number(world, "/closed").await),
            ],
            objects,
            names: ["veiled", "veiled.dir", "veiled.said"].into_iter().map(Pair::of).collect(),
        }
    }

    /// The placeholder of a request, and its possible values.
    fn pairs(&self, line: &str) -> (&'static str, &[Pair]) {
        let all: [(&'static str, &[Pair]); 3] =
            [("<project>", &self.projects), ("<object>", &self.objects), ("<name>", &self.names)];
        let found = all.into_iter().find(|(placeholder, _)| line.contains(placeholder));
        found.unwrap_or_else(|| panic!("it is about nothing: {line}"))
    }
}

async fn number(world: &World, path: &str) -> u64 {
    let stat = world.server.request("GET", &format!("/v1/stat?path={path}")).send().await;
    stat.expect(200)["id"].as_u64().unwrap()
}

/// The id that a resource has in this opening: its number in 11 digits, and 13 letters of a digest.
fn id(class: &str, number: u64) -> String {
    let digest = sha256(format!("cenote {class} {number}"));
    let check = digest[..13].iter();
    let digit = |n: u32| LETTERS[usize::try_from(number / 62_u64.pow(n) % 62).unwrap()];
    let letters =
        (0..11).rev().map(digit).chain(check.map(|byte| LETTERS[usize::from(*byte) % 62]));
    format!("{class}-{}", letters.map(char::from).collect::<String>())
}

fn unused(class: &str, number: u64) -> Pair {
    Pair { hidden: id(class, number), missing: id(class, number + 5_000_000) }
}

#[tokio::test]
async fn no_method_distinguishes_hidden_from_missing_resources() {
    let world = World::new().await;
    let subjects = Subjects::of(&world).await;
    let (mut differences, mut n) = (Differences::default(), 0);
    for line in REQUESTS.lines() {
        let (placeholder, pairs) = subjects.pairs(line);
        let line = line.replace("<shown>", &subjects.shown).replace("<open>", &subjects.open);
        for pair in pairs {
            for caller in callers(&world, n) {
                let send = async |subject: &str| {
                    send(&world, caller, &line.replace(placeholder, subject)).await
                };
                let answers = [send(&pair.hidden).await, send(&pair.missing).await];
                let what = || format!("{}: {line} {pair:?}", caller.name);
                differences.compare(what, pair, [&answers[0], &answers[1]]);
            }
            n += 1;
        }
    }
    differences.assert_none(300);
}

async fn send(world: &World, caller: &Caller, line: &str) -> Answer {
    let mut words = line.splitn(3, ' ');
    let mut word = || words.next().unwrap_or_default().to_owned();
    let (method, uri, body) = (word(), word(), word());
    let uri = uri.replace("<ticket>", caller.ticket.as_deref().unwrap_or("madeup"));
    let request = world.server.request_as(None, &method, &uri);
    let request = request.header("authorization", &format!("Bearer {}", caller.bearer));
    request.header("host", "dx.example:1").body(body).send().await
}

#[tokio::test]
async fn no_search_or_listing_reveals_hidden_resources() {
    let world = World::new().await;
    let subjects = Subjects::of(&world).await;
    let shown = &subjects.shown;
    let questions = [
        r#"POST /system/findDataObjects {"describe":true,"visibility":"either"}"#.to_owned(),
        r#"POST /system/findDataObjects {"describe":true,"properties":{"veiled":true}}"#.to_owned(),
        r#"POST /system/findProjects {"describe":{"fields":{"folders":true,"name":true}}}"#
            .to_owned(),
        format!(r#"POST /{shown}/listFolder {{"folder":"/","describe":true}}"#),
        format!(r#"POST /{shown}/describe {{"folders":true}}"#),
    ];
    let mut n = 0;
    for question in &questions {
        for caller in world.callers.iter().chain([&world.removed]) {
            let answer = send(&world, caller, question).await;
            let text = answer.text();
            assert!(!text.contains(HIDDEN), "{}: {question}: {text:.400}", caller.name);
            n += usize::from(answer.status.is_success());
        }
    }
    assert!(n > 50, "only {n} were answered");
}
