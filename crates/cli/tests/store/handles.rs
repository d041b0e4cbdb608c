//! Handles of the iRODS opening after the server is killed.

use serde_json::Value;

use crate::world::{PASSWORD, World};

const BASE: &str = "/irods-http-api/0.7.0";

/// Half of the content: more than is stored in the catalog.
const HALF: usize = 100_000;

/// The response to an operation on data objects.
fn objects(world: &World, form: &str) -> Value {
    let basic =
        base64::Engine::encode(&base64::prelude::BASE64_STANDARD, format!("ada:{PASSWORD}"));
    let token = world.post(&format!("{BASE}/authenticate"), &format!("Basic {basic}"), "");
    let token = body(&token);
    let answer = world.post(&format!("{BASE}/data-objects"), &format!("Bearer {token}"), form);
    serde_json::from_str(body(&answer)).unwrap()
}

fn body(answer: &str) -> &str {
    assert!(answer.starts_with("HTTP/1.1 200"), "{answer}");
    answer.split_once("\r\n\r\n").unwrap().1
}

fn write(world: &World, handle: &str, offset: usize, byte: &str) {
    let bytes = byte.repeat(HALF);
    let form = format!("op=write&parallel-write-handle={handle}&offset={offset}&bytes={bytes}");
    assert_eq!(objects(world, &form)["irods_response"]["status_code"], 0);
}

#[test]
fn a_parallel_write_continues_after_the_server_was_killed() {
    let mut world = World::served();
    for (truncate, was) in [(1, ""), (0, "the end of what is kept")] {
        let old = ".".repeat(2 * HALF) + was;
        world.file("old", &old);
        world.ok(&["put", "old", ":/o"]);
        let begin =
            format!("op=parallel_write_init&lpath=/tempZone/o&stream-count=2&truncate={truncate}");
        let begun = objects(&world, &begin);
        let handle = begun["parallel_write_handle"].as_str().unwrap();
        write(&world, handle, HALF, "b");
        world.kill();
        world = world.serve(&[]);
        assert!(world.ok(&["cat", ":/o"]) == old, "nothing is seen before it is shut down");
        write(&world, handle, 0, "a");
        let end = format!("op=parallel_write_shutdown&parallel-write-handle={handle}");
        assert_eq!(objects(&world, &end)["irods_response"]["status_code"], 0);
        assert!(world.ok(&["cat", ":/o"]) == "a".repeat(HALF) + &"b".repeat(HALF) + was);
    }
}
