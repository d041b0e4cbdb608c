//! Servers that die, hang up or speak another protocol.

use std::io::{Read, Write};
use std::net::{Shutdown, TcpListener, TcpStream};
use std::process::Command;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::thread;

use crate::world::World;

/// Forwards bytes to `target` until this many have been received, and then closes all connections.
fn dies_after(bytes: usize, target: String) -> String {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let url = format!("http://{}", listener.local_addr().unwrap());
    let passed = Arc::new(AtomicUsize::new(0));
    thread::spawn(move || {
        while passed.load(Ordering::SeqCst) < bytes {
            let (client, _) = listener.accept().unwrap();
            let server = TcpStream::connect(&target).unwrap();
            let (answers, to) = (server.try_clone().unwrap(), client.try_clone().unwrap());
            thread::spawn(move || pass(answers, to, &AtomicUsize::new(0), usize::MAX));
            let (passed, wake) = (Arc::clone(&passed), listener.local_addr().unwrap());
            thread::spawn(move || {
                pass(client, server, &passed, bytes);
                // The awaited connection may never be made.
                drop(TcpStream::connect(wake));
            });
        }
    });
    url
}

fn pass(mut from: TcpStream, mut to: TcpStream, passed: &AtomicUsize, most: usize) {
    let mut buffer = vec![0; 1 << 16];
    while passed.load(Ordering::SeqCst) < most {
        match from.read(&mut buffer) {
            Ok(count) if count > 0 && to.write_all(&buffer[..count]).is_ok() => {
                passed.fetch_add(count, Ordering::SeqCst);
            }
            _ => break,
        }
    }
    let _ = from.shutdown(Shutdown::Both);
    let _ = to.shutdown(Shutdown::Both);
}

#[test]
fn a_server_that_dies_ends_a_transfer_at_once() {
    let world = World::served();
    for n in 0..40 {
        world.file(&format!("t/large{n}"), vec![n; 300_000]);
        world.file(&format!("t/small{n}"), "1");
    }
    let address = world.url().strip_prefix("http://").unwrap().to_owned();
    let through = |bytes, arguments: &[&str]| {
        let url = dies_after(bytes, address.clone());
        let output = world.command(arguments).env("CENOTE_URL", &url).output().unwrap();
        let stderr = String::from_utf8(output.stderr).unwrap();
        assert_eq!(output.status.code(), Some(10), "{arguments:?}: {stderr}");
        let errors = stderr.lines().filter(|line| !line.starts_with("  hint: "));
        assert_eq!(errors.count(), 1, "{arguments:?}: {stderr}");
        assert!(
            stderr.contains("cannot be reached") && stderr.contains("run the same command again"),
            "{stderr}"
        );
    };
    through(3_000_000, &["put", "-r", "t", ":/t"]);
    world.ok(&["put", "-r", "t", ":/t"]);
    world.ok(&["sync", ":/t", ":/u"]);
    through(20_000, &["sync", "--delete", ":/t", ":/v"]);
}

#[test]
fn closing_the_terminal_does_not_stop_a_server() {
    let world = World::served();
    world.ok(&["mkdir", "/lab"]);
    for _ in 0..3 {
        let sent = Command::new("kill").args(["-HUP", &world.server_id().to_string()]).status();
        assert!(sent.unwrap().success());
        assert_eq!(world.ok(&["ls"]), "home/\nlab/\ntrash/\n");
    }
}

#[test]
fn a_tls_error_is_reported() {
    let world = World::served_with_tls();
    let refused = |url: &str, ca: bool| {
        let mut command = world.command(&["ls"]);
        command.env("CENOTE_URL", url);
        if ca {
            command.env("CENOTE_CA_FILE", world.path("cert.pem"));
        }
        let output = command.output().unwrap();
        assert_eq!(output.status.code(), Some(10), "{output:?}");
        String::from_utf8(output.stderr).unwrap()
    };
    let untrusted = refused(world.url(), false);
    assert!(untrusted.contains("certificate is signed by an unknown issuer"), "{untrusted}");
    assert!(untrusted.contains("CENOTE_CA_FILE"), "{untrusted}");
    let other_name = refused(&world.url().replace("127.0.0.1", "localhost"), true);
    assert!(other_name.contains("certificate is for another host name"), "{other_name}");
    let plain = refused(&world.url().replace("https://", "http://"), true);
    assert!(plain.contains("hint: use https://"), "{plain}");
    let served = World::served();
    let encrypted = refused(&served.url().replace("http://", "https://"), true);
    assert!(encrypted.contains("hint: use http://"), "{encrypted}");
}
