//! Faults of all kinds under load: no acknowledged change is lost, none is half visible, and nothing fails once a fault is over.
//!
//! `CENOTE_STORM_EVENTS` is the number of faults, `CENOTE_STORM_SEED` which ones, and `CENOTE_PROGRAM` another program than that of this
//! build; `make storms` has more of them. A full disk of the
//! database is what the proxy says (SQLSTATE 53100); one that is full is in [`disk`].

mod disk;

use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Duration;

use crate::bucket_server::Program;
use crate::load::{Client, Dice, Weather};
use crate::servers::{Cluster, Node};
use crate::{bucket, database};

const CLIENTS: usize = 4;
/// Requests that end during a fault, and between two of them.
const DURING: usize = 12;
const BETWEEN: usize = 8;

/// Something that goes wrong.
#[derive(Debug, Clone, Copy)]
enum Event {
    /// All connections of one server to the database break.
    Cut,
    /// The next commits of one server fail so.
    Commits(database::Fault, usize),
    /// One server does not reach the database.
    Partition,
    /// The database says nothing more to one server, and leaves its connections open; what was sent arrives later.
    Hang,
    /// The processes of the database are killed, and it is restarted.
    Database,
    /// One server is killed, and started again.
    Server,
    /// The next requests to the bucket fail so.
    Bucket(bucket::Fault, usize),
}

impl Event {
    fn any(dice: &mut Dice) -> Self {
        let count = 1 + dice.below(4);
        let short = Duration::from_millis(100 + dice.below(400) as u64);
        match dice.below(14) {
            0 => Self::Cut,
            1 => Self::Commits(database::Fault::Cut, count),
            2 | 3 => Self::Commits(database::Fault::LoseAnswer, count),
            4 => Self::Commits(database::Fault::Full, count),
            5 => Self::Commits(database::Fault::Stall(short), count),
            6 => Self::Partition,
            7 => Self::Database,
            8 => Self::Server,
            9 => Self::Bucket(bucket::Fault::Status([500, 503][dice.below(2)]), count),
            10 => Self::Bucket(bucket::Fault::Slow(short), count),
            11 => Self::Bucket(bucket::Fault::HalfAnswer, count),
            12 => Self::Hang,
            _ => Self::Bucket(bucket::Fault::LoseAnswer, count),
        }
    }

    /// From its beginning to its end.
    fn pass(self, cluster: &Cluster, node: &Node, weather: &Weather) {
        match self {
            Self::Cut => node.database.cut(),
            Self::Commits(fault, count) => {
                node.database.arm(fault, count);
                weather.wait(DURING);
                node.database.disarm();
            }
            Self::Partition => {
                node.database.refuse(true);
                weather.wait(DURING);
                node.database.refuse(false);
            }
            Self::Hang => {
                node.database.hang(true);
                weather.wait_for_failures(1);
                node.database.hang(false);
            }
            Self::Database => cluster.restart_database(),
            Self::Server => {
                node.kill();
                weather.wait(DURING);
                node.start();
            }
            Self::Bucket(fault, count) => {
                cluster.bucket.arm(fault, count);
                weather.wait(DURING);
                cluster.bucket.disarm();
            }
        }
    }
}

/// Waits until each server takes changes of the catalog and of contents.
fn recover(cluster: &Cluster, weather: &Weather) {
    let large = vec![b'x'; 70_000];
    for node in 0..cluster.nodes.len() {
        for bytes in [&b"x"[..], &large] {
            let request = format!("PUT /v1/fs/probe-{node}");
            Cluster::until(&format!("server {node} recovers"), || {
                let answer = cluster.send(node, &request, bytes);
                weather.has_stopped() || answer.is_ok_and(|answer| answer.status < 300)
            });
        }
    }
}

fn number(name: &str, otherwise: u64) -> u64 {
    std::env::var(name).map_or(otherwise, |number| number.parse().unwrap())
}

fn make_weather(cluster: &Cluster, weather: &Weather, seed: u64, events: u64) {
    let mut dice = Dice(seed);
    for number in 0..events {
        let (event, node) = (Event::any(&mut dice), dice.below(cluster.nodes.len()));
        weather.turn();
        event.pass(cluster, &cluster.nodes[node], weather);
        recover(cluster, weather);
        weather.turn();
        weather.wait(BETWEEN);
        if weather.has_stopped() {
            cluster.nodes.iter().for_each(|node| eprintln!("{}", node.last_log()));
            panic!("a client found something wrong after {event:?} of {node}, number {number}");
        }
    }
    weather.stop();
}

#[test]
fn nothing_that_was_acknowledged_is_lost_in_a_storm_of_faults() {
    storm(Program::Moto, 0);
}

#[test]
fn nothing_that_was_acknowledged_is_lost_in_a_storm_over_versitygw() {
    storm(Program::Versitygw, 1);
}

/// Other faults for each of both.
fn storm(program: Program, further: u64) {
    let Some(cluster) = Cluster::start_with(program, None, 3, "") else { return };
    let seed = number("CENOTE_STORM_SEED", 1) + further;
    let events = number("CENOTE_STORM_EVENTS", 12);
    let weather = Weather::default();
    let mut clients: Vec<Client<'_>> =
        (0..CLIENTS).map(|of| Client::new(&cluster, &weather, of, seed)).collect();
    std::thread::scope(|scope| {
        for client in &mut clients {
            scope.spawn(move || client.work());
        }
        make_weather(&cluster, &weather, seed, events);
    });
    clients.iter_mut().for_each(Client::compare);
    let count = |of: &AtomicUsize| of.load(Ordering::SeqCst);
    let (ended, failed) = (count(&weather.ended), count(&weather.failed));
    println!("{events} events over {program:?}, {ended} requests, of which {failed} failed");
    clients.iter().for_each(|client| println!("{:?}", client.made));
    assert!(ended - failed >= BETWEEN * events as usize);
    assert_tidy(&cluster);
}

/// Nothing that was begun stays for ever, and the catalog is what its records say.
fn assert_tidy(cluster: &Cluster) {
    Cluster::until("all claims end", || cluster.rows("Wc") == 0);
    cluster.nodes.iter().for_each(Node::stop);
    let check = cluster.nodes[0].world.ok(&["--store", "store", "check"]);
    assert_eq!(check, "no differences found\n");
}
