//! Servers are restarted one after the other, as for an update, while clients go on.

use std::sync::atomic::Ordering;

use serde_json::Value;

use crate::load::{Client, Weather};
use crate::servers::Cluster;

const CLIENTS: usize = 4;
const ROUNDS: usize = 2;
/// Requests that end while a server is away, and after it is back.
const SOME: usize = 20;

/// Connections to a server that stops are refused or end; no answer is a failure, and nothing that was acknowledged is lost.
#[test]
fn servers_are_replaced_one_after_the_other_without_a_failed_answer() {
    let Some(cluster) = Cluster::start(3, "") else { return };
    let weather = Weather::default();
    let mut clients: Vec<Client<'_>> =
        (0..CLIENTS).map(|of| Client::new(&cluster, &weather, of, 7)).collect();
    std::thread::scope(|scope| {
        for client in &mut clients {
            scope.spawn(move || client.work());
        }
        for node in cluster.nodes.iter().cycle().take(ROUNDS * cluster.nodes.len()) {
            weather.wait(SOME);
            weather.turn();
            node.stop();
            weather.wait(SOME);
            node.start();
            weather.turn();
        }
        weather.wait(SOME);
        weather.stop();
    });
    assert!(
        weather.ended.load(Ordering::SeqCst) >= (2 * ROUNDS * 3 + 1) * SOME,
        "a client stopped"
    );
    assert_eq!(weather.refused.load(Ordering::SeqCst), 0);
    clients.iter_mut().for_each(Client::compare);
    let upgraded = cluster.nodes[1].command(&["upgrade", "--json"]);
    let upgraded: Value = serde_json::from_slice(&upgraded).unwrap();
    assert_eq!(upgraded["from"], upgraded["to"], "{upgraded}");
}
