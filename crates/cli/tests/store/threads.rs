//! The threads of a server after many requests at once: each that waits keeps what its allocator keeps, some megabytes.

use cenote_client::PutOptions;
use futures_util::future::join_all;

use crate::world::World;

/// Requests at once.
const BURST: usize = 200;
/// Threads that a server may have for one request after the other.
const FEW: u64 = 40;
/// Requests after which the threads of the burst must be gone.
const AFTERWARDS: usize = 5_000;

fn threads(world: &World) -> u64 {
    let status = std::fs::read_to_string(format!("/proc/{}/status", world.server_id())).unwrap();
    let count = status.lines().find_map(|line| line.strip_prefix("Threads:")).unwrap();
    count.trim().parse().unwrap()
}

#[test]
fn threads_of_many_requests_at_once_end_although_others_follow() {
    let world = World::served();
    let client = world.client();
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
    let options = PutOptions::default();
    let put = async |n: usize| {
        let path = format!("/{n}");
        client.put_bytes(&path, vec![n as u8; 1_000].into(), &options).await.unwrap();
    };
    let mut bursts = (0..20).map(|_| {
        runtime.block_on(join_all((0..BURST).map(put)));
        threads(&world)
    });
    // A disk that is fast enough lets no more than a few wait; then there is nothing that has to end.
    let Some(most) = bursts.find(|most| *most >= FEW) else { return };
    let ended = (0..AFTERWARDS).any(|_| {
        runtime.block_on(put(0));
        threads(&world) < FEW
    });
    assert!(ended, "{} of {most} threads are left", threads(&world));
}
